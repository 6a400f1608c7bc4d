//! Rate limits and daily spending.

use rusqlite::OptionalExtension;

use super::values::now;
use super::{SqliteCatalog, begin_write};
use crate::catalog::{Account, CatalogError, RateLimit, RatePermit, signed};

impl SqliteCatalog {
    pub(in crate::catalog) async fn acquire(
        &self,
        key: &str,
        limit: RateLimit,
    ) -> Result<RatePermit, CatalogError> {
        let key = key.to_owned();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            let held: Option<i64> = transaction
                .query_row(
                    "SELECT tat FROM rate_limits WHERE key = ?1",
                    [&key],
                    |row| row.get(0),
                )
                .optional()?;
            let (tat, permit) = limit.acquire(held, now());
            transaction.execute(
                "INSERT INTO rate_limits (key, tat, allowed) VALUES (?1, ?2, ?3)
                 ON CONFLICT (key) DO UPDATE SET tat = excluded.tat, allowed = excluded.allowed",
                (key, tat, permit.allowed),
            )?;
            transaction.commit()?;
            Ok(permit)
        })
        .await
    }

    pub(in crate::catalog) async fn reserve_spend(
        &self,
        account: Account,
        micro_usd: u64,
        budget_micro_usd: u64,
    ) -> Result<bool, CatalogError> {
        let table = account.table();
        self.run(move |connection| {
            let reserved = connection.execute(
                &format!("INSERT INTO {table} AS today (day, micro_usd)
                 SELECT date(?3 / 1000000, 'unixepoch'), ?1 WHERE ?1 <= ?2
                 ON CONFLICT (day) DO UPDATE SET micro_usd = today.micro_usd + ?1 WHERE today.micro_usd <= ?2 - ?1"),
                (signed(micro_usd), signed(budget_micro_usd), now()),
            )?;
            Ok(reserved > 0)
        })
        .await
    }

    pub(in crate::catalog) async fn settle_spend(
        &self,
        account: Account,
        reserved_micro_usd: u64,
        spent_micro_usd: u64,
    ) -> Result<(), CatalogError> {
        let table = account.table();
        let difference = signed(spent_micro_usd) - signed(reserved_micro_usd);
        self.run(move |connection| {
            connection.execute(
                &format!(
                    "INSERT INTO {table} AS today (day, micro_usd)
                 VALUES (date(?2 / 1000000, 'unixepoch'), max(?1, 0))
                 ON CONFLICT (day) DO UPDATE SET micro_usd = max(today.micro_usd + ?1, 0)"
                ),
                (difference, now()),
            )?;
            Ok(())
        })
        .await
    }
}
