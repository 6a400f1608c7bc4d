use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::chunk::{ChunkPolicy, chunk_document};
use crate::{Inputs, OmissionReason, SiteSettings, page_file, page_markdown, read_document};

const PAGE: &str = "---\ntitle: Soil\nkeywords: [a]\n---\n\nimport Tabs from '@theme/Tabs';\n\n# Soil {#soil}\n\nA [probe](https://example.org/x) &amp; **re**lay.[^1]\n\n<Tabs>\n<TabItem value=\"l\" label=\"Linux\">\n\n7. `sudo` first\n7. then {count + 1}\n\n</TabItem>\n</Tabs>\n\n| a | b |\n|---|---|\n| 1 \\| 2 | x | beyond |\n\n```js title=\"a.js\" {2}\nrun()\n```\n\n:::tip[Hot]{.x}\n\n<!-- not shown -->\n\nMind the sun, see [ref].\n\n:::\n\n[ref]: https://example.org/ref\n[^1]: A note.\n";

fn document(text: &str) -> Document {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let page = page_file(&settings, "docs/page.mdx").expect("the path is a page's");
    read_document(&settings, "site", &page, text.as_bytes(), &Inputs::new())
        .expect("the page can be read")
}

/// The words that are lost if a page's document or its chunks are modified.
fn lost(
    change_document: impl Fn(&mut Document),
    change_chunks: impl Fn(&mut Vec<Chunk>),
) -> Vec<String> {
    let mut document = document(PAGE);
    let mut chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
    change_document(&mut document);
    change_chunks(&mut chunks);
    ledger(PAGE, &document, &chunks)
        .into_iter()
        .flat_map(|entry| entry.unaccounted)
        .collect()
}

#[test]
fn every_piece_of_a_page_is_in_a_chunk_or_left_out_for_a_reason() {
    assert_eq!(lost(|_| (), |_| ()), Vec::<String>::new());
    let document = document(PAGE);
    let chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
    let entries = ledger(PAGE, &document, &chunks);
    let left_out = entries.iter().flat_map(|entry| &entry.left_out);
    let reasons: BTreeSet<_> = left_out.map(|omission| omission.reason).collect();
    let reasons: Vec<_> = reasons.into_iter().collect();
    assert_eq!(
        reasons,
        [
            OmissionReason::FrontMatter,
            OmissionReason::Import,
            OmissionReason::Comment,
            OmissionReason::Tag,
            OmissionReason::Expression,
            OmissionReason::Attributes,
            OmissionReason::FenceInfo,
            OmissionReason::LinkTarget,
            OmissionReason::HeadingId,
            OmissionReason::CharacterReference,
            OmissionReason::ListNumber,
            OmissionReason::ExcessCell,
            OmissionReason::FootnoteLabel,
        ]
    );
}

#[test]
fn the_markdown_of_a_page_has_each_word_of_it() {
    let document = document(PAGE);
    let lost = |markdown: &str| -> Vec<String> {
        let entries = ledger_of_markdown(PAGE, &document, markdown);
        let lost = entries.into_iter().flat_map(|entry| entry.unaccounted);
        lost.collect()
    };
    let markdown = page_markdown(&document.blocks);
    assert_eq!(lost(&markdown), Vec::<String>::new(), "{markdown}");
    for block in 0..document.blocks.len() {
        let mut blocks = document.blocks.clone();
        let gone = blocks.remove(block);
        let lost = lost(&page_markdown(&blocks));
        let words = words_of(&gone.text).count();
        assert!(words == 0 || !lost.is_empty(), "{gone:?}");
    }
}

#[test]
fn a_lost_block_is_noticed() {
    let count = document(PAGE).blocks.len();
    for at in 0..count {
        let lost = lost(|document| drop(document.blocks.remove(at)), |_| ());
        assert!(!lost.is_empty(), "{:?}", document(PAGE).blocks[at]);
    }
}

#[test]
fn something_left_out_without_a_reason_is_noticed() {
    let count = document(PAGE).omissions.len();
    assert!(count > 10);
    for at in 0..count {
        let omission = document(PAGE).omissions.remove(at);
        let lost = lost(|document| drop(document.omissions.remove(at)), |_| ());
        // Markdown ignores a label's second definition, so definitions need no reason.
        let says_something =
            omission.text.contains(char::is_alphanumeric) && !omission.text.starts_with("[ref]:");
        assert_eq!(lost.is_empty(), !says_something, "{omission:?}");
    }
}

