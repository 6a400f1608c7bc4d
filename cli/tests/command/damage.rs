//! Damaged files of the stores are found by the doctor, and made anew when that is wanted.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::Workshop;

/// The files below a folder whose path holds all parts.
fn files(folder: &Path, parts: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, parts));
        } else if parts
            .iter()
            .all(|part| path.to_str().unwrap().contains(part))
        {
            found.push(path);
        }
    }
    found
}

fn truncate(file: &Path) {
    let file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.set_len(100).unwrap();
}

fn zero(file: &Path) {
    let length = file.metadata().unwrap().len();
    fs::write(file, vec![0; usize::try_from(length).unwrap()]).unwrap();
}

/// Damages files of the vector store; the doctor must see it and repair it.
fn check_vectors(parts: &[&str], damage: fn(&Path)) {
    let workshop = Workshop::small();
    workshop.sync();
    let before = workshop.found("blue wrench");
    assert_eq!(before.1, json!([]));
    let damaged = files(&workshop.stores().join("vectors"), parts);
    assert!(!damaged.is_empty(), "no file is called {parts:?}");
    for file in &damaged {
        damage(file);
    }

    let doctor = workshop.run(&["doctor", "book", "--json"]);
    assert_eq!(doctor.status.code(), Some(3), "{doctor:?}");
    let diagnosis: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(diagnosis["pages"], 2, "the site is examined all the same");
    let index = &diagnosis["index"];
    let is_seen = index["damage"] != json!([]) || index["lost_points"] != json!({});
    assert!(is_seen, "{parts:?}: {index}");
    let doctor = workshop.run(&["doctor", "book"]);
    let told = String::from_utf8(doctor.stdout).unwrap();
    assert!(told.contains("doctor SITE --repair"), "{told}");

    let repaired = workshop.json(&["doctor", "book", "--repair"]);
    assert_eq!(repaired["repair"]["status"], "success", "{repaired}");
    assert_eq!(workshop.found("blue wrench"), before);
    assert_eq!(workshop.run(&["doctor", "book"]).status.code(), Some(0));
}

#[test]
fn truncated_vectors_are_found_and_made_anew() {
    check_vectors(&["chunk_0.mmap"], truncate);
}

#[test]
fn zeroed_vectors_are_found_and_made_anew() {
    check_vectors(&["chunk_0.mmap"], zero);
}

#[test]
fn a_filter_that_finds_nothing_any_more_is_found_and_made_anew() {
    check_vectors(&["locale-map", "tracker.dat"], zero);
}

#[test]
fn a_store_that_cannot_be_opened_is_found_and_made_anew() {
    check_vectors(&["collection.json"], truncate);
    check_vectors(&["aliases.json"], |file| fs::write(file, "{").unwrap());
}

#[test]
fn a_damaged_catalog_is_kept_aside_and_the_book_is_indexed_again() {
    let workshop = Workshop::small();
    workshop.sync();
    let before = workshop.found("blue wrench");
    let stores = workshop.stores();
    let catalog = stores.join("catalog.sqlite");
    fs::write(&catalog, "no database".repeat(1_000)).unwrap();
    for arguments in [&["search", "wrench"][..], &["sync", "book"]] {
        let refused = workshop.run(arguments);
        assert_eq!(refused.status.code(), Some(1));
        let told = String::from_utf8(refused.stderr).unwrap();
        for part in ["catalog.sqlite", "bookrag doctor SITE --repair"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
    assert_eq!(workshop.run(&["doctor", "book"]).status.code(), Some(3));
    let repaired = workshop.run(&["doctor", "book", "--repair"]);
    assert_eq!(repaired.status.code(), Some(0), "{repaired:?}");
    assert_eq!(workshop.found("blue wrench"), before);
    let kept = files(&stores, &["catalog.sqlite.damaged-"]);
    assert!(
        fs::read_to_string(&kept[0])
            .unwrap()
            .starts_with("no database")
    );
    let told = String::from_utf8(repaired.stderr).unwrap();
    assert!(
        told.contains(kept[0].file_name().unwrap().to_str().unwrap()),
        "{told}"
    );
    assert_eq!(workshop.sync()["stray_points"], 0);
}
