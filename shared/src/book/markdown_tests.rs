use std::collections::BTreeMap;

use super::super::mdx::prepare;
use super::*;

fn blocks(text: &str) -> Vec<Block> {
    let prepared = prepare(text, 1, Flavor::Mdx, &BTreeMap::new());
    let raw: Vec<_> = text.lines().collect();
    parse_blocks(&prepared, &raw, Flavor::Mdx, &mut Slugger::default())
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
    let prepared = prepare(text, 1, Flavor::Markdown, &BTreeMap::new());
    let raw: Vec<_> = text.lines().collect();
    let plain = parse_blocks(&prepared, &raw, Flavor::Markdown, &mut Slugger::default());
    assert_eq!(plain[1].text, "b *c*");
    assert!(matches!(plain[1].kind, BlockKind::Code { .. }));
}

#[test]
fn nested_lists_keep_their_marks() {
    let text = "1. a\n   - b\n     - c\n2. d\n- [x] e";
    let seen: Vec<_> = blocks(text).into_iter().map(|block| block.text).collect();
    assert_eq!(seen, ["1. a", "  - b", "    - c", "2. d", "- [x] e"]);
}
