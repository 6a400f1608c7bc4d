//! Compares our reading of sites with Docusaurus's: `tests/docusaurus.sh` builds the sites in this folder with the real Docusaurus
//! and runs this; `BOOKRAG_TEST_DOCUSAURUS` names the folder with the results.

#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bookrag::book::{BlockKind, Document, list_pages, read_document, slug};
use bookrag::source::{FileCache, FolderSource, Source};
use serde::Deserialize;

/// A page as Docusaurus built it, a line of `truth.mjs`.
#[derive(Deserialize)]
struct BuiltPage {
    source: String,
    locale: String,
    instance: String,
    version: String,
    url: String,
    title: Option<String>,
    date: Option<String>,
    /// `None` if several files claim the page's URL.
    headings: Option<Vec<BuiltHeading>>,
    /// The text shown on the page; `None` as above.
    text: Option<String>,
    tags: BTreeSet<String>,
    authors: Vec<String>,
}

#[derive(Deserialize)]
struct BuiltHeading {
    level: u8,
    id: String,
}

/// Headings that are in the HTML but not in the Markdown: the label of the footnotes, tags without text, and tags
/// within a Markdown heading.
const NOT_IN_THE_MARKDOWN: [(&str, &[&str]); 2] = [
    ("docs/headings/footnotes.md", &["footnote-label"]),
    (
        "docs/headings/written-as-tags.mdx",
        &["", "emptied", "tag-in-it", "underlined"],
    ),
];

/// Prefixes of ids that we do not read: one of an HTML heading, which Docusaurus derives from the tag's source, and a computed
/// one.
const IDS_NOT_READ: [(&str, &str); 2] = [
    ("docs/headings/plain-markdown.md", "img-alt"),
    ("docs/headings/raw.mdx", "by-expression"),
];

/// Titles in which Docusaurus leaves markup; we remove it.
const TITLES_WITH_MARKS: [&str; 3] = [
    "docs/titles/marks.md",
    "docs/titles/own-comment-id.mdx",
    "docs/titles/own-odd-id.md",
];

/// The post without a date.
const UNDATED: &str = "blog/undated.md";

fn built() -> PathBuf {
    let folder = std::env::var("BOOKRAG_TEST_DOCUSAURUS")
        .expect("BOOKRAG_TEST_DOCUSAURUS names what tests/docusaurus/build.sh left; run tests/docusaurus.sh");
    PathBuf::from(folder)
}

/// Reads a site, and the pages that only its build has. Returns the URL and document of each page, by source and locale.
async fn read_site(name: &str, folder: &Path) -> BTreeMap<(String, String), (String, Document)> {
    let folder = FolderSource::open(folder).unwrap();
    let build = built().join(format!("{name}.build"));
    let source = Source::Folder(folder.with_build(build));
    let (source, settings) = source.opened().await.unwrap();
    let paths = source.list().await.unwrap();
    let mut pages = BTreeMap::new();
    for page in list_pages(&settings, &paths) {
        let bytes = source.read(&page.source).await.unwrap().unwrap();
        let inputs = source
            .inputs(&settings, &page, &bytes, &FileCache::default())
            .await
            .unwrap();
        let Ok(document) = read_document(&settings, "", &page, &bytes, &inputs) else {
            continue;
        };
        for (locale, url) in &document.fallback_urls {
            let key = (page.source.clone(), locale.clone());
            pages.insert(key, (url.clone(), document.clone()));
        }
        let key = (page.source.clone(), page.locale.clone());
        pages.insert(key, (document.url.clone(), document));
    }
    pages
}

fn our_headings(document: &Document) -> Vec<(u8, String)> {
    let headings = document
        .blocks
        .iter()
        .filter_map(|block| match &block.kind {
            BlockKind::Heading { level, anchor, .. } => {
                Some((*level, anchor.clone().unwrap_or_default()))
            }
            _ => None,
        });
    headings.collect()
}

fn their_headings(
    source: &str,
    headings: Vec<BuiltHeading>,
    ours: &[(u8, String)],
) -> Vec<(u8, String)> {
    let not_ours = NOT_IN_THE_MARKDOWN
        .iter()
        .find(|(page, _)| *page == source)
        .map_or(&[][..], |(_, ids)| *ids);
    let mut ours = ours.iter().peekable();
    let mut theirs = Vec::new();
    for heading in headings {
        let not_read = IDS_NOT_READ
            .iter()
            .any(|(page, id)| *page == source && heading.id.starts_with(id));
        let id = if not_read { String::new() } else { heading.id };
        let heading = (heading.level, id);
        let extra = not_ours.contains(&heading.1.as_str()) && ours.peek() != Some(&&heading);
        if !extra {
            ours.next();
            theirs.push(heading);
        }
    }
    theirs
}

