use proptest::prelude::*;
use regex::Regex;

use super::*;
use crate::block::MarkKind;
use crate::rendering::{rendered, words};

fn hostile() -> impl Strategy<Value = String> {
    let marks = prop::sample::select(vec![
        "\\",
        "`",
        "``",
        "```",
        "*",
        "**",
        "_",
        "__",
        "~",
        "~~",
        "~~~",
        "[",
        "]",
        "](",
        "![",
        "[^",
        "]: ",
        "<",
        "</",
        "<!--",
        ">",
        "&",
        "&lt;",
        "&#60;",
        "#",
        "## ",
        "|",
        "--|--",
        "---",
        "===",
        "- ",
        "+ ",
        "* ",
        "1. ",
        "2) ",
        "$",
        "$$",
        ":",
        ": ",
        ":::",
        "!",
        "(",
        ")",
        "{",
        "}",
        "^",
        "\n",
        "\n\n",
        "  \n",
        "    ",
        "\t",
        " ",
        "\"",
        "'",
        "[ ] ",
        "[x] ",
        "[[",
        "]]",
        "+++",
        "http://",
        "https://evil.example/a_b_",
        "www.",
        "www.evil.example",
        "a@b.example",
        "@b.c",
        "mailto:",
        "<a>",
        "<script>",
        "<https://e.example>",
        "javascript:alert(1)",
        "[2]",
        "\u{200b}",
        "\u{202e}",
        "\u{1b}[1m",
        "\u{a0}",
        "ü",
        "中",
        "۔",
        "a",
        "B",
        "1",
        "12",
        ".",
    ]);
    prop::collection::vec(marks, 0..24).prop_map(|marks| marks.concat())
}

fn is_plain(elements: &std::collections::BTreeSet<String>) -> bool {
    elements.iter().all(|name| name == "p" || name == "code")
}

fn check(text: &str, marks: &[Mark]) -> Result<String, TestCaseError> {
    let markdown = marked_text(text, marks, 0..text.len());
    for seen in rendered(&markdown) {
        prop_assert!(is_plain(&seen.elements), "{text:?} {markdown:?} {seen:?}");
        prop_assert_eq!(&seen.text, &words(&visible(text)), "{:?}", &markdown);
    }
    Ok(markdown)
}

