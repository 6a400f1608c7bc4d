//! Where the stores are, which processes may open them, and how they are deleted.

use std::fs;
use std::net::TcpListener;
use std::process::Stdio;

use serde_json::json;

use crate::support::Workshop;

fn add_other(workshop: &Workshop) {
    let other = workshop.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("page.md"), "# Page\n\nA lantern lights it.\n").unwrap();
}

#[test]
fn stores_are_in_the_site_and_not_offered_for_version_control() {
    let workshop = Workshop::small();
    workshop.sync();
    let ignore = fs::read_to_string(workshop.stores().join(".gitignore")).unwrap();
    assert_eq!(ignore, "*\n");
    assert!(workshop.store().is_file());
    assert!(!workshop.path().join(".bookrag").exists());
    let diagnosis = workshop.json(&["doctor", "book"]);
    assert_eq!(diagnosis["pages"], 2);
}

#[test]
fn a_site_that_cannot_hold_its_stores_has_them_in_the_users_data() {
    let workshop = Workshop::small();
    // Not even root can create a folder where a file exists.
    fs::write(workshop.stores(), "").unwrap();
    let synced = workshop.run(&["sync", "book"]);
    assert_eq!(synced.status.code(), Some(0), "{synced:?}");
    let told = String::from_utf8(synced.stderr).unwrap();
    let kept = workshop.data().join("bookrag").join("book-");
    assert!(told.contains(kept.to_str().unwrap()), "{told}");
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.md");
    let named = workshop.json(&["search", "blue wrench", "--site", "book"]);
    assert_eq!(named["data"]["results"][0]["source"], "docs/wheels.md");

    let mut command = workshop.command(&["sync", "book"]);
    let nowhere = workshop.stores().join("data");
    let refused = command.env("BOOKRAG_DATA", &nowhere).output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr).unwrap();
    for part in [nowhere.to_str().unwrap(), "BOOKRAG_DATA"] {
        assert!(told.contains(part), "{part} in {told}");
    }
}

#[test]
fn commands_take_the_site_they_are_in_else_the_last_one_used() {
    let workshop = Workshop::small();
    add_other(&workshop);
    workshop.sync();
    workshop.json(&["sync", "other"]);
    let sources = |folder: &str, query: &str| {
        let mut command = workshop.command(&["search", query, "--json"]);
        let output = command.current_dir(workshop.path().join(folder)).output();
        let found: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
        found["data"]["results"][0]["source"].clone()
    };
    assert_eq!(sources("book/docs", "blue wrench"), "docs/wheels.md");
    assert_eq!(sources("other", "lantern"), "page.md");
    assert_eq!(sources(".", "lantern"), "page.md");
    workshop.sync();
    assert_eq!(sources(".", "blue wrench"), "docs/wheels.md");

    // A site that was never indexed must not be answered from another book.
    let new = workshop.path().join("new");
    fs::create_dir(&new).unwrap();
    fs::write(new.join("docusaurus.config.js"), "module.exports = {};").unwrap();
    let mut command = workshop.command(&["search", "blue wrench"]);
    let refused = command.current_dir(&new).output().unwrap();
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.contains("no index of") && told.contains("new"),
        "{told}"
    );
}

#[test]
fn a_server_that_does_not_start_leaves_the_current_book() {
    let workshop = Workshop::small();
    add_other(&workshop);
    workshop.sync();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refused = workshop.run(&["serve", "other", "--listen", &address]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(told.contains(&address) && told.contains("--port"), "{told}");
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.md");
    assert!(!workshop.path().join("other/.bookrag").exists());
}

#[test]
fn a_second_server_of_a_book_is_refused_and_readers_work_beside_the_first() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    let process = format!("process {} (bookrag serve)", server.process());
    for arguments in [
        &["serve", "book", "--listen", "127.0.0.1:0"][..],
        &["reset", "book", "--yes"],
    ] {
        let second = workshop.run(arguments);
        assert_eq!(second.status.code(), Some(1));
        let told = String::from_utf8(second.stderr).unwrap();
        assert!(
            told.contains(&process) && told.contains("stop it"),
            "{told}"
        );
    }
    let beside: Vec<_> = [
        &["search", "blue wrench"][..],
        &["ask", "what tightens the wheels?"],
        &["doctor", "book"],
        &["search", "soil moisture"],
    ]
    .map(|arguments| {
        let mut command = workshop.command(arguments);
        command.stdout(Stdio::null()).spawn().unwrap()
    })
    .into();
    for mut reader in beside {
        assert!(matches!(reader.wait().unwrap().code(), Some(0 | 4)));
    }
    assert_eq!(workshop.sync()["status"], "success");
}

#[test]
fn reset_deletes_the_stores_and_nothing_else() {
    let workshop = Workshop::small();
    let nothing = workshop.json(&["reset", "book", "--yes"]);
    assert_eq!(nothing["deleted"], json!(null));
    workshop.sync();
    let unasked = workshop.run(&["reset", "book"]);
    assert_eq!(unasked.status.code(), Some(2));
    let told = String::from_utf8(unasked.stderr).unwrap();
    assert!(told.contains("--yes"), "{told}");
    assert!(workshop.store().is_file());

    let reset = workshop.json(&["reset", "book", "--yes"]);
    assert!(
        reset["deleted"]
            .as_str()
            .unwrap()
            .ends_with("book/.bookrag")
    );
    assert!(!workshop.stores().exists());
    assert!(workshop.site().join("docs/wheels.md").exists());
    assert_eq!(workshop.run(&["search", "wrench"]).status.code(), Some(1));
    assert_eq!(workshop.sync()["files_changed"], 2);
    fs::write(workshop.stores().join(".gitignore"), "*\n").unwrap();
    fs::create_dir(workshop.stores().join("mine")).unwrap();
    workshop.json(&["reset", "book", "--yes"]);
    assert!(workshop.stores().join("mine").is_dir() && !workshop.store().exists());
}

#[test]
fn a_killed_server_leaves_a_whole_book() {
    let workshop = Workshop::small();
    let server = workshop.serve(&[]);
    server.kill();
    let report = workshop.sync();
    assert_eq!(
        (&report["embedded"], &report["files_changed"]),
        (&json!(0), &json!(0))
    );
    // Killed during the first ingest.
    let other = Workshop::new();
    let server = other.serve_at_once();
    server.wait_for("/local/book", |book| book["pages"].as_u64() > Some(0));
    server.kill();
    other.sync();
    let settled = other.sync();
    assert_eq!(settled["files_changed"], 0);
    let whole = Workshop::indexed().sync();
    assert_eq!(settled["total_chunks"], whole["total_chunks"]);
}
