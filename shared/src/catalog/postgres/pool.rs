//! Connections: few, made when needed, kept while they are whole.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::PostgresOptions;
use super::address::Address;
use super::failure::Failure;
use crate::catalog::{CatalogError, SCHEMA_VERSION};

/// How much longer than the server a statement's answer is waited for: the server stops a slow one first, and its connection
/// stays whole.
const GRACE: Duration = Duration::from_millis(500);

/// A statement's parameters with their types, which an unnamed statement has to say.
pub(super) type Parameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

pub(super) struct Pool {
    pooled: Address,
    /// Where migrations go, if not there.
    direct: Option<Address>,
    options: PostgresOptions,
    /// What begins a transaction.
    begin: String,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
    /// Whether the tables were seen to be of this program's version.
    schema_checked: AtomicBool,
}

impl Pool {
    pub(super) fn new(pooled: Address, direct: Option<Address>, options: PostgresOptions) -> Self {
        Self {
            pooled,
            direct,
            permits: Semaphore::new(options.pool_size.max(1)),
            begin: begin(options.statement_timeout),
            options,
            idle: Mutex::default(),
            schema_checked: AtomicBool::new(false),
        }
    }

    /// Runs one statement that may run twice: a second time on a new connection, if the first broke.
    pub(super) async fn query(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, CatalogError> {
        self.require_schema().await?;
        // In a box, or every future that waits for the catalog would hold all that connecting and asking needs.
        Ok(Box::pin(self.query_unchecked(statement, parameters)).await?)
    }

    /// Begins a transaction. Unless it is committed, nothing of it stays.
    pub(super) async fn begin(&self) -> Result<Transaction<'_>, CatalogError> {
        self.require_schema().await?;
        let mut connection = self.connection().await?;
        connection.in_transaction = true;
        match connection.batch(&self.begin).await {
            Err(failure) if failure.connection_lost => {
                drop(connection);
                self.idle().clear();
                connection = self.connection().await?;
                connection.in_transaction = true;
                connection.batch(&self.begin).await?;
            }
            answer => answer?,
        }
        Ok(Transaction { connection })
    }

