//! Extractive answers with an in-memory catalog, while the vector store is down.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::IntoResponse;
use futures::future::join_all;
use futures::{StreamExt, stream};
use serde_json::{Value, json};

use super::{
    Answer, Answerer, Mode, ModelLimits, NOT_COVERED, Outcome, Question, Rules, Suggestion,
    UNCERTAIN,
};
use crate::degradation::Degradation;
use crate::generate::Generator;
use crate::retrieve::Retriever;
use crate::retrieve::tests::tokens::book_of;
use crate::retrieve::tests::{add_unlisted, book};
use fakes::server::Server;
use models::chat::{ChatModel, ChatOptions, OpenAiChat};
use store::index::{FaultyIndex, VectorIndex};

async fn answer(retriever: &Retriever, question: Question) -> Answer {
    let answerer = Answerer {
        retriever: retriever.clone(),
        generator: Generator::Extractive,
        rules: Rules::default(),
    };
    let prepared = answerer.prepare(question, None).await.unwrap();
    prepared.whole().await.unwrap()
}

#[test]
fn equal_questions_differ_in_case_spaces_and_final_signs_but_not_in_options() {
    let normalised = |query: &str| Question::new(query).normalised();
    assert_eq!(normalised("How do I  PRUNE?"), normalised("how do i prune"));
    assert_eq!(normalised("what’s `-D`?!"), "what's `-D`");
    assert_ne!(normalised("what does -D do"), normalised("what does -d do"));
}

#[tokio::test]
async fn while_the_book_is_indexed_for_the_first_time_progress_is_told_instead_of_a_refusal() {
    let mut retriever = book(&[("dew", 1, "The dew sensor drifts at night.")]).await;
    let asked = "Who won the chess championship in Reykjavik?";
    let refused = answer(&retriever, Question::new(asked)).await;
    assert_eq!(refused.text, NOT_COVERED);
    retriever.index.pages_expected = Some(63);
    let told = answer(&retriever, Question::new(asked)).await;
    assert!(!told.answered());
    assert_eq!(
        told.text,
        "This documentation is still being indexed (1 of 63 pages), so I cannot answer that yet. Please ask again in a moment."
    );
    assert_eq!(
        told.degraded,
        [Degradation::Indexing, Degradation::VectorStore]
    );
    // Answers come from the pages that are already indexed.
    let question = Question::new("Does the dew sensor drift at night?");
    let answered = answer(&retriever, question).await;
    assert!(
        answered.answered() && answered.degraded.contains(&Degradation::Indexing),
        "{answered:?}"
    );
}

#[tokio::test]
async fn a_selection_is_found_in_its_section() {
    let selected = "As chapter 4 says, the dew sensor drifts at night when its heater is off.";
    let pages = [
        ("dew", 1, selected),
        (
            "quiz",
            4,
            "Quiz of chapter 4, learning objectives, takeaways.",
        ),
    ];
    let retriever = book(&pages).await;
    let question = Question {
        mode: Mode::SelectedText,
        selected_text: Some(selected.to_owned()),
        ..Question::new("When does the dew sensor drift?")
    };
    let answer = answer(&retriever, question).await;
    assert!(answer.answered(), "{answer:?}");
    assert_eq!(answer.citations[0].source, "dew.md");
}

#[tokio::test]
async fn an_unlisted_page_answers_and_is_suggested_only_where_it_is_open() {
    let frost = "The frost sensor warns at night.";
    let drift = "The dew sensor drifts at night when its heater is off.";
    let retriever = book(&[("frost", 1, frost)]).await;
    add_unlisted(&retriever, &("dew", 1, drift)).await;
    let whole = Question::new("When does the dew sensor drift?");
    let selected = Question {
        mode: Mode::SelectedText,
        selected_text: Some(drift.to_owned()),
        ..whole.clone()
    };
    for (question, open, expected) in [
        (&whole, None, false),
        (&whole, Some("/frost"), false),
        (&whole, Some("https://book.example/dew?q#x"), true),
        (&selected, None, false),
        (&selected, Some("/dew"), true),
    ] {
        let question = Question {
            page_url: open.map(str::to_owned),
            ..question.clone()
        };
        let answer = answer(&retriever, question).await;
        let is_cited = answer.citations.iter().any(|it| it.source == "dew.md");
        assert_eq!(is_cited, expected, "{open:?}: {answer:?}");
        let is_named = answer.text.contains("drifts");
        assert_eq!(is_named, expected, "{open:?}: {answer:?}");
        let is_suggested = |found: &Suggestion| found.url.starts_with("/dew");
        assert!(!answer.suggestions.iter().any(is_suggested), "{answer:?}");
    }
}

