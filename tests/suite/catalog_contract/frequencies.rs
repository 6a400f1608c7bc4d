//! Document frequencies of words, counted in chunks.

use bookrag::catalog::Commit;
use bookrag::retrieve::Language;
use futures::future::join_all;

use super::Store;
use super::rows::{COMMITTED, chunk, commit, live_index, new_index, write};
use super::searching::{SOURCE, write_texts};

pub(super) async fn the_chunks_that_have_a_word_are_counted(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let counted = async |words: &[&str]| {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let counted = catalog.document_frequencies(index_id, &words, Language::ENGLISH);
        counted.await.unwrap()
    };
    assert_eq!(counted(&["node"]).await.chunks, 0);
    let texts = [
        "Nodes talk, a node listens.",
        "The battery of a node.",
        "Two batteries",
    ];
    write_texts(catalog, index_id, texts).await;
    let found = counted(&["Node", "batteries", "quasar", "the", "ROS2"]).await;
    assert_eq!(found.chunks, 3);
    let expected = [
        ("Node", 2),
        ("batteries", 2),
        ("quasar", 0),
        ("the", 3),
        ("ROS2", 0),
    ];
    let expected = expected.map(|(word, with)| (word.to_owned(), with));
    assert_eq!(found.with, expected.into());
    assert_eq!(counted(&["the"]).await.chunks, 3);
    // Another index of the same file counts separately.
    let other = catalog.ensure_index(&new_index("other")).await.unwrap();
    let words = ["node".to_owned()].into();
    let counted = catalog.document_frequencies(other.index_id, &words, Language::ENGLISH);
    let counted = counted.await.unwrap();
    assert_eq!((counted.chunks, counted.with["node"]), (0, 0));
}

pub(super) async fn the_counts_follow_the_chunks_of_a_page(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let counted = async || {
        let words = ["node", "battery", "charger"].map(str::to_owned).into();
        let counted = catalog.document_frequencies(index_id, &words, Language::ENGLISH);
        let counted = counted.await.unwrap();
        let values = catalog.values(index_id, "module").await.unwrap();
        let with = ["node", "battery", "charger"].map(|word| counted.with[word]);
        (counted.chunks, with, values.len())
    };
    let chunks = ["a node", "a battery", "a battery of a node"];
    let [node, battery, both] = chunks.map(|text| chunk(SOURCE, 0, text));
    let first = commit(index_id, SOURCE, 0, &[node.clone(), battery.clone()]);
    assert_eq!(write(catalog, &first).await, COMMITTED);
    assert_eq!(counted().await, (2, [1, 1, 0], 1));
    let other = chunk("docs/b.md", 0, "a charger");
    write(catalog, &commit(index_id, "docs/b.md", 0, &[other])).await;
    assert_eq!(counted().await, (3, [1, 1, 1], 1));
    // One chunk stays, one goes, and one is new.
    let mut second = commit(index_id, SOURCE, 1, &[node.clone(), both.clone()]);
    second.intents = vec![both.point_id];
    write(catalog, &second).await;
    assert_eq!(counted().await, (3, [2, 1, 1], 1));
    // A conflict changes nothing.
    let outdated = commit(index_id, SOURCE, 1, &[battery]);
    write(catalog, &outdated).await;
    assert_eq!(counted().await, (3, [2, 1, 1], 1));
    let kept = Commit {
        chunks: None,
        intents: Vec::new(),
        ..commit(index_id, SOURCE, 2, &[])
    };
    write(catalog, &kept).await;
    assert_eq!(counted().await, (3, [2, 1, 1], 1));
    for (source, revision) in [(SOURCE, 3), ("docs/b.md", 1)] {
        let mut deleted = commit(index_id, source, revision, &[]);
        deleted.document.deleted = true;
        write(catalog, &deleted).await;
    }
    assert_eq!(counted().await, (0, [0, 0, 0], 0));
    assert_eq!(catalog.stats(index_id).await.unwrap().documents, 0);
}

pub(super) async fn concurrent_commits_are_all_counted(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let write_page = async |number: usize| {
        let source = format!("docs/{number}.md");
        // The same words in another order.
        let mut words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"];
        words.rotate_left(number % 6);
        let chunks = [chunk(&source, 0, &words.join(" "))];
        write(catalog, &commit(index_id, &source, 0, &chunks)).await
    };
    let outcomes = join_all((0..24).map(write_page)).await;
    assert!(outcomes.iter().all(|outcome| *outcome == COMMITTED));
    let words = ["alpha", "zeta"].map(str::to_owned).into();
    let counted = catalog.document_frequencies(index_id, &words, Language::ENGLISH);
    let counted = counted.await.unwrap();
    assert_eq!((counted.with["alpha"], counted.with["zeta"]), (24, 24));
}
