//! The statements that both databases run.
//!
//! A statement is written twice only where the dialects differ, first for Postgres and then for SQLite. What they share of such a statement, such as
//! a list of columns, is written once.

use super::statement::{Statement, in_order};

// Indexes.

// Not the vectors of the questions that it was calibrated with: they are long.
macro_rules! index_columns {
    () => {
        "index_id, spec, collection, state, site, pages_expected, scales, compared_at, commit_hash,
        (SELECT max(last_indexed_at) FROM documents WHERE documents.index_id = indexes.index_id) AS changed_at"
    };
}

/// The columns of an `IndexRow`.
pub(super) const INDEX_COLUMNS: &str = index_columns!();

pub(super) const INDEXES: Statement = Statement::new(concat!(
    "SELECT ",
    index_columns!(),
    " FROM indexes WHERE dropped_at IS NULL ORDER BY index_id"
))
.for_readers();

pub(super) const DOCUMENTS_HELD: &str =
    in_order("SELECT source, fingerprint FROM documents WHERE index_id = $1 AND NOT deleted");

pub(super) const MAKE_LIVE: &str = in_order(
    "UPDATE indexes SET state = 'live', retired_at = NULL, pages_expected = NULL WHERE index_id = $1",
);

pub(super) const BEGIN_DROP: Statement = Statement::in_dialects(
    concat!(
        "UPDATE indexes SET dropped_at = coalesce(dropped_at, now())
         WHERE state = 'retired' AND (dropped_at IS NOT NULL OR now() - retired_at >= $1 * interval '1 microsecond')
         RETURNING ",
        index_columns!()
    ),
    concat!(
        "UPDATE indexes SET dropped_at = coalesce(dropped_at, ?2)
         WHERE state = 'retired' AND (dropped_at IS NOT NULL OR retired_at <= ?1) RETURNING ",
        index_columns!()
    ),
);

/// Deletes a table's rows of an index that is being dropped. The condition protects the rows of an index that is in use.
pub(super) fn delete_rows(table: &str) -> String {
    format!(
        "DELETE FROM {table} WHERE index_id = $1
            AND EXISTS (SELECT 1 FROM indexes WHERE index_id = $1 AND dropped_at IS NOT NULL)"
    )
}

pub(super) const EXPECT_PAGES: Statement = Statement::new(
    "UPDATE indexes SET pages_expected = $1 WHERE index_id = $2 AND pages_expected IS NOT NULL",
);

pub(super) const RECORD_COMPARISON: Statement = Statement::in_dialects(
    "UPDATE indexes SET compared_at = now() - $1 * interval '1 microsecond', commit_hash = $2 WHERE index_id = $3",
    "UPDATE indexes SET compared_at = ?1, commit_hash = ?2 WHERE index_id = ?3",
);

pub(super) const SET_CALIBRATION: &str =
    in_order("UPDATE indexes SET scales = $1, off_topic_vectors = $2 WHERE index_id = $3");

pub(super) const OFF_TOPIC_VECTORS: Statement =
    Statement::new("SELECT off_topic_vectors FROM indexes WHERE index_id = $1").for_readers();

pub(super) const RECORD_FAILURES: Statement = Statement::in_dialects(
    "INSERT INTO document_failures (index_id, source, reason, failed_at) SELECT $1, unnest($2::text[]), $3, now()
     ON CONFLICT (index_id, source) DO UPDATE SET reason = excluded.reason, failed_at = excluded.failed_at",
    // WHERE separates SELECT from ON CONFLICT, which the parser would otherwise take for a join's condition.
    "INSERT INTO document_failures (index_id, source, reason, failed_at)
     SELECT ?1, value, ?3, ?4 FROM json_each(?2) WHERE true
     ON CONFLICT (index_id, source) DO UPDATE SET reason = excluded.reason, failed_at = excluded.failed_at",
);

pub(super) const FORGET_FAILURES: Statement = Statement::in_dialects(
    "DELETE FROM document_failures WHERE index_id = $1 AND source = ANY($2)",
    "DELETE FROM document_failures WHERE index_id = ?1 AND source IN (SELECT value FROM json_each(?2))",
);

// Documents and chunks.

