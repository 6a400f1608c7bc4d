//! Citations do not depend on the model's obedience: each sentence is attributed to the passage that supports it, or marked as
//! unsupported.

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, Service, degraded, text_of};

const COVER: &str = "Cover the seedlings before the night falls below zero";
const SIGNS: &str = "A clear sky and a low moon are signs of frost";
const INVENTED: &str = "Then Karpov won 24 games of the match against Kasparov.";

fn sections(data: &Value) -> Vec<&str> {
    let citations = data["citations"].as_array().unwrap().iter();
    citations
        .map(|citation| citation["section"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn an_answer_without_markers_still_gets_citations() {
    let text = format!("{SIGNS}. {COVER}.\n\n```sh\nA clear sky\n```");
    let service = Service::with_model("attribution_none", Reply::text([text.as_str()])).await;
    let (data, meta) = service.answer(COVERED).await;
    let expected = format!("{SIGNS}. [1] {COVER}. [2]\n\n```sh\nA clear sky\n```");
    assert_eq!(data["answer"], expected);
    assert_eq!(sections(&data), ["Signs of frost", "Frost"]);
    assert_eq!(
        (&data["unsupported"], degraded(&meta)),
        (&json!([]), Vec::new())
    );
}

#[tokio::test]
async fn a_marker_of_the_wrong_passage_is_moved() {
    // Passage 1 is the section about signs of frost.
    let text = format!("{COVER} [1]. {SIGNS} [1].");
    let service = Service::with_model("attribution_moved", Reply::text([text.as_str()])).await;
    let (data, _) = service.answer(COVERED).await;
    assert_eq!(data["answer"], format!("{COVER} [1]. {SIGNS} [2]."));
    assert_eq!(sections(&data), ["Frost", "Signs of frost"]);
    for citation in data["citations"].as_array().unwrap() {
        assert_eq!(citation["supported"], true, "{citation}");
    }
}

#[tokio::test]
async fn invented_sentences_are_named_and_an_invented_answer_is_uncertain() {
    let service = Service::with_model("attribution_invented", Reply::Empty).await;
    service
        .model
        .tell(Reply::text([format!("{SIGNS} [1]. {INVENTED}").as_str()]));
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answer"], format!("{SIGNS} [1]. {INVENTED}"));
    assert_eq!(data["unsupported"], json!([INVENTED]));
    assert!(degraded(&meta).is_empty(), "{meta}");

    service
        .model
        .tell(Reply::text([format!("{INVENTED} [1]").as_str()]));
    let events = service.stream(json!({"query": COVERED})).await;
    let (last, done) = events.last().unwrap();
    let text = text_of(&events);
    assert_eq!(
        (last.as_str(), &done["unsupported"]),
        ("done", &json!([INVENTED]))
    );
    assert!(text.starts_with(INVENTED), "{text}");
    assert!(text.contains(bookrag::answer::UNCERTAIN), "{text}");
    assert!(
        text.contains("A clear sky, no wind and a low moon are signs of frost."),
        "{text}"
    );
    assert_eq!(
        (&done["outcome"], &done["degraded"]),
        (&json!("uncertain"), &json!(["generator"]))
    );
}

#[tokio::test]
async fn what_says_nothing_is_followed_by_what_the_book_says() {
    let service = Service::with_model("attribution_nothing", Reply::Empty).await;
    let denial = "## Answer\n\nThe passages do not say that.";
    for (reply, outcome) in [
        (denial, "uncertain"),
        ("[1]", "uncertain"),
        (COVERED, "answered"),
    ] {
        service.model.tell(Reply::text([reply]));
        let (data, meta) = service.answer(COVERED).await;
        assert_eq!(data["outcome"], outcome, "{reply}: {data}");
        let text = data["answer"].as_str().unwrap();
        assert!(text.contains("A clear sky, no wind"), "{reply}: {text}");
        assert!(!sections(&data).is_empty(), "{reply}: {data}");
        assert_eq!(degraded(&meta), ["generator"], "{reply}");
    }
}
