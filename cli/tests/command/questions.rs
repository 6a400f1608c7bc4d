//! `bookrag questions`: files of questions, from a todo list to a search that finds what they ask for.

mod background;
mod written;

use std::fs;
use std::io::Write;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::support::Workshop;

const PROBE: &str = "bookrag.questions/docs/probe.md.txt";
const WHEELS: &str = "bookrag.questions/docs/wheels.md.txt";

/// A book with three sections on two pages.
fn workshop() -> Workshop {
    let workshop = Workshop::small();
    workshop.write(
        "docs/probe.md",
        "# Probe\n\nThe soil moisture probe needs calibration.\n\n## Storage {#storage}\n\nKeep it dry in winter.\n\n## Parts\n",
    );
    workshop
}

fn file(workshop: &Workshop, path: &str) -> String {
    fs::read_to_string(workshop.site().join(path)).unwrap_or_default()
}

fn write_file(workshop: &Workshop, path: &str, text: &str) {
    let path = workshop.site().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn todo(workshop: &Workshop, more: &[&str]) -> Vec<Value> {
    let output = workshop.run(&[&["questions", "todo", "book", "--jsonl"], more].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn places(sections: &[Value]) -> Vec<String> {
    sections
        .iter()
        .map(|it| {
            format!(
                "{}#{}",
                it["source"].as_str().unwrap(),
                it["anchor"].as_str().unwrap()
            )
        })
        .collect()
}

fn import(workshop: &Workshop, lines: &str) -> Output {
    let mut command = workshop.command(&["questions", "import", "book", "-", "--json"]);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(lines.as_bytes())
        .unwrap();
    child.wait_with_output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn what_todo_lists_is_written_by_import_and_listed_no_more() {
    let workshop = workshop();
    let listed = todo(&workshop, &[]);
    assert_eq!(
        places(&listed),
        ["docs/probe.md#", "docs/probe.md#storage", "docs/wheels.md#"],
        "a heading without text needs no questions"
    );
    assert_eq!(listed[1]["breadcrumb"], json!(["Probe", "Storage"]));
    assert_eq!(listed[1]["state"], "missing");
    assert!(listed[1]["text"].as_str().unwrap().contains("Keep it dry"));
    assert_eq!(
        places(&todo(&workshop, &["--pages", "docs/w*"])),
        ["docs/wheels.md#"]
    );
    assert_eq!(todo(&workshop, &["--limit", "1"]).len(), 1);

    write_file(&workshop, PROBE, "// mine\n#storage\nfrost damage\n");
    let mut lines = String::new();
    for section in &listed {
        let mut line = section.clone();
        line["questions"] = json!([format!("asks for {}", section["anchor"]), "frost damage"]);
        lines.push_str(&format!("{line}\n\n"));
    }
    let imported = import(&workshop, &lines);
    assert_eq!(imported.status.code(), Some(0), "{imported:?}");
    let report: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!(
        (&report["files"], &report["questions"]),
        (&json!(2), &json!(5))
    );
    let hash = listed[1]["text_hash"].as_str().unwrap();
    let section = format!("// mine\n#storage {hash}\nfrost damage\nasks for \"storage\"\n");
    assert!(
        file(&workshop, PROBE).starts_with(&section),
        "{}",
        file(&workshop, PROBE)
    );
    assert!(todo(&workshop, &[]).is_empty());
    assert_eq!(todo(&workshop, &["--all"]).len(), 3);
    let before = file(&workshop, PROBE);
    import(&workshop, &lines);
    assert_eq!(
        file(&workshop, PROBE),
        before,
        "the same lines change nothing"
    );

    let page = file(&workshop, "docs/probe.md");
    workshop.write("docs/probe.md", &page.replace("in winter", "in spring"));
    let stale = todo(&workshop, &[]);
    assert_eq!(places(&stale), ["docs/probe.md#storage"]);
    assert_eq!(stale[0]["state"], "stale");
    assert_eq!(stale[0]["questions"][0], "frost damage");
}

#[test]
fn import_names_the_line_of_each_mistake_and_writes_the_rest() {
    let workshop = workshop();
    let long = "x".repeat(2_000);
    let lines = [
        json!({"source": "docs/wheels.md", "anchor": "", "questions": ["loose wheel", long]})
            .to_string(),
        "{\"source\": \"docs/wheels.md\"".to_owned(),
        json!({"source": "docs/none.md", "anchor": "", "questions": ["a"]}).to_string(),
        json!({"source": "../../etc/passwd", "anchor": "", "questions": ["a"]}).to_string(),
        json!({"source": "docs/probe.md", "anchor": "sails", "questions": ["a"]}).to_string(),
        json!({"source": "docs/probe.md", "questions": ["a"]}).to_string(),
    ];
    let imported = import(&workshop, &lines.join("\n"));
    assert_eq!(imported.status.code(), Some(3));
    let told = stderr(&imported);
    for expected in [
        "line 1: this question has 2000 characters",
        "line 2: expected",
        "line 3: the site has no page `docs/none.md`",
        "line 4: the site has no page `../../etc/passwd`",
        "line 5: docs/probe.md has no section `#sails`",
        "line 6: expected",
    ] {
        assert!(told.contains(expected), "{expected}: {told}");
    }
    let report: Value = serde_json::from_slice(&imported.stdout).unwrap();
    assert_eq!(report["problems"].as_array().unwrap().len(), 6);
    assert!(file(&workshop, WHEELS).ends_with("\nloose wheel\n"));
    assert!(!workshop.site().join(PROBE).exists());
    let missing = workshop.run(&["questions", "import", "book", "none.jsonl"]);
    assert_eq!(missing.status.code(), Some(1));
    let bucket = workshop.run(&["questions", "add", "s3://books/book", "docs/a.md", "a"]);
    assert_ne!(bucket.status.code(), Some(0));
}

#[test]
fn a_file_with_a_line_that_would_be_lost_is_not_changed() {
    let workshop = workshop();
    let text = "lost before a section\n#\nloose wheel\n";
    write_file(&workshop, WHEELS, text);
    let added = workshop.run(&["questions", "add", "book", "docs/wheels.md", "wobbles"]);
    assert_eq!(added.status.code(), Some(1));
    assert!(
        stderr(&added).contains(&format!("{WHEELS}, line 1: ")),
        "{added:?}"
    );
    assert_eq!(file(&workshop, WHEELS), text);
    write_file(&workshop, WHEELS, "");
    fs::write(workshop.site().join(WHEELS), b"#\n\xff\n").unwrap();
    let added = workshop.run(&["questions", "add", "book", "docs/wheels.md", "wobbles"]);
    assert!(stderr(&added).contains("UTF-8"), "{added:?}");
}

#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link_out_of_the_site() {
    let workshop = workshop();
    let outside = workshop.path().join("outside");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, workshop.site().join("bookrag.questions")).unwrap();
    let added = workshop.run(&["questions", "add", "book", "docs/wheels.md", "wobbles"]);
    assert_eq!(added.status.code(), Some(1));
    assert!(stderr(&added).contains("link out of the site"), "{added:?}");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[test]
fn add_finds_the_page_by_its_file_and_its_url() {
    let workshop = workshop();
    for (page, question) in [
        ("docs/probe.md#storage", "frost"),
        ("/docs/probe#storage", "ice"),
        ("https://book.example/docs/probe/?q=1#storage", "-5 degrees"),
    ] {
        let added = workshop.run(&["questions", "add", "book", page, question]);
        assert_eq!(added.status.code(), Some(0), "{added:?}");
    }
    assert!(file(&workshop, PROBE).ends_with("\nfrost\nice\n-5 degrees\n"));
    let again = workshop.json(&["questions", "add", "book", "docs/probe.md#storage", "ice"]);
    assert_eq!(again["added"], false);
    for (page, expected) in [
        ("docs/none.md", "the site has no page `docs/none.md`"),
        ("docs/probe.md#sails", "it has #storage, #parts"),
    ] {
        let refused = workshop.run(&["questions", "add", "book", page, "a"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(expected), "{refused:?}");
    }
    let empty = workshop.run(&["questions", "add", "book", "docs/wheels.md", "?!"]);
    assert_eq!(empty.status.code(), Some(2));
}

#[test]
fn check_reports_what_does_not_lead_to_its_section_and_doctor_counts() {
    let workshop = workshop();
    write_file(
        &workshop,
        PROBE,
        "#\nsensor shows nonsense\nThe Probe?\n#storage 0123\nwobbly cart\n#sails\nhoist\n",
    );
    write_file(&workshop, WHEELS, "#\nwobbly cart\n");
    write_file(
        &workshop,
        "bookrag.questions/docs/gone.md.txt",
        "#\nwhere?\n",
    );
    let checked = workshop.json(&["questions", "check", "book"]);
    assert_eq!(
        (&checked["questions"], &checked["files"]),
        (&json!(4), &json!(3))
    );
    assert_eq!(
        (&checked["sections"], &checked["with_questions"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(checked["found_share"], 1.0, "{checked}");
    assert_eq!(checked["says_heading"][0]["question"], "The Probe?");
    assert_eq!(
        checked["duplicates"],
        json!([{"question": "wobbly cart", "sections": ["docs/probe.md#storage", "docs/wheels.md"]}])
    );
    assert_eq!(checked["stale"], json!(["docs/probe.md#storage"]));
    assert_eq!(
        checked["unknown_pages"],
        json!(["bookrag.questions/docs/gone.md.txt"])
    );
    assert_eq!(checked["unknown_sections"].as_array().unwrap().len(), 1);
    let passed = workshop.run(&["questions", "check", "book", "--min", "1"]);
    assert_eq!(passed.status.code(), Some(0), "{passed:?}");
    let doctor = workshop.json(&["doctor", "book"]);
    assert_eq!(doctor["questions"]["with_questions"], 3);
    assert_eq!(
        doctor["questions"]["unknown_pages"],
        checked["unknown_pages"]
    );
    fs::remove_dir_all(workshop.site().join("bookrag.questions")).unwrap();
    let none = workshop.run(&["questions", "check", "book", "--min", "0.5"]);
    assert_eq!(none.status.code(), Some(1));
}

#[test]
fn a_watched_file_of_questions_updates_its_page() {
    let workshop = workshop();
    let server = workshop.serve(&["--watch"]);
    let asked = "/api/v1/search?q=purple+dragon+sneezes";
    write_file(&workshop, WHEELS, "#\npurple dragon sneezes\n");
    server.wait_for(asked, |found| is_asked(found, "/docs/wheels"));
    fs::remove_file(workshop.site().join(WHEELS)).unwrap();
    write_file(&workshop, PROBE, "#storage\npurple dragon sneezes\n");
    server.wait_for(asked, |found| {
        is_asked(found, "/docs/probe#storage") && !is_asked(found, "/docs/wheels")
    });
}

/// True if the section at this URL has a question.
fn is_asked(found: &Value, url: &str) -> bool {
    let results = found["data"]["results"].as_array().into_iter().flatten();
    let mut sections = results.filter(|result| result["url"] == url);
    sections.any(|result| result["scores"]["question"].is_number())
}
