//! The search by words.

use serde_json::{Map, Value};
use tokio_postgres::types::{Json, Type};

use super::PostgresCatalog;
use crate::catalog::search::found_chunk;
use crate::catalog::{CatalogError, FoundChunk};
use crate::index::{Filters, TitleOrNumber};

impl PostgresCatalog {
    pub(in crate::catalog) async fn search_text(
        &self,
        index_id: i64,
        words: &[Vec<String>],
        filters: &Filters,
        limit: u32,
    ) -> Result<Vec<FoundChunk>, CatalogError> {
        let contained = contained(filters);
        if has_nul(&contained) {
            // No payload has one: Postgres does not hold them.
            return Ok(Vec::new());
        }
        // They are letters and digits only, so nothing in them needs an escape.
        let query = |beginning: &String| format!("'{beginning}':*");
        let queries: Vec<String> = words
            .iter()
            .map(|forms| forms.iter().map(query).collect::<Vec<_>>().join(" | "))
            .collect();
        // How rare a word is, is counted among the chunks found; numeric, so that equal words give equal sums.
        let rows = self
            .pool
            .query(
                "WITH query AS MATERIALIZED (
                    SELECT number, to_tsquery('simple', text) AS query
                    FROM unnest($2) WITH ORDINALITY AS queries (text, number)),
                 found AS MATERIALIZED (
                    SELECT chunk_id, words FROM document_chunks
                    WHERE index_id = $1 AND words @@ to_tsquery('simple', $3) AND payload @> $4
                        AND ($5 IS NULL OR (payload ->> 'hardware_tier')::bigint <= $5)),
                 hit AS MATERIALIZED (
                    SELECT chunk_id, number FROM found JOIN query ON found.words @@ query.query),
                 weight AS MATERIALIZED (
                    SELECT number, ln(1 + ((SELECT count(*) FROM found) - count(*) + 0.5) / (count(*) + 0.5)) AS weight
                    FROM hit GROUP BY number),
                 best AS (
                    SELECT chunk_id, sum(weight) AS score FROM hit JOIN weight USING (number) GROUP BY chunk_id)
                 SELECT qdrant_point_id, payload::text FROM best JOIN document_chunks USING (chunk_id)
                 WHERE index_id = $1
                 ORDER BY score DESC, ts_rank_cd(words, to_tsquery('simple', $3)) DESC,
                    source_file COLLATE \"C\", position
                 LIMIT $6",
                &[
                    (&index_id, Type::INT8),
                    (&queries, Type::TEXT_ARRAY),
                    (&queries.join(" | "), Type::TEXT),
                    (&Json(&contained), Type::JSONB),
                    (&filters.hardware_tier, Type::INT8),
                    (&i64::from(limit), Type::INT8),
                ],
            )
            .await?;
        let mut found = Vec::with_capacity(rows.len());
        for row in &rows {
            let chunk = found_chunk(row.try_get("qdrant_point_id")?, row.try_get("payload")?);
            found.extend(chunk.filter(|chunk| filters.admits(&chunk.payload)));
        }
        Ok(found)
    }
}

impl PostgresCatalog {
    pub(in crate::catalog) async fn values(
        &self,
        index_id: i64,
        payload_field: &str,
    ) -> Result<Vec<String>, CatalogError> {
        // In lax mode, which is the default, `[*]` takes a scalar for a list of one.
        let rows = self
            .pool
            .query(
                "SELECT DISTINCT value #>> '{}' FROM document_chunks,
                    jsonb_path_query(payload, ('$.' || $2 || '[*]')::jsonpath) AS value
                 WHERE index_id = $1 AND value <> 'null' AND NOT coalesce((payload->>'unlisted')::boolean, false)",
                &[(&index_id, Type::INT8), (&payload_field, Type::TEXT)],
            )
            .await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }
}

/// What the payloads of all chunks that the filters admit contain, as `@>` understands it; the tier is compared apart.
fn contained(filters: &Filters) -> Value {
    let Filters {
        module,
        chapter,
        lesson,
        hardware_tier: _,
        layer,
        proficiency_level,
        section_type,
        has_code,
        has_equations,
        locale,
        version,
        source,
    } = filters;
    let place = |title: &'static str, number: &'static str, value: &Option<TitleOrNumber>| {
        value.as_ref().map(|value| match value {
            TitleOrNumber::Number(value) => (number, Value::from(*value)),
            TitleOrNumber::Title(value) => (title, Value::from(value.as_str())),
        })
    };
    let text = |field: &'static str, value: &Option<String>| {
        value.as_deref().map(|value| (field, Value::from(value)))
    };
    let flag =
        |field: &'static str, value: Option<bool>| value.map(|value| (field, Value::from(value)));
    let fields = [
        place("module", "module_number", module),
        place("chapter", "chapter_number", chapter),
        text("lesson_id", lesson),
        text("layer", layer),
        text("proficiency_level", proficiency_level),
        section_type.map(|kind| ("section_type", Value::from(kind.name()))),
        flag("has_code", *has_code),
        flag("has_equations", *has_equations),
        // Of a list it is enough to contain one.
        locale
            .as_deref()
            .map(|locale| ("locale", Value::from(vec![locale]))),
        text("version", version),
        text("source", source),
    ];
    let fields = fields.into_iter().flatten();
    let fields: Map<String, Value> = fields
        .map(|(field, value)| (field.to_owned(), value))
        .collect();
    Value::Object(fields)
}

fn has_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(has_nul),
        Value::Object(fields) => fields.values().any(has_nul),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
