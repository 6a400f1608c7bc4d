//! Pages in folders beside the site's, read from a folder, a commit and memory.

#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::*;
use book::{DEFAULT_INSTANCE, list_pages, missing_docs, page_file, read_document};

const CONFIG: &str = "const path = require('path');
module.exports = {
  baseUrl: '/',
  i18n: {defaultLocale: 'en', locales: ['en', 'ur']},
  presets: [['classic', {
    docs: {path: path.resolve(__dirname, '..', 'docs'), routeBasePath: '/'},
    blog: {path: '../news'},
    pages: {path: '../pages'},
  }]],
};";

const PAGE: &str = "import Beside from './_beside.mdx'
import Shared from '../shared/_shared.mdx'
import OfSite from '@site/../shared/_of_site.mdx'
import Secret from '../../_secret.mdx'

# A

<Beside/>

<Shared/>

<OfSite/>

<Secret/>

[B](./b.md), [B](b.md) and ![a plan](/img/plan.png)
";

/// The files of a repository whose site is in `website`.
const FILES: [(&str, &str); 14] = [
    ("website/docusaurus.config.js", CONFIG),
    ("website/docs/a.mdx", "# Another A\n"),
    ("website/blog/old.md", "# Old\n"),
    (
        "website/i18n/ur/docusaurus-plugin-content-docs/current/b.md",
        "# ب\n",
    ),
    ("docs/a.mdx", PAGE),
    (
        "docs/_beside.mdx",
        "Words of the partial beside the page.\n",
    ),
    ("docs/b.md", "# B\n"),
    ("docs/.hidden/no.md", "# No\n"),
    ("docs/node_modules/no.md", "# No\n"),
    ("docs/build/yes.md", "# Yes\n"),
    ("news/2024-05-03-n.md", "# News\n"),
    ("pages/about.md", "# About\n"),
    ("shared/_shared.mdx", "Words of the shared partial.\n"),
    (
        "shared/_of_site.mdx",
        "Words of the partial that `@site` names.\n",
    ),
];

const PAGES: [(&str, &str); 6] = [
    ("../docs/a.mdx", "/a"),
    ("../docs/b.md", "/b"),
    ("../docs/build/yes.md", "/build/yes"),
    ("../news/2024-05-03-n.md", "/blog/2024/05/03/n"),
    ("../pages/about.md", "/about"),
    (
        "i18n/ur/docusaurus-plugin-content-docs/current/b.md",
        "/ur/b",
    ),
];

fn write(root: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn git(root: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]);
    let output = command.args(arguments).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// A folder that holds a secret and, in `repository`, the files.
fn repository() -> tempfile::TempDir {
    let parent = tempfile::tempdir().unwrap();
    write(
        parent.path(),
        &[
            ("_secret.mdx", "A secret.\n"),
            ("secrets/a.md", "# A secret\n"),
        ],
    );
    let root = parent.path().join("repository");
    write(&root, &FILES);
    git(&root, &["init", "--quiet", "-b", "main"]);
    git(&root, &["add", "--all", "--force"]);
    git(&root, &["commit", "--quiet", "-m", "first"]);
    parent
}

fn memory(files: &[(&str, &str)]) -> Source {
    let memory = MemorySource::default().with_site("website");
    for (path, text) in files {
        memory
            .files()
            .insert((*path).to_owned(), text.as_bytes().to_vec());
    }
    Source::Memory(memory)
}

/// The same repository as a folder, as a commit, and as the objects of a bucket.
async fn sources(parent: &Path) -> [Source; 3] {
    let site = parent.join("repository/website");
    [
        Source::Folder(FolderSource::open(&site).unwrap()),
        Source::Git(GitSource::open(&site, "HEAD").await.unwrap()),
        memory(&FILES),
    ]
}

/// Returns the text of a page.
async fn text_of(source: &Source, settings: &SiteSettings, path: &str) -> String {
    let page = page_file(settings, path).unwrap();
    let bytes = source.read(path).await.unwrap().unwrap();
    let files = FileCache::default();
    let inputs = source
        .inputs(settings, &page, &bytes, &files)
        .await
        .unwrap();
    let document = read_document(settings, "", &page, &bytes, &inputs).unwrap();
    let texts: Vec<String> = document
        .blocks
        .into_iter()
        .map(|block| block.text)
        .collect();
    texts.join("\n")
}