    /// `Schema` unless the tables are of this program's version, or newer: migrations only add.
    pub(super) async fn check_schema(&self) -> Result<(), CatalogError> {
        let version = "SELECT coalesce(max(version), 0) FROM schema_version";
        let found = match self.query_unchecked(version, &[]).await {
            Ok(rows) => single(&rows)?.try_get(0)?,
            Err(failure) if failure.code == Some(SqlState::UNDEFINED_TABLE) => 0,
            Err(failure) => return Err(failure.error),
        };
        if found < SCHEMA_VERSION {
            return Err(CatalogError::Schema {
                found,
                needed: SCHEMA_VERSION,
            });
        }
        self.schema_checked.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn require_schema(&self) -> Result<(), CatalogError> {
        if self.schema_checked.load(Ordering::Relaxed) {
            return Ok(());
        }
        Box::pin(self.check_schema()).await
    }

    async fn query_unchecked(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Failure> {
        let mut connection = self.connection().await?;
        match connection.query_alone(statement, parameters).await {
            Err(failure) if failure.connection_lost => {}
            answer => return answer,
        }
        drop(connection);
        // They are as old as the one that broke.
        self.idle().clear();
        let mut connection = self.connection().await?;
        connection.query_alone(statement, parameters).await
    }

    async fn connection(&self) -> Result<Connection<'_>, Failure> {
        let permit = timeout(self.options.connect_timeout, self.permits.acquire())
            .await
            .map_err(|_| Failure::timeout(self.options.connect_timeout))?
            .expect("the semaphore is never closed");
        let idle = {
            let mut idle = self.idle();
            idle.retain(|client| !client.is_closed());
            idle.pop()
        };
        let client = match idle {
            Some(client) => client,
            None => self.connect_to(&self.pooled).await?,
        };
        Ok(Connection {
            pool: self,
            client: Some(client),
            reusable: false,
            in_transaction: false,
            _permit: permit,
        })
    }

    /// A connection for migrations, which is not the pool's.
    pub(super) async fn connect_directly(&self) -> Result<Client, CatalogError> {
        let direct = self.direct.as_ref().unwrap_or(&self.pooled);
        Ok(self.connect_to(direct).await?)
    }

    async fn connect_to(&self, address: &Address) -> Result<Client, Failure> {
        let (client, connection) = timeout(
            self.options.connect_timeout,
            address.config.connect(address.tls.clone()),
        )
        .await
        .map_err(|_| Failure::timeout(self.options.connect_timeout))??;
        // It does what its client asks for and ends with it, so it needs no waiting for; its failure is the client's.
        tokio::spawn(connection);
        Ok(client)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What begins a transaction whose statements the server stops after `limit`. The settings end with it, so a pooler's other
/// clients have none of them.
fn begin(limit: Duration) -> String {
    let limit = limit.as_millis().max(1);
    // A function that is frozen in the middle must not hold its locks.
    format!(
        "BEGIN; SET LOCAL statement_timeout = {limit}; \
         SET LOCAL idle_in_transaction_session_timeout = {limit}"
    )
}

/// The only row of an answer that has one.
pub(super) fn single(rows: &[Row]) -> Result<&Row, CatalogError> {
    match rows {
        [row] => Ok(row),
        _ => Err(CatalogError::Rejected(format!(
            "{} rows instead of one",
            rows.len()
        ))),
    }
}

/// A connection in use. It goes back to the pool only after a call that the server answered, outside of a transaction: one whose
/// future was dropped may still be busy.
struct Connection<'a> {
    pool: &'a Pool,
    client: Option<Client>,
    reusable: bool,
    in_transaction: bool,
    _permit: SemaphorePermit<'a>,
}

impl Connection<'_> {
    /// Runs one statement in a transaction of its own, in one round trip: outside of one the server would not stop it in time.
    async fn query_alone(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Failure> {
        let begin = &self.pool.begin;
        self.timed(async |client| {
            // All three are sent at once, in this order.
            let (begun, rows, ended) = futures::join!(
                client.batch_execute(begin),
                client.query_typed(statement, parameters),
                client.batch_execute("END"),
            );
            begun?;
            let rows = rows?;
            ended?;
            Ok(rows)
        })
        .await
    }

    async fn query(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Failure> {
        self.timed(async |client| client.query_typed(statement, parameters).await)
            .await
    }

    async fn execute(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, Failure> {
        self.timed(async |client| client.execute_typed(statement, parameters).await)
            .await
    }

    async fn batch(&mut self, statements: &str) -> Result<(), Failure> {
        self.timed(async |client| client.batch_execute(statements).await)
            .await
    }

    async fn timed<T>(
        &mut self,
        call: impl AsyncFnOnce(&Client) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, Failure> {
        let limit = self.pool.options.statement_timeout + GRACE;
        let client = self.client.as_ref().expect("only dropping takes it");
        self.reusable = false;
        let Ok(answer) = timeout(limit, call(client)).await else {
            // Whatever made this one silent may have made the others, which are as old, so.
            self.pool.idle().clear();
            return Err(Failure::timeout(limit));
        };
        let answer = answer.map_err(Failure::from);
        let broke = |failure: &Failure| failure.connection_lost || failure.code.is_none();
        self.reusable = !self.in_transaction && !answer.as_ref().is_err_and(broke);
        answer
    }

    /// Ends a transaction in which a statement failed, so that the connection can be used again. A failure only costs the
    /// connection: what is not committed does not stay.
    async fn roll_back(&mut self) {
        self.in_transaction = false;
        let _ = self.batch("ROLLBACK").await;
    }
}

impl Drop for Connection<'_> {
    fn drop(&mut self) {
        if let Some(client) = self.client.take_if(|_| self.reusable) {
            self.pool.idle().push(client);
        }
    }
}

/// A transaction. Dropped without an end, it takes its connection with it.
pub(super) struct Transaction<'a> {
    connection: Connection<'a>,
}

impl Transaction<'_> {
    pub(super) async fn query(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, CatalogError> {
        let answer = self.connection.query(statement, parameters).await;
        self.checked(answer).await
    }

    pub(super) async fn execute(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<u64, CatalogError> {
        let answer = self.connection.execute(statement, parameters).await;
        self.checked(answer).await
    }

    /// As [`Self::execute`]; `None` if the row has a key that another transaction has taken. The transaction is over then.
    pub(super) async fn insert(
        &mut self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<u64>, CatalogError> {
        let answer = self.connection.execute(statement, parameters).await;
        let taken =
            matches!(&answer, Err(failure) if failure.code == Some(SqlState::UNIQUE_VIOLATION));
        let answer = self.checked(answer).await;
        if taken { Ok(None) } else { answer.map(Some) }
    }

    /// After a statement that the server refused the transaction is over.
    async fn checked<T>(&mut self, answer: Result<T, Failure>) -> Result<T, CatalogError> {
        if let Err(failure) = &answer
            && failure.code.is_some()
            && !failure.connection_lost
        {
            self.connection.roll_back().await;
        }
        Ok(answer?)
    }

    /// After an error it is not known whether it was committed.
    pub(super) async fn commit(mut self) -> Result<(), CatalogError> {
        self.connection.in_transaction = false;
        Ok(self.connection.batch("COMMIT").await?)
    }

    pub(super) async fn roll_back(mut self) {
        self.connection.roll_back().await;
    }
}
