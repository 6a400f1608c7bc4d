use proptest::prelude::*;

use super::*;

/// Reads a text in pieces; returns the text as shown, and its markers.
fn read(pieces: &[&str], passages: usize) -> (String, Vec<usize>) {
    let mut reader = MarkerReader::new(passages);
    let mut text = String::new();
    let mut markers = Vec::new();
    for piece in pieces {
        for cited in reader.push(piece) {
            match cited {
                Cited::Text(piece) | Cited::Other(piece) => text.push_str(&piece),
                Cited::Marker(n) => {
                    markers.push(n);
                    text.push_str(&format!("[{n}]"));
                }
            }
        }
        let longest = MAX_LABEL_BYTES.max(MAX_MARKER_BYTES) + 4;
        assert!(reader.held.len() <= longest, "{:?}", reader.held);
    }
    text.push_str(&reader.finish().unwrap_or_default());
    (text, markers)
}

fn check(cases: &[(&str, &str)], passages: usize) {
    for (text, expected) in cases {
        let (whole, markers) = read(&[text], passages);
        assert_eq!(whole, *expected, "{text:?}");
        for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
            let (before, behind) = text.split_at(at);
            assert_eq!(
                read(&[before, behind], passages),
                (whole.clone(), markers.clone())
            );
        }
    }
}

#[test]
fn markers_are_read_across_pieces_and_unknown_ones_dropped() {
    let (text, markers) = read(
        &["a [", "1", "] b [9] c [x] d [12", "34567] [0] arr[2] ["],
        2,
    );
    assert_eq!(text, "a [1] b  c [x] d   arr[2] [");
    assert_eq!(markers, [1, 2]);
}

#[test]
fn lists_become_one_marker_each() {
    check(
        &[
            ("a [1, 2].", "a [1][2]."),
            ("a [1][2].", "a [1][2]."),
            ("a [1,2; 3] b", "a [1][2][3] b"),
            ("a [1, 9] [8, 9] b", "a [1]  b"),
            ("a [2–4] [1-9] b", "a [2][3][4]  b"),
            ("[[1]] [[1], [2]]", "[1] [1][2]"),
            ("\\[1\\] [^2] [Source 3]", "[1] [2] [3]"),
        ],
        5,
    );
}

#[test]
fn other_citation_forms_are_read_or_dropped() {
    check(
        &[
            ("a【1†source】b【2】c", "a[1]b[2]c"),
            ("a【4:0†book.md】b【9†L1-L2】c", "a[4]bc"),
            ("a［1］b［１］c【１】d[٣]e〔1〕f", "a[1]bcde[1]f"),
            ("a【note】b［x］", "a【note】b［x］"),
            ("a [0x1] [1e1] [-1] [+2] [0b11] [&#49;]", "a      "),
            (
                "a [Module 9, Chapter 9, Lesson 9] (Source: A, b) [p. 9]",
                "a   ",
            ),
            (
                "(Source: [1], [2]) (Source: never closed\n)",
                "(Source: [1], [2]) (Source: never closed\n)",
            ),
            (
                "[Chapter 2](/docs/b) [source code] (So",
                "[Chapter 2](/docs/b) [source code] (So",
            ),
        ],
        5,
    );
}

#[test]
fn nothing_dropped_joins_to_a_new_marker() {
    check(
        &[
            ("a [9[8]9] [[0]99] [1[0]1] b", "a   [1] b"),
            ("a [9\u{200b}9] [\u{2060}99] [9\u{ad}9] b", "a    b"),
            ("a [ 9 9 ] [\t99] [99\n] b", "a    b"),
            ("[[1", "[[1"),
            ("a [[1] b", "a [[1] b"),
        ],
        5,
    );
    let huge = format!("a [{}] b", "9".repeat(300));
    assert_eq!(read(&[&huge], 5).0, "a  b");
}

#[test]
fn code_and_mathematics_are_left_alone() {
    let same = [
        "`arr[2]` and ``a ` [1]``",
        "```py\na[1]\n```",
        "~~~\na[1]\n```\n[2]\n~~~",
        "1. do\n   ```\n   [1]\n   ```",
        "values in [0, 1] or [-1, 1], [0.5, 2], see [1.5]",
        "- [ ] a [] b [,] [",
    ];
    for text in same {
        let (shown, markers) = read(&[text], 5);
        assert_eq!((shown.as_str(), markers.len()), (text, 0));
    }
    check(
        &[
            ("`a` [1] ```b``` [2]", "`a` [1] ```b``` [2]"),
            ("the 90`s [x]\nare over[9]", "the 90`s [x]\nare over"),
            ("```\na[9]\n```\nb[9]", "```\na[9]\n```\nb"),
            ("[`9`] [*9*]", " "),
        ],
        5,
    );
}

#[test]
fn brackets_that_never_close_hold_no_marker_back_for_long() {
    let deep = format!("{}1] b", "[".repeat(200));
    let (text, markers) = read(&[&deep], 5);
    assert_eq!((text.len(), markers), (deep.len(), vec![1]));
}

/// Fragments of markers, code and similar text.
fn fragments() -> impl Strategy<Value = Vec<String>> {
    let fragment = prop_oneof![
        8 => "[\\[\\]0-9a,; \n`~\\\\(-]",
        1 => prop::sample::select(vec![
            "[1]", "[12]", "[1, 2]", "【1†source】", "［", "］", "１", "٣", "```", "~~~", "(Source: ", ")", "[Source ",
            "[Module 1, Chapter 2, Lesson 3]", "0x", "\u{200b}", "&#49;", "`a[1]`", "\n\n", "**", "word",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(fragment, 0..40)
}

proptest! {
    #[test]
    fn no_output_cites_a_passage_that_was_not_given_however_it_is_cut(pieces in fragments(), passages in 0usize..12) {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let (split, markers) = read(&pieces, passages);
        prop_assert!(markers.iter().all(|n| (1..=passages).contains(n)));
        let whole = pieces.concat();
        let characters: Vec<String> = whole.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        prop_assert_eq!((&split, &markers), (&read(&[&whole], passages).0, &read(&[&whole], passages).1));
        prop_assert_eq!((split, markers), read(&characters, passages));
    }

    #[test]
    fn text_without_brackets_passes_unchanged(text in "[a-z0-9 \n`~,.\\\\#*é—]{0,80}") {
        prop_assert_eq!(read(&[&text], 5), (text, Vec::new()));
    }
}
