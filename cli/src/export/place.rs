//! Paths of exported files in the folder of the built site, and their URLs.

use bookrag::api::encoded_path;
use bookrag::book::{SiteSettings, decoded_url};

use super::Export;

/// The path and URL of an exported file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExportPath {
    /// The path relative to the export's folder.
    pub(super) file: String,
    /// The path of its URL, percent-encoded.
    pub(super) url: String,
}

/// The folders and base URLs of a site's locales.
pub(super) struct Places<'a> {
    settings: &'a SiteSettings,
    /// The URL of the export's folder, with leading and trailing slashes.
    root: String,
}

impl<'a> Places<'a> {
    pub(super) fn new(export: &Export<'a>) -> Self {
        let settings = export.settings;
        let locale = export.locale.unwrap_or(&settings.default_locale);
        Self {
            settings,
            root: settings.locale_base_url(locale),
        }
    }

    /// Returns the place of a file, given its path below the locale's base URL.
    pub(super) fn of(&self, locale: &str, name: &str) -> ExportPath {
        let base = self.settings.locale_base_url(locale);
        // Docusaurus builds a locale into a folder of its name, unless its base URL says otherwise.
        let folder = match base.strip_prefix(&self.root) {
            Some(folder) => folder.to_owned(),
            None => format!("{locale}/"),
        };
        ExportPath {
            file: format!("{folder}{name}"),
            url: encoded_path(&format!("{base}{name}")),
        }
    }

    /// Returns the place of a page's Markdown: its URL with `.md` appended, or `index.md` after a trailing slash. `None` if that is not
    /// a valid path.
    pub(super) fn of_page(&self, locale: &str, url: &str) -> Option<ExportPath> {
        let base = decoded_url(&self.settings.locale_base_url(locale));
        let url = decoded_url(url);
        let name = match url.strip_prefix(&base) {
            Some(name) => name,
            None if format!("{url}/") == base => "",
            None => return None,
        };
        let name = match name {
            "" => "index.md".to_owned(),
            name if name.ends_with('/') => format!("{name}index.md"),
            name => format!("{name}.md"),
        };
        is_path(&name).then(|| self.of(locale, &name))
    }
}

/// The most bytes of a file's name, on most file systems.
const MAX_NAME: usize = 255;

/// True for a relative path that stays in its folder on every system, and whose names are not too long for one.
pub(super) fn is_path(path: &str) -> bool {
    path.split('/').all(is_name)
}

fn is_name(name: &str) -> bool {
    !matches!(name, "" | "." | "..")
        && !name.contains(|c: char| c.is_control() || matches!(c, '\\' | ':'))
        && name.len() <= MAX_NAME
}
