//! Ensures one `serve` per book on this machine. Other commands open the stores too, but leave syncs to the server.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::Path;

use reqwest::{Method, RequestBuilder};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::local::{BookFolder, LocalError, unwritable};

/// Locked while a `serve` runs.
const LOCK_FILE: &str = "serve.lock";
/// The file with the address of the running `serve`. Ignored unless its lock is held, because a killed server may have left it.
const NOTICE_FILE: &str = "serve.json";

/// The header with the secret from a running server's notice file. Only programs of the user who runs the server can read that file: no browser
/// page, no other user and nobody behind a proxy.
pub(crate) const SECRET_HEADER: &str = "x-bookrag-secret";

/// A lock on a book's folder against other servers and `reset`, until dropped.
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
        let mut lock = open_lock(&path).map_err(unwritable(&path))?;
        match lock.try_lock() {
            Ok(()) => {
                // A killed server may have left a notice.
                remove_notice(folder);
                lock.set_len(0)
                    .and_then(|()| lock.write_all(this_process().as_bytes()))
                    .map_err(unwritable(&path))?;
                Ok(Self {
                    folder: folder.clone(),
                    _lock: lock,
                })
            }
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Windows does not allow reading a locked file, so the holder is unknown.
                if lock.read_to_string(&mut holder).is_err() || holder.is_empty() {
                    "another process".clone_into(&mut holder);
                }
                Err(LocalError::InUse {
                    path: folder.path.clone(),
                    holder,
                })
            }
            Err(TryLockError::Error(error)) => Err(unwritable(&path)(error)),
        }
    }

    /// Publishes the URL at which this server has the book. Returns the secret for commands, see [`SECRET_HEADER`].
    pub(crate) fn announce(&self, url: String) -> Result<String, LocalError> {
        let notice = Notice {
            url,
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
    // A leftover file is ignored without the lock.
    let _ = fs::remove_file(folder.path.join(NOTICE_FILE));
}

#[derive(Debug, Serialize, Deserialize)]
struct Notice {
    url: String,
    secret: String,
}

/// A running server.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// The server's URL, without a trailing slash.
    pub(crate) url: String,
    secret: String,
}

impl Running {
    /// Returns the server of a book's folder, once it listens.
    pub(crate) fn find(folder: &BookFolder) -> Option<Self> {
        let notice = fs::read(folder.path.join(NOTICE_FILE)).ok()?;
        let notice: Notice = serde_json::from_slice(&notice).ok()?;
        let lock = File::open(folder.path.join(LOCK_FILE)).ok()?;
        let is_held = matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
        is_held.then_some(Self {
            url: notice.url,
            secret: notice.secret,
        })
    }

    /// Builds a request to a route that is reserved for commands.
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

/// Names this process for people: `process 4711 (bookrag serve)`.
fn this_process() -> String {
    let command = std::env::args().nth(1).unwrap_or_default();
    format!("process {} (bookrag {command})", std::process::id())
}

/// Returns a client for servers on this machine, which bypasses proxies.
pub(crate) fn client() -> reqwest::Client {
    // Fails if a default is already installed; that one is fine.
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
    fn a_notice_is_valid_while_its_server_runs() {
        let (_folder, folder) = folder();
        let hold = Hold::take(&folder).expect("nobody holds it");
        assert!(Running::find(&folder).is_none(), "it does not listen yet");
        let secret = hold
            .announce("http://127.0.0.1:1".to_owned())
            .expect("written");
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
        hold.announce("http://127.0.0.1:1".to_owned())
            .expect("written");
        assert_eq!(notice.metadata().expect("there").mode() & 0o777, 0o600);
    }
}
