//! Questions about the parts that every lesson has, and questions that name lessons, chapters and modules by number.

use std::fs;

use serde_json::{Value, json};

use super::{BATTERY, CAMERA, DOCK, MAX_TOP_K, PLANNER, PUMP, WHEELS, search};
use crate::SOIL;
use crate::support::Workshop;

/// Questions, the section that each asks for, and the pages that may rank first.
const STRUCTURAL: [(&str, &str, &[&str]); 11] = [
    (
        "What will I learn in the lesson about the plant camera?",
        "Learning Objectives",
        &[CAMERA],
    ),
    (
        "What will I learn in the lesson on the solar dock?",
        "Learning Objectives",
        &[DOCK],
    ),
    (
        "What will I learn about the battery in module 2?",
        "Learning Objectives",
        &[BATTERY],
    ),
    (
        "What do I learn in chapter 3?",
        "Learning Objectives",
        &[BATTERY, DOCK],
    ),
    (
        "What are the learning objectives of chapter 2?",
        "Learning Objectives",
        &[WHEELS, PUMP],
    ),
    (
        "What are the learning objectives of lesson 2.4.2?",
        "Learning Objectives",
        &[PLANNER],
    ),
    (
        "What are the prerequisites of the lesson about the solar dock?",
        "Prerequisites",
        &[DOCK],
    ),
    (
        "What are the prerequisites of chapter 4?",
        "Prerequisites",
        &[PLANNER],
    ),
    ("prerequisites of lesson 2.3.2", "Prerequisites", &[DOCK]),
    ("key takeaways about the camera", "Key Takeaways", &[CAMERA]),
    (
        "Check my understanding: quiz about the solar dock",
        "Check Your Understanding",
        &[DOCK],
    ),
];

/// Questions that name a place, and the expected values of their best result.
const PLACES: [(&str, &str, &str); 4] = [
    ("What do I learn in chapter 3?", "chapter", "Power"),
    (
        "What will I learn about the battery in module 2?",
        "module",
        "Autonomy",
    ),
    (
        "how do I calibrate the probe of module 1?",
        "module",
        "Foundations",
    ),
    (
        "What are the learning objectives of lesson 2.4.2?",
        "source",
        PLANNER,
    ),
];

/// Questions that name a place but are answered by a page elsewhere.
const ELSEWHERE: [(&str, &str); 2] = [
    (
        "I have finished chapter 2; how do I calibrate the soil moisture probe?",
        SOIL,
    ),
    (
        "After chapter 1: when does the soft tube in the pump need changing?",
        PUMP,
    ),
];

/// Adds prerequisites to a lesson, above another heading: the fixture book has them in front matter only.
fn add_prerequisites(workshop: &Workshop, page: &str, above: &str, items: &str) {
    let path = workshop.site().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let edited = text.replace(above, &format!("## Prerequisites\n\n{items}\n\n{above}"));
    assert_ne!(text, edited);
    fs::write(path, edited).unwrap();
}

#[test]
fn structural_questions_find_their_sections_and_a_named_place_hides_no_other() {
    let workshop = Workshop::new();
    let items = "- Lesson 3.1, with its budget of energy.\n- A robot that finds its way by stakes.";
    add_prerequisites(&workshop, DOCK, "## What the Dock Does", items);
    let items = "- A survey of the garden.\n- The pump and its doses.";
    add_prerequisites(&workshop, PLANNER, "## From Readings to a Route", items);
    let server = workshop.serve(&[]);
    for (query, section, pages) in STRUCTURAL {
        let results = search(&server, &json!({"query": query}));
        let first = &results[0];
        assert_eq!(first["section"], section, "{query}: {results:?}");
        assert_eq!(first["section_type"], "structural", "{query}: {first}");
        let page = first["source"].as_str().unwrap();
        assert!(pages.contains(&page), "{query}: {results:?}");
    }
    for (query, field, place) in PLACES {
        let results = search(&server, &json!({"query": query, "top_k": MAX_TOP_K}));
        assert_eq!(results[0][field], place, "{query}: {results:?}");
        let is_elsewhere = |result: &Value| result[field] != place;
        // A place with many sections may fill the whole list.
        let is_full = results.len() == MAX_TOP_K;
        assert!(
            is_full || results.iter().any(is_elsewhere),
            "{query}: nothing else is found"
        );
    }
    for (query, page) in ELSEWHERE {
        let results = search(&server, &json!({"query": query}));
        assert_eq!(results[0]["source"], page, "{query}: {results:?}");
        let (status, answer) = server.post("/api/v1/chat", &json!({"query": query}));
        assert_eq!(
            (status, &answer["data"]["answered"]),
            (200, &json!(true)),
            "{query}: {answer}"
        );
    }
}

#[test]
fn a_filter_value_that_the_book_does_not_have_is_named_with_those_it_has() {
    let workshop = Workshop::new();
    workshop.sync();
    for (arguments, told) in [
        (
            ["ask", "What is a node?", "--locale", "fr"],
            "filters.locale must be a value that the book has, got `fr`; the book has `en`",
        ),
        (
            ["search", "a node", "--locale", "fr"],
            "filters.locale must be a value that the book has, got `fr`; the book has `en`",
        ),
        (
            ["ask", "What is a node?", "--book-version", "99"],
            "filters.version must be a value that the book has, got `99`; the book has `current`",
        ),
        (
            ["search", "a node", "--book-version", "99"],
            "filters.version must be a value that the book has, got `99`; the book has `current`",
        ),
    ] {
        let ended = workshop.run(&arguments);
        let error = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(error.contains(told), "{arguments:?}: {error}");
        // Exit code 4 means that the book does not answer the question.
        assert_ne!(ended.status.code(), Some(4), "{arguments:?}");
        assert!(!ended.status.success(), "{arguments:?}");
    }
}
