//! A folder on this machine.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use crate::book::MAX_PAGE_BYTES;

use super::SourceError;

/// Folders that hold no book: what tools put beside it.
const SKIPPED_FOLDERS: [&str; 4] = ["node_modules", "build", "static", "src"];

/// The book's files in a folder.
#[derive(Debug, Clone)]
pub struct FolderSource {
    root: PathBuf,
    /// The folder, without links in its path.
    real_root: PathBuf,
}

impl FolderSource {
    /// Takes a folder; it must exist.
    pub fn open(root: &Path) -> Result<Self, SourceError> {
        if !root.is_dir() {
            return Err(SourceError::NotFound(format!(
                "the folder {}",
                root.display()
            )));
        }
        let real_root = root.canonicalize();
        Ok(Self {
            root: root.to_owned(),
            real_root: real_root.map_err(|error| failed("", &error))?,
        })
    }

    /// The folder.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn has_folder(&self, name: &str) -> bool {
        self.root.join(name).is_dir()
    }

    pub(super) async fn list(&self) -> Result<BTreeSet<String>, SourceError> {
        let root = self.root.clone();
        let has_docs = self.has_folder("docs");
        tokio::task::spawn_blocking(move || {
            let mut paths = BTreeSet::new();
            walk(&root, "", has_docs, &mut paths)?;
            Ok(paths)
        })
        .await
        .map_err(|error| SourceError::Unavailable {
            path: self.root.display().to_string(),
            reason: error.to_string(),
        })?
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let is_plain = |part| matches!(part, Component::Normal(_));
        if !Path::new(path).components().all(is_plain) {
            return Ok(None);
        }
        let full = self.root.join(path);
        let real_root = self.real_root.clone();
        let name = path.to_owned();
        let read = tokio::task::spawn_blocking(move || read_limited(&full, &real_root)).await;
        read.unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|error| failed(&name, &error))
    }
}

/// Reads a file below `real_root`; a link may not lead out of it, and what is no file is not waited for.
fn read_limited(path: &Path, real_root: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    let refused = |reason| Err(std::io::Error::new(ErrorKind::PermissionDenied, reason));
    if !real.starts_with(real_root) {
        return refused("it is a link to a file outside of the site's folder");
    }
    let kind = real.metadata()?;
    if kind.is_dir() {
        return Ok(None);
    }
    if !kind.is_file() {
        return refused("it is no file");
    }
    let file = std::fs::File::open(real)?;
    let mut bytes = Vec::new();
    file.take(MAX_PAGE_BYTES as u64 + 1)
        .read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Collects the files below a folder. Links to folders are not followed: they may lead in circles.
fn walk(
    folder: &Path,
    prefix: &str,
    skip_tools: bool,
    paths: &mut BTreeSet<String>,
) -> Result<(), SourceError> {
    let entries = std::fs::read_dir(folder).map_err(|error| failed(prefix, &error))?;
    for entry in entries {
        let entry = entry.map_err(|error| failed(prefix, &error))?;
        // A name that is not Unicode has no URL.
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        let path = format!("{prefix}{name}");
        let kind = entry.file_type().map_err(|error| failed(&path, &error))?;
        if kind.is_dir() {
            let tool = skip_tools && prefix.is_empty() && SKIPPED_FOLDERS.contains(&name.as_str());
            if !name.starts_with('.') && name != "node_modules" && !tool {
                walk(&entry.path(), &format!("{path}/"), skip_tools, paths)?;
            }
        } else {
            paths.insert(path);
        }
    }
    Ok(())
}

fn failed(path: &str, error: &std::io::Error) -> SourceError {
    let path = if path.is_empty() { "the folder" } else { path }.to_owned();
    let reason = error.to_string();
    match error.kind() {
        ErrorKind::PermissionDenied => SourceError::Forbidden { path, reason },
        _ => SourceError::Unavailable { path, reason },
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
        for refused in ["docs/secret.md", "docs/endless.md", "docs/socket.md"] {
            let error = source.read(refused).await.unwrap_err();
            assert!(matches!(error, SourceError::Forbidden { .. }), "{error}");
        }
        let absolute = outside.path().join("secret.md");
        for absent in ["../secret.md", absolute.to_str().unwrap(), "docs/../../x"] {
            assert_eq!(source.read(absent).await.unwrap(), None, "{absent}");
        }
    }
}
