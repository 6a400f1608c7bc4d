//! Determines which files of a site are pages.

use std::collections::BTreeSet;
use std::iter;

use crate::build_paths::{HTML, place_in_build};
use crate::paths::{is_outside, private_name};
use crate::settings::{CURRENT_VERSION, ContentKind, Instance, SiteSettings, version_in_site};

/// A file from which Docusaurus makes a page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageFile {
    /// The path relative to the site: `docs/a/b.md`, or `../docs/a/b.md` for docs beside the site's folder.
    pub source: String,
    /// The id of the page's instance.
    pub instance: String,
    /// The locale of the text.
    pub locale: String,
    /// The version: `current`, or a name in the instance's `versions.json`.
    pub version: String,
    /// The path below the version's root: `a/b.md`.
    pub relative: String,
}

impl PageFile {
    /// True if the page is read from HTML. Its lines are then those of its text, which are of no use to a person.
    #[must_use]
    pub fn is_html(&self) -> bool {
        self.source.ends_with(HTML)
    }

    /// Returns the version's name in the whole site, as stored with documents and chunks.
    #[must_use]
    pub fn version_in_site(&self) -> String {
        version_in_site(&self.instance, &self.version)
    }
}

struct PagePath<'a> {
    docs: &'a Instance,
    locale: &'a str,
    version: &'a str,
    relative: &'a str,
}

/// The names of files with the settings of a folder, in Docusaurus's order.
pub(super) const CATEGORY_FILES: [&str; 3] =
    ["_category_.json", "_category_.yml", "_category_.yaml"];

/// True for a path, relative to the root of a docs version, with the settings of a folder in it. They may [make a page](super::makes_page).
#[must_use]
pub fn is_category_path(relative: &str) -> bool {
    let name = relative.rsplit_once('/').map(|(_, name)| name);
    name.is_some_and(|name| CATEGORY_FILES.contains(&name))
}

/// Parses a path as a page's locale, version and place, whether or not the file exists. `None` if it cannot be a page.
#[must_use]
pub fn page_file(settings: &SiteSettings, source: &str) -> Option<PageFile> {
    let place = locate(settings, source)?;
    let PagePath { docs, relative, .. } = place;
    if place.version == CURRENT_VERSION && !docs.current_version {
        return None;
    }
    let extensions: &[&str] = if docs.is_built {
        &[HTML]
    } else {
        &[".md", ".mdx"]
    };
    let is_page = extensions.iter().any(|it| relative.ends_with(it));
    // The translations of a folder's settings are in another file.
    let is_original = below(source, &settings.i18n_path).is_none();
    let is_readable = is_page || (is_original && is_category_of(docs, relative));
    if !is_readable || private_name(source).is_some() || !shows(docs, relative) {
        return None;
    }
    Some(PageFile {
        source: source.to_owned(),
        instance: docs.id.clone(),
        locale: place.locale.to_owned(),
        version: place.version.to_owned(),
        relative: relative.to_owned(),
    })
}

/// Returns the pages among the paths of a site, in path order, each with the first locale that [shows](shown_in) it. Omits translations of missing
/// pages, and pages that every locale has translated.
#[must_use]
pub fn list_pages(settings: &SiteSettings, paths: &BTreeSet<String>) -> Vec<PageFile> {
    pages_among(settings, paths).collect()
}

/// Like [`list_pages`], one page after the other: a book may have more pages than should be in memory at once.
pub fn pages_among<'a>(
    settings: &'a SiteSettings,
    paths: &'a BTreeSet<String>,
) -> impl Iterator<Item = PageFile> + Send + 'a {
    paths
        .iter()
        .filter_map(|path| page_file(settings, path))
        .filter(|page| paths.contains(&default_source(settings, page)))
        .filter_map(|page| {
            let locale = shown_in(settings, &page, |path| paths.contains(path)).next()?;
            let locale = locale.to_owned();
            Some(PageFile { locale, ..page })
        })
}

/// True if a folder, whose path ends in `/`, may contain pages at any depth.
#[must_use]
pub fn may_hold_pages(settings: &SiteSettings, folder: &str) -> bool {
    let mut roots = Vec::new();
    if settings.locales.len() > 1 {
        roots.push(format!("{}/", settings.i18n_path));
    }
    let versioned = settings
        .instances
        .iter()
        .filter(|docs| !docs.versions.is_empty());
    let folders = versioned.filter_map(Instance::versions_folder);
    roots.extend(folders.map(|folder| format!("{folder}/")));
    let mut docs = settings.instances.iter();
    let mut names = ["page.md", "page.html"].iter();
    names.any(|name| page_file(settings, &format!("{folder}{name}")).is_some())
        || docs.any(|docs| format!("{}/", docs.path).starts_with(folder))
        || roots
            .iter()
            .any(|root| root.starts_with(folder) || folder.starts_with(root))
}

/// Returns the locales that show a page's file: a translation is shown in its own locale, an original in each locale without a translation, which may
/// leave out the default one. The text is stored in the first. `exists` is true for the paths of files.
pub fn shown_in<'a>(
    settings: &'a SiteSettings,
    page: &'a PageFile,
    exists: impl Fn(&str) -> bool + 'a,
) -> impl Iterator<Item = &'a str> {
    let is_original = is_original(settings, page);
    let own = (!is_original).then_some(page.locale.as_str());
    let default = settings.default_locale.as_str();
    let others = settings.locales.iter().map(String::as_str);
    let locales = iter::once(default).chain(others.filter(move |locale| *locale != default));
    let untranslated = locales.filter(move |locale| {
        let has_translation =
            settings.translates(locale) && exists(&translated_source(settings, page, locale));
        is_original && !has_translation
    });
    own.into_iter().chain(untranslated)
}

