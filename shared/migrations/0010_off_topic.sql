-- How near questions that no documentation answers come to the book and to each other, and their vectors: a question near them is refused. The column
-- `calibration` stays for programs of the version before.
ALTER TABLE indexes ADD COLUMN scales jsonb, ADD COLUMN off_topic_vectors bytea;
