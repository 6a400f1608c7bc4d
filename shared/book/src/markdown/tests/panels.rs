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

#[test]
fn the_code_groups_of_vuepress_have_labels() {
    let page = "<code-group>\n<code-block title=\"YARN\">\n\n```bash\nyarn add a\n```\n\n</code-block>\n\n<code-block title=\"NPM\">\n\n```bash\nnpm i a\n```\n\n</code-block>\n</code-group>\n\nAfter";
    let blocks = markdown_blocks(page).into_iter();
    let shown: Vec<_> = blocks
        .map(|block| format!("{}: {}", block.panels.join("/"), block.text))
        .collect();
    let expected = [
        ": YARN",
        "YARN: yarn add a",
        ": NPM",
        "NPM: npm i a",
        ": After",
    ];
    assert_eq!(shown, expected);
}
