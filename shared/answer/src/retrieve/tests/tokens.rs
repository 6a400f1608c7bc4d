//! Questions whose tokens are compared with an index's token vectors.

use super::super::{Backends, Query, Retriever};
use super::{Page, commit, found, new_index, payload};
use models::embed::{Embedder, FakeEmbedder, Purpose};
use models::rerank::Reranker;
use store::catalog::{Catalog, SqliteCatalog};
use store::index::{LocalIndex, VectorIndex};

const PAGES: [Page; 4] = [
    ("rare", 1, "Robots use quaternions."),
    ("common", 1, "Robots use wheels."),
    ("both", 1, "Robots have wheels, arms and quaternions."),
    ("neither", 1, "Bread needs flour."),
];

/// Returns a book with vectors, in an index with this kind of token vectors.
async fn book(token_vectors: Option<&str>) -> Retriever {
    book_of(&PAGES, token_vectors).await
}

/// Like [`book`], for any pages.
pub(crate) async fn book_of(pages: &[Page<'_>], token_vectors: Option<&str>) -> Retriever {
    let embedder = Embedder::Fake(FakeEmbedder::new());
    let sqlite = SqliteCatalog::in_memory().unwrap();
    let vectors = VectorIndex::Local(LocalIndex::from_catalog(&sqlite));
    let catalog = Catalog::Sqlite(sqlite);
    let mut new = new_index();
    new.spec.token_vectors = token_vectors.map(str::to_owned);
    let index = catalog.ensure_index(&new).await.unwrap();
    let ensuring = vectors.ensure_collection(&index.collection, FakeEmbedder::DIMENSIONS);
    ensuring.await.unwrap();
    for page in pages {
        commit(&catalog, index.index_id, page, payload(page)).await;
    }
    let points = catalog
        .known_points(index.index_id, None, 1_000)
        .await
        .unwrap();
    let points: Vec<_> = points.into_iter().map(|(point_id, _)| point_id).collect();
    let mut new_points = Vec::new();
    for chunk in catalog.join(index.index_id, &points).await.unwrap() {
        let text = [chunk.payload.text.clone()];
        let mut embedded = embedder.embed(&text, Purpose::Document).await.unwrap();
        new_points.push(store::index::NewPoint {
            point_id: chunk.point_id,
            payload: chunk.payload,
            embedding: embedded.remove(0),
        });
    }
    let upserting = vectors.upsert(&index.collection, new_points);
    upserting.await.unwrap();
    let backends = Backends {
        embedder,
        reranker: Reranker::None,
        vectors,
        catalog,
        off_topic: crate::retrieve::OffTopicCache::default(),
        questions: crate::retrieve::QuestionCache::default(),
    };
    Retriever { backends, index }
}

/// The token score of a page.
async fn token_score(retriever: &Retriever, question: &str, page: &str) -> Option<f32> {
    let found = found(retriever, Query::new(question)).await;
    let mut candidates = found.candidates.iter();
    let candidate = candidates.find(|found| found.chunk.title == page);
    candidate.unwrap().scores.tokens
}

#[tokio::test]
async fn the_words_that_a_chunk_resembles_count_by_how_rare_they_are() {
    let retriever = book(Some("hashed-words")).await;
    let score = async |page| token_score(&retriever, "the robots quaternions", page).await;
    let [rare, common, both, neither] = [
        score("rare").await.unwrap(),
        score("common").await.unwrap(),
        score("both").await.unwrap(),
        score("neither").await.unwrap(),
    ];
    // Three of four chunks have robots, two quaternions, and all are assumed to have articles; no word has a weight below 0.5.
    let idf = |with: f32| (1.0 + (4.0 - with + 0.5) / (with + 0.5)).ln().max(0.5);
    let [robots, quaternions, the] = [3.0, 2.0, 4.0].map(idf);
    let share = |of: f32| of / (robots + quaternions + the);
    for (score, expected) in [
        (both, share(robots + quaternions)),
        (rare, share(robots + quaternions)),
        (common, share(robots)),
    ] {
        assert!((score - expected).abs() < 0.02, "{score} {expected}");
    }
    assert!(neither < 0.02, "{neither}");
}

#[tokio::test]
async fn an_index_without_this_embedders_token_vectors_has_no_token_scores() {
    for other in [None, Some("pca96 0a1b")] {
        let retriever = book(other).await;
        let question = "robots with quaternions";
        assert_eq!(token_score(&retriever, question, "both").await, None);
    }
}
