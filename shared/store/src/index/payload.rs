//! The metadata and text of a chunk, as stored in points and in the catalog.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use book::chunk::{Chunk, SectionType};
use book::{ContentKind, Document, FacetValue, Mark, Placement, UNKNOWN, hex, origin_of_version};
use text::Language;

/// The value of missing metadata, except titles.
const NOT_AVAILABLE: &str = "N/A";
/// The hardware tier of pages that name none, which every reader has.
const DEFAULT_HARDWARE_TIER: i64 = 1;

/// A chunk with the metadata of its page.
///
/// Fields of release 0.1 that no longer exist are ignored, and fields that it lacked are empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChunkPayload {
    /// The chunk's id.
    pub chunk_id: Uuid,
    /// The document's id.
    pub document_id: Uuid,
    /// The text below the heading, with fenced code. The catalog stores it in a column.
    #[serde(default)]
    pub text: String,
    /// The blocks of the text, and its inline code and formulas.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// Embedded before the text: the page's title and the headings above; for a short section also module and chapter.
    #[serde(default)]
    pub breadcrumb: String,
    /// The link targets of its Markdown.
    #[serde(default)]
    pub links: Vec<String>,
    /// The path of the source file.
    pub source: String,
    /// The page's URL, without an anchor.
    pub url: String,
    /// The module's title, or `Unknown`.
    pub module: String,
    /// The module's number.
    pub module_number: Option<i64>,
    /// The chapter's title, or `Unknown`.
    pub chapter: String,
    /// The chapter's number.
    pub chapter_number: Option<i64>,
    /// The lesson's title, or `N/A`.
    pub lesson: String,
    /// The lesson's number.
    pub lesson_number: Option<i64>,
    /// Module, chapter and lesson as `1.2.3`.
    pub lesson_id: Option<String>,
    /// The page's title.
    pub title: String,
    /// The heading.
    pub section: Option<String>,
    /// The anchor of the heading at or above the first line.
    pub section_id: Option<String>,
    /// The heading and those above it, outermost first.
    pub heading_path: Vec<String>,
    /// Structural, instructional or code-heavy.
    pub section_type: SectionType,
    /// The chunk's index in its section, from 0.
    pub chunk_index: usize,
    /// The number of chunks in the section.
    pub chunk_count: usize,
    /// The first line, from 1.
    pub start_line: u32,
    /// The last line.
    pub end_line: u32,
    /// The printed page within the document, from 1.
    pub page: usize,
    /// The number of cl100k tokens.
    pub token_count: usize,
    /// The number of words.
    pub word_count: usize,
    /// True if the chunk has code.
    pub has_code: bool,
    /// True if the chunk has a formula.
    pub has_equations: bool,
    /// The least hardware that a reader needs, 1 to 4.
    pub hardware_tier: i64,
    /// The teaching layer, or `N/A`.
    pub layer: String,
    /// The proficiency level, or `N/A`.
    pub proficiency_level: String,
    /// Keywords of the page.
    pub keywords: Vec<String>,
    /// The page's `keywords`, `tags` and `description`: searched with the text, never embedded, shown or quoted. Not serialised if empty, so that
    /// such chunks keep the hash and the point that they had before this field existed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub search_words: String,
    /// The questions that the section answers, from the page's file of questions: searched with the text, never shown as text of the book. Not
    /// serialised if there are none, so that such chunks keep the hash and the point that they had before this field existed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
    /// The locales that show this text: its own, and those without a translation of the page.
    pub locale: Vec<String>,
    /// The page's URLs under those other locales, in the same order.
    pub fallback_urls: Vec<String>,
    /// The version: its name in the default docs instance; in others with the instance's id first, as in `api@2.0`.
    pub version: String,
    /// The date of a blog post, `2024-05-03`. Not serialised if there is none, so that such chunks keep the hash and the point that they had before
    /// this field existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The page's values of the site's facets. Not serialised if there are none, so that such chunks keep the hash and the point that they had before
    /// this field existed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facets: BTreeMap<String, FacetValue>,
    /// True if the page is unlisted.
    pub unlisted: bool,
    /// The creation time, ISO 8601.
    pub created_at: String,
}

