-- The catalog's tables.

CREATE TABLE schema_version (
    version    integer     PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE indexes (
    index_id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec              jsonb       NOT NULL UNIQUE,
    collection        text        NOT NULL UNIQUE,
    state             text        NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    site              jsonb       NOT NULL,
    created_at        timestamptz NOT NULL DEFAULT now(),
    retired_at        timestamptz,
    -- When the deletion of a retired index began.
    dropped_at        timestamptz,
    -- The number of pages that the index will have while it is filled for the first time: 0 until they are counted, NULL once it is filled.
    pages_expected    bigint,
    -- How near questions that no documentation answers come to the book and to each other, as JSON, and the vectors of these questions. NULL until
    -- they are measured.
    scales            jsonb,
    off_topic_vectors bytea
);

CREATE UNIQUE INDEX indexes_live ON indexes (state) WHERE state = 'live';

CREATE TABLE documents (
    index_id        bigint      NOT NULL REFERENCES indexes,
    document_id     uuid        NOT NULL,
    -- Lists are in the order of bytes, whatever the database's locale.
    source          text        NOT NULL COLLATE "C",
    title           text        NOT NULL,
    url             text        NOT NULL,
    locale          text        NOT NULL,
    version         text        NOT NULL,
    lesson_id       text,
    lesson          jsonb       NOT NULL,
    revision        bigint      NOT NULL CHECK (revision > 0),
    fingerprint     text        NOT NULL,
    skip_reason     text,
    deleted         boolean     NOT NULL,
    last_indexed_at timestamptz NOT NULL,
    PRIMARY KEY (index_id, document_id)
);

CREATE UNIQUE INDEX documents_source ON documents (index_id, source);

CREATE TABLE document_inputs (
    index_id    bigint NOT NULL,
    document_id uuid   NOT NULL,
    path        text   NOT NULL,
    PRIMARY KEY (index_id, document_id, path),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
);

CREATE INDEX document_inputs_path ON document_inputs (index_id, path);

CREATE TABLE document_chunks (
    index_id        bigint      NOT NULL,
    chunk_id        uuid        NOT NULL,
    document_id     uuid        NOT NULL,
    position        integer     NOT NULL,
    chapter         text        NOT NULL,
    chapter_id      bigint,
    section         text,
    section_id      text,
    source_file     text        NOT NULL,
    start_line      bigint      NOT NULL,
    end_line        bigint      NOT NULL,
    token_count     bigint      NOT NULL,
    qdrant_point_id uuid        NOT NULL,
    text            text        NOT NULL,
    text_hash       text        NOT NULL,
    payload_hash    text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    -- The payload of the chunk's point without the text, which has a column of its own.
    payload         jsonb       NOT NULL,
    -- The words that the page is filed under in the front matter, then those of the breadcrumb and the text, in lower case. ASCII punctuation becomes
    -- spaces first, because Postgres keeps what looks like a host, a path or a tag in one piece or leaves it out. A longer text could have more
    -- words than a tsvector holds.
    words           tsvector    NOT NULL GENERATED ALWAYS AS (
        to_tsvector('simple', translate(
            left(coalesce(payload ->> 'search_words', '') || ' ' || coalesce(payload ->> 'breadcrumb', '') || ' ' || text, 100000),
            '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))
    ) STORED,
    PRIMARY KEY (index_id, chunk_id),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
);

CREATE INDEX document_chunks_document ON document_chunks (index_id, document_id, position);
CREATE INDEX document_chunks_point ON document_chunks (index_id, qdrant_point_id);
CREATE INDEX document_chunks_text_hash ON document_chunks (index_id, text_hash);
CREATE INDEX document_chunks_words ON document_chunks USING gin (words);

-- Points that no chunk may end up with: recorded before they are upserted, or after they were replaced.
CREATE TABLE pending_points (
    index_id    bigint      NOT NULL REFERENCES indexes,
    point_id    uuid        NOT NULL,
    document_id uuid        NOT NULL,
    kind        text        NOT NULL CHECK (kind IN ('intent', 'claimed', 'garbage')),
    created_at  timestamptz NOT NULL DEFAULT now(),
    claimed_at  timestamptz,
    PRIMARY KEY (index_id, point_id),
    CHECK ((kind = 'claimed') = (claimed_at IS NOT NULL))
);

-- Files that could not be indexed and may be later.
CREATE TABLE document_failures (
    index_id  bigint      NOT NULL REFERENCES indexes,
    source    text        NOT NULL COLLATE "C",
    reason    text        NOT NULL,
    failed_at timestamptz NOT NULL,
    PRIMARY KEY (index_id, source)
);

CREATE TABLE chat_queries (
    query_id            uuid        PRIMARY KEY,
    user_ip_hash        text        NOT NULL,
    question_hash       text        NOT NULL,
    retrieved_chunk_ids uuid[]      NOT NULL,
    response_time_ms    bigint      NOT NULL,
    status              text        NOT NULL CHECK (status IN ('success', 'error', 'rate_limited', 'timeout', 'incomplete')),
    answered            boolean     NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT now(),
    cited_chunk_ids     uuid[]      NOT NULL DEFAULT '{}',
    tokens              bigint      NOT NULL DEFAULT 0,
    cost_micro_usd      bigint      NOT NULL DEFAULT 0,
    degraded            boolean     NOT NULL DEFAULT false,
    -- Only if the operator wants questions stored.
    question            text,
    -- True if the answer said that the book may not answer the question. `answered` is then false.
    uncertain           boolean     NOT NULL DEFAULT false,
    -- The cost of the stored answer that was given again; NULL if the answer is new.
    saved_micro_usd     bigint
);

CREATE INDEX chat_queries_created_at ON chat_queries (created_at);

CREATE TABLE feedback (
    feedback_id uuid        PRIMARY KEY,
    message_id  uuid        NOT NULL REFERENCES chat_queries,
    rating      text        NOT NULL CHECK (rating IN ('up', 'down', 'citation_clicked')),
    comment     text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX feedback_message ON feedback (message_id);

-- The state of the generic cell rate algorithm: the theoretical arrival time of the next request, and whether the last one was allowed.
CREATE TABLE rate_limits (
    key     text        PRIMARY KEY,
    tat     timestamptz NOT NULL,
    allowed boolean     NOT NULL
);

-- Days are in UTC.
CREATE TABLE spend (
    day       date   PRIMARY KEY,
    micro_usd bigint NOT NULL CHECK (micro_usd >= 0)
);

CREATE TABLE conversations (
    conversation_id uuid        PRIMARY KEY,
    session_hash    text        NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz NOT NULL
);

CREATE INDEX conversations_expires_at ON conversations (expires_at);

-- One exchange each, without an answer until it is complete.
CREATE TABLE messages (
    message_id      uuid        PRIMARY KEY,
    conversation_id uuid        NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question        text        NOT NULL,
    answer          text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX messages_conversation ON messages (conversation_id, created_at);

-- Answers of chat models, to be given again. `key` is a hash of everything that an answer depends on except the book, including the question's
-- salted hash; the question itself is not stored.
CREATE TABLE cached_answers (
    key           text        PRIMARY KEY,
    index_id      bigint      NOT NULL REFERENCES indexes,
    answer        text        NOT NULL,
    -- The points of the chunks that the model read. The answer is valid while the book has all of them.
    points        uuid[]      NOT NULL,
    -- The sum of the documents' revisions. NULL if changes elsewhere in the book do not affect the answer.
    book_revision bigint,
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX cached_answers_created_at ON cached_answers (created_at);
