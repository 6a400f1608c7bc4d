//! A `serve` that already has the book open: other commands go through it.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::time::Duration;

use reqwest::{Method, RequestBuilder};
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
    /// What commands show to be let in, see [`SECRET_HEADER`].
    #[serde(default)]
    secret: String,
}

/// Carries the secret of a server's notice: who can read that file is a program of the person who runs the server, and no
/// page in a browser, no other user and nobody behind a proxy.
pub(crate) const SECRET_HEADER: &str = "x-bookrag-secret";

/// A running server.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    /// Its URL, without a slash at the end.
    pub(crate) url: String,
    secret: String,
}

impl Running {
    /// A request to what only commands may ask.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = client().request(method, format!("{}{path}", self.url));
        request.header(SECRET_HEADER, &self.secret)
    }
}

fn notice_path(folder: &BookFolder) -> PathBuf {
    folder.path.join("serve.json")
}

/// Says where this server listens.
pub(crate) fn announce(
    folder: &BookFolder,
    address: SocketAddr,
    instance: &str,
    secret: &str,
) -> std::io::Result<()> {
    let notice = Notice {
        address,
        instance: instance.to_owned(),
        secret: secret.to_owned(),
    };
    // One that a killed server left may be readable by others.
    withdraw(folder);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(notice_path(folder))?;
    file.write_all(&serde_json::to_vec(&notice)?)
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
    (book["instance"] == notice.instance).then_some(Running {
        url,
        secret: notice.secret,
    })
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
    use std::io::Read;

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
            announce(&folder, address, instance, "secret").expect("the notice is written");
            assert_eq!(find(&folder).await.is_some(), is_taken, "{instance}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_the_secret() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().to_owned();
        let folder = BookFolder { path };
        let notice = notice_path(&folder);
        std::fs::write(&notice, "left by a killed server").expect("written");
        let all = std::fs::Permissions::from_mode(0o666);
        std::fs::set_permissions(&notice, all).expect("changed");
        announce(&folder, ([127, 0, 0, 1], 1).into(), "it", "secret").expect("written");
        assert_eq!(notice.metadata().expect("there").mode() & 0o777, 0o600);
    }
}