/// The documents of an index, each with the number of its chunks.
macro_rules! documents_of_index {
    () => {
        "SELECT *, (SELECT count(*) FROM document_chunks AS chunk
            WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
         ) AS chunk_count
         FROM documents AS document WHERE index_id = $1"
    };
}

pub(super) const DOCUMENT: Statement =
    Statement::new(concat!(documents_of_index!(), " AND source = $2"));

pub(super) const DOCUMENTS: Statement = Statement::new(concat!(
    documents_of_index!(),
    " AND NOT deleted ORDER BY source"
));

pub(super) const STATES: Statement = Statement::new(
    "SELECT source, fingerprint, skip_reason, last_indexed_at, EXISTS (SELECT 1 FROM document_chunks AS chunk
        WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
     ) AS has_chunks
     FROM documents AS document WHERE index_id = $1 AND NOT deleted",
);

pub(super) const SHARED_URLS: Statement = Statement::new(
    "SELECT url, source FROM documents WHERE index_id = $1 AND NOT deleted AND url IN (
        SELECT url FROM documents WHERE index_id = $1 AND NOT deleted AND url <> ''
        GROUP BY url HAVING count(*) > 1)",
);

pub(super) const URLS: Statement = Statement::in_dialects(
    "SELECT source, url FROM documents WHERE index_id = $1 AND NOT deleted AND source = ANY($2)",
    "SELECT source, url FROM documents
     WHERE index_id = ?1 AND NOT deleted AND source IN (SELECT value FROM json_each(?2))",
)
.for_readers();

pub(super) const KNOWN_URLS: Statement = Statement::in_dialects(
    "SELECT url FROM documents WHERE index_id = $1 AND NOT deleted AND url = ANY($2)",
    "SELECT url FROM documents
     WHERE index_id = ?1 AND NOT deleted AND url IN (SELECT value FROM json_each(?2))",
);

pub(super) const DEPENDENTS: Statement = Statement::new(
    "SELECT source FROM documents JOIN document_inputs USING (index_id, document_id)
     WHERE index_id = $1 AND path = $2 ORDER BY source",
);

pub(super) const INPUTS: Statement = Statement::in_dialects(
    "SELECT source, path FROM documents JOIN document_inputs USING (index_id, document_id)
     WHERE index_id = $1 AND NOT deleted AND source = ANY($2)",
    "SELECT source, path FROM documents JOIN document_inputs USING (index_id, document_id)
     WHERE index_id = ?1 AND NOT deleted AND source IN (SELECT value FROM json_each(?2))",
);

pub(super) const OUTER_INPUTS: Statement = Statement::in_dialects(
    "SELECT DISTINCT path COLLATE \"C\" FROM document_inputs WHERE index_id = $1 AND path LIKE '../%' ORDER BY 1",
    // Both bounds together are the prefix `../`, which the index on paths finds. `0` follows `/`.
    "SELECT DISTINCT path FROM document_inputs
     WHERE index_id = ?1 AND path >= '../' AND path < '..0' ORDER BY path",
);

macro_rules! chunk_columns {
    () => {
        "chunk_id, position, chapter, chapter_id, section, section_id, source_file, start_line, end_line,
        token_count, qdrant_point_id, text, text_hash, payload_hash"
    };
}

/// The columns of a `ChunkRow`.
pub(super) const CHUNK_COLUMNS: &str = chunk_columns!();

/// The columns that are overwritten in the row of a chunk with a known id, except those of its payload.
pub(super) const CHUNK_CHANGES: &str =
    "position = excluded.position, chapter = excluded.chapter, chapter_id = excluded.chapter_id,
    section = excluded.section, section_id = excluded.section_id, source_file = excluded.source_file,
    start_line = excluded.start_line, end_line = excluded.end_line, token_count = excluded.token_count,
    qdrant_point_id = excluded.qdrant_point_id, text = excluded.text, text_hash = excluded.text_hash,
    payload_hash = excluded.payload_hash, updated_at = excluded.updated_at";

pub(super) const CHUNKS: Statement = Statement::new(concat!(
    "SELECT ",
    chunk_columns!(),
    " FROM document_chunks WHERE index_id = $1 AND document_id = $2 ORDER BY position"
));

