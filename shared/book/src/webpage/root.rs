//! Finds the element that holds the content of an HTML page.

use html5gum::Token;

use super::{Start, attribute, heading_level, is_empty, tokens};

/// The id of the element around a page's content in Docusaurus, if the page has no link that skips to it.
const DOCUSAURUS_CONTENT: &str = "__docusaurus_skipToContent_fallback";

/// The most open elements that are followed. Bounds the time for a hostile page.
const MAX_DEPTH: usize = 256;

/// Elements around the content whose headings are not the page's.
const AROUND: [&[u8]; 4] = [b"nav", b"aside", b"footer", b"dialog"];

/// The element that holds a page's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    /// The one whose start tag is at this offset.
    At(usize),
    /// The page marks none, so all of its body.
    Body,
}

/// Kinds of elements that may hold the content, from outer to inner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The target of the page's first link. That link skips to the content only if its target holds the page's title: a table of contents begins with
    /// such a link, too.
    SkipTarget,
    /// Docusaurus's element around the content.
    Docusaurus,
    /// `<main>` or `role="main"`.
    Main,
    Article,
}

/// An element that may hold the content.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    kind: Kind,
    at: usize,
    /// The number of articles directly in it.
    articles: usize,
}

struct Search {
    /// The names of open elements, each with its place among the candidates.
    open: Vec<(Vec<u8>, Option<usize>)>,
    candidates: Vec<Candidate>,
    /// The target of the page's first link, if it is within the page.
    skip_target: Option<String>,
    has_links: bool,
    /// The candidates around the first heading that is in one, outer ones first.
    around_heading: Vec<usize>,
    /// The number of articles that are in no other candidate.
    outer_articles: usize,
    /// The level of the heading that is the page's title, and the candidates around it: the first heading of level 1, else the first one.
    title: Option<(u8, Vec<usize>)>,
}

impl Root {
    /// Finds the innermost of three elements that holds the page's first heading: the target of the link that skips to the content, `main`, and its
    /// only article. A page without a heading has its content in `main`.
    pub(crate) fn new(html: &str) -> Self {
        let mut search = Search {
            open: Vec::new(),
            candidates: Vec::new(),
            skip_target: None,
            has_links: false,
            around_heading: Vec::new(),
            outer_articles: 0,
            title: None,
        };
        for Ok(token) in tokens(html) {
            match token {
                Token::StartTag(tag) => search.start(&tag),
                Token::EndTag(tag) => search.end(&tag.name),
                _ => {}
            }
        }
        search.found()
    }
}

impl Search {
    fn start(&mut self, tag: &Start) {
        let name = tag.name.as_slice();
        if name == b"a" && !self.has_links {
            self.has_links = true;
            let href = attribute(tag, "href").unwrap_or_default();
            self.skip_target = href.strip_prefix('#').map(str::to_owned);
        }
        if let Some(level) = heading_level(name)
            && !self.is_around()
        {
            self.heading(level);
        }
        if is_empty(tag) || self.open.len() >= MAX_DEPTH {
            return;
        }
        let candidate = self.kind_of(tag).map(|kind| {
            if kind == Kind::Article {
                self.count_article();
            }
            let at = tag.span.start;
            self.candidates.push(Candidate {
                kind,
                at,
                articles: 0,
            });
            self.candidates.len() - 1
        });
        self.open.push((name.to_vec(), candidate));
    }

    fn heading(&mut self, level: u8) {
        let around: Vec<usize> = self
            .open
            .iter()
            .filter_map(|(_, candidate)| *candidate)
            .collect();
        let is_title = self
            .title
            .as_ref()
            .is_none_or(|(former, _)| level == 1 && *former != 1);
        if is_title {
            self.title = Some((level, around.clone()));
        }
        if self.around_heading.is_empty() {
            self.around_heading = around;
        }
    }

    fn kind_of(&self, tag: &Start) -> Option<Kind> {
        let id = attribute(tag, "id");
        let is_main =
            **tag.name == *b"main" || attribute(tag, "role").is_some_and(|it| it == "main");
        let is_docusaurus = id.as_deref() == Some(DOCUSAURUS_CONTENT);
        let is_target = id.is_some() && id == self.skip_target;
        let is_heading = heading_level(&tag.name).is_some();
        match tag.name.as_slice() {
            _ if is_main => Some(Kind::Main),
            b"article" => Some(Kind::Article),
            _ if is_docusaurus => Some(Kind::Docusaurus),
            _ if is_target && !is_heading => Some(Kind::SkipTarget),
            _ => None,
        }
    }

