-- The local vector index: vectors, words and filters beside the chunks. Chunks that are there already are not in the index of
-- words: their indexes are made anew, under another spec.

-- The fields of payloads that many chunks of a page share, among them all that filters name. The number is a hash of the text,
-- which spares the table an index of the texts.
CREATE TABLE chunk_metadata (
    metadata_id INTEGER PRIMARY KEY,
    fields      TEXT    NOT NULL
) STRICT;

-- The table is made anew for a row number of its own: the index of words refers to it, and a VACUUM may change an implicit one.
CREATE TABLE new_document_chunks (
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
    -- Without the fields that have columns here and those of chunk_metadata; rows of before have all in it.
    payload         TEXT,
    metadata_id     INTEGER,
    -- How many terms it has in chunk_words; 0 if it is not there.
    term_count      INTEGER NOT NULL DEFAULT 0,
    UNIQUE (index_id, chunk_id),
    FOREIGN KEY (index_id, document_id) REFERENCES documents
) STRICT;

INSERT INTO new_document_chunks (index_id, chunk_id, document_id, position, chapter, chapter_id, section, section_id, source_file,
    start_line, end_line, token_count, qdrant_point_id, text, text_hash, payload_hash, created_at, updated_at, payload)
SELECT index_id, chunk_id, document_id, position, chapter, chapter_id, section, section_id, source_file,
    start_line, end_line, token_count, qdrant_point_id, text, text_hash, payload_hash, created_at, updated_at, payload
FROM document_chunks;

DROP TABLE document_chunks;
ALTER TABLE new_document_chunks RENAME TO document_chunks;

CREATE INDEX document_chunks_document ON document_chunks (index_id, document_id, position);
-- Has all columns that a search reads of every chunk.
CREATE INDEX document_chunks_point ON document_chunks (index_id, qdrant_point_id, metadata_id, term_count);
-- The beginning of a hash tells it from all others but by chance.
CREATE INDEX document_chunks_text_hash ON document_chunks (index_id, substr(text_hash, 1, 16));

-- The terms of breadcrumb and text, stemmed by this program and separated by spaces. The tokenizer takes them as they are.
CREATE VIRTUAL TABLE chunk_words USING fts5(terms, content='', contentless_delete=1, tokenize="ascii tokenchars '_'");
-- A row for each time a chunk has a term.
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

-- Unit vectors: a scale as a 32-bit number, then whole numbers of 16 bits to multiply with it, little-endian. Ids are 16 bytes.
CREATE TABLE point_vectors (
    vector_id     INTEGER PRIMARY KEY,
    collection_id INTEGER NOT NULL,
    point_id      BLOB    NOT NULL,
    vector        BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX point_vectors_point ON point_vectors (collection_id, point_id);

-- Rises with each change of the index's chunks or vectors: a reader whose copy is of another generation reads it again.
ALTER TABLE indexes ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
