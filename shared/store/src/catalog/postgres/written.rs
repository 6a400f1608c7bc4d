//! Queries for the questions that a model wrote.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio_postgres::types::Type;

use super::PostgresCatalog;
use crate::catalog::{CatalogError, microseconds};

impl PostgresCatalog {
    pub(in crate::catalog) async fn written_questions(
        &self,
        site: &str,
        sources: Option<&[String]>,
    ) -> Result<BTreeMap<String, String>, CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT source, file FROM written_questions
                 WHERE site = $1 AND ($2::text[] IS NULL OR source = ANY($2))",
                &[(&site, Type::TEXT), (&sources, Type::TEXT_ARRAY)],
            )
            .await?;
        rows.iter()
            .map(|row| Ok((row.try_get("source")?, row.try_get("file")?)))
            .collect()
    }

    pub(in crate::catalog) async fn save_written_questions(
        &self,
        site: &str,
        source: &str,
        former: Option<&str>,
        file: &str,
    ) -> Result<bool, CatalogError> {
        let rows = match former {
            None => {
                self.pool
                    .query(
                        "INSERT INTO written_questions (site, source, file) VALUES ($1, $2, $3)
                         ON CONFLICT DO NOTHING RETURNING source",
                        &[
                            (&site, Type::TEXT),
                            (&source, Type::TEXT),
                            (&file, Type::TEXT),
                        ],
                    )
                    .await?
            }
            Some(former) => {
                self.pool
                    .query(
                        "UPDATE written_questions SET file = $3, written_at = now()
                         WHERE site = $1 AND source = $2 AND file = $4 RETURNING source",
                        &[
                            (&site, Type::TEXT),
                            (&source, Type::TEXT),
                            (&file, Type::TEXT),
                            (&former, Type::TEXT),
                        ],
                    )
                    .await?
            }
        };
        Ok(!rows.is_empty())
    }

    pub(in crate::catalog) async fn forget_written_questions(
        &self,
        site: &str,
        age: Duration,
    ) -> Result<(), CatalogError> {
        self.pool
            .query(
                "DELETE FROM written_questions AS written WHERE site = $1 AND NOT EXISTS (
                    SELECT FROM documents
                    WHERE index_id IN (SELECT index_id FROM indexes) AND source = written.source
                        AND (NOT deleted OR last_indexed_at > now() - $2 * interval '1 microsecond'))",
                &[(&site, Type::TEXT), (&microseconds(age), Type::INT8)],
            )
            .await?;
        Ok(())
    }
}
