-- What answering needs: how each question ended and what it cost, limits, conversations, and words to search by while the
-- vector store is away.

ALTER TABLE chat_queries
    DROP CONSTRAINT chat_queries_status_check,
    ADD CONSTRAINT chat_queries_status_check
        CHECK (status IN ('success', 'error', 'rate_limited', 'timeout', 'incomplete')),
    ADD COLUMN cited_chunk_ids uuid[]  NOT NULL DEFAULT '{}',
    ADD COLUMN tokens          bigint  NOT NULL DEFAULT 0,
    ADD COLUMN cost_micro_usd  bigint  NOT NULL DEFAULT 0,
    ADD COLUMN degraded        boolean NOT NULL DEFAULT false,
    -- Only where the operator wants questions kept.
    ADD COLUMN question        text;

CREATE INDEX chat_queries_created_at ON chat_queries (created_at);

-- GCRA's state: when the next turn would be due if turns were evenly spaced, and whether the last one asked for was given.
CREATE TABLE rate_limits (
    key     text        PRIMARY KEY,
    tat     timestamptz NOT NULL,
    allowed boolean     NOT NULL
);

-- Days are UTC's.
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

-- An exchange each; without an answer until it is complete.
CREATE TABLE messages (
    message_id      uuid        PRIMARY KEY,
    conversation_id uuid        NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question        text        NOT NULL,
    answer          text,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE INDEX messages_conversation ON messages (conversation_id, created_at);

-- The payload is what the chunk's point holds; NULL in rows that were written before there was this column.
-- The words are the text's, lower case. ASCII punctuation becomes spaces first, or Postgres would keep what looks like a
-- host, a path or a tag in one piece or leave it out. A text beyond the limit could have more words than a tsvector holds.
ALTER TABLE document_chunks
    ADD COLUMN payload jsonb,
    ADD COLUMN words   tsvector NOT NULL GENERATED ALWAYS AS (
        to_tsvector('simple', translate(left(text, 100000), '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))
    ) STORED;

CREATE INDEX document_chunks_words ON document_chunks USING gin (words);
