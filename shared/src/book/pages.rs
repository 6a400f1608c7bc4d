//! Which files of a site are pages.

use std::collections::BTreeSet;

use super::settings::{CURRENT_VERSION, SiteSettings};

/// A file that Docusaurus makes a page of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct PageFile {
    /// The path relative to the site: `docs/a/b.md`.
    pub source: String,
    /// The locale of the text.
    pub locale: String,
    /// The version: `current`, or a name in `versions.json`.
    pub version: String,
    /// The path below the version's root: `a/b.md`.
    pub relative: String,
}

const DOCS_PLUGIN: &str = "docusaurus-plugin-content-docs";

/// Reads a path as a page: its locale, version and place, whether or not the file exists. `None` when it cannot be one.
#[must_use]
pub fn page_file(settings: &SiteSettings, source: &str) -> Option<PageFile> {
    let (locale, version, relative) = locate(settings, source)?;
    if version == CURRENT_VERSION && !settings.current_version {
        return None;
    }
    let name = relative.rsplit('/').next().unwrap_or(relative);
    let markdown = [".md", ".mdx"]
        .iter()
        .any(|extension| name.ends_with(extension));
    let hidden = relative.split('/').any(|part| part.starts_with('.'));
    if !markdown || hidden || !settings.includes(relative) {
        return None;
    }
    Some(PageFile {
        source: source.to_owned(),
        locale: locale.to_owned(),
        version: version.to_owned(),
        relative: relative.to_owned(),
    })
}

/// The pages among the paths of a site, in path order. A translation of a page that does not exist is none, nor is a
/// page that the default locale's own translation stands in for.
#[must_use]
pub fn list_pages(settings: &SiteSettings, paths: &BTreeSet<String>) -> Vec<PageFile> {
    paths
        .iter()
        .filter_map(|path| page_file(settings, path))
        .filter(|page| {
            paths.contains(&default_source(settings, page))
                && own_translation(settings, page).is_none_or(|path| !paths.contains(&path))
        })
        .collect()
}

/// True if pages of the book may be in a folder or below it. Its path ends in `/`.
#[must_use]
pub fn may_hold_pages(settings: &SiteSettings, folder: &str) -> bool {
    let docs = format!("{}/", settings.docs_path);
    let mut others = Vec::new();
    if !settings.versions.is_empty() {
        others.push("versioned_docs/".to_owned());
    }
    if settings.locales.len() > 1 {
        others.push(format!("{}/", settings.i18n_path));
    }
    page_file(settings, &format!("{folder}page.md")).is_some()
        || docs.starts_with(folder)
        || others
            .iter()
            .any(|root| root.starts_with(folder) || folder.starts_with(root))
}

/// The file that stands in for a page when it exists: the default locale may have a folder of translations too.
#[must_use]
pub fn own_translation(settings: &SiteSettings, page: &PageFile) -> Option<String> {
    let translations = page.locale == settings.default_locale
        && settings.locales.len() > 1
        && settings.translates(&page.locale);
    let path = translated_source(settings, page, &settings.default_locale);
    (translations && path != page.source).then_some(path)
}

/// The file of the default locale that a page translates (its own path, for a page of that locale).
#[must_use]
pub fn default_source(settings: &SiteSettings, page: &PageFile) -> String {
    source_in(settings, page, &settings.default_locale)
}

/// The path of a page's file in a locale.
#[must_use]
pub fn source_in(settings: &SiteSettings, page: &PageFile, locale: &str) -> String {
    if locale != settings.default_locale {
        return translated_source(settings, page, locale);
    }
    let folder = if page.version == CURRENT_VERSION {
        settings.docs_path.clone()
    } else {
        format!("versioned_docs/version-{}", page.version)
    };
    if folder.is_empty() {
        page.relative.clone()
    } else {
        format!("{folder}/{}", page.relative)
    }
}

fn translated_source(settings: &SiteSettings, page: &PageFile, locale: &str) -> String {
    let version = if page.version == CURRENT_VERSION {
        CURRENT_VERSION.to_owned()
    } else {
        format!("version-{}", page.version)
    };
    let folder = settings.locale_folder(locale);
    format!("{folder}/{DOCS_PLUGIN}/{version}/{}", page.relative)
}

