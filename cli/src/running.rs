//! The one `serve` of a book on this machine. Other commands open the stores beside it, but leave its site's runs to it.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;

use reqwest::{Method, RequestBuilder};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::local::{BookFolder, LocalError, unwritable};

/// Locked while a `serve` runs.
const LOCK_FILE: &str = "serve.lock";
/// Says where that `serve` listens. One that a killed server left counts for nothing: its lock is gone.
const NOTICE_FILE: &str = "serve.json";

/// Carries the secret of a server's notice: who can read that file is a program of the person who runs the server, and no
/// page in a browser, no other user and nobody behind a proxy.
pub(crate) const SECRET_HEADER: &str = "x-bookrag-secret";

/// A book's folder, held against other servers and against `reset` until it is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    folder: BookFolder,
    _lock: File,
}

impl Hold {
    /// Locks the folder, which must exist.
    ///
    /// # Errors
    /// [`LocalError::InUse`] if a server holds it.
    pub(crate) fn take(folder: &BookFolder) -> Result<Self, LocalError> {
        let path = folder.path.join(LOCK_FILE);
        let failed = || unwritable(&path);
        let mut lock = open_lock(&path).map_err(failed())?;
        match lock.try_lock() {
            Ok(()) => {
                // One that a killed server left must not pass for this process's.
                remove_notice(folder);
                lock.set_len(0).map_err(failed())?;
                lock.write_all(this_process().as_bytes())
                    .map_err(failed())?;
                Ok(Self {
                    folder: folder.clone(),
                    _lock: lock,
                })
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Where a locked file cannot be read (Windows), the holder is not known.
                if lock.read_to_string(&mut holder).is_err() || holder.is_empty() {
                    "another process".clone_into(&mut holder);
                }
                Err(LocalError::InUse {
                    path: folder.path.clone(),
                    holder,
                })
            }
            Err(TryLockError::Error(error)) => Err(failed()(error)),
        }
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &BookFolder {
        &self.folder
    }

    /// Says where this server listens. Returns the secret that lets commands in, see [`SECRET_HEADER`].
    pub(crate) fn announce(&self, address: SocketAddr) -> Result<String, LocalError> {
        let notice = Notice {
            address,
            secret: Uuid::new_v4().to_string(),
        };
        let path = self.folder.path.join(NOTICE_FILE);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let json = serde_json::to_vec(&notice).expect("a notice serialises");
        let written = options
            .open(&path)
            .and_then(|mut file| file.write_all(&json));
        written.map_err(unwritable(&path))?;
        Ok(notice.secret)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        remove_notice(&self.folder);
    }
}

fn remove_notice(folder: &BookFolder) {
    // One that stays counts for nothing without the lock.
    let _ = fs::remove_file(folder.path.join(NOTICE_FILE));
}

#[derive(Debug, Serialize, Deserialize)]
struct Notice {
    address: SocketAddr,
    secret: String,
}

/// A running server.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// Its URL, without a slash at the end.
    pub(crate) url: String,
    secret: String,
}

impl Running {
    /// Returns the server that holds a book's folder, once it listens.
    pub(crate) fn find(folder: &BookFolder) -> Option<Self> {
        let notice = fs::read(folder.path.join(NOTICE_FILE)).ok()?;
        let notice: Notice = serde_json::from_slice(&notice).ok()?;
        let lock = File::open(folder.path.join(LOCK_FILE)).ok()?;
        let is_held = matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
        is_held.then(|| Self {
            url: format!("http://{}", notice.address),
            secret: notice.secret,
        })
    }

    /// A request to what only commands may ask.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = client().request(method, format!("{}{path}", self.url));
        request.header(SECRET_HEADER, &self.secret)
    }
}

fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).read(true).write(true);
    options.open(path)
}

/// This process, for people: `process 4711 (bookrag serve)`.
fn this_process() -> String {
    let command = std::env::args().nth(1).unwrap_or_default();
    format!("process {} (bookrag {command})", std::process::id())
}

/// A client for servers on this machine: no proxy stands between.
pub(crate) fn client() -> reqwest::Client {
    // A second process-wide default is refused and not needed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client without options of its own can be built")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, BookFolder) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        (folder, BookFolder { path })
    }

    #[test]
    fn a_notice_counts_while_its_server_lives() {
        let (_folder, folder) = folder();
        let hold = Hold::take(&folder).expect("nobody holds it");
        assert!(Running::find(&folder).is_none(), "it does not listen yet");
        let secret = hold.announce(([127, 0, 0, 1], 1).into()).expect("written");
        let found = Running::find(&folder).expect("it runs");
        assert_eq!(
            (found.url.as_str(), found.secret),
            ("http://127.0.0.1:1", secret)
        );
        let notice = folder.path.join(NOTICE_FILE);
        let left_behind = fs::read(&notice).expect("there");
        drop(hold);
        assert!(!notice.exists());
        fs::write(&notice, left_behind).expect("written");
        assert!(Running::find(&folder).is_none(), "it was killed");
    }

    #[test]
    fn a_folder_has_one_server() {
        let (_folder, folder) = folder();
        let first = Hold::take(&folder).expect("nobody holds it");
        let second = Hold::take(&folder).expect_err("it is held").to_string();
        assert!(second.contains(&this_process()), "{second}");
        drop(first);
        Hold::take(&folder).expect("nobody holds it any more");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_the_secret() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};

        let (_folder, folder) = folder();
        let notice = folder.path.join(NOTICE_FILE);
        fs::write(&notice, "left by a killed server").expect("written");
        let all = fs::Permissions::from_mode(0o666);
        fs::set_permissions(&notice, all).expect("changed");
        let hold = Hold::take(&folder).expect("nobody holds it");
        hold.announce(([127, 0, 0, 1], 1).into()).expect("written");
        assert_eq!(notice.metadata().expect("there").mode() & 0o777, 0o600);
    }
}
