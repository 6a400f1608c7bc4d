//! The counts of an index, which its commits keep up to date: a question or a command reads a few rows instead of the whole index.

use tokio_postgres::types::Type;

use super::pool::Transaction;
use crate::catalog::{CatalogError, Commit};

/// What a document adds to the counts of its index.
#[derive(Default)]
pub(super) struct DocumentCounts {
    fields: Vec<String>,
    values: Vec<String>,
    numbers: Vec<i64>,
}

/// Reads what a document added to the counts before this commit.
pub(super) async fn before(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
) -> Result<DocumentCounts, CatalogError> {
    let mut counts = DocumentCounts::default();
    if commit.expected_revision == 0 {
        return Ok(counts);
    }
    let rows = transaction
        .query(
            "SELECT field, value, number FROM counts_of_document($1, $2)",
            &[
                (&commit.index_id, Type::INT8),
                (&commit.document.document_id, Type::UUID),
            ],
        )
        .await?;
    for row in rows {
        counts.fields.push(row.try_get("field")?);
        counts.values.push(row.try_get("value")?);
        counts.numbers.push(row.try_get("number")?);
    }
    Ok(counts)
}

/// Adds what the document counts now, without what it counted before. This is the last statement of a commit, because it locks rows that other
/// commits change, too. All lock them in the same order.
pub(super) async fn replace(
    transaction: &mut Transaction<'_>,
    commit: &Commit,
    before: &DocumentCounts,
) -> Result<(), CatalogError> {
    transaction
        .execute(
            "INSERT INTO index_counts (index_id, field, value, number)
             SELECT $1, field, value, sum(number)::bigint FROM (
                SELECT field, value, number FROM counts_of_document($1, $2)
                UNION ALL SELECT field, value, -number FROM unnest($3, $4, $5) AS before (field, value, number)
             ) AS change
             GROUP BY field, value HAVING sum(number) <> 0 ORDER BY field COLLATE \"C\", value COLLATE \"C\"
             ON CONFLICT (index_id, field, value) DO UPDATE SET number = index_counts.number + excluded.number",
            &[
                (&commit.index_id, Type::INT8),
                (&commit.document.document_id, Type::UUID),
                (&before.fields, Type::TEXT_ARRAY),
                (&before.values, Type::TEXT_ARRAY),
                (&before.numbers, Type::INT8_ARRAY),
            ],
        )
        .await?;
    Ok(())
}
