//! Blocks of HTML in plain Markdown.

use crate::jsx::{parse_tag, tag_start};

/// Tags with raw content, and their closing tags.
const RAW_TAGS: [(&str, &str); 4] = [
    ("pre", "</pre>"),
    ("script", "</script>"),
    ("style", "</style>"),
    ("textarea", "</textarea>"),
];

/// Tags that always begin a block of HTML in plain Markdown (`CommonMark` 0.31, 4.6).
const BLOCK_TAGS: [&str; 62] = [
    "address",
    "article",
    "aside",
    "base",
    "basefont",
    "blockquote",
    "body",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "iframe",
    "legend",
    "li",
    "link",
    "main",
    "menu",
    "menuitem",
    "nav",
    "noframes",
    "ol",
    "optgroup",
    "option",
    "p",
    "param",
    "search",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "track",
    "ul",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HtmlBlock {
    /// The text that its last line contains. Without one, the block ends before a blank line.
    pub(super) end: Option<&'static str>,
    /// True if it can interrupt a paragraph.
    pub(super) interrupts: bool,
}

/// Returns the block of HTML that a line of plain Markdown begins (`CommonMark` 0.31, 4.6); `None` for other lines, such as those with
/// inline tags.
pub(super) fn html_block(content: &str) -> Option<HtmlBlock> {
    let interrupting = HtmlBlock {
        end: None,
        interrupts: true,
    };
    if content.starts_with("<!--") {
        return Some(HtmlBlock {
            end: Some("-->"),
            ..interrupting
        });
    }
    let start = tag_start(content)?;
    let raw = RAW_TAGS
        .iter()
        .find(|(name, _)| start.name().eq_ignore_ascii_case(name));
    if let Some((_, end)) = raw.filter(|_| !start.closes()) {
        return Some(HtmlBlock {
            end: Some(end),
            ..interrupting
        });
    }
    let mut block_tags = BLOCK_TAGS.iter();
    if block_tags.any(|name| start.name().eq_ignore_ascii_case(name)) {
        return Some(interrupting);
    }
    let tag = parse_tag(content, start)?;
    let is_alone = content[tag.length..].trim().is_empty();
    is_alone.then_some(HtmlBlock {
        end: None,
        interrupts: false,
    })
}
