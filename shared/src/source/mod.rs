//! Port: where the book's files are.

mod cache;
mod folder;
#[cfg(test)]
mod memory;
#[cfg(feature = "s3")]
mod s3;

use std::collections::{BTreeMap, BTreeSet};

use crate::book::{
    Inputs, PageFile, SETTINGS_FILES, SettingsError, SiteSettings, is_too_much, missing_inputs,
    settings_text,
};

pub use cache::FileCache;
pub use folder::FolderSource;
#[cfg(test)]
pub use memory::MemorySource;
#[cfg(feature = "s3")]
pub use s3::{S3Source, aws_config};

/// The book's files: a folder, or a prefix of a bucket.
#[derive(Debug, Clone)]
pub enum Source {
    /// A folder on this machine.
    Folder(FolderSource),
    /// A bucket's prefix.
    #[cfg(feature = "s3")]
    S3(S3Source),
    /// Files in memory, for the simulation of the ingest protocol.
    #[cfg(test)]
    Memory(MemorySource),
}

/// Why a file could not be listed or read. An absent file is no error.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The folder or bucket itself is not there.
    #[error("{0} does not exist")]
    NotFound(String),
    /// It is there and may not be read.
    #[error("{path} may not be read: {reason}")]
    Forbidden {
        /// What was read.
        path: String,
        /// What the system or service said.
        reason: String,
    },
    /// The site's settings cannot be read: for the author to correct. To try again does not help.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Anything that may pass.
    #[error("{path} could not be read: {reason}")]
    Unavailable {
        /// What was read.
        path: String,
        /// What the system or service said.
        reason: String,
    },
}

impl Source {
    /// The paths of all files below the root, `/` between their parts.
    pub async fn list(&self) -> Result<BTreeSet<String>, SourceError> {
        match self {
            Self::Folder(folder) => folder.list().await,
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.list().await,
            #[cfg(test)]
            Self::Memory(files) => files.list().await,
        }
    }

    /// The content of a file; `None` when there is none at this path. A file above the page limit is cut just past it.
    pub async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        match self {
            Self::Folder(folder) => folder.read(path).await,
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.read(path).await,
            #[cfg(test)]
            Self::Memory(files) => files.read(path).await,
        }
    }

    /// The site's settings.
    ///
    /// # Errors
    /// [`SourceError::Settings`] if one of their files cannot be parsed.
    pub async fn settings(&self) -> Result<SiteSettings, SourceError> {
        let mut files = BTreeMap::new();
        for name in SETTINGS_FILES {
            if let Some(bytes) = self.read(name).await? {
                files.insert(name.to_owned(), settings_text(name, &bytes)?);
            }
        }
        let has_docs_folder = match self {
            Self::Folder(folder) => folder.has_folder("docs"),
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.has_folder("docs").await?,
            #[cfg(test)]
            Self::Memory(_) => true,
        };
        Ok(SiteSettings::read(&files, has_docs_folder)?)
    }

    /// All other files that reading a page uses or looks for: from `files`, where they are.
    pub async fn inputs(
        &self,
        settings: &SiteSettings,
        page: &PageFile,
        bytes: &[u8],
        files: &FileCache,
    ) -> Result<Inputs, SourceError> {
        let mut inputs = Inputs::new();
        loop {
            let missing = missing_inputs(settings, page, bytes, &inputs);
            if missing.is_empty() {
                return Ok(inputs);
            }
            for path in missing {
                let content = files.read(self, &path).await?;
                inputs.insert(path, content);
                if is_too_much(&inputs) {
                    return Ok(inputs);
                }
            }
        }
    }
}
