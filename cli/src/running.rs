//! A `serve` that already has the book open: other commands go through it.

use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::local::BookFolder;

/// How long a server on this machine may take to say that it is there.
const KNOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Written by `serve` into the book's folder.
#[derive(Debug, Serialize, Deserialize)]
struct Notice {
    address: SocketAddr,
    /// Tells this server from another that took its port.
    instance: String,
}

/// A running server.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// Its URL, without a slash at the end.
    pub(crate) url: String,
}

fn notice_path(folder: &BookFolder) -> PathBuf {
    folder.path.join("serve.json")
}

/// Says where this server listens.
pub(crate) fn announce(
    folder: &BookFolder,
    address: SocketAddr,
    instance: &str,
) -> std::io::Result<()> {
    let notice = Notice {
        address,
        instance: instance.to_owned(),
    };
    std::fs::write(notice_path(folder), serde_json::to_vec(&notice)?)
}

/// Takes the notice away.
pub(crate) fn withdraw(folder: &BookFolder) {
    // A notice that stays is found to be stale by whoever reads it.
    let _ = std::fs::remove_file(notice_path(folder));
}

/// The server that has this book open, if one does.
pub(crate) async fn find(folder: &BookFolder) -> Option<Running> {
    let notice = std::fs::read(notice_path(folder)).ok()?;
    let notice: Notice = serde_json::from_slice(&notice).ok()?;
    // A folder that came from elsewhere may name any address: only this machine's can be listened on.
    TcpListener::bind((notice.address.ip(), 0)).ok()?;
    let url = format!("http://{}", notice.address);
    let knock = client()
        .get(format!("{url}/local/book"))
        .timeout(KNOCK_TIMEOUT)
        .send();
    let book: serde_json::Value = knock.await.ok()?.json().await.ok()?;
    (book["instance"] == notice.instance).then_some(Running { url })
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