async fn url_of(source: &Source, settings: &SiteSettings, path: &str) -> String {
    let page = page_file(settings, path).unwrap();
    let bytes = source.read(path).await.unwrap().unwrap();
    let document = read_document(settings, "", &page, &bytes, &Inputs::new());
    document.unwrap().url
}

#[tokio::test]
async fn pages_beside_the_site_have_the_paths_and_urls_that_its_config_gives_them() {
    let parent = repository();
    for source in sources(parent.path()).await {
        let (source, settings) = source.opened().await.unwrap();
        let listing = source.listing().await.unwrap();
        let mut pages = Vec::new();
        for page in list_pages(&settings, &listing.paths) {
            let url = url_of(&source, &settings, &page.source).await;
            pages.push((page.source, url));
        }
        let expected = PAGES.map(|(path, url)| (path.to_owned(), url.to_owned()));
        if matches!(source, Source::Memory(_)) {
            // A bucket holds what was uploaded; the workflow leaves such folders out.
            pages.retain(|(path, _)| !path.contains("node_modules"));
        }
        assert_eq!(pages, expected, "{source:?}");
        assert_eq!(missing_docs(&settings, &listing.paths), None);
    }
}

#[tokio::test]
async fn imports_may_leave_the_site_but_not_the_repository() {
    let parent = repository();
    for source in sources(parent.path()).await {
        let (source, settings) = source.opened().await.unwrap();
        let text = text_of(&source, &settings, "../docs/a.mdx").await;
        for words in ["beside the page", "shared partial", "names"] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(!text.contains("secret"), "{text}");
        for outside in [
            "../../_secret.mdx",
            "../../secrets/a.md",
            "../docs/../../_secret.mdx",
        ] {
            assert_eq!(source.read(outside).await.unwrap(), None, "{outside}");
        }
    }
}

#[tokio::test]
async fn a_commit_lists_what_its_checkout_does() {
    let parent = repository();
    let [folder, commit, _] = sources(parent.path()).await;
    let (folder, _) = folder.opened().await.unwrap();
    let (commit, _) = commit.opened().await.unwrap();
    let listing = commit.listing().await.unwrap();
    assert!(listing.paths.contains("../docs/_beside.mdx"), "{listing:?}");
    assert_eq!(listing, folder.listing().await.unwrap());
}

#[tokio::test]
async fn links_do_not_lead_out_of_the_repository() {
    let parent = repository();
    let root = parent.path().join("repository");
    symlink("../../_secret.mdx", root.join("docs/out.md")).unwrap();
    symlink("../README.md", root.join("docs/readme.md")).unwrap();
    write(&root, &[("README.md", "# Readme\n")]);
    git(&root, &["add", "--all"]);
    git(&root, &["commit", "--quiet", "-m", "links"]);
    let [folder, commit, _] = sources(parent.path()).await;
    for source in [folder, commit] {
        let (source, _) = source.opened().await.unwrap();
        let error = source.read("../docs/out.md").await.unwrap_err();
        assert!(matches!(error, SourceError::Forbidden { .. }), "{error}");
        let within = source.read("../docs/readme.md").await.unwrap();
        assert_eq!(within.as_deref(), Some(b"# Readme\n".as_slice()));
    }
    fs::remove_dir_all(root.join("docs")).unwrap();
    symlink(parent.path().join("secrets"), root.join("docs")).unwrap();
    let [folder, ..] = sources(parent.path()).await;
    let (folder, settings) = folder.opened().await.unwrap();
    let listing = folder.listing().await.unwrap();
    assert!(
        listing.unreadable["../docs/"].contains("outside"),
        "{listing:?}"
    );
    assert!(
        list_pages(&settings, &listing.paths)
            .iter()
            .all(|page| page.source != "../docs/a.md")
    );
    assert!(folder.read("../docs/a.md").await.is_err());
}

#[tokio::test]
async fn without_a_repository_the_common_folder_of_site_and_docs_is_the_limit() {
    let parent = repository();
    let root = parent.path().join("repository");
    fs::remove_dir_all(root.join(".git")).unwrap();
    let site = root.join("website");
    let open = || Source::Folder(FolderSource::open(&site).unwrap());
    let (source, settings) = open().opened().await.unwrap();
    let text = text_of(&source, &settings, "../docs/a.mdx").await;
    assert!(
        text.contains("shared partial") && !text.contains("secret"),
        "{text}"
    );
    assert_eq!(source.read("../../_secret.mdx").await.unwrap(), None);
    // The site's own files name nothing outside.
    fs::write(site.join("docusaurus.config.js"), "module.exports = {}").unwrap();
    let (source, _) = open().opened().await.unwrap();
    assert_eq!(source.read("../docs/a.mdx").await.unwrap(), None);
}

