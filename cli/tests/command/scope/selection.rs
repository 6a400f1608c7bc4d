//! Questions about text that the reader selected.

use bookrag::answer::NOT_IN_SELECTION;
use serde_json::{Value, json};

use super::{BATTERY, DOCK, ERROR_CODES, PLANNER, PUMP};
use crate::support::{Server, Workshop};
use crate::{SOIL, SOIL_URL};

const PUMP_URL: &str =
    "/garden-robotics/docs/module-1-foundations/chapter-2-actuation/pump-and-valve";
const DOCK_URL: &str =
    "/garden-robotics/docs/module-2-autonomy/chapter-3-power/02-lesson-solar-dock";
const PLANNER_URL: &str =
    "/garden-robotics/docs/module-2-autonomy/chapter-4-navigation/planning-a-round";

/// From the section `How the Order Is Found` of the planner lesson.
const TWO_OPT: &str = "Take two legs of the route, reverse the part between them, and keep the change if the whole \
                       became shorter";
/// The sections that may answer it: its own and its two neighbours.
const AROUND_TWO_OPT: [&str; 3] = [
    "Checking the File",
    "How the Order Is Found",
    "Reading a Plan",
];
/// From `Targets for Common Soils` of the soil lesson, as a browser copies a table.
const SOIL_TABLE: &str =
    "Soil\tStart watering below\tTarget\nsand\t9 %\t18 %\nloam\t17 %\t27 %\nclay\t25 %\t36 %";
const AROUND_SOIL_TABLE: [&str; 3] = [
    "Taking a Reading in the Bed",
    "Targets for Common Soils",
    "Key Takeaways",
];
/// From a partial that the pump and dock lessons include.
const SAFETY: &str = "Push the red Thorn switch and wait until the display is dark.";
/// Text that is not in the book.
const FOREIGN: &str = "Ferdinand Magellan sailed from Seville in 1519 with five ships to find a western route to the \
                       Spice Islands.";

/// Answered by a section of the planner lesson far from [`TWO_OPT`].
const POND: &str = "how do I keep the robot away from my pond?";
/// Answered by the soil lesson.
const PROBE: &str = "how do I calibrate the soil moisture probe?";
/// Answered by the battery lesson.
const SLEEP: &str = "which sleep modes are there?";
/// Answered by both the pump and dock lessons.
const FUSE: &str = "Where does the fuse F1 sit?";

