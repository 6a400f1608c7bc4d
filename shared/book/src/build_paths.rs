//! Paths of files in a built site, and their URLs.

use crate::paths::url_of_path;
use crate::settings::SiteSettings;

/// The extension of HTML files.
pub(super) const HTML: &str = ".html";
/// The file that a folder's URL shows.
pub(crate) const INDEX: &str = "index.html";

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

/// Returns the folder of a locale in the build. It has the locale's name, unless the locale's base URL sets another.
fn locale_folder(settings: &SiteSettings, locale: &str) -> String {
    let base = settings.locale_base_url(locale);
    match base.strip_prefix(&settings.base_url) {
        Some(folder) => folder.to_owned(),
        None => format!("{locale}/"),
    }
}
