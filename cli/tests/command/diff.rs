//! `bookrag diff` in a git repository.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

use super::support::Workshop;

/// A workshop whose site is a folder of a git repository with one commit.
fn repository() -> Workshop {
    let workshop = Workshop::small();
    workshop.write(
        "questions.txt",
        "How do I tighten the wheels?\nDoes the probe need calibration?\n",
    );
    git(&workshop, &["init", "--quiet", "-b", "main"]);
    commit(&workshop);
    workshop
}

fn git(workshop: &Workshop, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]);
    let output = command
        .args(arguments)
        .current_dir(workshop.path())
        .output();
    assert!(output.unwrap().status.success(), "{arguments:?}");
}

fn commit(workshop: &Workshop) {
    git(workshop, &["add", "book"]);
    git(workshop, &["commit", "--quiet", "-m", "a change"]);
}

fn diff(workshop: &Workshop, more: &[&str]) -> Output {
    let mut command = workshop.command(&["diff"]);
    command.args(more).env("BOOKRAG_DATA", workshop.data());
    command.current_dir(workshop.site()).output().unwrap()
}

fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn a_lost_answer_is_named_and_ends_the_command_with_one() {
    let workshop = repository();
    let asked = ["--questions", "questions.txt"];
    let same = diff(&workshop, &asked);
    assert_eq!(same.status.code(), Some(0), "{same:?}");

    workshop.write(
        "docs/probe.md",
        "# Probe\n\nThe soil moisture probe\nneeds  calibration.\n",
    );
    commit(&workshop);
    fs::remove_file(workshop.site().join("docs/wheels.md")).unwrap();
    let reflowed = diff(
        &workshop,
        &[&asked[..], &["HEAD^..HEAD", "--json"]].concat(),
    );
    assert_eq!(reflowed.status.code(), Some(0), "{reflowed:?}");
    assert_eq!(parsed(&reflowed)["counts"]["unchanged"], 2);

    let lost = diff(&workshop, &[&asked[..], &["--json"]].concat());
    assert_eq!(lost.status.code(), Some(1), "{lost:?}");
    let lost = parsed(&lost);
    assert_eq!(
        lost["changes"][0]["question"],
        "How do I tighten the wheels?"
    );
    assert_eq!(lost["changes"][0]["change"], "no_longer_answered");
    assert_eq!(lost["vanished"][0]["url"], "/docs/wheels");
    assert_eq!(lost["head"]["commit"], json!(null));
    let markdown = diff(&workshop, &[&asked[..], &["main..", "--markdown"]].concat());
    let markdown = String::from_utf8_lossy(&markdown.stdout).into_owned();
    assert!(
        markdown.starts_with("<!-- bookrag diff -->\n"),
        "{markdown}"
    );
    assert!(markdown.contains("No longer answered (1)"), "{markdown}");

    // The comparison writes nothing into the site's own stores.
    assert!(!workshop.stores().exists());
}

#[test]
fn an_impossible_comparison_is_reported_with_advice() {
    let workshop = repository();
    let told = |arguments: &[&str], code: i32, expected: &str| {
        let output = diff(&workshop, arguments);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(told.contains(expected), "{told}");
    };
    told(&[], 2, "--questions FILE");
    let asked = |range| ["--questions", "questions.txt", range];
    told(
        &asked("none..HEAD"),
        2,
        "the revision `none` does not exist",
    );
    told(&asked("..HEAD"), 2, "BASE..HEAD");
    told(&["--questions", "none.txt"], 1, "none.txt");
    told(
        &["--site", "s3://books/garden"],
        2,
        "folder in a git repository",
    );
}

#[test]
fn stored_questions_are_asked_again_and_uncovered_ones_listed_with_advice() {
    let workshop = repository();
    let data = workshop.data().display().to_string();
    let data = ("BOOKRAG_DATA", data.as_str());
    let covered = "Does the probe need calibration?";
    let not_covered = "Who won the chess championship in Reykjavik?";
    let insights = || {
        let mut command = workshop.command(&["insights", "--site", "book", "--json"]);
        parsed(&command.env(data.0, data.1).output().unwrap())
    };
    let ask = |variables: &[(&str, &str)], questions: &[&str]| {
        let server = workshop.serve_with(&[&[data], variables].concat(), &[]);
        for question in questions {
            let (status, answer) = server.post("/api/v1/chat", &json!({"query": question}));
            assert_eq!(status, 200, "{answer}");
        }
    };
    ask(&[("BOOKRAG_STORE_QUESTIONS", "false")], &[not_covered]);
    assert_eq!(insights()["subjects"], json!([]), "only its hash is stored");
    // Only this machine can reach the server.
    ask(&[], &[covered, not_covered]);
    let insights = insights();
    let subject = &insights["subjects"][0];
    assert_eq!(subject["questions"], json!([not_covered]), "{insights}");
    let line: Value = serde_json::from_str(subject["line"].as_str().unwrap()).unwrap();
    assert_eq!(line["query"], not_covered);
    assert_eq!(line["source"], subject["nearest"]["source"]);

    let mut command = workshop.command(&["insights", "--site", "book", "--html", "report.html"]);
    let output = command.env(data.0, data.1).output().unwrap();
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    let page = fs::read_to_string(workshop.path().join("report.html")).unwrap();
    for text in [covered, not_covered, "<h2>To write about, by subject</h2>"] {
        assert!(page.contains(text), "{page}");
    }

    fs::remove_file(workshop.site().join("docs/probe.md")).unwrap();
    let lost = parsed(&diff(&workshop, &["--json"]));
    assert_eq!(lost["questions"], 2, "{lost}");
    assert_eq!(lost["changes"][0]["question"], covered);
}

#[test]
fn a_missing_object_is_not_fetched_and_its_page_is_named() {
    let workshop = repository();
    let sentinel = workshop.path().join("fetched");
    let fetching = format!("ext::/usr/bin/touch {}", sentinel.display());
    for [name, value] in [
        ["core.repositoryformatversion", "1"],
        ["extensions.partialClone", "origin"],
        ["remote.origin.promisor", "true"],
        ["remote.origin.url", &fetching],
        ["protocol.ext.allow", "always"],
    ] {
        git(&workshop, &["config", name, value]);
    }
    let revision = ["rev-parse", "HEAD:book/docs/wheels.md"];
    let hash = Command::new("git")
        .args(revision)
        .current_dir(workshop.path())
        .output()
        .unwrap();
    let hash = String::from_utf8(hash.stdout).unwrap();
    let (folder, file) = hash.trim().split_at(2);
    let objects = workshop.path().join(".git/objects");
    fs::remove_file(objects.join(folder).join(file)).unwrap();

    let output = diff(
        &workshop,
        &["--questions", "questions.txt", "--json", "HEAD"],
    );
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let compared = parsed(&output);
    assert_eq!(compared["unread_before"][0]["source"], "docs/wheels.md");
    let reason = compared["unread_before"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("fetch it first"), "{reason}");
    assert!(!sentinel.exists(), "the repository's command ran");
}
