//! Pages with text that looks like markup: an answer shows it as the book's text.

mod joined;
mod kept;
mod tabs;

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::rendering::{rendered, words as words_of};
use crate::retrieve::{ScoredChunk, Scores};
use book::chunk::{ChunkPolicy, chunk_document};
use book::{Inputs, MarkKind, SiteSettings, page_file, read_document};
use store::index::ChunkPayload;
use text::split;

/// Returns the sections of a page, as stored.
fn sections(file: &str, page: &str) -> Vec<ScoredChunk> {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let file = page_file(&settings, file).unwrap();
    let document = read_document(&settings, "site", &file, page.as_bytes(), &Inputs::new());
    let document = document.unwrap();
    let mut sections = Vec::new();
    for chunk in chunk_document(&document, &ChunkPolicy::ADAPTIVE) {
        let payload = ChunkPayload::new(&document, &chunk, String::new());
        let stored = serde_json::to_string(&payload).unwrap();
        sections.push(ScoredChunk {
            point_id: chunk.chunk_id,
            position: Some(0),
            chunk: Arc::new(serde_json::from_str(&stored).unwrap()),
            scores: Scores::default(),
            category: None,
        });
    }
    sections
}

/// Returns the answer's Markdown.
fn answered(query: &str, sections: &[ScoredChunk]) -> String {
    let passages: Vec<Passage<'_>> = sections
        .iter()
        .zip(1..)
        .map(|(candidate, n)| Passage { n, candidate })
        .collect();
    markdown_of(answer(query, &passages, None, ""))
}

fn markdown_of(quotes: Vec<Quote>) -> String {
    let pieces = quotes.into_iter().map(|quote| match quote {
        Quote::Text(markdown) => markdown,
        Quote::Citation(n) => format!("[{n}]"),
    });
    pieces.collect()
}

