-- What the functions for readers may do if they connect as a user of their own, who owns nothing: read the book, and write what readers cause.
-- Run after the migrations, because these may add tables. Users belong to a whole server, so the name has the database's in it; of a book of several,
-- that of the database which the books have in common.
DO $$
DECLARE
    reader text := 'bookrag_reader_' || coalesce(nullif(current_setting('bookrag.shared_database', true), ''), current_database());
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = reader) THEN
        EXECUTE format('GRANT SELECT ON schema_version, indexes, index_counts, documents, document_chunks, document_failures, pending_points TO %I', reader);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE
            ON chat_queries, feedback, agent_reports, rate_limits, spend, conversations, messages, cached_answers TO %I', reader);
    END IF;
END $$
