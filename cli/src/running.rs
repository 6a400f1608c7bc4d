//! A `serve` that already has the book open: other commands go through it.

use std::net::{IpAddr, SocketAddr, TcpListener};
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
    if !is_of_this_machine(notice.address.ip()) {
        return None;
    }
    let url = format!("http://{}", notice.address);
    let knock = client()
        .get(format!("{url}/local/book"))
        .timeout(KNOCK_TIMEOUT)
        .send();
    let book: serde_json::Value = knock.await.ok()?.json().await.ok()?;
    (book["instance"] == notice.instance).then_some(Running { url })
}

/// A folder that came from elsewhere may name any address: only this machine's own can be listened on.
fn is_of_this_machine(address: IpAddr) -> bool {
    TcpListener::bind((address, 0)).is_ok()
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
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn nobody_elsewhere_is_asked() {
        assert!(is_of_this_machine(IpAddr::from([127, 0, 0, 1])));
        // Set apart for documentation: no machine has it (RFC 5737).
        assert!(!is_of_this_machine(IpAddr::from([192, 0, 2, 1])));
    }

    #[tokio::test]
    async fn a_server_that_is_not_the_one_that_wrote_the_notice_is_not_taken() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let mut stream = stream;
                let body = r#"{"instance":"this"}"#;
                let _ = stream.read(&mut [0; 1024]);
                let _ = write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
                    body.len()
                );
            }
        });
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let folder = BookFolder { path };
        for (instance, is_taken) in [("another", false), ("this", true)] {
            announce(&folder, address, instance).expect("the notice is written");
            assert_eq!(find(&folder).await.is_some(), is_taken, "{instance}");
        }
    }
}
