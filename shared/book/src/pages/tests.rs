//! Tests of which files are pages.

use super::*;
use crate::reader::read_document;
use std::collections::BTreeMap;

#[test]
fn pages_are_the_files_docusaurus_takes() {
    let files = BTreeMap::from([
        (
            "docusaurus.config.js".to_owned(),
            "module.exports={baseUrl:'/',i18n:{defaultLocale:'en',locales:['en','ur']}}".to_owned(),
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
            assert_eq!(own_source(&settings, &page), source);
        }
    }
}

/// Returns the path that a page has by its place.
fn own_source(settings: &SiteSettings, page: &PageFile) -> String {
    if page.locale == settings.default_locale {
        default_source(settings, page)
    } else {
        translated_source(settings, page, &page.locale)
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
            "module.exports={baseUrl:'/',i18n:{defaultLocale:'en',locales:['en','ur']}}".to_owned(),
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
        assert_eq!(own_source(&settings, &page), source);
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

/// Returns the pages as locale, URL, and the locales that show them for lack of a translation.
fn shown(settings: &SiteSettings, paths: &BTreeSet<String>) -> BTreeSet<String> {
    list_pages(settings, paths)
        .iter()
        .map(|page| {
            let inputs = settings
                .locales
                .iter()
                .map(|locale| translated_source(settings, page, locale))
                .filter(|path| paths.contains(path))
                .map(|path| (path, Some(Vec::new()).into()));
            let document = read_document(settings, "", page, b"Text.", &inputs.collect());
            let document = document.expect("a page that can be read");
            assert_eq!(document.file.locale, page.locale, "{page:?}");
            let others: Vec<&str> = document.fallback_urls.keys().map(String::as_str).collect();
            format!("{} {} {}", page.locale, document.url, others.join(" "))
        })
        .collect()
}

#[test]
fn a_translation_of_the_default_locale_replaces_nothing_in_others() {
    let config =
        "module.exports={presets:['classic'],i18n:{defaultLocale:'en',locales:['zh','en','de']}}";
    let files = [
        ("docusaurus.config.js", config),
        ("versions.json", "[\"1.0\"]"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    let settings = SiteSettings::read(&files.into(), true).expect("the settings can be read");
    let docs = "docusaurus-plugin-content-docs";
    for (original, translation, url) in [
        ("docs", format!("{docs}/current"), "/docs/next/a"),
        (
            "versioned_docs/version-1.0",
            format!("{docs}/version-1.0"),
            "/docs/a",
        ),
        (
            "blog",
            "docusaurus-plugin-content-blog".to_owned(),
            "/blog/a",
        ),
        (
            "src/pages",
            "docusaurus-plugin-content-pages".to_owned(),
            "/a",
        ),
    ] {
        let mut paths = BTreeSet::from([format!("{original}/a.md")]);
        assert_eq!(shown(&settings, &paths), [format!("en {url} de zh")].into());
        paths.insert(format!("i18n/en/{translation}/a.md"));
        let expected = [format!("zh /zh{url} de"), format!("en {url} ")];
        assert_eq!(shown(&settings, &paths), expected.into());
        paths.insert(format!("i18n/zh/{translation}/a.md"));
        let expected = [
            format!("de /de{url} "),
            format!("en {url} "),
            format!("zh /zh{url} "),
        ];
        assert_eq!(shown(&settings, &paths), expected.into());
        paths.insert(format!("i18n/de/{translation}/a.md"));
        assert!(
            list_pages(&settings, &paths)
                .iter()
                .all(|page| page.source.starts_with("i18n")),
            "{original}"
        );
    }
}
