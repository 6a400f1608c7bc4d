//! An unreadable file affects only its own page.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::Workshop;

/// A site with more consecutive unreadable pages than the limit of outages; root cannot read them either.
fn workshop() -> Workshop {
    let workshop = Workshop::small();
    let docs = workshop.site().join("docs");
    for name in ["a", "b", "c"] {
        symlink("/etc/passwd", docs.join(format!("{name}.md"))).unwrap();
    }
    symlink("loop.md", docs.join("loop.md")).unwrap();
    let fifo = Command::new("mkfifo").arg(docs.join("fifo.md")).status();
    assert!(fifo.unwrap().success());
    workshop
}

const UNREADABLE: [&str; 5] = [
    "docs/a.md",
    "docs/b.md",
    "docs/c.md",
    "docs/fifo.md",
    "docs/loop.md",
];

fn names(listed: &Value, field: &str) -> Vec<String> {
    let listed = listed.as_array().unwrap().iter();
    listed
        .map(|file| file[field].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn every_command_lists_pages_that_cannot_be_read_and_goes_on() {
    let workshop = workshop();
    let sync = workshop.run(&["sync", "book", "--json"]);
    assert_eq!(sync.status.code(), Some(3));
    let report: Value = serde_json::from_slice(&sync.stdout).unwrap();
    assert_eq!(names(&report["failed"], "source"), UNREADABLE);
    assert_eq!(
        (&report["files_changed"], &report["files_deleted"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.md");

    let doctor = workshop.run(&["doctor", "book", "--json"]);
    assert_eq!(doctor.status.code(), Some(3));
    let diagnosis: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(names(&diagnosis["unreadable"], "at"), UNREADABLE);
    assert_eq!(diagnosis["pages"], 2);
    assert_eq!(
        names(&diagnosis["index"]["status"]["failed"], "source"),
        UNREADABLE
    );

    for arguments in [
        &["chunks", "book", "--jsonl"][..],
        &["chunks", "book", "--ledger"],
    ] {
        let chunks = workshop.run(arguments);
        assert_eq!(chunks.status.code(), Some(3), "{arguments:?}");
        let told = String::from_utf8([chunks.stdout, chunks.stderr].concat()).unwrap();
        for name in UNREADABLE {
            assert!(told.contains(name), "{name} in {told}");
        }
    }
    let chunks = workshop.run(&["chunks", "book", "--jsonl"]).stdout;
    assert_eq!(chunks.iter().filter(|byte| **byte == b'\n').count(), 2);
}

#[test]
fn an_edit_is_indexed_despite_unreadable_pages() {
    let workshop = workshop();
    let server = workshop.serve(&[]);
    workshop.write(
        "docs/wheels.md",
        "# Wheels\n\nThe wheels take a purple spanner.\n",
    );
    let report = workshop.sync();
    assert_eq!(report["files_changed"], 1, "{report}");
    assert_eq!(server.get("/docs/wheels").0, 200);
    assert_eq!(workshop.found("purple spanner").0[0], "docs/wheels.md");
}

/// A site whose path is so long that one of its folders exceeds Linux's limit (4,096 bytes), so nobody can list that folder, not
/// even root.
#[cfg(target_os = "linux")]
fn site_with_an_unreadable_folder(workshop: &Workshop) -> (PathBuf, String) {
    let mut site = workshop.site();
    while site.as_os_str().len() < 3_700 {
        site.push("y".repeat(200));
    }
    site.push("z".repeat(3_940 - site.as_os_str().len()));
    fs::create_dir_all(site.parent().unwrap()).unwrap();
    fs::rename(workshop.site().join("docs"), site.with_file_name("docs")).unwrap();
    fs::create_dir(&site).unwrap();
    fs::rename(site.with_file_name("docs"), site.join("docs")).unwrap();
    let folder = "x".repeat(200);
    let made = Command::new("sh")
        .args(["-c", "mkdir $0 && echo '# Hidden' > $0/hidden.md", &folder])
        .current_dir(site.join("docs"))
        .status();
    assert!(made.unwrap().success());
    (site, format!("docs/{folder}/"))
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_listed_is_named_and_the_others_are_followed() {
    let workshop = Workshop::small();
    let (site, folder) = site_with_an_unreadable_folder(&workshop);
    let path = site.to_str().unwrap();
    // SQLite cannot open files in a path as long as the site's.
    let data = workshop.data();
    let data = ("BOOKRAG_DATA", data.to_str().unwrap());
    let run = |arguments: &[&str]| {
        let mut command = workshop.command(arguments);
        command.env(data.0, data.1).output().unwrap()
    };
    let sync = run(&["sync", path, "--json"]);
    assert_eq!(sync.status.code(), Some(3), "{sync:?}");
    let report: Value = serde_json::from_slice(&sync.stdout).unwrap();
    assert_eq!(names(&report["failed"], "source"), [folder.as_str()]);
    assert_eq!(report["files_changed"], 2);
    let diagnosis = run(&["doctor", path, "--json"]).stdout;
    let diagnosis: Value = serde_json::from_slice(&diagnosis).unwrap();
    assert_eq!(names(&diagnosis["unreadable"], "at"), [folder.as_str()]);

    let server = workshop.serve_site(path, &[data], &["--watch"]);
    fs::write(
        site.join("docs/frost.md"),
        "# Frost\n\nThe frost shield unrolls.\n",
    )
    .unwrap();
    let deadline = Instant::now() + Duration::from_mins(1);
    let search = json!({"query": "frost shield"});
    while server.post("/api/v1/search", &search).1["data"]["results"][0]["source"]
        != "docs/frost.md"
    {
        assert!(Instant::now() < deadline, "the page did not arrive");
        std::thread::sleep(Duration::from_millis(100));
    }
}
