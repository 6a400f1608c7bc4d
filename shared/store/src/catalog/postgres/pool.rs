//! A small connection pool. Connections are opened on demand and kept while they work.

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
use crate::catalog::{CatalogError, SCHEMA_VERSION, single};

/// How much longer the client waits than the server's statement timeout. The server cancels a slow statement first, so the
/// connection stays usable.
const GRACE: Duration = Duration::from_millis(500);

/// The longest time between two statements of a transaction.
const LONGEST_IDLE: Duration = Duration::from_secs(5);

/// A statement's parameters with their types, which unnamed statements must declare.
pub(super) type Parameters<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

pub(super) struct Pool {
    pooled: Address,
    /// The address for migrations, if it differs.
    direct: Option<Address>,
    options: PostgresOptions,
    begin: String,
    permits: Semaphore,
    idle: Mutex<Vec<Client>>,
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

    /// Runs one repeatable statement. If the connection breaks, retries once on a new one.
    pub(super) async fn query(
        &self,
        statement: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, CatalogError> {
        self.require_schema().await?;
        // Boxed to keep the futures of all callers small.
        Ok(Box::pin(self.query_unchecked(statement, parameters)).await?)
    }

    /// Begins a transaction, which is rolled back unless it is committed.
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

    /// Fails with `Schema` if the tables are older than this program. Newer ones are fine, since migrations only add.
    pub(super) async fn check_schema(&self) -> Result<(), CatalogError> {
        let version = "SELECT coalesce(max(version), 0) FROM schema_version";
        let found = match self.query_unchecked(version, &[]).await {
            Ok(rows) => single(rows)?.try_get(0)?,
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
        // The idle connections are as old as the broken one and may be broken too.
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

    /// Opens a connection for migrations, outside of the pool.
    pub(super) async fn connect_directly(&self) -> Result<Client, CatalogError> {
        let direct = self.direct.as_ref().unwrap_or(&self.pooled);
        Ok(self.connect_to(direct).await?)
    }

    /// Opens a connection to another database, outside of the pool.
    pub(super) async fn connect_to_other(&self, address: &Address) -> Result<Client, CatalogError> {
        Ok(self.connect_to(address).await?)
    }

    async fn connect_to(&self, address: &Address) -> Result<Client, Failure> {
        let (client, connection) = timeout(
            self.options.connect_timeout,
            address.config.connect(address.tls.clone()),
        )
        .await
        .map_err(|_| Failure::timeout(self.options.connect_timeout))??;
        // The task needs no awaiting: it ends with its client, which also reports its errors.
        tokio::spawn(connection);
        Ok(client)
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Client>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the statements that begin a transaction with the statement timeout `limit`. The settings are local to the transaction, so other clients of
/// a pooler do not inherit them.
fn begin(limit: Duration) -> String {
    // The idle timeout releases the locks of a function that is frozen within a transaction.
    format!(
        "BEGIN; SET LOCAL statement_timeout = {}; SET LOCAL idle_in_transaction_session_timeout = {}",
        limit.as_millis().max(1),
        limit.min(LONGEST_IDLE).as_millis().max(1),
    )
}

/// A connection in use. It returns to the pool only after the server has responded outside of a transaction, because the
/// connection of a dropped future may still be busy.
struct Connection<'a> {
    pool: &'a Pool,
    client: Option<Client>,
    reusable: bool,
    in_transaction: bool,
    _permit: SemaphorePermit<'a>,
}

impl Connection<'_> {
    /// Runs one statement in its own transaction, without which the timeout would not apply, in one round trip.
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
            // The idle connections are as old and may hang for the same reason.
            self.pool.idle().clear();
            return Err(Failure::timeout(limit));
        };
        let answer = answer.map_err(Failure::from);
        self.reusable =
            !self.in_transaction && !answer.as_ref().is_err_and(Failure::is_of_connection);
        answer
    }

    /// Rolls back after a failed statement, so that the connection can be reused. If this fails, only the connection is lost.
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

/// A transaction. Dropping it without an end discards its connection.
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

    /// Like [`Self::execute`], but `None` if another transaction has taken the row's key. This transaction then ends.
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

    /// Ends the transaction if the server rejected the statement.
    async fn checked<T>(&mut self, answer: Result<T, Failure>) -> Result<T, CatalogError> {
        if let Err(failure) = &answer
            && failure.code.is_some()
            && !failure.connection_lost
        {
            self.connection.roll_back().await;
        }
        Ok(answer?)
    }

    /// Commits the changes. After an error, they may or may not have been committed.
    pub(super) async fn commit(mut self) -> Result<(), CatalogError> {
        self.connection.in_transaction = false;
        Ok(self.connection.batch("COMMIT").await?)
    }

    pub(super) async fn roll_back(mut self) {
        self.connection.roll_back().await;
    }
}
