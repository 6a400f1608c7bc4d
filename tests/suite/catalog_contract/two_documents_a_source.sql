-- What release 0.1 left when a site was renamed: two documents of one source. `@10` is the 10th second, as the database writes it.
INSERT INTO indexes (spec, collection, state, site, created_at)
VALUES ('{"embedder": "minilm"}', 'textbook_chunks_0a1b2c3d', 'live', '{}', @0);

INSERT INTO documents (index_id, document_id, source, title, url, locale, version, lesson, revision, fingerprint, deleted,
    last_indexed_at)
VALUES
    (1, '00000000-0000-0000-0000-0000000000a0', 'docs/a.md', 'old', '/a', 'en', 'current', '{}', 7, 'f1', false, @10),
    (1, '00000000-0000-0000-0000-0000000000b0', 'docs/a.md', 'new', '/a', 'en', 'current', '{}', 1, 'f2', false, @20),
    (1, '00000000-0000-0000-0000-0000000000c0', 'docs/gone.md', 'stale', '/c', 'en', 'current', '{}', 2, 'f3', false, @10),
    (1, '00000000-0000-0000-0000-0000000000d0', 'docs/gone.md', 'deleted', '/c', 'en', 'current', '{}', 2, '', true, @30),
    (1, '00000000-0000-0000-0000-0000000000e0', 'docs/b.md', 'only', '/b', 'en', 'current', '{}', 1, 'f4', false, @10);

INSERT INTO document_inputs (index_id, document_id, path)
VALUES
    (1, '00000000-0000-0000-0000-0000000000a0', 'docs/old.md'),
    (1, '00000000-0000-0000-0000-0000000000b0', 'docs/new.md');

INSERT INTO document_chunks (index_id, chunk_id, document_id, position, chapter, source_file, start_line, end_line,
    token_count, qdrant_point_id, text, text_hash, payload_hash, created_at, updated_at)
VALUES
    (1, '00000000-0000-0000-0000-0000000000a2', '00000000-0000-0000-0000-0000000000a0', 0, 'C', 'docs/a.md', 1, 2, 3,
        '00000000-0000-0000-0000-0000000000a1', 'old', 'h1', 'p1', @0, @0),
    (1, '00000000-0000-0000-0000-0000000000b2', '00000000-0000-0000-0000-0000000000b0', 0, 'C', 'docs/a.md', 1, 2, 3,
        '00000000-0000-0000-0000-0000000000b1', 'new', 'h2', 'p2', @0, @0),
    (1, '00000000-0000-0000-0000-0000000000c2', '00000000-0000-0000-0000-0000000000c0', 0, 'C', 'docs/gone.md', 1, 2, 3,
        '00000000-0000-0000-0000-0000000000c1', 'stale', 'h3', 'p3', @0, @0),
    (1, '00000000-0000-0000-0000-0000000000e2', '00000000-0000-0000-0000-0000000000e0', 0, 'C', 'docs/b.md', 1, 2, 3,
        '00000000-0000-0000-0000-0000000000e1', 'b', 'h4', 'p4', @0, @0);
