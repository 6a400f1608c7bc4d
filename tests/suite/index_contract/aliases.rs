//! Aliases, the names under which readers find the live collection.

use bookrag::index::{IndexError, VectorIndex};
use uuid::Uuid;

use super::points::{DIMENSIONS, found, ids, point, vector};
use super::{Store, assert_rejected, matching, nearest};

/// How often an alias is moved during concurrent searches.
const MOVES: usize = 20;

/// The text of all points.
const TEXT: &str = "Robots move.";

/// Creates both collections with a point in each, and returns the points.
async fn filled(store: &Store) -> [Uuid; 2] {
    let points = [(); 2].map(|()| point(vector(0), TEXT));
    let ids = [points[0].point_id, points[1].point_id];
    for (name, point) in [&store.collection, &store.other].into_iter().zip(points) {
        let ensuring = store.index.ensure_collection(name, DIMENSIONS);
        ensuring.await.unwrap();
        store.index.upsert(name, vec![point]).await.unwrap();
    }
    ids
}

/// Searches the collection or alias by meaning and by words, which must find the same points.
async fn found_by(index: &VectorIndex, name: &str) -> Result<Vec<Uuid>, IndexError> {
    let dense = found(&nearest(index, name, &vector(0), 9).await?);
    let lexical = found(&matching(index, name, TEXT, 9).await?);
    assert_eq!(dense, lexical);
    Ok(dense)
}

pub(super) async fn an_alias_finds_the_collection_it_was_last_pointed_at(store: Store) {
    let (index, alias) = (&store.index, &store.alias);
    let [first, other] = filled(&store).await;
    for (collection, expected) in [
        (&store.collection, first),
        (&store.other, other),
        (&store.other, other),
        (&store.collection, first),
    ] {
        index.point_alias(alias, collection).await.unwrap();
        assert_eq!(found_by(index, alias).await.unwrap(), [expected]);
        let listed = index.point_ids(alias).await.unwrap();
        assert_eq!(listed.into_iter().collect::<Vec<_>>(), [expected]);
        let vectors = index.vectors(alias, &[first, other]).await.unwrap();
        assert_eq!(vectors.into_keys().collect::<Vec<_>>(), [expected]);
        let payloads = index.payloads(alias, &[first, other]).await.unwrap();
        assert_eq!(payloads.into_keys().collect::<Vec<_>>(), [expected]);
    }
    // The collections keep their names and points, and writes through the alias go to its collection.
    let added = point(vector(1), "Added.");
    let expected = ids([&added]);
    index.upsert(alias, vec![added]).await.unwrap();
    index.delete(alias, &[first, other]).await.unwrap();
    let listed = index.point_ids(&store.collection).await.unwrap();
    assert_eq!(listed.into_iter().collect::<Vec<_>>(), expected);
    assert_eq!(found_by(index, &store.other).await.unwrap(), [other]);
}

pub(super) async fn a_search_while_an_alias_moves_finds_one_of_its_collections(store: Store) {
    let (index, alias) = (&store.index, &store.alias);
    let stored = filled(&store).await;
    index.point_alias(alias, &store.collection).await.unwrap();
    let moving = async {
        for round in 0..MOVES {
            let collection = [&store.other, &store.collection][round % 2];
            index.point_alias(alias, collection).await.unwrap();
        }
    };
    let searching = async {
        for _ in 0..2 * MOVES {
            let points = nearest(index, alias, &vector(0), 9).await;
            let found = found(&points.unwrap());
            assert!(found.len() == 1 && stored.contains(&found[0]), "{found:?}");
        }
    };
    tokio::join!(moving, searching);
}

pub(super) async fn an_alias_needs_an_existing_collection_and_an_unused_name(store: Store) {
    let (index, alias) = (&store.index, &store.alias);
    assert_rejected(index.point_alias(alias, &store.collection).await);
    assert_rejected(found_by(index, alias).await);
    let [first, other] = filled(&store).await;
    index.point_alias(alias, &store.collection).await.unwrap();

    let absent = format!("{alias}_absent");
    assert_rejected(index.point_alias(alias, &absent).await);
    assert_eq!(found_by(index, alias).await.unwrap(), [first]);
    let taken = index.point_alias(&store.other, &store.collection).await;
    assert_rejected(taken);
    assert_eq!(found_by(index, &store.other).await.unwrap(), [other]);
}

pub(super) async fn an_alias_is_dropped_with_its_collection(store: Store) {
    let (index, alias) = (&store.index, &store.alias);
    let [_, other] = filled(&store).await;
    index.point_alias(alias, &store.collection).await.unwrap();
    index.drop_collection(&store.collection).await.unwrap();
    assert_rejected(found_by(index, alias).await);
    // A new collection with the old name has none of the old one's aliases.
    store.ensure(DIMENSIONS).await;
    assert_rejected(found_by(index, alias).await);
    index.point_alias(alias, &store.other).await.unwrap();
    assert_eq!(found_by(index, alias).await.unwrap(), [other]);
}
