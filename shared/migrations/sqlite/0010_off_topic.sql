-- See the file of this name for Postgres.
ALTER TABLE indexes ADD COLUMN scales TEXT;
ALTER TABLE indexes ADD COLUMN off_topic_vectors BLOB;