#[tokio::test]
async fn a_folder_that_is_missing_or_outside_is_named_with_its_setting() {
    let parent = repository();
    let site = parent.path().join("repository/website");
    let opened = async |toml: &str| {
        fs::write(site.join("bookrag.toml"), toml).unwrap();
        let source = Source::Folder(FolderSource::open(&site).unwrap());
        let (source, settings) = source.opened().await.map_err(|error| error.to_string())?;
        let listing = source.listing().await.unwrap();
        let path = settings.instances[0].path.clone();
        missing_docs(&settings, &listing.paths).map_or(Ok(path), Err)
    };
    let outside = opened("docs_path = '../../secrets'").await.unwrap_err();
    assert!(
        outside.starts_with("bookrag.toml, line 1: the folder `../../secrets` is outside of "),
        "{outside}"
    );
    let missing = opened("docs_path = '../guide'").await.unwrap_err();
    assert!(
        missing.starts_with("the docs folder `../guide` has no file"),
        "{missing}"
    );
    let missing = opened("docs_path = 'guide'").await.unwrap_err();
    assert!(
        missing.starts_with("the docs folder `guide` has no file"),
        "{missing}"
    );
    // A site without some of its docs is read.
    let others = opened("docs.api.docs_path = '../api'").await.unwrap();
    assert_eq!(others, "../docs");
    // Other ways to write a path give the same one.
    assert_eq!(
        opened("docs_path = './../website/../docs/'").await.unwrap(),
        "../docs"
    );
    assert_eq!(
        opened("docs_path = '../website/docs'").await.unwrap(),
        "docs"
    );
}

#[tokio::test]
async fn a_page_beside_the_site_is_linked_by_its_path() {
    let parent = repository();
    let [source, ..] = sources(parent.path()).await;
    let (source, settings) = source.opened().await.unwrap();
    let page = page_file(&settings, "../docs/a.mdx").unwrap();
    let bytes = source.read("../docs/a.mdx").await.unwrap().unwrap();
    let document = read_document(&settings, "", &page, &bytes, &Inputs::new()).unwrap();
    let marks = document.blocks.iter().flat_map(|block| &block.marks);
    let marks: Vec<String> = marks.map(|mark| format!("{:?}", mark.kind)).collect();
    let to_b = marks
        .iter()
        .filter(|mark| mark.contains("\"../docs/b.md\""));
    assert_eq!(to_b.count(), 2, "{marks:?}");
    assert!(
        marks.iter().any(|mark| mark.contains("\"/img/plan.png\"")),
        "{marks:?}"
    );
}

#[tokio::test]
async fn docs_around_the_site_are_read_without_the_folder_of_the_site() {
    let parent = repository();
    let toml = "docs_path = '..'\ninclude = ['**/docs/**/*.{md,mdx}']";
    let root = parent.path().join("repository");
    write(&root, &[("website/bookrag.toml", toml)]);
    git(&root, &["add", "--all"]);
    git(&root, &["commit", "--quiet", "-m", "around"]);
    let [folder, commit, _] = sources(parent.path()).await;
    let mut listings = Vec::new();
    for source in [folder, commit] {
        let (source, settings) = source.opened().await.unwrap();
        assert!(
            settings.warnings[0].contains("contains the site's own folder"),
            "{:?}",
            settings.warnings
        );
        let listing = source.listing().await.unwrap();
        let pages = list_pages(&settings, &listing.paths);
        let docs = pages
            .iter()
            .filter(|page| page.instance == DEFAULT_INSTANCE);
        let docs: Vec<(&str, &str)> = docs
            .filter(|page| page.locale == "en")
            .map(|page| (page.source.as_str(), page.relative.as_str()))
            .collect();
        let expected = [
            ("../docs/a.mdx", "docs/a.mdx"),
            ("../docs/b.md", "docs/b.md"),
            ("../docs/build/yes.md", "docs/build/yes.md"),
        ];
        assert_eq!(docs, expected);
        listings.push(listing);
    }
    assert_eq!(listings[0], listings[1]);
}

