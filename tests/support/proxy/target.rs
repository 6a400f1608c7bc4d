//! The server behind a proxy.

use std::{net::SocketAddr, path::PathBuf};

use tokio_postgres::config::{Config, Host};

/// The name of Postgres's socket on its default port.
const POSTGRES_SOCKET: &str = ".s.PGSQL.5432";

/// The server behind a proxy.
#[derive(Debug, Clone)]
pub enum Target {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
}

impl Target {
    /// The server at `http://ADDRESS:PORT`.
    #[must_use]
    pub fn http(url: &str) -> Self {
        let address = url.strip_prefix("http://");
        let address = address.and_then(|address| address.parse().ok());
        Self::Tcp(address.unwrap_or_else(|| panic!("{url} is not http://ADDRESS:PORT")))
    }

    /// The Postgres server of a URL with the folder of its socket.
    #[must_use]
    pub fn postgres(url: &str) -> Self {
        let config: Config = url.parse().expect("the URL of a database");
        match config.get_hosts() {
            [Host::Unix(folder)] => Self::Unix(folder.join(POSTGRES_SOCKET)),
            hosts => panic!("{hosts:?} is not one folder"),
        }
    }
}
