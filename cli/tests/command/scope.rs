//! What may answer: the section a reader selected text in, the whole book, the place a question names, one version.

use std::collections::HashSet;
use std::fs;

use bookrag::answer::NOT_IN_SELECTION;
use serde_json::{Value, json};

use crate::support::{Server, Workshop};
use crate::{SOIL, SOIL_URL};

const CAMERA: &str = "docs/module-1-foundations/chapter-1-sensing/03-lesson-plant-camera.mdx";
const WHEELS: &str = "docs/module-1-foundations/chapter-2-actuation/01-lesson-wheel-drive.md";
const PUMP: &str = "docs/module-1-foundations/chapter-2-actuation/02-lesson-pump-and-valve.mdx";
const PUMP_URL: &str =
    "/garden-robotics/docs/module-1-foundations/chapter-2-actuation/pump-and-valve";
const BATTERY: &str = "docs/module-2-autonomy/03-chapter-3-power/01-lesson-battery-budget.md";
const DOCK: &str = "docs/module-2-autonomy/03-chapter-3-power/02-lesson-solar-dock.mdx";
const DOCK_URL: &str =
    "/garden-robotics/docs/module-2-autonomy/chapter-3-power/02-lesson-solar-dock";
const PLANNER: &str = "docs/module-2-autonomy/04-chapter-4-navigation/02-lesson-round-planner.mdx";
const PLANNER_URL: &str =
    "/garden-robotics/docs/module-2-autonomy/chapter-4-navigation/planning-a-round";
const ERROR_CODES: &str = "docs/appendix/index.md";
const LETTER: &str = "docs/letter-to-the-reader.md";

/// From `How the Order Is Found` of the planner's lesson.
const TWO_OPT: &str = "Take two legs of the route, reverse the part between them, and keep the change if the \
                       whole became shorter";
/// The sections that it may be answered from: its own, and those above and below.
const AROUND_TWO_OPT: [&str; 3] = [
    "How the Order Is Found",
    "Checking the File",
    "Reading a Plan",
];
/// From `Targets for Common Soils` of the soil's lesson, as a browser copies a table.
const SOIL_TABLE: &str = "Soil\tStart watering below\tTarget\nsand\t9 %\t18 %\nloam\t17 %\t27 %\nclay\t25 %\t36 %";
/// From a part that the lessons of the pump and of the dock both show.
const SAFETY: &str = "Push the red Thorn switch and wait until the display is dark.";
/// In no section of the book.
const FOREIGN: &str = "Ferdinand Magellan sailed from Seville in 1519 with five ships to find a western route to the \
                       Spice Islands.";

fn chat(server: &Server, request: &Value) -> Value {
    let (status, answer) = server.post("/api/v1/chat", request);
    assert_eq!(status, 200, "{answer}");
    answer["data"].clone()
}

fn ask_selection(server: &Server, query: &str, selected: &str, page_url: Option<&str>) -> Value {
    let request = json!({
        "query": query,
        "mode": "selected_text",
        "selected_text": selected,
        "page_url": page_url,
    });
    let data = chat(server, &request);
    assert_eq!(data["mode_used"], "selected_text");
    data
}

fn search(server: &Server, request: &Value) -> Vec<Value> {
    let (status, found) = server.post("/api/v1/search", request);
    assert_eq!(status, 200, "{found}");
    found["data"]["results"].as_array().unwrap().clone()
}

/// The pages that an answer cites, in the order of its text.
fn cited(data: &Value) -> Vec<&str> {
    let citations = data["citations"].as_array().unwrap();
    citations
        .iter()
        .map(|citation| citation["source"].as_str().unwrap())
        .collect()
}

/// The place of the first citation of a page; behind all others if there is none.
fn rank(data: &Value, page: &str) -> usize {
    let cited = cited(data);
    let place = cited.iter().position(|source| *source == page);
    place.unwrap_or(cited.len())
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
    let workshop = Workshop::new();
    let server = workshop.serve(&[]);
    let as_browsers_have_it =
        format!("https://book.example.org{PLANNER_URL}?from=mail#how-the-order-is-found");
    for page_url in [Some(PLANNER_URL), Some(&*as_browsers_have_it), None] {
        let question = "how does two-opt make the route shorter?";
        let data = ask_selection(&server, question, TWO_OPT, page_url);
        assert_answered_from(&data, PLANNER, &AROUND_TWO_OPT);
        assert_eq!(data["citations"][0]["section"], "How the Order Is Found");
    }
    // No section holds it letter by letter: a page shows a table in other characters than its source.
    for page_url in [Some(SOIL_URL), None] {
        let question = "up to what percentage is a clay bed watered?";
        let data = ask_selection(&server, question, SOIL_TABLE, page_url);
        let sections = [
            "Targets for Common Soils",
            "Taking a Reading in the Bed",
            "Key Takeaways",
        ];
        assert_answered_from(&data, SOIL, &sections);
        assert!(data["answer"].as_str().unwrap().contains("36 %"), "{data}");
    }
    // Two pages hold it; the reader is on one of them.
    for (page, page_url) in [(PUMP, PUMP_URL), (DOCK, DOCK_URL)] {
        let question = "Where does the fuse F1 sit?";
        let data = ask_selection(&server, question, SAFETY, Some(page_url));
        assert_eq!(data["answered"], true, "{data}");
        assert_eq!(data["citations"][0]["section"], "Before You Touch the Robot");
        assert!(cited(&data).iter().all(|source| *source == page), "{data}");
    }
}

