//! Determines which files of a site are pages.

use std::collections::BTreeSet;

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
    let is_readable = extensions.iter().any(|it| relative.ends_with(it));
    if !is_readable || private_name(source).is_some() || !docs.includes(relative) {
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

/// Returns the pages among the paths of a site, in path order. Omits translations of missing pages, and pages replaced by the default
/// locale's own translation.
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
        .filter(|page| {
            paths.contains(&default_source(settings, page))
                && own_translation(settings, page).is_none_or(|path| !paths.contains(&path))
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

/// Returns the file that replaces a page if it exists: the default locale may have translations too.
#[must_use]
pub fn own_translation(settings: &SiteSettings, page: &PageFile) -> Option<String> {
    let translations = page.locale == settings.default_locale
        && settings.locales.len() > 1
        && settings.translates(&page.locale);
    let path = translated_source(settings, page, &settings.default_locale);
    (translations && path != page.source).then_some(path)
}

/// Returns the default locale's file that a page translates; its own path for a page of that locale.
#[must_use]
pub fn default_source(settings: &SiteSettings, page: &PageFile) -> String {
    source_in(settings, page, &settings.default_locale)
}

/// Returns the path of a page's file in a locale.
#[must_use]
pub fn source_in(settings: &SiteSettings, page: &PageFile, locale: &str) -> String {
    if locale != settings.default_locale {
        return translated_source(settings, page, locale);
    }
    let docs = settings.instance(&page.instance);
    let folder = if page.version == CURRENT_VERSION {
        docs.path.clone()
    } else {
        let folder = docs.versions_folder().unwrap_or_default();
        format!("{folder}/version-{}", page.version)
    };
    if folder.is_empty() {
        page.relative.clone()
    } else {
        format!("{folder}/{}", page.relative)
    }
}

fn translated_source(settings: &SiteSettings, page: &PageFile, locale: &str) -> String {
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
        let known =
            settings.translates(locale) && (locale != default || settings.locales.len() > 1);
        let (docs, rest) = in_folder_of(settings, rest, |it| Some(it.translations_folder()))?;
        let (version, relative) = match docs.kind {
            ContentKind::Pages | ContentKind::Blog => (CURRENT_VERSION, rest),
            ContentKind::Docs => match rest.split_once('/')? {
                (CURRENT_VERSION, relative) => (CURRENT_VERSION, relative),
                (folder, relative) => (known_version(docs, folder)?, relative),
            },
        };
        return known.then_some(PagePath {
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
        let has_it = docs.current_version && docs.includes(relative);
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

    /// A site with two docs instances, one of which has folders inside the other's.
    fn two_instances() -> SiteSettings {
        let config = "module.exports={baseUrl:'/',i18n:{defaultLocale:'en',locales:['en','ur']},presets:['classic'],
            plugins:[['@docusaurus/plugin-content-docs',{id:'api',path:'docs/api',exclude:['own/**']}]]}";
        let files = [
            ("docusaurus.config.js", config),
            ("versions.json", "[\"1.0\"]"),
            ("api_versions.json", "[\"2.0\"]"),
        ];
        let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
        SiteSettings::read(&files.into(), true).expect("the settings can be read")
    }

    #[test]
    fn a_path_is_a_page_of_the_instance_whose_folder_it_is_in() {
        let settings = two_instances();
        let translations = "i18n/ur/docusaurus-plugin-content-docs";
        for (source, expected) in [
            ("docs/a.md", Some(("default", "en", "current", "a.md"))),
            ("docs/api/a.md", Some(("api", "en", "current", "a.md"))),
            (
                "docs/api/own/a.md",
                Some(("default", "en", "current", "api/own/a.md")),
            ),
            (
                "docs/apis/a.md",
                Some(("default", "en", "current", "apis/a.md")),
            ),
            (
                "versioned_docs/version-1.0/a.md",
                Some(("default", "en", "1.0", "a.md")),
            ),
            ("versioned_docs/version-2.0/a.md", None),
            (
                "api_versioned_docs/version-2.0/b/a.md",
                Some(("api", "en", "2.0", "b/a.md")),
            ),
            ("api_versioned_docs/version-1.0/a.md", None),
            ("other_versioned_docs/version-1.0/a.md", None),
            (
                &format!("{translations}/version-1.0/a.md"),
                Some(("default", "ur", "1.0", "a.md")),
            ),
            (
                &format!("{translations}-api/current/a.md"),
                Some(("api", "ur", "current", "a.md")),
            ),
            (
                &format!("{translations}-api/version-2.0/a.md"),
                Some(("api", "ur", "2.0", "a.md")),
            ),
            (&format!("{translations}-api/version-1.0/a.md"), None),
            (&format!("{translations}-other/current/a.md"), None),
        ] {
            let page = page_file(&settings, source);
            let place = page.as_ref().map(|page| {
                let PageFile {
                    instance,
                    locale,
                    version,
                    relative,
                    ..
                } = page;
                (
                    instance.as_str(),
                    locale.as_str(),
                    version.as_str(),
                    relative.as_str(),
                )
            });
            assert_eq!(place, expected, "{source}");
            if let Some(page) = page {
                assert_eq!(source_in(&settings, &page, &page.locale), source);
            }
        }
    }

    #[test]
    fn folders_of_each_instance_may_hold_pages() {
        let settings = two_instances();
        for folder in [
            "docs/api/",
            "api_versioned_docs/version-2.0/",
            "api_versioned_docs/",
        ] {
            assert!(may_hold_pages(&settings, folder), "{folder}");
        }
        assert!(!may_hold_pages(&settings, "other_versioned_docs/"));
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

    #[test]
    fn pages_and_posts_are_files_of_their_folders() {
        let config =
            "module.exports={presets:['classic'],i18n:{defaultLocale:'en',locales:['en','ur']}}";
        let files = [("docusaurus.config.js".to_owned(), config.to_owned())];
        let settings = SiteSettings::read(&files.into(), true).unwrap();
        let pages = "i18n/ur/docusaurus-plugin-content-pages";
        let blog = "i18n/ur/docusaurus-plugin-content-blog";
        for (source, expected) in [
            ("src/pages/faq.md", "pages en faq.md"),
            ("src/pages/a/index.mdx", "pages en a/index.mdx"),
            (&format!("{pages}/a/index.mdx"), "pages ur a/index.mdx"),
            (&format!("{pages}/current.md"), "pages ur current.md"),
            ("blog/2024/05/03/a.md", "blog en 2024/05/03/a.md"),
            (
                &format!("{blog}/2024-05-03-a.md"),
                "blog ur 2024-05-03-a.md",
            ),
        ] {
            let page = page_file(&settings, source).unwrap();
            let kind = settings.instance(&page.instance).kind.name();
            let place = format!("{kind} {} {}", page.locale, page.relative);
            assert_eq!(place, expected, "{source}");
            assert_eq!(source_in(&settings, &page, &page.locale), source);
            assert_eq!(page.version_in_site(), format!("{kind}/default@current"));
        }
        for source in [
            "src/pages/_hidden.md",
            "src/pages/index.js",
            "src/components/a.md",
            "blog/_hidden.md",
            "blog/authors.yml",
            "blogs/a.md",
            &format!("{pages}-other/faq.md"),
            &format!("{blog}-other/a.md"),
        ] {
            assert_eq!(page_file(&settings, source), None, "{source}");
        }
        for folder in ["src/", "src/pages/a/", "blog/", "blog/2024/"] {
            assert!(may_hold_pages(&settings, folder), "{folder}");
        }
        assert!(!may_hold_pages(&settings, "src/theme/"));
    }
}
