//! Markdown of the book that quotes keep.

use super::{answered, sections};

#[test]
fn links_emphasis_and_pictures_of_the_book_are_quoted() {
    for (source, expected) in [
        (
            "The mopple *needs* [its `api()`](/docs/api#x) and **care**.",
            "The mopple *needs* [its `api()`](/docs/api#x) and **care**. [1]",
        ),
        (
            "The mopple stands here:\n\n![A mopple](/img/m.png)",
            "The mopple stands here:\n\n![A mopple](/img/m.png)\n\n[1]",
        ),
        (
            ":::note[**Mind** the mopple]\n\nThe mopple bites.\n\n:::",
            "**Note: Mind the mopple:** The mopple bites. [1]",
        ),
        (
            ":::tip[Pro Tip]\n\nThe mopple sleeps.\n\n:::",
            "**Pro Tip:** The mopple sleeps. [1]",
        ),
        (
            "| mopple | see |\n| --- | --- |\n| a | [b \\| c](/d) |",
            "| mopple | see |\n| --- | --- |\n| a | [b \\| c](/d) |\n\n[1]",
        ),
    ] {
        let sections = sections("docs/page.md", &format!("# Mopple\n\n{source}\n"));
        let expected = format!("#### Mopple\n\n{expected}");
        assert_eq!(answered("What is the mopple?", &sections), expected);
    }
}

#[test]
fn a_diagram_is_never_all_of_a_quote() {
    let tree = "```\nmopple\n├── sensor\n└── alarm flowchart\n```";
    // The source of a diagram is not shown.
    let mermaid = "```mermaid\nflowchart mopple sensor alarm\n```";
    for (diagram, shown) in [(tree, tree), (mermaid, "…")] {
        let markdown = with_stations(diagram);
        let start = format!("#### Page\n\n{shown}\n\nStation 0");
        assert!(markdown.starts_with(&start), "{markdown}");
    }
}

fn with_stations(diagram: &str) -> String {
    let text = (0..40).map(|n| format!("Station {n} counts birds at night.\n\n"));
    let text: String = text.collect();
    let page = format!("# Page\n\n{diagram}\n\n{text}");
    answered(
        "mopple sensor alarm flowchart",
        &sections("docs/page.md", &page),
    )
}
