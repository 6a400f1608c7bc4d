//! The built site of a folder, from which the pages that its sources do not hold are read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::{MAX_PAGE_BYTES, Walk, is_plain, read_bytes, real_file, refused};
use crate::source::{Listing, SourceError, is_private};
use book::{SiteSettings, list_pages, locale_folders, private_name, url_in_build, urls_of_source};

/// The folder of the site in which the pages of a build appear if bookrag.toml names none.
pub(in crate::source) const DEFAULT_FOLDER: &str = "build";

/// A page that Docusaurus writes into the folder of each locale. Without it, the locale is not built yet.
const MARK: &str = "404.html";

/// The built site of a folder.
#[derive(Debug)]
pub(super) struct Build {
    /// The path of the folder in the listing: `build/`.
    path: String,
    folder: PathBuf,
    /// Nothing outside of this folder is read.
    limit: PathBuf,
    /// True if the user named the folder, which then must exist.
    is_named: bool,
    settings: SiteSettings,
    /// The pages of the build that had a source when the site was last listed. They do not count as files of the site.
    copies: Mutex<BTreeSet<String>>,
}

impl Build {
    /// Returns the build of a site with these settings: the `named` folder, which may be anywhere, or the one in the folder `site` that
    /// bookrag.toml names. Nothing outside of `limit` is read because of bookrag.toml, which is not trusted.
    pub(super) fn new(
        settings: &SiteSettings,
        named: Option<&Path>,
        site: &Path,
        limit: &Path,
    ) -> Option<Self> {
        let path = settings.build_folder()?;
        let (folder, limit) = match named {
            // A folder that does not exist yet has no links to resolve.
            Some(named) => (
                named.to_owned(),
                named.canonicalize().unwrap_or(named.to_owned()),
            ),
            None => (site.join(path), limit.to_owned()),
        };
        Some(Self {
            path: format!("{path}/"),
            folder,
            limit,
            is_named: named.is_some(),
            settings: settings.clone(),
            copies: Mutex::default(),
        })
    }

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

    /// Adds the HTML of the build to the listing of the site, except pages that a source has. `read` reads sources.
    pub(super) fn add_pages(&self, listing: &mut Listing, read: impl Fn(&str) -> Option<Vec<u8>>) {
        let mut walk = Walk {
            skip_tools: false,
            site: self.folder.clone(),
            limit: self.limit.clone(),
            listing: Listing::default(),
        };
        walk.outer(&self.folder, self.path.clone());
        listing.paths.retain(|path| !path.starts_with(&self.path));
        let sources = list_pages(&self.settings, &listing.paths);
        let built = list_pages(&self.settings, &walk.listing.paths);
        if !built.is_empty() {
            let urls: BTreeSet<String> = sources
                .iter()
                .flat_map(|page| {
                    let bytes = read(&page.source).unwrap_or_default();
                    urls_of_source(&self.settings, page, &bytes)
                })
                .collect();
            let (copies, only_built): (Vec<_>, Vec<_>) = built
                .into_iter()
                .partition(|page| urls.contains(&url_in_build(&self.settings, page)));
            listing
                .paths
                .extend(only_built.into_iter().map(|page| page.source));
            *self.copies.lock().unwrap_or_else(PoisonError::into_inner) =
                copies.into_iter().map(|page| page.source).collect();
        }
        listing.unreadable.extend(walk.listing.unreadable);
        listing.not_built.extend(self.folders_not_built());
    }

    /// Returns the full path of a file of the build; `None` for the path of another file.
    pub(super) fn file(&self, path: &str) -> Option<PathBuf> {
        let below = path.strip_prefix(&self.path).filter(|it| is_plain(it))?;
        Some(self.folder.join(below))
    }

    /// Reads a file of the build; the outer `None` is for the path of another file.
    pub(super) fn read(&self, path: &str) -> Option<std::io::Result<Option<Vec<u8>>>> {
        let below = path.strip_prefix(&self.path).filter(|it| is_plain(it))?;
        let copies = self.copies.lock().unwrap_or_else(PoisonError::into_inner);
        if copies.contains(path) {
            return Some(Ok(None));
        }
        Some(self.read_below(below))
    }

    fn read_below(&self, path: &str) -> std::io::Result<Option<Vec<u8>>> {
        let Some(file) = real_file(&self.folder.join(path), &self.limit)? else {
            return Ok(None);
        };
        let below = file.strip_prefix(&self.limit).unwrap_or(&file);
        if let Some(name) = private_name(&below.to_string_lossy()) {
            return refused(&is_private(name));
        }
        read_bytes(&file, MAX_PAGE_BYTES + 1).map(Some)
    }

    /// True if a page at this path may exist once the site is built.
    pub(super) fn may_be_built(&self, path: &str) -> bool {
        self.folders_not_built()
            .any(|folder| path.starts_with(&folder))
    }

    /// Returns the paths of the folders of locales that are not built.
    fn folders_not_built(&self) -> impl Iterator<Item = String> {
        locale_folders(&self.settings)
            .into_iter()
            .filter(|folder| !self.folder.join(folder).join(MARK).is_file())
            .map(|folder| format!("{}{folder}", self.path))
    }
}
