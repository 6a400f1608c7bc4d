//! The folder of a book's stores on this machine.

use std::env;
use std::fs;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bookrag::catalog::CatalogError;
use bookrag::config::Config;
use bookrag::context::cache_folder;
use uuid::Uuid;

use super::{LocalError, former};
use crate::site::{Site, has_config};

/// The folder's name in a site's folder.
pub(super) const STORES_FOLDER: &str = ".bookrag";
/// The catalog, its full-text index and the vectors.
const STORE_FILE: &str = "book.sqlite";
/// What the names of a database's files end with; its log comes before it, so that a log never lacks its database.
const DATABASE_SUFFIXES: [&str; 3] = ["-wal", "-shm", ""];
/// The key of readers' hashes.
pub(super) const SALT_FILE: &str = "salt";
/// The folder of the indexes that states of sites are compared with, in the user's cache folder or in `BOOKRAG_DATA`.
const DIFF_FOLDER: &str = "diff";
/// Holds the path of the folder last served or synced.
const LAST_USED_FILE: &str = "current";

/// The folder of a book's stores.
#[derive(Debug, Clone)]
pub struct BookFolder {
    /// The folder.
    pub path: PathBuf,
}

impl BookFolder {
    /// Returns the folder of a site's stores: the one that exists, else the one that [`Self::create`] tries first.
    #[must_use]
    pub fn of_site(config: &Config, site: &Site) -> Self {
        let [preferred, other] = places(config, site);
        let is_other = !preferred.is_dir() && other.is_dir();
        Self {
            path: if is_other { other } else { preferred },
        }
    }

    /// Creates the folder of a site's stores, with a `.gitignore` that keeps it out of version control, and takes over
    /// what the former release stored for the site.
    ///
    /// The folder is `.bookrag` in the site's. For a bucket, and if `.bookrag` cannot be created, it is a folder of its own in
    /// the user's data folder. `BOOKRAG_DATA` replaces both.
    ///
    /// # Errors
    /// [`LocalError::Unwritable`] if there is no folder to write to.
    pub async fn create(
        config: &Config,
        site: &Site,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        let [preferred, other] = places(config, site);
        let Self { path: existing } = Self::of_site(config, site);
        let folder = match create_folder(&existing) {
            Err(error) if other != preferred && !preferred.is_dir() && !is_full(&error) => {
                create_folder(&other).map_err(unwritable(&other))?;
                say(&format!(
                    "note: {} cannot be created ({error}); the index is kept in {}",
                    preferred.display(),
                    other.display()
                ));
                Self { path: other }
            }
            created => {
                created.map_err(unwritable(&existing))?;
                Self { path: existing }
            }
        };
        former::take_over(config, site, &folder, say).await?;
        Ok(folder)
    }

    /// Creates the folder of the index that `bookrag diff` compares a site's states with.
    ///
    /// # Errors
    /// [`LocalError::Unwritable`] if it cannot be created.
    pub(crate) fn create_for_diff(config: &Config, site: &Site) -> Result<Self, LocalError> {
        let parent = config.data.clone().unwrap_or_else(cache_folder);
        let path = parent.join(DIFF_FOLDER).join(unique_name(site));
        let path = std::path::absolute(&path).unwrap_or(path);
        create_folder(&path).map_err(unwritable(&path))?;
        Ok(Self { path })
    }

    /// Returns the folder of the site that is named, else of the one that the current folder is in, else of the one last
    /// served or synced.
    ///
    /// # Errors
    /// [`LocalError::NoBook`] if that was never indexed.
    pub fn find(config: &Config, site: Option<&Path>) -> Result<Self, LocalError> {
        let is_hosted = config.database_url.is_some();
        if let Some(site) = site {
            let site = Site::read(site)?;
            let folder = Self::of_site(config, &site);
            return if is_hosted || folder.has_store() {
                Ok(folder)
            } else {
                Err(LocalError::NoBook(format!(" of {}", site.address())))
            };
        }
        let is_indexed = |folder: &Self| folder.has_store() || is_hosted && folder.path.is_dir();
        let here = env::current_dir().unwrap_or_default();
        for ancestor in here.ancestors() {
            let folder = Self::of_site(config, &Site::Folder(ancestor.to_owned()));
            if is_indexed(&folder) {
                return Ok(folder);
            }
            if has_config(ancestor) {
                return Err(LocalError::NoBook(format!(" of {}", ancestor.display())));
            }
        }
        let path = fs::read_to_string(data(config).join(LAST_USED_FILE)).unwrap_or_default();
        let last = Self {
            path: PathBuf::from(path.trim()),
        };
        if is_indexed(&last) {
            return Ok(last);
        }
        Err(LocalError::NoBook(String::new()))
    }

    /// Makes it the folder that commands take outside of any site.
    pub fn make_current(&self, config: &Config) {
        let data = data(config);
        let path = self.path.to_string_lossy();
        // Without it, commands outside of a site must name their book: no reason to fail.
        let _ = fs::create_dir_all(&data)
            .and_then(|()| fs::write(data.join(LAST_USED_FILE), path.as_bytes()));
    }