/// The Markdown of a page without its title, and the text that a reader must see in the answer.
const PAGES: &[(&str, &str)] = &[
    // Escapes, entities and inline code that an attacker might write.
    (
        r"- mopple \[click me\](javascript:alert(document.domain))",
        "mopple [click me](javascript:alert(document.domain)) [1]",
    ),
    (
        r"- mopple \!\[img\](https://evil15.example/p.png)",
        "mopple ![img](https://evil15.example/p.png) [1]",
    ),
    (
        "- mopple `[x](javascript:alert(2))`",
        "mopple [x](javascript:alert(2)) [1]",
    ),
    (
        "- mopple &#60;script&#62;alert(5)&#60;/script&#62;",
        "mopple <script>alert(5)</script> [1]",
    ),
    (
        "The mopple is `<img src=x onerror=alert(1)>` here.",
        "The mopple is <img src=x onerror=alert(1)> here. [1]",
    ),
    (
        "The mopple is &lt;svg onload=alert(1)&gt; here.",
        "The mopple is <svg onload=alert(1)> here. [1]",
    ),
    (
        r"The mopple is \<b onclick=alert(1)>bold\</b> here.",
        "The mopple is <b onclick=alert(1)>bold</b> here. [1]",
    ),
    (
        r"The mopple lives at \<https://evil.example/a>.",
        "The mopple lives at <https://evil.example/a>. [1]",
    ),
    (
        "| mopple | what |\n|---|---|\n| `<script>` | ![img](x.png) `![i](https://evil.example/p)` |",
        "mopple what <script> img ![i](https://evil.example/p) [1]",
    ),
    (
        r"The mopple is proven \[2\] and [1] and \[1, 2\].",
        "The mopple is proven [2] and [1] and [1, 2]. [1]",
    ),
    (
        r"The mopple is \*not bold\*, \_not slanted\_, \~\~not struck\~\~.",
        "The mopple is *not bold*, _not slanted_, ~~not struck~~. [1]",
    ),
    (r"The mopple \[a\]\[b\]", "The mopple [a][b] [1]"),
    (
        r"\[mopple\]: https://evil.example",
        "[mopple]: https://evil.example [1]",
    ),
    (
        "The mopple has ``a`b`` and `` `tick` `` in it.",
        "The mopple has a`b and `tick` in it. [1]",
    ),
    (
        r"The mopple \`is not code\`.",
        "The mopple `is not code`. [1]",
    ),
    (
        "The mopple &amp;lt;b&amp;gt; and &amp;#60; stay.",
        "The mopple &lt;b&gt; and &#60; stay. [1]",
    ),
    // Harmless books about markup, shells and prices.
    (
        "Use the mopple `<Tabs>` component.",
        "Use the mopple <Tabs> component. [1]",
    ),
    (
        r"A mopple costs \$5 or \$6 a month.",
        "A mopple costs $5 or $6 a month. [1]",
    ),
    (r"\# mopple is no heading", "# mopple is no heading [1]"),
    (r"\- mopple is no item", "- mopple is no item [1]"),
    (
        r"1986\. A great mopple year",
        "1986. A great mopple year [1]",
    ),
    (r"\> mopple is no quotation", "> mopple is no quotation [1]"),
    (r"mopple\\", r"mopple\ [1]"),
    (
        "The mopple file is `C:\\new\\*.txt` or `~/x`.",
        r"The mopple file is C:\new\*.txt or ~/x. [1]",
    ),
    (
        "The mopple site is https://ros.example/a_b_c and www.ros.example.",
        "The mopple site is https://ros.example/a_b_c and www.ros.example. [1]",
    ),
    (
        "Write to mopple@ros.example, please.",
        "Write to mopple@ros.example, please. [1]",
    ),
    (
        "The mopple `x = a[2]` and `[1]` index.",
        "The mopple x = a[2] and [1] index. [1]",
    ),
    (r"The mopple is a \| b", "The mopple is a | b [1]"),
    (
        "The mopple rule\\\n\\---\\\nstays.",
        "The mopple rule --- stays. [1]",
    ),
    (
        r"The mopple \[ \] is open and \[x\] done.",
        "The mopple [ ] is open and [x] done. [1]",
    ),
    (
        "Run mopple `foo. Bar()` first. Then stop.",
        "Run mopple foo. Bar() first. Then stop. [1]",
    ),
    (
        "[The mopple](https://evil.example/a \"t\") is [here](./b.md).",
        "The mopple is here. [1]",
    ),
    (
        "![A mopple \\<b\\>](https://evil.example/a.png) picture.",
        "A mopple <b> picture. [1]",
    ),
    (
        "1. one\n   - two\n     - mopple three\n       continues",
        "mopple three continues [1]",
    ),
    (
        r"The mopple __init__ and \_\_main\_\_ and snake_case_name.",
        "The mopple init and __main__ and snake_case_name. [1]",
    ),
    (
        "```js title=\"mopple\"\nlet a = '`<script>`[1]';\n```",
        "let a = '`<script>`[1]';",
    ),
    ("~~~ m`<b>\nmopple ``` <i>[2]\n~~~", "mopple ``` <i>[2]"),
];

