//! How answers come out for models that obey, refuse, fail, hang or write nonsense.

use std::time::Duration;

use bookrag_tests::chat_model::{ChatModel, Reply};
use serde_json::json;

use super::{COVERED, NOT_COVERED, Service, after_doubt, degraded};

/// Part of the extractive answer to [`COVERED`].
const OWN_WORDS: &str = "A clear sky, no wind and a low moon are signs of frost.";

#[tokio::test]
async fn a_models_answer_is_cited_and_priced_by_its_usage() {
    let script = Reply::text(["A clear sky and ", "no wind are signs of frost [", "1]."]);
    let service = Service::with_model("answers_model", script).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answered"], true, "{data}");
    assert_eq!(
        data["answer"],
        "A clear sky and no wind are signs of frost [1]."
    );
    let citation = &data["citations"][0];
    assert_eq!(citation["section"], "Signs of frost", "{citation}");
    assert_eq!(citation["url"], "/docs/frost#signs-of-frost");
    assert_eq!(citation["supported"], true);
    assert!(meta["tokens"].as_u64().unwrap() > 0, "{meta}");
    assert!(degraded(&meta).is_empty(), "{meta}");

    // The whole chunk is in the prompt, each of its sections has its own number, and the question is data.
    let request = &service.model.requests()[0];
    let user = request["messages"][1]["content"].as_str().unwrap();
    assert!(
        user.contains("passage [1]") && user.contains("passage [2]"),
        "{user}"
    );
    assert!(user.contains(COVERED), "{user}");
}

