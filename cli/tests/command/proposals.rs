//! The questions of sections, as readers get them: proposed, found while typing, and after an answer.

use serde_json::{Value, json};

use crate::client::client;
use crate::support::{Server, Workshop};

/// Markup in a question is text, which whoever shows it has to show as text.
const HOSTILE: &str = "Is <img src=x onerror=alert(1)> **bold** or [a link](javascript:alert(1))?";

fn workshop() -> Workshop {
    let workshop = Workshop::small();
    workshop.write(
        "docs/cables.md",
        "# Cables\n\nThey carry power to the probe.\n\n## Cutting\n\nCut the yellow cable last, with the pliers.\n\n## Storing\n\nStore a cable coiled and dry.\n",
    );
    workshop.write(
        "bookrag.questions/docs/cables.md.txt",
        &format!("#\n{HOSTILE}\n\n#cutting\nWhich cable is cut last?\n\n#storing\nHow do I store a cable?\n"),
    );
    workshop.write("docs/a.md", "# Arms\n\nAn arm lifts four kilograms.\n");
    workshop.write(
        "bookrag.questions/docs/a.md.txt",
        "#\nHow much does an arm lift?\nWhat is an arm?\n",
    );
    workshop
}

fn proposed(server: &Server, query: &str) -> Vec<String> {
    let (status, body) = server.get(&format!("/api/v1/questions?{query}"));
    assert_eq!(status, 200, "{body}");
    let body: Value = serde_json::from_str(&body).unwrap();
    let questions = body["data"]["questions"].as_array().unwrap().iter();
    questions
        .map(|it| it["question"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_open_pages_questions_are_proposed_before_those_of_the_first_pages() {
    let workshop = workshop();
    let server = workshop.serve(&[]);
    let (cut, store) = ("Which cable is cut last?", "How do I store a cable?");
    let (lift, what) = ("How much does an arm lift?", "What is an arm?");
    assert_eq!(proposed(&server, ""), [lift, HOSTILE, what, cut]);
    assert_eq!(proposed(&server, "limit=1"), [lift]);
    for page in [
        "/docs/cables",
        "https://garden.example/docs/cables/%23cutting",
    ] {
        let questions = proposed(&server, &format!("page_url={page}"));
        assert_eq!(questions, [HOSTILE, cut, store, lift], "{page}");
    }
    assert_eq!(
        proposed(&server, "page_url=/docs/none&limit=2"),
        [lift, HOSTILE]
    );
    assert_eq!(proposed(&server, "locale=ur"), [""; 0]);
    assert_eq!(proposed(&server, "version=9.9"), [""; 0]);
    let (status, body) = server.get("/api/v1/questions?limit=11");
    assert_eq!(status, 400, "{body}");

    let (_, body) = server.get("/api/v1/questions?page_url=/docs/cables&limit=2");
    let body: Value = serde_json::from_str(&body).unwrap();
    let expected = json!({"question": cut, "title": "Cables", "section": "Cutting", "url": "/docs/cables#cutting"});
    assert_eq!(body["data"]["questions"][1], expected);
}

#[test]
fn a_result_has_the_questions_of_its_section_and_an_answer_those_of_the_next_ones() {
    let workshop = workshop();
    let server = workshop.serve(&[]);
    let (_, body) = server.get("/api/v1/search?q=yellow%20pliers");
    let body: Value = serde_json::from_str(&body).unwrap();
    let results = body["data"]["results"].as_array().unwrap();
    let of = |url: &str| results.iter().find(|result| result["url"] == url);
    assert_eq!(
        of("/docs/cables#cutting").unwrap()["questions"],
        json!(["Which cable is cut last?"])
    );
    for result in results {
        assert_ne!(result["questions"], json!([]), "an empty list is omitted");
    }

    let ask = |query: &str| -> Value {
        let request = client().post(format!("{}/api/v1/chat", server.url));
        let response = request.json(&json!({"query": query})).send().unwrap();
        response.json().unwrap()
    };
    let body = ask("Which cable is cut last?");
    assert_eq!(body["data"]["outcome"], "answered", "{body}");
    assert_eq!(
        body["data"]["follow_ups"],
        json!(["How do I store a cable?", HOSTILE]),
        "{body}"
    );
    let body = ask("Who won the chess championship in Reykjavik in 1972?");
    assert_eq!(body["data"]["follow_ups"], json!([]), "{body}");
}
