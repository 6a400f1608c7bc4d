-- One source has one document in an index. A site that was renamed, or a book that was fed from two places, left a second
-- document under another id, whose text nobody updated.

-- All but the newest of each source.
CREATE TEMPORARY TABLE former_documents AS
SELECT index_id, document_id FROM (
    SELECT index_id, document_id,
        row_number() OVER (PARTITION BY index_id, source ORDER BY last_indexed_at DESC, document_id) AS place
    FROM documents)
WHERE place > 1;

INSERT INTO pending_points (index_id, point_id, document_id, kind, created_at)
SELECT index_id, qdrant_point_id, document_id, 'garbage', unixepoch() * 1000000
FROM document_chunks JOIN former_documents USING (index_id, document_id)
WHERE true
ON CONFLICT DO NOTHING;

DELETE FROM document_chunks WHERE (index_id, document_id) IN (SELECT index_id, document_id FROM former_documents);
DELETE FROM document_inputs WHERE (index_id, document_id) IN (SELECT index_id, document_id FROM former_documents);
DELETE FROM documents WHERE (index_id, document_id) IN (SELECT index_id, document_id FROM former_documents);

DROP TABLE temp.former_documents;

CREATE UNIQUE INDEX documents_source ON documents (index_id, source);
