//! The block of a section that fits a question best, as a quote of its own.

use super::{answer_briefly, markdown_of, sections};
use crate::quote::Passage;

/// Quotes the best block of a page's first section.
fn briefly(page: &str) -> String {
    let sections = sections("docs/page.md", page);
    let passage = Passage {
        n: 1,
        candidate: &sections[0],
    };
    markdown_of(answer_briefly("What is the mopple?", &passage, None))
}

#[test]
fn one_block_is_quoted_below_its_heading_with_what_it_leads_to() {
    let page = "# Page\n\nStations report by day.\n\nThe mopple is started by this command:\n\n```sh\nmopple start\n```\n\nBats are counted.\n";
    assert_eq!(
        briefly(page),
        "#### Page\n\nThe mopple is started by this command:\n\n```sh\nmopple start\n```\n\n[1]"
    );
}

#[test]
fn a_short_list_is_quoted_whole_and_no_part_of_a_long_one() {
    let list = |items: usize| {
        let others: String = (0..items)
            .map(|n| format!("- Station {n} counts birds and bats by day.\n"))
            .collect();
        format!(
            "# Page\n\nBirds are counted.\n\nThere are these stations:\n\n{others}- The mopple rests.\n"
        )
    };
    let quote = briefly(&list(2));
    assert!(
        quote.starts_with("#### Page\n\nThere are these stations:\n\n- Station 0"),
        "{quote}"
    );
    assert!(quote.ends_with("- The mopple rests. [1]"), "{quote}");
    assert_eq!(briefly(&list(40)), "");
}

#[test]
fn a_section_that_only_leads_on_has_no_block() {
    assert_eq!(
        briefly("# Page\n\n[The mopple](https://a.example/mopple)\n"),
        ""
    );
}
