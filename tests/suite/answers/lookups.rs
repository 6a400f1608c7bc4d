//! Models that look something up before they write: well, badly, endlessly, and with hostile arguments.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, Service, degraded, text_of};

/// A page that the first question does not find, because the model is given few passages.
const COMPOST: &str = "Compost feeds the soil: spread three centimetres of compost every spring.";
const ANSWER: &str = "Spread three centimetres of compost every spring [2].";

/// Serves the book with a model that is given one passage, and may look up two things.
async fn service(database: &str, script: Reply) -> Service {
    let variables = [("BOOKRAG_LOOKUPS", "2"), ("BOOKRAG_PASSAGE_TOKENS", "1")];
    Service::start(database, script, &variables).await
}

fn search(query: &str) -> (&'static str, String) {
    ("search", json!({"query": query}).to_string())
}

/// The subjects of a stream's look-ups.
fn subjects(events: &[(String, Value)]) -> Vec<&str> {
    let progress = events.iter().filter(|(name, _)| name == "progress");
    progress
        .filter_map(|(_, data)| data["subject"].as_str())
        .collect()
}

fn results(request: &Value) -> Vec<&str> {
    let messages = request["messages"].as_array().unwrap().iter();
    let results = messages.filter(|message| message["role"] == "tool");
    results
        .map(|message| message["content"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_model_that_searches_again_answers_from_what_it_found() {
    let script = Reply::times(
        1,
        Reply::Calls("I will look.", vec![search("compost")]),
        Reply::text([ANSWER]),
    );
    let service = service("lookups_search", script).await;
    let events = service.stream(json!({"query": COVERED})).await;
    assert_eq!(subjects(&events), ["compost"]);
    assert_eq!(text_of(&events), ANSWER.replace("[2]", "[1]"));
    let done = &events.last().unwrap().1;
    assert_eq!(done["citations"][0]["section"], "Compost", "{done}");
    assert_eq!(done["citations"][0]["supported"], true);

    let requests = service.model.requests();
    let [first, second] = &requests[..] else {
        panic!("{requests:#?}");
    };
    let names = |request: &Value| request["tools"].as_array().unwrap().len();
    assert_eq!((names(first), names(second)), (2, 2));
    assert_eq!(second.get("tool_choice"), None);
    assert!(
        results(second)[0].contains("passage [2]") && results(second)[0].contains(COMPOST),
        "{second:#}"
    );
    let call = &second["messages"][2];
    assert_eq!(call["tool_calls"][0]["function"]["name"], "search");
    assert_eq!(
        call["tool_calls"][0]["id"],
        second["messages"][3]["tool_call_id"]
    );
    // Both responses are paid for.
    assert!(done["total_tokens"].as_u64().unwrap() > 100, "{done}");
}

#[tokio::test]
async fn a_model_of_cohere_searches_as_well() {
    let script = Reply::times(
        1,
        Reply::Calls("", vec![search("compost")]),
        Reply::text([ANSWER]),
    );
    let variables = [
        ("BOOKRAG_GENERATOR", "cohere"),
        ("BOOKRAG_LOOKUPS", "1"),
        ("BOOKRAG_PASSAGE_TOKENS", "1"),
    ];
    let service = Service::start("lookups_cohere", script, &variables).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["citations"][0]["section"], "Compost", "{data}");
    assert_eq!(degraded(&meta), Vec::<&str>::new());
    let second = &service.model.requests()[1];
    assert_eq!(second["tool_choice"], "NONE");
    assert!(results(second)[0].contains(COMPOST), "{second:#}");
}

#[tokio::test]
async fn a_model_reads_on_in_a_page_by_number_and_by_address() {
    let service = service("lookups_page", Reply::Empty).await;
    for page in [json!(1), json!("[1]"), json!("/docs/frost#signs")] {
        let call = ("fetch", json!({"page": page}).to_string());
        service.model.tell(Reply::times(
            1,
            Reply::Calls("", vec![call]),
            Reply::text(["Cover the seedlings before the night falls below zero [2]."]),
        ));
        let events = service.stream(json!({"query": COVERED})).await;
        let done = &events.last().unwrap().1;
        assert_eq!(done["citations"][0]["section"], "Frost", "{page}: {done}");
    }
}

#[tokio::test]
async fn a_model_that_calls_endlessly_is_stopped_after_two_look_ups() {
    let calls = vec![search("soil"), search("clay"), search("sand")];
    let service = service("lookups_endless", Reply::Calls("", calls)).await;
    let events = service.stream(json!({"query": COVERED})).await;
    assert_eq!(subjects(&events), ["soil", "clay"]);
    let done = &events.last().unwrap().1;
    assert_eq!(degraded(done), ["generator"]);
    assert!(
        text_of(&events).contains("A clear sky, no wind and a low moon are signs of frost."),
        "{events:?}"
    );
    let requests = service.model.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1]["tool_choice"], "none");
    assert_eq!(results(&requests[1]).len(), 2);
}