pub(super) const POINTS_WITH_TEXT: Statement = Statement::in_dialects(
    "SELECT DISTINCT ON (text_hash) text_hash, qdrant_point_id FROM document_chunks
     WHERE index_id = $1 AND text_hash = ANY($2) ORDER BY text_hash, qdrant_point_id",
    "SELECT text_hash, min(qdrant_point_id) AS point_id FROM document_chunks
     WHERE index_id = ?1 AND text_hash IN (SELECT value FROM json_each(?2))
        AND substr(text_hash, 1, 16) IN (SELECT substr(value, 1, 16) FROM json_each(?2))
     GROUP BY text_hash",
);

pub(super) const PLACE_OF_CHUNK: Statement = Statement::new(
    "SELECT document_id, position FROM document_chunks WHERE index_id = $1 AND chunk_id = $2",
)
.for_readers();

pub(super) const VALUES: Statement = Statement::in_dialects(
    "SELECT value FROM index_counts WHERE index_id = $1 AND field = $2 AND number > 0",
    "SELECT DISTINCT CAST(value AS TEXT) FROM chunk_metadata, json_each(fields, '$.' || ?2)
     WHERE metadata_id IN (SELECT metadata_id FROM document_chunks WHERE index_id = ?1)
        AND value IS NOT NULL AND NOT coalesce(json_extract(fields, '$.unlisted'), 0)",
)
.for_readers();

/// The pages, or the posts, that the site lists. Tokens are added only for those that are returned.
macro_rules! listed_pages {
    ($versions:literal, $below:literal, $unlisted:literal) => {
        concat!(
            "SELECT document_id, title, url, locale, version,
                CAST((SELECT coalesce(sum(token_count), 0) FROM document_chunks AS chunk
                    WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id) AS bigint) AS tokens
             FROM (SELECT * FROM documents AS document
                WHERE index_id = $1 AND NOT deleted AND (CAST($2 AS text) IS NULL OR locale = $2) AND ",
            $versions,
            " AND ",
            $below,
            " AND url <> $4 AND (version LIKE 'blog/%') = $5 AND NOT coalesce((SELECT ",
            $unlisted,
            " WHERE chunk.index_id = document.index_id AND chunk.document_id = document.document_id
                    ORDER BY position LIMIT 1), false)
                ORDER BY source LIMIT $6 OFFSET $7) AS document
             ORDER BY source"
        )
    };
}

pub(super) const LISTED_PAGES: Statement = Statement::in_dialects(
    listed_pages!(
        "(CAST($3 AS text[]) IS NULL OR version = ANY($3))",
        "starts_with(url, $4)",
        "(payload->>'unlisted')::boolean FROM document_chunks AS chunk"
    ),
    listed_pages!(
        "($3 IS NULL OR version IN (SELECT value FROM json_each($3)))",
        "substr(url, 1, length($4)) = $4",
        "json_extract(fields, '$.unlisted') FROM document_chunks AS chunk JOIN chunk_metadata USING (metadata_id)"
    ),
)
.for_readers();

// The commit of a document.

/// Writes a document's row if its revision is the expected one.
macro_rules! write_document {
    ($now:literal) => {
        concat!(
            "INSERT INTO documents (index_id, document_id, source, title, url, locale, version, lesson_id, lesson,
                fingerprint, skip_reason, deleted, revision, last_indexed_at)
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 + 1, ", $now, "
             WHERE $13 = 0 OR EXISTS (SELECT 1 FROM documents WHERE index_id = $1 AND document_id = $2)
             ON CONFLICT (index_id, source) DO UPDATE SET
                title = excluded.title, url = excluded.url, locale = excluded.locale,
                version = excluded.version, lesson_id = excluded.lesson_id, lesson = excluded.lesson,
                fingerprint = excluded.fingerprint, skip_reason = excluded.skip_reason, deleted = excluded.deleted,
                revision = excluded.revision, last_indexed_at = excluded.last_indexed_at
             WHERE documents.revision = $13 AND documents.document_id = $2"
        )
    };
}

// The clock's time, not the transaction's: readers compare it with the time when they began.
pub(super) const WRITE_DOCUMENT: Statement =
    Statement::in_dialects(write_document!("clock_timestamp()"), write_document!("$14"));

pub(super) const FORGET_FAILURE: &str =
    in_order("DELETE FROM document_failures WHERE index_id = $1 AND source = $2");

