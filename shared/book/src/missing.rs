//! Folders that a site's settings name but its files lack, and files of other generators.

use std::collections::BTreeSet;

use crate::pages::page_file;
use crate::settings::{CURRENT_VERSION, ContentKind, Instance, MadeFolder, SiteSettings};

/// Files that only sites of other generators have, with the generator's name.
pub const OTHER_GENERATORS: [(&str, &str); 14] = [
    ("mkdocs.yml", "MkDocs"),
    ("mkdocs.yaml", "MkDocs"),
    (".vitepress/config.ts", "VitePress"),
    (".vitepress/config.mts", "VitePress"),
    (".vitepress/config.js", "VitePress"),
    (".vitepress/config.mjs", "VitePress"),
    (".vitepress/config/index.ts", "VitePress"),
    (".vitepress/config/index.js", "VitePress"),
    ("docs/.vitepress/config.ts", "VitePress"),
    ("docs/.vitepress/config.mts", "VitePress"),
    ("docs/.vitepress/config.js", "VitePress"),
    ("docs/.vitepress/config.mjs", "VitePress"),
    ("docs/.vitepress/config/index.ts", "VitePress"),
    ("docs/.vitepress/config/index.js", "VitePress"),
];

/// The end of the name of the plugin that makes pages of API descriptions, and that of the names of these pages. Other pages may be beside them.
const API_PLUGIN: &str = "plugin-openapi-docs";
const API_PAGE: &str = ".api.mdx";

const MARKDOWN: [&str; 2] = [".md", ".mdx"];

/// True for the path of a Markdown file.
#[must_use]
pub fn is_markdown(path: &str) -> bool {
    let mut extensions = MARKDOWN.iter();
    extensions.any(|extension| path.ends_with(extension))
}

/// Returns why readers would see no docs at first: the folder of each docs plugin's default version has no file. `None` if one has files.
#[must_use]
pub fn missing_docs(settings: &SiteSettings, paths: &BTreeSet<String>) -> Option<String> {
    missing_folders(settings, paths).0
}

/// Returns the other versions and docs that the settings name but whose folder has no file, and the folders in which a plugin has not written its pages,
/// as sentences for the site's author. The existing files can be read.
#[must_use]
pub fn other_missing_docs(settings: &SiteSettings, paths: &BTreeSet<String>) -> Vec<String> {
    let (_, mut missing) = missing_folders(settings, paths);
    let made = settings.made_folders.iter();
    missing.extend(made.filter_map(|made| missing_pages(settings, made, paths)));
    missing
}

/// Returns that a plugin has not written its pages; `None` if it has, or Docusaurus would not show them.
fn missing_pages(
    settings: &SiteSettings,
    made: &MadeFolder,
    paths: &BTreeSet<String>,
) -> Option<String> {
    let MadeFolder { folder, plugin } = made;
    let (ending, step) = if plugin.ends_with(API_PLUGIN) {
        (API_PAGE, "`docusaurus gen-api-docs all`")
    } else {
        (".md", "that step of the site's build")
    };
    let is_shown = page_file(settings, &format!("{folder}/page.mdx")).is_some();
    let mut there = paths_in(paths, folder);
    let is_written =
        there.any(|path| path.ends_with(ending) || (ending == ".md" && is_markdown(path)));
    (is_shown && !is_written).then(|| {
        format!("the plugin `{plugin}` writes pages into `{folder}`, where no `{ending}` file is: run {step} first")
    })
}

fn named_docs(settings: &SiteSettings) -> impl Iterator<Item = &Instance> {
    let docs = settings.instances.iter();
    docs.filter(|it| it.kind == ContentKind::Docs && !it.is_assumed)
}

/// Returns why a site cannot be read, if every docs plugin lacks its default version, and what else is missing.
fn missing_folders(
    settings: &SiteSettings,
    paths: &BTreeSet<String>,
) -> (Option<String>, Vec<String>) {
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for docs in named_docs(settings) {
        for (version, reason) in missing_versions(docs, paths) {
            let is_first = docs.default_version() == version;
            if is_first { &mut first } else { &mut others }.push(reason);
        }
    }
    if first.len() == named_docs(settings).count() {
        return (first.into_iter().next(), others);
    }
    (None, first.into_iter().chain(others).collect())
}

