//! Faults of a Postgres server: lost connections, lack of connections, slowness.

use std::time::Duration;

use bookrag::catalog::{Catalog, CatalogError, CommitOutcome, PostgresCatalog, PostgresOptions};
use bookrag_tests::postgres::Postgres;
use futures::future::try_join_all;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

use crate::catalog_contract::rows::{commit, live_index};
use crate::catalog_contract::{Store, postgres_options};

/// Ends all other connections to the database, as a pooler does on restart or after a long idle time.
const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

#[tokio::test]
async fn a_cut_connection_is_replaced() {
    let store = Store::postgres().await;
    store.catalog.migrate().await.unwrap();
    for _ in 0..3 {
        try_join_all((0..3).map(|_| store.catalog.live_index()))
            .await
            .unwrap();
        store.execute(CUT).await;
        store.catalog.live_index().await.unwrap();
        store.execute(CUT).await;
        let unknown_index = commit(7, "docs/a.md", 0, &[]);
        let failure = store.catalog.commit(&unknown_index).await.unwrap_err();
        assert!(matches!(failure, CatalogError::Rejected(_)), "{failure}");
    }
}

#[tokio::test]
async fn the_user_for_readers_reads_the_book_and_writes_only_what_readers_cause() {
    let postgres = Postgres::shared().await;
    let url = postgres.create_database("catalog_readers").await;
    let catalog = Catalog::Postgres(PostgresCatalog::new(postgres_options(&url)).unwrap());
    catalog.migrate().await.unwrap();
    // A user that is created later gets its rights from the next deployment.
    let reader = postgres.create_reader("catalog_readers").await;
    catalog.migrate().await.unwrap();

    let (client, connection) = tokio_postgres::connect(&reader, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let tables = |privileges: &str| {
        format!(
            "SELECT string_agg(tablename, ' ' ORDER BY tablename) FROM pg_tables
             WHERE schemaname = 'public' AND has_table_privilege(schemaname || '.' || tablename, '{privileges}')"
        )
    };
    let written = "agent_reports cached_answers chat_queries conversations feedback messages rate_limits spend";
    let read = "agent_reports cached_answers chat_queries conversations document_chunks document_failures documents feedback index_counts indexes \
                messages pending_points rate_limits schema_version spend";
    for (privileges, expected) in [
        ("INSERT, UPDATE, DELETE", written),
        ("SELECT", read),
        ("TRUNCATE, REFERENCES, TRIGGER", ""),
    ] {
        let row = client.query_one(&tables(privileges), &[]).await.unwrap();
        let tables: Option<String> = row.get(0);
        assert_eq!(tables.unwrap_or_default(), expected, "{privileges}");
    }
    for statement in [
        "DELETE FROM document_chunks",
        "UPDATE indexes SET state = 'retired'",
        "DROP TABLE documents",
        "CREATE TABLE pages (url text)",
    ] {
        let refused = client.batch_execute(statement).await.unwrap_err();
        let code = refused.code().unwrap();
        assert_eq!(*code, SqlState::INSUFFICIENT_PRIVILEGE, "{statement}");
    }
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn more_callers_than_connections_take_turns() {
    let store = Store::postgres().await;
    store.catalog.migrate().await.unwrap();
    try_join_all((0..50).map(|_| store.catalog.live_index()))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_timed_out_call_does_not_affect_the_next() {
    let store = Store::postgres().await;
    store.catalog.migrate().await.unwrap();
    for microseconds in (0..2_000).step_by(50) {
        let limit = Duration::from_micros(microseconds);
        let _ = tokio::time::timeout(limit, store.catalog.live_index()).await;
        assert_eq!(store.catalog.pending_count(7).await.unwrap(), 0);
    }
}

#[tokio::test]
async fn a_statement_that_waits_for_too_long_is_unavailable() {
    let postgres = Postgres::shared().await;
    let url = postgres.create_database("catalog_slow").await;
    let options = postgres_options(&url);
    let patient = Catalog::Postgres(PostgresCatalog::new(options.clone()).unwrap());
    patient.migrate().await.unwrap();
    let catalog = Catalog::Postgres(
        PostgresCatalog::new(PostgresOptions {
            statement_timeout: Duration::from_millis(200),
            ..options
        })
        .unwrap(),
    );

    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    client
        .batch_execute("BEGIN; LOCK TABLE indexes IN ACCESS EXCLUSIVE MODE")
        .await
        .unwrap();
    // The lock is held until the statement has given up.
    let failure = catalog.live_index().await.unwrap_err();
    assert!(matches!(failure, CatalogError::Unavailable(_)), "{failure}");
    client.batch_execute("ROLLBACK").await.unwrap();
    assert_eq!(patient.live_index().await.unwrap(), None);
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_statement_that_takes_too_long_ends_on_the_server_too() {
    let url = Postgres::shared().await;
    let url = url.create_database("catalog_stopped").await;
    let mut options = postgres_options(&url);
    options.statement_timeout = Duration::from_millis(200);
    let catalog = Catalog::Postgres(PostgresCatalog::new(options).unwrap());
    catalog.migrate().await.unwrap();
    catalog.live_index().await.unwrap();

    let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let before = only_backend(&client).await;
    let lock = "BEGIN; LOCK TABLE indexes IN ACCESS EXCLUSIVE MODE";
    client.batch_execute(lock).await.unwrap();
    let failure = catalog.live_index().await.unwrap_err();
    assert!(failure.to_string().contains("57014"), "{failure}");
    // The connection is the same, and idle again.
    assert_eq!(only_backend(&client).await, before);
    let state = "SELECT state FROM pg_stat_activity WHERE pid = $1";
    let state: String = client.query_one(state, &[&before]).await.unwrap().get(0);
    assert_eq!(state, "idle");
    client.batch_execute("ROLLBACK").await.unwrap();
    drop(client);
    connection.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_refused_statement_costs_no_connection() {
    let store = Store::postgres().await;
    store.catalog.migrate().await.unwrap();
    let index_id = live_index(&store.catalog).await;
    let (client, connection) = tokio_postgres::connect(store.url(), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let before = only_backend(&client).await;
    // Once outside of a transaction, once inside.
    store
        .catalog
        .record_failures(77, &["docs/a.md".to_owned()], "there is no such index")
        .await
        .unwrap_err();
    let source = "docs/\0.md";
    let impossible = commit(index_id, source, 0, &[]);
    store.catalog.commit(&impossible).await.unwrap_err();
    store.catalog.live_index().await.unwrap();
    assert_eq!(only_backend(&client).await, before);
    drop(client);
    connection.await.unwrap().unwrap();
}

/// Three batches of old rows of each kind, and a trigger that refuses to delete more than one batch in a statement.
const OLD_ROWS: &str = "
    CREATE FUNCTION refuse_many() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF (SELECT count(*) FROM gone) > 2000 THEN RAISE EXCEPTION 'too many rows at once'; END IF;
        RETURN NULL;
    END $$;
    INSERT INTO rate_limits SELECT n::text, now() - interval '2 hours', true FROM generate_series(1, 4500) AS n;
    INSERT INTO conversations (conversation_id, session_hash, expires_at)
        SELECT gen_random_uuid(), '5e', now() - interval '2 hours' FROM generate_series(1, 4500);
    INSERT INTO conversations (conversation_id, session_hash, expires_at)
        VALUES ('00000000-0000-0000-0000-000000000001', '5e', now() + interval '2 hours');
    INSERT INTO messages (message_id, conversation_id, question, created_at)
        SELECT gen_random_uuid(), '00000000-0000-0000-0000-000000000001', 'Why?', now() - interval '2 hours'
        FROM generate_series(1, 4500);
    INSERT INTO chat_queries (query_id, user_ip_hash, question_hash, retrieved_chunk_ids, response_time_ms, status,
            answered, created_at)
        SELECT gen_random_uuid(), '0f', '1e', '{}', 5, 'success', true, now() - interval '2 hours'
        FROM generate_series(1, 4500);
    INSERT INTO feedback (feedback_id, message_id, rating, created_at)
        SELECT query_id, query_id, 'up', now() FROM chat_queries";

#[tokio::test]
async fn no_statement_deletes_more_than_a_batch_of_old_rows() {
    let store = Store::postgres().await;
    store.catalog.migrate().await.unwrap();
    store.execute(OLD_ROWS).await;
    let (client, connection) = tokio_postgres::connect(store.url(), NoTls).await.unwrap();
    let connection = tokio::spawn(connection);
    let tables = [
        "rate_limits",
        "conversations",
        "messages",
        "feedback",
        "chat_queries",
    ];
    for table in tables {
        let trigger = format!(
            "CREATE TRIGGER refuse_many AFTER DELETE ON {table} REFERENCING OLD TABLE AS gone
             FOR EACH STATEMENT EXECUTE FUNCTION refuse_many()"
        );
        client.batch_execute(&trigger).await.unwrap();
    }
    let hour = Duration::from_hours(1);
    let forgetting = store.catalog.forget_expired(hour, Some(hour));
    forgetting.await.unwrap();
    for table in tables {
        let rows = format!("SELECT count(*) FROM {table}");
        let rows: i64 = client.query_one(&rows, &[]).await.unwrap().get(0);
        assert_eq!(rows, i64::from(table == "conversations"), "{table}");
    }
    drop(client);
    connection.await.unwrap().unwrap();
}

/// The row of another source simulates a writer whose first commit came after the search for a conflict.
#[tokio::test]
async fn a_first_commit_whose_id_was_taken_meanwhile_conflicts() {
    let store = Store::postgres().await;
    let index_id = live_index(&store.catalog).await;
    let first = commit(index_id, "docs/a.md", 0, &[]);
    let mut late = commit(index_id, "docs/b.md", 0, &[]);
    late.document.document_id = first.document.document_id;
    store.catalog.commit(&first).await.unwrap();
    let outcome = store.catalog.commit(&late).await.unwrap();
    assert_eq!(outcome, CommitOutcome::Conflict);
    let stored = store.catalog.documents(index_id).await.unwrap();
    assert_eq!(stored.len(), 1);
}

/// Returns the backend of the catalog's only connection; backends of closed connections end on their own.
async fn only_backend(client: &Client) -> i32 {
    let others = "SELECT pid FROM pg_stat_activity
        WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()";
    loop {
        let rows = client.query(others, &[]).await.unwrap();
        if let [only] = rows.as_slice() {
            return only.get(0);
        }
    }
}

#[tokio::test]
async fn a_stopped_server_is_unavailable_and_its_url_is_not_printed() {
    let postgres = Postgres::start().await;
    let url = postgres.create_database("catalog_gone").await;
    let secret = url.replace("rag@", "rag:hunter2@");
    assert_ne!(secret, url);
    let catalog = Catalog::Postgres(PostgresCatalog::new(postgres_options(&secret)).unwrap());
    catalog.migrate().await.unwrap();
    catalog.ping().await.unwrap();
    drop(postgres);
    for failure in [
        catalog.ping().await.unwrap_err(),
        catalog.live_index().await.unwrap_err(),
        catalog.migrate().await.unwrap_err(),
    ] {
        assert!(matches!(failure, CatalogError::Unavailable(_)), "{failure}");
        let text = format!("{failure} {failure:?} {catalog:?}");
        assert!(
            !text.contains("hunter2") && !text.contains("/tmp"),
            "{text}"
        );
    }
}
