//! A full disk is told of, loses nothing, and ends no process.

use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::Workshop;

/// What the commands take for the free bytes of the disk.
struct Disk(PathBuf);

impl Disk {
    fn of(workshop: &Workshop) -> Self {
        let disk = Self(workshop.site().with_file_name("free"));
        disk.has(1 << 40);
        disk
    }

    fn has(&self, free: u64) {
        // In one step: a running server reads it at any time.
        let new = self.0.with_extension("new");
        fs::write(&new, free.to_string()).unwrap();
        fs::rename(new, &self.0).unwrap();
    }

    fn variable(&self) -> (&str, &str) {
        ("BOOKRAG_TEST_FREE_BYTES", self.0.to_str().unwrap())
    }
}

#[test]
fn a_sync_on_a_full_disk_names_the_folder_and_goes_on_with_space() {
    let workshop = Workshop::small();
    let disk = Disk::of(&workshop);
    let (name, file) = disk.variable();
    let sync = || {
        let mut command = workshop.command(&["sync", "book"]);
        command.env(name, file).output().unwrap()
    };
    for free in [0, 40 << 10, 20 << 20] {
        disk.has(free);
        let full = sync();
        assert_eq!(full.status.code(), Some(1), "{full:?}");
        let told = String::from_utf8(full.stderr).unwrap();
        for part in [".bookrag/book-", "64 MiB", "free some"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
    disk.has(1 << 30);
    assert_eq!(sync().status.code(), Some(0));
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.md");
}

#[test]
fn a_watching_server_lives_through_a_full_disk_and_recovers_by_itself() {
    let workshop = Workshop::small();
    let disk = Disk::of(&workshop);
    let server = workshop.serve_with(&[disk.variable()], &["--watch"]);
    disk.has(0);
    workshop.write(
        "docs/frost.md",
        "# Frost\n\nThe frost shield unrolls at night.\n",
    );
    let report = workshop.json(&["sync", "book"]);
    let reason = report["failed"][0]["reason"].as_str().unwrap();
    assert!(
        reason.contains("is full") && reason.contains("vectors"),
        "{report}"
    );
    let search = |query: &str| {
        let (status, found) = server.post("/api/v1/search", &json!({"query": query}));
        assert_eq!(status, 200, "{found}");
        found["data"]["results"][0]["source"].clone()
    };
    assert_eq!(search("blue wrench"), "docs/wheels.md");
    disk.has(1 << 30);
    let deadline = Instant::now() + Duration::from_mins(1);
    while search("when does the frost shield unroll") != "docs/frost.md" {
        assert!(Instant::now() < deadline, "the page did not arrive");
        std::thread::sleep(Duration::from_millis(100));
    }
}
