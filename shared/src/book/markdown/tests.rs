use std::collections::BTreeMap;

use super::super::mdx::prepare;
use super::super::mdx::tests::{MARKDOWN, MDX};
use super::*;

fn blocks(text: &str) -> Vec<Block> {
    let prepared = prepare(text, 1, MDX, &BTreeMap::new());
    let raw: Vec<_> = text.lines().collect();
    parse_blocks(&prepared, &raw, MDX, &mut Slugger::default()).blocks
}

fn anchors(text: &str) -> Vec<String> {
    blocks(text)
        .into_iter()
        .filter_map(|block| match block.kind {
            BlockKind::Heading { anchor, .. } => Some(anchor.unwrap_or_default()),
            _ => None,
        })
        .collect()
}

#[test]
fn blocks_know_their_lines_and_source() {
    let text = "# T\n\nA *b*\nc.\n\n- one\n- two\n\n  more\n\n```sh\nx\n\n```\n\n| a | b |\n|---|---|\n| `c|d` | e |\n";
    let seen: Vec<_> = blocks(text)
        .into_iter()
        .map(|block| (block.text, block.start_line, block.end_line))
        .collect();
    let expected = [
        ("T", 1, 1),
        ("A b c.", 3, 4),
        ("- one", 6, 6),
        ("- two", 7, 7),
        ("more", 9, 9),
        ("x", 11, 14),
    ];
    for (block, expected) in seen.iter().zip(expected) {
        assert_eq!((block.0.as_str(), block.1, block.2), expected);
    }
    assert_eq!((seen[6].1, seen[6].2), (16, 18));
    assert_eq!(blocks(text)[1].markdown, "A *b*\nc.");
}

#[test]
fn heading_ids_are_those_of_docusaurus() {
    assert_eq!(
        anchors("# Same words\n\n## Same words"),
        ["", "same-words-1"]
    );
    assert_eq!(
        anchors("## A {#Id}\n\n## B{/* #other */}\n\n## `c` {1 + 1} d"),
        ["Id", "other", "c-1--1-d"]
    );
    assert_eq!(
        anchors("> ## In a quote\n\n- ## In a list"),
        ["in-a-quote", "in-a-list"]
    );
    assert_eq!(anchors("<div>\n    ## Indented\n</div>"), ["indented"]);
    assert_eq!(
        anchors("## ![alt](x.png) and [link](y)\n\nSetext\n---"),
        ["alt-and-link", "setext"]
    );
    assert_eq!(anchors("## 🤖\n\n## Note[^1]\n\n[^1]: x"), ["", "note"]);
}

#[test]
fn indented_text_is_code_in_markdown_only() {
    let text = "a\n\n    b *c*\n";
    assert_eq!(blocks(text)[1].kind, BlockKind::Paragraph);
    let prepared = prepare(text, 1, MARKDOWN, &BTreeMap::new());
    let raw: Vec<_> = text.lines().collect();
    let plain = parse_blocks(&prepared, &raw, MARKDOWN, &mut Slugger::default()).blocks;
    assert_eq!(plain[1].text, "b *c*");
    assert!(matches!(plain[1].kind, BlockKind::Code { .. }));
}

#[test]
fn nested_lists_keep_their_marks() {
    let text = "1. a\n   - b\n     - c\n2. d\n- [x] e";
    let seen: Vec<_> = blocks(text).into_iter().map(|block| block.text).collect();
    assert_eq!(seen, ["1. a", "  - b", "    - c", "2. d", "- [x] e"]);
    let seen: Vec<_> = blocks("1. ## A\n\n   b\n2. ```\n   c\n   ```")
        .into_iter()
        .map(|block| block.text)
        .collect();
    assert_eq!(seen, ["A", "b", "c"]);
}

#[test]
fn highlight_marks_are_not_shown_with_the_code() {
    let seen = blocks(
        "```js\n// highlight-next-line\na();\n{/* highlight-start */}\nb(); // highlight-end\n```",
    );
    assert_eq!(seen[0].text, "a();\nb(); // highlight-end");
}

#[test]
fn headings_in_indented_text_keep_their_lines() {
    let seen: Vec<_> = blocks("    a\n    ## Heading\n    b\n\n    c\n    ### Other\n    d")
        .into_iter()
        .map(|block| (block.text, block.start_line))
        .collect();
    let expected = [
        ("a", 1),
        ("Heading", 2),
        ("b", 3),
        ("c", 5),
        ("Other", 6),
        ("d", 7),
    ];
    assert_eq!(seen, expected.map(|(text, line)| (text.to_owned(), line)));
}

#[test]
fn the_same_bytes_leave_out_the_same_in_the_same_order() {
    let text: String = (0..40).map(|n| format!("[a{n}]: x{n}\n\n")).collect();
    let read = || {
        let prepared = prepare(&text, 1, MDX, &BTreeMap::new());
        parse_blocks(&prepared, &[], MDX, &mut Slugger::default()).omissions
    };
    let first = read();
    assert_eq!(first.len(), 40);
    assert!((0..5).all(|_| read() == first));
}
