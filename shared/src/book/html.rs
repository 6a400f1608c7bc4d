//! Blocks of HTML in plain Markdown.

use super::jsx::{parse_tag, tag_start};

/// Tags whose content is shown as it stands, up to the tag that closes them.
const RAW_TAGS: [&str; 4] = ["pre", "script", "style", "textarea"];

/// Tags that begin a block of HTML in plain Markdown, wherever the line ends (`CommonMark` 0.31, 4.6).
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

/// The block of HTML that a line of plain Markdown begins: up to this closing tag, or with `""` up to a blank line. `None` when
/// it begins none: tags within a text make no block.
pub(super) fn html_block(content: &str) -> Option<&'static str> {
    let start = tag_start(content)?;
    let is = |name: &&str| start.name().eq_ignore_ascii_case(name);
    if let Some(raw) = RAW_TAGS.iter().find(|name| is(name) && !start.closes()) {
        return Some(raw);
    }
    let whole_line = || {
        let tag = parse_tag(content, start)?;
        content[tag.length..].trim().is_empty().then_some(())
    };
    (BLOCK_TAGS.iter().any(is) || whole_line().is_some()).then_some("")
}
