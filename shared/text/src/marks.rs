//! Private-use characters that stand for something inside a text while a page or an answer is processed. All of them are declared here, so that none
//! has two meanings.
//!
//! They are removed before a text leaves the reader or the writer that uses them. A model's text contains none when it is read, because
//! [`crate::invisible`] removes them first. A page may contain them; they are then read as marks.

use std::ops::RangeInclusive;

/// Surrounds a line that stands for content from elsewhere: a partial, or the list of the page's headings.
///
/// Written by `mdx.rs` in `book` (`placeholder.rs`), and removed by `markdown.rs`, which makes a placeholder of the line.
pub const PLACEHOLDER: char = '\u{E0B1}';

/// Stands for a tag or comment that was removed from a heading, because the spaces beside it count for the heading's id.
///
/// Written by `mdx.rs` in `book` (`mdx/inline.rs`), and removed by `markdown.rs` (`markdown/heading_id.rs`).
pub const REMOVED: char = '\u{E0B2}';

/// Begins text in a heading that is shown but does not count for the heading's id: the prose of a tag's attributes.
///
/// Written and removed like [`REMOVED`].
pub const HIDDEN_START: char = '\u{E0B3}';

/// Ends what [`HIDDEN_START`] begins.
pub const HIDDEN_END: char = '\u{E0B4}';

/// Begins the info string of a fence that stands for a `$$` block.
///
/// Written by `mdx.rs` in `book`, and removed by `markdown.rs` (`markdown/code.rs`), which makes a formula of the fence.
pub const MATH_INFO: char = '\u{E0B5}';

/// Surrounds a line that stands for a heading's tag, such as `<h2 id="x">` or `</h2>`.
///
/// Written by `mdx.rs` and `openapi/lines.rs` in `book` (`heading_tag.rs`), and removed by `markdown.rs`, which makes a heading of the lines between.
pub const HEADING_TAG: char = '\u{E0B6}';

/// Surrounds a line that stands for the start of a tab's panel, with the tab's label, or for the end of one.
///
/// Written by `mdx.rs` in `book` (`mdx/tabs.rs`), and removed by `markdown.rs`.
pub const PANEL: char = '\u{E0B7}';

/// Begins text in a heading that counts for the heading's id but is not shown: the source of an expression, or a hidden element.
///
/// Written and removed like [`REMOVED`].
pub const ID_ONLY_START: char = '\u{E0B8}';

/// Ends what [`ID_ONLY_START`] begins.
pub const ID_ONLY_END: char = '\u{E0B9}';

/// Surrounds the text of a paragraph in a rewritten answer, to distinguish it from other blocks.
///
/// Written and removed by `cite/markdown.rs` in `answer`.
pub const PROSE: char = '\u{E0FE}';

/// Precedes each line of a paragraph of an answer while its inline Markdown is parsed, so that no line is taken for the start of another block.
///
/// Written and removed by `cite/markdown/inline.rs` in `answer`.
pub const LINE_GUARD: char = '\u{E0FF}';

/// Stand for the citation markers of an answer, such as `[1]`. The character of a passage has the passage's number as its offset from the first one.
///
/// Written by `cite/markdown.rs` in `answer`, which also removes them: it splits the text at them, and writes those in code as numbers.
pub const CITATIONS: RangeInclusive<char> = '\u{E100}'..='\u{F8FF}';

/// Encode the address of a link or picture written as a tag, so that Markdown does not parse it. The code of a character of the address is the offset from
/// the first one.
///
/// Written by `mdx.rs` in `book`, and removed by `markdown.rs` (both with `mdx/marked_tag.rs`).
pub const ADDRESS: RangeInclusive<char> = '\u{100000}'..='\u{10FFEF}';

/// Begins a link written as a tag; its address follows.
///
/// Written and removed like [`ADDRESS`]. Markdown treats it as a letter, and no block keeps it.
pub const LINK: char = '\u{10FFF0}';

/// Begins a picture written as a tag; its address follows. Otherwise like [`LINK`].
pub const PICTURE: char = '\u{10FFF1}';

/// Ends a link written as a tag.
pub const LINK_END: char = '\u{10FFF2}';

/// Ends a picture written as a tag.
pub const PICTURE_END: char = '\u{10FFF3}';

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invisible::is_invisible;

    /// The private-use areas of planes 0, 15 and 16.
    const PRIVATE_USE: [RangeInclusive<char>; 3] = [
        '\u{E000}'..='\u{F8FF}',
        '\u{F0000}'..='\u{FFFFD}',
        '\u{100000}'..='\u{10FFFD}',
    ];

    const ALL: [RangeInclusive<char>; 17] = [
        PLACEHOLDER..=PLACEHOLDER,
        REMOVED..=REMOVED,
        HIDDEN_START..=HIDDEN_START,
        HIDDEN_END..=HIDDEN_END,
        MATH_INFO..=MATH_INFO,
        HEADING_TAG..=HEADING_TAG,
        PANEL..=PANEL,
        ID_ONLY_START..=ID_ONLY_START,
        ID_ONLY_END..=ID_ONLY_END,
        PROSE..=PROSE,
        LINE_GUARD..=LINE_GUARD,
        CITATIONS,
        ADDRESS,
        LINK..=LINK,
        PICTURE..=PICTURE,
        LINK_END..=LINK_END,
        PICTURE_END..=PICTURE_END,
    ];

    #[test]
    fn marks_are_different_private_use_characters() {
        let declared = include_str!("marks.rs").matches("\npub const ").count();
        assert_eq!(declared, ALL.len(), "a mark is missing in this test");
        for (at, mark) in ALL.iter().enumerate() {
            let is_private = |area: &RangeInclusive<char>| {
                area.contains(mark.start()) && area.contains(mark.end())
            };
            assert!(PRIVATE_USE.iter().any(is_private), "{mark:?}");
            assert!(
                mark.clone().all(is_invisible),
                "{mark:?} is kept in a model's text"
            );
            for other in &ALL[..at] {
                assert!(
                    mark.end() < other.start() || other.end() < mark.start(),
                    "{mark:?} and {other:?}"
                );
            }
        }
    }
}
