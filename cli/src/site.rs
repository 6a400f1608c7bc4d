//! A book's location: a folder on this machine, or a prefix in a bucket.

mod find;

use std::path::{Path, PathBuf};

use bookrag::book::{SETTINGS_FILES, SettingsError, SiteSettings, build_folder, is_front_page};
use bookrag::source::{FolderSource, Source, SourceError};

use crate::commands::output;
use find::{site_of_docs, sites_below};

/// The location of a book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Site {
    /// A folder.
    Folder {
        /// Its absolute path.
        path: PathBuf,
        /// The folder of the built site, from which pages that the sources do not hold are read. `None` uses the one named in the site's settings, if
        /// any.
        build: Option<PathBuf>,
    },
    /// `s3://bucket/prefix`.
    Bucket(String),
}

impl Site {
    /// Parses a path or `s3://bucket/prefix`. A folder without a config, such as the root of a repository, stands for the only Docusaurus site below
    /// it; a message says which that is.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] if the folder does not exist, [`SourceError::SeveralSites`] if there are several sites below it.
    pub fn read(typed: &Path) -> Result<Self, SourceError> {
        if let Some(url) = typed.to_str().filter(|text| text.starts_with("s3://")) {
            return Ok(Self::Bucket(url.trim_end_matches('/').to_owned()));
        }
        let path = typed
            .canonicalize()
            .map_err(|_| SourceError::NotFound(format!("the folder {}", typed.display())))?;
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

    /// Returns the folder that `--build` names.
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

    /// True if the folder is a built site. It may be published, so nothing is written into it.
    #[must_use]
    pub(crate) fn is_build(&self) -> bool {
        let index = self.folder().map(|folder| folder.join("index.html"));
        let html = index.and_then(|index| std::fs::read_to_string(index).ok());
        let has_config = self
            .folder()
            .is_some_and(|folder| has_file(folder, "docusaurus"));
        !has_config && html.is_some_and(|html| is_front_page(&html))
    }

    /// Returns what to say about a folder that is not read as the sources of a Docusaurus site.
    ///
    /// # Errors
    /// If the site's files cannot be read.
    pub async fn note(&self) -> Result<Option<String>, SourceError> {
        let Some(folder) = self.folder() else {
            return Ok(None);
        };
        if self.is_build() {
            return Ok(Some(format!(
                "note: {} is a built site; its pages are read from their HTML",
                folder.display()
            )));
        }
        if let Some((build, error)) = self.stand_in().await? {
            return Ok(Some(format!(
                "note: the pages are read from the built site in {}, and are as old as it, because the sources cannot be read: {error}",
                build.display()
            )));
        }
        Ok(Self::note_on_sources(folder).await)
    }

    /// Returns a warning for sources without a config, whose settings are guessed. Names the site whose docs the folder holds, if that is certain.
    async fn note_on_sources(folder: &Path) -> Option<String> {
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
            "note: there is no docusaurus.config file and no index.html of a built site in {}; {pages}, with Docusaurus's defaults{}",
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
        Ok(self.opened().await?.0)
    }

    /// Opens the site's files and reads its settings.
    ///
    /// # Errors
    /// As [`Self::source`].
    pub(crate) async fn opened(&self) -> Result<(Source, SiteSettings), SourceError> {
        let source = match self {
            Self::Folder { path, build } => {
                if let Some((folder, _)) = self.stand_in().await? {
                    let source = Source::Folder(FolderSource::open(&folder)?);
                    let settings = source.settings().await?;
                    return Ok((source, settings));
                }
                let folder = FolderSource::open(path)?;
                Source::Folder(match build.clone() {
                    Some(build) => folder.with_build(build),
                    None => folder,
                })
            }
            Self::Bucket(url) => Source::bucket(url).await?,
        };
        source.opened().await
    }

    /// Returns the built site that is read instead of the sources, and the error in their config that prevents reading them. `None` if the sources
    /// can be read, or no folder with a built site is known.
    async fn stand_in(&self) -> Result<Option<(PathBuf, SettingsError)>, SourceError> {
        let Self::Folder { path, build } = self else {
            return Ok(None);
        };
        let error = match Source::Folder(FolderSource::open(path)?).settings().await {
            Err(SourceError::Settings(error)) if error.file != "bookrag.toml" => error,
            _ => return Ok(None),
        };
        let folder = build.clone().or_else(|| configured_build(path));
        let folder = folder.filter(|folder| {
            Self::Folder {
                path: folder.clone(),
                build: None,
            }
            .is_build()
        });
        Ok(folder.map(|folder| (folder, error)))
    }
}

/// Returns the folder of the built site that a site's bookrag.toml names.
fn configured_build(site: &Path) -> Option<PathBuf> {
    let toml = std::fs::read_to_string(site.join("bookrag.toml")).ok()?;
    Some(site.join(build_folder(&toml)?))
}

/// True if a folder has a configuration file of Docusaurus or of bookrag.
pub(crate) fn has_config(folder: &Path) -> bool {
    has_file(folder, "bookrag") || has_file(folder, "docusaurus")
}

/// True if a folder has a file of settings whose name begins with `start`.
fn has_file(folder: &Path, start: &str) -> bool {
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
