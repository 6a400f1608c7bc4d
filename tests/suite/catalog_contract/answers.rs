//! The cache of answers.

use std::collections::BTreeMap;
use std::time::Duration;

use bookrag::catalog::{AnswerLookup, CachedAnswer, Catalog};
use uuid::Uuid;

use super::Store;
use super::rows::{chunk, commit, live_index, new_index, points, write};

const DAY: Duration = Duration::from_hours(24);
const KEY: &str = "2f";

fn answer(index_id: i64, points: &[Uuid]) -> CachedAnswer {
    CachedAnswer {
        key: KEY.to_owned(),
        index_id,
        answer: r#"{"text":"“Nodes” — 'n' [1]"}"#.to_owned(),
        points: points.to_vec(),
        book_revision: None,
    }
}

async fn look_up(catalog: &Catalog, index_id: i64) -> AnswerLookup {
    catalog.cached_answer(index_id, KEY).await.unwrap()
}

async fn is_kept(catalog: &Catalog, index_id: i64) -> bool {
    look_up(catalog, index_id).await.answer.is_some()
}

pub(super) async fn an_answer_is_kept_while_the_book_has_its_chunks(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let nothing = AnswerLookup {
        answer: None,
        book_revision: 0,
    };
    assert_eq!(look_up(catalog, index_id).await, nothing);
    let read = [chunk("docs/a.md", 0, "one"), chunk("docs/a.md", 1, "two")];
    write(catalog, &commit(index_id, "docs/a.md", 0, &read)).await;
    let kept = answer(index_id, &points(&read));
    catalog.cache_answer(&kept).await.unwrap();
    let found = look_up(&store.reopened().await, index_id).await;
    assert_eq!(found.answer.as_ref(), Some(&kept.answer));
    // An edit of another page leaves the answer cached.
    let other = [chunk("docs/b.md", 0, "other")];
    write(catalog, &commit(index_id, "docs/b.md", 0, &other)).await;
    let after = look_up(catalog, index_id).await;
    assert!(after.answer.is_some() && after.book_revision > found.book_revision);
    // One of its chunks is replaced.
    let changed = [read[0].clone(), chunk("docs/a.md", 1, "three")];
    let mut replacing = commit(index_id, "docs/a.md", 1, &changed);
    replacing.intents = points(&changed[1..]);
    write(catalog, &replacing).await;
    assert!(!is_kept(catalog, index_id).await);
    // A new answer replaces the old one.
    catalog
        .cache_answer(&answer(index_id, &points(&changed)))
        .await
        .unwrap();
    assert!(is_kept(catalog, index_id).await);
}

pub(super) async fn an_answer_of_a_revision_ends_with_any_commit(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let read = [chunk("docs/a.md", 0, "one")];
    write(catalog, &commit(index_id, "docs/a.md", 0, &read)).await;
    let refusal = CachedAnswer {
        book_revision: Some(look_up(catalog, index_id).await.book_revision),
        ..answer(index_id, &points(&read))
    };
    catalog.cache_answer(&refusal).await.unwrap();
    assert!(is_kept(catalog, index_id).await);
    let mut deletion = commit(index_id, "docs/b.md", 0, &[]);
    deletion.document.deleted = true;
    write(catalog, &deletion).await;
    assert!(!is_kept(catalog, index_id).await);
    // An answer read before a commit does not match the state after it.
    catalog.cache_answer(&refusal).await.unwrap();
    assert!(!is_kept(catalog, index_id).await);
}

pub(super) async fn an_answer_is_of_its_index_and_goes_with_it(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let building = catalog.ensure_index(&new_index("fixed")).await.unwrap();
    catalog.cache_answer(&answer(index_id, &[])).await.unwrap();
    assert!(is_kept(catalog, index_id).await);
    assert!(!is_kept(catalog, building.index_id).await);
    let nothing = BTreeMap::new();
    catalog.switch(building.index_id, &nothing).await.unwrap();
    catalog.begin_drop(Duration::ZERO).await.unwrap();
    catalog.finish_drop(index_id).await.unwrap();
    assert!(!is_kept(catalog, index_id).await);
}

pub(super) async fn an_answer_is_kept_for_a_week_at_most(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let kept = answer(index_id, &[]);
    catalog.cache_answer(&kept).await.unwrap();
    store.elapse(DAY * 6).await;
    let sweep = async |retention| {
        let swept = catalog.forget_expired(Duration::ZERO, retention).await;
        swept.unwrap();
    };
    sweep(None).await;
    assert!(is_kept(catalog, index_id).await);
    // A shorter retention applies to cached answers too.
    sweep(Some(DAY * 5)).await;
    assert!(!is_kept(catalog, index_id).await);
    catalog.cache_answer(&kept).await.unwrap();
    // It is unavailable even before the sweep.
    store.elapse(DAY * 7).await;
    assert!(!is_kept(catalog, index_id).await);
}
