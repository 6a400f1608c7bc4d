//! The search by words: every chunk is looked at, as a laptop's book is small.

use rusqlite::Row;

use super::SqliteCatalog;
use super::values::uuid;
use crate::catalog::search::{found_chunk, words};
use crate::catalog::{CatalogError, FoundChunk};
use crate::index::Filters;

/// A chunk that has some of the words.
struct Match {
    chunk: FoundChunk,
    /// How often it has each of the words.
    counts: Vec<usize>,
}

impl SqliteCatalog {
    pub(in crate::catalog) async fn search_text(
        &self,
        index_id: i64,
        looked_for: &[Vec<String>],
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<FoundChunk>, CatalogError> {
        let (looked_for, filters) = (looked_for.to_vec(), filters.clone());
        self.run(move |connection| {
            let mut statement = connection.prepare(
                "SELECT qdrant_point_id, text, payload FROM document_chunks
                 WHERE index_id = ?1 AND payload IS NOT NULL ORDER BY source_file, position",
            )?;
            let mut rows = statement.query([index_id])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.extend(matching(row, &looked_for, &filters)?);
            }
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            Ok(ranked(found, looked_for.len())
                .into_iter()
                .take(limit)
                .collect())
        })
        .await
    }
}

impl SqliteCatalog {
    pub(in crate::catalog) async fn values(
        &self,
        index_id: i64,
        payload_field: &'static str,
    ) -> Result<Vec<String>, CatalogError> {
        self.run(move |connection| {
            let values = connection
                .prepare(
                    "SELECT DISTINCT CAST(value AS TEXT) FROM document_chunks, json_each(payload, '$.' || ?2)
                     WHERE index_id = ?1 AND value IS NOT NULL
                       AND NOT coalesce(json_extract(payload, '$.unlisted'), 0)",
                )?
                .query_map((index_id, payload_field), |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            Ok(values)
        })
        .await
    }
}

/// The chunk of a row, if it has a word and the filters admit it.
fn matching(
    row: &Row,
    looked_for: &[Vec<String>],
    filters: &Filters,
) -> rusqlite::Result<Option<Match>> {
    let text: String = row.get("text")?;
    let counts = counts(&text.to_lowercase(), looked_for);
    if counts.iter().all(|count| *count == 0) {
        return Ok(None);
    }
    let payload: String = row.get("payload")?;
    let chunk = found_chunk(uuid(row, "qdrant_point_id")?, &payload);
    let admitted = chunk.filter(|chunk| filters.admits(&chunk.payload));
    Ok(admitted.map(|chunk| Match { chunk, counts }))
}

fn counts(text: &str, looked_for: &[Vec<String>]) -> Vec<usize> {
    let mut counts = vec![0; looked_for.len()];
    for word in words(text) {
        for (forms, count) in looked_for.iter().zip(&mut counts) {
            let is_form = forms.iter().any(|form| word.starts_with(form.as_str()));
            *count += usize::from(is_form);
        }
    }
    counts
}

/// By the sum of ln(1 + (n − d + 0.5) / (d + 0.5)) over the words a chunk has, where d of the n found have it; then by how
/// often it has them. The sort is stable, so equal ones stay by source and place. Source of the weight: Robertson and
/// Zaragoza, 2009.
fn ranked(mut found: Vec<Match>, words: usize) -> Vec<FoundChunk> {
    let weights: Vec<f64> = (0..words)
        .map(|word| {
            let with = found.iter().filter(|found| found.counts[word] > 0).count();
            let without = found.len() - with;
            (1.0 + (number(without) + 0.5) / (number(with) + 0.5)).ln()
        })
        .collect();
    let score = |found: &Match| -> f64 {
        let had = weights.iter().zip(&found.counts);
        had.filter(|(_, count)| **count > 0)
            .map(|(weight, _)| *weight)
            .sum()
    };
    let often = |found: &Match| -> usize { found.counts.iter().sum() };
    found.sort_by(|left, right| {
        let by_words = score(right).total_cmp(&score(left));
        by_words.then_with(|| often(right).cmp(&often(left)))
    });
    found.into_iter().map(|found| found.chunk).collect()
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
