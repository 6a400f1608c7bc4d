use super::code::PIECE_LINES;
use super::*;

/// Returns the blocks of a text as `kind: Markdown`.
fn shown(text: &str, marks: &[Mark]) -> Vec<String> {
    let blocks = read(text, marks).into_iter();
    let shown = blocks.map(|block| {
        let kind = match block.kind {
            BlockKind::Heading => "heading".to_owned(),
            BlockKind::Paragraph => "paragraph".to_owned(),
            BlockKind::ListItem { .. } => "item".to_owned(),
            BlockKind::Table => "table".to_owned(),
            BlockKind::Picture => "picture".to_owned(),
            BlockKind::Code(code) => format!("code {} {}", code.language, code.title),
        };
        format!("{}: {}", kind.trim_end(), block.markdown)
    });
    shown.collect()
}

/// Returns the marks of a text's blocks and inline code, in order.
fn marks(text: &str, blocks: &[(MarkKind, &str)], code: &[&str]) -> Vec<Mark> {
    let mut at = 0;
    let mut marks = Vec::new();
    for (kind, part) in blocks {
        let start = at + text[at..].find(part).unwrap();
        at = start + part.len();
        marks.push(Mark::from((kind.clone(), start, at)));
    }
    for part in code {
        let start = text.find(part).unwrap();
        marks.push(Mark::from((MarkKind::Code, start, start + part.len())));
    }
    marks
}

#[test]
fn blocks_are_told_by_the_lines_of_a_text_without_marks() {
    let text = "One is 3.5 mm. Why?\n\n- item\n1. first\n\nCode | Meaning\nE1 | low\n\n```sh\na. b\n\n- c\n```";
    assert_eq!(
        shown(text, &[]),
        [
            "paragraph: One is 3.5 mm. Why?",
            "item: item",
            "item: first",
            "table: | Code | Meaning |\n| --- | --- |\n| E1 | low |",
            "code sh: a. b\n\n- c",
        ]
    );
}

#[test]
fn boxes_of_tasks_stay_boxes() {
    let text = "- [ ] Wash it\n- [x] [ ] Dry it";
    let items = [
        (MarkKind::ListItem, "- [ ] Wash it"),
        (MarkKind::ListItem, "- [x] [ ] Dry it"),
    ];
    let expected = ["item: [ ] Wash it", "item: [x] \\[ \\] Dry it"];
    assert_eq!(shown(text, &marks(text, &items, &[])), expected);
}

#[test]
fn a_formula_of_several_lines_stands_apart() {
    let formula = "$$\nE = 12. B\n$$";
    let text = format!("It is:\n{formula}\nSo be it.");
    let marks = [
        Mark::from((MarkKind::Paragraph, 0, text.len())),
        Mark::from((MarkKind::Formula, 7, 7 + formula.len())),
    ];
    let apart = format!("paragraph: It is:\n\n{formula}\n\nSo be it.");
    assert_eq!(shown(&text, &marks), [apart]);
}

#[test]
fn a_table_has_the_cells_of_its_header() {
    use MarkKind::Table;
    for (text, code, expected) in [
        (
            "A | B\na | b",
            &[][..],
            "| A | B |\n| --- | --- |\n| a | b |",
        ),
        (
            "A | B\nx | y | z",
            &["x | y"],
            "| A | B |\n| --- | --- |\n| `x \\| y` | z |",
        ),
        (
            "A | B\na | b | c",
            &[],
            "| A | B |\n| --- | --- |\n| a | b \\| c |",
        ),
        ("A | B\na", &[], "| A | B |\n| --- | --- |\n| a |  |"),
        (
            "A | B\nx\\|y | b",
            &["x\\|y"],
            "| A | B |\n| --- | --- |\n| x&#92;&#124;y | b |",
        ),
    ] {
        let marks = marks(text, &[(Table, text)], code);
        assert_eq!(shown(text, &marks), [format!("table: {expected}")]);
    }
}

