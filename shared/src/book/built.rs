//! Pages read from the HTML of a built site.
//!
//! A site may be a build as a whole, of any generator: each of its HTML files is a page (`site.rs`). Beside the sources of a Docusaurus
//! site, a build has the pages that Docusaurus makes by running scripts, whose text exists only after the script has run. A source with a
//! built site offers the HTML of `src/pages/about.tsx` as a file `src/pages/about.tsx.html`, and a translation's HTML as the same file in
//! the locale's translation folder. So these pages get URLs, translations and fingerprints like all others.

mod elements;
mod file;
mod leaf;
mod math;
mod content;
mod site;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod generator_tests;

use std::collections::{BTreeMap, BTreeSet};

use super::document::{
    Document, Inputs, MAX_HEADINGS, SkipReason, decode, document_id, fallback_urls,
};
use super::front_matter::FrontMatter;
use super::pages::{PageFile, list_script_pages, page_file, source_in};
use super::permalink::{page_names, page_url};
use super::placement::Placement;
use super::settings::SiteSettings;
use super::titles::{first_title, shortened_title};

use super::webpage::Head;
use content::{Content, read_content};
use elements::Address;

pub(super) use site::{canonical_files, path_of};

/// The suffix that turns the path of a script into the path of its HTML.
pub(super) const HTML: &str = ".html";

/// True for a script that Docusaurus runs to make a page.
pub(super) fn is_script(path: &str) -> bool {
    let extensions = [".js", ".jsx", ".ts", ".tsx"];
    extensions.iter().any(|extension| path.ends_with(extension))
}

/// True if the page at a path is read from HTML.
pub(super) fn is_html(settings: &SiteSettings, path: &str) -> bool {
    settings.is_build || script_of(path).is_some()
}

/// Returns the path of the script that a path of HTML belongs to: `about.tsx` for `about.tsx.html`. `None` for other paths.
#[must_use]
pub fn script_of(path: &str) -> Option<&str> {
    let script = path.strip_suffix(HTML);
    script.filter(|script| is_script(script))
}

/// Returns the pages of a site that are written as scripts, as a source with the built site offers them: the path of each page's HTML in each locale,
/// with the files of the built site that may contain it, in the order in which they are tried.
#[must_use]
pub fn built_pages(
    settings: &SiteSettings,
    paths: &BTreeSet<String>,
) -> BTreeMap<String, Vec<String>> {
    let scripts = list_script_pages(settings, paths).into_iter();
    let pages = scripts.filter_map(|script| page_file(settings, &format!("{script}{HTML}")));
    let translated = pages.flat_map(|page| {
        let locales = settings.locales.iter();
        locales
            .map(|locale| source_in(settings, &page, locale))
            .collect::<Vec<_>>()
    });
    translated
        .filter_map(|source| Some((source.clone(), built_files(settings, &source)?)))
        .collect()
}

/// Returns the files of the built site that may hold the HTML at a path, relative to its folder: `about/index.html`, and `about.html` for
/// sites without trailing slashes. `None` if the path is not that of a script's HTML.
#[must_use]
pub fn built_files(settings: &SiteSettings, source: &str) -> Option<Vec<String>> {
    script_of(source)?;
    let page = page_file(settings, source)?;
    // A translation into the default locale never replaces a script's page.
    if source_in(settings, &page, &page.locale) != source {
        return None;
    }
    let url = url_of(settings, &page, &page.locale);
    let base = settings.locale_base_url(&page.locale);
    let route = url.strip_prefix(&base).unwrap_or_default();
    // Docusaurus builds a locale into a folder of its name, unless the locale's base URL sets another.
    let folder = match base.strip_prefix(&settings.base_url) {
        Some(folder) => folder.to_owned(),
        None => format!("{}/", page.locale),
    };
    let route = route.trim_end_matches('/');
    if route.is_empty() {
        return Some(vec![format!("{folder}index.html")]);
    }
    Some(vec![
        format!("{folder}{route}/index.html"),
        format!("{folder}{route}.html"),
    ])
}

/// Reads the HTML of a page.
///
/// # Errors
/// A [`SkipReason`]: this page is not indexed; other pages are not affected.
pub(super) fn read_built_page(
    settings: &SiteSettings,
    site: &str,
    page: &PageFile,
    bytes: &[u8],
    inputs: &Inputs,
) -> Result<Document, SkipReason> {
    let html = decode(bytes)?;
    let head = Head::read(&html);
    let names = page_names(
        settings.instance(&page.instance),
        &page.relative,
        &FrontMatter::default(),
    );
    let (url, file_url, fallback_urls) = if settings.is_build {
        let url = site::url_of(settings, page, &head, inputs)?;
        (
            url,
            site::url_of_file(settings, &page.source),
            BTreeMap::new(),
        )
    } else {
        let url = url_of(settings, page, &page.locale);
        let fallback_urls = fallback_urls(settings, page, &names.slug, inputs);
        (url.clone(), url, fallback_urls)
    };
    let address = Address {
        url: &url,
        file: &file_url,
    };
    let content = read_content(&html, address);
    if content.headings() > MAX_HEADINGS {
        return Err(SkipReason::TooManyHeadings);
    }
    let heading = settings
        .is_build
        .then(|| first_title(&content.blocks))
        .flatten();
    let title = heading.or_else(|| title_of(&head.title, &content, settings.title.as_deref()));
    let title = shortened_title(&title.unwrap_or(names.title));
    Ok(Document {
        id: document_id(site, &page.source),
        fallback_urls,
        url,
        file: page.clone(),
        title,
        front_matter: FrontMatter {
            description: head.description,
            ..FrontMatter::default()
        },
        date: None,
        placement: Placement::default(),
        blocks: content.blocks,
        omissions: content.omissions,
        warnings: Vec::new(),
    })
}

fn url_of(settings: &SiteSettings, page: &PageFile, locale: &str) -> String {
    let instance = settings.instance(&page.instance);
    let names = page_names(instance, &page.relative, &FrontMatter::default());
    page_url(settings, page, locale, &names.slug)
}

/// Returns the page's title: that of the HTML head without the site's title, which Docusaurus appends; else the first heading of level 1; else the
/// site's title.
fn title_of(whole: &str, content: &Content, site: Option<&str>) -> Option<String> {
    let own = site
        .and_then(|site| before_site(whole, site))
        .unwrap_or(whole);
    let titles = [
        Some(own.to_owned()),
        first_title(&content.blocks),
        Some(whole.to_owned()),
    ];
    let mut titles = titles.into_iter().flatten();
    titles.find(|title| !title.is_empty())
}

/// Returns the part of a title before the site's title and the `titleDelimiter`. Empty if it is only the site's title; `None` without the delimiter,
/// because the page's own title may end with the site's.
fn before_site<'a>(whole: &'a str, site: &str) -> Option<&'a str> {
    let before = whole.strip_suffix(site)?.trim_end();
    let own = before.trim_end_matches(|c: char| !c.is_alphanumeric() && !c.is_whitespace());
    let has_delimiter = own.len() < before.len();
    (has_delimiter || before.is_empty()).then(|| own.trim_end())
}
