//! Stores of the previous release are taken over.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use crate::support::Workshop;

const MIGRATIONS: [&str; 5] = [
    include_str!("../../../shared/migrations/sqlite/0001_catalog.sql"),
    include_str!("../../../shared/migrations/sqlite/0002_reindex.sql"),
    include_str!("../../../shared/migrations/sqlite/0003_readers.sql"),
    include_str!("../../../shared/migrations/sqlite/0004_sources.sql"),
    include_str!("../../../shared/migrations/sqlite/0005_indexing.sql"),
];

/// Writes stores as the previous release left them: a live index with a document, a reader's question, and vectors.
fn write_former(data: &Path, workshop: &Workshop) -> PathBuf {
    let site = workshop.site().canonicalize().unwrap();
    let id = Uuid::new_v5(&Uuid::NAMESPACE_URL, site.to_str().unwrap().as_bytes());
    let id = id.simple().to_string();
    let folder = data.join(format!("book-{}", &id[..8]));
    fs::create_dir_all(folder.join("vectors/collections")).unwrap();
    fs::write(folder.join("vectors/aliases.json"), "{}").unwrap();
    fs::write(folder.join("salt"), "the-salt-of-before").unwrap();
    let catalog = Connection::open(folder.join("catalog.sqlite")).unwrap();
    for (version, migration) in (1..).zip(MIGRATIONS) {
        catalog.execute_batch(migration).unwrap();
        let row = "INSERT INTO schema_version VALUES (?1, 0)";
        catalog.execute(row, [version]).unwrap();
    }
    let rows = "
        INSERT INTO indexes (index_id, spec, collection, state, site, created_at)
            VALUES (1, '{}', 'textbook_chunks_1', 'live', '{}', 1);
        INSERT INTO documents VALUES (1, 'd', 'docs/gone.md', 'Gone', '/gone', 'en', 'current', NULL, '{}', 1, 'f', NULL, 0, 1);
        INSERT INTO chat_queries (query_id, user_ip_hash, question_hash, retrieved_chunk_ids, response_time_ms, status, answered,
            created_at, question) VALUES ('q', '', '', '[]', 1, 'success', 0, unixepoch() * 1000000, 'who mows the lawn?');";
    catalog.execute_batch(rows).unwrap();
    folder
}

fn check_taken_over(workshop: &Workshop, former: &Path, data: Option<&Path>) {
    let run = |arguments: &[&str]| {
        let mut command = workshop.command(arguments);
        if let Some(data) = data {
            command.env("BOOKRAG_DATA", data);
        }
        command.output().unwrap()
    };
    // Read-only commands leave it unchanged.
    assert_eq!(run(&["search", "wrench"]).status.code(), Some(1));
    let synced = run(&["sync", "book"]);
    assert_eq!(synced.status.code(), Some(0), "{synced:?}");
    let told = String::from_utf8(synced.stderr).unwrap();
    assert!(told.contains("of the former release"), "{told}");
    assert!(!former.join("catalog.sqlite").exists() && !former.join("vectors").exists());
    let insights = run(&["insights", "--site", "book"]);
    let insights = String::from_utf8(insights.stdout).unwrap();
    assert!(insights.contains("who mows the lawn?"), "{insights}");
    let found = String::from_utf8(run(&["search", "blue wrench"]).stdout).unwrap();
    assert!(found.contains("docs/wheels.md"), "{found}");
    let again = run(&["sync", "book"]);
    let told = String::from_utf8(again.stderr).unwrap();
    assert!(!told.contains("of the former release"), "{told}");
}

#[test]
fn stores_in_the_folder_of_the_command_move_into_the_site() {
    let workshop = Workshop::small();
    let former = write_former(&workshop.path().join(".bookrag"), &workshop);
    check_taken_over(&workshop, &former, None);
    assert!(!former.exists());
    let salt = fs::read_to_string(workshop.stores().join("salt")).unwrap();
    assert_eq!(salt, "the-salt-of-before");
    let doctor = workshop.json(&["doctor", "book"]);
    assert_eq!(doctor["index"]["status"]["documents"], json!(2));
}

#[test]
fn stores_in_a_folder_that_was_named_stay_in_it() {
    let workshop = Workshop::small();
    let data = workshop.path().join("named");
    let former = write_former(&data, &workshop);
    check_taken_over(&workshop, &former, Some(&data));
    assert!(former.join("book.sqlite").exists() && !workshop.stores().exists());
    let salt = fs::read_to_string(former.join("salt")).unwrap();
    assert_eq!(salt, "the-salt-of-before");
}