#[tokio::test]
async fn the_more_of_a_question_the_book_lacks_the_more_it_is_doubted_and_nothing_is_withheld() {
    let pages = [
        ("dew", 1, "The dew sensor drifts at night."),
        (
            "frost",
            2,
            "The frost sensor warns at night. It has *two* [lamps].",
        ),
    ];
    let retriever = book(&pages).await;
    let mut outcomes = Vec::new();
    for unknown in 0..24 {
        let unknown: String = (0..unknown).map(|number| format!(" zyx{number}")).collect();
        let asked = format!("Does the dew sensor drift at night?{unknown}");
        let answer = answer(&retriever, Question::new(&asked)).await;
        assert_eq!(answer.citations[0].source, "dew.md");
        assert!(answer.text.ends_with("The dew sensor drifts at night. [1]"));
        let is_doubted = answer.text.starts_with(UNCERTAIN);
        assert_eq!(is_doubted, answer.outcome == Outcome::Uncertain);
        let [frost] = &answer.suggestions[..] else {
            panic!("{answer:?}");
        };
        let expected = "The frost sensor warns at night. It has *two* [lamps].";
        assert_eq!(frost.text.as_deref(), Some(expected));
        outcomes.push(answer.outcome);
    }
    outcomes.dedup();
    assert_eq!(outcomes, [Outcome::Answered, Outcome::Uncertain]);
    let other = answer(&retriever, Question::new("Who painted it?")).await;
    assert_eq!(
        (other.outcome, &*other.text),
        (Outcome::NotCovered, NOT_COVERED)
    );
}

#[tokio::test]
async fn in_doubt_one_section_is_quoted_and_one_that_is_as_good_is_suggested() {
    let pages = [
        ("dew", 1, "The sensor drifts at night. It has *one* [lamp]."),
        (
            "frost",
            2,
            "The sensor drifts at night. It has *two* [lamps].",
        ),
    ];
    let retriever = book(&pages).await;
    let unknown: String = (0..24).map(|number| format!(" zyx{number}")).collect();
    let asked = format!("Does the sensor drift at night?{unknown}");
    let answer = answer(&retriever, Question::new(&asked)).await;
    assert_eq!(answer.outcome, Outcome::Uncertain);
    assert!(answer.text.starts_with(UNCERTAIN), "{}", answer.text);
    assert_eq!(answer.citations.len(), 1, "{answer:?}");
    let [other] = &answer.suggestions[..] else {
        panic!("{answer:?}");
    };
    assert_ne!(other.url, answer.citations[0].url);
}

/// A chat model that refuses all questions.
async fn refusing_model() -> Generator {
    let refuses = |_: &Value| {
        let refusal =
            json!({"choices": [{"delta": {"content": NOT_COVERED}, "finish_reason": "stop"}]});
        let body = format!("data: {refusal}\n\ndata: [DONE]\n\n");
        ([("content-type", "text/event-stream")], body).into_response()
    };
    model(&Server::start("/v1/chat/completions", refuses).await)
}

/// A chat model that writes a sentence, and then nothing more without ending.
async fn stalling_model() -> Generator {
    let stalls = |_: &Value| {
        let text = json!({"choices": [{"delta": {"content": "It drifts by two degrees [1]. "}}]});
        let first = stream::iter([Ok::<_, Infallible>(format!("data: {text}\n\n"))]);
        let body = Body::from_stream(first.chain(stream::pending()));
        ([("content-type", "text/event-stream")], body).into_response()
    };
    model(&Server::start("/v1/chat/completions", stalls).await)
}

fn model(server: &Server) -> Generator {
    let options = ChatOptions {
        base_url: format!("{}/v1", server.origin),
        api_key: None,
        model: "a-model".to_owned(),
        timeout: Duration::from_secs(10),
        price: None,
    };
    Generator::Model(ChatModel::OpenAi(OpenAiChat::new(options).unwrap()))
}