proptest! {
    #[test]
    fn text_is_shown_as_it_is_and_nothing_in_it_is_markup(text in hostile()) {
        check(&text, &[])?;
    }

    #[test]
    fn text_of_a_heading_is_shown_as_it_is(text in hostile()) {
        for seen in rendered(&heading(&text)) {
            let known = ["heading", "code"];
            prop_assert!(seen.elements.iter().all(|name| known.contains(&&**name)), "{text:?} {seen:?}");
            prop_assert_eq!(&seen.text, &words(&visible(&text)), "{:?}", heading(&text));
        }
    }

    #[test]
    fn text_in_a_table_is_shown_as_it_is(cells in prop::collection::vec(hostile(), 4)) {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| cell.replace('\n', " "))
            .collect();
        let text = cells.concat();
        let mut end = 0;
        let stretches: Vec<Range<usize>> = cells
            .iter()
            .map(|cell| {
                let start = end;
                end += cell.len();
                start..end
            })
            .collect();
        let rows = [stretches[..2].to_vec(), stretches[2..].to_vec()];
        let markdown = table(&text, &[], &rows);
        for seen in rendered(&markdown) {
            let known = ["table", "code"];
            prop_assert!(seen.elements.iter().all(|name| known.contains(&&**name)), "{markdown:?} {seen:?}");
            prop_assert_eq!(&seen.text, &words(&visible(&cells.join(" "))), "{:?}", &markdown);
        }
    }

    #[test]
    fn inline_code_is_shown_as_code_and_nothing_beside_it_changes(
        stretches in prop::collection::vec((any::<bool>(), hostile()), 1..6),
    ) {
        let mut text = String::new();
        let mut marks = Vec::new();
        for (is_code, stretch) in stretches {
            let start = text.len();
            // Inline code has no line breaks: Markdown turns them into spaces.
            text.push_str(&if is_code { stretch.replace('\n', " ") } else { stretch });
            if is_code {
                marks.push(Mark { kind: MarkKind::Code, start, end: text.len() });
            }
        }
        check(&text, &marks)?;
    }

    #[test]
    fn links_pictures_and_emphasis_change_no_word_and_lead_only_where_they_say(
        stretches in prop::collection::vec((0_usize..7, hostile()), 1..7),
        around in prop::option::of(0_usize..3),
    ) {
        let kinds = [
            MarkKind::Code,
            MarkKind::Strong,
            MarkKind::Emphasis,
            MarkKind::Link(vec!["/docs/a#b".to_owned()]),
            MarkKind::Picture("/img/a (1).png".to_owned()),
            MarkKind::Link(vec!["docs/none.md".to_owned(), "https://evil.example".to_owned()]),
        ];
        let mut text = String::new();
        let mut marks = Vec::new();
        for (kind, stretch) in stretches {
            let start = text.len();
            let kind = kinds.get(kind);
            let is_line = matches!(kind, Some(MarkKind::Code | MarkKind::Picture(_)));
            text.push_str(&if is_line { stretch.replace('\n', " ") } else { stretch });
            marks.extend(kind.map(|kind| Mark::from((kind.clone(), start, text.len()))));
        }
        let outer = around.map(|kind| Mark::from((kinds[kind + 1].clone(), 0, text.len())));
        marks.splice(0..0, outer);
        let markdown = marked_text(&text, &marks, 0..text.len());
        for seen in rendered(&markdown) {
            let known = ["p", "code", "strong", "em", "link", "image"];
            prop_assert!(seen.elements.iter().all(|name| known.contains(&&**name)), "{text:?} {markdown:?} {seen:?}");
            let known = ["/docs/a#b", "/img/a%20%281%29.png"];
            prop_assert!(seen.addresses.iter().all(|to| known.contains(&&**to)), "{markdown:?} {seen:?}");
            prop_assert_eq!(&seen.text, &words(&visible(&text)), "{:?}", &markdown);
        }
    }

    #[test]
    fn what_follows_a_text_is_not_drawn_into_it(text in hostile(), next in hostile()) {
        let (first, second) = (escaped(&text), escaped(&next));
        for (joint, expected) in [(" ", " "), ("\n", " "), (" [1]\n\n", " [1] ")] {
            for seen in rendered(&format!("{first}{joint}{second}")) {
                prop_assert!(is_plain(&seen.elements), "{first:?} {second:?} {seen:?}");
                let both = format!("{}{expected}{}", visible(&text), visible(&next));
                prop_assert_eq!(seen.text, words(&both));
            }
        }
    }

    #[test]
    fn a_formula_is_no_markup_to_a_renderer_without_formulas(
        tex in "[a-z{}()^_*~<>&\\[\\]!/:.@+= 0-9-]{1,30}|(\\\\(hat|ast|,|\\{)|\\{x\\}|_\\{i\\}|\\^\\{\\*\\}|<b>|\\[2\\]|\\]\\(|www\\.|://| ){1,9}",
    ) {
        let formula = format!("${}$", tex.trim());
        let mark = Mark { kind: MarkKind::Formula, start: 0, end: formula.len() };
        let markdown = marked_text(&formula, &[mark], 0..formula.len());
        let [_, seen] = rendered(&markdown);
        prop_assert!(is_plain(&seen.elements), "{markdown:?} {seen:?}");
        prop_assert!(!Regex::new(r"\[\d+\]").unwrap().is_match(&markdown), "{markdown}");
    }
}

#[test]
fn escapes_stand_only_where_they_matter() {
    let unchanged = [
        "Robots move; they sense, think & act (mostly). It costs 5 % more: fine!",
        "snake_case and a_b_c, 3 * 4 < 12 > 2, R&D, #1, 1.5 m, -40 °C, C++ - or C#",
        "a = b | c, x: y, and/or, it's \"quoted\", e.g. this – 2024.",
        "100 ~ 200",
    ];
    for text in unchanged {
        assert_eq!(escaped(text), text);
    }
    for (text, expected) in [
        ("use <Tabs>", r"use \<Tabs>"),
        ("<{@b.c>", r"\<{@b.c>"),
        ("see [2]", r"see \[2\]"),
        ("# no heading", r"\# no heading"),
        ("1. no item", r"1\. no item"),
        ("a\n- b\n---", "a\n\\- b\n\\---"),
        ("__init__", r"\_\_init_\_"),
        (r"C:\new \_", r"C:\new \\\_"),
        ("costs $5", r"costs \$5"),
        ("&lt; &amp x", r"\&lt; &amp x"),
        ("See https://ros.org/x_y_.", "See `https://ros.org/x_y`\\_."),
        ("mail a.b@c.example!", "mail `a.b@c.example`!"),
    ] {
        assert_eq!(escaped(text), expected);
    }
}