#[test]
fn labels_stand_where_they_belong() {
    use MarkKind::{Fence, Heading, Paragraph};
    let code = "```js\na\n```";
    for (blocks, expected) in [
        // A title is directly above its code; a short one may have a line between.
        (
            &[(Paragraph, "in the file a.js"), (Fence, code)][..],
            &["paragraph: in the file a.js", "code js: a"][..],
        ),
        (&[(Paragraph, "a.js"), (Fence, code)], &["code js a.js: a"]),
        (
            &[(Paragraph, "It is this:"), (Fence, code)],
            &["paragraph: It is this:", "code js: a"],
        ),
        (
            &[(Paragraph, "Tip"), (Paragraph, "Use it.")],
            &["paragraph: **Tip:** Use it."],
        ),
        (
            &[(Paragraph, "Note: A *b"), (Paragraph, "Use it.")],
            &["paragraph: **Note: A \\*b:** Use it."],
        ),
        (
            &[(Paragraph, "Tip of it"), (Paragraph, "Use it.")],
            &["paragraph: Tip of it", "paragraph: Use it."],
        ),
        // Closing lines without content.
        (
            &[(Paragraph, "It is."), (Paragraph, "Warning")],
            &["paragraph: It is."],
        ),
        (
            &[
                (Paragraph, "It is."),
                (Paragraph, "Ready to simulate? Go on."),
            ],
            &["paragraph: It is."],
        ),
        (
            &[
                (Heading, "One"),
                (Paragraph, "Ready to simulate? Go on."),
                (Heading, "Two"),
                (Paragraph, "Is."),
            ],
            &[
                "heading: #### One",
                "paragraph: Ready to simulate? Go on.",
                "heading: #### Two",
                "paragraph: Is.",
            ],
        ),
        (
            &[(Paragraph, "Ready to simulate? Go on.")],
            &["paragraph: Ready to simulate? Go on."],
        ),
    ] {
        let texts: Vec<&str> = blocks.iter().map(|(_, text)| *text).collect();
        let text = texts.join("\n\n");
        assert_eq!(shown(&text, &marks(&text, blocks, &[])), expected);
    }
    let text = format!("in the file a.js\n{code}");
    let marks = marks(
        &text,
        &[(Paragraph, "in the file a.js"), (Fence, code)],
        &[],
    );
    assert_eq!(shown(&text, &marks), ["code js in the file a.js: a"]);
}

#[test]
fn long_code_is_cut_at_blank_lines_and_nothing_of_it_is_lost() {
    let part = |name: &str, lines: usize| format!("{name} a b c d e f g\n").repeat(lines) + "\n";
    let body = part("one", 10) + &part("two", 3) + &part("three", 9) + &part("four", 12);
    let text = format!("```py\n{}```", body.trim_end().to_owned() + "\n");
    let cut = pieces(code(&text));
    assert_eq!(cut.len(), 3);
    for (number, piece) in cut.iter().enumerate() {
        let BlockKind::Code(code) = &piece.kind else {
            panic!("{piece:?}");
        };
        assert_eq!(
            (&*code.language, code.piece, code.pieces),
            ("py", number, 3)
        );
        assert!(piece.markdown.lines().count() >= PIECE_LINES);
        assert!(number == 0 || piece.continues(&cut[number - 1]));
    }
    let joined: Vec<&str> = cut.iter().map(|piece| &*piece.markdown).collect();
    assert_eq!(joined.join("\n\n"), body.trim_end());
}

#[test]
fn nothing_of_a_text_without_marks_is_lost() {
    for text in [
        "a | b",
        "a | b\nc | d\ne",
        "```\nnever closed",
        "- a\nb\n\n\n- c",
        "| a. B",
    ] {
        let seen = shown(text, &[]).join(" ");
        for word in ["a", "b", "c", "d", "e", "never", "closed"] {
            let has = |text: &str| split(text).any(|w| w == word);
            assert_eq!(has(text), has(&seen), "{text:?} {seen:?}");
        }
    }
}

#[test]
fn damaged_marks_lose_no_more_than_their_stretch() {
    let text = "é first. Second.";
    for (start, end) in [(1, 3), (0, 1), (3, 900), (5, 2)] {
        for kind in [
            MarkKind::Code,
            MarkKind::ListItem,
            MarkKind::Fence,
            MarkKind::Table,
        ] {
            let marks = [
                Mark::from((MarkKind::Paragraph, 0, text.len())),
                Mark::from((kind.clone(), start, end)),
            ];
            assert!(!read(text, &marks).is_empty(), "{start} {end}");
        }
    }
}