/// True for the file of a source that translations replace.
pub(super) fn is_original(settings: &SiteSettings, page: &PageFile) -> bool {
    let is_built = settings.instance(&page.instance).is_built;
    !is_built && page.source == default_source(settings, page)
}

/// Returns the default locale's file that a page translates; its own path for a page of that locale.
#[must_use]
pub fn default_source(settings: &SiteSettings, page: &PageFile) -> String {
    let docs = settings.instance(&page.instance);
    let folder = match docs.version_folder(&page.version) {
        Some(folder) if page.version != CURRENT_VERSION => folder,
        _ => docs.path.clone(),
    };
    if folder.is_empty() {
        page.relative.clone()
    } else {
        format!("{folder}/{}", page.relative)
    }
}

/// Returns the paths that translations of a page have, one for each locale whose translations are used.
pub fn translations<'a>(
    settings: &'a SiteSettings,
    page: &'a PageFile,
) -> impl Iterator<Item = String> + 'a {
    settings
        .locales
        .iter()
        .filter(|locale| settings.translates(locale))
        .map(|locale| translated_source(settings, page, locale))
}

/// Returns the path of a page's translation; that of the page itself in a build.
pub(super) fn translated_source(settings: &SiteSettings, page: &PageFile, locale: &str) -> String {
    let docs = settings.instance(&page.instance);
    // In a build, each page stands for itself.
    if docs.is_built {
        return page.source.clone();
    }
    let version = if page.version == CURRENT_VERSION {
        CURRENT_VERSION.to_owned()
    } else {
        format!("version-{}", page.version)
    };
    let (folder, plugin) = (settings.locale_folder(locale), docs.translations_folder());
    match docs.kind {
        ContentKind::Docs => format!("{folder}/{plugin}/{version}/{}", page.relative),
        ContentKind::Pages | ContentKind::Blog => format!("{folder}/{plugin}/{}", page.relative),
    }
}

/// Locates a path in the folders of translations, of versions, or of the docs themselves.
fn locate<'a>(settings: &'a SiteSettings, source: &'a str) -> Option<PagePath<'a>> {
    let default = settings.default_locale.as_str();
    let mut builds = settings.instances.iter().filter(|it| it.is_built);
    let built = builds.find_map(|docs| Some((docs, below(source, &docs.path)?)));
    if let Some((docs, relative)) = built {
        return Some(PagePath {
            docs,
            locale: place_in_build(settings, relative).0,
            version: CURRENT_VERSION,
            relative,
        });
    }
    let translations = format!("{}/", settings.i18n_path);
    if source.starts_with(&translations) {
        let (locale, rest) = settings.locales.iter().find_map(|locale| {
            let rest = below(source, &settings.locale_folder(locale))?;
            Some((locale.as_str(), rest))
        })?;
        let (docs, rest) = in_folder_of(settings, rest, |it| Some(it.translations_folder()))?;
        let (version, relative) = match docs.kind {
            ContentKind::Pages | ContentKind::Blog => (CURRENT_VERSION, rest),
            ContentKind::Docs => match rest.split_once('/')? {
                (CURRENT_VERSION, relative) => (CURRENT_VERSION, relative),
                (folder, relative) => (known_version(docs, folder)?, relative),
            },
        };
        return settings.translates(locale).then_some(PagePath {
            docs,
            locale,
            version,
            relative,
        });
    }
    if let Some((docs, rest)) = in_folder_of(settings, source, Instance::versions_folder) {
        let (folder, relative) = rest.split_once('/')?;
        return Some(PagePath {
            docs,
            locale: default,
            version: known_version(docs, folder)?,
            relative,
        });
    }
    // Of nested folders, the innermost whose docs include the page; of equal ones the first.
    let places = settings.instances.iter().rev().filter_map(|docs| {
        let relative = below(source, &docs.path)?;
        let has_it = docs.current_version && shows(docs, relative);
        has_it.then_some((docs, relative))
    });
    let (docs, relative) = places.max_by_key(|(docs, _)| docs.path.len())?;
    Some(PagePath {
        docs,
        locale: default,
        version: CURRENT_VERSION,
        relative,
    })
}

/// Finds the instance whose `folder` contains a path. Returns the path below that folder as well.
fn in_folder_of<'a>(
    settings: &'a SiteSettings,
    path: &'a str,
    folder: impl Fn(&Instance) -> Option<String>,
) -> Option<(&'a Instance, &'a str)> {
    let mut docs = settings.instances.iter();
    docs.find_map(|docs| Some((docs, below(path, &folder(docs)?)?)))
}

/// True for the settings of a folder of docs.
fn is_category_of(docs: &Instance, relative: &str) -> bool {
    docs.kind == ContentKind::Docs && !docs.is_built && is_category_path(relative)
}

/// True if a plugin shows the file at a path below its version's root. The settings of a folder are shown where its pages are.
fn shows(docs: &Instance, relative: &str) -> bool {
    match relative.rsplit_once('/') {
        Some((folder, _)) if is_category_of(docs, relative) => {
            docs.includes(&format!("{folder}/page.md"))
        }
        _ => docs.includes(relative),
    }
}

/// Returns the part of a path below a folder; an empty folder is the site's root.
pub(super) fn below<'a>(path: &'a str, folder: &str) -> Option<&'a str> {
    match folder {
        "" => (!is_outside(path)).then_some(path),
        folder => path.strip_prefix(folder)?.strip_prefix('/'),
    }
}

fn known_version<'a>(docs: &'a Instance, folder: &str) -> Option<&'a str> {
    let name = folder.strip_prefix("version-")?;
    docs.versions
        .iter()
        .map(String::as_str)
        .find(|version| *version == name)
}

#[cfg(test)]
mod tests;
