//! Quotes from the panels of tabs.

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
