//! Pages that only the built site has follow it: they appear, change and disappear with it, and are replaced by sources with their URLs.

#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::simulation::stores::{Stores, options};
use super::*;
use crate::source::FolderSource;

const CONFIG: &str =
    "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']}, presets: ['classic']}";
const ENGLISH: &str = "build/about/index.html";
const GERMAN: &str = "build/de/about/index.html";

/// A site with a Markdown page and a script, and its stores.
struct Book {
    folder: tempfile::TempDir,
    stores: Stores,
}

impl Book {
    fn new(build: Option<&str>) -> Self {
        let book = Self {
            folder: tempfile::tempdir().unwrap(),
            stores: Stores::new(),
        };
        book.write("docusaurus.config.js", CONFIG);
        book.write("docs/a.md", "# A\n\nText.\n");
        book.write("src/pages/about.tsx", "export default () => 1");
        let toml = build.map(|build| format!("build = '{build}'"));
        book.write("bookrag.toml", &toml.unwrap_or_default());
        book
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Builds the page about the site into a locale's folder of the build, with a page for missing addresses.
    fn build(&self, folder: &str, text: &str) {
        let html = format!("<title>About</title><main>{text}</main>");
        self.write(&format!("{folder}/about/index.html"), &html);
        self.write(&format!("{folder}/404.html"), &html);
    }

    async fn open(&self, build: Option<PathBuf>) -> Result<Ingest, IngestError> {
        let folder = FolderSource::open(self.folder.path()).unwrap();
        let source = Source::Folder(match build {
            Some(build) => folder.with_build(build),
            None => folder,
        });
        Ingest::open(self.stores.ports(source), options()).await
    }

    async fn documents(&self) -> Vec<String> {
        let live = self.stores.tables().live_index().await.unwrap().unwrap();
        let documents = self.stores.tables().documents(live.index_id).await.unwrap();
        documents.into_iter().map(|it| it.row.source).collect()
    }
}

/// Syncs like `serve --watch` after a change. Returns how many pages were changed and deleted.
async fn synced(ingest: &mut Ingest) -> Result<(usize, usize), SyncError> {
    *ingest = ingest.reopened(OpenMode::Write).await?;
    let report = sync(ingest, SyncOptions::default(), |_| {}).await?;
    assert_eq!(report.failed, []);
    Ok((report.files_changed, report.files_deleted))
}

#[tokio::test]
async fn a_page_comes_and_goes_with_the_build_and_stays_while_the_site_is_built() {
    let book = Book::new(Some("build"));
    let mut ingest = book.open(None).await.unwrap();
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    assert_eq!(book.documents().await, ["docs/a.md"]);
    book.build("build", "First");
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    assert_eq!(book.documents().await, [ENGLISH, "docs/a.md"]);
    book.build("build/de", "Erste");
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    let all = [ENGLISH, GERMAN, "docs/a.md"];
    assert_eq!(book.documents().await, all);

    // Docusaurus empties the folder first.
    for gone in ["build/de", "build"] {
        fs::remove_dir_all(book.path(gone)).unwrap();
        assert_eq!(synced(&mut ingest).await.unwrap(), (0, 0), "{gone}");
        assert_eq!(book.documents().await, all);
        let error = ingest.ingest_document(GERMAN).await.unwrap_err();
        assert!(error.to_string().contains("is not built"), "{error}");
        book.write("docs/b.md", gone);
        assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0), "{gone}");
        fs::remove_file(book.path("docs/b.md")).unwrap();
        assert_eq!(synced(&mut ingest).await.unwrap(), (0, 1), "{gone}");
    }
    book.build("build", "Second");
    book.build("build/de", "Zweite");
    assert_eq!(synced(&mut ingest).await.unwrap(), (2, 0));
    fs::remove_dir_all(book.path("build/about")).unwrap();
    assert_eq!(synced(&mut ingest).await.unwrap(), (0, 1));
    assert_eq!(book.documents().await, [GERMAN, "docs/a.md"]);
}

