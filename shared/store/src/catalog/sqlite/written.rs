//! Queries for the questions that a model wrote.

use std::collections::BTreeMap;
use std::time::Duration;

use super::SqliteCatalog;
use super::values::{ago, json, now};
use crate::catalog::CatalogError;

impl SqliteCatalog {
    pub(in crate::catalog) async fn written_questions(
        &self,
        site: &str,
        sources: Option<&[String]>,
    ) -> Result<BTreeMap<String, String>, CatalogError> {
        let site = site.to_owned();
        let sources = sources.map(|sources| json(&sources));
        self.run(move |connection| {
            let files = connection
                .prepare_cached(
                    "SELECT source, file FROM written_questions
                     WHERE site = ?1 AND (?2 IS NULL OR source IN (SELECT value FROM json_each(?2)))",
                )?
                .query_map((site, sources), |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            Ok(files)
        })
        .await
    }

    pub(in crate::catalog) async fn save_written_questions(
        &self,
        site: &str,
        source: &str,
        former: Option<&str>,
        file: &str,
    ) -> Result<bool, CatalogError> {
        let (site, source, file) = (site.to_owned(), source.to_owned(), file.to_owned());
        let former = former.map(str::to_owned);
        self.run(move |connection| {
            let saved = match former {
                None => connection.execute(
                    "INSERT INTO written_questions (site, source, file, written_at) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO NOTHING",
                    (site, source, file, now()),
                )?,
                Some(former) => connection.execute(
                    "UPDATE written_questions SET file = ?3, written_at = ?4
                     WHERE site = ?1 AND source = ?2 AND file = ?5",
                    (site, source, file, now(), former),
                )?,
            };
            Ok(saved > 0)
        })
        .await
    }

    pub(in crate::catalog) async fn forget_written_questions(
        &self,
        site: &str,
        age: Duration,
    ) -> Result<(), CatalogError> {
        let site = site.to_owned();
        self.run(move |connection| {
            connection.execute(
                "DELETE FROM written_questions AS written WHERE site = ?1 AND NOT EXISTS (
                    SELECT 1 FROM documents
                    WHERE index_id IN (SELECT index_id FROM indexes) AND source = written.source
                        AND (NOT deleted OR last_indexed_at > ?2))",
                (site, ago(age)),
            )?;
            Ok(())
        })
        .await
    }
}