#[test]
fn what_is_text_in_the_book_is_text_in_every_renderer() {
    let known = [
        "p", "code", "pre", "list", "item", "heading", "table", "strong", "em",
    ];
    for (source, expected) in PAGES {
        let sections = sections("docs/page.md", &format!("# Page\n\n{source}\n"));
        let markdown = answered("What is the mopple?", &sections);
        for seen in rendered(&markdown) {
            // A link of the book stays a link, with the book's target, and so does an address in its text.
            let targets: [(&str, &[&str]); 5] = [
                (
                    r"The mopple lives at \<",
                    // A `>` belongs to an address in text, as on the site.
                    &["https://evil.example/a%3E"],
                ),
                (
                    "[The mopple](https://evil.example/a ",
                    &["https://evil.example/a"],
                ),
                (
                    r"\[mopple\]: https://evil.example",
                    &["https://evil.example"],
                ),
                (r"- mopple \!\[img\](", &["https://evil15.example/p.png"]),
                (
                    "The mopple site is https://ros.example",
                    &["http://www.ros.example", "https://ros.example/a_b_c"],
                ),
            ];
            let target = targets.iter().find(|(start, _)| source.starts_with(start));
            let links = target.is_some();
            let expected_addresses = target.map_or(&[] as &[&str], |(_, addresses)| addresses);
            assert!(
                seen.addresses.iter().eq(expected_addresses.iter()),
                "{markdown}"
            );
            for element in &seen.elements {
                assert!(
                    known.contains(&&**element) || (links && element == "link"),
                    "{source}\n{markdown}\n{element}"
                );
            }
            assert!(
                seen.text.contains(&words_of(expected)),
                "{source}\n{markdown}\n{seen:?}"
            );
        }
    }
}

#[test]
fn what_jsx_shows_as_text_is_text() {
    for (source, expected) in [
        (
            "The mopple is {`<script>alert(1)</script>`} here.",
            "<script>alert(1)</script>",
        ),
        (
            "<Card label=\"The mopple <img src=x onerror=alert(1)> is here.\" />\n",
            "The mopple <img src=x onerror=alert(1)> is here.",
        ),
        (
            "The mopple is <code>a_b</code> *and* **bold** {'<i>'}.",
            "a_b",
        ),
    ] {
        let sections = sections(
            "docs/page.mdx",
            &format!("# Mopple\n\nA mopple.\n\n{source}\n"),
        );
        let markdown = answered("What is the mopple?", &sections);
        for seen in rendered(&markdown) {
            assert!(
                seen.elements
                    .iter()
                    .all(|name| ["heading", "p", "code", "em", "strong"].contains(&&**name)),
                "{seen:?}"
            );
            assert!(seen.text.contains(expected), "{markdown}\n{seen:?}");
        }
    }
}

#[test]
fn inline_code_keeps_its_backticks() {
    let sections = sections(
        "docs/page.md",
        "# Mopple\n\nThe mopple calls `foo_bar()` and ``a`b``.\n",
    );
    assert_eq!(
        answered("What is the mopple?", &sections),
        "#### Mopple\n\nThe mopple calls `foo_bar()` and ``a`b``. [1]"
    );
}

#[test]
fn a_text_that_was_stored_without_marks_is_escaped_all_the_same() {
    let mut sections = sections("docs/page.md", "# Page\n\n- mopple `<b>` \\[2\\]\n- two\n");
    for section in &mut sections {
        Arc::make_mut(&mut section.chunk).marks.clear();
    }
    assert_eq!(
        answered("What is the mopple?", &sections),
        "#### Page\n\n- mopple \\<b> \\[2\\]\n- two [1]"
    );
}

#[test]
fn an_item_without_the_items_around_it_is_still_an_item() {
    let items: String = (0..30)
        .map(|n| format!("{}- item {n} of many words\n", "  ".repeat(n % 5)))
        .collect();
    let page = format!("# Page\n\n{items}- end\n  - inner\n    - the mopple\n      - below it\n");
    let sections = sections("docs/page.md", &page);
    let markdown = answered("What is the mopple below?", &sections);
    for seen in rendered(&markdown) {
        assert!(!seen.elements.contains("pre"), "{markdown}");
        assert!(seen.text.contains("the mopple below it"), "{markdown}");
    }
}

/// A section of blocks with numbered words, `w0` and up, in text order.
struct Numbered {
    section: ScoredChunk,
    /// The kind of each block, and the numbers of its words.
    blocks: Vec<(MarkKind, Range<usize>)>,
    words: usize,
}

