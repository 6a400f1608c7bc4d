//! Document frequencies of words, counted in chunks.

use bookrag::retrieve::Language;

use super::Store;
use super::rows::{live_index, new_index};
use super::searching::write_texts;

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