async fn compare(name: &str, folder: &str) {
    let site = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docusaurus")
        .join(folder);
    let ours = read_site(name, &site).await;
    let text = std::fs::read_to_string(built().join(format!("{name}.jsonl"))).unwrap();
    let mut differences = Vec::new();
    let mut built = BTreeSet::new();
    for line in text.lines() {
        let page: BuiltPage = serde_json::from_str(line).unwrap();
        let key = (page.source.clone(), page.locale.clone());
        built.insert(key.clone());
        let Some((url, document)) = ours.get(&key) else {
            differences.push(format!("{key:?}: not read"));
            continue;
        };
        if *url != page.url {
            differences.push(format!("{key:?}: URL {url}, built {}", page.url));
        }
        let (file, place) = (&document.file, (&page.instance, &page.version));
        if (&file.instance, &file.version) != place {
            differences.push(format!(
                "{key:?}: of {}, built of {place:?}",
                file.version_in_site()
            ));
        }
        let with_marks = TITLES_WITH_MARKS.contains(&page.source.as_str());
        if let Some(theirs) = page
            .title
            .filter(|title| document.title != *title && !with_marks)
        {
            let ours = &document.title;
            differences.push(format!("{key:?}: title {ours:?}, built {theirs:?}"));
        }
        let date = document.date.map(|date| date.to_string());
        // If a post has no date, Docusaurus uses that of its file.
        if date != page.date && (date.is_some() || page.source != UNDATED) {
            differences.push(format!("{key:?}: date {date:?}, built {:?}", page.date));
        }
        let labels: BTreeSet<String> = document.front_matter.tags.iter().cloned().collect();
        let authors = &document.front_matter.authors;
        if (&labels, authors) != (&page.tags, &page.authors) {
            differences.push(format!(
                "{key:?}: filed under {labels:?} by {authors:?}, built {:?} by {:?}",
                page.tags, page.authors
            ));
        }
        // `words.rs` compares docs word by word.
        let is_beside_docs = page.instance.contains('/');
        if let Some(theirs) = page.text.filter(|_| is_beside_docs) {
            let ours: String = document.blocks.iter().map(|block| &*block.text).collect();
            let [ours, theirs] = [ours, theirs].map(|text| {
                let letters = text.chars().filter(|letter| letter.is_alphanumeric());
                letters.collect::<String>()
            });
            if ours != theirs {
                differences.push(format!("{key:?}: text {ours:?}, built {theirs:?}"));
            }
        }
        if let Some(headings) = page.headings {
            let ours = our_headings(document);
            let theirs = their_headings(&page.source, headings, &ours);
            if ours != theirs {
                differences.push(format!("{key:?}: headings {ours:?}, built {theirs:?}"));
            }
        }
    }
    assert!(!built.is_empty(), "no page of {name} was built");
    let not_built = ours.keys().filter(|key| !built.contains(*key));
    differences.extend(not_built.map(|key| format!("{key:?}: not built")));
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[tokio::test]
async fn the_site_of_all_rules_is_read_as_it_is_built() {
    compare("site", "site").await;
}

#[tokio::test]
async fn trailing_slashes_and_own_excludes_are_read_as_built() {
    compare("slashes", "variants/slashes").await;
}

#[tokio::test]
async fn plain_markdown_is_read_as_built() {
    compare("plain-markdown", "variants/plain-markdown").await;
}

#[tokio::test]
async fn the_current_version_as_the_latest_is_read_as_built() {
    compare("latest-is-current", "variants/latest-is-current").await;
}

#[tokio::test]
async fn rare_settings_are_read_as_built() {
    compare("rare-settings", "variants/rare-settings").await;
}

#[tokio::test]
async fn every_plugin_of_docs_pages_and_blogs_is_read_as_built() {
    compare("instances", "variants/instances").await;
}

#[test]
fn slugs_are_those_of_github_slugger_for_every_character() {
    let text = std::fs::read_to_string(built().join("slugs.txt")).unwrap();
    let characters = |digits: &str| -> String {
        let codes = digits
            .split(' ')
            .map(|digits| u32::from_str_radix(digits, 16).unwrap());
        codes.map(|code| char::from_u32(code).unwrap()).collect()
    };
    let theirs: BTreeMap<String, String> = text
        .lines()
        .map(|line| line.split_once('\t').unwrap())
        .map(|(character, slug)| (characters(character), characters(slug)))
        .collect();
    assert!(theirs.len() > 100_000, "{}", theirs.len());
    for character in ('\0'..=char::MAX).map(String::from) {
        let expected = theirs.get(&character).map_or("", String::as_str);
        assert_eq!(slug(&character), expected, "{}", character.escape_unicode());
    }
}
