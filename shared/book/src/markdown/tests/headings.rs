use super::*;

fn headings(text: &str) -> Vec<(String, String)> {
    blocks(text)
        .into_iter()
        .filter_map(|block| match block.kind {
            BlockKind::Heading { anchor, .. } => Some((block.text, anchor.unwrap_or_default())),
            _ => None,
        })
        .collect()
}

#[test]
fn an_expression_in_a_heading_is_shown_by_its_value_and_counts_by_its_source() {
    // Docusaurus 3.10 makes these ids.
    for (heading, text, id) in [
        ("## Now {release} on", "Now 1.2 on", "now-release-on"),
        (
            "## {'Text'} {`a ${release}`}",
            "Text a 1.2",
            "text-a-release",
        ),
        ("## Sum {1 + 1}", "Sum", "sum-1--1"),
        ("## A {/* c */} b", "A  b", "a--c--b"),
        ("## A {/* #own */}", "A", "own"),
        ("## {release} {#own}", "1.2", "own"),
        ("A {release}\n---", "A 1.2", "a-release"),
        ("## <Badge/> x", "x", "-x"),
        ("## a<br/>b", "a b", "ab"),
        ("## A <span hidden>no <b>b</b></span> c", "A  c", "a-no-b-c"),
        ("## Use :abbr[HTML] :name", "Use HTML :name", "use-html-"),
    ] {
        let page = format!("export const release = '1.2';\n\n{heading}");
        assert_eq!(
            headings(&page),
            [(text.to_owned(), id.to_owned())],
            "{heading}"
        );
    }
    assert_eq!(
        blocks("export const a = 'b';\n\n#tag {a}")[0].text,
        "#tag b"
    );
}
