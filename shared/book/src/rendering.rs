//! Renders Markdown with two libraries, for tests.

use std::collections::BTreeSet;

use markdown::mdast::Node;
use pulldown_cmark::{Event, Options, Parser, Tag};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Rendered {
    /// Words separated by single spaces.
    pub(crate) text: String,
    /// Names of the elements: `p`, `code`, `pre`, `list`, `item`, `heading`, `strong`, `em`, `table`, `link`, `image` and
    /// others.
    pub(crate) elements: BTreeSet<String>,
    pub(crate) addresses: BTreeSet<String>,
}

pub(crate) fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Renders the text with pulldown-cmark and markdown-rs. Enables all extensions except two that GitHub Flavored Markdown lacks:
/// superscripts between carets, and typographic quotes.
pub(crate) fn rendered(markdown: &str) -> [Rendered; 2] {
    let foreign = Options::ENABLE_SMART_PUNCTUATION | Options::ENABLE_SUPERSCRIPT;
    let mut parsed = by_pulldown(markdown, Options::all() - foreign);
    parsed.text = words(&parsed.text);
    let tree = markdown::to_mdast(markdown, &markdown::ParseOptions::gfm())
        .expect("Markdown without JSX has no errors");
    let mut read = Rendered::default();
    by_markdown_rs(&tree, &mut read);
    read.text = words(&read.text);
    [parsed, read]
}

fn by_pulldown(markdown: &str, options: Options) -> Rendered {
    let mut rendered = Rendered::default();
    for event in Parser::new_ext(markdown, options) {
        let (name, text) = match event {
            Event::Start(Tag::Paragraph) => ("p".to_owned(), "\n".into()),
            Event::Start(Tag::CodeBlock(_)) => ("pre".to_owned(), "\n".into()),
            Event::Start(Tag::List(_)) => ("list".to_owned(), "\n".into()),
            Event::Start(Tag::Item) => ("item".to_owned(), "\n".into()),
            Event::Start(Tag::Heading { .. }) => ("heading".to_owned(), "\n".into()),
            Event::Start(Tag::Strong) => ("strong".to_owned(), "".into()),
            Event::Start(Tag::Emphasis) => ("em".to_owned(), "".into()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                rendered.addresses.insert(dest_url.into_string());
                ("link".to_owned(), "".into())
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                rendered.addresses.insert(dest_url.into_string());
                ("image".to_owned(), "".into())
            }
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell) => {
                ("table".to_owned(), "\n".into())
            }
            Event::End(_) => continue,
            Event::Text(text) => (String::new(), text),
            Event::Code(code) => ("code".to_owned(), code),
            Event::SoftBreak => (String::new(), "\n".into()),
            other => (format!("{other:?}"), "\n".into()),
        };
        rendered.text.push_str(&text);
        if !name.is_empty() {
            rendered.elements.insert(name);
        }
    }
    rendered
}

fn by_markdown_rs(node: &Node, rendered: &mut Rendered) {
    let (name, text) = match node {
        Node::Root(_) => ("", ""),
        Node::Paragraph(_) => ("p", "\n"),
        Node::List(_) => ("list", "\n"),
        Node::ListItem(item) if item.checked.is_none() => ("item", "\n"),
        Node::Heading(_) => ("heading", "\n"),
        Node::Strong(_) => ("strong", ""),
        Node::Emphasis(_) => ("em", ""),
        Node::Link(link) => {
            rendered.addresses.insert(link.url.clone());
            ("link", "")
        }
        Node::Image(image) => {
            rendered.addresses.insert(image.url.clone());
            ("image", &*image.alt)
        }
        Node::Table(_) | Node::TableRow(_) | Node::TableCell(_) => ("table", "\n"),
        Node::Text(text) => ("", &*text.value),
        Node::InlineCode(code) => ("code", &*code.value),
        Node::Code(code) => ("pre", &*code.value),
        _ => ("other", "\n"),
    };
    rendered.text.push_str(text);
    match name {
        "" => {}
        "other" => drop(rendered.elements.insert(format!("{node:?}"))),
        name => drop(rendered.elements.insert(name.to_owned())),
    }
    for child in node.children().into_iter().flatten() {
        by_markdown_rs(child, rendered);
    }
}
