//! The catalog in Postgres, for production.
//!
//! The URL may be that of a pooler in transaction mode, such as Neon's, so nothing may outlive its transaction: statements are
//! unnamed, settings local, and session locks unused.

mod address;
mod tls;
mod counts;
mod commit;
mod conversations;
mod documents;
mod failure;
mod indexes;
mod insights;
mod limits;
mod log;
mod migrations;
mod pages;
mod proposals;
mod pending;
mod pool;
mod search;
pub(super) mod values;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use secrecy::SecretString;
use tokio_postgres::types::Type;

use super::CatalogError;
use super::row::FromRow;
use super::statement::{Parameter, Statement};
use address::Address;
use pool::{Parameters, Pool};
use values::{read, typed};

/// Rows per `DELETE`, so that it stays within the statement timeout.
const DELETED_AT_ONCE: i64 = 2_000;

/// Options of a Postgres catalog.
#[derive(Debug, Clone)]
pub struct PostgresOptions {
    /// The URL for queries and commits; may be a pooler's.
    pub url: SecretString,
    /// The URL for migrations, if `url` is a pooler's.
    pub direct_url: Option<SecretString>,
    /// How connections are protected.
    pub tls: TlsOptions,
    /// The longest time for one statement.
    pub statement_timeout: Duration,
    /// The longest time to connect, and to wait for a free connection.
    pub connect_timeout: Duration,
    /// The maximum number of connections, from 1.
    pub pool_size: usize,
}

/// TLS options of database connections, in addition to those in the URL.
#[derive(Debug, Clone, Default)]
pub struct TlsOptions {
    /// Whether other machines must be reached over TLS, whatever their URLs say.
    pub required: bool,
    /// Trusted certificate authorities in addition to Mozilla's.
    pub authorities: Vec<CertificateDer<'static>>,
}

/// A catalog in Postgres; clones share its connections.
#[derive(Clone)]
pub struct PostgresCatalog {
    pool: Arc<Pool>,
    /// The name of a book's own database, and the address of the one that all books of the deployment have in common.
    created: Option<Arc<(Address, String)>>,
}

impl PostgresCatalog {
    /// Checks the options; the first operation connects.
    ///
    /// # Errors
    ///
    /// `Rejected` if a URL is invalid, or allows plain text where TLS is required.
    pub fn new(options: PostgresOptions) -> Result<Self, CatalogError> {
        Self::open(options, None)
    }

