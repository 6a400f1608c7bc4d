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

use super::LocalError;
use crate::site::{Site, has_config};

/// The folder's name in a site's folder.
const STORES_FOLDER: &str = ".bookrag";
/// The name of the file that holds the catalog, its full-text index and the vectors.
const STORE_FILE: &str = "book.sqlite";
/// Suffixes of a database's files. The database is moved last, so that its log is never left without it.
const DATABASE_SUFFIXES: [&str; 3] = ["-wal", "-shm", ""];
/// The name of the file that holds the key of readers' hashes.
const SALT_FILE: &str = "salt";
/// The name of the folder with the indexes of `bookrag diff`, in the user's cache folder or in `BOOKRAG_DATA`.
const DIFF_FOLDER: &str = "diff";
/// The name of the file that holds the path of the folder last served or synced.
const LAST_USED_FILE: &str = "current";

/// The folder of a book's stores.
#[derive(Debug, Clone)]
pub struct BookFolder {
    /// The path of the folder.
    pub path: PathBuf,
}

impl BookFolder {
    /// Returns the folder of a site's stores: the existing one, else the one that [`Self::create`] tries first.
    #[must_use]
    pub fn of_site(config: &Config, site: &Site) -> Self {
        let [preferred, other] = places(config, site);
        let is_other = !preferred.is_dir() && other.is_dir();
        Self {
            path: if is_other { other } else { preferred },
        }
    }

    /// Creates the folder of a site's stores, with a `.gitignore` that excludes it.
    ///
    /// The folder is `.bookrag` in the site. For a bucket and a built site, and if `.bookrag` cannot be created, it is a folder in
    /// the user's data folder. `BOOKRAG_DATA` replaces both.
    ///
    /// # Errors
    /// [`LocalError::Unwritable`] if no folder is writable.
    pub fn create(config: &Config, site: &Site, say: impl Fn(&str)) -> Result<Self, LocalError> {
        let [preferred, other] = places(config, site);
        let Self { path: existing } = Self::of_site(config, site);
        match create_folder(&existing) {
            Err(error) if other != preferred && !preferred.is_dir() && !is_full(&error) => {
                create_folder(&other).map_err(unwritable(&other))?;
                say(&format!(
                    "note: {} cannot be created ({error}); the index is kept in {}",
                    preferred.display(),
                    other.display()
                ));
                Ok(Self { path: other })
            }
            created => {
                created.map_err(unwritable(&existing))?;
                Ok(Self { path: existing })
            }
        }
    }

    /// Creates the folder of the index for `bookrag diff`.
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

    /// Returns the folder of the given site, else of the site that contains the current folder, else the folder last
    /// served or synced.
    ///
    /// # Errors
    /// [`LocalError::NoBook`] if that book was never indexed.
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
        let here = env::current_dir().unwrap_or_default();
        for ancestor in here.ancestors() {
            let path = ancestor.to_owned();
            let folder = Self::of_site(config, &Site::Folder { path, build: None });
            if folder.has_store() || is_hosted && folder.path.is_dir() {
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
        if last.has_store() || is_hosted && last.path.is_dir() {
            return Ok(last);
        }
        Err(LocalError::NoBook(String::new()))
    }

    /// Makes this folder the default for commands that are run outside of any site.
    pub fn make_current(&self, config: &Config) {
        let data = data(config);
        let path = self.path.to_string_lossy();
        // A failure is harmless: commands outside of a site then require a site as an argument.
        let _ = fs::create_dir_all(&data)
            .and_then(|()| fs::write(data.join(LAST_USED_FILE), path.as_bytes()));
    }

    /// Returns the path of the SQLite file.
    #[must_use]
    pub(crate) fn store(&self) -> PathBuf {
        self.path.join(STORE_FILE)
    }

    /// True if a book was indexed into the local stores.
    #[must_use]
    pub(crate) fn has_store(&self) -> bool {
        self.store().is_file()
    }

    /// Returns the secret for hashing readers if none is configured: created once and stored beside the catalog.
    pub(super) fn salt(&self) -> Result<String, LocalError> {
        let path = self.path.join(SALT_FILE);
        let kept = create_folder(&self.path).and_then(|()| kept_secret(&path));
        kept.map_err(unwritable(&path))
    }

    /// Returns the size of the folder's files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        // A file that is deleted in the meantime counts as empty.
        let files = fs::read_dir(&self.path).into_iter().flatten().flatten();
        files
            .filter_map(|file| file.metadata().ok())
            .map(|file| file.len())
            .sum()
    }

    /// Moves the store aside, and returns its new path. Conversations and feedback may still be readable.
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

    /// Deletes all files in the folder, and the folder itself if it has no subfolder.
    pub(crate) fn delete(&self) -> Result<(), LocalError> {
        let path = &self.path;
        for entry in fs::read_dir(path).map_err(unwritable(path))? {
            let entry = entry.map_err(unwritable(path))?;
            if entry.file_type().map_err(unwritable(path))?.is_file() {
                fs::remove_file(entry.path()).map_err(unwritable(&entry.path()))?;
            }
        }
        match fs::remove_dir(path) {
            Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
            removed => removed.map_err(unwritable(path)),
        }
    }
}

/// Renames all files of a database.
fn move_database(from: &Path, to: &Path) -> io::Result<()> {
    for suffix in DATABASE_SUFFIXES {
        let from = with_suffix(from, suffix);
        if from.exists() {
            fs::rename(&from, with_suffix(to, suffix))?;
        }
    }
    Ok(())
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the possible folders of a site's stores: the preferred one, and the fallback.
fn places(config: &Config, site: &Site) -> [PathBuf; 2] {
    let own = data(config).join(unique_name(site));
    match site.folder() {
        Some(folder) if config.data.is_none() && !site.is_build() => {
            [folder.join(STORES_FOLDER), own]
        }
        _ => [own.clone(), own],
    }
}

/// Returns the folder of stores outside of sites and of the file that names the book last used.
fn data(config: &Config) -> PathBuf {
    let data = match &config.data {
        Some(data) => data.clone(),
        None => user_data().map_or(STORES_FOLDER.into(), |data| data.join("bookrag")),
    };
    std::path::absolute(&data).unwrap_or(data)
}

/// Returns the folder of the user's data of all programs.
fn user_data() -> Option<PathBuf> {
    ["XDG_DATA_HOME", "LOCALAPPDATA"]
        .into_iter()
        .find_map(|name| env::var_os(name).filter(|path| !path.is_empty()))
        .map(PathBuf::from)
        .or_else(|| {
            let home = env::home_dir().filter(|home| !home.as_os_str().is_empty())?;
            Some(home.join(".local").join("share"))
        })
}

/// Returns a unique folder name for a site: `garden-1f0c9a2b`, where the digits are a hash of its address.
fn unique_name(site: &Site) -> String {
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
    // Open the file for writing even if it exists, to detect a read-only folder before indexing.
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

/// Converts an I/O error, adding its path.
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

/// Reads the secret from a file that only its owner may read. Creates it if it is missing.
fn kept_secret(path: &Path) -> io::Result<String> {
    match fs::read_to_string(path) {
        Ok(secret) if !secret.trim().is_empty() => return Ok(secret.trim().to_owned()),
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        // The file is missing, or a process died before writing it.
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
