-- When an index was retired and its deletion began; and the files that could not be indexed and may be later.

ALTER TABLE indexes ADD COLUMN retired_at INTEGER;
ALTER TABLE indexes ADD COLUMN dropped_at INTEGER;

CREATE TABLE document_failures (
    index_id  INTEGER NOT NULL REFERENCES indexes,
    source    TEXT    NOT NULL,
    reason    TEXT    NOT NULL,
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (index_id, source)
) STRICT;
