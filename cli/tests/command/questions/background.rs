//! Questions that a chat model writes while `serve` runs, with a scripted model.

use std::time::Duration;

use bookrag_tests::chat_model::Reply;
use serde_json::Value;

use super::written::{Scripted, by_section};
use super::{PROBE, WHEELS, file, is_asked, todo, workshop, write_file};
use crate::support::{POLL, Server, Workshop};

const STORAGE: &str = "/api/v1/search?q=Probe+Storage+broken";
const WHEELS_ASKED: &str = "/api/v1/search?q=How+do+I+use+Wheels";

/// Starts `serve` with the model, and with more variables.
fn serve(workshop: &Workshop, scripted: &Scripted, more: &[(&str, &str)]) -> Server {
    let mut variables = scripted.model.environment();
    variables.retain(|(name, _)| *name != "BOOKRAG_QUESTIONS_BUDGET");
    let variables = variables
        .iter()
        .map(|(name, value)| (*name, value.as_str()));
    let variables: Vec<(&str, &str)> = variables.chain(more.iter().copied()).collect();
    workshop.serve_with(&variables, &["--watch"])
}

fn export(workshop: &Workshop) -> Value {
    workshop.json(&["questions", "export", "book"])
}

#[test]
fn serve_has_them_written_and_export_puts_them_into_files() {
    let workshop = workshop();
    write_file(&workshop, WHEELS, "#\nloose wheel\n");
    let limited = Reply::Status(429, Some(Duration::from_secs(1)), "rate_limit_exceeded");
    let scripted = Scripted::new(Reply::times(1, limited, Reply::function(by_section)));
    let server = serve(&workshop, &scripted, &[]);
    server.wait_for(STORAGE, |found| is_asked(found, "/docs/probe#storage"));
    assert_eq!(scripted.model.requests().len(), 3, "one was limited");
    assert!(!workshop.site().join(PROBE).exists());
    let doctor = workshop.json(&["doctor", "book"]);
    assert_eq!(doctor["questions"]["from_catalog"], 2, "{doctor}");
    assert_eq!(doctor["index"]["status"]["pending"], serde_json::json!([]));

    // An edit is written for as well, and what is known is not asked for again.
    let page = file(&workshop, "docs/probe.md");
    workshop.write(
        "docs/probe.md",
        &format!("{page}\n## Frost\n\nIt breaks.\n"),
    );
    let frost = "/api/v1/search?q=Probe+Frost+broken";
    server.wait_for(frost, |found| is_asked(found, "/docs/probe#frost"));
    assert_eq!(scripted.model.requests().len(), 4);

    write_file(&workshop, PROBE, "#storage\nmine\n");
    let exported = export(&workshop);
    assert_eq!(
        (&exported["files"], &exported["sections"]),
        (&1.into(), &2.into())
    );
    let text = file(&workshop, PROBE);
    assert!(
        text.contains("mine") && !text.contains("Storage broken"),
        "{text}"
    );
    assert!(text.contains("Probe › Frost broken"), "{text}");
    assert_eq!(
        text.matches("// written by scripted [").count(),
        2,
        "{text}"
    );
    assert!(
        !text.contains("script>") && !text.contains("evil"),
        "{text}"
    );
    assert_eq!(file(&workshop, WHEELS), "#\nloose wheel\n");
    assert_eq!(export(&workshop)["sections"], 0);
    assert!(todo(&workshop, &[]).is_empty());
    let doctor = workshop.json(&["doctor", "book"]);
    assert_eq!(doctor["questions"]["from_catalog"], 0, "the files win");
}

#[test]
fn a_killed_serve_goes_on_and_a_budget_of_zero_writes_nothing() {
    let workshop = workshop();
    let script = Reply::times(2, Reply::function(by_section), Reply::Hangs);
    let scripted = Scripted::new(script);
    let server = serve(&workshop, &scripted, &[]);
    server.wait_for(STORAGE, |found| is_asked(found, "/docs/probe#storage"));
    while scripted.model.requests().len() < 3 {
        std::thread::sleep(POLL);
    }
    server.kill();
    scripted.model.tell(Reply::function(by_section));
    let off = serve(&workshop, &scripted, &[("BOOKRAG_QUESTIONS_BUDGET", "0")]);
    off.wait_for(STORAGE, |found| is_asked(found, "/docs/probe#storage"));
    off.kill();
    assert_eq!(scripted.model.requests().len(), 3);
    let priced = [
        ("BOOKRAG_CHAT_PRICE", "1/1"),
        ("BOOKRAG_QUESTIONS_BUDGET", "0.5"),
    ];
    let server = serve(&workshop, &scripted, &priced);
    server.wait_for(WHEELS_ASKED, |found| is_asked(found, "/docs/wheels"));
    assert_eq!(scripted.model.requests().len(), 4);
}
