//! A build that a site has in addition to its sources: the pages that only the build has, and those that it should have.

use std::collections::BTreeSet;

use super::url_of_file;
use crate::build_paths::HTML;
use crate::decoding::decode;
use crate::front_matter::{FrontMatter, split_front_matter};
use crate::pages::{PageFile, below, is_original, page_file};
use crate::paths::decoded_url;
use crate::permalink::{page_names, page_url};
use crate::settings::{CURRENT_VERSION, ContentKind, SiteSettings};

/// The extensions of files that Docusaurus runs to make pages.
const SCRIPTS: [&str; 4] = [".js", ".jsx", ".ts", ".tsx"];

/// Returns the URLs at which a site shows the page in a source file, in a form that all equal ones share. Empty if the file cannot be parsed: then
/// only the build can have the page.
#[must_use]
pub fn urls_of_source(settings: &SiteSettings, page: &PageFile, bytes: &[u8]) -> BTreeSet<String> {
    let text = decode(bytes).ok();
    let split = text.as_deref().map(split_front_matter);
    let Some(Ok(split)) = split else {
        return BTreeSet::new();
    };
    let instance = settings.instance(&page.instance);
    let names = page_names(instance, &page.relative, &split.front_matter);
    settings
        .locales
        .iter()
        // Locales without a translation show the original.
        .filter(|locale| **locale == page.locale || is_original(settings, page))
        .map(|locale| shared_form(&page_url(settings, page, locale, &names.slug)))
        .collect()
}

/// Returns the URL of a page's file in the build, in the form of [`urls_of_source`].
#[must_use]
pub fn url_in_build(settings: &SiteSettings, page: &PageFile) -> String {
    // The names of files may be those of encoded URLs.
    shared_form(&decoded_url(&url_of_file(settings, page)))
}

/// Returns the files that Docusaurus runs to make pages and whose HTML is not among the paths, in path order. Their text is unknown.
#[must_use]
pub fn list_script_pages<'a>(settings: &SiteSettings, paths: &'a BTreeSet<String>) -> Vec<&'a str> {
    let built: BTreeSet<String> = paths
        .iter()
        .filter_map(|path| page_file(settings, path))
        .filter(|page| settings.instance(&page.instance).is_built)
        .map(|page| url_in_build(settings, &page))
        .collect();
    paths
        .iter()
        .map(String::as_str)
        .filter(|path| script_url(settings, path).is_some_and(|url| !built.contains(&url)))
        .collect()
}

/// Returns the URL of the page that Docusaurus makes by running a script, in the form of [`urls_of_source`]; `None` for other files.
pub(in super::super) fn script_url(settings: &SiteSettings, path: &str) -> Option<String> {
    if !SCRIPTS.iter().any(|extension| path.ends_with(extension)) {
        return None;
    }
    let mut plugins = settings.instances.iter();
    let (plugin, relative) = plugins.find_map(|it| {
        let relative = below(path, &it.path)?;
        let is_page = it.kind == ContentKind::Pages && !it.is_built && it.includes(relative);
        is_page.then_some((it, relative))
    })?;
    let page = PageFile {
        source: path.to_owned(),
        instance: plugin.id.clone(),
        locale: settings.default_locale.clone(),
        version: CURRENT_VERSION.to_owned(),
        relative: relative.to_owned(),
    };
    let names = page_names(plugin, relative, &FrontMatter::default());
    let url = page_url(settings, &page, &page.locale, &names.slug);
    Some(shared_form(&url))
}

/// Returns the decoded part of a URL path that all of its forms share.
fn shared_form(url: &str) -> String {
    same_url(&decoded_url(url)).to_owned()
}

/// Returns the part of a URL path that all of its forms share: hosts show `a.html` and `a/index.html` at `a`, too.
pub(super) fn same_url(path: &str) -> &str {
    let path = path.strip_suffix("/index.html").unwrap_or(path);
    let path = path.strip_suffix(HTML).unwrap_or(path);
    path.trim_end_matches('/')
}
