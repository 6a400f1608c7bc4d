use std::collections::BTreeMap;

use proptest::prelude::*;

use super::policy::MAX_BLOCK_TOKENS;
use super::*;
use crate::{BlockKind, Inputs, SiteSettings, page_file, read_document};

fn document(text: &str) -> Document {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let page = page_file(&settings, "docs/a/page.md").expect("the path is a page's");
    read_document(&settings, "site", &page, text.as_bytes(), &Inputs::new())
        .expect("the page can be read")
}

fn chunks(text: &str, policy: &ChunkPolicy) -> Vec<Chunk> {
    chunk_document(&document(text), policy)
}

fn words(count: usize) -> String {
    vec!["word"; count].join(" ") + "."
}

#[test]
fn a_page_without_sections_is_one_chunk() {
    let chunks = chunks("Only text.\n\nAnd more.", &ChunkPolicy::ADAPTIVE);
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].text, "Only text.\n\nAnd more.");
    assert_eq!(chunks[0].shown_text(), "page\n\nOnly text.\n\nAnd more.");
    assert_eq!((chunks[0].start_line, chunks[0].end_line), (1, 3));
}

#[test]
fn each_heading_with_its_own_text_is_a_chunk() {
    let text = "# Title\n\nIntro.\n\n## First\n\nA.\n\n### Deeper\n\nB.\n\n## Second\n\nC.";
    let chunks = chunks(text, &ChunkPolicy::ADAPTIVE);
    let sections: Vec<_> = chunks
        .iter()
        .map(|chunk| chunk.section.as_deref())
        .collect();
    assert_eq!(
        sections,
        [Some("Title"), Some("First"), Some("Deeper"), Some("Second")]
    );
    let anchors: Vec<_> = chunks
        .iter()
        .map(|chunk| chunk.section_id.as_deref())
        .collect();
    assert_eq!(
        anchors,
        [None, Some("first"), Some("deeper"), Some("second")]
    );
    assert_eq!(chunks[2].heading_path, ["Title", "First", "Deeper"]);
    assert_eq!(chunks[2].text, "B.");
    assert_eq!((chunks[2].start_line, chunks[2].end_line), (9, 11));
}

#[test]
fn a_heading_with_nothing_below_it_is_a_chunk_of_its_own() {
    let chunks = chunks(
        "# Title\n\n## First\n\n### Deeper\n\nB.",
        &ChunkPolicy::ADAPTIVE,
    );
    let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text.as_str()).collect();
    assert_eq!(texts, ["Title", "First", "B."]);
    assert_eq!(chunks[1].section_id.as_deref(), Some("first"));
}

#[test]
fn details_are_not_cut_if_they_fit() {
    let entry = |name: &str, words_each: usize| {
        let text = words(words_each);
        format!("<details>\n<summary>{name}?</summary>\n\n{text}\n\n{text}\n\n</details>\n\n")
    };
    let page = [entry("A", 150), entry("B", 100), entry("C", 300)].concat();
    let chunks = chunks(&format!("# Page\n\n{page}"), &ChunkPolicy::ADAPTIVE);
    let labels: Vec<Vec<&str>> = chunks
        .iter()
        .map(|chunk| {
            let lines = chunk.text.lines();
            lines.filter(|line| line.ends_with('?')).collect()
        })
        .collect();
    // The last one does not fit, so its second paragraph stands alone.
    assert_eq!(labels, [vec!["A?"], vec!["B?"], vec!["C?"], vec![]]);
    assert!(chunks.iter().all(|chunk| !chunk.text.ends_with('?')));
    assert_eq!(chunks[1].text.matches("word.").count(), 2);
}

#[test]
fn chunks_fit_the_embedders_input() {
    let paragraphs = vec![words(90); 10].join("\n\n");
    for (max_tokens, most) in [(256, 192), (512, 384), (8_000, 700)] {
        let policy = ChunkPolicy::ADAPTIVE.for_input(max_tokens);
        let chunks = chunks(&format!("# A\n\n{paragraphs}"), &policy);
        assert!(chunks.iter().all(|chunk| chunk.token_count <= most));
        assert_eq!(policy.split_above_tokens, most);
    }
    let unchanged = ChunkPolicy::ADAPTIVE.for_input(8_000);
    assert_eq!(unchanged, ChunkPolicy::ADAPTIVE);
}

#[test]
fn a_chunk_knows_what_it_links_to() {
    let text = "# A\n\nSee [this](../b.md#c), <https://x.org/a_(b)> and <a href=\"/d\">D</a>.\n\n## B\n\nNothing.";
    let chunks = chunks(text, &ChunkPolicy::ADAPTIVE);
    for link in ["../b.md#c", "https://x.org/a_(b)", "/d"] {
        assert!(chunks[0].links.iter().any(|found| found == link), "{link}");
    }
    assert!(chunks[1].links.is_empty());
}