impl ChunkPayload {
    /// Returns the payload of a chunk.
    #[must_use]
    pub fn new(document: &Document, chunk: &Chunk, created_at: String) -> Self {
        let placement = &document.placement;
        let front_matter = &document.front_matter;
        let own_locale = std::iter::once(document.file.locale.clone());
        Self {
            chunk_id: chunk.chunk_id,
            document_id: document.id,
            text: chunk.text.clone(),
            marks: chunk.marks.clone(),
            breadcrumb: chunk.breadcrumb.clone(),
            links: chunk.links.clone(),
            source: document.file.source.clone(),
            url: document.url.clone(),
            module: text_or(placement.module.as_ref(), UNKNOWN),
            module_number: placement.module_number,
            chapter: text_or(placement.chapter.as_ref(), UNKNOWN),
            chapter_number: placement.chapter_number,
            lesson: text_or(placement.lesson.as_ref(), NOT_AVAILABLE),
            lesson_number: placement.lesson_number,
            lesson_id: placement.id(),
            title: document.title.clone(),
            section: chunk.section.clone(),
            section_id: chunk.section_id.clone(),
            heading_path: chunk.heading_path.clone(),
            section_type: chunk.section_type,
            chunk_index: chunk.chunk_index,
            chunk_count: chunk.chunk_count,
            start_line: chunk.start_line,
            end_line: chunk.end_line,
            page: chunk.page,
            token_count: chunk.token_count,
            word_count: chunk.word_count,
            has_code: chunk.has_code,
            has_equations: chunk.has_equations,
            hardware_tier: front_matter.hardware_tier.unwrap_or(DEFAULT_HARDWARE_TIER),
            layer: text_or(front_matter.layer.as_ref(), NOT_AVAILABLE),
            proficiency_level: text_or(front_matter.proficiency_level.as_ref(), NOT_AVAILABLE),
            keywords: front_matter.keywords.clone(),
            search_words: front_matter.search_words(),
            questions: chunk.questions.clone(),
            locale: own_locale
                .chain(document.fallback_urls.keys().cloned())
                .collect(),
            fallback_urls: document.fallback_urls.values().cloned().collect(),
            version: document.file.version_in_site(),
            date: document.date.map(|date| date.to_string()),
            facets: document.facets.clone(),
            unlisted: front_matter.unlisted,
            created_at,
        }
    }

    /// True if the text of its section goes on after the chunk.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.chunk_index + 1 < self.chunk_count
    }

    /// Returns a hash of everything except the creation time, to compare payloads.
    #[must_use]
    pub fn hash(&self) -> String {
        use sha2::{Digest, Sha256};
        let timeless = Self {
            created_at: String::new(),
            ..self.clone()
        };
        let json = serde_json::to_vec(&timeless).expect("a payload of plain fields serialises");
        hex(&Sha256::digest(json))
    }

    /// Returns the place in the book, for labels.
    #[must_use]
    pub fn placement(&self) -> Placement {
        Placement {
            module: known(&self.module, UNKNOWN),
            module_number: self.module_number,
            chapter: known(&self.chapter, UNKNOWN),
            chapter_number: self.chapter_number,
            lesson: known(&self.lesson, NOT_AVAILABLE),
            lesson_number: self.lesson_number,
        }
    }

    /// Returns the kind of page.
    #[must_use]
    pub fn kind(&self) -> ContentKind {
        origin_of_version(&self.version).0
    }

    /// Returns the id of the page's Docusaurus plugin.
    #[must_use]
    pub fn instance(&self) -> &str {
        origin_of_version(&self.version).1
    }

    /// Returns the text that is embedded.
    #[must_use]
    pub fn embedded_text(&self) -> String {
        format!("{}\n{}", self.breadcrumb, self.text)
    }

    /// Returns the text for BM25: the page's keywords, the embedded text, then the questions.
    #[must_use]
    pub fn searched_text(&self) -> String {
        let (keywords, text) = (&self.search_words, self.embedded_text());
        format!("{keywords}\n{text}\n{}", self.questions.join("\n"))
    }

    /// Returns the language of the text.
    #[must_use]
    pub fn language(&self) -> Language {
        let own = self.locale.first();
        own.map_or(Language::ENGLISH, |locale| Language::of_locale(locale))
    }

    /// Returns the page's URL in a locale, also for a locale without a translation.
    #[must_use]
    pub fn url_in(&self, locale: Option<&str>) -> &str {
        let place = locale.and_then(|locale| self.locale.iter().position(|name| name == locale));
        match place {
            Some(place) if place > 0 => self.fallback_urls.get(place - 1).unwrap_or(&self.url),
            _ => &self.url,
        }
    }
}

fn text_or(text: Option<&String>, default: &str) -> String {
    text.map_or(default, String::as_str).to_owned()
}

/// Returns a title; `None` if it is the one for a missing title.
fn known(title: &str, missing: &str) -> Option<String> {
    (title != missing).then(|| title.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    /// Each release adds a file with a payload as it writes them.
    #[test]
    fn payloads_of_each_release_are_read() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/payloads");
        let mut releases = 0;
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let text = fs::read_to_string(&path).unwrap();
            let payload: Result<ChunkPayload, _> = serde_json::from_str(&text);
            let payload = payload.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(!payload.text.is_empty() && !payload.url.is_empty());
            releases += 1;
        }
        assert!(releases > 0);
    }
}
