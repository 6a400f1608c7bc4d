//! `doctor` finds damage in the stores' files and repairs it on request.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::support::Workshop;

fn truncate(file: &Path) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_len(100).unwrap();
}

fn overwrite(file: &Path) {
    fs::write(file, "no database".repeat(1_000)).unwrap();
}

/// Zeroes the second half of a file, as a failing disk may.
fn zero_half(file: &Path) {
    let mut bytes = fs::read(file).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0);
    fs::write(file, bytes).unwrap();
}

/// Damages the file; `doctor` must find it, repair it, and keep the damaged file aside.
fn check_file(damage: impl Fn(&Path)) {
    let workshop = Workshop::small();
    workshop.sync();
    let before = workshop.found("blue wrench");
    assert_eq!(before.1, json!([]));
    assert!(!workshop.stores().join("book.sqlite-wal").exists());
    damage(&workshop.store());
    let damaged = fs::read(workshop.store()).unwrap();

    let doctor = workshop.run(&["doctor", "book", "--json"]);
    assert_eq!(doctor.status.code(), Some(3), "{doctor:?}");
    let diagnosis: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(diagnosis["pages"], 2, "the site is examined all the same");
    assert_ne!(diagnosis["index"]["damage"], json!([]));
    let doctor = workshop.run(&["doctor", "book"]);
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains("doctor SITE --repair"), "{told}");

    let repaired = workshop.run(&["doctor", "book", "--repair"]);
    assert_eq!(repaired.status.code(), Some(0), "{repaired:?}");
    assert_eq!(workshop.found("blue wrench"), before);
    assert_eq!(workshop.run(&["doctor", "book"]).status.code(), Some(0));
    let is_aside = |name: &str| name.contains("damaged-") && name.ends_with(char::is_numeric);
    let files = fs::read_dir(workshop.stores()).unwrap();
    let kept = files
        .map(|file| file.unwrap().path())
        .find(|path| is_aside(path.file_name().unwrap().to_str().unwrap()));
    let kept = kept.expect("the damaged file is kept");
    assert_eq!(fs::read(&kept).unwrap(), damaged);
    let told = String::from_utf8(repaired.stderr).unwrap();
    assert!(told.contains(kept.to_str().unwrap()), "{told}");
}

#[test]
fn a_truncated_store_is_found_and_recreated() {
    check_file(truncate);
}

#[test]
fn a_store_with_lost_blocks_is_found_and_recreated() {
    check_file(zero_half);
}

#[test]
fn every_command_names_a_store_that_is_not_a_database() {
    let workshop = Workshop::small();
    workshop.sync();
    overwrite(&workshop.store());
    for arguments in [&["search", "wrench"][..], &["sync", "book"]] {
        let refused = workshop.run(arguments);
        assert_eq!(refused.status.code(), Some(1));
        let told = String::from_utf8(refused.stderr).unwrap();
        for part in ["book.sqlite", "bookrag doctor SITE --repair"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
    check_file(overwrite);
}

/// Changes the vectors with SQL. The catalog's tables stay intact, so conversations must too.
fn check_vectors(statement: &str) {
    let workshop = Workshop::small();
    workshop.sync();
    let before = workshop.found("blue wrench");
    let connection = Connection::open(workshop.store()).unwrap();
    let question = "INSERT INTO chat_queries (query_id, user_ip_hash, question_hash, retrieved_chunk_ids, response_time_ms, \
         status, answered, created_at) VALUES ('q', '', '', '[]', 1, 'success', 1, unixepoch() * 1000000)";
    connection.execute(question, ()).unwrap();
    assert!(connection.execute(statement, ()).unwrap() > 0);
    drop(connection);

    let doctor = workshop.run(&["doctor", "book", "--json"]);
    assert_eq!(doctor.status.code(), Some(3), "{doctor:?}");
    let diagnosis: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    let index = &diagnosis["index"];
    let is_seen = index["damage"] != json!([]) || index["lost_points"] != json!({});
    assert!(is_seen, "{statement}: {index}");

    let repaired = workshop.json(&["doctor", "book", "--repair"]);
    assert_eq!(repaired["repair"]["status"], "success", "{repaired}");
    assert_eq!(workshop.found("blue wrench"), before);
    assert_eq!(workshop.run(&["doctor", "book"]).status.code(), Some(0));
    let connection = Connection::open(workshop.store()).unwrap();
    let kept = connection.query_row(
        "SELECT count(*) FROM chat_queries WHERE query_id = 'q'",
        (),
        |row| row.get::<_, u32>(0),
    );
    assert_eq!(kept.unwrap(), 1);
}

#[test]
fn zeroed_and_lost_vectors_are_found_and_recreated() {
    check_vectors("UPDATE point_vectors SET vector = zeroblob(length(vector))");
    check_vectors("UPDATE point_vectors SET vector = x'00'");
    check_vectors("DELETE FROM point_vectors");
}

#[test]
fn altered_texts_and_metadata_are_found_and_written_again() {
    check_vectors("UPDATE document_chunks SET text = 'Forged. ' || text");
    check_vectors("UPDATE document_chunks SET payload = '{'");
    check_vectors("UPDATE chunk_metadata SET fields = '{'");
    check_vectors("UPDATE documents SET title = 'Forged'");
    check_vectors("UPDATE documents SET url = 'javascript:alert(1)'");
}

#[test]
fn rows_that_cannot_be_read_are_a_damaged_store() {
    let change = |statement: &'static str| {
        move |file: &Path| {
            let connection = Connection::open(file).unwrap();
            let unchecked = "PRAGMA foreign_keys = OFF";
            connection.execute_batch(unchecked).unwrap();
            connection.execute_batch(statement).unwrap();
        }
    };
    check_file(change(
        "UPDATE document_chunks SET section = CAST(x'ff' AS TEXT)",
    ));
    check_file(change(
        "ALTER TABLE document_chunks RENAME COLUMN section_id TO other",
    ));
    for table in [
        "DROP TABLE point_vectors",
        "DROP TABLE document_chunks",
        "DROP TABLE chat_queries",
        "DROP TABLE schema_version",
        "DROP TABLE indexes",
    ] {
        check_file(change(table));
    }
}
