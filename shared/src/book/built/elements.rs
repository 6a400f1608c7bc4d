//! The role of each HTML element in the text of a page.

use html5gum::{HtmlString, StartTag};

use crate::book::block::MarkKind;

/// A start tag with the offsets of its source.
pub(super) type Start = StartTag<usize>;

/// Elements whose content is not text of the page: scripts, drawings and navigation.
const NOT_CONTENT: [&[u8]; 10] = [
    b"script",
    b"style",
    b"template",
    b"noscript",
    b"svg",
    b"nav",
    b"iframe",
    b"textarea",
    b"select",
    b"object",
];

/// Elements that have neither content nor an end tag.
const VOID: [&[u8]; 13] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta",
    b"source", b"track", b"wbr",
];

/// Elements that begin and end a block, besides those with a more specific role.
const BLOCKS: [&[u8]; 32] = [
    b"address",
    b"article",
    b"aside",
    b"body",
    b"button",
    b"caption",
    b"center",
    b"dd",
    b"details",
    b"dialog",
    b"div",
    b"dl",
    b"dt",
    b"fieldset",
    b"figcaption",
    b"figure",
    b"footer",
    b"form",
    b"header",
    b"hgroup",
    b"hr",
    b"legend",
    b"main",
    b"option",
    b"p",
    b"search",
    b"section",
    b"summary",
    b"tbody",
    b"tfoot",
    b"thead",
    b"video",
];

/// The longest address of a link or picture, in bytes; those with longer ones become plain text. Each block within a link has a copy of its
/// address. Real addresses are far shorter: many servers refuse longer ones.
const MAX_ADDRESS: usize = 2_000;

/// The role of an element for the text in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    /// Part of the surrounding text.
    Inline,
    /// A block of its own.
    Block,
    /// A heading and its level.
    Heading(u8),
    /// A list. The first number if it is numbered, else `None`.
    List(Option<u64>),
    /// An item of a list.
    Item,
    /// A quote.
    Quote,
    /// A code block.
    Code,
    /// A table.
    Table,
    /// A row of a table.
    Row,
    /// A cell of a table.
    Cell,
    /// Marked text. `None` for a link without a usable target, which is not marked.
    Mark(Option<MarkKind>),
}

/// Returns the role of an element on the page at `url`.
pub(super) fn role_of(tag: &Start, url: &str) -> Role {
    match tag.name.as_slice() {
        b"h1" => Role::Heading(1),
        b"h2" => Role::Heading(2),
        b"h3" => Role::Heading(3),
        b"h4" => Role::Heading(4),
        b"h5" => Role::Heading(5),
        b"h6" => Role::Heading(6),
        b"ul" | b"menu" => Role::List(None),
        b"ol" => {
            let start = attribute(tag, "start").and_then(|start| start.trim().parse().ok());
            Role::List(Some(start.unwrap_or(1)))
        }
        b"li" => Role::Item,
        b"blockquote" => Role::Quote,
        b"pre" => Role::Code,
        b"table" => Role::Table,
        b"tr" => Role::Row,
        b"td" | b"th" => Role::Cell,
        b"code" | b"kbd" | b"samp" => Role::Mark(Some(MarkKind::Code)),
        b"strong" | b"b" => Role::Mark(Some(MarkKind::Strong)),
        b"em" | b"i" => Role::Mark(Some(MarkKind::Emphasis)),
        b"a" => {
            let href = attribute(tag, "href").unwrap_or_default();
            Role::Mark(address(&href, url).map(|address| MarkKind::Link(vec![address])))
        }
        name if BLOCKS.contains(&name) => Role::Block,
        _ => Role::Inline,
    }
}

/// True for an element without content, which has no end tag.
pub(super) fn is_empty(tag: &Start) -> bool {
    let name = tag.name.as_slice();
    VOID.contains(&name) || (name == b"svg" && tag.self_closing)
}

/// True for an element whose content is not text of the page: scripts, navigation, a heading's link to itself, and hidden elements. Tab
/// panels count as text, because a reader can open them.
pub(super) fn is_left_out(tag: &Start) -> bool {
    let is_panel = attribute(tag, "role").is_some_and(|role| role == "tabpanel");
    let is_hidden = attribute(tag, "hidden").is_some() && !is_panel;
    let style = attribute(tag, "style").unwrap_or_default();
    NOT_CONTENT.contains(&tag.name.as_slice())
        || is_hidden
        || attribute(tag, "aria-hidden").is_some_and(|hidden| hidden == "true")
        || style.replace(' ', "").contains("display:none")
        || has_class(tag, "hash-link")
}

/// Returns the language of code from a class such as `language-js`.
pub(super) fn language_of(tag: &Start) -> Option<String> {
    let classes = attribute(tag, "class")?;
    let mut classes = classes.split_ascii_whitespace();
    classes.find_map(|class| class.strip_prefix("language-").map(str::to_owned))
}

/// The value of an attribute.
pub(super) fn attribute(tag: &Start, name: &str) -> Option<String> {
    let value: &HtmlString = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

fn has_class(tag: &Start, name: &str) -> bool {
    let classes = attribute(tag, "class").unwrap_or_default();
    classes.split_ascii_whitespace().any(|class| class == name)
}

/// Returns the path of a picture that the site serves; `None` for other pictures.
pub(super) fn picture_address(tag: &Start) -> Option<String> {
    let address = attribute(tag, "src");
    address.filter(|address| is_rooted(address) && address.len() <= MAX_ADDRESS)
}

/// Returns the target of a link: a web address, or a path from the site's root. `None` for others, which Docusaurus does not write.
fn address(href: &str, url: &str) -> Option<String> {
    if href.len() > MAX_ADDRESS {
        return None;
    }
    if href.starts_with('#') {
        return Some(format!("{url}{href}"));
    }
    let is_followed = ["https://", "http://"]
        .iter()
        .any(|scheme| href.starts_with(scheme))
        || is_rooted(href);
    is_followed.then(|| href.to_owned())
}

/// True for a path from the root of the site's host.
fn is_rooted(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//")
}