#[test]
fn a_lost_chunk_and_a_lost_word_are_noticed() {
    let text = |chunks: &mut Vec<Chunk>| chunks[0].text = chunks[0].text.replace("sun", "");
    assert_eq!(lost(|_| (), text), ["sun"]);
    assert!(!lost(|_| (), Vec::clear).is_empty());
}

#[test]
fn items_without_text_and_lone_carriage_returns_are_accounted_for() {
    for page in [
        "2.",
        "1. - a",
        "7. ***",
        "1. <Tabs>\n\n   b\n   </Tabs>",
        "2. <!-- x -->",
        "1. [a]: b",
        "1.\n   ## b",
        "    a\n\n    \rT\n",
        "# a\rb\rc\r\r## d",
        "<h2 id=\"a\">b</h2>",
        "<h2\n  id={a}\n>\n\nb\n\nc\n\n</h2>\n\nd",
        "- <Heading as=\"h3\" id=\"a\">b {c}</Heading>",
        "<h2>a\n\n<h3>b\n\nc</h2>d</h3>",
        "> a\n> <X\n>   b=\"c\"\n> />\n> ---",
        "1. <X label=\"a b\"/>\n<h2>{c}</h2>\n---\n",
        "# A\n\n  1. Go.\n  1. Click.\n",
        "- a:\n\n  1. b\n  1. c\n\n- d\n\n   7) e\n   7) f\n",
    ] {
        let document = document(page);
        let chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
        for entry in ledger(page, &document, &chunks) {
            assert!(entry.unaccounted.is_empty(), "{page:?}: {entry:?}");
        }
    }
}

/// A language without spaces has long sentences, which are cut within a word.
#[test]
fn a_word_that_is_cut_between_chunks_is_not_lost() {
    let letters: Vec<char> = ('\u{4e00}'..'\u{5a00}').collect();
    let words: Vec<String> = letters
        .chunks(7)
        .map(|word| word.iter().collect())
        .collect();
    let page = words.join("，");
    let document = document(&page);
    let mut chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
    assert!(chunks.len() > 2);
    let lost = |chunks: &[Chunk]| -> Vec<String> {
        let entries = ledger(&page, &document, chunks).into_iter();
        entries.flat_map(|entry| entry.unaccounted).collect()
    };
    assert_eq!(lost(&chunks), Vec::<String>::new());
    chunks.remove(1);
    assert!(lost(&chunks).len() > 2);
}

#[test]
fn every_letter_of_a_built_page_is_in_a_chunk_or_left_out_for_a_reason() {
    let html = "<!doctype html><html><title>Größe</title><body><nav>Bar</nav><main><h2 id=\"größe\">Größe &uuml;ber</h2>\n<p title=\"Tip\">Text &lt;b&gt; 日本<b>語</b></p>\n<pre>a\n&amp;b</pre><pre><span class=ln>7</span>c\n<span class=ln>8</span>d</pre><p>Unclosed <i>end</main></body></html>";
    let config = "module.exports = {title: 'Robots', presets: ['classic']}".to_owned();
    let files = BTreeMap::from([("docusaurus.config.js".to_owned(), config)]);
    let settings = SiteSettings::read_with_build(&files, true, Some("build"));
    let settings = settings.expect("valid settings");
    let file = page_file(&settings, "build/about.html").expect("the path is a page's");
    let page = read_document(&settings, "", &file, html.as_bytes(), &Inputs::new())
        .expect("the page can be read");
    let chunks = chunk_document(&page, &ChunkPolicy::ADAPTIVE);
    let entries = ledger(html, &page, &chunks);
    let lost: Vec<_> = entries.iter().flat_map(|it| &it.unaccounted).collect();
    assert!(lost.is_empty(), "{lost:?} of {:?}", page.blocks);
    let lines = page.blocks.iter().map(|it| (it.start_line, it.end_line));
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines, [(1, 1), (3, 3), (5, 8), (10, 13), (15, 15)]);
}
