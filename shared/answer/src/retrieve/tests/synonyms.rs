//! Words that occur only in the book's `synonyms.txt`.

use super::{Page, book, found, names};
use crate::retrieve::Query;

const PAGES: [Page<'_>; 3] = [
    ("cluster", 1, "Deploy the robot's nodes to Kubernetes."),
    ("laptop", 1, "Deploy the robot's nodes to a laptop."),
    ("dew", 2, "The dew sensor drifts at night."),
];

#[tokio::test]
async fn a_synonym_in_a_chunk_counts_as_the_word_in_the_question() {
    let mut retriever = book(&PAGES).await;
    for question in [
        "k8s",
        "deploy nodes to K8s",
        "container orchestration of nodes",
    ] {
        let query = Query::new(question);
        retriever.index.site.synonyms = Vec::new();
        let without = found(&retriever, query).await;
        let set = ["K8s", "Kubernetes", "container orchestration"];
        retriever.index.site.synonyms = vec![set.map(str::to_owned).into()];
        let with = found(&retriever, query).await;
        assert_eq!(names(&with)[0], "cluster", "{question}");
        assert!(
            with.signals.coverage > 0.99,
            "{question}: {:?}",
            with.signals
        );
        assert!(
            without.signals.coverage < 0.9,
            "{question}: {:?}",
            without.signals
        );
    }
}

#[tokio::test]
async fn a_synonym_that_no_chunk_has_changes_nothing() {
    let mut retriever = book(&PAGES).await;
    let query = Query::new("deploy nodes to a Raspberry");
    let without = found(&retriever, query).await;
    retriever.index.site.synonyms = vec![vec![
        "Raspberry".to_owned(),
        "single-board computer".to_owned(),
    ]];
    let with = found(&retriever, query).await;
    assert_eq!(names(&with), names(&without));
    assert!((with.signals.coverage - without.signals.coverage).abs() < 1e-6);
}
