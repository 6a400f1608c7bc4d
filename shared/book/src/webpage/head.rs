//! The head of an HTML page.

use html5gum::Token;

use super::{Start, attribute, has_word, tokens};

/// Elements that may stand in a head. Others begin the body, whose tag may be left out.
const IN_HEAD: [&[u8]; 9] = [
    b"html",
    b"head",
    b"title",
    b"meta",
    b"link",
    b"style",
    b"script",
    b"base",
    b"noscript",
];

/// What the head of a page says about it.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent marks of a page")]
pub(crate) struct Head {
    /// `<html lang>`.
    pub(crate) language: Option<String>,
    /// `<title>`.
    pub(crate) title: String,
    /// `<meta name="description">`.
    pub(crate) description: Option<String>,
    /// `<meta property="og:site_name">`.
    pub(crate) site_name: Option<String>,
    /// `<link rel="canonical">`: the address of the page of which this one is a copy, or its own.
    pub(crate) canonical: Option<String>,
    /// The languages and addresses of the page's translations: `<link rel="alternate" hreflang>`.
    pub(crate) translations: Vec<(String, String)>,
    /// `<link rel="icon">`.
    pub(crate) icon: Option<String>,
    /// `<link rel="stylesheet">`, in their order.
    pub(crate) style_sheets: Vec<String>,
    /// True if the page asks not to be found: `<meta name="robots" content="noindex">`.
    pub(crate) is_noindex: bool,
    /// True if the page only leads to another one: `<meta http-equiv="refresh">`.
    pub(crate) is_redirect: bool,
    /// True if the page only leads to others: it says that it is the site's search or index (`<link rel="search" href="#">`), or Docusaurus
    /// generated it as a list of docs or posts.
    pub(crate) is_finder: bool,
    /// True if the page only shows others in frames: it has `<frameset>` instead of a body.
    pub(crate) is_frameset: bool,
    /// True if the page names its generator: `<meta name="generator">`.
    pub(crate) has_generator: bool,
}

impl Head {
    /// Reads the head of a page.
    pub(crate) fn read(html: &str) -> Self {
        let mut head = Self::default();
        let mut in_title = false;
        for Ok(token) in tokens(html) {
            match token {
                Token::StartTag(tag) if !IN_HEAD.contains(&tag.name.as_slice()) => {
                    head.is_frameset = **tag.name == *b"frameset";
                    break;
                }
                Token::StartTag(tag) => {
                    in_title = **tag.name == *b"title" && head.title.is_empty();
                    head.add(&tag);
                }
                Token::EndTag(_) => in_title = false,
                Token::String(text) if in_title => {
                    head.title.push_str(&String::from_utf8_lossy(&text));
                }
                _ => {}
            }
        }
        head.title = head.title.trim().to_owned();
        head
    }

    fn add(&mut self, tag: &Start) {
        match tag.name.as_slice() {
            b"html" => {
                let language = value(tag, "lang").filter(|lang| !lang.is_empty());
                self.language = self.language.take().or(language);
                self.is_finder |= is_list_of_docusaurus(&value(tag, "class").unwrap_or_default());
            }
            b"meta" if has_value(tag, "name", "description") => {
                self.description = value(tag, "content");
            }
            b"meta" if has_value(tag, "name", "generator") => self.has_generator = true,
            b"meta" if has_value(tag, "property", "og:site_name") => {
                self.site_name = value(tag, "content");
            }
            // Docusaurus's search page has `property`.
            b"meta" if has_value(tag, "name", "robots") || has_value(tag, "property", "robots") => {
                let content = value(tag, "content").unwrap_or_default().to_lowercase();
                let mut rules = content.split(',').map(str::trim);
                self.is_noindex |= rules.any(|rule| rule == "noindex" || rule == "none");
            }
            b"meta" if has_value(tag, "http-equiv", "refresh") => {
                // Without an address, the page only loads itself again.
                let content = value(tag, "content").unwrap_or_default().to_lowercase();
                self.is_redirect |= content.contains("url");
            }
            b"link" => self.add_link(tag, value(tag, "href").unwrap_or_default()),
            _ => {}
        }
    }

