-- The words of the questions that a chunk's section answers are searched, too.
ALTER TABLE document_chunks DROP COLUMN words;
ALTER TABLE document_chunks ADD COLUMN words tsvector NOT NULL GENERATED ALWAYS AS (
    to_tsvector('simple', translate(
        left(coalesce(payload ->> 'search_words', '') || ' ' || coalesce(payload ->> 'breadcrumb', '') || ' ' || text || ' '
            || coalesce(payload ->> 'questions', ''), 100000),
        '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~', repeat(' ', 32)))
) STORED;
CREATE INDEX document_chunks_words ON document_chunks USING gin (words);

-- The first chunks of the sections that have questions, and the pages of a locale and version in order: proposals of questions read a few of them.
CREATE INDEX document_chunks_questions ON document_chunks (index_id, document_id, position)
    WHERE payload -> 'questions' IS NOT NULL AND payload -> 'chunk_index' = '0';
CREATE INDEX documents_edition ON documents (index_id, locale, version, source) WHERE NOT deleted;
CREATE INDEX documents_url ON documents (index_id, url) WHERE NOT deleted;

-- The questions that a model wrote for the sections of a site's page, in the format of the site's own files of questions.
CREATE TABLE written_questions (
    site       text        NOT NULL,
    source     text        NOT NULL,
    file       text        NOT NULL,
    written_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (site, source)
);

-- What writing them cost, apart from the costs of answers in `spend`. Days are in UTC.
CREATE TABLE question_spend (
    day       date   PRIMARY KEY,
    micro_usd bigint NOT NULL CHECK (micro_usd >= 0)
);
