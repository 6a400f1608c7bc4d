//! Compares the Markdown that `bookrag export` writes of a page with the words that Docusaurus shows on it.

use std::collections::BTreeMap;
use std::path::Path;

use bookrag::book::page_markdown;

use super::{BuiltPage, built, read_site};

const SITES: [(&str, &str); 6] = [
    ("site", "site"),
    ("slashes", "variants/slashes"),
    ("plain-markdown", "variants/plain-markdown"),
    ("latest-is-current", "variants/latest-is-current"),
    ("rare-settings", "variants/rare-settings"),
    ("instances", "variants/instances"),
];

/// At most one word in this many may be missing.
const MISSING_AT_MOST: usize = 100;

fn counts(text: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let text = text.to_lowercase();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        if !word.is_empty() {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[tokio::test]
async fn the_markdown_of_pages_has_the_words_of_the_built_pages() {
    let (mut shown, mut found, mut missing) = (0, 0, Vec::new());
    for (name, folder) in SITES {
        let site = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("docusaurus")
            .join(folder);
        let ours = read_site(name, &site).await;
        let built = std::fs::read_to_string(built().join(format!("{name}.jsonl"))).unwrap();
        for line in built.lines() {
            let page: BuiltPage = serde_json::from_str(line).unwrap();
            let key = (page.source.clone(), page.locale.clone());
            let (Some(text), Some((_, document))) = (page.text, ours.get(&key)) else {
                continue;
            };
            let mut written = counts(&page_markdown(&document.blocks));
            for (word, count) in counts(&text) {
                let there = written.remove(&word).unwrap_or(0).min(count);
                shown += count;
                found += there;
                if there < count {
                    missing.push(format!(
                        "{name}: {}: {} × {word}",
                        page.source,
                        count - there
                    ));
                }
            }
        }
    }
    // Missing words are computed: `{1 + 1}`, the properties of partials.
    let enough = shown - shown / MISSING_AT_MOST;
    assert!(
        shown > 1_000 && found >= enough,
        "{found} of {shown} words\n{}",
        missing.join("\n")
    );
}
