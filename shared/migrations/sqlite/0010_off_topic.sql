-- See the file of this name for Postgres.
ALTER TABLE indexes ADD COLUMN off_topic_vectors BLOB;
UPDATE indexes SET calibration = NULL;