    /// The file of the local stores.
    #[must_use]
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join(STORE_FILE)
    }

    /// True if a book was indexed into the local stores.
    #[must_use]
    pub(crate) fn has_store(&self) -> bool {
        self.store().is_file()
    }

    /// Returns the secret that readers are hashed with where none is configured: made once and kept beside the catalog.
    pub(super) fn salt(&self) -> Result<String, LocalError> {
        let path = self.path.join(SALT_FILE);
        let kept = create_folder(&self.path).and_then(|()| kept_secret(&path));
        kept.map_err(unwritable(&path))
    }

    /// The bytes of all its files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        // A file that is removed meanwhile counts nothing.
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        files
            .filter_map(|file| file.metadata().ok())
            .map(|file| file.len())
            .sum()
    }

    /// Moves the store aside. Returns its new path: conversations and judgements may still be read from it.
    pub(crate) fn set_store_aside(&self) -> Result<PathBuf, LocalError> {
        let seconds = SystemTime::UNIX_EPOCH
            .elapsed()
            .unwrap_or_default()
            .as_secs();
        let aside = format!("{STORE_FILE}.damaged-{seconds}");
        let aside = self.path.join(aside);
        move_database(&self.store(), &aside).map_err(unwritable(&self.path))?;
        Ok(aside)
    }

    /// Deletes its files, and the folder with them unless something else is in it.
    pub(crate) fn delete(&self) -> Result<(), LocalError> {
        let failed = || unwritable(&self.path);
        for entry in fs::read_dir(&self.path).map_err(failed())? {
            let entry = entry.map_err(failed())?;
            if entry.file_type().map_err(failed())?.is_file() {
                fs::remove_file(entry.path()).map_err(unwritable(&entry.path()))?;
            }
        }
        match fs::remove_dir(&self.path) {
            Err(error) if error.kind() != ErrorKind::DirectoryNotEmpty => Err(failed()(error)),
            _ => Ok(()),
        }
    }
}

/// Moves a database with the files that belong to it.
pub(super) fn move_database(from: &Path, to: &Path) -> io::Result<()> {
    let with = |path: &Path, suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    for suffix in DATABASE_SUFFIXES {
        let (from, to) = (with(from, suffix), with(to, suffix));
        if !from.exists() {
            continue;
        }
        match fs::rename(&from, &to) {
            Err(error) if error.kind() == ErrorKind::CrossesDevices => {
                fs::copy(&from, &to)?;
                fs::remove_file(&from)?;
            }
            moved => moved?,
        }
    }
    Ok(())
}

/// Where a site's stores may be: the preferred place, and the one for sites that cannot hold them.
fn places(config: &Config, site: &Site) -> [PathBuf; 2] {
    let own = data(config).join(unique_name(site));
    match site.folder() {
        Some(folder) if config.data.is_none() => [folder.join(STORES_FOLDER), own],
        _ => [own.clone(), own],
    }
}

/// The folder of the stores that are in no site, and of the file that names the book last used.
fn data(config: &Config) -> PathBuf {
    let is_set = |path: &PathBuf| !path.as_os_str().is_empty();
    let variable = |name| env::var_os(name).map(PathBuf::from).filter(is_set);
    let data = config.data.clone().unwrap_or_else(|| {
        let home = || env::home_dir().filter(is_set);
        variable("XDG_DATA_HOME")
            .or_else(|| variable("LOCALAPPDATA"))
            .or_else(|| home().map(|home| home.join(".local").join("share")))
            .map_or_else(|| PathBuf::from(STORES_FOLDER), |data| data.join("bookrag"))
    });
    std::path::absolute(&data).unwrap_or(data)
}

/// A folder's name that no other site has: `garden-1f0c9a2b`, the digits a hash of its address.
pub(super) fn unique_name(site: &Site) -> String {
    let name: String = site
        .name()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, site.address().as_bytes())
        .simple()
        .to_string();
    format!("{name}-{}", &id[..8])
}

fn create_folder(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    // Opened for writing even if it is there: so a folder that cannot be written to is found before anything is indexed.
    let mut options = fs::OpenOptions::new();
    let mut ignore = options
        .append(true)
        .create(true)
        .open(path.join(".gitignore"))?;
    if ignore.metadata()?.len() == 0 {
        ignore.write_all(b"*\n")?;
    }
    Ok(())
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded
    )
}

/// Names the path of an error.
pub(crate) fn unwritable(path: &Path) -> impl FnOnce(io::Error) -> LocalError + use<> {
    let path = path.to_owned();
    move |source| {
        if is_full(&source) {
            CatalogError::StorageFull { path }.into()
        } else {
            LocalError::Unwritable { path, source }
        }
    }
}

/// Reads the secret in a file that only its owner may read. Creates it if it is missing.
fn kept_secret(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Ok(secret) if !secret.trim().is_empty() => return Ok(secret.trim().to_owned()),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        // None yet, or a process died before it was written.
        _ => {}
    }
    let secret = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(secret.as_bytes())?;
    Ok(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_is_made_once_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("salt");
        let first = kept_secret(&path).unwrap();
        assert_eq!(first.len(), 64);
        let second = kept_secret(&path).unwrap();
        assert_eq!(first, second);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::MetadataExt::mode(&path.metadata().unwrap());
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(&path, "").unwrap();
        let anew = kept_secret(&path).unwrap();
        assert_ne!(first, anew);
    }
}
