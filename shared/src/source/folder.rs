//! A folder on this machine.

use std::collections::BTreeSet;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::book::MAX_PAGE_BYTES;

use super::SourceError;

/// Folders that hold no book: what tools put beside it.
const SKIPPED_FOLDERS: [&str; 4] = ["node_modules", "build", "static", "src"];

/// The book's files in a folder.
#[derive(Debug, Clone)]
pub struct FolderSource {
    root: PathBuf,
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
        Ok(Self {
            root: root.to_owned(),
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
        let full = self.root.join(path);
        let name = path.to_owned();
        let read = tokio::task::spawn_blocking(move || read_limited(&full)).await;
        read.unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|error| failed(&name, &error))
    }
}

fn read_limited(path: &Path) -> std::io::Result<Option<Vec<u8>>> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(error),
    };
    if file.metadata()?.is_dir() {
        return Ok(None);
    }
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