/// Makes a section of blocks with a kind and a number of words. If this number is divisible by three, a paragraph ends in a colon, else in a full
/// stop.
fn numbered(blocks: &[(MarkKind, usize)]) -> Numbered {
    let mut section = sections("docs/page.md", "# Page\n\nText.\n").remove(0);
    let chunk = Arc::make_mut(&mut section.chunk);
    (chunk.text, chunk.marks) = (String::new(), Vec::new());
    let mut words = 0;
    let mut numbered = Vec::new();
    for (kind, count) in blocks.iter().cloned() {
        let named: Vec<String> = (words..words + count).map(|n| format!("w{n}")).collect();
        let text = match kind {
            MarkKind::Fence => format!("```\n{}\n```", named.join(" ")),
            MarkKind::Table => named.join("\n"),
            MarkKind::ListItem => format!("- {}", named.join(" ")),
            _ => named.join(" ") + if count.is_multiple_of(3) { ":" } else { "." },
        };
        if !chunk.text.is_empty() {
            chunk.text.push_str("\n\n");
        }
        let start = chunk.text.len();
        chunk.text.push_str(&text);
        let mark = (kind.clone(), start, chunk.text.len());
        chunk.marks.push(mark.into());
        numbered.push((kind, words..words + count));
        words += count;
    }
    Numbered {
        section,
        blocks: numbered,
        words,
    }
}

impl Numbered {
    fn answered(&self, query: &str) -> String {
        answered(query, std::slice::from_ref(&self.section))
    }

    /// Returns the quoted range of blocks, after checking that they are whole, in order and contiguous, except for the first one above a mark.
    fn quoted(&self, markdown: &str) -> Result<Range<usize>, TestCaseError> {
        let first = self.section.chunk.text.split("\n\n").next().unwrap();
        let lead = format!("#### Page\n\n{first}\n\n{CUT}\n\n");
        let words = markdown.strip_prefix(&lead).unwrap_or(markdown);
        let words = words.split(|c: char| !c.is_alphanumeric());
        let said: Vec<usize> = words
            .filter_map(|word| word.strip_prefix('w')?.parse().ok())
            .collect();
        prop_assert!(!said.is_empty(), "{markdown}");
        let expected: Vec<usize> = (said[0]..said[0] + said.len()).collect();
        prop_assert_eq!(&said, &expected, "{}", markdown);
        let from = self
            .blocks
            .iter()
            .position(|(_, words)| words.start == said[0]);
        let to = self
            .blocks
            .iter()
            .position(|(_, words)| words.end == said[0] + said.len());
        prop_assert!(from.is_some() && to.is_some(), "{markdown}");
        Ok(from.unwrap()..to.unwrap() + 1)
    }
}

fn blocks() -> impl Strategy<Value = Vec<(MarkKind, usize)>> {
    use MarkKind::{Fence, ListItem, Paragraph, Table};
    let kinds =
        prop_oneof![3 => Just(Paragraph), 3 => Just(ListItem), 1 => Just(Table), 1 => Just(Fence)];
    prop::collection::vec((kinds, 2_usize..60), 1..14)
}

