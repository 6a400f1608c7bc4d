//! The blocks of a page.

use std::borrow::Cow;

/// One block as a reader sees it: a heading, a paragraph, a list item, a piece of code, a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text without markup. Code and tables hold a line a source line; cells are joined by ` | `.
    pub text: String,
    /// Its source, as written.
    pub markdown: String,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
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

impl Block {
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
