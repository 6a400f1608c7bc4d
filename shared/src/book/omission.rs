//! What stands in a page's source and in none of its blocks, and why.

use std::fmt;

/// A piece of a page that no reader reads as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// Why it is not in a block.
    pub reason: OmissionReason,
    /// The source, less what was kept of it.
    pub text: String,
}

/// Why a piece of a page is in none of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OmissionReason {
    /// The YAML block at the top; its title is shown as a heading.
    FrontMatter,
    /// `import` and `export`: code of the page.
    Import,
    /// A comment.
    Comment,
    /// A tag with its attributes, prose in them aside.
    Tag,
    /// A component without content and prose (`<DocCardList />`), or one of a generated API page whose properties are computed, stand in
    /// another file, or are too many: what it shows is known when the page runs.
    Component,
    /// `<style>` and `<script>` with their content.
    Code,
    /// A `{expression}`: what it shows is known when the page runs.
    Expression,
    /// The attributes of a directive.
    Attributes,
    /// What follows the ticks of a fence, its title aside.
    FenceInfo,
    /// A comment in code that only says which lines are highlighted.
    HighlightMark,
    /// The address of a link or picture.
    LinkTarget,
    /// The id that an author gave a heading.
    HeadingId,
    /// A character reference or escape: the character stands in the text.
    CharacterReference,
    /// An item's number: the text holds the one that is shown.
    ListNumber,
    /// A cell to the right of the last header: it is not shown.
    ExcessCell,
    /// The label of a footnote.
    FootnoteLabel,
    /// A partial that is not there, or imports itself.
    MissingPartial,
    /// A blog post's heading of level 1, in whose place the title of its front matter or file is shown.
    ReplacedTitle,
}

impl fmt::Display for OmissionReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::FrontMatter => "front matter",
            Self::Import => "import or export",
            Self::Comment => "comment",
            Self::Tag => "tag",
            Self::Component => "component",
            Self::Code => "style or script",
            Self::Expression => "expression",
            Self::Attributes => "attributes",
            Self::FenceInfo => "fence info",
            Self::HighlightMark => "highlight mark",
            Self::LinkTarget => "link target",
            Self::HeadingId => "heading id",
            Self::CharacterReference => "character reference",
            Self::ListNumber => "list number",
            Self::ExcessCell => "cell beyond the header",
            Self::FootnoteLabel => "footnote label",
            Self::MissingPartial => "missing partial",
            Self::ReplacedTitle => "replaced title",
        })
    }
}
