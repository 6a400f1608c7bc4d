-- Answers of chat models, to be given again. `key` is a hash of all that an answer depends on but the book, the question's own
-- salted hash among it; the question itself is not stored.
CREATE TABLE cached_answers (
    key           TEXT    PRIMARY KEY,
    index_id      INTEGER NOT NULL REFERENCES indexes,
    answer        TEXT    NOT NULL,
    -- The points of the chunks that the model read, as a JSON list: the answer holds while the book has all of them.
    points        TEXT    NOT NULL,
    -- The sum of the documents' revisions; NULL in an answer that a change elsewhere in the book leaves as it is.
    book_revision INTEGER,
    created_at    INTEGER NOT NULL
) STRICT;

CREATE INDEX cached_answers_created_at ON cached_answers (created_at);

-- What a former answer that was given again had cost; NULL if the answer was made anew.
ALTER TABLE chat_queries ADD COLUMN saved_micro_usd INTEGER;
