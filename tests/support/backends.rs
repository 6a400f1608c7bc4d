//! The backends of a function, a database, a vector store and an embeddings API, and a book in them.

use std::{path::Path, time::Duration};

use bookrag::{
    catalog::{Catalog, PostgresCatalog, PostgresOptions, TlsOptions},
    chunk::ChunkPolicy,
    index::VectorIndex,
    ingest::{
        Ingest, IngestError, OpenMode, OpenOptions, Ports, Report, RunStatus, SyncOptions, sync,
    },
    source::{FolderSource, Source},
};
use bookrag_test_qdrant::Engine;
use tokio_postgres::NoTls;

use crate::{openai::OpenAi, postgres::Postgres};

/// The origin that browsers may call from.
pub const ORIGIN: &str = "https://book.example";
/// Long enough for a machine that is compiling at the same time.
const TIMEOUT: Duration = Duration::from_secs(20);
const POOL_SIZE: usize = 2;
/// The default prefix of collections' names.
const COLLECTION: &str = "textbook_chunks";
const SITE: &str = "garden";

/// The servers behind the functions. They start empty, and are deleted when this is dropped.
#[derive(Debug)]
pub struct Backends {
    /// The catalog, with its tables.
    pub catalog: Catalog,
    /// The vector store.
    pub index: VectorIndex,
    openai: OpenAi,
    engine: Engine,
    database_url: String,
    readers_url: String,
}

impl Backends {
    /// Starts all servers; `database` is a name that no other test uses.
    pub async fn start(database: &str) -> Self {
        let postgres = Postgres::shared().await;
        let database_url = postgres.create_database(database).await;
        let readers_url = postgres.create_reader(database).await;
        let catalog = PostgresCatalog::new(PostgresOptions {
            url: database_url.clone().into(),
            direct_url: None,
            tls: TlsOptions::default(),
            statement_timeout: TIMEOUT,
            connect_timeout: TIMEOUT,
            pool_size: POOL_SIZE,
        });
        let catalog = Catalog::Postgres(catalog.expect("the server's URL is one"));
        catalog.migrate().await.expect("the migrations apply");
        let engine = Engine::start().await.expect("the engine starts");
        let index =
            VectorIndex::qdrant(engine.url(), None, TIMEOUT).expect("the engine's URL is one");
        Self {
            catalog,
            index,
            openai: OpenAi::start().await,
            engine,
            database_url,
            readers_url,
        }
    }

    /// Returns the environment variables of the ingest function.
    #[must_use]
    pub fn ingest_environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = self.environment();
        environment.push(("DATABASE_URL", self.database_url.clone()));
        environment
    }

    /// Returns the environment variables of a function for readers, with the database user that owns nothing.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        let mut environment = self.openai.environment();
        environment.extend([
            ("QDRANT_URL", self.engine.url().to_owned()),
            ("DATABASE_URL", self.readers_url.clone()),
            ("BOOKRAG_SALT", "test-salt".to_owned()),
            ("BOOKRAG_SITE", SITE.to_owned()),
            ("BOOKRAG_ORIGINS", ORIGIN.to_owned()),
        ]);
        environment
    }

    /// The address of the vector store, as `http://ADDRESS:PORT`.
    #[must_use]
    pub fn engine_url(&self) -> &str {
        self.engine.url()
    }

    /// The database's URL, which names the folder of a Unix socket.
    #[must_use]
    pub fn database_url(&self) -> &str {
        &self.database_url
    }

    /// Runs statements on the database.
    pub async fn execute(&self, statements: &str) {
        let connected = tokio_postgres::connect(&self.database_url, NoTls).await;
        let (client, connection) = connected.expect("the server accepts connections");
        let executed = async move { client.batch_execute(statements).await };
        let (executed, closed) = tokio::join!(executed, connection);
        executed.and(closed).expect("the statements are right");
    }

    /// Returns the ports of an ingest of the book in a folder.
    #[must_use]
    pub fn ports(&self, book: &Path) -> Ports {
        Ports {
            source: Source::Folder(FolderSource::open(book).expect("the book is there")),
            embedder: self.openai.embedder(),
            index: self.index.clone(),
            catalog: self.catalog.clone(),
        }
    }

    /// Opens the ingest of a function with these variables; the ports may be different ones.
    ///
    /// # Errors
    ///
    /// As [`Ingest::open`].
    pub async fn open(ports: Ports) -> Result<Ingest, IngestError> {
        let options = OpenOptions {
            site: SITE.to_owned(),
            title: SITE.to_owned(),
            policy: ChunkPolicy::ADAPTIVE,
            collection: COLLECTION.to_owned(),
            mode: OpenMode::Write,
            retention: None,
        };
        Ingest::open(ports, options).await
    }

    /// Indexes the book in a folder, like a function with these variables.
    pub async fn fill(&self, book: &Path) -> Report {
        let ingest = Self::open(self.ports(book)).await;
        let ingest = ingest.expect("the index is made");
        let report = sync(&ingest, SyncOptions::default(), |_| {})
            .await
            .expect("the book is indexed");
        assert_eq!(report.status, RunStatus::Success, "{report}");
        report
    }
}
