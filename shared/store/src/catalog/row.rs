//! Reads the rows of both databases.

use jiff::Timestamp;
use uuid::Uuid;

#[cfg(feature = "cloud")]
use super::postgres::values as postgres;
#[cfg(feature = "embedded")]
use super::sqlite::values as sqlite;
use super::{
    AnswerLookup, AskedQuestion, Calibration, ChunkRow, CommentInsight, DayInsight, DocumentRow,
    DocumentState, GapQuestion, HelpfulAnswer, IndexRow, IndexSpec, IndexState, IndexStats,
    LessonInsight, OpenQuestion, PageRow, Pending, ReportInsight, SiteInfo, StoredDocument,
    StoredExchange,
};
use book::Placement;

/// A row of either database.
pub(super) trait Row {
    /// The error for a missing column, or a value that is not as this program writes it.
    type Error;

    /// Reads the column with this name.
    fn get<T: Value>(&self, column: &str) -> Result<T, Self::Error>;

    /// Returns the name of a column, counted from 0.
    fn name(&self, index: usize) -> &str;
}

/// A type of which the catalog has columns.
pub(super) trait Value: Sized {
    #[cfg(feature = "cloud")]
    fn from_postgres(row: &tokio_postgres::Row, column: &str) -> Result<Self, super::CatalogError>;

    #[cfg(feature = "embedded")]
    fn from_sqlite(row: &rusqlite::Row, column: &str) -> rusqlite::Result<Self>;
}

/// A type that is read from a row.
pub(super) trait FromRow: Sized {
    fn from_row<R: Row>(row: &R) -> Result<Self, R::Error>;
}

/// Implements [`Value`] with a function for each database.
macro_rules! value {
    ($type:ty, $from_postgres:path, $from_sqlite:path) => {
        impl Value for $type {
            #[cfg(feature = "cloud")]
            fn from_postgres(
                row: &tokio_postgres::Row,
                column: &str,
            ) -> Result<Self, super::CatalogError> {
                $from_postgres(row, column)
            }

            #[cfg(feature = "embedded")]
            fn from_sqlite(row: &rusqlite::Row, column: &str) -> rusqlite::Result<Self> {
                $from_sqlite(row, column)
            }
        }
    };
}

value!(bool, postgres::get, sqlite::get);
value!(i32, postgres::get, sqlite::get);
value!(i64, postgres::get, sqlite::get);
value!(u32, postgres::unsigned, sqlite::get);
value!(u64, postgres::unsigned, sqlite::count);
value!(String, postgres::get, sqlite::get);
value!(Vec<u8>, postgres::get, sqlite::get);
value!(Uuid, postgres::get, sqlite::uuid);
value!(Timestamp, postgres::get, sqlite::timestamp);
value!(IndexState, postgres::index_state, sqlite::index_state);
value!(IndexSpec, postgres::json, sqlite::json_column);
value!(SiteInfo, postgres::json, sqlite::json_column);
value!(Calibration, postgres::json, sqlite::json_column);
value!(Placement, postgres::json, sqlite::json_column);

impl<T: Value> Value for Option<T> {
    #[cfg(feature = "cloud")]
    fn from_postgres(row: &tokio_postgres::Row, column: &str) -> Result<Self, super::CatalogError> {
        if postgres::is_null(row, column)? {
            return Ok(None);
        }
        T::from_postgres(row, column).map(Some)
    }

    #[cfg(feature = "embedded")]
    fn from_sqlite(row: &rusqlite::Row, column: &str) -> rusqlite::Result<Self> {
        if sqlite::is_null(row, column)? {
            return Ok(None);
        }
        T::from_sqlite(row, column).map(Some)
    }
}

/// A row of one column.
impl<T: Value> FromRow for T {
    fn from_row<R: Row>(row: &R) -> Result<Self, R::Error> {
        row.get(row.name(0))
    }
}

impl<A: Value, B: Value> FromRow for (A, B) {
    fn from_row<R: Row>(row: &R) -> Result<Self, R::Error> {
        Ok((row.get(row.name(0))?, row.get(row.name(1))?))
    }
}

/// Implements [`FromRow`] for a struct whose fields have columns of the same name, or of the name given.
macro_rules! from_row {
    (@column $field:ident) => {
        stringify!($field)
    };
    (@column $field:ident $column:literal) => {
        $column
    };
    ($type:ty { $($field:ident $(= $column:literal)?),* $(,)? }) => {
        impl FromRow for $type {
            fn from_row<R: Row>(row: &R) -> Result<Self, R::Error> {
                Ok(Self {
                    $($field: row.get(from_row!(@column $field $($column)?))?,)*
                })
            }
        }
    };
}

from_row!(IndexRow {
    index_id,
    spec,
    collection,
    state,
    site,
    pages_expected,
    calibration = "scales",
    changed_at,
    compared_at,
    commit_hash,
});

/// Reads the counts; the lists stay empty.
impl FromRow for IndexStats {
    fn from_row<R: Row>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            documents: row.get("documents")?,
            chunks: row.get("chunks")?,
            tokens: row.get("tokens")?,
            pending_points: row.get("pending_points")?,
            last_indexed_at: row.get("last_indexed_at")?,
            ..Self::default()
        })
    }
}

from_row!(DocumentRow {
    document_id,
    source,
    title,
    url,
    locale,
    version,
    lesson_id,
    placement = "lesson",
    fingerprint,
    skip_reason,
    deleted,
});

impl FromRow for StoredDocument {
    fn from_row<R: Row>(row: &R) -> Result<Self, R::Error> {
        Ok(Self {
            row: DocumentRow::from_row(row)?,
            revision: row.get("revision")?,
            chunk_count: row.get("chunk_count")?,
            last_indexed_at: row.get("last_indexed_at")?,
        })
    }
}

from_row!(DocumentState {
    source,
    fingerprint,
    skip_reason,
    has_chunks,
    last_indexed_at,
});

from_row!(PageRow {
    document_id,
    title,
    url,
    locale,
    version,
    tokens,
});

from_row!(ChunkRow {
    chunk_id,
    position,
    chapter,
    chapter_id,
    section,
    section_id,
    source_file,
    start_line,
    end_line,
    token_count,
    point_id = "qdrant_point_id",
    text,
    text_hash,
    payload_hash,
});

from_row!(Pending {
    point_id,
    last_time,
});

from_row!(StoredExchange {
    message_id,
    question,
    answer,
});

from_row!(AnswerLookup {
    answer,
    book_revision,
});

from_row!(DayInsight {
    day,
    questions,
    not_covered,
    uncertain,
    degraded,
    incomplete,
    tokens,
    cost_micro_usd,
    cached,
    saved_micro_usd,
});

from_row!(AskedQuestion { question, count });

from_row!(GapQuestion {
    question_hash,
    question,
    count,
    not_covered,
    uncertain,
    unhelpful,
    first_day,
    last_day,
});

from_row!(HelpfulAnswer {
    question,
    source,
    section_id,
});

from_row!(OpenQuestion {
    question_hash,
    question,
    count,
});

from_row!(LessonInsight { title, url, count });

from_row!(CommentInsight {
    day,
    question,
    comment,
    helpful,
});

from_row!(ReportInsight {
    day,
    question,
    problem,
    page,
});