#[tokio::test]
async fn an_uncovered_question_calls_no_model() {
    let service = Service::with_model("answers_uncovered", Reply::text(["Karpov [1]."])).await;
    let (data, _) = service.answer(NOT_COVERED).await;
    assert_eq!(data["answered"], false);
    assert!(service.model.requests().is_empty());
    assert!(!data["suggestions"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn a_model_answers_what_is_uncertain_and_the_answer_is_marked() {
    let script = Reply::text(["A clear sky is a sign of frost [1]."]);
    let service = Service::with_model("answers_uncertain", script).await;
    // The more words are missing from the book, the lower the coverage.
    let mut asked = COVERED.to_owned();
    for number in 0..40 {
        asked.push_str(&format!(" zyx{number}"));
        let (data, meta) = service.answer(&asked).await;
        assert_eq!(data["outcome"], meta["outcome"]);
        assert_eq!(data["answered"], data["outcome"] == "answered");
        if data["outcome"] == "uncertain" {
            assert_eq!(data["answer"], "A clear sky is a sign of frost [1].");
            assert_eq!(data["citations"][0]["source"], "docs/frost.md", "{data}");
            let events = service.stream(json!({"query": asked})).await;
            let done = &events.last().unwrap().1;
            assert_eq!(
                (&done["outcome"], &done["answered"]),
                (&json!("uncertain"), &json!(false))
            );
            let logged = "SELECT count(*)::text FROM chat_queries WHERE uncertain AND NOT answered";
            assert_eq!(service.row(logged).await.as_deref(), Some("2"));
            return;
        }
    }
    panic!("no question is uncertain");
}

#[tokio::test]
async fn what_the_search_finds_and_a_small_model_refuses_is_quoted_with_doubt() {
    let script = Reply::text([
        "This documentation",
        " does NOT cover that",
        ". But Karpov did [1]",
    ]);
    let service = Service::with_model("answers_refusal", script).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(
        (&data["outcome"], degraded(&meta)),
        (&json!("uncertain"), Vec::new())
    );
    let answer = data["answer"].as_str().unwrap();
    let quote = after_doubt(answer).unwrap_or_default();
    assert!(quote.starts_with("\n\n#### "), "{answer}");
    assert!(answer.contains(OWN_WORDS), "{answer}");
    assert!(!answer.contains("Karpov"), "{answer}");

    // Nor does its refusal count where the search is in doubt.
    let unknown: String = (0..40).map(|number| format!(" zyx{number}")).collect();
    let asked = format!("{COVERED}{unknown}");
    let (data, _) = service.answer(&asked).await;
    assert_eq!(data["outcome"], "uncertain", "{data}");
    let answer = data["answer"].as_str().unwrap();
    assert!(after_doubt(answer).is_some(), "{answer}");
}

#[tokio::test]
async fn if_the_model_fails_the_answer_is_extractive() {
    let service = Service::with_model("answers_away", Reply::Empty).await;
    for (script, what) in [
        (Reply::Empty, "generator"),
        (Reply::text(["  \n"]), "generator"),
        (Reply::Breaks(vec!["\n\n".to_owned()]), "generator"),
        (Reply::FinishedBy(Vec::new(), "length"), "truncated"),
        (Reply::Garbage, "generator"),
        (Reply::Status(500, None, "server_error"), "generator"),
        (Reply::Status(401, None, "invalid_api_key"), "generator"),
        (Reply::Status(404, None, "model_not_found"), "generator"),
        (Reply::Status(429, None, "insufficient_quota"), "generator"),
        (
            Reply::FinishedBy(Vec::new(), "content_filter"),
            "content_filter",
        ),
    ] {
        service.model.tell(script);
        let (data, meta) = service.answer(COVERED).await;
        assert!(
            data["answer"].as_str().unwrap().contains(OWN_WORDS),
            "{data}"
        );
        assert_eq!(degraded(&meta), [what]);
        let whole = format!("{data}{meta}");
        assert!(!whole.contains("test-openai-key"), "{whole}");
    }
}

#[tokio::test]
async fn an_answer_that_admits_a_gap_is_kept_whole() {
    let text = "A clear sky is one [1]. On hail, this documentation does not cover that.";
    let service = Service::with_model("answers_open", Reply::text([text])).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answer"], text);
    assert!(degraded(&meta).is_empty(), "{meta}");
}

#[tokio::test]
async fn a_text_that_was_cut_off_is_marked() {
    let service = Service::with_model("answers_cut", Reply::Empty).await;
    let pieces = || vec!["A clear sky [1]".to_owned()];
    for (reason, what) in [
        ("length", "truncated"),
        ("content_filter", "content_filter"),
    ] {
        service.model.tell(Reply::FinishedBy(pieces(), reason));
        let (data, meta) = service.answer(COVERED).await;
        assert_eq!(data["answer"], "A clear sky [1]");
        assert_eq!(degraded(&meta), [what]);
    }
    service.model.tell(Reply::text(["It is so."]));
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["citations"], json!([]));
    assert_eq!(degraded(&meta), ["citations"]);
}

#[tokio::test]
async fn a_busy_model_is_retried_before_the_book_is_quoted() {
    let busy = |wait: Option<u64>| {
        Reply::Status(429, wait.map(Duration::from_secs), "rate_limit_exceeded")
    };
    let script = Reply::times(1, busy(Some(1)), Reply::text(["A clear sky [1]"]));
    let service = Service::with_model("answers_busy", script).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answer"], "A clear sky [1]");
    assert!(degraded(&meta).is_empty());
    assert_eq!(service.model.requests().len(), 2);

    service.model.tell(busy(Some(60)));
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(degraded(&meta), ["generator"]);
    assert!(!data["citations"].as_array().unwrap().is_empty(), "{data}");
    assert_eq!(service.model.requests().len(), 3, "not asked again");
}

#[tokio::test]
async fn cohere_answers_too() {
    let cohere = ChatModel::start(Reply::text(["A clear sky ", "[1]."])).await;
    let environment = cohere.cohere_environment();
    let variables: Vec<(&str, &str)> = environment
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let service = Service::start("answers_cohere", Reply::Hangs, &variables).await;
    let (data, meta) = service.answer(COVERED).await;
    assert_eq!(data["answer"], "A clear sky [1].");
    assert!(meta["tokens"].as_u64().unwrap() > 0);
    assert_eq!(cohere.requests().len(), 1);
}

#[tokio::test]
async fn a_model_may_link_only_to_what_the_passages_link_to() {
    let script = Reply::text([
        "See [it](https://almanac.exa",
        "mple/frost), [this](https://evil.example/x) and ![pixel](https://evil.example/p.png) [1].",
    ]);
    let service = Service::with_model("answers_links", script).await;
    let (data, _) = service.answer(COVERED).await;
    let answer = data["answer"].as_str().unwrap();
    assert!(
        answer.contains("(https://almanac.example/frost)"),
        "{answer}"
    );
    assert!(!answer.contains("evil.example"), "{answer}");
}

#[tokio::test]
async fn a_model_reads_where_its_passages_link_and_may_repeat_it() {
    let repeated = "Signs of frost: see [the moon](/docs/moon#rise) and [clouds](/docs/elsewhere).";
    let pages = [
        (
            "frost.md",
            "# Frost\n\nSigns of frost: see [the moon](./moon.md#rise) and [the owl](./owl.md).\n",
        ),
        (
            "moon.md",
            "# Moon\n\nIt rises late.\n\n## Rise\n\nIn the east.\n",
        ),
    ];
    let script = Reply::text([repeated]);
    let service = Service::of_book("answers_read_links", script, &[], &pages).await;
    let (data, _) = service.answer(COVERED).await;
    let request = &service.model.requests()[0];
    let user = request["messages"][1]["content"].as_str().unwrap();
    let read = "Signs of frost: see [the moon](/docs/moon#rise) and the owl.";
    assert!(user.contains(read), "{user}");
    let answer = data["answer"].as_str().unwrap();
    let shown = "Signs of frost: see [the moon](/docs/moon#rise) and clouds.";
    assert!(answer.starts_with(shown), "{answer}");
}
