//! A page as a document: names, place in the book, blocks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use uuid::Uuid;

use crate::block::Block;
use crate::facets::FacetValue;
use crate::front_matter::FrontMatter;
use crate::inputs::TextFile;
use crate::omission::Omission;
use crate::pages::PageFile;
use crate::placement::Placement;

const DOCUMENT_NAMESPACE: Uuid = Uuid::from_u128(0x6b0f_4d9e_51a1_5c0e_9a55_b00c_4a6e_0001);

/// A page of the book.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// UUIDv5 of the site's name and the source path.
    pub id: Uuid,
    /// The source file.
    pub file: PageFile,
    /// The final URL path, as Docusaurus writes it: percent-encoded only where names of files beside the docs are.
    pub url: String,
    /// URLs of locales that show this page for lack of a translation, by locale.
    pub fallback_urls: BTreeMap<String, String>,
    /// The title.
    pub title: String,
    /// The front matter.
    pub front_matter: FrontMatter,
    /// The page's values of the site's facets.
    pub facets: BTreeMap<String, FacetValue>,
    /// The date of a blog post, from its front matter or else its path; `None` for other pages.
    pub date: Option<Date>,
    /// Module, chapter and lesson, for docs only.
    pub placement: Placement,
    /// The visible content, in order.
    pub blocks: Vec<Block>,
    /// Content of the file that is in no block, with the reason.
    pub omissions: Vec<Omission>,
    /// The questions of its sections, by anchor.
    pub questions: PageQuestions,
    /// Problems that did not prevent reading the page.
    pub warnings: Vec<String>,
    /// Other files whose text the page shows.
    pub text_files: BTreeSet<TextFile>,
}

impl Document {
    /// Returns the page's URL path in a locale; `None` if the locale has a translation of its own.
    #[must_use]
    pub fn url_in(&self, locale: &str) -> Option<&str> {
        if self.file.locale == locale {
            return Some(&self.url);
        }
        self.fallback_urls.get(locale).map(String::as_str)
    }
}

/// The questions that a section answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SectionQuestions {
    /// The questions, in the file's order, without repetitions.
    pub questions: Vec<String>,
    /// True if the section's text has changed since they were written.
    pub is_stale: bool,
    /// True if a model wrote them into the catalog, and no file of the site has questions of the section.
    pub is_from_catalog: bool,
}

/// The questions of a page, by the anchor of their section; the page's beginning has an empty anchor.
pub type PageQuestions = BTreeMap<String, SectionQuestions>;

/// Returns the document id of a source path in a site.
#[must_use]
pub fn document_id(site: &str, source: &str) -> Uuid {
    Uuid::new_v5(&DOCUMENT_NAMESPACE, format!("{site}\n{source}").as_bytes())
}