#[test]
fn links_pictures_and_emphasis_are_kept() {
    let link = |to: &str| MarkKind::Link(vec![to.to_owned()]);
    for (text, marks, expected) in [
        (
            "See the API, please.",
            vec![(link("/docs/api#a_b"), 4, 11)],
            "See [the API](/docs/api#a_b), please.",
        ),
        (
            "Use foo() now!",
            vec![(link("https://a.example"), 4, 9), (MarkKind::Code, 4, 9)],
            "Use [`foo()`](https://a.example) now!",
        ),
        (
            "Never do it: a robot",
            vec![
                (MarkKind::Strong, 0, 5),
                (MarkKind::Emphasis, 6, 8),
                (MarkKind::Picture("/img/r.png".to_owned()), 13, 20),
            ],
            "**Never** *do* it: ![a robot](/img/r.png)",
        ),
        ("Look!here", vec![(link("/a"), 5, 9)], "Look\\![here](/a)"),
        (
            "a]: b",
            vec![(link("/a"), 0, 5), (MarkKind::Code, 0, 5)],
            "`a]: b`",
        ),
        (
            "unbelievable",
            vec![(MarkKind::Strong, 2, 5)],
            "unbelievable",
        ),
        ("note 12", vec![(link("/a"), 5, 7)], "note 12"),
        ("gone away", vec![(link("docs/gone.md"), 0, 4)], "gone away"),
    ] {
        let marks: Vec<Mark> = marks.into_iter().map(Mark::from).collect();
        assert_eq!(marked_text(text, &marks, 0..text.len()), expected);
    }
}

#[test]
fn formulas_read_the_same_in_tex() {
    for (formula, expected) in [
        ("$x_1 + y_{2}$", "$x_1 + y_{2}$"),
        (r"$\hat{x}_{i} a_i$", r"$\hat{x}_ {i} a_i$"),
        ("$2*(a) + q^*$", r"$2*(a) + q^\ast$"),
        ("$a*b$", r"$a\ast b$"),
        (
            r"$\begin{align*} a &= b \\ c \end{align*}$",
            r"$\begin{align*} a &= b \\ c \end{align*}$",
        ),
        (r"$\sqrt[3]{x} <y$", r"$\sqrt[{}3]{x} < y$"),
        ("$$a\n+ b$$", "$$\na + b\n$$"),
        ("$$\n+ b\n$$", "$$\n{}+ b\n$$"),
        ("$a % b$", r"\$a % b\$"),
    ] {
        let mark = Mark::from((MarkKind::Formula, 0, formula.len()));
        assert_eq!(marked_text(formula, &[mark], 0..formula.len()), expected);
    }
}

#[test]
fn a_fence_holds_any_code_and_names_no_more_than_language_and_title() {
    for (code, language, title, expected) in [
        ("a", "rust", "", "```rust\na\n```"),
        ("```", "c++", "", "````c++\n```\n````"),
        ("a", "x`<b>", "", "```\na\n```"),
        ("a", "js", "a `\"b\\&.js", "```js title=\"a b.js\"\na\n```"),
        ("a", "", "a.js", "```\na\n```"),
    ] {
        assert_eq!(fenced(code, language, title), expected);
    }
}

#[test]
fn backticks_in_code_cost_one_pass() {
    let run = "`".repeat(1_000_000);
    assert_eq!(fence_of(&run).len(), run.len() + 1);
    // Each length from 1 to 1,000 is a run.
    let runs: Vec<&str> = (1..=1_000).map(|length| &run[..length]).collect();
    let code = runs.join(" ");
    let mark = Mark::from((MarkKind::Code, 0, code.len()));
    let begin = std::time::Instant::now();
    let span = marked_text(&code, &[mark], 0..code.len());
    assert_eq!(span.bytes().take_while(|byte| *byte == b'`').count(), 1_001);
    assert!(begin.elapsed() < std::time::Duration::from_secs(10));
}

#[test]
fn items_nest_below_the_items_that_are_there() {
    let mut list = ListMarkers::default();
    let placed: Vec<String> = ["    - ", "    - ", "      1. ", "        - ", "  - ", "- "]
        .into_iter()
        .map(|marker| list.place(marker))
        .collect();
    assert_eq!(placed, ["- ", "- ", "  1. ", "     - ", "- ", "- "]);
    let lengths = ["- a", "  12. a", "1.a", "-a", "a - b", "1) a", ""].map(marker_length);
    assert_eq!(lengths, [2, 6, 0, 0, 0, 0, 0]);
}