#[tokio::test]
async fn the_build_has_what_no_source_has() {
    let book = Book::new(Some("build"));
    for folder in ["build", "build/de"] {
        book.build(folder, "Text");
        // A source has these, in both locales.
        let html = "<title>A</title><main>Built</main>";
        book.write(&format!("{folder}/docs/a/index.html"), html);
        book.write(&format!("{folder}/docs/moved/b/index.html"), html);
    }
    book.write("docs/b.md", "---\nslug: moved/b\n---\n# B\n");
    for (path, head) in [
        ("docs/hidden.html", "<meta name=robots content=noindex>"),
        (
            "docs/tags.html",
            "<html class='plugin-docs docs-tags-list-page'>",
        ),
        (
            "docs/category/c.html",
            "<html class='plugin-docs docs-doc-page'>",
        ),
        ("blog/archive.html", "<html class=plugin-blog>"),
        (
            "docs/typed.html",
            "<html class='plugin-docs docs-doc-id-typed'>",
        ),
        ("rules.html", "<html class=plugin-rules>"),
    ] {
        let html = format!("{head}<title>A</title><main>Built</main>");
        book.write(&format!("build/{path}"), &html);
    }
    book.write("docs/c.md", "---\ntitle: [\n---\n");
    book.write("build/docs/c.html", "<title>C</title><main>C</main>");
    let mut ingest = book.open(None).await.unwrap();
    ingest = ingest.reopened(OpenMode::Write).await.unwrap();
    let report = sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    let skipped: Vec<_> = report.skipped.iter().map(|it| it.source.as_str()).collect();
    assert_eq!(skipped, ["docs/c.md"]);
    let all = [
        ENGLISH,
        GERMAN,
        "build/docs/c.html",
        "build/docs/typed.html",
        "build/rules.html",
        "docs/a.md",
        "docs/b.md",
        "docs/c.md",
    ];
    let mut documents = book.documents().await;
    documents.sort();
    let mut all = all.to_vec();
    all.sort_unstable();
    assert_eq!(documents, all);

    // The source of a page is written, and another one moves.
    book.write("src/pages/rules.md", "# Rules\n");
    book.write("docs/b.md", "# B\n");
    ingest = ingest.reopened(OpenMode::Write).await.unwrap();
    sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    let documents = book.documents().await;
    assert!(!documents.contains(&"build/rules.html".to_owned()));
    assert!(
        documents.contains(&"build/docs/moved/b/index.html".to_owned()),
        "{documents:?}"
    );
}

#[tokio::test]
async fn the_settings_decide_at_each_run_where_the_build_is() {
    let book = Book::new(None);
    book.build("build", "Text");
    let mut ingest = book.open(None).await.unwrap();
    synced(&mut ingest).await.unwrap();
    assert_eq!(book.documents().await, ["docs/a.md"]);
    book.write("bookrag.toml", "build = 'build'");
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    book.write("bookrag.toml", "");
    assert_eq!(synced(&mut ingest).await.unwrap(), (0, 1));

    // The settings come with the site, which may be somebody else's.
    let outside = tempfile::tempdir().unwrap();
    fs::write(
        outside.path().join("secret.html"),
        "<title>A</title><main>A</main>",
    )
    .unwrap();
    symlink(outside.path(), book.path("out")).unwrap();
    book.write("bookrag.toml", "build = 'out'");
    let ingest = ingest.reopened(OpenMode::Write).await.unwrap();
    let status = ingest.status("").await.unwrap();
    assert_eq!(status.unreadable_folders[0].source, "out/");
    assert_eq!(status.pages, 1);
}

#[tokio::test]
async fn a_build_that_was_named_is_waited_for() {
    let book = Book::new(None);
    let outside = tempfile::tempdir().unwrap();
    let build = outside.path().join("site");
    fs::create_dir(&build).unwrap();
    for page in ["about.html", "404.html"] {
        fs::write(build.join(page), "<title>A</title><main>Text</main>").unwrap();
    }
    let mut ingest = book.open(Some(build.clone())).await.unwrap();
    assert_eq!(synced(&mut ingest).await.unwrap(), (2, 0));
    fs::remove_dir_all(&build).unwrap();
    let error = synced(&mut ingest).await.unwrap_err();
    assert!(error.may_pass(), "{error}");
    assert_eq!(book.documents().await, ["build/about.html", "docs/a.md"]);
}