proptest! {
    #[test]
    fn a_quote_is_whole_blocks_without_a_gap(blocks in blocks(), asked in prop::collection::vec(0_usize..300, 0..4)) {
        let page = numbered(&blocks);
        let query: String = asked.iter().map(|n| format!("w{n} ")).collect();
        let markdown = page.answered(&query);
        let quoted = page.quoted(&markdown)?;
        prop_assert_eq!(&markdown, &page.answered(&query), "not the same again");
        prop_assert!(markdown.ends_with("[1]") && markdown.matches("[1]").count() == 1);
        let kind = |at: usize| page.blocks[at].0.clone();
        let leads = |at: usize| kind(at) == MarkKind::Paragraph && page.blocks[at].1.len().is_multiple_of(3);
        let Range { start, end } = quoted;
        if page.words <= WHOLE_WORDS {
            prop_assert_eq!(start, 0);
        }
        // Lists and their introductions are quoted whole unless they are long.
        let is_item = |at: usize| kind(at) == MarkKind::ListItem;
        let words_at = |at: usize| page.blocks[at].1.len();
        let is_long = |at: usize| {
            let before = (0..at).rev().take_while(|at| is_item(*at));
            let list = before.chain((at..page.blocks.len()).take_while(|at| is_item(*at)));
            list.map(words_at).sum::<usize>() > MAX_LIST_WORDS && markdown.contains(CUT)
        };
        let follows = |at: usize| matches!(kind(at - 1), MarkKind::Table | MarkKind::Fence);
        let is_cut = |at: usize| is_item(at - 1) && is_item(at) && is_long(at);
        prop_assert!(start == 0 || !is_item(start) || follows(start) || is_cut(start));
        prop_assert!(start == 0 || !leads(start - 1), "{}", markdown);
        prop_assert!(end == page.blocks.len() || !is_item(end) || !is_item(end - 1) || is_cut(end));
        prop_assert!(end - start == 1 || !leads(end - 1), "{}", markdown);
        prop_assert!(markdown.starts_with("#### Page\n\n"), "{}", markdown);
    }
}

#[test]
fn words_and_token_vectors_choose_by_the_same_rule() {
    let paragraph = (MarkKind::Paragraph, 50);
    let page = numbered(&vec![paragraph; 8]);
    let passages = [Passage {
        n: 1,
        candidate: &page.section,
    }];
    for asked in [10, 110, 260, 390] {
        let mut similarities = Similarities::new(&[3.0]);
        for line in page.section.chunk.text.lines() {
            let has = split(line).any(|word| word == format!("w{asked}"));
            similarities.add(line, vec![if has { 1.0 } else { 0.0 }]);
        }
        let by_tokens = markdown_of(answer("", &passages, Some(&similarities), ""));
        assert_eq!(by_tokens, page.answered(&format!("What is w{asked}?")));
        assert!(by_tokens.contains(&format!("w{asked}")), "{by_tokens}");
    }
}

#[test]
fn of_equally_good_quotes_the_first_is_given() {
    let page = numbered(&vec![(MarkKind::Paragraph, 149); 6]);
    let markdown = page.answered("Something else?");
    assert_eq!(page.quoted(&markdown).unwrap(), 0..2, "{markdown}");
    let mut similarities = Similarities::new(&[1.0]);
    for line in page.section.chunk.text.lines().skip(6) {
        similarities.add(line, vec![0.9]);
    }
    let passages = [Passage {
        n: 1,
        candidate: &page.section,
    }];
    let markdown = markdown_of(answer("", &passages, Some(&similarities), ""));
    assert_eq!(page.quoted(&markdown).unwrap(), 2..4, "{markdown}");
}

#[test]
fn a_quote_stands_below_its_page_and_heading() {
    for text in ["The mopple flag runs it.", "Runs it.", "- The mopple flag"] {
        let page = format!("# Page\n\nText.\n\n## Mopple flag\n\n{text}\n");
        let section = sections("docs/page.md", &page).pop().unwrap();
        assert_eq!(
            answered("What runs it?", &[section]),
            format!("#### Page › Mopple flag\n\n{text} [1]")
        );
    }
}

#[test]
fn an_introduction_is_the_first_paragraph_before_lists_and_code_that_is_no_admonition() {
    for (page, expected) in [
        (
            "It maps state. Twice.\n\n- a",
            Some("It maps state. Twice."),
        ),
        (
            ":::tip\n\nUse hooks.\n\n:::\n\nIt maps state.",
            Some("It maps state."),
        ),
        ("Run this:\n\n```sh\nmap\n```\n\nIt maps state.", None),
    ] {
        let sections = sections("docs/p.md", &format!("# P\n\n{page}\n"));
        let passage = Passage {
            n: 1,
            candidate: &sections[0],
        };
        let found = introduction(&passage).map(|block| block.text);
        assert_eq!(found.as_deref(), expected, "{page}");
    }
}
