//! A folder on this machine.

mod build;

use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::book::{MAX_PAGE_BYTES, SiteSettings};

use super::{Listing, SourceError};

pub use build::BuildFolder;

use build::Build;

/// Folders beside `docs` that tools create and that hold no book.
const SKIPPED_FOLDERS: [&str; 3] = ["node_modules", "build", "static"];

/// The book's files in a folder.
#[derive(Debug, Clone)]
pub struct FolderSource {
    root: PathBuf,
    /// The folder's path with links resolved.
    real_root: PathBuf,
    build_folder: BuildFolder,
    build: Option<Arc<Build>>,
}

impl FolderSource {
    /// Opens a folder, which must exist.
    pub fn open(root: &Path) -> Result<Self, SourceError> {
        Ok(Self {
            root: root.to_owned(),
            real_root: real_folder(root)?,
            build_folder: BuildFolder::Unread,
            build: None,
        })
    }

    /// Returns the same folder, with the HTML of pages written as scripts, taken from a built site. Each such page has the path of its script plus
    /// `.html`.
    /// Which pages these are is known only [with settings](super::Source::with_settings).
    #[must_use]
    pub fn with_build(self, build_folder: BuildFolder) -> Self {
        Self {
            build_folder,
            ..self
        }
    }

    pub(super) fn with_settings(self, settings: &SiteSettings) -> Self {
        let build = self.build_folder.of(&self.root, settings).map(Arc::new);
        Self { build, ..self }
    }

    /// Returns the folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn has_folder(&self, name: &str) -> bool {
        self.root.join(name).is_dir()
    }

    pub(super) async fn listing(&self) -> Result<Listing, SourceError> {
        let (root, build) = (self.root.clone(), self.build.clone());
        if let Some(build) = &build {
            build.check()?;
        }
        let mut walk = Walk {
            // The folders of a build are parts of its site, whatever their names.
            skip_tools: self.has_folder("docs") && !self.root.join("index.html").is_file(),
            listing: Listing::default(),
        };
        let walked = tokio::task::spawn_blocking(move || {
            walk.folder(&root, "", true)?;
            let mut listing = walk.listing;
            if let Some(build) = build {
                build.add_pages(&mut listing)?;
            }
            Ok(listing)
        });
        walked
            .await
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|error| failed("", &error))
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        if !is_plain(path) {
            return Ok(None);
        }
        let full = self.root.join(path);
        let real_root = self.real_root.clone();
        let build = self.build.clone();
        let name = path.to_owned();
        let source = path.to_owned();
        let read = tokio::task::spawn_blocking(move || {
            let built = build.map_or(Ok(None), |build| build.read(&source))?;
            match built {
                Some(bytes) => Ok(Some(bytes)),
                None => read_limited(&full, &real_root),
            }
        });
        let read = read.await;
        read.unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|error| failed(&name, &error))
    }

    /// Like [`Self::read`], for a page itself. Fails if the site has the page's script but no HTML for it: the page may be missing only until the
    /// next
    /// build.
    pub(super) async fn read_page(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let content = self.read(path).await?;
        let mut builds = self.build.iter();
        if content.is_none() && builds.any(|build| build.has_script_of(path)) {
            return Err(SourceError::Forbidden {
                path: path.to_owned(),
                reason: "the built site has no HTML of its script".to_owned(),
            });
        }
        Ok(content)
    }
}