#[tokio::test]
async fn a_model_that_falls_silent_is_cut_off_long_before_the_end_of_its_time() {
    let retriever = book(&[("dew", 1, "The dew sensor drifts by two degrees at night.")]).await;
    let limits = ModelLimits {
        silence: Duration::from_millis(300),
        ..ModelLimits::LOCAL
    };
    let answerer = Answerer {
        retriever,
        generator: stalling_model().await,
        rules: Rules {
            model: limits,
            ..Rules::default()
        },
    };
    let question = Question::new("Does the dew sensor drift at night?");
    let prepared = answerer.prepare(question, None).await.unwrap();
    let answer = tokio::time::timeout(limits.answer / 10, prepared.whole()).await;
    let answer = answer.unwrap().unwrap();
    assert_eq!(answer.text.trim_end(), "It drifts by two degrees [1].");
    let expected = [Degradation::VectorStore, Degradation::Truncated];
    assert_eq!(answer.degraded, expected);
}

#[tokio::test]
async fn a_refusal_of_a_model_counts_unless_the_model_is_small() {
    let retriever = book(&[("dew", 1, "The dew sensor drifts at night.")]).await;
    let unknown: String = (0..24).map(|number| format!(" zyx{number}")).collect();
    let doubtful = format!("Does the dew sensor drift at night?{unknown}");
    let found = "Does the dew sensor drift at night?";
    for (limits, query, outcome) in [
        (ModelLimits::HOSTED, found, Outcome::NotCovered),
        (ModelLimits::HOSTED, &doubtful, Outcome::NotCovered),
        (ModelLimits::LOCAL, found, Outcome::NotCovered),
        (ModelLimits::LOCAL.small(), found, Outcome::Uncertain),
        (ModelLimits::LOCAL.small(), &doubtful, Outcome::Uncertain),
    ] {
        let answerer = Answerer {
            retriever: retriever.clone(),
            generator: refusing_model().await,
            rules: Rules {
                model: limits,
                ..Rules::default()
            },
        };
        let prepared = answerer.prepare(Question::new(query), None).await.unwrap();
        let answer = prepared.whole().await.unwrap();
        assert_eq!(answer.outcome, outcome, "{limits:?}, {query}: {answer:?}");
        assert_eq!(answer.citations.is_empty(), outcome == Outcome::NotCovered);
    }
}

#[tokio::test]
async fn a_selection_that_nothing_else_explains_needs_a_model() {
    let pages = [
        (
            "dew",
            1,
            "The dew sensor drifts at night when its heater is off.",
        ),
        ("frost", 2, "The frost sensor warns at night."),
    ];
    let retriever = book(&pages).await;
    for query in ["explain", "What does this mean?", "how do I do this?"] {
        for mode in [Mode::SelectedText, Mode::GlobalBook] {
            let question = Question {
                mode,
                selected_text: Some("The frost sensor warns".to_owned()),
                ..Question::new(query)
            };
            let answer = answer(&retriever, question).await;
            assert!(answer.text.contains("needs a chat model"), "{answer:?}");
            assert_eq!(answer.outcome, Outcome::NotCovered, "{query}");
            let others: Vec<&str> = answer.suggestions.iter().map(|other| &*other.url).collect();
            assert_eq!(others, ["/dew"], "{query}");
        }
    }
}

