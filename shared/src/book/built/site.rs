//! A site that is a build: its pages are HTML files of any generator, and their URLs are those of the files.

use percent_encoding::percent_decode_str;

use crate::book::document::{Inputs, SkipReason};
use crate::book::pages::PageFile;
use crate::book::settings::SiteSettings;
use crate::book::webpage::Head;

use super::HTML;

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
    let own = url_of_file(settings, &page.source);
    let Some(canonical) = canonical_path(head) else {
        return Ok(own);
    };
    if is_same_page(&canonical, &own) {
        return Ok(canonical);
    }
    let files = files_at(settings, &canonical);
    let exists = |file: &String| inputs.get(file).is_some_and(Option::is_some);
    match files.iter().find(|file| exists(file)) {
        Some(original) => Err(SkipReason::Copy(original.clone())),
        None => Ok(own),
    }
}

/// Returns the URL path of a file: `/book/a/` for `a/index.html`, `/book/a.html` for `a.html`.
pub(super) fn url_of_file(settings: &SiteSettings, source: &str) -> String {
    let is_index = source == INDEX || source.ends_with("/index.html");
    let path = if is_index {
        source.strip_suffix(INDEX).unwrap_or(source)
    } else {
        source
    };
    format!("{}{path}", settings.base_url)
}

/// Returns the files of the site that may be the page of which the HTML in `bytes` is a copy. Empty if it is no copy.
pub(in crate::book) fn canonical_files(
    settings: &SiteSettings,
    page: &PageFile,
    html: &str,
) -> Vec<String> {
    let own = url_of_file(settings, &page.source);
    let canonical = canonical_path(&Head::read(html));
    let other = canonical.filter(|canonical| !is_same_page(canonical, &own));
    other.map_or_else(Vec::new, |canonical| files_at(settings, &canonical))
}

/// The path of the canonical address, which is not percent-encoded, like all URLs of pages.
fn canonical_path(head: &Head) -> Option<String> {
    let address = head.canonical.as_deref()?;
    let path = path_of(address)?;
    Some(percent_decode_str(&path).decode_utf8_lossy().into_owned())
}

/// Returns the path of an address on the web, or of one from the root of the site's host, without its query and fragment.
pub(in crate::book) fn path_of(address: &str) -> Option<String> {
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

/// True if two URL paths may be those of one file: hosts show `a.html` and `a/index.html` at `a`, too.
fn is_same_page(one: &str, other: &str) -> bool {
    fn bare(path: &str) -> &str {
        let path = path.strip_suffix(INDEX).unwrap_or(path);
        path.strip_suffix(".html")
            .unwrap_or(path)
            .trim_end_matches('/')
    }
    bare(one) == bare(other)
}

/// The files that a host may show at a URL path.
fn files_at(settings: &SiteSettings, path: &str) -> Vec<String> {
    let Some(below) = path.strip_prefix(&settings.base_url) else {
        return Vec::new();
    };
    let bare = below.trim_end_matches('/');
    match bare {
        "" => vec![INDEX.to_owned()],
        file if file.ends_with(HTML) => vec![file.to_owned()],
        _ => vec![format!("{bare}/{INDEX}"), format!("{bare}.html")],
    }
}