pub(super) const DELETE_INPUTS: &str =
    in_order("DELETE FROM document_inputs WHERE index_id = $1 AND document_id = $2");

// Pending points.

pub(super) const FORGET: Statement = Statement::in_dialects(
    "DELETE FROM pending_points WHERE index_id = $1 AND kind <> 'intent' AND point_id = ANY($2)",
    "DELETE FROM pending_points
     WHERE index_id = ?1 AND kind <> 'intent' AND point_id IN (SELECT value FROM json_each(?2))",
);

pub(super) const PENDING_COUNT: Statement =
    Statement::new("SELECT count(*) AS points FROM pending_points WHERE index_id = $1");

pub(super) const KNOWN_POINTS: Statement = Statement::in_dialects(
    "SELECT point_id, bool_or(is_used) AS is_used FROM (
        (SELECT qdrant_point_id AS point_id, true AS is_used FROM document_chunks
         WHERE index_id = $1 AND qdrant_point_id > $2 ORDER BY qdrant_point_id LIMIT $3)
        UNION ALL
        (SELECT point_id, false FROM pending_points
         WHERE index_id = $1 AND point_id > $2 ORDER BY point_id LIMIT $3)) AS known
     GROUP BY point_id ORDER BY point_id LIMIT $3",
    "SELECT point_id, max(is_used) AS is_used FROM (
        SELECT * FROM (SELECT qdrant_point_id AS point_id, true AS is_used FROM document_chunks
            WHERE index_id = ?1 AND qdrant_point_id > ?2 ORDER BY qdrant_point_id LIMIT ?3)
        UNION ALL
        SELECT * FROM (SELECT point_id, false AS is_used FROM pending_points
            WHERE index_id = ?1 AND point_id > ?2 ORDER BY point_id LIMIT ?3))
     GROUP BY point_id ORDER BY point_id LIMIT ?3",
);

pub(super) const SOURCES_OF_POINTS: Statement = Statement::in_dialects(
    "SELECT qdrant_point_id, source_file FROM document_chunks WHERE index_id = $1 AND qdrant_point_id = ANY($2)",
    "SELECT qdrant_point_id AS point_id, source_file FROM document_chunks
     WHERE index_id = ?1 AND qdrant_point_id IN (SELECT value FROM json_each(?2))",
);

// Questions that a model wrote.

pub(super) const WRITTEN_QUESTIONS: Statement = Statement::in_dialects(
    "SELECT source, file FROM written_questions
     WHERE site = $1 AND ($2::text[] IS NULL OR source = ANY($2))",
    "SELECT source, file FROM written_questions
     WHERE site = ?1 AND (?2 IS NULL OR source IN (SELECT value FROM json_each(?2)))",
);

pub(super) const ADD_WRITTEN_QUESTIONS: Statement = Statement::in_dialects(
    "INSERT INTO written_questions (site, source, file, written_at) VALUES ($1, $2, $3, now())
     ON CONFLICT DO NOTHING RETURNING source",
    "INSERT INTO written_questions (site, source, file, written_at) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT DO NOTHING RETURNING source",
);

pub(super) const REPLACE_WRITTEN_QUESTIONS: Statement = Statement::in_dialects(
    "UPDATE written_questions SET file = $3, written_at = now()
     WHERE site = $1 AND source = $2 AND file = $4 RETURNING source",
    "UPDATE written_questions SET file = ?3, written_at = ?5
     WHERE site = ?1 AND source = ?2 AND file = ?4 RETURNING source",
);

pub(super) const FORGET_WRITTEN_QUESTIONS: Statement = Statement::in_dialects(
    "DELETE FROM written_questions AS written WHERE site = $1 AND NOT EXISTS (
        SELECT 1 FROM documents
        WHERE index_id IN (SELECT index_id FROM indexes) AND source = written.source
            AND (NOT deleted OR last_indexed_at > now() - $2 * interval '1 microsecond'))",
    "DELETE FROM written_questions AS written WHERE site = ?1 AND NOT EXISTS (
        SELECT 1 FROM documents
        WHERE index_id IN (SELECT index_id FROM indexes) AND source = written.source
            AND (NOT deleted OR last_indexed_at > ?2))",
);

// Cached answers.

