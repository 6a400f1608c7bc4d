-- One source has one document in an index. A site that was renamed, or a book that was fed from two places, left a second
-- document under another id, whose text nobody updated.

-- Commits wait, so that none adds another one before the index is there.
LOCK TABLE documents IN SHARE ROW EXCLUSIVE MODE;

-- All but the newest of each source.
CREATE TEMPORARY TABLE former_documents ON COMMIT DROP AS
SELECT index_id, document_id FROM (
    SELECT index_id, document_id,
        row_number() OVER (PARTITION BY index_id, source ORDER BY last_indexed_at DESC, document_id) AS place
    FROM documents) AS ranked
WHERE place > 1;

INSERT INTO pending_points (index_id, point_id, document_id, kind)
SELECT index_id, qdrant_point_id, document_id, 'garbage'
FROM document_chunks JOIN former_documents USING (index_id, document_id)
ON CONFLICT DO NOTHING;

DELETE FROM document_chunks USING former_documents AS former
WHERE document_chunks.index_id = former.index_id AND document_chunks.document_id = former.document_id;
DELETE FROM document_inputs USING former_documents AS former
WHERE document_inputs.index_id = former.index_id AND document_inputs.document_id = former.document_id;
DELETE FROM documents USING former_documents AS former
WHERE documents.index_id = former.index_id AND documents.document_id = former.document_id;

CREATE UNIQUE INDEX documents_source ON documents (index_id, source);
