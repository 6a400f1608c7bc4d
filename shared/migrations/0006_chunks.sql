-- The words of a chunk are those of its breadcrumb and its text. The payload is without the text, which has a column of its own;
-- rows of before have it in both.

ALTER TABLE document_chunks
    DROP COLUMN words;

-- Lower case. ASCII punctuation becomes spaces first, or Postgres would keep what looks like a host, a path or a tag in one
-- piece or leave it out. A text beyond the limit could have more words than a tsvector holds.
ALTER TABLE document_chunks
    ADD COLUMN words tsvector NOT NULL GENERATED ALWAYS AS (
        to_tsvector('simple', translate(
            left(coalesce(payload ->> 'breadcrumb', '') || ' ' || text, 100000),
            '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))
    ) STORED;

CREATE INDEX document_chunks_words ON document_chunks USING gin (words);