#[test]
fn what_a_selection_does_not_say_is_refused() {
    let workshop = Workshop::new();
    let server = workshop.serve(&[]);
    // Answered by the page of the selection farther up, by another page, by no page.
    let pond = "how do I keep the robot away from my pond?";
    for question in [
        pond,
        "which sleep modes are there?",
        "what is the capital of France?",
    ] {
        for page_url in [Some(PLANNER_URL), None] {
            let data = ask_selection(&server, question, TWO_OPT, page_url);
            assert_refused(&data);
        }
    }
    let whole = json!({"query": pond, "selected_text": TWO_OPT, "page_url": PLANNER_URL});
    assert_eq!(cited(&chat(&server, &whole))[0], PLANNER);

    // A selection that is nowhere in the book, of a question that the book answers.
    let probe = "how do I calibrate the soil moisture probe?";
    for page_url in [Some(SOIL_URL), None] {
        let data = ask_selection(&server, probe, FOREIGN, page_url);
        assert_refused(&data);
        assert_eq!(data["suggestions"], json!([]), "nothing is near to it");
    }
}

#[test]
fn in_the_whole_book_a_selection_raises_its_page_and_hides_no_other() {
    let workshop = Workshop::new();
    let server = workshop.serve(&[]);
    let pump = "In a peristaltic pump rollers squeeze a soft tube, so the water touches nothing but the tube";
    let dock = "The charger finds it by trying: it changes the voltage by a small step";
    let planner = "Ponds, steps and sleeping tortoises are marked by polygons.";
    let codes = "Of the probes that came back to us, four in five only had water in the plug.";
    for (question, pages) in [
        (
            "Where does the fuse F1 sit?",
            [(PUMP, pump), (DOCK, dock)],
        ),
        (
            "what does SPR-412 mean?",
            [(PLANNER, planner), (ERROR_CODES, codes)],
        ),
    ] {
        let without = chat(&server, &json!({"query": question}));
        let mut raised = 0;
        for (page, selected) in pages {
            let request = json!({"query": question, "selected_text": selected});
            let with = chat(&server, &request);
            assert_eq!(with["mode_used"], "global_book");
            assert_eq!(rank(&with, page), 0, "{question} {page}: {with}");
            raised += usize::from(rank(&without, page) > 0);
        }
        assert_eq!(raised, 1, "one of the two was first before: {without}");
    }

    // Another page answers, whatever is selected, and wherever.
    for (question, page) in [
        ("which sleep modes are there?", BATTERY),
        ("how do I calibrate the soil moisture probe?", SOIL),
    ] {
        let without = chat(&server, &json!({"query": question}));
        for (selected, page_url) in [(pump, Some(PUMP_URL)), (dock, None), (FOREIGN, None)] {
            let request = json!({"query": question, "selected_text": selected, "page_url": page_url});
            let with = chat(&server, &request);
            assert_eq!(rank(&with, page), 0, "{question} {selected}: {with}");
            if selected == FOREIGN {
                assert_eq!(with["citations"], without["citations"]);
            }
        }
    }
}

/// Gives a lesson of the book prerequisites, in front of another heading.
fn add_prerequisites(workshop: &Workshop, page: &str, before: &str, items: &str) {
    let path = workshop.site().join(page);
    let text = fs::read_to_string(&path).unwrap();
    let edited = text.replace(before, &format!("## Prerequisites\n\n{items}\n\n{before}"));
    assert_ne!(text, edited);
    fs::write(path, edited).unwrap();
}

#[test]
fn structural_questions_find_their_sections_in_the_place_they_name() {
    let workshop = Workshop::new();
    let of_dock = "- Lesson 3.1, with its budget of energy.\n- A robot that finds its way by stakes.";
    add_prerequisites(&workshop, DOCK, "## What the Dock Does", of_dock);
    let of_planner = "- A survey of the garden.\n- The pump and its doses.";
    add_prerequisites(&workshop, PLANNER, "## From Readings to a Route", of_planner);
    let server = workshop.serve(&[]);

    let objectives = "Learning Objectives";
    let cases: [(&str, &str, &[&str]); 11] = [
        (
            "What will I learn in the lesson about the plant camera?",
            objectives,
            &[CAMERA],
        ),
        (
            "What will I learn in the lesson on the solar dock?",
            objectives,
            &[DOCK],
        ),
        (
            "What will I learn about the battery in module 2?",
            objectives,
            &[BATTERY],
        ),
        ("What do I learn in chapter 3?", objectives, &[BATTERY, DOCK]),
        (
            "What are the learning objectives of chapter 2?",
            objectives,
            &[WHEELS, PUMP],
        ),
        (
            "What are the learning objectives of lesson 2.4.2?",
            objectives,
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
    for (question, section, pages) in cases {
        let results = search(&server, &json!({"query": question}));
        let first = &results[0];
        assert_eq!(first["section"], section, "{question}: {results:?}");
        assert_eq!(first["section_type"], "structural", "{question}");
        let source = first["source"].as_str().unwrap();
        assert!(pages.contains(&source), "{question}: {results:?}");
    }

    for (question, field, place) in [
        ("What do I learn in chapter 3?", "chapter", "Power"),
        ("What are the learning objectives of chapter 2?", "chapter", "Actuation"),
        ("how do I keep the robot away from my pond? It was in chapter 1", "chapter", "Sensing"),
        ("What will I learn about the battery in module 2?", "module", "Autonomy"),
        ("What are the learning objectives of lesson 2.4.2?", "source", PLANNER),
    ] {
        let results = search(&server, &json!({"query": question, "top_k": 20}));
        assert!(!results.is_empty(), "{question}");
        for result in results {
            assert_eq!(result[field], place, "{question}: {result}");
        }
    }
}
