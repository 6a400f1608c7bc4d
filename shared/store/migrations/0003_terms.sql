-- Full-text search uses the terms of the other stores: split, without stop words, and stemmed by the program. Rows of indexes that an older release
-- wrote keep the words that Postgres computed, until these indexes are replaced.
ALTER TABLE document_chunks ALTER COLUMN words DROP EXPRESSION;
ALTER TABLE document_chunks ALTER COLUMN words SET DEFAULT '';
