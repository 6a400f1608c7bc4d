//! A book's location: a folder on this machine, or a prefix in a bucket.

mod find;

use std::path::{Path, PathBuf};

use bookrag::book::SETTINGS_FILES;
use bookrag::source::{BuildFolder, FolderSource, S3Source, Source, SourceError};

use crate::commands::output;
use find::{site_of_docs, sites_below};

/// The location of a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// A folder.
    Folder {
        /// Its absolute path.
        path: PathBuf,
        /// The folder of the built site, from which pages written as scripts are read. `None` uses the one named in the site's settings, if any.
        build: Option<PathBuf>,
    },
    /// `s3://bucket/prefix`.
    Bucket(String),
}

impl Site {
    /// Parses a path or `s3://bucket/prefix`. A folder without a config, such as the root of a repository, stands for the only Docusaurus site below it;
    /// a message says which that is.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] if the folder does not exist, [`SourceError::SeveralSites`] if there are several sites below it.
    pub fn read(typed: &Path) -> Result<Self, SourceError> {
        if let Some(url) = typed.to_str().filter(|text| text.starts_with("s3://")) {
            return Ok(Self::Bucket(url.trim_end_matches('/').to_owned()));
        }
        let missing = |_| SourceError::NotFound(format!("the folder {}", typed.display()));
        let path = typed.canonicalize().map_err(missing)?;
        if has_config(&path) {
            return Ok(Self::Folder { path, build: None });
        }
        let mut sites = sites_below(&path, usize::MAX);
        if sites.len() > 1 {
            let sites = sites.iter().map(|site| site.display().to_string());
            return Err(SourceError::SeveralSites {
                at: typed.display().to_string(),
                sites: sites.collect(),
            });
        }
        if let Some(site) = sites.first() {
            output::status(&format!(
                "the site of {} is in {}",
                typed.display(),
                site.display()
            ));
        }
        let path = sites.pop().unwrap_or(path);
        Ok(Self::Folder { path, build: None })
    }

    /// Returns the site with another build folder than its settings name. Ignored for a bucket, which contains the HTML itself.
    #[must_use]
    pub fn with_build(self, folder: &Path) -> Self {
        match self {
            Self::Folder { path, .. } => Self::Folder {
                path,
                build: Some(folder.to_owned()),
            },
            bucket @ Self::Bucket(_) => bucket,
        }
    }

    /// The folder that `--build` names.
    #[must_use]
    pub fn named_build(&self) -> Option<&Path> {
        match self {
            Self::Folder { build, .. } => build.as_deref(),
            Self::Bucket(_) => None,
        }
    }

    /// Returns the folder, if it is one.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder { path, .. } => Some(path),
            Self::Bucket(_) => None,
        }
    }

    /// Returns a warning for a folder that is not a Docusaurus site, whose settings are guessed. Names the site that it holds the docs of, if that is
    /// certain.
    pub async fn note(&self) -> Option<String> {
        let folder = self.folder()?;
        if has_config(folder) {
            return None;
        }
        let pages = if folder.join("docs").is_dir() {
            "the pages are taken from its folder `docs`"
        } else {
            "all .md and .mdx files in it are taken for pages"
        };
        let owner = site_of_docs(folder).await.map(|site| {
            let site = site.display();
            format!(". These are pages of the site in {site}: name that folder to read them with its settings")
        });
        Some(format!(
            "note: there is no docusaurus.config file in {}; {pages}, with Docusaurus's defaults{}",
            folder.display(),
            owner.unwrap_or_default()
        ))
    }

    /// Returns the full address, which identifies the book.
    #[must_use]
    pub fn address(&self) -> String {
        match self {
            Self::Folder { path, .. } => path.to_string_lossy().into_owned(),
            Self::Bucket(url) => url.clone(),
        }
    }

    /// Returns the last part of the address.
    #[must_use]
    pub fn name(&self) -> String {
        let address = self.address();
        let name = address.rsplit(['/', '\\']).next().unwrap_or_default();
        if name.is_empty() { "book" } else { name }.to_owned()
    }

    /// Opens the site's files.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] if the site does not exist.
    pub async fn source(&self) -> Result<Source, SourceError> {
        let source = match self {
            Self::Folder { path, build } => {
                let build = build.clone();
                let build = build.map_or(BuildFolder::OfSettings, BuildFolder::Named);
                Source::Folder(FolderSource::open(path)?.with_build(build))
            }
            Self::Bucket(url) => Source::S3(S3Source::connect(url).await?),
        };
        Ok(source.opened().await?.0)
    }
}

/// True if a folder has a configuration file of Docusaurus or of bookrag.
pub(crate) fn has_config(folder: &Path) -> bool {
    has_settings(folder, "docusaurus") || has_settings(folder, "bookrag")
}

/// True if a folder has a settings file whose name begins so.
fn has_settings(folder: &Path, start: &str) -> bool {
    let mut names = SETTINGS_FILES.iter().filter(|name| name.starts_with(start));
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