/// Splits a path in locale, version and the path below the version's root.
fn locate<'a>(settings: &'a SiteSettings, source: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
    let default = settings.default_locale.as_str();
    let translations = format!("{}/", settings.i18n_path);
    if source.starts_with(&translations) {
        let (locale, rest) = settings.locales.iter().find_map(|locale| {
            let folder = settings.locale_folder(locale);
            let rest = source.strip_prefix(&folder)?.strip_prefix('/')?;
            Some((locale.as_str(), rest))
        })?;
        let rest = rest.strip_prefix(DOCS_PLUGIN)?.strip_prefix('/')?;
        let (folder, relative) = rest.split_once('/')?;
        let known =
            settings.translates(locale) && (locale != default || settings.locales.len() > 1);
        let version = if folder == CURRENT_VERSION {
            CURRENT_VERSION
        } else {
            known_version(settings, folder)?
        };
        return known.then_some((locale, version, relative));
    }
    if let Some(rest) = source.strip_prefix("versioned_docs/") {
        let (folder, relative) = rest.split_once('/')?;
        return Some((default, known_version(settings, folder)?, relative));
    }
    let relative = match settings.docs_path.as_str() {
        "" => source,
        folder => source.strip_prefix(folder)?.strip_prefix('/')?,
    };
    Some((default, CURRENT_VERSION, relative))
}

fn known_version<'a>(settings: &'a SiteSettings, folder: &str) -> Option<&'a str> {
    let name = folder.strip_prefix("version-")?;
    settings
        .versions
        .iter()
        .map(String::as_str)
        .find(|version| *version == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn pages_are_the_files_docusaurus_takes() {
        let files = BTreeMap::from([
            (
                "docusaurus.config.js".to_owned(),
                "module.exports={baseUrl:'/',i18n:{defaultLocale:'en',locales:['en','ur']}}"
                    .to_owned(),
            ),
            ("versions.json".to_owned(), "[\"1.0\"]".to_owned()),
        ]);
        let settings = SiteSettings::read(&files, true).unwrap();
        let paths = [
            "docs/a.md",
            "docs/UP.MD",
            "docs/b/_partial.mdx",
            "docs/.dot.md",
            "docs/z.test.md",
            "docs/x.md.backup",
            "blog/post.md",
            "versioned_docs/version-1.0/a.md",
            "versioned_docs/version-0.1/a.md",
            "i18n/ur/docusaurus-plugin-content-docs/current/a.md",
            "i18n/ur/docusaurus-plugin-content-docs/current/only-here.md",
            "i18n/fr/docusaurus-plugin-content-docs/current/a.md",
        ]
        .map(str::to_owned)
        .into();
        let sources: Vec<_> = list_pages(&settings, &paths)
            .into_iter()
            .map(|page| page.source)
            .collect();
        assert_eq!(
            sources,
            [
                "docs/a.md",
                "docs/z.test.md",
                "i18n/ur/docusaurus-plugin-content-docs/current/a.md",
                "versioned_docs/version-1.0/a.md"
            ]
        );
    }

    #[test]
    fn folders_that_may_hold_pages_are_told_from_others() {
        let files = BTreeMap::from([
            (
                "docusaurus.config.js".to_owned(),
                "module.exports={baseUrl:'/',i18n:{defaultLocale:'en',locales:['en','ur']}}"
                    .to_owned(),
            ),
            ("versions.json".to_owned(), "[\"1.0\"]".to_owned()),
        ]);
        let settings = SiteSettings::read(&files, true).expect("the settings can be read");
        for folder in [
            "docs/",
            "docs/a/b/",
            "i18n/",
            "i18n/ur/",
            "versioned_docs/version-1.0/",
        ] {
            assert!(may_hold_pages(&settings, folder), "{folder}");
        }
        for folder in ["data/", "docs/_partials/", "blog/", "documents/"] {
            assert!(!may_hold_pages(&settings, folder), "{folder}");
        }
    }
}