    fn add_link(&mut self, tag: &Start, href: String) {
        if has_word(tag, "rel", "canonical") {
            self.canonical = Some(href);
        } else if has_word(tag, "rel", "alternate") {
            self.translations
                .extend(attribute(tag, "hreflang").map(|language| (language, href)));
        } else if has_word(tag, "rel", "icon") {
            self.icon.get_or_insert(href);
        } else if has_word(tag, "rel", "stylesheet") {
            self.style_sheets.push(href);
        } else if has_word(tag, "rel", "search") || has_word(tag, "rel", "index") {
            self.is_finder |= href == "#";
        }
    }
}

fn value(tag: &Start, name: &str) -> Option<String> {
    attribute(tag, name).map(|value| value.trim().to_owned())
}

fn has_value(tag: &Start, name: &str, expected: &str) -> bool {
    value(tag, name).is_some_and(|value| value.eq_ignore_ascii_case(expected))
}

/// True for the classes of a page that Docusaurus's plugins of docs and blogs generate from other pages: lists of tags, posts and authors, archives
/// and indexes of categories. In contrast, a doc has its id among the classes, and a post says that it is one.
fn is_list_of_docusaurus(classes: &str) -> bool {
    let classes: Vec<&str> = classes.split_ascii_whitespace().collect();
    let is_doc = classes.iter().any(|it| it.starts_with("docs-doc-id-"));
    (classes.contains(&"plugin-docs") && !is_doc)
        || (classes.contains(&"plugin-blog") && !classes.contains(&"blog-post-page"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_what_its_page_is() {
        let html = "<!doctype html><html lang=en-US><title>A &amp; b</title><meta name=Description content='What it is'>\
            <meta property='og:site_name' content=Robots><link rel=canonical href=https://example.org/a>\
            <link rel=alternate hreflang=de href=/de/a><link rel=alternate type=application/rss+xml href=/feed.xml>\
            <link rel=index href=genindex.html><script>let a = '<p>'</script><p>Text<title>No</title><meta name=robots content=noindex>";
        let expected = Head {
            language: Some("en-US".to_owned()),
            title: "A & b".to_owned(),
            description: Some("What it is".to_owned()),
            site_name: Some("Robots".to_owned()),
            canonical: Some("https://example.org/a".to_owned()),
            translations: vec![("de".to_owned(), "/de/a".to_owned())],
            ..Head::default()
        };
        assert_eq!(Head::read(html), expected);
    }

    #[test]
    fn pages_that_are_none_of_the_book_say_so_in_their_heads() {
        for (head, flags) in [
            (
                "<meta name=robots content='NoIndex, follow'>",
                (true, false, false),
            ),
            (
                "<meta name=robots content='index, nofollow'>",
                (false, false, false),
            ),
            (
                "<meta http-equiv=Refresh content='0; url=/b'>",
                (false, true, false),
            ),
            (
                "<meta http-equiv=refresh content=300>",
                (false, false, false),
            ),
            (
                "<meta property=robots content='noindex, follow'>",
                (true, false, false),
            ),
            ("<link rel=search href=#>", (false, false, true)),
            (
                "<html class='docs-wrapper plugin-docs docs-version-current docs-doc-page'>",
                (false, false, true),
            ),
            (
                "<html class='plugin-docs docs-doc-page docs-doc-id-a/b'>",
                (false, false, false),
            ),
            (
                "<html class='plugin-blog plugin-id-default'>",
                (false, false, true),
            ),
            (
                "<html class='blog-wrapper blog-post-page plugin-blog'>",
                (false, false, false),
            ),
            ("<html class='plugin-rules'>", (false, false, false)),
            ("<link rel=search href=search.html>", (false, false, false)),
        ] {
            let head = Head::read(head);
            assert_eq!(
                (head.is_noindex, head.is_redirect, head.is_finder),
                flags,
                "{head:?}"
            );
        }
        assert!(Head::read("<title>A</title></head><frameset cols=*>").is_frameset);
        assert!(!Head::read("<title>A</title><body><frameset cols=*>").is_frameset);
    }
}
