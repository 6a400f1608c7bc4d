-- When an index was last found equal to the book's files, and the commit of their repository at that time; NULL if it is unknown.
ALTER TABLE indexes ADD COLUMN compared_at INTEGER;
ALTER TABLE indexes ADD COLUMN commit_hash TEXT;

-- The last commit of a page, which answers tell.
CREATE INDEX documents_indexed_at ON documents (index_id, last_indexed_at);
