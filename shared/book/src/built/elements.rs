//! The role of each HTML element in the text of a page.

use crate::block::MarkKind;
use crate::webpage::{Start, attribute, has_word, heading_level};

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

/// Roles of elements that lead around the site, search it or close the page.
const NOT_CONTENT_ROLES: [&str; 4] = ["navigation", "search", "contentinfo", "doc-toc"];

/// The classes by which most sites hide text that only screen readers say, such as "Permalink to this heading".
const UNSEEN_CLASSES: [&str; 3] = ["sr-only", "visually-hidden", "screen-reader-text"];

/// Elements without a role of their own, whose class or id may say that they are no content.
const DIVISIONS: [&[u8]; 4] = [b"div", b"p", b"pre", b"ul"];

/// The classes of such divisions, or their ids if they have no class: with a class, such as `section`, the id may be that of a section.
const NOT_CONTENT_NAMES: [&str; 14] = [
    "breadcrumbs",
    "footer",
    "toc",
    // Asciidoctor's table of contents beside the text.
    "toc2",
    // Javadoc before 17.
    "topNav",
    "subNav",
    "bottomNav",
    "legalCopy",
    // What Dokka shows when a reader copies a link.
    "copy-popup-wrapper",
    // The project's name and the search above the text in Doxygen, and the place of the page below it.
    "titlearea",
    "MSearchResultsWindow",
    "navpath",
    // VuePress before 1.
    "sidebar-links",
    // What VuePress 1 shows in code groups without tabs; a script replaces it.
    "pre-blank",
];

/// Elements that begin and end a block, besides those with a more specific role.
const BLOCKS: [&[u8]; 33] = [
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
    b"label",
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

/// The classes of code whose other class is its language: Pandoc's, that of highlight.js, and `ExDoc`'s.
const HIGHLIGHTERS: [&str; 3] = ["sourceCode", "hljs", "makeup"];
/// The classes of Javadoc's signatures, whose lines are shown as they are.
const SIGNATURES: [&str; 4] = [
    "member-signature",
    "module-signature",
    "package-signature",
    "type-signature",
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
    /// A line of code.
    Line,
    /// A table.
    Table,
    /// A row of a table.
    Row,
    /// A cell of a table.
    Cell,
    /// Marked text. `None` for a link without a usable target, which is not marked.
    Mark(Option<MarkKind>),
    /// A link to a place on the same page, by its id, with the offset at which its content begins.
    Jump { id: String, from: usize },
}

/// The address that the links of a page are relative to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address<'a> {
    /// The page's URL path.
    pub(super) url: &'a str,
    /// The URL path of its file, from which relative links start.
    pub(super) file: &'a str,
}

/// Returns the role of an element on the page at an address.
pub(super) fn role_of(tag: &Start, address: Address<'_>) -> Role {
    if let Some(level) = heading_level(&tag.name) {
        return Role::Heading(level);
    }
    match tag.name.as_slice() {
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
        b"div" if SIGNATURES.iter().any(|class| has_word(tag, "class", class)) => Role::Code,
        b"code" | b"kbd" | b"samp" => Role::Mark(Some(MarkKind::Code)),
        b"strong" | b"b" => Role::Mark(Some(MarkKind::Strong)),
        b"em" | b"i" => Role::Mark(Some(MarkKind::Emphasis)),
        b"a" => {
            let href = attribute(tag, "href").unwrap_or_default();
            match href.strip_prefix('#') {
                Some(id) => Role::Jump {
                    id: id.to_owned(),
                    from: tag.span.end,
                },
                None => Role::Mark(address.of(&href).map(|to| MarkKind::Link(vec![to]))),
            }
        }
        name if BLOCKS.contains(&name) => Role::Block,
        _ => Role::Inline,
    }
}

/// True for an element whose content is not text of the page: scripts, navigation, buttons that are no tabs, and hidden elements.
pub(super) fn is_left_out(tag: &Start) -> bool {
    let name = tag.name.as_slice();
    let role = attribute(tag, "role").unwrap_or_default();
    NOT_CONTENT.contains(&name)
        || NOT_CONTENT_ROLES.contains(&&*role)
        || (name == b"button" && role != "tab")
        || is_hidden(tag)
        || has_name_of_no_content(tag)
}

