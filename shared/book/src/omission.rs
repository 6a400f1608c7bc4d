//! Content of a page's source that is in none of its blocks, with the reason.

use std::fmt;

/// A piece of a page that is not shown as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Omission {
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// The reason.
    pub reason: OmissionReason,
    /// The source, without the parts that were kept.
    pub text: String,
}

/// The reason that a piece of a page is in none of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OmissionReason {
    /// The YAML block at the top; its title is shown as a heading.
    FrontMatter,
    /// `import` and `export`.
    Import,
    /// A comment.
    Comment,
    /// A tag with its attributes, except for the prose in them.
    Tag,
    /// A component without content and prose (`<DocCardList />`), whose output is only known when the page runs. Also a component of a
    /// generated API page whose properties are computed, in another file, or too many.
    Component,
    /// An element whose content is not shown, such as `<style>` and `<head>`.
    UnseenElement,
    /// An `{expression}`, whose output is only known when the page runs.
    Expression,
    /// The attributes of a directive.
    Attributes,
    /// The info string of a fence, except for the title.
    FenceInfo,
    /// Lines of code that are not shown: comments that select lines for highlighting, notations of Twoslash, and files for the site's compiler alone.
    HighlightMark,
    /// The address of a link or picture.
    LinkTarget,
    /// A heading's explicit id.
    HeadingId,
    /// A character reference, an escape or an emoji's shortcode; the text contains the character.
    CharacterReference,
    /// An item's number; the text contains the number that is shown.
    ListNumber,
    /// A table cell beyond the last header, which is not shown.
    ExcessCell,
    /// The label of a footnote.
    FootnoteLabel,
    /// A partial that does not exist or imports itself.
    MissingPartial,
    /// A blog post's heading of level 1 that is replaced by the title of its front matter or file.
    ReplacedTitle,
    /// What a built page has besides its content: navigation and footer, hidden elements, scripts.
    BesideContent,
}

impl fmt::Display for OmissionReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::FrontMatter => "front matter",
            Self::Import => "import or export",
            Self::Comment => "comment",
            Self::Tag => "tag",
            Self::Component => "component",
            Self::UnseenElement => "element that is not shown",
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
            Self::BesideContent => "beside the content of a built page",
        })
    }
}
