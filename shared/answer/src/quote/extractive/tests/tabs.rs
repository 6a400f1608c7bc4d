//! Quotes from the panels of tabs, and from details.

use super::{answered, brief, sections};
use crate::quote::Passage;

/// Returns a page with a tab of several paragraphs, the last of which has the rare word `mopple`, and another tab.
fn page(end: &str) -> String {
    let filler =
        (0..30).map(|n| format!("Station {n} counts birds and bats at night and by day.\n\n"));
    let filler: String = filler.collect();
    format!(
        "# Page\n\nRead this first.\n\n<Tabs>\n<TabItem value=\"a\" label=\"Windows (PowerShell)\">\n\n{filler}{end}\n\n</TabItem>\n\
        <TabItem value=\"npm\">\n\n```sh\nnpm install\n```\n\n</TabItem>\n</Tabs>\n\nAll stations report.\n"
    )
}

#[test]
fn a_part_of_a_panel_is_quoted_below_the_label_of_its_tab() {
    for end in [
        "The mopple sleeps.",
        "```sh\nmopple\n```",
        "- mopple\n- station",
    ] {
        let sections = sections("docs/page.mdx", &page(end));
        let found = sections.iter().find(|it| it.chunk.text.contains("mopple"));
        let found = found.expect("a chunk has the word").clone();
        let passage = Passage {
            n: 1,
            candidate: &found,
        };
        let short = brief("mopple", &passage, None);
        assert!(short.starts_with("Windows (PowerShell): "), "{short}");
        let markdown = answered("mopple", &[found]);
        let label = markdown.find("Windows (PowerShell)");
        assert!(
            label.is_some_and(|at| at < markdown.find("mopple").unwrap()),
            "{markdown}"
        );
        assert_eq!(markdown.matches("Windows").count(), 1, "{markdown}");
    }
}

#[test]
fn a_label_stands_above_code_without_being_its_title() {
    let page = "# Page\n\n<Tabs>\n<TabItem value=\"npm\">\n\n```sh\nnpm i\n```\n\n</TabItem>\n</Tabs>\n\nAfter.\n";
    let markdown = answered("npm", &sections("docs/page.mdx", page));
    assert_eq!(
        markdown,
        "#### Page\n\n**npm**\n\n```sh\nnpm i\n```\n\nAfter. [1]"
    );
}

#[test]
fn the_entry_of_a_list_of_details_is_quoted_below_its_summary() {
    let page = "# Page\n\n\
        <details>\n<summary>I do not like it. Do I have to use a `mopple`?</summary>\n\nNo, use a stone.\n\n</details>\n\n\
        <details>\n<summary>Help! The lamp is dark!</summary>\n\nTurn it.\n\nThen wait.\n\n</details>\n\n\
        <details>\n<summary>Which bird sings?</summary>\n\nThe thrush.\n\n</details>\n";
    let sections = sections("docs/page.mdx", page);
    for (query, expected) in [
        (
            "mopple",
            "#### Page\n\n**I do not like it. Do I have to use a `mopple`?**\n\nNo, use a stone. [1]",
        ),
        (
            "the lamp is dark",
            "#### Page\n\n**Help! The lamp is dark!**\n\nTurn it.\n\nThen wait. [1]",
        ),
        (
            "thrush",
            "#### Page\n\n**Which bird sings?**\n\nThe thrush. [1]",
        ),
    ] {
        assert_eq!(answered(query, &sections), expected, "{query}");
    }
}

#[test]
fn text_beside_details_is_quoted_with_them() {
    let page = "# Page\n\nFirst dig.\n\n<details>\n<summary>Why</summary>\n\nBecause of frost.\n\n</details>\n\nThen plant the mopple.\n\n\
        <details>\n<summary>How</summary>\n\nBy hand.\n\n</details>\n\nAt last wait.\n";
    let markdown = answered("mopple", &sections("docs/page.mdx", page));
    assert_eq!(
        markdown,
        "#### Page\n\nFirst dig.\n\n**Why**\n\nBecause of frost.\n\nThen plant the mopple.\n\n**How**\n\nBy hand.\n\nAt last wait. [1]"
    );
}
