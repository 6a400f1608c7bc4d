//! The place of an HTML file in the built site, and whether it is a page of the book.

use crate::document::SkipReason;
use crate::inputs::{Inputs, content_of};
use crate::pages::PageFile;
use crate::paths::{decoded_url, url_of_path};
use crate::settings::SiteSettings;
use crate::webpage::Head;

use super::HTML;
use super::beside::same_url;

/// The file that a folder's URL shows.
const INDEX: &str = "index.html";

/// Returns the URL path of a page: its canonical one if that is its own, else that of its file.
///
/// # Errors
/// If the file is only a part of a page, or the page asks not to be found, or is a redirect, a search page, or a copy of another page of the site.
pub(super) fn url_of(
    settings: &SiteSettings,
    page: &PageFile,
    head: &Head,
    inputs: &Inputs,
) -> Result<String, SkipReason> {
    if head.is_redirect {
        return Err(SkipReason::Redirect);
    }
    if head.is_noindex {
        return Err(SkipReason::NoIndex);
    }
    if head.is_finder {
        return Err(SkipReason::Finder);
    }
    if head.title.is_empty() {
        return Err(SkipReason::Untitled);
    }
    let own = url_of_file(settings, page);
    let Some(canonical) = canonical_path(head) else {
        return Ok(own);
    };
    if same_url(&canonical) == same_url(&own) {
        return Ok(canonical);
    }
    let original = files_at(settings, page, &canonical)
        .into_iter()
        .find(|file| content_of(inputs, file).is_some());
    original.map_or(Ok(own), |original| Err(SkipReason::Copy(original)))
}

/// Returns the locale of a file at a path in the build, and its URL path: `/book/a/` for `a/index.html`, `/book/a.html` for `a.html`.
pub(crate) fn place_in_build<'a>(settings: &'a SiteSettings, relative: &str) -> (&'a str, String) {
    let folders = settings.locales.iter();
    let folders = folders.map(|locale| (locale, locale_folder(settings, locale)));
    let around = folders.filter(|(_, folder)| relative.starts_with(folder));
    let innermost = around.max_by_key(|(_, folder)| folder.len());
    let (locale, folder) = innermost.unwrap_or((&settings.default_locale, String::new()));
    let path = &relative[folder.len()..];
    let is_index = path == INDEX || path.ends_with("/index.html");
    let path = path
        .strip_suffix(INDEX)
        .filter(|_| is_index)
        .unwrap_or(path);
    (
        locale,
        settings.locale_base_url(locale) + &url_of_path(path),
    )
}

/// Returns the folders of locales in the build, `de/`, and of the default one, which is empty.
#[must_use]
pub fn locale_folders(settings: &SiteSettings) -> Vec<String> {
    let locales = settings.locales.iter();
    locales
        .map(|locale| locale_folder(settings, locale))
        .collect()
}

/// The folder of a locale in the build. It has the locale's name, unless the locale's base URL sets another.
fn locale_folder(settings: &SiteSettings, locale: &str) -> String {
    let base = settings.locale_base_url(locale);
    match base.strip_prefix(&settings.base_url) {
        Some(folder) => folder.to_owned(),
        None => format!("{locale}/"),
    }
}

/// Returns the URL path of a page's file.
pub(crate) fn url_of_file(settings: &SiteSettings, page: &PageFile) -> String {
    place_in_build(settings, &page.relative).1
}

/// Returns the files of the site that may be the page of which the HTML in `bytes` is a copy. Empty if it is no copy.
pub(crate) fn canonical_files(settings: &SiteSettings, page: &PageFile, html: &str) -> Vec<String> {
    let own = url_of_file(settings, page);
    let canonical = canonical_path(&Head::read(html));
    let other = canonical.filter(|canonical| same_url(canonical) != same_url(&own));
    other.map_or_else(Vec::new, |canonical| files_at(settings, page, &canonical))
}

/// The path of the canonical address, in the form of all URLs of built pages: decoded as far as that keeps its meaning.
fn canonical_path(head: &Head) -> Option<String> {
    let address = head.canonical.as_deref()?;
    Some(url_of_path(&decoded_url(&path_of(address)?)))
}

/// Returns the path of an address on the web, or of one from the root of the site's host, without its query and fragment.
pub(crate) fn path_of(address: &str) -> Option<String> {
    let rest = address
        .strip_prefix("https://")
        .or_else(|| address.strip_prefix("http://"));
    let path = match rest {
        Some(rest) => rest.find('/').map_or("/", |slash| &rest[slash..]),
        None => address,
    };
    let path = path.split(['?', '#']).next().unwrap_or_default();
    path.starts_with('/').then(|| path.to_owned())
}

/// The files that a host may show at a URL path, in the build of a page.
fn files_at(settings: &SiteSettings, page: &PageFile, path: &str) -> Vec<String> {
    let Some(below) = path.strip_prefix(&settings.base_url) else {
        return Vec::new();
    };
    let below = decoded_url(below);
    let bare = below.trim_end_matches('/');
    let files = match bare {
        "" => vec![INDEX.to_owned()],
        file if file.ends_with(HTML) => vec![file.to_owned()],
        _ => vec![format!("{bare}/{INDEX}"), format!("{bare}.html")],
    };
    let build = page.source.strip_suffix(&page.relative).unwrap_or_default();
    files.iter().map(|file| format!("{build}{file}")).collect()
}
