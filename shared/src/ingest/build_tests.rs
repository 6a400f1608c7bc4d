//! Pages written as scripts follow the built site: they appear and change with it, and disappear with their scripts.

#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use super::simulation::stores::{Stores, options};
use super::*;
use crate::source::{BuildFolder, FolderSource};

const CONFIG: &str =
    "module.exports = {i18n: {defaultLocale: 'en', locales: ['en', 'de']}, presets: ['classic']}";
const ENGLISH: &str = "src/pages/about.tsx.html";
const GERMAN: &str = "i18n/de/docusaurus-plugin-content-pages/about.tsx.html";

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

    fn build(&self, text: &str) {
        self.write("build/about/index.html", &format!("<main>{text}</main>"));
    }

    async fn open(&self, build: BuildFolder) -> Result<Ingest, IngestError> {
        let folder = FolderSource::open(self.folder.path()).unwrap();
        let source = Source::Folder(folder.with_build(build));
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
async fn a_page_comes_with_the_build_and_goes_with_its_script() {
    let book = Book::new(Some("build"));
    let mut ingest = book.open(BuildFolder::OfSettings).await.unwrap();
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    assert_eq!(book.documents().await, ["docs/a.md"]);
    book.build("First");
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    assert_eq!(book.documents().await, ["docs/a.md", ENGLISH]);
    book.write("build/de/about/index.html", "<main>Erste</main>");
    // Two pages: the new German one, and the English one, because its translations are part of its fingerprint.
    assert_eq!(synced(&mut ingest).await.unwrap(), (2, 0));
    let all = ["docs/a.md", GERMAN, ENGLISH];
    assert_eq!(book.documents().await, all);

    // Docusaurus empties the folder first.
    for gone in ["build/about", "build/de", "build"] {
        fs::remove_dir_all(book.path(gone)).unwrap();
        assert_eq!(synced(&mut ingest).await.unwrap(), (0, 0), "{gone}");
        assert_eq!(book.documents().await, all);
        book.write("docs/b.md", gone);
        assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0), "{gone}");
        fs::remove_file(book.path("docs/b.md")).unwrap();
        assert_eq!(synced(&mut ingest).await.unwrap(), (0, 1), "{gone}");
    }
    book.build("Second");
    book.write("build/de/about/index.html", "<main>Zweite</main>");
    assert_eq!(synced(&mut ingest).await.unwrap(), (2, 0));
    fs::remove_file(book.path("src/pages/about.tsx")).unwrap();
    assert_eq!(synced(&mut ingest).await.unwrap(), (0, 2));
    assert_eq!(book.documents().await, ["docs/a.md"]);
}

#[tokio::test]
async fn a_page_that_is_removed_from_the_build_while_it_is_read_stays() {
    let book = Book::new(Some("build"));
    book.build("Text");
    let mut ingest = book.open(BuildFolder::OfSettings).await.unwrap();
    synced(&mut ingest).await.unwrap();
    fs::remove_dir_all(book.path("build")).unwrap();
    let error = ingest.ingest_document(ENGLISH).await.unwrap_err();
    assert!(error.to_string().contains("no HTML"), "{error}");
    assert_eq!(book.documents().await, ["docs/a.md", ENGLISH]);
}

#[tokio::test]
async fn the_settings_decide_at_each_run_where_the_build_is() {
    let book = Book::new(None);
    book.build("Text");
    let mut ingest = book.open(BuildFolder::OfSettings).await.unwrap();
    synced(&mut ingest).await.unwrap();
    assert_eq!(book.documents().await, ["docs/a.md"]);
    book.write("bookrag.toml", "build = 'build'");
    assert_eq!(synced(&mut ingest).await.unwrap(), (1, 0));
    book.write("bookrag.toml", "");
    assert_eq!(synced(&mut ingest).await.unwrap(), (0, 1));

    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), book.path("out")).unwrap();
    book.write("bookrag.toml", "build = 'out'");
    let error = synced(&mut ingest).await.unwrap_err().to_string();
    assert!(error.contains("outside of the site"), "{error}");
}

#[tokio::test]
async fn a_build_that_was_named_is_waited_for() {
    let book = Book::new(None);
    let outside = tempfile::tempdir().unwrap();
    let build = outside.path().join("site");
    let page = build.join("about.html");
    fs::create_dir(&build).unwrap();
    fs::write(&page, "<main>Text</main>").unwrap();
    let named = BuildFolder::Named(build.clone());
    let mut ingest = book.open(named).await.unwrap();
    assert_eq!(synced(&mut ingest).await.unwrap(), (2, 0));
    fs::remove_dir_all(&build).unwrap();
    let error = synced(&mut ingest).await.unwrap_err();
    assert!(error.may_pass(), "{error}");
    assert_eq!(book.documents().await, ["docs/a.md", ENGLISH]);
}
