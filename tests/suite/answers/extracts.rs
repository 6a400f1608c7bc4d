//! Extracts over Qdrant's engine and Postgres: the same each time.

use bookrag_tests::chat_model::Reply;
use futures::future::join_all;

use super::Service;

/// How often the question is asked, all at once.
const TIMES: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_the_same_answer_and_sources_each_time() {
    // Pages of equal text have equal scores.
    let short = "# Frost\n\nA clear sky and a low moon are signs of frost.\n".to_owned();
    let birds = (0..30).map(|n| format!("Station {n} counts birds.\n\n"));
    let long = format!(
        "# Birds\n\n{}Signs of frost: no bird sings.\n",
        birds.collect::<String>()
    );
    let names: Vec<String> = (0..12).map(|n| format!("page{n}.md")).collect();
    let texts = [&*short, &*long].into_iter().cycle();
    let pages: Vec<(&str, &str)> = names.iter().map(|name| &**name).zip(texts).collect();
    let service = Service::of_book(
        "extracts_repeat",
        Reply::text(["no model is asked"]),
        &[("BOOKRAG_GENERATOR", "extractive")],
        &pages,
    )
    .await;
    let asked = (0..TIMES).map(|_| service.answer("What are the signs of frost?"));
    let answers = join_all(asked).await.into_iter().map(|(data, _)| {
        assert_eq!(data["outcome"], "answered", "{data}");
        let parts = ["answer", "citations", "retrieved_chunk_ids"];
        parts.map(|part| data[part].to_string())
    });
    let mut answers: Vec<_> = answers.collect();
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:?}");
}
