-- The vectors of the questions that a point's chunk answers, one after the other, each as in point_vectors. They have their own table, because few
-- books have them for all chunks.
CREATE TABLE point_questions (
    vector_id INTEGER PRIMARY KEY,
    questions BLOB    NOT NULL
) STRICT;

CREATE TRIGGER point_vectors_deleted_questions AFTER DELETE ON point_vectors
BEGIN
    DELETE FROM point_questions WHERE vector_id = old.vector_id;
END;

-- The first chunks of the sections that have questions, and the pages of a locale and version in order: proposals of questions read a few of them.
CREATE INDEX document_chunks_questions ON document_chunks (index_id, document_id, position)
    WHERE CASE WHEN json_valid(payload)
        THEN json_extract(payload, '$.questions') IS NOT NULL AND json_extract(payload, '$.chunk_index') = 0 END;
CREATE INDEX documents_edition ON documents (index_id, locale, version, source) WHERE NOT deleted;
CREATE INDEX documents_url ON documents (index_id, url) WHERE NOT deleted;

-- The questions that a model wrote for the sections of a site's page, in the format of the site's own files of questions.
CREATE TABLE written_questions (
    site       TEXT    NOT NULL,
    source     TEXT    NOT NULL,
    file       TEXT    NOT NULL,
    written_at INTEGER NOT NULL,
    PRIMARY KEY (site, source)
) STRICT;

-- What writing them cost, apart from the costs of answers in `spend`. Days are in UTC.
CREATE TABLE question_spend (
    day       TEXT    PRIMARY KEY,
    micro_usd INTEGER NOT NULL CHECK (micro_usd >= 0)
) STRICT, WITHOUT ROWID;
