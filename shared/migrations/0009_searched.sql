-- The words of a chunk are those of its searched text: what its page is filed under in the front matter, its breadcrumb, its text.

ALTER TABLE document_chunks
    DROP COLUMN words;

-- As before, with `search_words` first: these are short, and the end of a text beyond the limit is cut off.
ALTER TABLE document_chunks
    ADD COLUMN words tsvector NOT NULL GENERATED ALWAYS AS (
        to_tsvector('simple', translate(
            left(coalesce(payload ->> 'search_words', '') || ' ' || coalesce(payload ->> 'breadcrumb', '') || ' ' || text, 100000),
            '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))
    ) STORED;

CREATE INDEX document_chunks_words ON document_chunks USING gin (words);
