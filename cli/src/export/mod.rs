//! Exports the book as Markdown files beside its built pages, with lists of them for programs (<https://llmstxt.org>).

mod place;
mod edition;
mod page;
mod index;
mod skill;
mod folder;

use std::collections::BTreeMap;

use bookrag::api::encoded_url;
use bookrag::book::{Document, SiteSettings, follow_links, marked_text};
use bookrag::book::{Mark, MarkKind};
use bookrag::catalog::Freshness;

pub(crate) use folder::{Folder, FolderError, Outcome};
pub(crate) use page::computed;

use edition::{Edition, editions};
use place::Places;

/// The name of the file that lists an edition's pages.
pub(crate) const INDEX: &str = "llms.txt";
/// The name of the file with the text of all pages of an edition.
const FULL: &str = "llms-full.txt";

/// The beginning of the line that says when a file was made.
const STAMP: &str = "\n> Made at ";

/// The options of an export.
#[derive(Debug)]
pub(crate) struct Export<'a> {
    pub(crate) settings: &'a SiteSettings,
    /// Where the site is served, without a trailing slash; if empty, addresses are paths.
    pub(crate) site_url: String,
    /// The address of the API, without a trailing slash, for agents that ask.
    pub(crate) api: Option<String>,
    /// When the files were made, and from which commit.
    pub(crate) freshness: Option<Freshness>,
    /// Exports only this locale, into the locale's own folder. `None` exports all locales into the folder of the whole site.
    pub(crate) locale: Option<&'a str>,
}

#[derive(Debug, Default)]
pub(crate) struct Exported {
    /// Texts by path, relative to the folder of the built site.
    pub(crate) files: BTreeMap<String, String>,
    /// The number of exported pages.
    pub(crate) pages: usize,
    /// Pages without a file, because another page has their address or it is not a valid path.
    pub(crate) without_file: Vec<String>,
}

impl Export<'_> {
    /// Exports these pages. The output is deterministic.
    pub(crate) fn files(&self, documents: &[&Document]) -> Exported {
        let mut exported = Exported::default();
        let places = Places::new(self);
        let mut all = Vec::new();
        for locale in self.locales() {
            let (editions, without_file) = editions(self.settings, &places, locale, documents);
            all.push(editions);
            exported.without_file.extend(without_file);
        }
        let book = Book::new(self, &places, &all);
        // A page at the skill's path replaces it.
        if let Some(edition) = book.locales.first() {
            exported.files.extend(book.skill(edition));
        }
        for editions in &all {
            for edition in editions {
                book.add(edition, editions, &mut exported);
            }
        }
        exported
    }

    fn locales(&self) -> Vec<&str> {
        match self.locale {
            Some(locale) => vec![locale],
            None => self.settings.locales.iter().map(String::as_str).collect(),
        }
    }
}

/// Everything that the text of a page depends on besides the page.
struct Book<'a> {
    title: &'a str,
    api: Option<&'a str>,
    /// The line that says when the files were made; empty if that is not known.
    stamp: String,
    site_url: &'a str,
    places: &'a Places<'a>,
    /// The first edition of each locale, the default locale first.
    locales: Vec<&'a Edition<'a>>,
    /// URLs of the pages, by locale and source path.
    urls: BTreeMap<&'a str, BTreeMap<&'a str, &'a str>>,
    /// Paths of the pages' Markdown, by URL without a trailing slash.
    markdown: BTreeMap<&'a str, &'a str>,
}

impl<'a> Book<'a> {
    fn new(export: &'a Export<'_>, places: &'a Places<'a>, all: &'a [Vec<Edition<'a>>]) -> Self {
        let mut urls: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
        let mut markdown = BTreeMap::new();
        for page in all.iter().flatten().flat_map(|edition| &edition.pages) {
            let source = page.document.file.source.as_str();
            urls.entry(page.locale)
                .or_default()
                .insert(source, page.url);
            markdown.insert(page.url.trim_end_matches('/'), page.place.url.as_str());
        }
        Self {
            title: export.settings.title.as_deref().unwrap_or("Documentation"),
            api: export.api.as_deref(),
            stamp: export.freshness.as_ref().map(stamp).unwrap_or_default(),
            site_url: &export.site_url,
            places,
            locales: all.iter().filter_map(|editions| editions.first()).collect(),
            urls,
            markdown,
        }
    }

    /// Adds the files of an edition; `editions` are all editions of its locale.
    fn add(&self, edition: &Edition<'_>, editions: &[Edition<'_>], exported: &mut Exported) {
        let mut full = self.full_head(edition);
        for page in &edition.pages {
            let text = self.page_text(page);
            if !page.document.front_matter.unlisted {
                full.push_str(&self.in_full(page, &text));
            }
            let text = format!("{}\n\n{text}", self.page_head(page, edition));
            exported.files.insert(page.place.file.clone(), text);
            exported.pages += 1;
        }
        exported.files.extend(self.indexes(edition, editions));
        let place = self.places.of(edition.locale, &edition.file(FULL));
        exported.files.insert(place.file, full);
    }

    /// Resolves links: to the Markdown of exported pages, else to the site. `url` is the page with the links.
    fn resolve(&self, marks: &mut [Mark], locale: &str, url: &str) {
        let urls = self.urls.get(locale);
        follow_links(marks, url, |source| urls?.get(source).copied());
        for mark in marks {
            match &mut mark.kind {
                MarkKind::Link(addresses) => {
                    for address in addresses {
                        *address = self.address(address);
                    }
                }
                MarkKind::Picture(address) => *address = self.absolute(address),
                _ => {}
            }
        }
    }

    /// Returns the address of a page's Markdown if the page is exported, else the address on the site.
    fn address(&self, address: &str) -> String {
        let end = address.find(['#', '?']).unwrap_or(address.len());
        let (path, rest) = address.split_at(end);
        match self.markdown.get(path.trim_end_matches('/')) {
            Some(markdown) if path.starts_with('/') => self.absolute(&format!("{markdown}{rest}")),
            _ => self.absolute(address),
        }
    }

    /// Links to the URL path of a page or of an exported file.
    fn link_to(&self, text: &str, url: &str) -> String {
        link(text, &self.absolute(&encoded_url(url)))
    }

    /// Puts the site's URL before an address that begins with `/`; returns any other address as it is.
    fn absolute(&self, address: &str) -> String {
        if address.starts_with('/') {
            format!("{}{address}", self.site_url)
        } else {
            address.to_owned()
        }
    }
}

/// Returns the line that says when a file was made, and from which commit.
fn stamp(Freshness { updated_at, commit }: &Freshness) -> String {
    let commit = commit.as_ref();
    let commit = commit.map(|commit| format!(" from commit {commit}"));
    format!("{STAMP}{updated_at}{}.", commit.unwrap_or_default())
}

fn link(text: &str, address: &str) -> String {
    let mark = Mark::from((MarkKind::Link(vec![address.to_owned()]), 0, text.len()));
    marked_text(text, &[mark], 0..text.len())
}

#[cfg(test)]
mod tests;
