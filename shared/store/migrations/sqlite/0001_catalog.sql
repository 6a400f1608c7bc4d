-- The catalog's tables, and the local vector index. Ids are UUIDs as text, times are microseconds since 1970, lists and records are JSON.

CREATE TABLE schema_version (
    version    INTEGER PRIMARY KEY,
    applied_at INTEGER NOT NULL
) STRICT;

CREATE TABLE indexes (
    index_id          INTEGER PRIMARY KEY,
    spec              TEXT    NOT NULL UNIQUE,
    collection        TEXT    NOT NULL UNIQUE,
    state             TEXT    NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    site              TEXT    NOT NULL,
    created_at        INTEGER NOT NULL,
    retired_at        INTEGER,
    -- When the deletion of a retired index began.
    dropped_at        INTEGER,
    -- The number of pages that the index will have while it is filled for the first time: 0 until they are counted, NULL once it is filled.
    pages_expected    INTEGER,
    -- Increases with each change of the index's chunks or vectors: a reader whose copy is of another generation reads the index again.
    generation        INTEGER NOT NULL DEFAULT 0,
    -- How near questions that no documentation answers come to the book and to each other, as JSON, and the vectors of these questions. NULL until
    -- they are measured.
    scales            TEXT,
    off_topic_vectors BLOB
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

CREATE UNIQUE INDEX documents_source ON documents (index_id, source);

CREATE TABLE document_inputs (
    index_id    INTEGER NOT NULL,
    document_id TEXT    NOT NULL,
    path        TEXT    NOT NULL,
    PRIMARY KEY (index_id, document_id, path),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
) STRICT, WITHOUT ROWID;

CREATE INDEX document_inputs_path ON document_inputs (index_id, path);

-- Fields that many chunks of a page share, including all that filters name. The id is a hash of the text, so the table needs no index of the texts.
CREATE TABLE chunk_metadata (
    metadata_id INTEGER PRIMARY KEY,
    fields      TEXT    NOT NULL
) STRICT;

CREATE TABLE document_chunks (
    -- The full-text index refers to it, and VACUUM may change an implicit row id.
    chunk_number    INTEGER PRIMARY KEY,
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
    -- The payload of the chunk's point without the fields that have columns here and those of chunk_metadata.
    payload         TEXT    NOT NULL,
    metadata_id     INTEGER NOT NULL,
    -- The number of its terms in chunk_words.
    term_count      INTEGER NOT NULL,
    UNIQUE (index_id, chunk_id),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
) STRICT;

CREATE INDEX document_chunks_document ON document_chunks (index_id, document_id, position);
-- Has all columns that a search reads of every chunk.
CREATE INDEX document_chunks_point ON document_chunks (index_id, qdrant_point_id, metadata_id, term_count);
-- The start of a hash distinguishes it from nearly all others.
CREATE INDEX document_chunks_text_hash ON document_chunks (index_id, substr(text_hash, 1, 16));

-- The terms of each chunk's searched text, stemmed by the program and separated by spaces. The tokenizer takes them as they are.
CREATE VIRTUAL TABLE chunk_words USING fts5(terms, content='', contentless_delete=1, tokenize="ascii tokenchars '_'");
-- One row for each occurrence of a term in a chunk.
CREATE VIRTUAL TABLE chunk_word_instances USING fts5vocab('chunk_words', 'instance');

CREATE TRIGGER document_chunks_deleted AFTER DELETE ON document_chunks WHEN old.term_count > 0
BEGIN
    DELETE FROM chunk_words WHERE rowid = old.chunk_number;
END;

CREATE TABLE vector_collections (
    collection_id INTEGER PRIMARY KEY,
    collection    TEXT    NOT NULL UNIQUE,
    dimensions    INTEGER NOT NULL
) STRICT;

-- Unit vectors: a scale as a 32-bit number, then 16-bit integers to multiply by it, little-endian. Ids have 16 bytes.
CREATE TABLE point_vectors (
    vector_id     INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL,
    point_id      BLOB    NOT NULL,
    vector        BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX point_vectors_point ON point_vectors (collection_id, point_id);

-- The vectors of a point's tokens: 96 8-bit integers per token, one token after the other. They have their own table, so that the short vectors,
-- which each search compares, stay close together.
CREATE TABLE point_tokens (
    vector_id INTEGER PRIMARY KEY,
    tokens    BLOB    NOT NULL
) STRICT;

CREATE TRIGGER point_vectors_deleted AFTER DELETE ON point_vectors
BEGIN
    DELETE FROM point_tokens WHERE vector_id = old.vector_id;
END;

-- Points that no chunk may end up with: recorded before they are upserted, or after they were replaced.
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

-- Files that could not be indexed and may be later.
CREATE TABLE document_failures (
    index_id  INTEGER NOT NULL REFERENCES indexes,
    source    TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (index_id, source)
) STRICT;

CREATE TABLE chat_queries (
    query_id            TEXT    PRIMARY KEY,
    user_ip_hash        TEXT    NOT NULL,
    question_hash       TEXT    NOT NULL,
    retrieved_chunk_ids TEXT    NOT NULL,
    response_time_ms    INTEGER NOT NULL,
    status              TEXT    NOT NULL CHECK (status IN ('success', 'error', 'rate_limited', 'timeout', 'incomplete')),
    answered            INTEGER NOT NULL,
    created_at          INTEGER NOT NULL,
    cited_chunk_ids     TEXT    NOT NULL DEFAULT '[]',
    tokens              INTEGER NOT NULL DEFAULT 0,
    cost_micro_usd      INTEGER NOT NULL DEFAULT 0,
    degraded            INTEGER NOT NULL DEFAULT 0,
    -- Only if the operator wants questions stored.
    question            TEXT,
    -- True if the answer said that the book may not answer the question. `answered` is then false.
    uncertain           INTEGER NOT NULL DEFAULT 0,
    -- The cost of the stored answer that was given again; NULL if the answer is new.
    saved_micro_usd     INTEGER
) STRICT;

CREATE INDEX chat_queries_created_at ON chat_queries (created_at);

CREATE TABLE feedback (
    feedback_id TEXT    PRIMARY KEY,
    message_id  TEXT    NOT NULL REFERENCES chat_queries,
    rating      TEXT    NOT NULL CHECK (rating IN ('up', 'down', 'citation_clicked')),
    comment     TEXT,
    created_at  INTEGER NOT NULL
) STRICT;

CREATE INDEX feedback_message ON feedback (message_id);

-- The state of the generic cell rate algorithm: the theoretical arrival time of the next request, and whether the last one was allowed.
CREATE TABLE rate_limits (
    key     TEXT    PRIMARY KEY,
    tat     INTEGER NOT NULL,
    allowed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Days are in UTC, as ISO 8601.
CREATE TABLE spend (
    day       TEXT    PRIMARY KEY,
    micro_usd INTEGER NOT NULL CHECK (micro_usd >= 0)
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
    conversation_id TEXT    PRIMARY KEY,
    session_hash    TEXT    NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX conversations_expires_at ON conversations (expires_at);

-- One exchange each, without an answer until it is complete.
CREATE TABLE messages (
    message_id      TEXT    PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question        TEXT    NOT NULL,
    answer          TEXT,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_conversation ON messages (conversation_id, created_at);

-- Answers of chat models, to be given again. `key` is a hash of everything that an answer depends on except the book, including the question's
-- salted hash; the question itself is not stored.
CREATE TABLE cached_answers (
    key           TEXT    PRIMARY KEY,
    index_id      INTEGER NOT NULL REFERENCES indexes,
    answer        TEXT    NOT NULL,
    -- The points of the chunks that the model read, as a JSON list. The answer is valid while the book has all of them.
    points        TEXT    NOT NULL,
    -- The sum of the documents' revisions. NULL if changes elsewhere in the book do not affect the answer.
    book_revision INTEGER,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX cached_answers_created_at ON cached_answers (created_at);