#[tokio::test]
async fn a_selection_answers_or_does_not() {
    let fact = "The dew sensor drifts at night when its heater is off.";
    let retriever = book(&[("dew", 1, fact)]).await;
    for unknown in 0..24 {
        let unknown: String = (0..unknown).map(|number| format!(" zyx{number}")).collect();
        let question = Question {
            mode: Mode::SelectedText,
            selected_text: Some(fact.to_owned()),
            ..Question::new(&format!("Does the dew sensor drift?{unknown}"))
        };
        let answer = answer(&retriever, question).await;
        assert_ne!(answer.outcome, Outcome::Uncertain, "{answer:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_in_the_questions_language_if_the_book_has_it() {
    let retriever = book(&[("dew", 1, "The dew sensor drifts at night.")]).await;
    let asked = "شطرنج کی عالمی چیمپئن شپ کس نے جیتی؟";
    let refused = answer(&retriever, Question::new(asked)).await;
    assert_eq!(refused.outcome, Outcome::NotCovered);
    assert!(
        refused.text.contains("یہاں معلومات نہیں"),
        "{}",
        refused.text
    );
    assert_eq!(refused.book_language, None);
    // The book has no Russian translation, but the reader reads Russian.
    let asked = "Кто выиграл чемпионат мира по шахматам?";
    let refused = answer(&retriever, Question::new(asked)).await;
    assert_eq!(refused.text, "Здесь нет сведений об этом.");
    assert_eq!(refused.book_language.as_deref(), Some("en"));
}

#[tokio::test]
async fn a_question_whose_filters_leave_nothing_is_refused() {
    let retriever = book(&[("dew", 1, "The dew sensor drifts at night.")]).await;
    let mut question = Question::new("When does the dew sensor drift?");
    question.filters.version = Some("2.0".to_owned());
    let refused = answer(&retriever, question).await;
    assert_eq!((refused.num_candidates, &*refused.text), (0, NOT_COVERED));
}

#[tokio::test]
async fn the_open_page_decides_between_near_ties_and_hides_nothing() {
    let pages = [
        ("dew-a", 1, "The dew sensor drifts at night."),
        ("dew-b", 1, "The dew sensor drifts at night."),
        ("pump", 2, "Pumps and valves of the greenhouse."),
    ];
    let retriever = book(&pages).await;
    for (page, best) in [
        ("dew-a", "dew-a.md"),
        ("dew-b", "dew-b.md"),
        ("pump", "dew-a.md"),
        ("none", "dew-a.md"),
    ] {
        let question = Question {
            page_url: Some(format!("https://example.org/{page}/#x")),
            ..Question::new("When does the dew sensor drift?")
        };
        let answer = answer(&retriever, question).await;
        assert_eq!(answer.citations[0].source, best, "{page}");
        assert_eq!(answer.num_candidates, 2, "{page}");
    }
}

/// Returns a page that is too long to be quoted whole; its last paragraph has the answer.
fn long_page() -> String {
    let paragraphs = (0..30).map(|n| format!("The station number {n} counts birds."));
    let paragraphs: Vec<String> = paragraphs.collect();
    paragraphs.join("\n\n") + "\n\nThe dew sensor drifts at night when its heater is off."
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_the_same_answer_and_sources_each_time() {
    let long = long_page();
    // Pages with equal text have equal scores.
    let names: Vec<String> = (0..12).map(|n| format!("page{n}")).collect();
    let texts = ["The dew sensor drifts at night.", &long];
    let texts = texts.into_iter().cycle();
    let pages = names
        .iter()
        .zip(texts)
        .map(|(name, text)| (&**name, 1, text));
    let retriever = book_of(&pages.collect::<Vec<_>>(), Some("hashed-words")).await;
    let asked = (0..20).map(|_| {
        let retriever = retriever.clone();
        tokio::spawn(async move {
            let question = Question::new("When does the dew sensor drift?");
            let answer = answer(&retriever, question).await;
            assert!(answer.answered(), "{answer:?}");
            (answer.text, answer.citations, answer.retrieved_chunk_ids)
        })
    });
    let mut answers: Vec<_> = join_all(asked)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}

#[tokio::test]
async fn if_the_token_vectors_do_not_come_in_time_words_decide_what_is_quoted() {
    let long = long_page();
    let pages = [("birds", 1, &*long), ("bread", 1, "Bread needs flour.")];
    let mut silent = book_of(&pages, Some("hashed-words")).await;
    if let VectorIndex::Local(local) = &silent.backends.vectors {
        silent.backends.vectors = VectorIndex::Faulty(FaultyIndex::without_tokens(local.clone()));
    }
    let asked = || Question::new("When does the dew sensor drift?");
    let late = answer(&silent, asked()).await;
    assert!(matches!(silent.backends.vectors, VectorIndex::Faulty(_)));
    let by_words = answer(&book_of(&pages, None).await, asked()).await;
    assert_eq!(late.text, by_words.text);
    assert!(
        late.text.contains("when its heater is off"),
        "{}",
        late.text
    );
    assert_eq!(late.citations.len(), 1);
}
