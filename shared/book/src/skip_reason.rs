//! Why a file gives no document, and the limits of what is read.

use crate::front_matter::FrontMatterError;

/// The largest page in bytes: 5 MiB, far above any handwritten page.
pub const MAX_PAGE_BYTES: usize = 5 * 1024 * 1024;

/// The most other files that one page may need, and their bytes.
pub(super) const MAX_INPUTS: usize = 1_000;
pub(super) const MAX_INPUT_BYTES: usize = 4 * MAX_PAGE_BYTES;

/// The most headings of a page: each is a section to embed.
pub(super) const MAX_HEADINGS: usize = 10_000;

/// The reason that a file gives no document.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SkipReason {
    /// `draft: true`.
    #[error("it is a draft")]
    Draft,
    /// A file of HTML that is only a part of a page, such as a template.
    #[error("it has no <title>, so it is only a part of a page")]
    Untitled,
    /// A built page that asks search engines not to index it.
    #[error("its `robots` tag says `noindex`")]
    NoIndex,
    /// A built page that only leads to another one.
    #[error("it is a redirect")]
    Redirect,
    /// A built page that only leads to others: the site's search, an index, or a list that Docusaurus generated.
    #[error("it is a search page or a list of other pages")]
    Finder,
    /// A built page that shows others in frames.
    #[error("it only shows other pages in frames")]
    Frameset,
    /// A built page with another canonical page of the same site, or with the text of another file for its address.
    #[error("it is a copy of {0}")]
    Copy(String),
    /// The settings of a folder whose generated page has no description, or that has none.
    #[error("it describes no page with a text of its own")]
    NoGeneratedPage,
    /// Invalid front matter.
    #[error("{0}")]
    FrontMatter(#[from] FrontMatterError),
    /// Front matter lacks fields that the site requires.
    #[error("front matter lacks {}", .0.join(", "))]
    MissingFields(Vec<String>),
    /// Not UTF-8.
    #[error("line {line}: it is not UTF-8 text")]
    NotUtf8 {
        /// The first line with invalid bytes.
        line: usize,
    },
    /// More than [`MAX_PAGE_BYTES`].
    #[error("it has more than {MAX_PAGE_BYTES} bytes")]
    TooLarge,
    /// More than [`MAX_INPUTS`] other files, or more than [`MAX_INPUT_BYTES`] in them.
    #[error(
        "it needs more than {MAX_INPUTS} other files, or more than {MAX_INPUT_BYTES} bytes of them"
    )]
    TooMuchImported,
    /// The file has words, but no text is read from it, for this reason.
    #[error("it has words, but no text is read from it: {0}")]
    NoText(&'static str),
    /// More than [`MAX_HEADINGS`].
    #[error("it has more than {MAX_HEADINGS} headings")]
    TooManyHeadings,
}

impl SkipReason {
    /// True if the site itself leaves the page out, so that nothing is wrong with it.
    #[must_use]
    pub fn is_by_site(&self) -> bool {
        use SkipReason::{
            Copy, Draft, Finder, Frameset, NoGeneratedPage, NoIndex, Redirect, Untitled,
        };
        matches!(
            self,
            Draft | Untitled | NoIndex | Redirect | Finder | Frameset | Copy(_) | NoGeneratedPage
        )
    }
}
