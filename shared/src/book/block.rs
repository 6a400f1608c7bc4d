//! The blocks of a page.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::lines::split_container_prefix;

/// One block as a reader sees it: a heading, a paragraph, a list item, a piece of code, a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text without markup. Code and tables hold a line a source line; cells are joined by ` | `.
    pub text: String,
    /// The inline code, formulas, links, pictures and emphasis in the text, in the order of their first bytes, outer ones first.
    pub marks: Vec<Mark>,
    /// Its source, as written.
    pub markdown: String,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// The quotes, admonitions and list items around it.
    pub nesting: Nesting,
}

/// How deeply a block is nested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nesting {
    /// The number of quotes around it.
    pub quotes: usize,
    /// The number of admonitions around it.
    pub admonitions: usize,
    /// The number of list items around it; the text of an item counts its own.
    pub items: usize,
}

/// The kinds of block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its id in the page. One of level 1 has none, nor one written as a tag without `id`.
        anchor: Option<String>,
        /// True if lists of the page's headings name it; Docusaurus names none that is written as a tag.
        listed: bool,
    },
    /// A paragraph.
    Paragraph,
    /// A list item's text, its mark before it.
    ListItem,
    /// Code, or the source of a diagram.
    Code {
        /// The first word after the fence; empty without one.
        language: String,
        /// The title shown above it.
        title: Option<String>,
    },
    /// A table; the first line is its header.
    Table,
    /// A list of the page's headings, put there by the page: shown, and not searched.
    Contents,
}

/// What a stretch of a text is, by byte offsets: the text itself has no markup.
///
/// Stored as a list of three, since a page may have hundreds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(MarkKind, usize, usize)", into = "(MarkKind, usize, usize)")]
pub struct Mark {
    /// What it is.
    pub kind: MarkKind,
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// The kinds of mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkKind {
    /// Inline code.
    Code,
    /// A formula with its dollars.
    Formula,
    /// Text in bold.
    Strong,
    /// Text in italics.
    Emphasis,
    /// A link, and where it leads: one address (`https://…`, or a path from the site's root), or the source paths that the site
    /// looks for, in this order, with the anchor. A link without any leads to its own section.
    Link(Vec<String>),
    /// The text that stands for a picture, and the path from the site's root at which the site serves the picture.
    Picture(String),
    /// A block: a paragraph, or a heading that stands for its section.
    Paragraph,
    /// A block: the heading of a section below. Only a text that was joined of several sections has any.
    Heading,
    /// A block: a list item with its marker.
    ListItem,
    /// A block: a table; the first line is its header.
    Table,
    /// A block: code with its fence.
    Fence,
}

impl From<(MarkKind, usize, usize)> for Mark {
    fn from((kind, start, end): (MarkKind, usize, usize)) -> Self {
        Self { kind, start, end }
    }
}

impl From<Mark> for (MarkKind, usize, usize) {
    fn from(Mark { kind, start, end }: Mark) -> Self {
        (kind, start, end)
    }
}

impl Mark {
    /// The bytes that it covers.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// True for a stretch inside a block.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        use MarkKind::{Fence, Heading, ListItem, Paragraph, Table};
        !matches!(self.kind, Paragraph | Heading | ListItem | Table | Fence)
    }

    /// The mark in a text that has so many bytes before this one.
    #[must_use]
    pub fn after(self, bytes: usize) -> Self {
        Self {
            start: self.start + bytes,
            end: self.end + bytes,
            ..self
        }
    }

    /// The mark in a text that is only this stretch; `None` if it lies outside.
    #[must_use]
    pub fn within(&self, stretch: &Range<usize>) -> Option<Self> {
        let start = self.start.max(stretch.start);
        let end = self.end.min(stretch.end);
        (start < end).then(|| Self {
            kind: self.kind.clone(),
            start: start - stretch.start,
            end: end - stretch.start,
        })
    }
}

impl Block {
    /// True for the name and title of an admonition.
    #[must_use]
    pub fn names_admonition(&self) -> bool {
        let (_, source) = split_container_prefix(&self.markdown);
        self.kind == BlockKind::Paragraph
            && self.nesting.admonitions > 0
            && source.starts_with(":::")
    }

    /// The text with the title that is shown above code.
    #[must_use]
    pub fn shown_text(&self) -> Cow<'_, str> {
        match &self.kind {
            BlockKind::Code {
                title: Some(title), ..
            } => format!("{title}\n{}", self.text).into(),
            _ => self.text.as_str().into(),
        }
    }
}
