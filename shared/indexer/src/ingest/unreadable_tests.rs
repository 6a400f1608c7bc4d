//! An unreadable file or folder affects only its own pages, and none of them is deleted.

#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use super::simulation::stores::{Stores, options};
use super::*;
use crate::source::FolderSource;
use book::chunk::ChunkPolicy;

/// The length of a path prefix in bytes. With a name of [`LONG_NAME`] bytes after it, a path exceeds Linux's limit (4,096 bytes), also for root.
const DETOUR: usize = 3_950;
const LONG_NAME: usize = 200;

/// A site in a folder, and its stores.
struct Book {
    folder: tempfile::TempDir,
    stores: Stores,
}

impl Book {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("docs")).unwrap();
        Self {
            folder,
            stores: Stores::new(),
        }
    }

    fn docs(&self) -> PathBuf {
        self.folder.path().join("docs")
    }

    fn write(&self, path: &str) {
        let path = self.docs().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, format!("# {}\n\nText.\n", path.display())).unwrap();
    }

    /// A path of the same folder through which its subfolders with long names cannot be listed.
    fn by_a_detour(&self) -> PathBuf {
        self.folder.path().join("./".repeat(DETOUR / 2))
    }

    async fn open(&self, root: &Path, policy: ChunkPolicy) -> Ingest {
        let source = Source::Folder(FolderSource::open(root).unwrap());
        let ports = self.stores.ports(source);
        let options = OpenOptions {
            policy,
            ..options()
        };
        Ingest::open(ports, options).await.unwrap()
    }

    async fn sync_at(&self, root: &Path, policy: ChunkPolicy) -> Result<Report, SyncError> {
        let ingest = self.open(root, policy).await;
        sync(&ingest, SyncOptions::default(), |_| {}).await
    }

    async fn sync(&self) -> Report {
        let synced = self.sync_at(self.folder.path(), ChunkPolicy::ADAPTIVE);
        synced.await.unwrap()
    }

    async fn documents(&self) -> Vec<String> {
        let live = self.stores.tables().live_index().await.unwrap().unwrap();
        let documents = self.stores.tables().documents(live.index_id).await.unwrap();
        documents.into_iter().map(|it| it.row.source).collect()
    }
}

fn sources(files: &[SkippedFile]) -> Vec<&str> {
    files.iter().map(|file| file.source.as_str()).collect()
}

#[tokio::test]
async fn any_number_of_unreadable_files_leaves_the_others_indexed() {
    let book = Book::new();
    book.write("z.md");
    for name in ["a", "b", "c", "d"] {
        symlink("/etc/passwd", book.docs().join(format!("{name}.md"))).unwrap();
    }
    symlink("loop.md", book.docs().join("loop.md")).unwrap();
    let report = book.sync().await;
    assert_eq!(report.status, RunStatus::Partial);
    assert_eq!(book.documents().await, ["docs/z.md"]);
    let unreadable = [
        "docs/a.md",
        "docs/b.md",
        "docs/c.md",
        "docs/d.md",
        "docs/loop.md",
    ];
    assert_eq!(sources(&report.failed), unreadable);
    assert_eq!(report.outages, 0);
}

#[tokio::test]
async fn a_page_that_becomes_unreadable_keeps_what_is_stored() {
    let book = Book::new();
    book.write("a.md");
    book.write("b.md");
    book.sync().await;
    std::fs::remove_file(book.docs().join("a.md")).unwrap();
    symlink("not-mounted/a.md", book.docs().join("a.md")).unwrap();
    let report = book.sync().await;
    assert_eq!(sources(&report.failed), ["docs/a.md"]);
    assert_eq!((report.files_deleted, report.files_unchanged), (0, 1));
    assert_eq!(book.documents().await, ["docs/a.md", "docs/b.md"]);
}

#[tokio::test]
async fn a_page_that_becomes_a_link_to_what_is_not_published_is_deleted_and_named() {
    let book = Book::new();
    book.write("a.md");
    book.write("b.md");
    book.sync().await;
    std::fs::write(book.folder.path().join(".env"), "TOKEN=secret").unwrap();
    std::fs::remove_file(book.docs().join("a.md")).unwrap();
    symlink("../.env", book.docs().join("a.md")).unwrap();
    let report = book.sync().await;
    assert_eq!(report.status, RunStatus::Success, "{report:?}");
    assert_eq!(report.files_deleted, 1);
    let warnings = &report.warnings;
    assert!(
        warnings[0].starts_with("docs/a.md is not read: `.env`"),
        "{warnings:?}"
    );
    assert_eq!(book.documents().await, ["docs/b.md"]);
}