#[test]
fn a_heading_without_an_anchor_splits_and_links_to_the_nearest_one_above() {
    let text = "# Title\n\n<h2>No id</h2>\n\nA.\n\n## Setup\n\nB.\n\n### Linux\n\nC.\n\n<h2>Options</h2>\n\nD.\n\n<h2 id=\"given\">Given</h2>\n\nE.\n\n# Second\n\nF.";
    let chunks = chunks(text, &ChunkPolicy::ADAPTIVE);
    let seen: Vec<_> = chunks
        .iter()
        .map(|chunk| (chunk.heading_path.join(" / "), chunk.section_id.as_deref()))
        .collect();
    let expected = [
        ("Title", None),
        ("Title / No id", None),
        ("Title / Setup", Some("setup")),
        ("Title / Setup / Linux", Some("linux")),
        ("Title / Options", Some("linux")),
        ("Title / Given", Some("given")),
        ("Second", Some("given")),
    ];
    assert_eq!(
        seen,
        expected.map(|(path, anchor)| (path.to_owned(), anchor))
    );
    let sections: Vec<_> = chunks
        .iter()
        .map(|chunk| chunk.section.as_deref())
        .collect();
    assert!(sections.contains(&Some("Options")), "{sections:?}");
}

#[test]
fn lists_of_headings_name_none_that_is_written_as_a_tag() {
    let text = "# T\n\n<TOCInline toc={toc} />\n\n## Listed\n\n<h2 id=\"x\">Not listed</h2>";
    let document = document(text);
    let list = document
        .blocks
        .iter()
        .find(|block| block.kind == BlockKind::Contents)
        .expect("the list is there");
    assert_eq!(list.text, "- Listed");
}

#[test]
fn sections_are_classified() {
    let text = "# T\n\n## 🎯 Learning Objectives\n\n- a\n\n## Theory\n\nText.\n\n## Code\n\n```\na\n```\n\n```\nb\n```";
    let kinds: Vec<_> = chunks(text, &ChunkPolicy::ADAPTIVE)
        .iter()
        .map(|chunk| chunk.section_type)
        .collect();
    assert_eq!(
        kinds,
        [
            SectionType::Instructional,
            SectionType::Structural,
            SectionType::Instructional,
            SectionType::CodeHeavy
        ]
    );
}

#[test]
fn a_section_of_700_tokens_stays_whole_and_a_longer_one_is_split() {
    let fits = format!("# A\n\n{}", words(650));
    assert_eq!(chunks(&fits, &ChunkPolicy::ADAPTIVE).len(), 1);
    let paragraphs = vec![words(90); 10].join("\n\n");
    let split = chunks(&format!("# A\n\n{paragraphs}"), &ChunkPolicy::ADAPTIVE);
    assert!(split.len() > 1);
    for (index, chunk) in split.iter().enumerate() {
        assert_eq!((chunk.chunk_index, chunk.chunk_count), (index, split.len()));
        assert_eq!(chunk.section.as_deref(), Some("A"));
        assert!(chunk.token_count <= 700);
    }
    // The overlap: both chunks contain a whole paragraph.
    assert!(split[1].start_line <= split[0].end_line);
}

#[test]
fn a_long_sentence_without_spaces_is_cut_after_a_clause() {
    let clause = "用户可以在页面上设置一些规则，如来自于哪里，";
    let text = format!("# 规则\n\n{}最后完成。", clause.repeat(60));
    let cut = chunks(&text, &ChunkPolicy::ADAPTIVE);
    assert!(cut.len() > 1);
    for chunk in &cut {
        assert!(chunk.text.ends_with(['，', '。']), "{}", chunk.text);
    }
}

#[test]
fn code_is_kept_in_one_piece_up_to_the_cap_and_cut_between_lines_beyond() {
    let code = |lines: usize| {
        (0..lines)
            .map(|n| format!("let x{n} = {n};\n"))
            .collect::<String>()
    };
    let text = format!("## A\n\nText.\n\n```rust\n{}```\n\nMore.", code(150));
    let whole = chunks(&text, &ChunkPolicy::ADAPTIVE);
    assert!(
        whole
            .iter()
            .any(|chunk| chunk.text.contains("let x0 ") && chunk.text.contains("let x149 "))
    );
    assert!(whole.iter().any(|chunk| chunk.oversized));
    let text = format!("# A\n\n```rust\n{}```\n", code(900));
    let cut = chunks(&text, &ChunkPolicy::ADAPTIVE);
    assert!(cut.len() > 1);
    let lines: Vec<String> = cut
        .iter()
        .flat_map(|chunk| chunk.text.lines().map(str::to_owned))
        .collect();
    let lines: Vec<String> = lines
        .into_iter()
        .filter(|line| !line.starts_with("```"))
        .collect();
    let expected: Vec<String> = code(900).lines().map(str::to_owned).collect();
    assert_eq!(lines, expected);
    let first = &cut[1];
    let number: u32 = first
        .text
        .lines()
        .nth(1)
        .and_then(|line| line[5..].split(' ').next())
        .and_then(|n| n.parse().ok())
        .expect("a line of code");
    assert_eq!(
        first.start_line,
        number + 4,
        "the lines of a cut fence are those of its source"
    );
}

