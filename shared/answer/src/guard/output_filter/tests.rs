use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::LabelsInText;
use crate::cite::AllowedLinks;
use crate::guard::writer::Written;
use crate::quote::Passage;
use crate::retrieve::{ScoredChunk, Scores};

const PAYLOAD: &str = include_str!("../../generate/prompt/payload.json");
const REFUSALS: [&str; 3] = ["It is not there.", "No.", "Nowhere."];

/// Returns `count` passages, each from its own page.
fn sections(count: usize) -> Vec<ScoredChunk> {
    let section = |number: usize| ScoredChunk {
        point_id: uuid::Uuid::nil(),
        chunk: Arc::new(
            serde_json::from_str(&PAYLOAD.replace("/page", &format!("/page-{number}"))).unwrap(),
        ),
        position: Some(0),
        scores: Scores::default(),
        category: None,
    };
    (1..=count).map(section).collect()
}

/// Returns the events of a text that arrives in these pieces.
fn read(pieces: &[String], passages: usize) -> (Vec<AnswerEvent>, String, Vec<String>) {
    let sections = sections(passages);
    let passages: Vec<Passage<'_>> = sections
        .iter()
        .zip(1..)
        .map(|(candidate, n)| Passage { n, candidate })
        .collect();
    let allowed = AllowedLinks::new(std::iter::empty(), std::iter::empty(), "/");

    let writer = Writer::new(&passages, None, LabelsInText::Numbers)
        .of_model("Book", "Why?", allowed, false);
    let mut draft = OutputFilter::new(REFUSALS, 800, writer);
    let mut events = Vec::new();
    for piece in pieces {
        events.extend(draft.push(piece));
        if draft.stopped().is_some() {
            break;
        }
    }
    events.extend(draft.finish());
    let Written {
        text, citations, ..
    } = draft.writer.written();
    let urls = citations.into_iter().map(|citation| citation.url).collect();
    (events, text, urls)
}

fn hostile() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "\\[[0-9]{1,3}\\]",
        2 => "\\[\\^?[0-9, ;–-]{1,6}\\]",
        1 => "【[0-9]{1,2}†source】",
        1 => Just("(https://evil.example/x)".to_owned()),
        1 => Just("![x](https://evil.example)".to_owned()),
        1 => Just("<img src=x>".to_owned()),
        1 => Just("```\n".to_owned()),
        1 => Just("\u{202e}\u{1b}[31m".to_owned()),
        2 => "[a-z \\[\\]().:`\n]{0,12}",
        1 => any::<String>(),
    ]
}

proptest! {
    #[test]
    fn no_output_cites_a_passage_that_was_not_given(pieces in proptest::collection::vec(hostile(), 0..12), passages in 0_usize..7) {
        let (events, text, urls) = read(&pieces, passages);
        let given: Vec<String> = sections(passages).iter().map(|section| section.url(None)).collect();
        prop_assert!(urls.iter().all(|url| given.contains(url)), "{urls:?}");
        prop_assert!(!text.contains("evil.example"), "{text:?}");
        // The tokens add up to the text, and each citation is sent once, before its marker.
        let mut shown = String::new();
        let mut told = Vec::new();
        for event in events {
            match event {
                AnswerEvent::Token(token) => shown.push_str(&token),
                AnswerEvent::Citation(citation) => told.push(citation.url.clone()),
                AnswerEvent::Reading(_) | AnswerEvent::LookingUp(_) | AnswerEvent::Done(_) => unreachable!("a draft has no end"),
            }
        }
        prop_assert_eq!(shown, text);
        prop_assert_eq!(told, urls);
    }
}
