use std::sync::Arc;

use super::*;
use crate::rendering::rendered;
use crate::retrieve::Scores;

const PAYLOAD: &str = include_str!("../../generate/prompt/payload.json");
const TITLE: &str = "Use <Tabs> [x](javascript:alert(1)) [2]";

/// Returns the text and citations of one quote, labelled by its place in a book whose pages have this title.
fn quoted(lesson_number: &str) -> Written {
    let payload = PAYLOAD
        .replace("\"title\": \"page\"", &format!("\"title\": \"{TITLE}\""))
        .replace(
            "\"lesson_number\": null",
            &format!("\"lesson_number\": {lesson_number}"),
        );
    let candidate = ScoredChunk {
        point_id: uuid::Uuid::nil(),
        chunk: Arc::new(serde_json::from_str(&payload).unwrap()),
        position: Some(0),
        scores: Scores::default(),
        category: None,
    };
    let passages = [Passage {
        n: 1,
        candidate: &candidate,
    }];
    let mut writer = Writer::new(&passages, None, LabelsInText::Labels);
    writer.quote(Quote::Text("Words \\<of> the book. ".to_owned()));
    writer.quote(Quote::Citation(1));
    writer.written()
}

#[test]
fn a_label_of_titles_is_text_in_the_answer_and_plain_in_the_citation() {
    let Written {
        text, citations, ..
    } = quoted("null");
    let label = &citations[0].label;
    assert!(label.contains(TITLE), "{label}");
    for seen in rendered(&text) {
        assert!(seen.elements.iter().all(|name| name == "p"), "{seen:?}");
        assert_eq!(seen.text, format!("Words <of> the book. {label}"));
    }
    assert!(!text.contains("[2]"), "{text}");
}

#[test]
fn a_label_of_numbers_stays_as_clients_know_it() {
    assert_eq!(quoted("3").text, "Words \\<of> the book. [Lesson 3]");
}

#[test]
fn a_passage_says_what_is_quoted_of_it() {
    assert_eq!(quoted("3").citations[0].supported, Some(true));
}
