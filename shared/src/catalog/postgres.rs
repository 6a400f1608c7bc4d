//! Postgres: production.
//!
//! The URL may be that of a pooler in transaction mode (Neon's is), so nothing outlives its transaction: statements are
//! unnamed, settings local, and there are no session locks.

mod answers;
mod commit;
mod conversations;
mod documents;
mod failure;
mod indexes;
mod insights;
mod limits;
mod log;
mod migrations;
mod pending;
mod pool;
mod search;
mod values;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio_postgres::config::{Config, Host, SslMode};

use super::CatalogError;
use pool::Pool;

/// How a Postgres catalog is reached.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// What queries and commits go over; a pooler's URL will do.
    pub url: SecretString,
    /// What migrations go over, where `url` is a pooler's.
    pub direct_url: Option<SecretString>,
    /// The longest time one statement may take.
    pub statement_timeout: Duration,
    /// The longest time until a connection is there, and the longest wait for one that is in use.
    pub connect_timeout: Duration,
    /// How many connections there are at most, from 1.
    pub pool_size: usize,
}

/// A catalog in Postgres; clones share its connections.
#[derive(Clone)]
pub struct PostgresCatalog {
    pool: Arc<Pool>,
}

impl PostgresCatalog {
    /// Reads the options; connects with the first operation.
    ///
    /// # Errors
    ///
    /// `Rejected` if a URL is none that names a host and a user.
    pub fn new(options: PostgresOptions) -> Result<Self, CatalogError> {
        let config = read_url(&options.url, "database URL")?;
        let direct = match &options.direct_url {
            Some(url) => read_url(url, "direct database URL")?,
            None => config.clone(),
        };
        Ok(Self {
            pool: Arc::new(Pool::new(config, direct, options)),
        })
    }

    pub(in crate::catalog) async fn migrate(&self) -> Result<i32, CatalogError> {
        migrations::apply(self.pool.connect_directly().await?).await
    }

    pub(in crate::catalog) async fn ping(&self) -> Result<(), CatalogError> {
        self.pool.check_schema().await
    }

    pub(in crate::catalog) async fn check(&self) -> Result<(), CatalogError> {
        self.ping().await
    }
}

impl fmt::Debug for PostgresCatalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresCatalog")
            .finish_non_exhaustive()
    }
}

/// Reads a URL; the refusal does not repeat it, as it holds a password.
fn read_url(url: &SecretString, name: &str) -> Result<Config, CatalogError> {
    let mut config = Config::from_str(url.expose_secret())
        .map_err(|_| CatalogError::Rejected(format!("the {name} cannot be read")))?;
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        return Err(CatalogError::Rejected(format!("the {name} names no host")));
    }
    if config.get_user().is_none_or(str::is_empty) {
        return Err(CatalogError::Rejected(format!("the {name} names no user")));
    }
    let is_socket = |host: &Host| matches!(host, Host::Unix(_));
    if config.get_hosts().iter().any(is_socket) {
        // TLS is not spoken on Unix sockets, whatever the URL asks for.
        config.ssl_mode(SslMode::Disable);
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        let failure = PostgresCatalog::new(PostgresOptions {
            url: url.to_owned().into(),
            direct_url: None,
            statement_timeout: Duration::from_secs(1),
            connect_timeout: Duration::from_secs(1),
            pool_size: 1,
        });
        failure.expect_err(url).to_string()
    }

    #[test]
    fn a_refused_url_is_not_repeated() {
        for url in [
            "postgres://reader:hunter2@db.example.org/book?sslmode=hunter2",
            "postgres://reader:hunter2@db.example.org:hunter2/book",
            "postgres://:hunter2@db.example.org/book",
            "postgres://reader:hunter2@/book",
            "hunter2",
        ] {
            let refusal = refusal(url);
            assert!(!refusal.contains("hunter2"), "{url}: {refusal}");
            assert!(!refusal.contains("example"), "{refusal}");
        }
    }

    #[test]
    fn neons_urls_are_read() {
        let url = "postgresql://reader:hunter2@ep-cool-1-pooler.eu-central-1.aws.neon.tech/book\
            ?sslmode=require&channel_binding=require";
        let config = read_url(&url.to_owned().into(), "database URL").unwrap();
        assert_eq!(config.get_ssl_mode(), SslMode::Require);
    }
}
