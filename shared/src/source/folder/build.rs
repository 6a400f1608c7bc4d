//! The built site of a folder, from which pages written as scripts are read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{is_plain, read_limited, refused};
use crate::book::{SiteSettings, built_files, built_pages, default_source, page_file, script_of};
use crate::source::{Listing, SourceError};

/// Where the built site is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum BuildFolder {
    /// Such pages are not read.
    #[default]
    Unread,
    /// The folder named in the site's settings, if any. It may not exist yet, because the site was not built.
    OfSettings,
    /// This folder, which must exist.
    Named(PathBuf),
}

impl BuildFolder {
    /// Returns the build of the site in the folder `site` with these settings.
    pub(super) fn of(&self, site: &Path, settings: &SiteSettings) -> Option<Build> {
        let folder = match self {
            Self::Unread => None,
            Self::OfSettings => settings.build.as_ref().map(|folder| site.join(folder)),
            Self::Named(folder) => Some(folder.clone()),
        };
        Some(Build {
            folder: folder?,
            is_named: matches!(self, Self::Named(_)),
            site: site.to_owned(),
            settings: settings.clone(),
        })
    }
}

/// The built site of a folder.
#[derive(Debug)]
pub(super) struct Build {
    folder: PathBuf,
    /// True if the user named the folder, which may then be anywhere. Otherwise it comes from the site's settings, which are not trusted.
    is_named: bool,
    site: PathBuf,
    settings: SiteSettings,
}

impl Build {
    /// Checks that a folder named by the user exists.
    ///
    /// # Errors
    /// [`SourceError::Unavailable`], because a build of Docusaurus may be about to create it.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        if !self.is_named || self.folder.is_dir() {
            return Ok(());
        }
        Err(SourceError::Unavailable {
            path: self.folder.display().to_string(),
            reason: "there is no such folder; build the site".to_owned(),
        })
    }

    /// Adds the HTML of pages written as scripts to the listing, and lists the pages that have none.
    pub(super) fn add_pages(&self, listing: &mut Listing) -> std::io::Result<()> {
        let folder = self.real_folder()?;
        for (source, files) in built_pages(&self.settings, &listing.paths) {
            let is_built = |folder: &PathBuf| files.iter().any(|file| folder.join(file).is_file());
            if folder.as_ref().is_some_and(is_built) {
                listing.paths.insert(source);
            } else if !listing.paths.contains(&source) {
                listing.not_built.insert(source);
            }
        }
        Ok(())
    }

    /// Reads the HTML at a path of the site. `None` if the path does not belong to a script's HTML, or the page was not built.
    pub(super) fn read(&self, source: &str) -> std::io::Result<Option<Vec<u8>>> {
        if !self.has_script_of(source) {
            return Ok(None);
        }
        let Some(folder) = self.real_folder()? else {
            return Ok(None);
        };
        for file in built_files(&self.settings, source).unwrap_or_default() {
            if !is_plain(&file) {
                continue;
            }
            if let Some(bytes) = read_limited(&folder.join(file), &folder)? {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// True if the path is that of a script's HTML and the site still has the script. The build may be older than the site.
    pub(super) fn has_script_of(&self, source: &str) -> bool {
        if built_files(&self.settings, source).is_none() {
            return false;
        }
        let page = page_file(&self.settings, source);
        let source = page.map(|page| default_source(&self.settings, &page));
        let script = source.as_deref().and_then(script_of);
        script.is_some_and(|script| self.site.join(script).is_file())
    }

    /// Returns the folder's path with links resolved; `None` if the folder does not exist.
    fn real_folder(&self) -> std::io::Result<Option<PathBuf>> {
        let real = match self.folder.canonicalize() {
            Ok(real) => real,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        if !self.is_named && !real.starts_with(self.site.canonicalize()?) {
            return refused("`build` in bookrag.toml is a link to a folder outside of the site's");
        }
        Ok(Some(real))
    }
}
