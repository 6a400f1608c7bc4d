//! The sections of a page that questions may be written for.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};

use crate::block::Block;
use crate::chunk::{Section, sections_of};
use crate::document::Document;
use crate::fingerprint::hex;
use crate::settings::SiteSettings;

/// The digits of a text's hash: two texts of one section have the same in one of 2⁴⁸ cases.
const HASH_DIGITS: usize = 12;

/// A section with its own text, for those who write its questions. Headings that share an anchor are one section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedSection {
    /// The anchor; empty for the page's beginning.
    pub anchor: String,
    /// The page's title and the headings down to this one.
    pub breadcrumb: Vec<String>,
    /// The text, with headings and code.
    pub text: String,
    /// The hash of the text.
    pub text_hash: String,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// True if there is no text below the heading.
    pub is_empty: bool,
}

/// True if a reader's search finds the page by default: it is of the default version of its docs, in any locale. Questions are written for such
/// pages.
#[must_use]
pub fn is_asked(settings: &SiteSettings, document: &Document) -> bool {
    let docs = settings.instance(&document.file.instance);
    docs.default_version() == document.file.version && !document.front_matter.unlisted
}

/// Returns the sections of a document, in reading order.
#[must_use]
pub fn asked_sections(document: &Document) -> Vec<AskedSection> {
    let mut sections: Vec<AskedSection> = Vec::new();
    for section in sections_of(&document.blocks) {
        let anchor = section.path.anchor().unwrap_or_default();
        let blocks = section.heading.into_iter().chain(section.blocks);
        let start_line = blocks.clone().map(|block| block.start_line).min();
        let start_line = start_line.unwrap_or(1);
        let end_line = blocks.map(|block| block.end_line).max().unwrap_or(1);
        let text = text_of(&section);
        match sections.iter_mut().find(|other| other.anchor == anchor) {
            Some(same) => {
                same.text.push_str("\n\n");
                same.text.push_str(&text);
                same.end_line = same.end_line.max(end_line);
                same.is_empty &= section.blocks.is_empty();
            }
            None => sections.push(AskedSection {
                anchor,
                breadcrumb: breadcrumb(document, &section),
                text,
                text_hash: String::new(),
                start_line,
                end_line,
                is_empty: section.blocks.is_empty(),
            }),
        }
    }
    for section in &mut sections {
        section.text_hash = text_hash(&section.text);
    }
    sections
}

/// Returns the hash of each section's text, by its anchor.
pub(super) fn text_hashes(blocks: &[Block]) -> BTreeMap<String, String> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for section in sections_of(blocks) {
        let anchor = section.path.anchor().unwrap_or_default();
        texts.entry(anchor).or_default().push(text_of(&section));
    }
    let mut hashes = BTreeMap::new();
    for (anchor, texts) in texts {
        hashes.insert(anchor, text_hash(&texts.join("\n\n")));
    }
    hashes
}

/// Returns a hash that does not change with the spaces of a text.
fn text_hash(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut hash = hex(&Sha256::digest(words.join(" ")));
    hash.truncate(HASH_DIGITS);
    hash
}

fn text_of(section: &Section<'_>) -> String {
    let blocks = section.heading.into_iter().chain(section.blocks);
    let texts: Vec<&str> = blocks.map(|block| block.text.as_str()).collect();
    texts.join("\n\n")
}

fn breadcrumb(document: &Document, section: &Section<'_>) -> Vec<String> {
    let mut titles = section.path.titles();
    if titles.first() != Some(&document.title) {
        titles.insert(0, document.title.clone());
    }
    titles
}
