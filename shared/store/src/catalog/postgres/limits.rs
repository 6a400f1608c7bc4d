//! Rate limits and daily spending. One statement each: a concurrent call waits for the row and sees the updated value.

use tokio_postgres::types::Type;

use super::PostgresCatalog;
use crate::catalog::{Account, CatalogError, RateLimit, RatePermit, signed, single};

impl PostgresCatalog {
    pub(in crate::catalog) async fn acquire(
        &self,
        key: &str,
        limit: RateLimit,
    ) -> Result<RatePermit, CatalogError> {
        // Same algorithm as `RateLimit::acquire`. The statement is its own transaction, so every now() is the time when it began.
        let rows = self
            .query(
                "INSERT INTO rate_limits AS held (key, tat, allowed)
                 VALUES ($1, now() + $2 * interval '1 microsecond', true)
                 ON CONFLICT (key) DO UPDATE SET (allowed, tat) = (
                    SELECT due <= now() + $3 * interval '1 microsecond',
                        CASE WHEN due <= now() + $3 * interval '1 microsecond' THEN due + $2 * interval '1 microsecond' ELSE due END
                    FROM (SELECT CASE WHEN held.tat BETWEEN now() AND now() + $4 * interval '1 microsecond'
                        THEN held.tat ELSE now() END AS due) AS stored)
                 RETURNING allowed, (extract(epoch FROM tat - now()) * 1000000)::bigint AS ahead",
                &[
                    (&key, Type::TEXT),
                    (&limit.interval(), Type::INT8),
                    (&limit.tolerance(), Type::INT8),
                    (&limit.furthest(), Type::INT8),
                ],
            )
            .await?;
        let (allowed, ahead) = single(rows)?;
        Ok(limit.permit(allowed, ahead))
    }

    pub(in crate::catalog) async fn reserve_spend(
        &self,
        account: Account,
        micro_usd: u64,
        budget_micro_usd: u64,
    ) -> Result<bool, CatalogError> {
        let table = account.table();
        let rows = self
            .pool
            .query(
                &format!("INSERT INTO {table} AS today (day, micro_usd)
                 SELECT (now() AT TIME ZONE 'UTC')::date, $1 WHERE $1 <= $2
                 ON CONFLICT (day) DO UPDATE SET micro_usd = today.micro_usd + $1 WHERE today.micro_usd <= $2 - $1
                 RETURNING day"),
                &[
                    (&signed(micro_usd), Type::INT8),
                    (&signed(budget_micro_usd), Type::INT8),
                ],
            )
            .await?;
        Ok(!rows.is_empty())
    }

    pub(in crate::catalog) async fn settle_spend(
        &self,
        account: Account,
        reserved_micro_usd: u64,
        spent_micro_usd: u64,
    ) -> Result<(), CatalogError> {
        let table = account.table();
        let difference = signed(spent_micro_usd) - signed(reserved_micro_usd);
        // A transaction is not retried. Retrying could return the same amount twice.
        let mut transaction = self.pool.begin().await?;
        transaction
            .execute(
                &format!(
                    "INSERT INTO {table} AS today (day, micro_usd)
                 VALUES ((now() AT TIME ZONE 'UTC')::date, greatest($1, 0))
                 ON CONFLICT (day) DO UPDATE SET micro_usd = greatest(today.micro_usd + $1, 0)"
                ),
                &[(&difference, Type::INT8)],
            )
            .await?;
        transaction.commit().await
    }
}
