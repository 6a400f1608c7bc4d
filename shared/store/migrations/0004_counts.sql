-- What questions and commands would otherwise count over the whole index. Commits keep it up to date. `field` is `term` for the terms of chunks, a
-- field of the payload for the values that filters compare, and empty for the number of documents, chunks and tokens and the sum of the documents'
-- revisions. Rows whose number fell to 0 stay until the index is dropped.
CREATE TABLE index_counts (
    index_id bigint NOT NULL REFERENCES indexes,
    field    text   NOT NULL COLLATE "C",
    value    text   NOT NULL COLLATE "C",
    number   bigint NOT NULL,
    PRIMARY KEY (index_id, field, value)
) WITH (fillfactor = 70);

-- What a chunk counts as. A value that is too long for an index of the database is left out, and so are the values of unlisted pages.
CREATE FUNCTION counted_values(terms tsvector, payload jsonb) RETURNS TABLE (field text, value text)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT 'term', lexeme FROM unnest(tsvector_to_array(terms)) AS lexeme
    UNION ALL
    SELECT DISTINCT held.field, value #>> '{}'
    FROM (
        SELECT key, of_page.value FROM jsonb_each(payload) AS of_page WHERE key IN (
            'version', 'locale', 'module', 'module_number', 'chapter', 'chapter_number', 'lesson_id', 'layer', 'proficiency_level', 'source')
        UNION ALL
        SELECT 'facets.' || key, facet.value FROM jsonb_each(payload -> 'facets') AS facet
    ) AS held (field, value_or_list), jsonb_path_query(value_or_list, '$[*]') AS value
    WHERE value <> 'null' AND NOT coalesce((payload ->> 'unlisted')::boolean, false)
        AND octet_length(held.field) + octet_length(value #>> '{}') <= 2000
$$;

-- What a document adds to the counts of its index.
CREATE FUNCTION counts_of_document(of_index bigint, of_document uuid) RETURNS TABLE (field text, value text, number bigint)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT counted.field, counted.value, count(*) FROM document_chunks, counted_values(terms, payload) AS counted
    WHERE index_id = of_index AND document_id = of_document GROUP BY counted.field, counted.value
    UNION ALL
    SELECT '', total.value, total.number
    FROM (SELECT count(*) AS chunks, coalesce(sum(token_count), 0)::bigint AS tokens
          FROM document_chunks WHERE index_id = of_index AND document_id = of_document) AS held,
        (SELECT count(*) FILTER (WHERE NOT deleted) AS documents, coalesce(sum(revision), 0)::bigint AS revision
         FROM documents WHERE index_id = of_index AND document_id = of_document) AS document,
        LATERAL (VALUES ('chunks', held.chunks), ('tokens', held.tokens), ('documents', document.documents), ('revision', document.revision))
            AS total (value, number)
$$;

INSERT INTO index_counts (index_id, field, value, number)
SELECT index_id, field, value, sum(number) FROM documents, counts_of_document(index_id, document_id)
GROUP BY index_id, field, value;

-- The last commit, and the pages that keep an older text.
CREATE INDEX documents_indexed_at ON documents (index_id, last_indexed_at);
CREATE INDEX documents_stale ON documents (index_id, source) WHERE skip_reason IS NOT NULL AND NOT deleted;
