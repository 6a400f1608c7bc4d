//! Extractive answers over Qdrant's engine and Postgres are reproducible and link to the book's pages.

use bookrag_tests::chat_model::Reply;
use futures::future::join_all;

use super::Service;

/// How often the question is asked concurrently.
const TIMES: usize = 20;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_has_the_same_answer_and_sources_each_time() {
    // Pages with equal text have equal scores.
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

#[tokio::test]
async fn links_in_a_quote_lead_to_the_pages_of_the_book() {
    let pages = [
        (
            "frost.md",
            "# Frost\n\nSigns of frost: see [the moon](./moon.md#rise) and [the owl](./owl.md).\n",
        ),
        (
            "moon.md",
            "---\nslug: /at-night\n---\n\n# Moon\n\nIt rises late.\n",
        ),
    ];
    let model = Reply::text(["no model is asked"]);
    let variables = [("BOOKRAG_GENERATOR", "extractive")];
    let service = Service::of_book("extracts_links", model, &variables, &pages).await;
    let (data, _) = service.answer("What are the signs of frost?").await;
    let answer = data["answer"].as_str().unwrap();
    let quoted = "Signs of frost: see [the moon](/docs/at-night#rise) and the owl.";
    assert!(answer.contains(quoted), "{answer}");
}

#[tokio::test]
async fn a_quoted_introduction_is_followed_by_links_to_the_sections_below_it() {
    let introduction =
        "A probe is calibrated at two points, because its signal is a line. ".repeat(5);
    let page = format!(
        "---\nslug: /probes-(all)\n---\n\n# Calibrating\n\n{introduction}\n\n## In *air*\n\nHold it up.\n\n\
         ### Twice\n\nAgain.\n\n## In water\n\nDip it.\n"
    );
    let model = Reply::text(["no model is asked"]);
    let variables = [("BOOKRAG_GENERATOR", "extractive")];
    let pages = [("probes.md", &*page)];
    let service = Service::of_book("extracts_below", model, &variables, &pages).await;
    let (data, _) = service
        .answer("At how many points is a probe calibrated?")
        .await;
    let answer = data["answer"].as_str().unwrap();
    let links = "\n\n*In this section:* [In air](/docs/probes-%28all%29#in-air) · [In water](/docs/probes-%28all%29#in-water)";
    assert!(answer.ends_with(links), "{answer}");
}