/// True for an element that a page hides. Tab panels count as shown, because a reader can open them.
pub(super) fn is_hidden(tag: &Start) -> bool {
    let role = attribute(tag, "role").unwrap_or_default();
    let has_hiding_attribute = match tag.name.as_slice() {
        b"dialog" => attribute(tag, "open").is_none(),
        _ => attribute(tag, "hidden").is_some() && role != "tabpanel",
    };
    let style = attribute(tag, "style").unwrap_or_default();
    has_hiding_attribute
        || attribute(tag, "aria-hidden").is_some_and(|hidden| hidden == "true")
        || style.replace(' ', "").contains("display:none")
        || UNSEEN_CLASSES
            .iter()
            .any(|class| has_word(tag, "class", class))
}

/// True for a division that is no content by its class, or by its id if it has no class.
fn has_name_of_no_content(tag: &Start) -> bool {
    let has_class = attribute(tag, "class").is_some();
    let naming = if has_class { "class" } else { "id" };
    DIVISIONS.contains(&tag.name.as_slice())
        && NOT_CONTENT_NAMES
            .iter()
            .any(|name| has_word(tag, naming, name))
}

/// Returns the language of code from an attribute such as `data-lang`, or from a class: `language-js`, `highlight-js` in Sphinx, `lang-js`, or the one
/// beside `sourceCode`.
pub(super) fn language_of(tag: &Start) -> Option<String> {
    let classes = attribute(tag, "class").unwrap_or_default();
    let language = attribute(tag, "data-language")
        .or_else(|| class_after(&classes, "language-"))
        .or_else(|| class_after(&classes, "highlight-"))
        .or_else(|| language_of_code(tag, &classes));
    // Sphinx's name for code whose author names no language.
    language.filter(|language| !language.is_empty() && language != "default")
}

/// Returns the language from an attribute or class that gives another one, such as that of the page, on elements other than code.
fn language_of_code(tag: &Start, classes: &str) -> Option<String> {
    if !matches!(tag.name.as_slice(), b"pre" | b"code") {
        return None;
    }
    attribute(tag, "data-lang")
        .or_else(|| class_after(classes, "lang-"))
        .or_else(|| class_beside_highlighter(classes).filter(|_| **tag.name == *b"code"))
}

/// Returns the first class that is no highlighter's, if a highlighter's is there.
fn class_beside_highlighter(classes: &str) -> Option<String> {
    let (highlighters, others): (Vec<&str>, Vec<&str>) = classes
        .split_ascii_whitespace()
        .partition(|class| HIGHLIGHTERS.contains(class));
    let language = others.first().filter(|_| !highlighters.is_empty())?;
    Some((*language).to_owned())
}

/// Returns the rest of the first class with this prefix.
fn class_after(classes: &str, prefix: &str) -> Option<String> {
    let mut rests = classes
        .split_ascii_whitespace()
        .filter_map(|class| class.strip_prefix(prefix));
    rests.next().map(str::to_owned)
}

impl Address<'_> {
    /// Returns the target of a link: a web address, or a path from the site's root. `None` for others, such as mail addresses.
    fn of(self, href: &str) -> Option<String> {
        if href.is_empty() || href.len() > MAX_ADDRESS {
            return None;
        }
        let is_web = href.starts_with("https://") || href.starts_with("http://");
        if is_web || is_rooted(href) {
            return Some(href.to_owned());
        }
        let scheme_end = href.find(':').unwrap_or(href.len());
        let is_relative =
            href.find('/').is_some_and(|slash| slash < scheme_end) || scheme_end == href.len();
        (is_relative && !href.starts_with('/')).then(|| self.joined(href))
    }

    /// Returns the path that a relative link leads to.
    fn joined(self, href: &str) -> String {
        let (path, rest) = href.split_at(href.find(['?', '#']).unwrap_or(href.len()));
        if path.is_empty() {
            return format!("{}{rest}", self.file);
        }
        let folder = self.file.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut parts: Vec<&str> = folder.split('/').collect();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            match name {
                "." | ".." => {
                    if name == ".." && parts.len() > 1 {
                        parts.pop();
                    }
                    if names.peek().is_none() {
                        parts.push("");
                    }
                }
                name => parts.push(name),
            }
        }
        parts.join("/") + rest
    }

    /// Returns the path of a picture that the site serves; `None` for other pictures.
    pub(super) fn of_picture(self, tag: &Start) -> Option<String> {
        let address = self.of(&attribute(tag, "src")?);
        address.filter(|address| is_rooted(address) && address.len() <= MAX_ADDRESS)
    }
}

/// True for a path from the root of the site's host.
fn is_rooted(address: &str) -> bool {
    address.starts_with('/') && !address.starts_with("//")
}