/// Returns the versions of a docs plugin whose folder has no file, with a sentence for the site's author.
fn missing_versions<'a>(docs: &'a Instance, paths: &BTreeSet<String>) -> Vec<(&'a str, String)> {
    let mut missing = Vec::new();
    if docs.current_version && !has_files(paths, &docs.path) {
        let reason = format!(
            "the docs folder `{}` has no file; if the site's build makes it, run that step first; otherwise correct the `path` of the docs \
             plugin `{}`, or write `{}` into bookrag.toml",
            docs.path,
            docs.id,
            docs.path_setting()
        );
        missing.push((CURRENT_VERSION, reason));
    }
    for version in &docs.versions {
        let (Some(folder), Some(file)) = (docs.version_folder(version), docs.versions_file())
        else {
            continue;
        };
        if !has_files(paths, &folder) {
            let reason = format!(
                "{file} names the version `{version}`, whose folder `{folder}` has no file; if the site's build makes it, run that step first; \
                 otherwise remove the version there, or name the others as `versions` in bookrag.toml"
            );
            missing.push((version, reason));
        }
    }
    missing
}

fn has_files(paths: &BTreeSet<String>, folder: &str) -> bool {
    folder.is_empty() || paths_in(paths, folder).next().is_some()
}

fn paths_in<'a>(paths: &'a BTreeSet<String>, folder: &str) -> impl Iterator<Item = &'a str> {
    let start = format!("{folder}/");
    paths
        .range(start.clone()..)
        .map(String::as_str)
        .take_while(move |path| path.starts_with(&start))
}

