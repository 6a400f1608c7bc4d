//! The place of an HTML file in the built site, and whether it is a page of the book.

use crate::build_paths::{HTML, INDEX, place_in_build};
use crate::decoding::decode;
use crate::inputs::{Inputs, content_of};
use crate::pages::{PageFile, page_file};
use crate::paths::{decoded_url, path_of_address, url_of_path};
use crate::settings::SiteSettings;
use crate::skip_reason::SkipReason;
use crate::webpage::Head;

use super::beside::same_url;

/// Returns the URL path of a page: its canonical one if that is its own, else that of its file.
///
/// # Errors
/// If the file is only a part of a page, or the page asks not to be found, or is a redirect, a search page, a set of frames, or a copy of another page of the site.
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
    if head.is_frameset {
        return Err(SkipReason::Frameset);
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

/// Returns the file that hosts may show at the address of a page, too: `a/index.html` for `a.html`. Some generators write each page to both.
pub(crate) fn twin_file(page: &PageFile) -> Option<String> {
    let bare = page.source.strip_suffix(HTML)?;
    let is_index = page.source.rsplit('/').next() == Some(INDEX);
    (!is_index).then(|| format!("{bare}/{INDEX}"))
}

/// Returns the other file of a page's address and its HTML, if that is a page, too.
pub(super) fn twin_page(
    settings: &SiteSettings,
    page: &PageFile,
    inputs: &Inputs,
) -> Option<(String, String)> {
    let file = twin_file(page)?;
    let html = decode(content_of(inputs, &file)?).ok()?;
    let twin = page_file(settings, &file)?;
    let is_page = url_of(settings, &twin, &Head::read(&html), inputs).is_ok();
    is_page.then_some((file, html))
}

/// Returns the path of the canonical address, in the form of all URLs of built pages: decoded as far as that keeps its meaning.
fn canonical_path(head: &Head) -> Option<String> {
    let address = head.canonical.as_deref()?;
    Some(url_of_path(&decoded_url(&path_of_address(address)?)))
}

/// Returns the files that a host may show at a URL path, in the build of a page.
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
