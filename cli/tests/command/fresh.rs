//! Answers say when the index was made, and from which commit.

use std::fs;

use serde_json::Value;

use crate::built::git;
use crate::support::Workshop;

/// The commit that is checked out.
fn head(workshop: &Workshop) -> String {
    let file = workshop.site().join(".git/refs/heads/main");
    let hash = fs::read_to_string(file).unwrap();
    hash[..7].to_owned()
}

fn commit(workshop: &Workshop) -> String {
    git(workshop, &["add", "docs", "docusaurus.config.js"]);
    git(workshop, &["commit", "--quiet", "-m", "a change"]);
    head(workshop)
}

#[test]
fn answers_results_and_exports_name_the_commit_they_are_from() {
    let workshop = Workshop::small();
    let answer = |question: &str| workshop.json(&["ask", question]);
    workshop.sync();
    let unknown = answer("How do I tighten the wheels?");
    assert_eq!(unknown["meta"]["index"]["commit"], Value::Null, "{unknown}");
    let first = unknown["meta"]["index"]["updated_at"].clone();
    assert!(first.as_str().unwrap().ends_with('Z'), "{unknown}");

    git(&workshop, &["init", "--quiet", "-b", "main"]);
    let hash = commit(&workshop);
    workshop.sync();
    let server = workshop.serve(&[]);
    let query = serde_json::json!({"query": "How do I tighten the wheels?"});
    let (_, answered) = server.post("/api/v1/chat", &query);
    let index = &answered["meta"]["index"];
    assert_eq!(index["commit"], hash.as_str(), "{answered}");
    assert!(index["updated_at"].as_str() >= first.as_str(), "{index}");
    let (_, found) = server.post("/api/v1/search", &query);
    assert_eq!(found["meta"]["index"]["commit"], hash.as_str(), "{found}");
    let (_, page) = server.get("/api/v1/page?url=/docs/wheels");
    assert!(page.contains(&hash), "{page}");
    let list = server.get("/llms.txt").1;
    let made = format!("Z from commit {hash}.\n");
    assert!(
        list.contains("\n> Made at 20") && list.contains(&made),
        "{list}"
    );

    fs::create_dir(workshop.path().join("build")).unwrap();
    let export = || {
        let exported = workshop.json(&["export", "book", "--out", "build"]);
        let text = fs::read_to_string(workshop.path().join("build/docs/wheels.md")).unwrap();
        (exported["written"].as_u64(), text)
    };
    let (_, text) = export();
    assert!(
        text.contains(&format!("Z from commit {hash}.\n\n")),
        "{text}"
    );
    // A page with the same text keeps what it was made from.
    workshop.write("docs/probe.md", "# Probe\n\nIt is new.\n");
    let next = commit(&workshop);
    let (written, same) = export();
    assert_eq!((written, same), (Some(3), text), "the page and the lists");
    assert_ne!(next, hash);
}
