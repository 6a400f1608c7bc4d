-- Full-text search uses the terms of the other stores: split, without stop words, and stemmed by the program. `words` stays for older releases.
ALTER TABLE document_chunks ADD COLUMN terms tsvector NOT NULL DEFAULT '';
CREATE INDEX document_chunks_terms ON document_chunks USING gin (terms);
