//! Blocks of HTML in plain Markdown.

use super::jsx::{parse_tag, tag_start};

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
    let up_to = |end| HtmlBlock {
        end,
        interrupts: true,
    };
    if content.starts_with("<!--") {
        return Some(up_to(Some("-->")));
    }
    let start = tag_start(content)?;
    let is = |name: &str| start.name().eq_ignore_ascii_case(name);
    let raw = RAW_TAGS.iter().find(|(name, _)| is(name));
    if let Some((_, end)) = raw.filter(|_| !start.closes()) {
        return Some(up_to(Some(end)));
    }
    if BLOCK_TAGS.iter().any(|name| is(name)) {
        return Some(up_to(None));
    }
    let tag = parse_tag(content, start)?;
    content[tag.length..]
        .trim()
        .is_empty()
        .then_some(HtmlBlock {
            end: None,
            interrupts: false,
        })
}
