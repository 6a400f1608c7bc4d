//! Questions that readers were not helped with, as tasks.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::support::Workshop;

const REFUSED: [&str; 2] = [
    "Who won the chess championship in Reykjavik?",
    "who was the winner of the Reykjavik chess championship",
];
const DISLIKED: &str = "Why doesn't the probe's calibration hold?";

#[test]
fn gaps_become_tasks_whose_commands_work() {
    let workshop = Workshop::small();
    let data = workshop.data().display().to_string();
    let data = ("BOOKRAG_DATA", data.as_str());
    {
        let server = workshop.serve_with(&[data], &[]);
        let mut last = None;
        for question in [REFUSED[0], REFUSED[1], DISLIKED] {
            let (status, answer) = server.post("/api/v1/chat", &json!({"query": question}));
            assert_eq!(status, 200, "{answer}");
            last = Some(answer["data"]["message_id"].clone());
        }
        let rating = json!({"message_id": last, "rating": "down"});
        let (status, stored) = server.post("/api/v1/feedback", &rating);
        assert_eq!(status, 200, "{stored}");
    }
    let mut command = workshop.command(&["insights", "--site", "book", "--gaps", "gaps.md"]);
    let output = command.env(data.0, data.1).output().unwrap();
    assert!(
        output.status.success() && output.stdout.is_empty(),
        "{output:?}"
    );
    let gaps = fs::read_to_string(workshop.path().join("gaps.md")).unwrap();
    for expected in [
        "2 tasks from 3 questions",
        "Asked 2 times",
        "The book does not say.",
        "1 rated as not helpful",
        "`docs/probe.md` lines 1–3",
    ] {
        assert!(gaps.contains(expected), "{expected}\n{gaps}");
    }
    for question in REFUSED {
        assert!(gaps.contains(&format!("\n{question}\n")), "{gaps}");
    }

    let pasted: Vec<&str> = gaps
        .lines()
        .filter(|line| line.starts_with("bookrag questions add"))
        .collect();
    assert_eq!(pasted.len(), 1, "{gaps}");
    let program = Path::new(env!("CARGO_BIN_EXE_bookrag"));
    let path = std::env::var("PATH").unwrap();
    let added = Command::new("sh")
        .args(["-c", pasted[0]])
        .env(
            "PATH",
            format!("{}:{path}", program.parent().unwrap().display()),
        )
        .current_dir(workshop.path())
        .output()
        .unwrap();
    assert!(added.status.success(), "{added:?}");
    let file = workshop.site().join("bookrag.questions/docs/probe.md.txt");
    assert!(fs::read_to_string(file).unwrap().contains(DISLIKED));
}