/// Returns the Markdown in a docs folder that no plugin shows, as a sentence for the site's author.
#[must_use]
pub fn hidden_docs(settings: &SiteSettings, paths: &BTreeSet<String>) -> Option<String> {
    let docs = settings.instances.iter();
    let mut hidden = docs.filter(|it| it.kind == ContentKind::Docs && !it.current_version);
    hidden.find_map(|docs| {
        let count = paths_in(paths, &docs.path)
            .filter(|path| is_markdown(path) && page_file(settings, path).is_none())
            .count();
        (count > 0).then(|| {
            format!(
                "{count} Markdown files in `{}` are not read, as the site does not show its version `{CURRENT_VERSION}`; to read them, write \
                 `current_version = true` into bookrag.toml",
                docs.path
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::list_pages;

    fn site(files: &[(&str, &str)], has_docs_folder: bool) -> SiteSettings {
        let files = files.iter();
        let files = files.map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        SiteSettings::read(&files.collect(), has_docs_folder).expect("valid settings")
    }

    fn paths(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|path| (*path).to_owned()).collect()
    }

    const CLASSIC: (&str, &str) = (
        "docusaurus.config.js",
        "module.exports = {presets: [['classic', {}]]}",
    );
    const VERSIONS: (&str, &str) = ("versions.json", "[\"2.0\", \"1.0\"]");

    #[test]
    fn a_folder_that_the_site_requires_is_missed() {
        let own = "module.exports = {plugins: [['content-docs', {id: 'api', path: 'api'}]]}";
        let own = ("docusaurus.config.js", own);
        let api_versions = ("api_versions.json", "[\"1.0\"]");
        for (files, there, missing) in [
            (
                &[CLASSIC][..],
                &["blog/a.md", "docs2/a.md"][..],
                "the docs folder `docs` has no file",
            ),
            (&[own], &["docs/a.md"], "the docs folder `api` has no file"),
            (
                &[CLASSIC, VERSIONS],
                &["docs/a.md", "versioned_docs/version-1.0/a.md"],
                "versions.json names the version `2.0`, whose folder `versioned_docs/version-2.0`",
            ),
            (
                &[own, api_versions],
                &["api/a.md"],
                "api_versions.json names the version `1.0`, whose folder `api_versioned_docs/version-1.0`",
            ),
            (
                &[("bookrag.toml", "docs_path = 'guide'")],
                &["docs/a.md"],
                "`guide`",
            ),
        ] {
            let found = missing_docs(&site(files, true), &paths(there));
            let found = found.unwrap_or_else(|| panic!("{files:?}: nothing is missing"));
            assert!(found.contains(missing), "{found}");
        }
    }

    #[test]
    fn versions_that_readers_do_not_see_first_may_be_missing() {
        let site = site(&[CLASSIC, VERSIONS], true);
        for (there, told) in [
            (
                &["docs/a.md", "versioned_docs/version-2.0/a.md"][..],
                "names the version `1.0`",
            ),
            (
                &[
                    "versioned_docs/version-2.0/a.md",
                    "versioned_docs/version-1.0/a.md",
                ],
                "the docs folder `docs` has no file",
            ),
        ] {
            let there = paths(there);
            assert_eq!(missing_docs(&site, &there), None);
            let others = other_missing_docs(&site, &there);
            assert!(others.len() == 1 && others[0].contains(told), "{others:?}");
        }
    }

    #[test]
    fn some_docs_may_be_missing_if_others_are_there() {
        let config = "module.exports = {presets: [['classic', {}]], \
            plugins: [['content-docs', {id: 'api', path: 'api'}]]}";
        let site = site(&[("docusaurus.config.js", config)], true);
        let there = paths(&["docs/a.md"]);
        assert_eq!(missing_docs(&site, &there), None);
        let told = other_missing_docs(&site, &there);
        assert!(
            told.len() == 1 && told[0].contains("`api` has no file"),
            "{told:?}"
        );
        let none = paths(&["blog/a.md"]);
        let missing = missing_docs(&site, &none).expect("no docs are there");
        assert!(missing.contains("`docs` has no file"), "{missing}");
        assert_eq!(other_missing_docs(&site, &none), Vec::<String>::new());
    }

    #[test]
    fn pages_that_a_plugin_has_not_written_are_told() {
        let plugins = "['docusaurus-plugin-openapi-docs', {id: 'api', docsPluginId: 'classic', config: {
            pet: {specPath: 'openapi.yaml', outputDir: './docs/api'}, user: {outputDir: 'docs/user'}, old: {outputDir: 'old'}}}],
            ['docusaurus-plugin-typedoc', {entryPoints: ['../src'], out: 'docs/types'}],
            ['docusaurus-plugin-remote-content', {outDir: 'docs/remote', documents: list()}],
            ['own', {out: 'docs/there', cache: {outDir: 'dist'}}]";
        let config = format!("module.exports = {{presets: ['classic'], plugins: [{plugins}]}}");
        let site = site(&[("docusaurus.config.js", &config)], true);
        let there = paths(&[
            "docs/a.md",
            "docs/api/intro.md",
            "docs/there/a.mdx",
            "docs/types/_category_.yml",
            "docs/user/get.api.mdx",
            "openapi.yaml",
        ]);
        let told = other_missing_docs(&site, &there);
        let expected = [
            "the plugin `docusaurus-plugin-openapi-docs` writes pages into `docs/api`, where no `.api.mdx` file is: run `docusaurus gen-api-docs \
             all` first",
            "the plugin `docusaurus-plugin-remote-content` writes pages into `docs/remote`, where no `.md` file is: run that step of the site's \
             build first",
            "the plugin `docusaurus-plugin-typedoc` writes pages into `docs/types`, where no `.md` file is: run that step of the site's build first",
        ];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_site_need_not_have_docs() {
        let without = "module.exports = {presets: [['classic', {docs: false}]]}";
        let without = ("docusaurus.config.js", without);
        let bare = ("docusaurus.config.js", "module.exports = {title: 'A'}");
        let there = paths(&["blog/2024-01-01-a.md", "README.md"]);
        for (files, has_docs) in [(&[without][..], false), (&[bare], false), (&[], false)] {
            assert_eq!(
                missing_docs(&site(files, has_docs), &there),
                None,
                "{files:?}"
            );
        }
        let pages = list_pages(&site(&[without], true), &paths(&["docs/a.md", "blog/b.md"]));
        assert_eq!(pages.len(), 1, "{pages:?}");
        let plain = list_pages(&site(&[], false), &there);
        assert!(plain.iter().any(|page| page.source == "README.md"));
    }

    #[test]
    fn docs_that_the_site_does_not_show_are_told() {
        let config =
            "module.exports = {presets: [['classic', {docs: {includeCurrentVersion: false}}]]}";
        let config = ("docusaurus.config.js", config);
        let there = paths(&[
            "docs/a.md",
            "docs/b.mdx",
            "docs/c.png",
            "versioned_docs/version-2.0/a.md",
        ]);
        let told = hidden_docs(&site(&[config, VERSIONS], true), &there).expect("it is told");
        assert!(told.starts_with("2 Markdown files in `docs`"), "{told}");
        assert_eq!(hidden_docs(&site(&[CLASSIC, VERSIONS], true), &there), None);
    }
}
