//! `bookrag questions write`, with a scripted chat model.

use std::process::{Command, Output};
use std::time::Duration;

use bookrag_tests::chat_model::{ChatModel, Reply};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::{PROBE, WHEELS, file, stderr, todo, workshop, write_file};
use crate::support::{POLL, Workshop};

/// A model with the runtime that it runs in.
pub(super) struct Scripted {
    pub(super) model: ChatModel,
    _runtime: Runtime,
}

impl Scripted {
    pub(super) fn new(script: Reply) -> Self {
        let runtime = Runtime::new().unwrap();
        let model = runtime.block_on(ChatModel::start(script));
        Self {
            model,
            _runtime: runtime,
        }
    }

    fn command(&self, workshop: &Workshop, more: &[&str]) -> Command {
        let mut command =
            workshop.command(&[&["questions", "write", "book", "--json"], more].concat());
        command
            .envs(self.model.environment())
            .env("BOOKRAG_CHAT_PRICE", "1000/1000");
        command
    }

    fn run(&self, workshop: &Workshop, more: &[&str]) -> Output {
        self.command(workshop, more).output().unwrap()
    }
}

/// Answers about the section that the prompt has.
pub(super) fn by_section(request: &Value) -> Reply {
    let prompt = request["messages"][1]["content"].as_str().unwrap();
    let about = prompt.lines().nth(1).unwrap();
    Reply::text([
        "1. How do I ",
        &format!("use {about}?\n- \"{about} broken\"\n<script>alert(1)</script>\n"),
        "https://evil.example/?q=1\n\nHow do I use it?",
    ])
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn it_says_what_it_costs_asks_and_writes_plain_lines() {
    let workshop = workshop();
    let scripted = Scripted::new(Reply::function(by_section));
    let planned = json_of(&scripted.run(&workshop, &["--dry-run"]));
    assert_eq!(
        (&planned["sections"], &planned["pages"]),
        (&json!(3), &json!(2))
    );
    assert!(planned["usd"].as_f64().unwrap() > 0.1, "{planned}");
    let unasked = scripted.run(&workshop, &[]);
    assert_eq!(unasked.status.code(), Some(2), "{unasked:?}");
    assert!(String::from_utf8_lossy(&unasked.stdout).contains("--yes"));
    assert!(scripted.model.requests().is_empty());

    let written = scripted.run(&workshop, &["--yes"]);
    assert_eq!(written.status.code(), Some(0), "{written:?}");
    let report = json_of(&written);
    assert_eq!(
        (&report["sections"], &report["questions"]),
        (&json!(3), &json!(9))
    );
    let text = file(&workshop, PROBE);
    assert!(
        text.contains(
            "\nHow do I use Probe › Storage?\nProbe › Storage broken\nHow do I use it?\n"
        ),
        "{text}"
    );
    assert!(text.contains("// written by scripted ["), "{text}");
    assert!(
        !text.contains("script>") && !text.contains("evil"),
        "{text}"
    );
    assert!(todo(&workshop, &[]).is_empty());
    let requests = scripted.model.requests().len();
    scripted.run(&workshop, &["--yes"]);
    assert_eq!(
        scripted.model.requests().len(),
        requests,
        "nothing is left to write"
    );
}

#[test]
fn stale_questions_of_the_model_are_replaced_and_those_of_people_are_kept() {
    let workshop = workshop();
    let scripted = Scripted::new(Reply::function(by_section));
    scripted.run(&workshop, &["--yes"]);
    write_file(&workshop, WHEELS, &(file(&workshop, WHEELS) + "by hand\n"));
    for page in ["docs/probe.md", "docs/wheels.md"] {
        let text = file(&workshop, page)
            .replace("# ", "# New ")
            .replace("needs", "wants");
        workshop.write(page, &text);
    }
    let changed = scripted.run(&workshop, &["--yes"]);
    assert_eq!(changed.status.code(), Some(0), "{changed:?}");
    let (probe, wheels) = (file(&workshop, PROBE), file(&workshop, WHEELS));
    assert!(
        probe.contains("use New Probe?") && !probe.contains("use Probe?"),
        "{probe}"
    );
    for question in ["use Wheels?", "use New Wheels?", "by hand"] {
        assert!(wheels.contains(question), "{wheels}");
    }
}

#[test]
fn a_limit_is_waited_for_and_nonsense_is_left_for_the_next_run() {
    let workshop = workshop();
    let limited = Reply::Status(429, Some(Duration::from_secs(1)), "rate_limit_exceeded");
    let nonsense = Reply::text(["I'm sorry, but I can't help with that.\n---\n"]);
    let scripted = Scripted::new(Reply::times(
        2,
        limited,
        Reply::times(1, nonsense, Reply::function(by_section)),
    ));
    let written = scripted.run(&workshop, &["--yes", "--parallel", "1"]);
    assert_eq!(written.status.code(), Some(3), "{written:?}");
    assert!(stderr(&written).contains("waiting 1 s"), "{written:?}");
    let report = json_of(&written);
    assert_eq!(report["failed"][0]["section"], "docs/probe.md");
    assert_eq!(
        (&report["sections"], &report["left"]),
        (&json!(2), &json!(0))
    );
    assert_eq!(todo(&workshop, &[]).len(), 1);
}

#[test]
fn a_refused_key_and_a_spent_budget_end_the_run() {
    let workshop = workshop();
    let scripted = Scripted::new(Reply::function(by_section));
    let refused = scripted
        .command(&workshop, &["--yes"])
        .env("OPENAI_API_KEY", "wrong")
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(
        stderr(&refused).contains("refused: 127.0.0.1 answered 401"),
        "{refused:?}"
    );
    assert!(!workshop.site().join(PROBE).exists());
    let poor = scripted.run(&workshop, &["--yes", "--budget", "0"]);
    assert_eq!(poor.status.code(), Some(3));
    assert_eq!(json_of(&poor)["left"], 3);
    let unknown = scripted
        .command(&workshop, &["--yes", "--budget", "1"])
        .env_remove("BOOKRAG_CHAT_PRICE")
        .output()
        .unwrap();
    assert_eq!(unknown.status.code(), Some(2));
    let none = workshop.run(&["questions", "write", "book", "--yes"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(stderr(&none).contains("BOOKRAG_GENERATOR"), "{none:?}");
}

#[test]
fn a_killed_run_keeps_its_finished_pages_and_the_next_continues() {
    let workshop = workshop();
    let script = Reply::times(2, Reply::function(by_section), Reply::Hangs);
    let scripted = Scripted::new(script);
    let mut command = scripted.command(&workshop, &["--yes", "--parallel", "1"]);
    let mut child = command.spawn().unwrap();
    // The third request is for the second page, and is sent after the first page is written, or while it is.
    while scripted.model.requests().len() < 3 || !workshop.site().join(PROBE).exists() {
        assert_eq!(child.try_wait().unwrap(), None, "it waits for the model");
        std::thread::sleep(POLL);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!workshop.site().join(WHEELS).exists());
    assert_eq!(todo(&workshop, &[]).len(), 1);
    scripted.model.tell(Reply::function(by_section));
    let written = scripted.run(&workshop, &["--yes"]);
    assert_eq!(json_of(&written)["sections"], 1, "{written:?}");
    assert!(todo(&workshop, &[]).is_empty());
}
