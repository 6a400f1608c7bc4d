use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::lines::split_container_prefix;

/// A block as a reader sees it: a heading, paragraph, list item, code block or table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The kind of block.
    pub kind: BlockKind,
    /// The text without markup. Code and tables have one line per source line; cells are joined by ` | `.
    pub text: String,
    /// Inline code, formulas, links, pictures and emphasis in the text, ordered by first byte, outer ones first.
    pub marks: Vec<Mark>,
    /// The Markdown source.
    pub markdown: String,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// The quotes, admonitions and list items around the block.
    pub nesting: Nesting,
    /// The labels of the tabs whose panels hold the block, outer ones first.
    pub panels: Vec<String>,
}

/// The labels of the open tabs' panels.
#[derive(Debug, Default)]
pub(crate) struct OpenPanels(Vec<String>);

impl OpenPanels {
    /// The most labels of a block: those of the innermost panels. Each block has a copy of them.
    const MAX: usize = 4;
    /// The most characters of a label.
    const MAX_CHARS: usize = 300;

    pub(crate) fn open(&mut self, label: &str) {
        self.0.push(label.chars().take(Self::MAX_CHARS).collect());
    }

    pub(crate) fn close(&mut self) {
        self.0.pop();
    }

    /// Returns the labels for a block in the panels.
    pub(crate) fn labels(&self) -> Vec<String> {
        self.0[self.0.len().saturating_sub(Self::MAX)..].to_vec()
    }
}

/// How deeply a block is nested.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Nesting {
    /// The number of enclosing quotes.
    pub quotes: usize,
    /// The number of enclosing admonitions.
    pub admonitions: usize,
    /// The number of enclosing list items. For an item's own text, that item counts.
    pub items: usize,
}

/// The kinds of block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// The id in the page. `None` for headings of level 1, and for those written as tags without `id`.
        anchor: Option<String>,
        /// True if lists of the page's headings include it; Docusaurus omits those written as tags.
        listed: bool,
    },
    /// A paragraph.
    Paragraph,
    /// A list item's text with its marker.
    ListItem,
    /// Code, or the source of a diagram.
    Code {
        /// The first word after the fence; may be empty.
        language: String,
        /// The title shown above the code.
        title: Option<String>,
    },
    /// A table; the first line is its header.
    Table,
    /// A list of the page's headings, inserted by the page: shown but not searched.
    Contents,
}

/// The kind of a stretch of plain text, given by byte offsets.
///
/// Serialised as a list of three values, since a page may have hundreds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(MarkKind, usize, usize)", into = "(MarkKind, usize, usize)")]
pub struct Mark {
    /// The kind of mark.
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
    /// A formula, including its dollar signs.
    Formula,
    /// Bold text.
    Strong,
    /// Italic text.
    Emphasis,
    /// A link with its targets: one address (`https://…`, or a path from the site's root), or source paths with the anchor, in the order in
    /// which the site looks for them. A link without targets leads to its own section.
    Link(Vec<String>),
    /// A picture's alternative text, with the path from the site's root at which the picture is served.
    Picture(String),
    /// A block: a paragraph, or a heading that represents its section.
    Paragraph,
    /// A block: the heading of a lower section. Occurs only in texts that join several sections.
    Heading,
    /// A block: a list item with its marker.
    ListItem,
    /// A block: a table; the first line is its header.
    Table,
    /// A block: code with its fence.
    Fence,
    /// A block in the panel of the tab with this label.
    Panel(String),
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
    /// Returns the byte range.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// True for the mark of a whole block that says what it is.
    #[must_use]
    pub fn is_block(&self) -> bool {
        use MarkKind::{Fence, Heading, ListItem, Paragraph, Table};
        matches!(self.kind, Paragraph | Heading | ListItem | Table | Fence)
    }

    /// True for a mark within a block.
    #[must_use]
    pub fn is_inline(&self) -> bool {
        !self.is_block() && !matches!(self.kind, MarkKind::Panel(_))
    }

    /// Returns the mark moved by `bytes`, for a text with that many bytes in front.
    #[must_use]
    pub fn after(self, bytes: usize) -> Self {
        Self {
            start: self.start + bytes,
            end: self.end + bytes,
            ..self
        }
    }

    /// Returns the mark relative to a stretch of the text; `None` if it lies outside.
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

/// True for an empty text, or one that is only the end of a sentence that code or a formula interrupts.
pub(crate) fn is_end_mark(text: &str) -> bool {
    text.trim_matches(['.', ',', ';']).is_empty()
}

impl Block {
    pub(crate) fn is_heading(&self) -> bool {
        matches!(self.kind, BlockKind::Heading { .. })
    }

    /// True for the paragraph with an admonition's name and title.
    #[must_use]
    pub fn names_admonition(&self) -> bool {
        let (_, source) = split_container_prefix(&self.markdown);
        self.kind == BlockKind::Paragraph
            && self.nesting.admonitions > 0
            && source.starts_with(":::")
    }

    /// Returns the text, with the title shown above code.
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
