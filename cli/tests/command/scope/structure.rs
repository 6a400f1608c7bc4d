//! Questions about the parts that every lesson has, and about lessons, chapters and modules named by their numbers.

use std::fs;

use serde_json::json;

use super::{BATTERY, CAMERA, DOCK, MAX_TOP_K, PLANNER, PUMP, WHEELS, search};
use crate::support::Workshop;

/// Questions, the section that each asks for, and the pages that may come first.
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

/// Questions that name a place, and what all of their results have in common.
const PLACES: [(&str, &str, &str); 5] = [
    ("What do I learn in chapter 3?", "chapter", "Power"),
    (
        "how do I keep the robot away from my pond, as in chapter 2?",
        "chapter",
        "Actuation",
    ),
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

/// Puts prerequisites into a lesson, above another heading: the fixture book has them in its front matter alone.
fn add_prerequisites(workshop: &Workshop, page: &str, above: &str, items: &str) {
    let path = workshop.site().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let edited = text.replace(above, &format!("## Prerequisites\n\n{items}\n\n{above}"));
    assert_ne!(text, edited);
    fs::write(path, edited).unwrap();
}

#[test]
fn structural_questions_find_their_sections_in_the_place_they_name() {
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
        assert!(!results.is_empty(), "{query}");
        for result in &results {
            assert_eq!(result[field], place, "{query}: {result}");
        }
    }
}
