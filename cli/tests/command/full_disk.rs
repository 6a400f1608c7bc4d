//! A full disk is reported, loses no data, and does not end `serve`.

#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::Workshop;

/// A library that makes a command see a full disk on demand.
struct Disk {
    library: String,
    marker: PathBuf,
}

impl Disk {
    fn of(workshop: &Workshop) -> Self {
        let library = workshop.path().join("full_disk.so").display().to_string();
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/command/full_disk.c");
        // The compiler that builds SQLite.
        let built = Command::new("cc")
            .args(["-shared", "-fPIC", "-o", &library, source])
            .status();
        assert!(built.unwrap().success());
        let marker = workshop.path().join("is-full");
        Self { library, marker }
    }

    fn fill(&self) {
        File::create(&self.marker).unwrap();
    }

    fn free(&self) {
        fs::remove_file(&self.marker).unwrap();
    }

    fn variables(&self) -> [(&str, &str); 2] {
        let marker = self.marker.to_str().unwrap();
        [
            ("LD_PRELOAD", self.library.as_str()),
            ("BOOKRAG_TEST_FULL_DISK", marker),
        ]
    }
}

#[test]
fn a_full_disk_is_named_with_the_folder_and_the_next_run_goes_on() {
    let workshop = Workshop::small();
    let disk = Disk::of(&workshop);
    let sync = || {
        let mut command = workshop.command(&["sync", "book"]);
        command.envs(disk.variables()).output().unwrap()
    };
    let check_refusal = || {
        let full = sync();
        assert!(matches!(full.status.code(), Some(1 | 3)), "{full:?}");
        let told = String::from_utf8([full.stdout, full.stderr].concat()).unwrap();
        for part in ["/.bookrag", "no space is left", "free some"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    };
    disk.fill();
    check_refusal();
    disk.free();
    assert_eq!(sync().status.code(), Some(0));
    let text = "# Frost\n\nThe frost shield unrolls at night.\n";
    workshop.write("docs/frost.md", text);
    disk.fill();
    check_refusal();
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.md");
    disk.free();
    assert_eq!(sync().status.code(), Some(0));
    assert_eq!(workshop.found("frost shield").0[0], "docs/frost.md");
}

#[test]
fn a_watching_server_recovers_from_a_full_disk() {
    let workshop = Workshop::small();
    let disk = Disk::of(&workshop);
    let server = workshop.serve_with(&disk.variables(), &["--watch"]);
    disk.fill();
    let text = "# Frost\n\nThe frost shield unrolls at night.\n";
    workshop.write("docs/frost.md", text);
    let report = workshop.json(&["sync", "book"]).to_string();
    for part in ["no space is left", "book.sqlite"] {
        assert!(report.contains(part), "{part} in {report}");
    }
    let search = |query: &str| {
        let (status, found) = server.post("/api/v1/search", &json!({"query": query}));
        assert_eq!(status, 200, "{found}");
        found["data"]["results"][0]["source"].clone()
    };
    assert_eq!(search("blue wrench"), "docs/wheels.md");
    disk.free();
    let deadline = Instant::now() + Duration::from_mins(1);
    while search("when does the frost shield unroll") != "docs/frost.md" {
        assert!(Instant::now() < deadline, "the page did not arrive");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn output_that_cannot_be_written_is_an_error_unless_nobody_reads_it() {
    let workshop = Workshop::small();
    for arguments in [
        &["chunks", "book"][..],
        &["chunks", "book", "--json"],
        &["completions", "bash"],
    ] {
        let mut command = workshop.command(arguments);
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        let errors = told.matches("standard output cannot be written").count();
        assert_eq!(errors, 1, "{arguments:?}: {told}");

        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = workshop.command(arguments).stdout(writer).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
    }
}
