//! Full-text search by the stems of words, with the `simple` dictionary.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use tokio_postgres::types::{Json, Type};

use super::PostgresCatalog;
use super::documents::{JOINED, joined_chunks};
use crate::catalog::{CatalogError, JoinedChunk};
use crate::index::{Condition, FilterValues, Filters, Test};
use text::{DocumentFrequencies, Language, Words};

impl PostgresCatalog {
    pub(in crate::catalog) async fn search_text(
        &self,
        index_id: i64,
        text: &str,
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<JoinedChunk>, CatalogError> {
        let language = filters.locale.as_deref().map(Language::of_locale);
        let words = Words::new(language.unwrap_or(Language::ENGLISH));
        let words = beginnings(&words.beginnings(text));
        if words.is_empty() {
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
        let queries: Vec<String> = words.iter().map(|forms| any_of(forms)).collect();
        // A word's rarity is counted among the matching chunks. It is numeric, so that equal words give equal sums.
        let rows = self
            .pool
            .query(
                &format!("WITH query AS MATERIALIZED (
                    SELECT number, to_tsquery('simple', text) AS query
                    FROM unnest($2) WITH ORDINALITY AS queries (text, number)),
                 found AS MATERIALIZED (
                    SELECT chunk_id, words FROM document_chunks
                    WHERE index_id = $1 AND words @@ to_tsquery('simple', $3) AND payload @> $4
                        AND NOT EXISTS (SELECT FROM jsonb_each_text($5) AS most (field, number)
                            WHERE CASE jsonb_typeof(payload #> string_to_array(most.field, '.')) WHEN 'number'
                                THEN (payload #>> string_to_array(most.field, '.'))::float8 > most.number::float8 END)
                        AND ($7 IS NULL OR payload ->> 'version' = ANY ($7))),
                 hit AS MATERIALIZED (
                    SELECT chunk_id, number FROM found JOIN query ON found.words @@ query.query),
                 weight AS MATERIALIZED (
                    SELECT number, ln(1 + ((SELECT count(*) FROM found) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
                    FROM hit GROUP BY number),
                 best AS (
                    SELECT chunk_id, sum(weight) AS score FROM hit JOIN weight USING (number) GROUP BY chunk_id)
                 {JOINED} JOIN best USING (chunk_id)
                 WHERE index_id = $1
                 ORDER BY score DESC, ts_rank_cd(words, to_tsquery('simple', $3)) DESC,
                    source_file COLLATE \"C\", position
                 LIMIT $6"),
                &[
                    (&index_id, Type::INT8),
                    (&queries, Type::TEXT_ARRAY),
                    (&queries.join(" | "), Type::TEXT),
                    (&Json(&contained), Type::JSONB),
                    (&Json(at_most(&conditions)), Type::JSONB),
                    (&i64::from(limit), Type::INT8),
                    (&versions, Type::TEXT_ARRAY),
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
        // The first forms are those of the whole word.
        let (subjects, queries): (Vec<&String>, Vec<String>) = words
            .iter()
            .filter_map(|word| {
                let forms = stemmed.beginnings(word).into_iter().next()?;
                Some((word, any_of(beginnings(&[forms]).first()?)))
            })
            .unzip();
        let rows = self
            .pool
            .query(
                "SELECT (SELECT count(*) FROM document_chunks WHERE index_id = $1),
                    ARRAY(SELECT (SELECT count(*) FROM document_chunks
                                  WHERE index_id = $1 AND words @@ to_tsquery('simple', queries.query))
                          FROM unnest($2) WITH ORDINALITY AS queries (query, number) ORDER BY number)",
                &[(&index_id, Type::INT8), (&queries, Type::TEXT_ARRAY)],
            )
            .await?;
        let Some(row) = rows.first() else {
            return Ok(DocumentFrequencies::default());
        };
        let chunks = count(row.try_get(0)?);
        let counted: Vec<i64> = row.try_get(1)?;
        let mut with: BTreeMap<String, u64> =
            words.iter().map(|word| (word.clone(), chunks)).collect();
        for (word, counted) in subjects.into_iter().zip(counted) {
            with.insert(word.clone(), count(counted));
        }
        Ok(DocumentFrequencies { chunks, with })
    }
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

/// Returns the query for words with any of these prefixes. Prefixes are letters and digits only, so they need no escaping.
fn any_of(beginnings: &[String]) -> String {
    let queries = beginnings
        .iter()
        .map(|beginning| format!("'{beginning}':*"));
    queries.collect::<Vec<_>>().join(" | ")
}

/// Normalises the words to search for, each given as the stems of its forms: lower case, split at characters other than letters
/// and digits, without duplicates.
fn beginnings(looked_for: &[Vec<String>]) -> Vec<Vec<String>> {
    let looked_for: BTreeSet<BTreeSet<String>> = looked_for
        .iter()
        .map(|forms| {
            forms
                .iter()
                .flat_map(|form| words(&form.to_lowercase()))
                .collect()
        })
        .filter(|forms: &BTreeSet<String>| !forms.is_empty())
        .collect();
    looked_for
        .into_iter()
        .map(|forms| forms.into_iter().collect())
        .collect()
}

fn words(text: &str) -> Vec<String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_letters_and_digits_is_looked_for() {
        let terms = [
            "Node",
            "node",
            "create_node",
            "':* | \\'&!()",
            "",
            "🤖",
            "it's",
            "节点",
        ];
        let found = beginnings(&terms.map(|term| vec![term.to_owned()]));
        let expected: [&[&str]; 4] = [&["create", "node"], &["it", "s"], &["node"], &["节点"]];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_forms_of_a_word_are_one_word() {
        let forms = ["Battery", "batteri", "battery"].map(str::to_owned);
        assert_eq!(beginnings(&[forms.to_vec()]), [["batteri", "battery"]]);
    }
}
