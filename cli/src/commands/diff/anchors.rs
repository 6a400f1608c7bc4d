//! Addresses of a book's pages and headings, and the links to them. Pure.

use std::collections::{BTreeMap, BTreeSet};

use bookrag::book::{BlockKind, Document, MarkKind};
use percent_encoding::percent_decode_str;
use serde::Serialize;

use super::answer::ComparedAnswer;
use super::questions::ComparedQuestion;

/// Addresses and links of one state of a book.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Anchors {
    /// URLs of pages, and URLs with `#` and the id of a heading.
    addresses: BTreeSet<String>,
    /// URL of each page, by file.
    urls: BTreeMap<String, String>,
    /// Links of each file. A link is a set of the addresses that it may mean: URLs, or files of pages.
    links: BTreeMap<String, BTreeSet<Vec<String>>>,
}

/// An address that no longer exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Vanished {
    pub(super) url: String,
    /// Pages that still link to it.
    pub(super) linked_from: Vec<String>,
    /// Questions whose answers cited it.
    pub(super) cited_by: Vec<String>,
}

impl Anchors {
    pub(super) fn add(&mut self, document: &Document) {
        let source = &document.file.source;
        self.urls.insert(source.clone(), document.url.clone());
        let headings = document
            .blocks
            .iter()
            .filter_map(|block| match &block.kind {
                BlockKind::Heading { anchor, .. } => anchor.as_ref(),
                _ => None,
            });
        let headings: Vec<&String> = headings.collect();
        for url in [&document.url]
            .into_iter()
            .chain(document.fallback_urls.values())
        {
            self.addresses.insert(normalised(url));
            let sections = headings.iter().map(|id| normalised(&format!("{url}#{id}")));
            self.addresses.extend(sections);
        }
        let marks = document.blocks.iter().flat_map(|block| &block.marks);
        let links = marks.filter_map(|mark| match &mark.kind {
            MarkKind::Link(addresses) if !addresses.is_empty() => Some(addresses.clone()),
            _ => None,
        });
        self.links.entry(source.clone()).or_default().extend(links);
    }

    /// Returns the files that link to each address. Links to files are resolved with the URLs of this state, else with those of `former`.
    fn links_by_address(&self, former: &Self) -> BTreeMap<String, Vec<String>> {
        let mut links: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (source, of_page) in &self.links {
            let targets = of_page.iter().filter_map(|addresses| {
                addresses
                    .iter()
                    .find_map(|address| self.resolved(former, address))
            });
            for target in targets.collect::<BTreeSet<_>>() {
                links.entry(target).or_default().push(source.clone());
            }
        }
        links
    }

    fn resolved(&self, former: &Self, address: &str) -> Option<String> {
        if address.starts_with('/') {
            return Some(normalised(address));
        }
        let end = address.find(['#', '?']).unwrap_or(address.len());
        let (file, rest) = address.split_at(end);
        let url = self.urls.get(file).or_else(|| former.urls.get(file))?;
        Some(normalised(&format!("{url}{rest}")))
    }
}

/// Returns the addresses of `before` that are missing in `after`, if an answer cited them or a page still links to them.
pub(super) fn vanished(
    questions: &[ComparedQuestion],
    answers: &[ComparedAnswer],
    before: &Anchors,
    after: &Anchors,
) -> Vec<Vanished> {
    let links = after.links_by_address(before);
    let mut citing: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (question, answer) in questions.iter().zip(answers) {
        for section in &answer.sections {
            let cited = citing.entry(normalised(&section.url)).or_default();
            cited.push(question.query.clone());
        }
    }
    let gone = before.addresses.difference(&after.addresses);
    let gone = gone.map(|address| Vanished {
        url: address.clone(),
        linked_from: links.get(address).cloned().unwrap_or_default(),
        cited_by: citing.remove(address).unwrap_or_default(),
    });
    gone.filter(|gone| !gone.linked_from.is_empty() || !gone.cited_by.is_empty())
        .collect()
}

/// Normalizes an address for comparison: decoded, without a query and without a trailing slash in its path.
fn normalised(address: &str) -> String {
    let (path, id) = address.split_once('#').unwrap_or((address, ""));
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    let path = path.trim_end_matches('/');
    let path = if path.is_empty() { "/" } else { path };
    let hash = if id.is_empty() { "" } else { "#" };
    let address = format!("{path}{hash}{id}");
    percent_decode_str(&address)
        .decode_utf8_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::answer::Section;
    use super::*;
    use bookrag::answer::Outcome;

    fn anchors(addresses: &[&str], urls: &[(&str, &str)], links: &[(&str, &str)]) -> Anchors {
        let mut anchors = Anchors::default();
        anchors
            .addresses
            .extend(addresses.iter().map(|address| normalised(address)));
        let urls = urls
            .iter()
            .map(|(file, url)| ((*file).to_owned(), (*url).to_owned()));
        anchors.urls.extend(urls);
        for (source, link) in links {
            let links = anchors.links.entry((*source).to_owned()).or_default();
            links.insert(vec!["docs/none.md".to_owned(), (*link).to_owned()]);
        }
        anchors
    }

    #[test]
    fn vanished_addresses_are_listed_with_their_uses() {
        let files = [("docs/a.md", "/docs/a"), ("docs/b.md", "/docs/b/")];
        let before = anchors(
            &[
                "/docs/a",
                "/docs/a#x",
                "/docs/a#unused",
                "/docs/b/",
                "/docs/b/#über",
                "/docs/c",
            ],
            &files,
            &[("docs/a.md", "/docs/b#x")],
        );
        let after = anchors(
            &["/docs/a", "/docs/c"],
            &files[..1],
            &[
                ("docs/c.md", "docs/b.md#%C3%BCber"),
                ("docs/c.md", "docs/a.md?more#x"),
                ("docs/a.md", "/docs/b"),
            ],
        );
        let question = ComparedQuestion {
            query: "Why?".to_owned(),
            locale: None,
        };
        let answer = ComparedAnswer {
            outcome: Outcome::Answered,
            suggested: Vec::new(),
            sections: ["/docs/a/#x", "/docs/c"]
                .map(|url| Section {
                    url: url.to_owned(),
                    title: String::new(),
                    heading: String::new(),
                })
                .into(),
            text: String::new(),
        };
        let gone = vanished(&[question], &[answer], &before, &after);
        let gone: Vec<_> = gone
            .iter()
            .map(|gone| {
                (
                    &*gone.url,
                    gone.linked_from.join(" "),
                    gone.cited_by.join(" "),
                )
            })
            .collect();
        let (a, c) = ("docs/a.md".to_owned(), "docs/c.md".to_owned());
        assert_eq!(
            gone,
            [
                ("/docs/a#x", c.clone(), "Why?".to_owned()),
                ("/docs/b", a, String::new()),
                ("/docs/b#über", c, String::new()),
            ]
        );
    }
}