#[test]
fn a_cut_table_repeats_its_header() {
    let rows: String = (0..600)
        .map(|n| format!("| row {n} | value {n} |\n"))
        .collect();
    let chunks = chunks(
        &format!("# T\n\n| name | value |\n|---|---|\n{rows}"),
        &ChunkPolicy::ADAPTIVE,
    );
    assert!(chunks.len() > 1);
    assert!(
        chunks
            .iter()
            .all(|chunk| chunk.text.contains("name | value"))
    );
}

#[test]
fn an_edit_changes_only_the_chunks_of_its_section() {
    let before = chunks(
        "# T\n\n## A\n\nOne.\n\n## B\n\nTwo.\n\n## C\n\nThree.",
        &ChunkPolicy::ADAPTIVE,
    );
    let after = chunks(
        "# T\n\n## A\n\nOne.\n\n## B\n\nTwo, changed.\n\n## C\n\nThree.",
        &ChunkPolicy::ADAPTIVE,
    );
    let changed: Vec<_> = before
        .iter()
        .zip(&after)
        .map(|(a, b)| a.chunk_id != b.chunk_id)
        .collect();
    assert_eq!(changed, [false, false, true, false]);
}

fn page() -> impl Strategy<Value = String> {
    let block = prop_oneof![
        "[a-z]{1,8}( [a-z]{1,8}){0,120}\\.".prop_map(|text| text),
        (1usize..5, "[a-z]{1,8}( [a-z]{1,8}){0,3}")
            .prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        proptest::collection::vec("[a-z]{1,6} = [0-9]{1,3}", 1..40)
            .prop_map(|lines| format!("```py\n{}\n```", lines.join("\n"))),
        proptest::collection::vec("[a-z]{1,8}( [a-z]{1,8}){0,12}", 1..12)
            .prop_map(|items| format!("- {}", items.join("\n- "))),
        proptest::collection::vec("[a-z]{1,8}", 1..12)
            .prop_map(|rows| format!("| h | i |\n|---|---|\n| {} | x |", rows.join(" | x |\n| "))),
        Just(":::tip Title\n\nInside.\n\n:::".to_owned()),
        Just("<Tabs>\n<TabItem label=\"One\">\n\nPanel.\n\n</TabItem>\n</Tabs>".to_owned()),
    ];
    proptest::collection::vec(block, 0..40).prop_map(|blocks| blocks.join("\n\n"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn chunks_cover_every_block_in_order(text in page()) {
        let document = document(&text);
        for policy in ChunkPolicy::ALL {
            let chunks = chunk_document(&document, &policy);
            let mut at = 0;
            for block in &document.blocks {
                let holds = |chunk: &Chunk| {
                    chunk.start_line <= block.start_line
                        && chunk.end_line >= block.end_line
                        && block.text.lines().all(|line| chunk.shown_text().contains(line.trim()))
                };
                // A block that was split is in several chunks.
                let found = chunks[at..].iter().position(holds);
                let cut = count_tokens(&block.text) > policy.split_above_tokens;
                prop_assert!(found.is_some() || cut, "{} lost {:?}", policy.name, block);
                at += found.unwrap_or(0);
            }
        }
    }

    #[test]
    fn chunks_keep_to_their_policy(text in page()) {
        let document = document(&text);
        let lines = u32::try_from(text.lines().count()).expect("a short page");
        for policy in ChunkPolicy::ALL {
            let chunks = chunk_document(&document, &policy);
            for chunk in &chunks {
                prop_assert!(1 <= chunk.start_line && chunk.start_line <= chunk.end_line && chunk.end_line <= lines.max(1));
                prop_assert!(chunk.token_count <= policy.flag_above_tokens || chunk.oversized);
                prop_assert!(!chunk.text.is_empty());
                prop_assert_eq!(chunk.token_count, count_tokens(&chunk.text));
                for block in &document.blocks {
                    let whole = matches!(block.kind, BlockKind::Code { .. } | BlockKind::Table);
                    let short = count_tokens(&block.text) <= MAX_BLOCK_TOKENS;
                    let apart = chunk.end_line < block.start_line || chunk.start_line > block.end_line;
                    let inside = chunk.start_line <= block.start_line && chunk.end_line >= block.end_line;
                    prop_assert!(!whole || !short || apart || inside, "{} cuts {:?}", policy.name, block);
                }
            }
        }
    }

    #[test]
    fn the_same_bytes_give_the_same_ids_and_ids_are_unique(text in page()) {
        let first = chunks(&text, &ChunkPolicy::ADAPTIVE);
        let second = chunks(&text, &ChunkPolicy::ADAPTIVE);
        prop_assert_eq!(&first, &second);
        let ids: std::collections::HashSet<_> = first.iter().map(|chunk| chunk.chunk_id).collect();
        prop_assert_eq!(ids.len(), first.len());
    }

    #[test]
    fn hostile_text_is_read_without_a_panic(text in "[-#`~>:<{}\\[\\]()|*_$!\\\\ \na-c/='\"]{0,300}") {
        let document = document(&format!("x\n\n{text}"));
        let chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
        prop_assert!(!chunks.is_empty());
    }
}