pub(super) const CACHED_ANSWER: Statement = Statement::in_dialects(
    "WITH book AS (
        SELECT coalesce(max(number), 0) AS revision FROM index_counts
        WHERE index_id = $1 AND field = '' AND value = 'revision')
     SELECT revision AS book_revision, (
        SELECT answer FROM cached_answers
        WHERE key = $2 AND index_id = $1 AND created_at > now() - $3 * interval '1 microsecond'
            AND (book_revision IS NULL OR book_revision = revision)
            AND NOT EXISTS (
                SELECT FROM unnest(points) AS point (id)
                WHERE NOT EXISTS (
                    SELECT FROM document_chunks WHERE index_id = $1 AND qdrant_point_id = point.id))
        ) AS answer
     FROM book",
    "WITH book AS (SELECT coalesce(sum(revision), 0) AS revision FROM documents WHERE index_id = ?1)
     SELECT revision AS book_revision, (
        SELECT answer FROM cached_answers
        WHERE key = ?2 AND index_id = ?1 AND created_at > ?3
            AND (book_revision IS NULL OR book_revision = revision)
            AND NOT EXISTS (
                SELECT 1 FROM json_each(points) AS point
                WHERE NOT EXISTS (
                    SELECT 1 FROM document_chunks
                    WHERE index_id = ?1 AND qdrant_point_id = point.value))
        ) AS answer
     FROM book",
)
.for_readers();

macro_rules! cache_answer {
    ($now:literal) => {
        concat!(
            "INSERT INTO cached_answers (key, index_id, answer, points, book_revision, created_at)
             VALUES ($1, $2, $3, $4, $5, ", $now, ")
             ON CONFLICT (key) DO UPDATE SET
                index_id = excluded.index_id, answer = excluded.answer, points = excluded.points,
                book_revision = excluded.book_revision, created_at = excluded.created_at"
        )
    };
}

pub(super) const CACHE_ANSWER: Statement =
    Statement::in_dialects(cache_answer!("now()"), cache_answer!("$6"));

// Questions and conversations.

macro_rules! log_query {
    ($now:literal) => {
        concat!(
            "INSERT INTO chat_queries AS held (query_id, user_ip_hash, question_hash, retrieved_chunk_ids,
                cited_chunk_ids, response_time_ms, status, answered, uncertain, tokens, cost_micro_usd, degraded,
                question, saved_micro_usd, created_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, ", $now, ")
             ON CONFLICT (query_id) DO UPDATE SET
                user_ip_hash = excluded.user_ip_hash, question_hash = excluded.question_hash,
                retrieved_chunk_ids = excluded.retrieved_chunk_ids, cited_chunk_ids = excluded.cited_chunk_ids,
                response_time_ms = excluded.response_time_ms, status = excluded.status,
                answered = excluded.answered, uncertain = excluded.uncertain, tokens = excluded.tokens,
                cost_micro_usd = excluded.cost_micro_usd, degraded = excluded.degraded,
                question = excluded.question, saved_micro_usd = excluded.saved_micro_usd
             WHERE held.status = 'incomplete' OR excluded.status <> 'incomplete'"
        )
    };
}

pub(super) const LOG_QUERY: Statement =
    Statement::in_dialects(log_query!("now()"), log_query!("$15"));

// A call that is repeated after its connection was lost inserts once.
pub(super) const ADD_REPORT: Statement = Statement::in_dialects(
    "INSERT INTO agent_reports (report_id, message_id, question, problem, page)
     SELECT $1, $2::uuid, $3, $4, $5
     WHERE $2::uuid IS NULL OR EXISTS (SELECT FROM chat_queries WHERE query_id = $2::uuid)
     ON CONFLICT (report_id) DO UPDATE SET page = excluded.page RETURNING report_id",
    "INSERT INTO agent_reports (report_id, message_id, question, problem, page, created_at)
     SELECT ?1, ?2, ?3, ?4, ?5, ?6
     WHERE ?2 IS NULL OR EXISTS (SELECT 1 FROM chat_queries WHERE query_id = ?2)
     ON CONFLICT (report_id) DO UPDATE SET page = excluded.page RETURNING report_id",
);

macro_rules! reports {
    ($day:literal, $since:literal) => {
        concat!(
            "SELECT ",
            $day,
            " AS day, question, problem, page FROM agent_reports WHERE created_at >= ",
            $since,
            " ORDER BY created_at DESC, report_id LIMIT $2"
        )
    };
}

