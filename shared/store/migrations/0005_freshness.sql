-- When an index was last found equal to the book's files, and the commit of their repository at that time; NULL if it is unknown.
ALTER TABLE indexes ADD COLUMN compared_at timestamptz, ADD COLUMN commit_hash text;