#[tokio::test]
async fn docs_that_a_site_hides_stand_for_the_version_that_its_build_makes_of_them() {
    let parent = tempfile::TempDir::new().unwrap();
    let root = parent.path().join("repository");
    let config = "module.exports = {presets: [['classic', {docs: {includeCurrentVersion: false, lastVersion: '2.0'}}]]}";
    write(
        &root,
        &[
            ("website/docusaurus.config.js", config),
            ("website/versions.json", r#"["2.0", "1.0"]"#),
            ("website/docs/a.md", "# New\n"),
            ("website/versioned_docs/version-1.0/a.md", "# Old\n"),
        ],
    );
    git(&root, &["init", "--quiet", "-b", "main"]);
    let pages = async || {
        git(&root, &["add", "--all"]);
        git(&root, &["commit", "--quiet", "-m", "next"]);
        let mut pages = Vec::new();
        let [folder, commit, _] = sources(parent.path()).await;
        for source in [folder, commit] {
            let (source, settings) = source.opened().await.unwrap();
            let listing = source.listing().await.unwrap();
            assert_eq!(missing_docs(&settings, &listing.paths), None);
            let mut urls = Vec::new();
            for page in list_pages(&settings, &listing.paths) {
                urls.push(url_of(&source, &settings, &page.source).await);
            }
            pages.push((urls, settings.warnings));
        }
        let of_commit = pages.pop();
        assert_eq!(of_commit.as_ref(), pages.first());
        of_commit.unwrap()
    };
    let (urls, warnings) = pages().await;
    assert_eq!(urls, ["/docs/a", "/docs/1.0/a"]);
    assert!(
        matches!(&warnings[..], [warning] if warning.contains("`docs` is read as `2.0`")),
        "{warnings:?}"
    );
    write(
        &root,
        &[("website/versioned_docs/version-2.0/b.md", "# Made\n")],
    );
    assert_eq!(
        pages().await,
        (
            vec!["/docs/1.0/a".to_owned(), "/docs/b".to_owned()],
            Vec::new()
        )
    );
}

#[tokio::test]
async fn docs_that_only_the_build_makes_are_read_from_the_folder_they_are_made_of() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("repository");
    let config = "module.exports = {presets: [['classic', {docs: {path: 'target/docs'}}]]}";
    write(
        &root,
        &[
            ("website/docusaurus.config.js", config),
            ("docs/a.md", "# Written\n"),
        ],
    );
    let open = || Source::Folder(FolderSource::open(&root.join("website")).unwrap());
    let missing = async || {
        let (source, settings) = open().opened().await.unwrap();
        let listing = source.listing().await.unwrap();
        missing_docs(&settings, &listing.paths)
    };
    let reason = missing()
        .await
        .expect("without a repository, nothing beside the site is read");
    assert!(reason.contains("`target/docs` has no file"), "{reason}");
    git(&root, &["init", "--quiet", "-b", "main"]);
    assert_eq!(missing().await, None);
    let (source, settings) = open().opened().await.unwrap();
    assert_eq!(url_of(&source, &settings, "../docs/a.md").await, "/docs/a");
    let told = &settings.warnings[..];
    assert!(
        matches!(told, [told] if told.contains("so `../docs` is read in its place")),
        "{told:?}"
    );
    write(&root, &[("website/target/docs/b.md", "# Made\n")]);
    let (source, settings) = open().opened().await.unwrap();
    assert_eq!(
        url_of(&source, &settings, "target/docs/b.md").await,
        "/docs/b"
    );
    assert_eq!(settings.warnings, Vec::<String>::new());
    fs::remove_file(root.join("website/target/docs/b.md")).unwrap();
    assert_eq!(missing().await, None, "an empty folder has no docs");
}

#[tokio::test]
async fn a_built_site_is_not_replaced_by_docs_beside_it() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path();
    let html = "<title>A</title><main><h1>A</h1><p>Built.</p></main>";
    write(root, &[("site/index.html", html), ("docs/a.md", "# A\n")]);
    git(root, &["init", "--quiet", "-b", "main"]);
    let source = Source::Folder(FolderSource::open(&root.join("site")).unwrap());
    let (source, settings) = source.opened().await.unwrap();
    let listing = source.listing().await.unwrap();
    let pages = list_pages(&settings, &listing.paths);
    let pages: Vec<&str> = pages.iter().map(|page| &*page.source).collect();
    assert_eq!(pages, ["index.html"]);
    assert_eq!(settings.warnings, Vec::<String>::new());
}