#[tokio::test]
async fn an_import_that_is_not_published_is_named_with_its_line() {
    let book = Book::new();
    let page = "import X from '!!raw-loader!../.env'\n\n# A\n\nText.\n\n<pre>{X}</pre>\n";
    std::fs::write(book.docs().join("a.mdx"), page).unwrap();
    std::fs::write(book.folder.path().join(".env"), "TOKEN=secret").unwrap();
    let report = book.sync().await;
    let warnings = &report.warnings;
    assert!(
        warnings[0].starts_with("docs/a.mdx: line 7: the imported file .env is not read: "),
        "{warnings:?}"
    );
    assert_eq!(book.documents().await, ["docs/a.mdx"]);
}

#[tokio::test]
async fn a_file_of_tags_that_cannot_be_read_names_nothing() {
    let book = Book::new();
    std::fs::write(book.docs().join("a.md"), "---\ntags: [api]\n---\n\nText.\n").unwrap();
    symlink("/etc/passwd", book.docs().join("tags.yml")).unwrap();
    let report = book.sync().await;
    assert_eq!(sources(&report.failed), [""; 0]);
    assert_eq!(book.documents().await, ["docs/a.md"]);
}

#[tokio::test]
async fn a_folder_that_cannot_be_listed_is_reported_and_its_pages_stay() {
    let book = Book::new();
    let long = "x".repeat(LONG_NAME);
    for number in 0..20 {
        book.write(&format!("{long}/{number:02}.md"));
    }
    book.write("b.md");
    book.sync().await;
    let stored = book.documents().await;
    assert_eq!(stored.len(), 21);
    book.write("new.md");
    let detour = book.by_a_detour();
    // Most of the book is invisible, which does not count as a mass deletion.
    let report = book.sync_at(&detour, ChunkPolicy::ADAPTIVE).await.unwrap();
    assert_eq!(sources(&report.failed), [format!("docs/{long}/")]);
    assert_eq!((report.files_deleted, report.files_changed), (0, 1));
    assert_eq!(book.documents().await.len(), 22);
}

#[tokio::test]
async fn a_book_whose_only_folder_cannot_be_listed_is_not_an_empty_one() {
    let book = Book::new();
    let long = "x".repeat(LONG_NAME);
    book.write(&format!("{long}/a.md"));
    let detour = book.by_a_detour();
    let error = book.sync_at(&detour, ChunkPolicy::ADAPTIVE).await;
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains(&long) && error.contains("may not be read"),
        "{error}"
    );
}

#[tokio::test]
async fn an_unreadable_page_delays_a_switch_only_if_the_live_index_has_it() {
    let book = Book::new();
    book.write("a.md");
    symlink("/etc/passwd", book.docs().join("never.md")).unwrap();
    book.sync().await;
    let root = book.folder.path().to_owned();
    let report = book.sync_at(&root, ChunkPolicy::PARAGRAPH_512);
    assert_eq!(sources(&report.await.unwrap().failed), ["docs/never.md"]);
    let live = book.stores.tables().live_index().await.unwrap().unwrap();
    let name = live.spec.chunk_policy.split(' ').next();
    assert_eq!(name, Some(ChunkPolicy::PARAGRAPH_512.name));

    book.write("b.md");
    book.sync_at(&root, ChunkPolicy::PARAGRAPH_512)
        .await
        .unwrap();
    std::fs::remove_file(book.docs().join("b.md")).unwrap();
    symlink("not-mounted/b.md", book.docs().join("b.md")).unwrap();
    let report = book.sync_at(&root, ChunkPolicy::WINDOW_500).await.unwrap();
    assert_eq!(report.status, RunStatus::Partial);
    assert_eq!(book.documents().await, ["docs/a.md", "docs/b.md"]);
}

#[tokio::test]
async fn a_page_whose_name_has_no_url_and_a_url_with_two_pages_are_warned_of() {
    use std::os::unix::ffi::OsStrExt;

    let book = Book::new();
    book.write("a.md");
    std::fs::write(book.docs().join("b.md"), "---\nslug: /a\n---\n\nText.\n").unwrap();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
    std::fs::write(book.docs().join(name), "# Page").unwrap();
    for _ in 0..2 {
        let warnings = book.sync().await.warnings;
        assert!(
            warnings[0].starts_with("docs/caf\u{fffd}.md: its path is not UTF-8"),
            "{warnings:?}"
        );
        assert!(
            warnings[1].starts_with("docs/a.md, docs/b.md: all have the URL /docs/a"),
            "{warnings:?}"
        );
        assert_eq!(warnings.len(), 2);
    }
}