    fn count_article(&mut self) {
        let mut around = self
            .open
            .iter()
            .rev()
            .filter_map(|(_, candidate)| *candidate);
        match around.next() {
            Some(outer) => self.candidates[outer].articles += 1,
            None => self.outer_articles += 1,
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(at) = self.open.iter().rposition(|(open, _)| open == name) {
            self.open.truncate(at);
        }
    }

    /// True within an element whose headings are not the page's.
    fn is_around(&self) -> bool {
        let mut open = self.open.iter();
        open.any(|(name, _)| AROUND.contains(&name.as_slice()))
    }

    fn found(self) -> Root {
        let mut around_heading = self.around_heading.iter().rev().copied();
        around_heading
            .find(|place| self.is_whole(*place) && self.may_hold_content(*place))
            .or_else(|| self.first_of(Kind::Main))
            .or_else(|| self.first_of(Kind::Docusaurus))
            .or_else(|| self.only_article())
            .map_or(Root::Body, |place| Root::At(self.candidates[place].at))
    }

    /// True for an element that holds the whole page. An article does only if it is alone.
    fn is_whole(&self, place: usize) -> bool {
        let mut around_heading = self.around_heading.iter().rev();
        let outer = around_heading.find(|outer| **outer < place);
        let articles = outer.map_or(self.outer_articles, |outer| {
            self.candidates[*outer].articles
        });
        self.candidates[place].kind != Kind::Article || articles == 1
    }

    /// True unless the element is the target of a link that does not skip to the content, or an article beside the page's title, such as a card.
    fn may_hold_content(&self, place: usize) -> bool {
        let holds_title = self
            .title
            .as_ref()
            .is_some_and(|(_, around)| around.contains(&place));
        let needs_title = match self.candidates[place].kind {
            Kind::SkipTarget => true,
            Kind::Article => self.around_heading.first() == Some(&place),
            Kind::Docusaurus | Kind::Main => false,
        };
        holds_title || !needs_title
    }

    /// Returns the only article of a page without headings.
    fn only_article(&self) -> Option<usize> {
        let is_alone = self.title.is_none() && self.outer_articles == 1;
        self.first_of(Kind::Article).filter(|_| is_alone)
    }

    fn first_of(&self, kind: Kind) -> Option<usize> {
        self.candidates.iter().position(|it| it.kind == kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_content_is_in_the_innermost_element_that_holds_the_first_heading() {
        for (html, expected) in [
            ("<main>x</main>", "<main>"),
            ("<body><h1>A</h1></body>", ""),
            ("<div role=main><h1>A</h1></div>", "<div role=main>"),
            (
                "<main><nav><h2>On this page</h2></nav><article><h1>A</h1></article></main>",
                "<article>",
            ),
            (
                "<main><div>Toc</div><article><h1>A</h1><article>Card</article></article></main>",
                "<article>",
            ),
            // A list of posts.
            (
                "<main><article><h2>A</h2></article><article><h2>B</h2></article></main>",
                "<main>",
            ),
            // A card is not the page.
            (
                "<main><h1>A</h1><article><h2>Card</h2></article></main>",
                "<main>",
            ),
            (
                "<a href=#c>Skip</a><nav><h2>No</h2></nav><div id=c><header><h1>A</h1></header><main><p>x</main></div>",
                "<div id=c>",
            ),
            (
                "<a href=#c>Skip</a><div id=c><main><h1>A</h1></main></div>",
                "<main>",
            ),
            ("<a href=#t>Skip</a><main><h1 id=t>A</h1></main>", "<main>"),
            (
                "<a href=/>Home</a><a href=#c>Not a skip link</a><div id=c><h1>A</h1></div>",
                "",
            ),
            // Only an article.
            (
                "<header><a href=/>Forge</a></header><article><h1>A</h1><article>Card</article></article><div>Settings</div>",
                "<article>",
            ),
            (
                "<header><h2>Forge</h2></header><article><h1>A</h1></article>",
                "<article>",
            ),
            ("<p>Bar</p><article>x</article>", "<article>"),
            ("<article>x</article><article>y</article>", ""),
            (
                "<article><h2>A</h2></article><article><h2>B</h2></article>",
                "",
            ),
            ("<h1>A</h1><p>x</p><article><h2>Card</h2></article>", ""),
            // Tables of contents, and a link in the text.
            (
                "<h1>A</h1><a href=#b>B</a><div id=b><h2>B</h2></div><div id=c><h2>C</h2></div>",
                "",
            ),
            (
                "<h1>A</h1><p><a href=#b>B</a></p><h2><a id=b></a>B</h2><p>x</p>",
                "",
            ),
            ("<a href=#b>B</a><a id=b></a><p>x</p>", ""),
            (
                "<a href=#b>B</a><div id=b><h2>B</h2></div><div><h1>A</h1></div>",
                "",
            ),
            (
                "<a href=#b>B</a><main><h1>A</h1><div id=b><h2>B</h2></div></main>",
                "<main>",
            ),
        ] {
            let found = match Root::new(html) {
                Root::At(at) => &html[at..=at + html[at..].find('>').unwrap()],
                Root::Body => "",
            };
            assert_eq!(found, expected, "{html}");
        }
    }
}