    /// The same for a book of several, whose database has the name in the URL with `_` and the book's name at its end. Migrating creates it.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn of_book(options: PostgresOptions, book: &str) -> Result<Self, CatalogError> {
        Self::open(options, Some(book))
    }

    fn open(options: PostgresOptions, book: Option<&str>) -> Result<Self, CatalogError> {
        let read = |url, setting| Address::read(url, setting, &options.tls);
        let mut pooled = read(&options.url, "DATABASE_URL")?;
        let mut direct = match &options.direct_url {
            Some(url) => Some(read(url, "DATABASE_URL_DIRECT")?),
            None => None,
        };
        let mut created = None;
        if let Some(book) = book {
            let shared = direct.clone().unwrap_or_else(|| pooled.clone());
            let name = pooled.move_to_book(book);
            if let Some(direct) = &mut direct {
                direct.move_to_book(book);
            }
            created = Some((shared, name));
        }
        Ok(Self {
            pool: Arc::new(Pool::new(pooled, direct, options)),
            created: created.map(Arc::new),
        })
    }

    pub(in crate::catalog) async fn migrate(&self) -> Result<i32, CatalogError> {
        let mut shared = None;
        if let Some((address, name)) = self.created.as_deref() {
            let client = self.pool.connect_to_other(address).await?;
            migrations::create_database(&client, name).await?;
            shared = address.database();
        }
        migrations::apply(self.pool.connect_directly().await?, shared).await
    }

    /// Returns the name of the database of one of several books, if it exists.
    ///
    /// # Errors
    ///
    /// `Rejected` for the catalog of a single book.
    pub async fn existing_database(&self) -> Result<Option<String>, CatalogError> {
        let (address, name) = self.of_several()?;
        let client = self.pool.connect_to_other(address).await?;
        let exists = migrations::has_database(&client, name).await?;
        Ok(exists.then(|| name.clone()))
    }

    /// Deletes the database of one of several books with everything in it, and ends its connections.
    ///
    /// # Errors
    ///
    /// `Rejected` for the catalog of a single book, and if the user may not delete the database.
    pub async fn delete_database(&self) -> Result<(), CatalogError> {
        let (address, name) = self.of_several()?;
        let client = self.pool.connect_to_other(address).await?;
        migrations::delete_database(&client, name).await
    }

    /// Returns the address beside which the database of one of several books is, and its name.
    fn of_several(&self) -> Result<&(Address, String), CatalogError> {
        self.created.as_deref().ok_or_else(|| {
            let message = "only the database of one of several books can be deleted";
            CatalogError::Rejected(message.to_owned())
        })
    }

    pub(in crate::catalog) async fn ping(&self) -> Result<(), CatalogError> {
        self.pool.check_schema().await
    }

    pub(in crate::catalog) async fn check(&self) -> Result<(), CatalogError> {
        self.ping().await
    }

    /// Runs a statement and reads its rows.
    pub(in crate::catalog) async fn rows<T: FromRow>(
        &self,
        statement: Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<T>, CatalogError> {
        let parameters: Vec<_> = parameters.iter().filter_map(typed).collect();
        self.query(statement.postgres, &parameters).await
    }

    /// Runs a statement that changes rows.
    pub(in crate::catalog) async fn change(
        &self,
        statement: Statement,
        parameters: &[Parameter<'_>],
    ) -> Result<(), CatalogError> {
        let parameters: Vec<_> = parameters.iter().filter_map(typed).collect();
        self.pool.query(statement.postgres, &parameters).await?;
        Ok(())
    }

    /// Deletes the rows that match the condition, in which `$1` is the number. Rows that others have locked stay until the next call.
    async fn delete_in_batches(
        &self,
        table: &str,
        condition: &str,
        number: i64,
    ) -> Result<(), CatalogError> {
        let statement = format!(
            "DELETE FROM {table} WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM {table} WHERE {condition} LIMIT $2 FOR UPDATE SKIP LOCKED)) RETURNING 1"
        );
        let parameters: Parameters<'_> = &[(&number, Type::INT8), (&DELETED_AT_ONCE, Type::INT8)];
        while !self.pool.query(&statement, parameters).await?.is_empty() {}
        Ok(())
    }

    async fn query<T: FromRow>(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<T>, CatalogError> {
        read(self.pool.query(statement, parameters).await?)
    }
}

impl fmt::Debug for PostgresCatalog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PostgresCatalog")
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use rustls::ServerConnection;

    use super::*;

    /// The size of a client's first message, a request for TLS: its length and a code (`SSLRequest` of the protocol).
    const TLS_REQUEST_BYTES: usize = 8;

    /// A server that answers the request for TLS with this byte. After an `S`, it does the handshake with the certificate of
    /// `db.example.org` and then stays silent.
    fn server(answer: u8) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            stream.read_exact(&mut [0; TLS_REQUEST_BYTES]).unwrap();
            stream.write_all(&[answer]).unwrap();
            if answer == b'S' {
                let mut server = ServerConnection::new(tls::tests::server_config()).unwrap();
                // A client that does not trust the certificate aborts the handshake.
                let _ = server.complete_io(&mut stream);
            }
        });
        port
    }

    async fn refusal(answer: u8, mode: &str, authorities: Vec<CertificateDer<'static>>) -> String {
        let port = server(answer);
        let options = PostgresOptions {
            url: format!(
                "postgres://reader@localhost:{port}/book?hostaddr=127.0.0.1&sslmode={mode}"
            )
            .into(),
            direct_url: None,
            tls: TlsOptions {
                required: true,
                authorities,
            },
            statement_timeout: Duration::from_secs(20),
            connect_timeout: Duration::from_secs(20),
            pool_size: 1,
        };
        let catalog = PostgresCatalog::new(options).unwrap();
        catalog.ping().await.unwrap_err().to_string()
    }

    #[tokio::test]
    async fn a_server_that_is_not_trusted_is_refused_with_what_to_do() {
        let authority = || vec![tls::tests::certificate("authority.pem")];
        for (answer, mode, authorities, told) in [
            (b'N', "require", Vec::new(), "does not accept TLS"),
            (b'S', "require", Vec::new(), "BOOKRAG_DATABASE_CA"),
            (b'S', "verify-full", authority(), "sslmode=verify-ca"),
        ] {
            let refusal = refusal(answer, mode, authorities).await;
            assert!(refusal.contains(told), "{mode}: {refusal}");
        }
        // The client trusts the certificate, but the server is silent.
        let silent = refusal(b'S', "verify-ca", authority()).await;
        assert!(!silent.contains("certificate"), "{silent}");
    }
}
