use std::fs;
use std::time::Duration;

use tempfile::TempDir;
use uuid::Uuid;

use super::*;
use crate::catalog::{Catalog, NewExchange, QueryLog, QueryStatus, StoredExchange};
use crate::index::IndexError;

async fn catalog(folder: &TempDir) -> (SqliteCatalog, PathBuf) {
    let path = folder.path().join("book").join("catalog.sqlite");
    let catalog = SqliteCatalog::open(&path).await.expect("opened");
    catalog.migrate().await.expect("migrated");
    (catalog, path)
}

fn assert_damaged(error: &CatalogError, path: &Path) {
    assert!(matches!(error, CatalogError::Damaged { .. }), "{error:?}");
    let message = error.to_string();
    for part in [path.to_str().unwrap(), "bookrag doctor SITE --repair"] {
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_with_what_helps() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("catalog.sqlite");
    fs::write(&path, "not a database".repeat(1_000)).unwrap();
    let error = SqliteCatalog::open(&path).await.expect_err("garbage");
    assert_damaged(&error, &path);
}

#[tokio::test]
async fn a_check_finds_damage_that_no_statement_has_met_yet() {
    let folder = TempDir::new().unwrap();
    let (catalog, path) = catalog(&folder).await;
    // Damage the page of an empty index, which is read neither when the file is opened nor when rows are counted.
    let page = |connection: &mut Connection| {
        let page = "SELECT rootpage FROM sqlite_schema WHERE name = 'feedback_message'";
        let page: u32 = connection.query_row(page, (), |row| row.get(0))?;
        let size = connection.query_row("PRAGMA page_size", (), |row| row.get(0))?;
        Ok((page, size))
    };
    let (page, size): (u32, u32) = catalog.run(page).await.expect("read");
    let start = usize::try_from((page - 1) * size).unwrap();
    let end = usize::try_from(page * size).unwrap();
    drop(catalog);
    let mut bytes = fs::read(&path).unwrap();
    bytes[start..end].fill(0xa5);
    fs::write(&path, bytes).unwrap();

    let catalog = Catalog::Sqlite(SqliteCatalog::open(&path).await.expect("opened"));
    catalog.ping().await.expect("the version is still there");
    assert_damaged(&catalog.check().await.expect_err("damaged"), &path);
}

#[tokio::test]
async fn a_check_finds_what_the_schema_lacks() {
    let folder = TempDir::new().unwrap();
    let (catalog, path) = catalog(&folder).await;
    drop(catalog);
    let whole = fs::read(&path).unwrap();
    let connection = Connection::open(&path).unwrap();
    // SQLite itself makes and drops the others.
    let drops: Vec<String> = connection
        .prepare(
            "SELECT 'DROP ' || upper(type) || ' ' || name FROM sqlite_schema
             WHERE sql IS NOT NULL AND name NOT LIKE 'chunk_words_%'",
        )
        .unwrap()
        .query_map((), |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    drop(connection);
    assert!(drops.len() > 30, "{drops:?}");
    let of_another_program = "UPDATE schema_version SET version = 999 WHERE version = 1".to_owned();
    for change in drops.into_iter().chain([of_another_program]) {
        fs::write(&path, &whole).unwrap();
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch(&change).unwrap();
        drop(connection);
        let checked = async {
            Catalog::Sqlite(SqliteCatalog::open(&path).await?)
                .check()
                .await
        };
        // Without the table of versions, the file counts as one without tables.
        if change == "DROP TABLE schema_version" {
            let migrated = async { SqliteCatalog::open(&path).await?.migrate().await };
            assert_damaged(&migrated.await.expect_err(&change), &path);
        } else {
            assert_damaged(&checked.await.expect_err(&change), &path);
        }
    }
}

#[tokio::test]
async fn a_whole_file_passes_its_check() {
    let folder = TempDir::new().unwrap();
    let (catalog, _) = catalog(&folder).await;
    Catalog::Sqlite(catalog).check().await.expect("whole");
}

#[tokio::test]
async fn a_full_disk_is_named_with_the_file_and_passes_with_space() {
    let folder = TempDir::new().unwrap();
    let (catalog, path) = catalog(&folder).await;
    let limit = |pages: u32| {
        let connection = catalog.database.writer();
        connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
            .unwrap();
    };
    let write = || {
        catalog.run(|connection| {
            connection.execute(
                "INSERT INTO spend (day, micro_usd) VALUES (hex(randomblob(10000)), 1)",
                (),
            )?;
            Ok(())
        })
    };
    limit(1);
    let error = write().await.expect_err("full");
    assert!(
        matches!(error, CatalogError::StorageFull { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
    limit(1_000_000);
    write().await.expect("there is space again");
}

#[tokio::test]
async fn a_full_disk_fails_vectors_with_the_file_and_passes_with_space() {
    let folder = TempDir::new().unwrap();
    let (catalog, path) = catalog(&folder).await;
    let index = LocalIndex::from_catalog(&catalog);
    index
        .ensure_collection("chunks", 4_000)
        .await
        .expect("made");
    let limit = |pages: u32| {
        let connection = catalog.database.writer();
        connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
            .unwrap();
    };
    let points: Vec<_> = (0..3)
        .map(|_| (Uuid::new_v4(), vec![1.0; 4_000].into()))
        .collect();
    limit(1);
    let error = index.upsert("chunks", points.clone()).await;
    let error = error.expect_err("full");
    assert!(matches!(error, IndexError::StorageFull(_)), "{error:?}");
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
    // The batch is all or nothing: not even its first point is stored.
    assert_eq!(index.count("chunks").await.expect("counted"), 0);
    limit(1_000_000);
    index.upsert("chunks", points).await.expect("space again");
    assert_eq!(index.count("chunks").await.expect("counted"), 3);
}

fn is_in_files(folder: &TempDir, text: &str) -> bool {
    let files = fs::read_dir(folder.path().join("book")).unwrap();
    let holds = |bytes: Vec<u8>| {
        let mut windows = bytes.windows(text.len());
        windows.any(|window| window == text.as_bytes())
    };
    files
        .map(|file| fs::read(file.unwrap().path()).unwrap())
        .any(holds)
}

/// A text long enough to span several pages of the file.
fn secret() -> String {
    format!("the-secret-question-{}", "x".repeat(20_000))
}

async fn ask(catalog: &Catalog, keep: Duration) -> Uuid {
    let conversation_id = Uuid::new_v4();
    let new = NewExchange {
        conversation_id,
        session_hash: "0f".to_owned(),
        exchange: StoredExchange {
            message_id: Uuid::new_v4(),
            question: secret(),
            answer: None,
        },
        keep,
    };
    assert!(catalog.save_exchange(&new).await.unwrap());
    conversation_id
}

#[tokio::test]
async fn a_deleted_conversation_is_gone_from_the_files_too() {
    let folder = TempDir::new().unwrap();
    let (sqlite, _) = catalog(&folder).await;
    let catalog = Catalog::Sqlite(sqlite);
    let id = ask(&catalog, Duration::from_hours(1)).await;
    assert!(is_in_files(&folder, "the-secret-question"));
    assert!(catalog.delete_conversation(id, "0f").await.unwrap());
    assert!(!is_in_files(&folder, "the-secret-question"));
    assert!(!is_in_files(&folder, &"x".repeat(100)));
}

#[tokio::test]
async fn what_expired_is_gone_from_the_files_too() {
    let folder = TempDir::new().unwrap();
    let (sqlite, _) = catalog(&folder).await;
    let catalog = Catalog::Sqlite(sqlite);
    ask(&catalog, Duration::ZERO).await;
    let log = QueryLog {
        query_id: Uuid::new_v4(),
        user_ip_hash: "0f".to_owned(),
        question_hash: "1e".to_owned(),
        retrieved_chunk_ids: Vec::new(),
        cited_chunk_ids: Vec::new(),
        response_time_ms: 1,
        status: QueryStatus::Success,
        answered: true,
        uncertain: false,
        tokens: 0,
        cost_micro_usd: 0,
        degraded: false,
        saved_micro_usd: None,
        question: Some(secret()),
    };
    catalog.log_query(&log).await.unwrap();
    let all = Some(Duration::ZERO);
    catalog.forget_expired(Duration::ZERO, all).await.unwrap();
    assert!(!is_in_files(&folder, "the-secret-question"));
    assert!(!is_in_files(&folder, &"x".repeat(100)));
}
