-- The catalog's tables. Ids are UUIDs as text, times are microseconds since 1970, lists and records are JSON.

CREATE TABLE schema_version (
    version    INTEGER PRIMARY KEY,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE indexes (
    index_id   INTEGER PRIMARY KEY,
    spec       TEXT    NOT NULL UNIQUE,
    collection TEXT    NOT NULL UNIQUE,
    state      TEXT    NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    site       TEXT    NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX indexes_live ON indexes (state) WHERE state = 'live';

CREATE TABLE documents (
    index_id        INTEGER NOT NULL REFERENCES indexes,
    document_id     TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    url             TEXT    NOT NULL,
    locale          TEXT    NOT NULL,
    version         TEXT    NOT NULL,
    lesson_id       TEXT,
    lesson          TEXT    NOT NULL,
    revision        INTEGER NOT NULL CHECK (revision > 0),
    fingerprint     TEXT    NOT NULL,
    skip_reason     TEXT,
    deleted         INTEGER NOT NULL,
    last_indexed_at INTEGER NOT NULL,
    PRIMARY KEY (index_id, document_id)
) STRICT;

CREATE TABLE document_inputs (
    index_id    INTEGER NOT NULL,
    document_id TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    PRIMARY KEY (index_id, document_id, path),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
) STRICT, WITHOUT ROWID;

CREATE INDEX document_inputs_path ON document_inputs (index_id, path);

CREATE TABLE document_chunks (
    index_id        INTEGER NOT NULL,
    chunk_id        TEXT    NOT NULL,
    document_id     TEXT    NOT NULL,
    position        INTEGER NOT NULL,
    chapter         TEXT    NOT NULL,
    chapter_id      INTEGER,
    section         TEXT,
    section_id      TEXT,
    source_file     TEXT    NOT NULL,
    start_line      INTEGER NOT NULL,
    end_line        INTEGER NOT NULL,
    token_count     INTEGER NOT NULL,
    qdrant_point_id TEXT    NOT NULL,
    text            TEXT    NOT NULL,
    text_hash       TEXT    NOT NULL,
    payload_hash    TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    PRIMARY KEY (index_id, chunk_id),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
) STRICT;

CREATE INDEX document_chunks_document ON document_chunks (index_id, document_id, position);
CREATE INDEX document_chunks_point ON document_chunks (index_id, qdrant_point_id);
CREATE INDEX document_chunks_text_hash ON document_chunks (index_id, text_hash);

-- Points that no chunk may end up with: written down before they are upserted, or after they were replaced.
CREATE TABLE pending_points (
    index_id    INTEGER NOT NULL REFERENCES indexes,
    point_id    TEXT    NOT NULL,
    document_id TEXT    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('intent', 'claimed', 'garbage')),
    created_at  INTEGER NOT NULL,
    claimed_at  INTEGER,
    PRIMARY KEY (index_id, point_id),
    CHECK ((kind = 'claimed') = (claimed_at IS NOT NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE chat_queries (
    query_id            TEXT    PRIMARY KEY,
    user_ip_hash        TEXT    NOT NULL,
    question_hash       TEXT    NOT NULL,
    retrieved_chunk_ids TEXT    NOT NULL,
    response_time_ms    INTEGER NOT NULL,
    status              TEXT    NOT NULL CHECK (status IN ('success', 'error', 'rate_limited', 'timeout')),
    answered            INTEGER NOT NULL,
    created_at          INTEGER NOT NULL
) STRICT;

CREATE TABLE feedback (
    feedback_id TEXT    PRIMARY KEY,
    message_id  TEXT    NOT NULL REFERENCES chat_queries,
    rating      TEXT    NOT NULL CHECK (rating IN ('up', 'down', 'citation_clicked')),
    comment     TEXT,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX feedback_message ON feedback (message_id);