pub(super) const REPORTS: Statement = Statement::in_dialects(
    reports!(
        "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
        "now() - $1 * interval '1 microsecond'"
    ),
    reports!("date(created_at / 1000000, 'unixepoch')", "$1"),
);

pub(super) const ANSWER_MESSAGE: &str = in_order(
    "UPDATE messages SET question = $1, answer = $2 WHERE message_id = $3 AND conversation_id = $4",
);

/// Questions that were refused, in doubt or not helpful.
pub(super) const GAP_QUESTIONS: Statement = Statement::in_dialects(
    "SELECT question_hash, max(question COLLATE \"C\") AS question, count(*) AS count,
        count(*) FILTER (WHERE NOT answered AND NOT uncertain) AS not_covered,
        count(*) FILTER (WHERE uncertain) AS uncertain, count(*) FILTER (WHERE disliked) AS unhelpful,
        to_char(min(created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS first_day,
        to_char(max(created_at) AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS last_day
     FROM (SELECT question_hash, question, answered, uncertain, created_at, EXISTS (
            SELECT 1 FROM feedback WHERE message_id = query_id AND rating = 'down') AS disliked
         FROM chat_queries
         WHERE created_at >= now() - $1 * interval '1 microsecond' AND status = 'success') AS asked
     WHERE NOT answered OR disliked
     GROUP BY question_hash HAVING max(question) IS NOT NULL
     ORDER BY count DESC, question_hash COLLATE \"C\" LIMIT $2",
    "SELECT question_hash, max(question) AS question, count(*) AS count,
        count(*) FILTER (WHERE NOT answered AND NOT uncertain) AS not_covered,
        count(*) FILTER (WHERE uncertain) AS uncertain, count(*) FILTER (WHERE disliked) AS unhelpful,
        date(min(created_at) / 1000000, 'unixepoch') AS first_day,
        date(max(created_at) / 1000000, 'unixepoch') AS last_day
     FROM (SELECT question_hash, question, answered, uncertain, created_at, EXISTS (
            SELECT 1 FROM feedback WHERE message_id = query_id AND rating = 'down') AS disliked
         FROM chat_queries WHERE created_at >= ?1 AND status = 'success')
     WHERE NOT answered OR disliked
     GROUP BY question_hash HAVING max(question) IS NOT NULL
     ORDER BY count DESC, question_hash LIMIT ?2",
);

pub(super) const HELPFUL_ANSWERS: Statement = Statement::in_dialects(
    "SELECT question, source_file AS source, section_id
     FROM chat_queries JOIN document_chunks ON chunk_id = cited_chunk_ids[1]
     WHERE chat_queries.created_at >= now() - $1 * interval '1 microsecond' AND question IS NOT NULL
        AND EXISTS (SELECT 1 FROM feedback WHERE message_id = query_id AND rating = 'up')
        AND index_id = (SELECT index_id FROM indexes WHERE state = 'live')
     ORDER BY chat_queries.created_at DESC, query_id LIMIT $2",
    "SELECT question, source_file AS source, section_id
     FROM chat_queries JOIN document_chunks ON chunk_id = json_extract(cited_chunk_ids, '$[0]')
     WHERE chat_queries.created_at >= ?1 AND question IS NOT NULL
        AND EXISTS (SELECT 1 FROM feedback WHERE message_id = query_id AND rating = 'up')
        AND index_id = (SELECT index_id FROM indexes WHERE state = 'live')
     ORDER BY chat_queries.created_at DESC, query_id LIMIT ?2",
);

pub(super) const ASKED_QUESTIONS: Statement = Statement::in_dialects(
    "SELECT max(question COLLATE \"C\") AS question, count(*) AS count FROM chat_queries
     WHERE created_at >= now() - $1 * interval '1 microsecond' AND status = 'success'
        AND question IS NOT NULL
     GROUP BY question_hash ORDER BY count DESC, question_hash COLLATE \"C\" LIMIT $2",
    "SELECT max(question) AS question, count(*) AS count FROM chat_queries
     WHERE created_at >= ?1 AND status = 'success' AND question IS NOT NULL
     GROUP BY question_hash ORDER BY count DESC, question_hash LIMIT ?2",
);