/// True for a relative path of plain names, without `..`.
fn is_plain(path: &str) -> bool {
    let mut parts = Path::new(path).components();
    parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Returns a folder's path with links resolved.
fn real_folder(root: &Path) -> Result<PathBuf, SourceError> {
    if !root.is_dir() {
        return Err(SourceError::NotFound(format!(
            "the folder {}",
            root.display()
        )));
    }
    root.canonicalize().map_err(|error| failed("", &error))
}

/// Reads a file below `real_root`. Rejects links that lead outside, and special files, which could block.
fn read_limited(path: &Path, real_root: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // A link can point to a disk that is not mounted, so the page is unreadable, not deleted.
            return if path.is_symlink() {
                refused("it is a link to a file that does not exist")
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(error),
    };
    if !real.starts_with(real_root) {
        return refused("it is a link to a file outside of the site's folder");
    }
    let kind = real.metadata()?;
    if kind.is_dir() {
        return Ok(None);
    }
    if !kind.is_file() {
        return refused("it is not a file");
    }
    let file = std::fs::File::open(real)?;
    let mut bytes = Vec::new();
    file.take(MAX_PAGE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

fn refused<T>(reason: &str) -> std::io::Result<T> {
    Err(std::io::Error::new(ErrorKind::PermissionDenied, reason))
}

struct Walk {
    /// True if [`SKIPPED_FOLDERS`] beside `docs` are skipped.
    skip_tools: bool,
    listing: Listing,
}

impl Walk {
    /// Adds the files below `folder`. `path` is its path in the listing and ends in `/`, except for the root. Does not follow links to
    /// folders, which may form circles.
    ///
    /// # Errors
    /// If `folder` itself cannot be listed. Subfolders that cannot be listed are recorded instead.
    fn folder(&mut self, folder: &Path, path: &str, is_utf8: bool) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (name, is_utf8) = match entry.file_name().into_string() {
                Ok(name) => (name, is_utf8),
                Err(name) => (name.to_string_lossy().into_owned(), false),
            };
            let below = format!("{path}{name}");
            if !entry.file_type()?.is_dir() {
                let files = if is_utf8 {
                    &mut self.listing.paths
                } else {
                    &mut self.listing.not_utf8
                };
                files.insert(below);
                continue;
            }
            if is_tool_folder(&name, self.skip_tools && path.is_empty()) {
                continue;
            }
            let below = format!("{below}/");
            if let Err(error) = self.folder(&entry.path(), &below, is_utf8) {
                self.listing.unreadable.insert(below, error.to_string());
            }
        }
        Ok(())
    }
}

/// True for hidden folders and those of tools, which hold no book. `is_beside_docs` is true for folders beside `docs`.
pub(super) fn is_tool_folder(name: &str, is_beside_docs: bool) -> bool {
    let is_tool = is_beside_docs && SKIPPED_FOLDERS.contains(&name);
    name.starts_with('.') || name == "node_modules" || is_tool
}

/// Converts an I/O error. It concerns only this file, unless the process has too many open files.
fn failed(path: &str, error: &std::io::Error) -> SourceError {
    /// `ENFILE` and `EMFILE` of Linux, the BSDs and macOS.
    const TOO_MANY_OPEN: [i32; 2] = [23, 24];
    let path = if path.is_empty() { "the folder" } else { path }.to_owned();
    let reason = error.to_string();
    match error.raw_os_error() {
        Some(code) if TOO_MANY_OPEN.contains(&code) => SourceError::Unavailable { path, reason },
        _ => SourceError::Forbidden { path, reason },
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[tokio::test]
    async fn links_do_not_lead_out_and_what_is_no_file_is_not_waited_for() {
        let outside = tempfile::tempdir().unwrap();
        std::fs::write(outside.path().join("secret.md"), "secret").unwrap();
        let site = tempfile::tempdir().unwrap();
        let docs = site.path().join("docs");
        std::fs::create_dir(&docs).unwrap();
        std::fs::write(docs.join("page.md"), "# Page").unwrap();
        symlink("page.md", docs.join("again.md")).unwrap();
        symlink(outside.path().join("secret.md"), docs.join("secret.md")).unwrap();
        symlink("/dev/zero", docs.join("endless.md")).unwrap();
        std::os::unix::net::UnixListener::bind(docs.join("socket.md")).unwrap();
        let source = FolderSource::open(site.path()).unwrap();
        let again = source.read("docs/again.md").await.unwrap();
        assert_eq!(again.as_deref(), Some(b"# Page".as_slice()));
        symlink("loop.md", docs.join("loop.md")).unwrap();
        symlink("not-mounted/page.md", docs.join("dangling.md")).unwrap();
        for refused in ["secret", "endless", "socket", "loop", "dangling"] {
            let refused = &format!("docs/{refused}.md");
            let error = source.read(refused).await.unwrap_err();
            assert!(matches!(error, SourceError::Forbidden { .. }), "{error}");
        }
        let absolute = outside.path().join("secret.md");
        for absent in ["../secret.md", absolute.to_str().unwrap(), "docs/../../x"] {
            assert_eq!(source.read(absent).await.unwrap(), None, "{absent}");
        }
    }

    #[tokio::test]
    async fn pages_in_src_are_listed_and_what_tools_made_is_not() {
        let site = tempfile::tempdir().unwrap();
        for folder in ["docs", "src/pages", "build", "node_modules/a"] {
            let folder = site.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("a.md"), "# A").unwrap();
        }
        let listing = FolderSource::open(site.path()).unwrap().listing().await;
        let expected = ["docs/a.md", "src/pages/a.md"].map(str::to_owned);
        assert_eq!(listing.unwrap().paths, expected.into());
    }

    #[tokio::test]
    async fn the_folders_of_a_build_are_listed_whatever_their_names() {
        let site = tempfile::tempdir().unwrap();
        std::fs::write(site.path().join("index.html"), "<main>").unwrap();
        for folder in ["docs", "build", "static"] {
            let folder = site.path().join(folder);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("a.html"), "<main>").unwrap();
        }
        let listing = FolderSource::open(site.path()).unwrap().listing().await;
        let expected = ["build/a.html", "docs/a.html", "index.html", "static/a.html"];
        assert_eq!(listing.unwrap().paths, expected.map(str::to_owned).into());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn what_cannot_be_listed_is_named_and_the_rest_is_listed() {
        use std::os::unix::ffi::OsStrExt;

        let site = tempfile::tempdir().unwrap();
        let docs = site.path().join("docs");
        std::fs::create_dir(&docs).unwrap();
        std::fs::write(docs.join("page.md"), "# Page").unwrap();
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
        std::fs::write(docs.join(name), "# Page").unwrap();
        // A path longer than the system's limit, which binds root as well.
        std::fs::create_dir(docs.join("x".repeat(250))).unwrap();
        let long = site.path().join("./".repeat(1_950));
        let listing = FolderSource::open(&long).unwrap().listing().await;
        let listing = listing.unwrap();
        assert!(listing.paths.contains("docs/page.md"));
        assert_eq!(listing.not_utf8, ["docs/caf\u{fffd}.md".to_owned()].into());
        let unreadable: Vec<String> = listing.unreadable.into_keys().collect();
        assert_eq!(unreadable, [format!("docs/{}/", "x".repeat(250))]);
    }
}