fn chat(server: &Server, request: &Value) -> Value {
    let (status, answer) = server.post("/api/v1/chat", request);
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

fn chat_in_selection(server: &Server, query: &str, text: &str, page_url: Option<&str>) -> Value {
    let request = json!({
        "query": query,
        "mode": "selected_text",
        "selected_text": text,
        "page_url": page_url,
    });
    let data = chat(server, &request);
    assert_eq!(data["mode_used"], "selected_text");
    data
}

/// Returns the cited pages in the order of the answer's text.
fn cited(data: &Value) -> Vec<&str> {
    let citations = data["citations"].as_array().unwrap();
    citations
        .iter()
        .map(|citation| citation["source"].as_str().unwrap())
        .collect()
}

/// Returns the rank of a page's first citation; `None` if it is not cited.
fn rank(data: &Value, page: &str) -> Option<usize> {
    cited(data).iter().position(|source| *source == page)
}

#[track_caller]
fn assert_answered_from(data: &Value, page: &str, sections: &[&str]) {
    assert_eq!(data["answered"], true, "{data}");
    let citations = data["citations"].as_array().unwrap();
    assert!(!citations.is_empty(), "{data}");
    for citation in citations {
        assert_eq!(citation["source"], page, "{data}");
        let section = citation["section"].as_str().unwrap();
        assert!(sections.contains(&section), "{section}: {data}");
    }
}

#[track_caller]
fn assert_refused(data: &Value) {
    assert_eq!(data["answered"], false, "{data}");
    assert_eq!(data["answer"], NOT_IN_SELECTION);
    assert_eq!(data["citations"], json!([]));
}

#[test]
fn a_selection_is_answered_from_its_section_and_those_beside_it() {
    let workshop = Workshop::indexed();
    let server = workshop.serve(&[]);
    let address = format!("https://book.example.org{PLANNER_URL}?from=mail#garden-file");
    for page_url in [Some(PLANNER_URL), Some(&*address), None] {
        let query = "how does two-opt make the route shorter?";
        let data = chat_in_selection(&server, query, TWO_OPT, page_url);
        assert_answered_from(&data, PLANNER, &AROUND_TWO_OPT);
        assert_eq!(data["citations"][0]["section"], "How the Order Is Found");
    }
    // No section contains the selection exactly.
    for page_url in [Some(SOIL_URL), None] {
        let query = "up to what percentage is a clay bed watered?";
        let data = chat_in_selection(&server, query, SOIL_TABLE, page_url);
        assert_answered_from(&data, SOIL, &AROUND_SOIL_TABLE);
        let text = data["answer"].as_str().unwrap();
        assert!(text.contains("36 %"), "{text}");
    }
    // Two pages contain the selection; the reader is on one of them.
    for (page, page_url) in [(PUMP, PUMP_URL), (DOCK, DOCK_URL)] {
        let data = chat_in_selection(&server, FUSE, SAFETY, Some(page_url));
        assert_eq!(data["answered"], true, "{data}");
        assert!(!cited(&data).is_empty(), "{data}");
        assert!(cited(&data).iter().all(|source| *source == page), "{data}");
    }
}

#[test]
fn a_question_the_selection_does_not_answer_is_refused() {
    let workshop = Workshop::indexed();
    let server = workshop.serve(&[]);
    for query in [PROBE, SLEEP, "what is the capital of France?"] {
        for page_url in [Some(PLANNER_URL), None] {
            let data = chat_in_selection(&server, query, TWO_OPT, page_url);
            assert_refused(&data);
        }
    }
    // The question is about the whole book, not the selection.
    let request = json!({"query": POND, "selected_text": TWO_OPT, "page_url": PLANNER_URL});
    assert_eq!(rank(&chat(&server, &request), PLANNER), Some(0));

    for page_url in [Some(SOIL_URL), None] {
        let data = chat_in_selection(&server, PROBE, FOREIGN, page_url);
        assert_refused(&data);
        assert_eq!(data["suggestions"], json!([]), "nothing is near to it");
    }
}

#[test]
fn in_the_whole_book_a_selection_raises_its_page_and_hides_no_other() {
    let workshop = Workshop::indexed();
    let server = workshop.serve(&[]);
    let of_pump = "In a peristaltic pump rollers squeeze a soft tube, so the water touches nothing but the tube";
    let of_dock = "The charger finds it by trying: it changes the voltage by a small step";
    let of_planner = "Ponds, steps and sleeping tortoises are marked by polygons.";
    let of_codes = "Of the probes that came back to us, four in five only had water in the plug.";
    // Questions that two pages answer.
    for (query, pages) in [
        (FUSE, [(PUMP, of_pump), (DOCK, of_dock)]),
        (
            "what does SPR-412 mean?",
            [(PLANNER, of_planner), (ERROR_CODES, of_codes)],
        ),
    ] {
        let without = chat(&server, &json!({"query": query}));
        let mut raised = 0;
        for (page, text) in pages {
            let with = chat(&server, &json!({"query": query, "selected_text": text}));
            assert_eq!(with["mode_used"], "global_book");
            assert_eq!(rank(&with, page), Some(0), "{page}: {with}");
            raised += usize::from(rank(&without, page) != Some(0));
        }
        assert_eq!(raised, 1, "one of the two was first before: {without}");
    }
    // Questions that a page other than the selection's answers.
    for (query, page) in [(SLEEP, BATTERY), (PROBE, SOIL)] {
        for (text, page_url) in [(of_pump, Some(PUMP_URL)), (of_dock, None)] {
            let request = json!({"query": query, "selected_text": text, "page_url": page_url});
            let with = chat(&server, &request);
            assert_eq!(rank(&with, page), Some(0), "{text}: {with}");
        }
    }
    // A selection that no page contains is ignored.
    let without = chat(&server, &json!({"query": PROBE}));
    let with = chat(&server, &json!({"query": PROBE, "selected_text": FOREIGN}));
    assert_eq!(with["answer"], without["answer"]);
    assert_eq!(cited(&with), cited(&without));
}

#[test]
fn a_request_to_explain_a_selection_says_more_than_the_page_beside_it() {
    let workshop = Workshop::indexed();
    let server = workshop.serve(&[]);
    let explained = |query: &str, mode: &str, selected: &str| {
        let request = json!({
            "query": query,
            "mode": mode,
            "selected_text": selected,
            "page_url": PLANNER_URL,
        });
        let data = chat(&server, &request);
        assert_eq!(data["mode_used"], "global_book");
        for other in data["suggestions"].as_array().unwrap() {
            let url = other["url"].as_str().unwrap();
            assert!(!url.starts_with(PLANNER_URL), "{data}");
        }
        data
    };
    // The second paragraph of its section.
    let orders = "For up to eight beds the planner therefore simply tries all orders.";
    for (query, mode) in [
        ("explain", "selected_text"),
        ("What does this mean?", "global_book"),
        ("Erkläre das bitte", "selected_text"),
        ("这是什么意思？", "selected_text"),
    ] {
        let data = explained(query, mode, orders);
        assert_answered_from(&data, PLANNER, &["How the Order Is Found"]);
        let text = data["answer"].as_str().unwrap();
        assert!(text.contains("The planner first walks greedily"), "{text}");
        assert!(!text.contains("up to eight beds"), "{text}");
    }
    let data = explained("explain", "selected_text", TWO_OPT);
    let text = data["answer"].as_str().unwrap();
    assert!(text.contains("needs a chat model"), "{data}");
    assert_eq!(data["outcome"], "not_covered");
    // Another question about the selection is answered from its section.
    let data = chat_in_selection(
        &server,
        "how does two-opt work?",
        TWO_OPT,
        Some(PLANNER_URL),
    );
    assert_answered_from(&data, PLANNER, &AROUND_TWO_OPT);
}

#[test]
fn a_follow_up_is_joined_with_the_selection_of_the_question_before() {
    let workshop = Workshop::indexed();
    let server = workshop.serve_with(&[("BOOKRAG_STORE_CONVERSATIONS", "24")], &[]);
    let first = json!({
        "query": "explain",
        "mode": "selected_text",
        "selected_text": TWO_OPT,
        "page_url": PLANNER_URL,
        "session_id": "reader",
    });
    let conversation = &chat(&server, &first)["conversation_id"];
    let follow_up =
        json!({"query": "and why?", "conversation_id": conversation, "session_id": "reader"});
    let data = chat(&server, &follow_up);
    assert_eq!(
        data["citations"][0]["section"], "How the Order Is Found",
        "{data}"
    );
}
