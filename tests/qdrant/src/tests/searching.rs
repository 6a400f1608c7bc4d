//! Stored points are found.

use qdrant_client::qdrant::{
    Condition, CountPointsBuilder, Filter, GetPointsBuilder, PrefetchQueryBuilder, Query,
    QueryPointsBuilder, Range, ScrollPointsBuilder, VectorsSelector, vector_output,
};
use serde_json::json;

use super::{BOOK, by_words, count, dense, filled, id, lexical, number, numbers, search};

fn near(left: f32, right: f32) -> bool {
    (left - right).abs() < 1e-5
}

fn module(name: &str) -> Condition {
    Condition::matches("module", name.to_owned())
}

#[tokio::test]
async fn a_chunk_scores_as_its_nearest_leaf() {
    let (_engine, client) = filled().await;
    let found = search(&client, dense(&[1.0, 0.0, 0.0, 0.0]).limit(2)).await;
    assert_eq!(numbers(&found), [1, 2]);
    assert!(near(found[0].score, 1.0), "{found:?}");
    assert!(near(found[1].score, 0.8), "{found:?}");
    let rows = vec![vec![1.0f32, 0.0, 0.0, 0.0], vec![0.0, 1.0, 0.0, 0.0]];
    let both = QueryPointsBuilder::new(BOOK)
        .query(Query::new_nearest(rows))
        .using("dense");
    let found = search(&client, both).await;
    assert_eq!(numbers(&found)[0], 2);
    // MaxSim sums the best match of each row of the query.
    assert!(near(found[0].score, 1.8), "{found:?}");
    let above = dense(&[1.0, 0.0, 0.0, 0.0]).score_threshold(0.9);
    assert_eq!(numbers(&search(&client, above).await), [1]);
}

#[tokio::test]
async fn sparse_vectors_prefer_rare_dimensions() {
    let (_engine, client) = filled().await;
    let found = search(&client, lexical("publishing a topic")).await;
    assert_eq!(numbers(&found), [1, 2]);
    assert!(found[0].score > found[1].score && found[1].score > 0.0);
    assert!(search(&client, lexical("quark")).await.is_empty());
    assert!(search(&client, lexical("")).await.is_empty());
}

#[tokio::test]
async fn filters_reach_keywords_integers_and_booleans() {
    let (_engine, client) = filled().await;
    let up_to = |lte: f64| {
        let range = Range {
            lte: Some(lte),
            ..Range::default()
        };
        Condition::range("hardware_tier", range)
    };
    let either = vec!["Isaac".to_owned(), "ROS 2".to_owned()];
    let code = || Condition::matches("has_code", true);
    for (filter, expected) in [
        (Filter::must([module("Isaac")]), vec![3]),
        (
            Filter::must([Condition::matches("module", either)]),
            vec![1, 3],
        ),
        (Filter::must([up_to(2.0)]), vec![1, 2]),
        (
            Filter::must([Condition::matches("hardware_tier", 2i64)]),
            vec![2],
        ),
        (Filter::must([code()]), vec![1]),
        (Filter::must_not([code()]), vec![2, 3]),
        (Filter::should([up_to(1.0), module("Isaac")]), vec![1, 3]),
        (Filter::must([Condition::has_id([id(2)])]), vec![2]),
    ] {
        let query = dense(&[1.0, 0.0, 0.0, 0.0]).filter(filter.clone());
        let mut found = numbers(&search(&client, query).await);
        found.sort_unstable();
        assert_eq!(found, expected, "{filter:?}");
        let counted = CountPointsBuilder::new(BOOK).filter(filter).exact(true);
        assert_eq!(count(&client, counted).await, expected.len() as u64);
    }
}

#[tokio::test]
async fn payload_and_vectors_come_back_as_stored() {
    let (_engine, client) = filled().await;
    let query = dense(&[0.0, 1.0, 0.0, 0.0])
        .limit(1)
        .with_payload(true)
        .with_vectors(true);
    let found = search(&client, query).await;
    let payload = serde_json::to_value(&found[0].payload).unwrap();
    assert_eq!(payload["heading_path"], json!(["Book", "Simulation"]));
    assert_eq!(payload["hardware_tier"], json!(2));
    assert_eq!(payload["has_code"], json!(false));
    let vectors = found[0].vectors.as_ref().unwrap();
    let Some(vector_output::Vector::MultiDense(rows)) = vectors.get_vector_by_name("dense") else {
        panic!("no multivector: {vectors:?}");
    };
    let rows: Vec<_> = rows.vectors.into_iter().map(|row| row.data).collect();
    assert_eq!(rows, [[0.0, 1.0, 0.0, 0.0], [0.8, 0.6, 0.0, 0.0]]);
    let Some(vector_output::Vector::Sparse(words)) = vectors.get_vector_by_name("bm25") else {
        panic!("no sparse vector: {vectors:?}");
    };
    assert_eq!(words.indices.len(), words.values.len());
}

#[tokio::test]
async fn points_are_returned_in_the_requested_order() {
    let (_engine, client) = filled().await;
    let only_dense = VectorsSelector {
        names: vec!["dense".to_owned()],
    };
    let request = GetPointsBuilder::new(BOOK, [id(3), id(9), id(1)])
        .with_vectors(only_dense)
        .with_payload(false);
    let got = client.get_points(request).await.unwrap().result;
    let ids: Vec<_> = (got.iter())
        .map(|point| number(point.id.as_ref()))
        .collect();
    assert_eq!(ids, [3, 1]);
    assert!(got[0].payload.is_empty());
    let vectors = got[0].vectors.as_ref().unwrap();
    assert!(vectors.get_vector_by_name("dense").is_some());
    assert!(vectors.get_vector_by_name("bm25").is_none());
}

#[tokio::test]
async fn prefetched_points_are_ranked_by_the_query() {
    let (_engine, client) = filled().await;
    let by_meaning = PrefetchQueryBuilder::default()
        .query(Query::new_nearest(vec![1.0f32, 0.0, 0.0, 0.0]))
        .using("dense")
        .limit(1u64);
    let by_words = PrefetchQueryBuilder::default()
        .query(by_words("synthetic"))
        .using("bm25")
        .limit(1u64);
    let ranked = dense(&[1.0, 0.0, 0.0, 0.0])
        .add_prefetch(by_meaning)
        .add_prefetch(by_words);
    let found = search(&client, ranked).await;
    assert_eq!(numbers(&found), [1, 3]);
    assert!(
        near(found[0].score, 1.0) && near(found[1].score, 0.0),
        "{found:?}"
    );
}

#[tokio::test]
async fn scrolling_visits_every_point_once() {
    let (_engine, client) = filled().await;
    let mut seen = Vec::new();
    let mut page = ScrollPointsBuilder::new(BOOK).limit(2).with_payload(false);
    loop {
        let answer = client.scroll(page.clone()).await.unwrap();
        seen.extend(answer.result.iter().map(|point| number(point.id.as_ref())));
        let Some(next) = answer.next_page_offset else {
            break;
        };
        page = page.offset(next);
    }
    assert_eq!(seen, [1, 2, 3]);
}
