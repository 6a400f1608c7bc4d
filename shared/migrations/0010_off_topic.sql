-- The vectors of the questions that an index is calibrated with, which no documentation answers: a question near them is refused. Indexes calibrated
-- by an earlier version have none, and are calibrated again by the next synchronisation.
ALTER TABLE indexes ADD COLUMN off_topic_vectors bytea;
UPDATE indexes SET calibration = NULL;
