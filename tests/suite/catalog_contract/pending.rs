//! Intents, garbage and the sweep.

use std::time::Duration;

use bookrag::catalog::{Catalog, CommitOutcome, Pending};
use uuid::Uuid;

use super::Store;
use super::rows::{chunk, commit, document_id, live_index, points, write};

const SOURCE: &str = "docs/a.md";
const HOUR: Duration = Duration::from_hours(1);

async fn intents<const COUNT: usize>(catalog: &Catalog, index_id: i64) -> [Uuid; COUNT] {
    let points = [(); COUNT].map(|()| Uuid::new_v4());
    catalog
        .add_intents(index_id, document_id(SOURCE), &points)
        .await
        .unwrap();
    points
}

fn due(point_id: Uuid, last_time: bool) -> Pending {
    Pending {
        point_id,
        last_time,
    }
}

pub(super) async fn intents_wait_until_they_are_old(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let [_, _] = intents(catalog, index_id).await;
    assert_eq!(catalog.claim_pending(index_id, HOUR).await.unwrap(), []);
    assert_eq!(
        catalog
            .claim_pending(index_id + 1, Duration::ZERO)
            .await
            .unwrap(),
        []
    );
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 2);
}

pub(super) async fn a_claimed_intent_cannot_be_committed(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let commit = commit(
        index_id,
        SOURCE,
        0,
        &[chunk(SOURCE, 0, "one"), chunk(SOURCE, 1, "two")],
    );
    catalog
        .add_intents(index_id, document_id(SOURCE), &commit.intents[..1])
        .await
        .unwrap();
    let claimed = catalog
        .claim_pending(index_id, Duration::ZERO)
        .await
        .unwrap();
    assert_eq!(claimed, [due(commit.intents[0], false)]);
    // Recording it again does not restore it.
    assert_eq!(write(catalog, &commit).await, CommitOutcome::Conflict);
    assert_eq!(catalog.document(index_id, SOURCE).await.unwrap(), None);
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 2);
}

pub(super) async fn claimed_points_are_due_once_more_and_for_the_last_time(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let [point] = intents(catalog, index_id).await;
    let claim = async |age| catalog.claim_pending(index_id, age).await.unwrap();
    assert_eq!(claim(Duration::ZERO).await, [due(point, false)]);
    assert_eq!(claim(HOUR).await, []);
    assert_eq!(claim(Duration::ZERO).await, [due(point, true)]);
    // Due until it is forgotten, since the sweep may have died.
    assert_eq!(claim(Duration::ZERO).await, [due(point, true)]);
    catalog.forget(index_id, &[point]).await.unwrap();
    assert_eq!(claim(Duration::ZERO).await, []);
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 0);
}

pub(super) async fn garbage_is_due_at_once_until_it_is_forgotten(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let chunks = [chunk(SOURCE, 0, "one")];
    write(catalog, &commit(index_id, SOURCE, 0, &chunks)).await;
    write(catalog, &commit(index_id, SOURCE, 1, &[])).await;
    let garbage = points(&chunks);
    for _ in 0..2 {
        let claimed = catalog.claim_pending(index_id, HOUR).await.unwrap();
        assert_eq!(claimed, [due(garbage[0], true)]);
    }
    catalog.forget(index_id, &garbage).await.unwrap();
    assert_eq!(catalog.claim_pending(index_id, HOUR).await.unwrap(), []);
}

pub(super) async fn forgetting_spares_intents(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let points: [Uuid; 2] = intents(catalog, index_id).await;
    catalog.forget(index_id, &points).await.unwrap();
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 2);
}

pub(super) async fn all_points_are_known_and_those_in_use_have_a_source(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let [intent] = intents(catalog, index_id).await;
    let old = [chunk(SOURCE, 0, "kept"), chunk(SOURCE, 1, "gone")];
    write(catalog, &commit(index_id, SOURCE, 0, &old)).await;
    let mut next = commit(index_id, SOURCE, 1, &old[..1]);
    next.intents = Vec::new();
    write(catalog, &next).await;
    let known = catalog.known_points(index_id, None, 1_000).await.unwrap();
    let mut expected = vec![
        (old[0].point_id, true),
        (old[1].point_id, false),
        (intent, false),
    ];
    expected.sort();
    assert_eq!(known, expected);
    let points: Vec<Uuid> = known.iter().map(|(point, _)| *point).collect();
    // The same points, one by one.
    let mut paged: Vec<(Uuid, bool)> = Vec::new();
    while paged.len() < known.len() {
        let last = paged.last().map(|(point, _)| *point);
        let page = catalog.known_points(index_id, last, 1).await.unwrap();
        assert_eq!(page.len(), 1);
        paged.extend(page);
    }
    assert_eq!(paged, known);
    let last = known.last().map(|(point, _)| *point);
    assert_eq!(catalog.known_points(index_id, last, 1).await.unwrap(), []);
    let sources = catalog.sources_of_points(index_id, &points).await.unwrap();
    assert_eq!(sources, [(old[0].point_id, SOURCE.to_owned())]);
    assert_eq!(
        catalog
            .known_points(index_id + 1, None, 1_000)
            .await
            .unwrap(),
        []
    );
}

pub(super) async fn an_intent_is_either_claimed_or_committed(store: Store) {
    let index_id = live_index(&store.catalog).await;
    for round in 0..20 {
        let source = format!("docs/{round}.md");
        let commit = commit(
            index_id,
            &source,
            0,
            &[chunk(&source, 0, "one"), chunk(&source, 1, "two")],
        );
        store
            .catalog
            .add_intents(index_id, document_id(&source), &commit.intents)
            .await
            .unwrap();
        let (catalog, intents) = (store.catalog.clone(), commit.intents.clone());
        let writer = tokio::spawn(async move { catalog.commit(&commit).await.unwrap() });
        let claimed = store
            .catalog
            .claim_pending(index_id, Duration::ZERO)
            .await
            .unwrap();
        let claimed = claimed
            .iter()
            .filter(|pending| intents.contains(&pending.point_id))
            .count();
        let outcome = writer.await.unwrap();
        match outcome {
            CommitOutcome::Committed { .. } => assert_eq!(claimed, 0),
            CommitOutcome::Conflict => assert!(claimed > 0),
            CommitOutcome::Retired => panic!("the index is live"),
        }
    }
}
