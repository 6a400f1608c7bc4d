use super::*;

#[test]
fn blocks_have_the_labels_of_the_tabs_around_them() {
    let page = "<Tabs>\n<TabItem value=\"a\" label=\"On *Linux*\">\n\nOne\n\n- Two\n\n  <Tabs><TabItem value=\"b\">Three</TabItem></Tabs>\n\n</TabItem>\n<TabItem value=\"c\">\n\n```js\nFour\n```\n\n</TabItem>\n</Tabs>\n\nFive";
    let blocks = blocks(page).into_iter();
    let shown: Vec<_> = blocks
        .map(|block| format!("{}: {}", block.panels.join("/"), block.text))
        .collect();
    let expected = [
        ": On *Linux*",
        "On *Linux*: One",
        "On *Linux*: - Two",
        "On *Linux*: b",
        "On *Linux*/b: Three",
        ": c",
        "c: Four",
        ": Five",
    ];
    assert_eq!(shown, expected);
}
