//! The Markdown that `bookrag export` writes of a page against the words that Docusaurus shows on it.

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

/// The share of the words that are shown which must be in the Markdown.
const ENOUGH: f64 = 0.99;

/// How often a text has each of its words.
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
async fn the_markdown_of_a_page_has_the_words_of_the_built_page() {
    for (name, folder) in SITES {
        let site = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("docusaurus")
            .join(folder);
        let ours = read_site(&site).await;
        let built = std::fs::read_to_string(built().join(format!("{name}.jsonl"))).unwrap();
        let (mut shown, mut found, mut missing) = (0, 0, Vec::new());
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
                    missing.push(format!("{}: {} × {word}", page.source, count - there));
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a page has few words")]
        let share = found as f64 / shown as f64;
        println!("{name}: {found} of {shown} words");
        assert!(
            shown > 0 && share >= ENOUGH,
            "{name}: {share:.4}\n{}",
            missing.join("\n")
        );
    }
}
