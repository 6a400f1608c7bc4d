-- When an index was retired and its deletion began; and the files that could not be indexed and may be later.

ALTER TABLE indexes ADD COLUMN retired_at timestamptz, ADD COLUMN dropped_at timestamptz;

CREATE TABLE document_failures (
    index_id  bigint      NOT NULL REFERENCES indexes,
    source    text        NOT NULL COLLATE "C",
    reason    text        NOT NULL,
    failed_at timestamptz NOT NULL,
    PRIMARY KEY (index_id, source)
);
