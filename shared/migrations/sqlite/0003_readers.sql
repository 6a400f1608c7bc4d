-- What answering needs: how each question ended and what it cost, limits, conversations, and payloads to search while the
-- vector store is away.

-- A CHECK cannot be altered, so the table is made anew, and with it the one that refers to it.
CREATE TABLE new_chat_queries (
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
    -- Only where the operator wants questions kept.
    question            TEXT
) STRICT;

INSERT INTO new_chat_queries (query_id, user_ip_hash, question_hash, retrieved_chunk_ids, response_time_ms, status,
    answered, created_at)
SELECT query_id, user_ip_hash, question_hash, retrieved_chunk_ids, response_time_ms, status, answered, created_at
FROM chat_queries;

CREATE TABLE new_feedback (
    feedback_id TEXT    PRIMARY KEY,
    message_id  TEXT    NOT NULL REFERENCES new_chat_queries,
    rating      TEXT    NOT NULL CHECK (rating IN ('up', 'down', 'citation_clicked')),
    comment     TEXT,
    created_at  INTEGER NOT NULL
) STRICT;

INSERT INTO new_feedback SELECT feedback_id, message_id, rating, comment, created_at FROM feedback;

DROP TABLE feedback;
DROP TABLE chat_queries;
-- The reference follows the first name.
ALTER TABLE new_chat_queries RENAME TO chat_queries;
ALTER TABLE new_feedback RENAME TO feedback;

CREATE INDEX chat_queries_created_at ON chat_queries (created_at);
CREATE INDEX feedback_message ON feedback (message_id);

-- GCRA's state: when the next turn would be due if turns were evenly spaced, and whether the last one asked for was given.
CREATE TABLE rate_limits (
    key     TEXT    PRIMARY KEY,
    tat     INTEGER NOT NULL,
    allowed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Days are UTC's, ISO 8601.
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

-- An exchange each; without an answer until it is complete.
CREATE TABLE messages (
    message_id      TEXT    PRIMARY KEY,
    conversation_id TEXT    NOT NULL REFERENCES conversations ON DELETE CASCADE,
    question        TEXT    NOT NULL,
    answer          TEXT,
    created_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX messages_conversation ON messages (conversation_id, created_at);

-- What the chunk's point holds; NULL in rows that were written before there was this column.
ALTER TABLE document_chunks ADD COLUMN payload TEXT;