#[tokio::test]
async fn bad_and_hostile_calls_are_told_to_the_model_and_to_nobody_else() {
    let long = "x".repeat(10_000);
    let service = service("lookups_bad", Reply::Empty).await;
    for call in [
        ("search", "{".to_owned()),
        ("search", json!({"query": long}).to_string()),
        ("shell", json!({"command": "rm -rf /"}).to_string()),
        ("fetch", json!({"page": "/etc/passwd"}).to_string()),
        ("fetch", json!({"page": "99999999999999999999"}).to_string()),
        (
            "search",
            json!({"query": "'; DROP TABLE chunks; --"}).to_string(),
        ),
        (
            "search",
            json!({"query": "<script>alert(1)</script>\u{202e}"}).to_string(),
        ),
    ] {
        service.model.tell(Reply::times(
            1,
            Reply::Calls("", vec![call.clone()]),
            Reply::text(["A clear sky is a sign of frost [1]."]),
        ));
        let events = service.stream(json!({"query": COVERED})).await;
        assert_eq!(
            text_of(&events),
            "A clear sky is a sign of frost [1].",
            "{call:?}"
        );
        for subject in subjects(&events) {
            assert!(!subject.contains('\u{202e}'), "{subject}");
        }
        // What is echoed to the model is JSON, and short.
        let requests = service.model.requests();
        let second = requests.last().unwrap();
        let echoed = &second["messages"][2]["tool_calls"][0]["function"]["arguments"];
        let echoed = echoed.as_str().unwrap();
        serde_json::from_str::<Value>(echoed).unwrap();
        assert!(echoed.len() < 1_000, "{}", echoed.len());
        assert!(!results(second)[0].contains("root:"), "{second}");
    }
}

#[tokio::test]
async fn a_server_without_functions_is_asked_again_without_them() {
    let script = Reply::function(|request| match request.get("tools") {
        Some(_) => Reply::Status(400, None, "tools_unsupported"),
        None => Reply::text(["A clear sky is a sign of frost [1]."]),
    });
    let service = service("lookups_unsupported", script).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answer"], "A clear sky is a sign of frost [1].");
    assert_eq!(degraded(&meta), Vec::<&str>::new());
}

#[tokio::test]
async fn a_wrong_key_or_model_is_tried_once() {
    for (status, code) in [
        (401, "invalid_api_key"),
        (403, "unsupported_country"),
        (404, "model_not_found"),
    ] {
        let script = Reply::Status(status, None, code);
        let service = service(&format!("lookups_refused_{status}"), script).await;
        let (_, meta) = service.answer(COVERED).await;
        assert_eq!(degraded(&meta), ["generator"], "{status}");
        assert_eq!(service.model.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn a_cached_answer_ends_with_a_change_of_what_was_looked_up() {
    let calls = Reply::Calls("", vec![search("compost")]);
    let answers = Reply::times(1, Reply::text([ANSWER]), Reply::text(["No wind [1]."]));
    let variables = [
        ("BOOKRAG_LOOKUPS", "2"),
        ("BOOKRAG_PASSAGE_TOKENS", "1"),
        ("BOOKRAG_ANSWER_CACHE", "on"),
    ];
    let script = Reply::times(1, calls, answers);
    let service = Service::start("lookups_cached", script, &variables).await;
    let (_, meta) = service.answer(COVERED).await;
    assert_eq!(meta["cached"], false, "{meta}");
    let (_, meta) = service.answer(COVERED).await;
    assert_eq!(meta["cached"], true, "{meta}");
    let moved = "UPDATE document_chunks SET qdrant_point_id = gen_random_uuid()
        WHERE source_file = 'docs/soil.md' RETURNING 1::text";
    service.row(moved).await.unwrap();
    let (_, meta) = service.answer(COVERED).await;
    assert_eq!(meta["cached"], false, "{meta}");
}
