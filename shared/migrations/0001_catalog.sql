-- The catalog's tables.

CREATE TABLE schema_version (
    version    integer     PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE indexes (
    index_id   bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    spec       jsonb       NOT NULL UNIQUE,
    collection text        NOT NULL UNIQUE,
    state      text        NOT NULL CHECK (state IN ('building', 'live', 'retired')),
    site       jsonb       NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
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
    PRIMARY KEY (index_id, chunk_id),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
);

CREATE INDEX document_chunks_document ON document_chunks (index_id, document_id, position);
CREATE INDEX document_chunks_point ON document_chunks (index_id, qdrant_point_id);
CREATE INDEX document_chunks_text_hash ON document_chunks (index_id, text_hash);

-- Points that no chunk may end up with: written down before they are upserted, or after they were replaced.
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

CREATE TABLE chat_queries (
    query_id            uuid        PRIMARY KEY,
    user_ip_hash        text        NOT NULL,
    question_hash       text        NOT NULL,
    retrieved_chunk_ids uuid[]      NOT NULL,
    response_time_ms    bigint      NOT NULL,
    status              text        NOT NULL CHECK (status IN ('success', 'error', 'rate_limited', 'timeout')),
    answered            boolean     NOT NULL,
    created_at          timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE feedback (
    feedback_id uuid        PRIMARY KEY,
    message_id  uuid        NOT NULL REFERENCES chat_queries,
    rating      text        NOT NULL CHECK (rating IN ('up', 'down', 'citation_clicked')),
    comment     text,
    created_at  timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX feedback_message ON feedback (message_id);
