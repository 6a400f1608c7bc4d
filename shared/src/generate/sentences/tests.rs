use super::*;

/// The kinds and texts of a text that was stored without marks.
fn unmarked(text: &str) -> Vec<(UnitKind, String)> {
    let units = units_of(text, &[]).into_iter();
    units.map(|unit| (unit.kind, unit.text)).collect()
}

#[test]
fn a_formula_of_several_lines_is_one_unit() {
    let formula = "$$\nE = 12. B\n$$";
    let text = format!("It is:\n{formula}\nSo be it.");
    let marks = [
        Mark::from((MarkKind::Paragraph, 0, text.len())),
        Mark::from((MarkKind::Formula, 7, 7 + formula.len())),
    ];
    let units = units_of(&text, &marks);
    let seen: Vec<_> = units
        .iter()
        .map(|unit| (unit.kind, &*unit.markdown))
        .collect();
    assert_eq!(
        seen,
        [
            (UnitKind::Sentence, "It is:"),
            (UnitKind::Formula, formula),
            (UnitKind::Sentence, "So be it."),
        ]
    );
}

#[test]
fn code_with_a_full_stop_is_not_cut() {
    let text = "Call a. B( first. Then `x. Y`. End.";
    let mark = |kind, part: &str| {
        let start = text.find(part).unwrap();
        Mark::from((kind, start, start + part.len()))
    };
    let marks = [
        Mark::from((MarkKind::Paragraph, 0, text.len())),
        mark(MarkKind::Code, "a. B("),
        mark(MarkKind::Code, "`x. Y`"),
    ];
    let units = units_of(text, &marks);
    let seen: Vec<&str> = units.iter().map(|unit| &*unit.markdown).collect();
    assert_eq!(seen, ["Call `a. B(` first.", "Then `` `x. Y` ``.", "End."]);
}

#[test]
fn units_are_what_a_reader_would_quote() {
    let text = "One is 3.5 mm. Use e.g. tape! Why?\n\n- item\n1. first\n\nCode | Meaning\nE1 | low\n\n```sh\na. b\n\n- c\n```";
    let expected = [
        (UnitKind::Sentence, "One is 3.5 mm."),
        (UnitKind::Sentence, "Use e.g. tape!"),
        (UnitKind::Sentence, "Why?"),
        (UnitKind::ListItem, "- item"),
        (UnitKind::ListItem, "1. first"),
        (UnitKind::TableRow, "Code: E1; Meaning: low"),
        (UnitKind::Code, "```sh\na. b\n\n- c\n```"),
    ];
    let expected: Vec<_> = expected
        .iter()
        .map(|(kind, text)| (*kind, (*text).to_owned()))
        .collect();
    assert_eq!(unmarked(text), expected);
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
        let units = unmarked(text);
        let seen: String = units.into_iter().map(|(_, text)| text + " ").collect();
        for word in ["a", "b", "c", "d", "e", "never", "closed"] {
            let has = |text: &str| {
                text.split(|c: char| !c.is_alphanumeric())
                    .any(|w| w == word)
            };
            assert_eq!(has(text), has(&seen), "{text:?} {seen:?}");
        }
    }
}

#[test]
fn damaged_marks_lose_no_more_than_their_stretch() {
    let text = "é first. Second.";
    for (start, end) in [(1, 3), (0, 1), (3, 900), (5, 2)] {
        let marks = [
            Mark::from((MarkKind::Paragraph, 0, text.len())),
            Mark::from((MarkKind::Code, start, end)),
        ];
        let units = units_of(text, &marks);
        assert!(!units.is_empty(), "{start} {end}");
    }
}
