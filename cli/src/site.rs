//! Where a book is: a folder on this machine, or a bucket's prefix.

use std::path::{Path, PathBuf};

use bookrag::book::SETTINGS_FILES;
use bookrag::source::{FolderSource, S3Source, Source, SourceError};

/// A book's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// A folder, its path absolute.
    Folder(PathBuf),
    /// `s3://bucket/prefix`.
    Bucket(String),
}

impl Site {
    /// Reads what a person typed: a path, or `s3://bucket/prefix`.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] when there is no such folder.
    pub fn read(typed: &Path) -> Result<Self, SourceError> {
        if let Some(url) = typed.to_str().filter(|text| text.starts_with("s3://")) {
            return Ok(Self::Bucket(url.trim_end_matches('/').to_owned()));
        }
        let missing = |_| SourceError::NotFound(format!("the folder {}", typed.display()));
        typed.canonicalize().map(Self::Folder).map_err(missing)
    }

    /// The folder, if it is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(path) => Some(path),
            Self::Bucket(_) => None,
        }
    }

    /// What to tell of a folder that is no Docusaurus site: its settings are guessed.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let folder = self.folder()?;
        if has_config(folder) {
            return None;
        }
        let pages = if folder.join("docs").is_dir() {
            "the pages are taken from its folder `docs`"
        } else {
            "all .md and .mdx files in it are taken for pages"
        };
        Some(format!(
            "note: there is no docusaurus.config file in {}; {pages}, with Docusaurus's defaults",
            folder.display()
        ))
    }

    /// The address in full, which tells this book from others.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::Folder(path) => path.to_string_lossy().into_owned(),
            Self::Bucket(url) => url.clone(),
        }
    }

    /// The last part of the address.
    #[must_use]
    pub fn name(&self) -> String {
        let address = self.address();
        let name = address.rsplit(['/', '\\']).next().unwrap_or_default();
        if name.is_empty() { "book" } else { name }.to_owned()
    }

    /// Its files.
    pub async fn source(&self) -> Result<Source, SourceError> {
        match self {
            Self::Folder(path) => Ok(Source::Folder(FolderSource::open(path)?)),
            Self::Bucket(url) => Ok(Source::S3(S3Source::connect(url).await?)),
        }
    }
}

/// Whether a folder has a configuration, of Docusaurus or our own.
pub(crate) fn has_config(folder: &Path) -> bool {
    let mut names = SETTINGS_FILES
        .iter()
        .filter(|name| name.starts_with("bookrag") || name.starts_with("docusaurus"));
    names.any(|name| folder.join(name).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_told_from_a_folder() {
        let bucket = Site::read(Path::new("s3://books/robots/")).unwrap();
        assert_eq!(bucket, Site::Bucket("s3://books/robots".to_owned()));
        assert_eq!(bucket.name(), "robots");
        let folder = Site::read(Path::new(".")).unwrap();
        assert!(folder.folder().unwrap().is_absolute());
        let missing = Site::read(Path::new("s3:/books")).unwrap_err().to_string();
        assert_eq!(missing, "the folder s3:/books does not exist");
    }
}
