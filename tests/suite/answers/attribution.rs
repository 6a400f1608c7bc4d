//! Citations do not depend on the model's obedience: each sentence is attributed to the passage that supports it, or marked as
//! unsupported.

use std::time::Duration;

use bookrag_tests::chat_model::Reply;
use serde_json::{Value, json};

use super::{COVERED, Service, after_doubt, degraded, text_of};

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
async fn each_marker_comes_with_the_sentence_that_supports_it() {
    let text = format!("{COVER} [2]. {SIGNS}. {COVER} as well, I think [2]. It is a moon [1].");
    let service = Service::with_model("attribution_support", Reply::text([text.as_str()])).await;
    let events = service.stream(json!({"query": COVERED})).await;
    let done = &events.last().unwrap().1;
    let support = |at: usize| done["citations"][at]["support"].clone();
    let (cover, signs) = (
        "Cover the seedlings before the night falls below zero.",
        "A clear sky, no wind and a low moon are signs of frost.",
    );
    assert_eq!(support(0), json!([cover, cover]), "{done}");
    assert_eq!(support(1)[0], json!(signs), "{done}");
    let markers = text_of(&events).matches("[2]").count();
    assert_eq!(support(1).as_array().unwrap().len(), markers);
}

#[tokio::test]
async fn the_first_sentence_is_checked_before_it_is_shown() {
    let variables = [("BOOKRAG_ANSWER_SECONDS", "6")];
    let service = Service::start("attribution_first", Reply::Empty, &variables).await;
    let pieces = |text: &[&str]| {
        text.iter()
            .map(|&piece| piece.to_owned())
            .collect::<Vec<_>>()
    };
    // No passage says the sentence, and nothing follows it.
    let text = pieces(&[INVENTED, " And so ", "on"]);
    service.model.tell(Reply::HangsAfter(text));
    let events = service.stream(json!({"query": COVERED})).await;
    assert!(!text_of(&events).contains("Karpov"), "{events:?}");
    // With a sentence that a passage says, it is shown.
    let text = pieces(&[INVENTED, " ", SIGNS, " [1].", " More."]);
    service.model.tell(Reply::Text(text, Duration::ZERO));
    let events = service.stream(json!({"query": COVERED})).await;
    assert!(text_of(&events).starts_with(INVENTED), "{events:?}");
    assert_eq!(events.last().unwrap().1["unsupported"], json!([INVENTED]));
    // A first sentence that takes too long is shown before its end.
    service
        .model
        .tell(Reply::HangsAfter(pieces(&["Then Karpov ", "won "])));
    let events = service.stream(json!({"query": COVERED})).await;
    assert!(text_of(&events).starts_with("Then Karpov"), "{events:?}");
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
    assert_eq!((last.as_str(), &done["unsupported"]), ("done", &json!([])));
    // Nothing of it was shown before it was checked.
    assert!(!text.contains("Karpov"), "{text}");
    assert!(after_doubt(&text).is_some(), "{text}");
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
