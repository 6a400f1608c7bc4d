-- Whether the book may not have answered a question, and the answer said so. `answered` is then false.
ALTER TABLE chat_queries ADD COLUMN uncertain boolean NOT NULL DEFAULT false;

-- What cosines mean in an index, as JSON. NULL until it is measured.
ALTER TABLE indexes ADD COLUMN calibration jsonb;
