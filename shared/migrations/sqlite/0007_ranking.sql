-- Whether the book may not have answered a question, and the answer said so. `answered` is then false.
ALTER TABLE chat_queries ADD COLUMN uncertain INTEGER NOT NULL DEFAULT 0;

-- What cosines mean in an index, as JSON. NULL until it is measured.
ALTER TABLE indexes ADD COLUMN calibration TEXT;
-- The vectors of a point's tokens: 96 whole numbers of 8 bits a token, one token after the other. In a table of their own, so that the
-- short vectors, which each search compares, stay close together.
CREATE TABLE point_tokens (
    vector_id INTEGER PRIMARY KEY,
    tokens    BLOB    NOT NULL
) STRICT;

CREATE TRIGGER point_vectors_deleted AFTER DELETE ON point_vectors
BEGIN
    DELETE FROM point_tokens WHERE vector_id = old.vector_id;
END;
