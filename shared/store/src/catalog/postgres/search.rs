//! Full-text search by the terms of chunks, which the program computes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tokio_postgres::types::{Json, ToSql, Type};

use super::PostgresCatalog;
use super::commit::LONGEST_LEXEME;
use super::documents::{JOINED, joined_chunks};
use crate::catalog::{CatalogError, JoinedChunk, single};
use crate::index::{Condition, FilterValues, Filters, Test};
use text::{DocumentFrequencies, Language, Words};

/// How many chunks a full-text search compares at most, so that its time does not grow with the book: those with the rarest terms.
const MOST_COMPARED: i64 = 20_000;

impl PostgresCatalog {
    pub(in crate::catalog) async fn search_text(
        &self,
        index_id: i64,
        terms: &[String],
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        let terms = lexemes(terms);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let conditions = filters.conditions();
        let contained = contained(&conditions);
        if has_nul(&contained) {
            // Postgres cannot store NUL, so no payload matches.
            return Ok(Vec::new());
        }
        let versions = filters.versions().map(|mut versions| {
            versions.retain(|version| !version.contains('\0'));
            versions
        });
        let (_, counted) = self.chunks_with(index_id, &terms).await?;
        let rarest = rarest(&terms, &counted);
        // A term's rarity is counted among the matching chunks. It is numeric, so that equal terms give equal sums.
        let rows = self
            .pool
            .query(
                &format!("WITH query AS MATERIALIZED (
                    SELECT text::tsquery AS query FROM unnest($2) AS text),
                 found AS MATERIALIZED (
                    SELECT chunk_id, terms FROM document_chunks
                    WHERE index_id = $1 AND terms @@ $3::text::tsquery AND payload @> $4
                        AND NOT EXISTS (SELECT FROM jsonb_each_text($5) AS most (field, number)
                            WHERE CASE jsonb_typeof(payload #> string_to_array(most.field, '.')) WHEN 'number'
                                THEN (payload #>> string_to_array(most.field, '.'))::float8 > most.number::float8 END)
                        AND ($7 IS NULL OR payload ->> 'version' = ANY ($7))
                    LIMIT $8),
                 hit AS MATERIALIZED (
                    SELECT chunk_id, query FROM found JOIN query ON found.terms @@ query.query),
                 weight AS MATERIALIZED (
                    SELECT query, ln(1 + ((SELECT count(*) FROM found) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
                    FROM hit GROUP BY query),
                 best AS (
                    SELECT chunk_id, sum(weight) AS score FROM hit JOIN weight USING (query) GROUP BY chunk_id)
                 {JOINED} JOIN best USING (chunk_id)
                 WHERE index_id = $1
                 ORDER BY score DESC, ts_rank_cd(terms, $3::text::tsquery) DESC,
                    source_file COLLATE \"C\", position
                 LIMIT $6"),
                &[
                    (&index_id, Type::INT8),
                    (&terms, Type::TEXT_ARRAY),
                    (&rarest.join(" | "), Type::TEXT),
                    (&Json(&contained), Type::JSONB),
                    (&Json(at_most(&conditions)), Type::JSONB),
                    (&i64::from(limit), Type::INT8),
                    (&versions, Type::TEXT_ARRAY),
                    (&MOST_COMPARED, Type::INT8),
                ],
            )
            .await?;
        let mut found = joined_chunks(&rows)?;
        // `@>` also matches a list at another place than the filter's, so filter again.
        found.retain(|chunk| filters.admits(&FilterValues::from(&chunk.payload)));
        Ok(found)
    }
}

impl PostgresCatalog {
    pub(in crate::catalog) async fn document_frequencies(
        &self,
        index_id: i64,
        words: &BTreeSet<String>,
        language: Language,
    ) -> Result<DocumentFrequencies, CatalogError> {
        let stemmed = Words::new(language);
        let (subjects, terms): (Vec<&String>, Vec<String>) = words
            .iter()
            .filter_map(|word| Some((word, stemmed.term(word)?)))
            .filter(|(_, term)| term.len() <= LONGEST_LEXEME)
            .unzip();
        let (chunks, counted) = self.chunks_with(index_id, &terms).await?;
        let mut with: BTreeMap<String, u64> =
            words.iter().map(|word| (word.clone(), chunks)).collect();
        for (word, counted) in subjects.into_iter().zip(counted) {
            with.insert(word.clone(), counted);
        }
        Ok(DocumentFrequencies { chunks, with })
    }

    /// Returns the number of chunks of an index, and that of the chunks with each term.
    async fn chunks_with<T: AsRef<str> + Sync + ToSql>(
        &self,
        index_id: i64,
        terms: &[T],
    ) -> Result<(u64, Vec<u64>), CatalogError> {
        let rows = self
            .pool
            .query(
                "SELECT coalesce((SELECT number FROM index_counts WHERE index_id = $1 AND field = '' AND value = 'chunks'), 0),
                    ARRAY(SELECT coalesce((SELECT number FROM index_counts
                                           WHERE index_id = $1 AND field = 'term' AND value = asked.term), 0)
                          FROM unnest($2) WITH ORDINALITY AS asked (term, number) ORDER BY number)",
                &[(&index_id, Type::INT8), (&terms, Type::TEXT_ARRAY)],
            )
            .await?;
        let row = single(rows)?;
        let counted: Vec<i64> = row.try_get(1)?;
        Ok((
            count(row.try_get(0)?),
            counted.into_iter().map(count).collect(),
        ))
    }
}

/// Returns the rarest terms, which some [`MOST_COMPARED`] chunks have together; one at least.
fn rarest<'t>(terms: &[&'t str], counted: &[u64]) -> Vec<&'t str> {
    let mut by_rarity: Vec<(u64, &str)> =
        counted.iter().copied().zip(terms.iter().copied()).collect();
    by_rarity.sort_unstable();
    let mut chunks = 0;
    let within = by_rarity
        .into_iter()
        .enumerate()
        .take_while(|(number, (counted, _))| {
            chunks += counted;
            *number == 0 || chunks <= MOST_COMPARED.unsigned_abs()
        });
    within.map(|(_, (_, term))| term).collect()
}

fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// Returns the JSON that every admitted payload must contain, for `@>`.
fn contained(conditions: &[Condition]) -> Value {
    let mut fields = Map::new();
    for Condition { field, test } in conditions {
        let value = match test {
            Test::Is(value) => value.clone(),
            // A list matches if it contains one of the values.
            Test::Contains(text) => Value::from(vec![text.as_str()]),
            Test::IsOneOf(_) | Test::AtMost(_) => continue,
        };
        match field.split_once('.') {
            None => fields.insert(field.clone(), value),
            Some((parent, name)) => {
                let inner = fields.entry(parent).or_insert_with(|| Map::new().into());
                inner[name] = value;
                None
            }
        };
    }
    Value::Object(fields)
}

/// Returns the largest admitted number of each field with such a condition.
fn at_most(conditions: &[Condition]) -> Value {
    let limits = conditions
        .iter()
        .filter_map(|condition| match condition.test {
            Test::AtMost(most) => Some((condition.field.clone(), Value::from(most))),
            _ => None,
        });
    Value::Object(limits.collect())
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(fields) => fields.values().any(has_nul),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns the terms that Postgres can look for. They are letters, digits, marks and underscores, so they need no quotes.
fn lexemes(terms: &[String]) -> Vec<&str> {
    let terms = terms.iter().map(String::as_str);
    terms.filter(|term| term.len() <= LONGEST_LEXEME).collect()
}
