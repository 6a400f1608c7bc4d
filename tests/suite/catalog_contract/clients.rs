//! Many concurrent clients with their own connections, like functions.

use std::collections::HashSet;
use std::time::Duration;

use bookrag::catalog::{Catalog, CommitOutcome};
use futures::future::join_all;
use uuid::Uuid;

use super::Store;
use super::rows::{chunk, commit, document_id, live_index, points, write};

const CLIENTS: usize = 20;
/// Connections per client; clients use the sizes in turn.
const POOL_SIZES: [usize; 2] = [1, 2];
/// How often each client changes its own document; it changes the shared one once.
const ROUNDS: i64 = 5;
const SHARED: &str = "docs/shared.md";
/// Chunks of every document.
const CHUNKS: usize = 2;

#[tokio::test(flavor = "multi_thread")]
async fn twenty_clients_on_two_connections_all_succeed() {
    let store = Store::pgbouncer().await;
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let clients = (0..CLIENTS)
        .zip(POOL_SIZES.into_iter().cycle())
        .map(|(number, pool_size)| client(store.reopened_with(pool_size), index_id, number));
    let mut claimed: HashSet<Uuid> = join_all(clients).await.into_iter().flatten().collect();

    let documents = catalog.documents(index_id).await.unwrap();
    assert_eq!(documents.len(), CLIENTS + 1);
    let shared_changes = i64::try_from(CLIENTS).unwrap();
    for document in &documents {
        let changes = match document.row.source.as_str() {
            SHARED => shared_changes,
            _ => ROUNDS,
        };
        assert_eq!(document.revision, changes, "{}", document.row.source);
    }

    let known = catalog.known_points(index_id, None, 1_000).await.unwrap();
    let distinct: HashSet<Uuid> = known.iter().map(|(point, _)| *point).collect();
    assert_eq!(distinct.len(), known.len(), "a point is in use and pending");
    let used = known.iter().filter(|(_, is_used)| *is_used);
    let used: HashSet<Uuid> = used.map(|(point, _)| *point).collect();
    assert_eq!(used.len(), documents.len() * CHUNKS);

    // The first sweep claims the intents of failed commits, the second forgets them.
    for _ in 0..2 {
        claimed.extend(sweep(catalog, index_id).await);
    }
    assert_eq!(catalog.pending_count(index_id).await.unwrap(), 0);
    assert!(claimed.is_disjoint(&used), "a point in use was swept");
    assert_eq!(joined(catalog, index_id, &used).await, used);
}

/// Changes its own document in rounds with sweeps between them, then the shared one. Returns the points it claimed.
async fn client(catalog: Catalog, index_id: i64, number: usize) -> Vec<Uuid> {
    let own = format!("docs/{number}.md");
    let mut claimed = Vec::new();
    for _ in 0..ROUNDS {
        let (old, new) = replace(&catalog, index_id, &own).await;
        let either: HashSet<Uuid> = old.union(&new).copied().collect();
        assert_eq!(joined(&catalog, index_id, &either).await, new);
        claimed.extend(sweep(&catalog, index_id).await);
    }
    replace(&catalog, index_id, SHARED).await;
    claimed
}

/// Moves a document's chunks to new points, and retries until no other writer or sweep interferes. Returns the old
/// and the new points.
async fn replace(catalog: &Catalog, index_id: i64, source: &str) -> (HashSet<Uuid>, HashSet<Uuid>) {
    let document_id = document_id(source);
    loop {
        let stored = catalog.document(index_id, source).await.unwrap();
        let revision = stored.map_or(0, |stored| stored.revision);
        let old = catalog.chunks(index_id, document_id).await.unwrap();
        let new: [_; CHUNKS] = [chunk(source, 0, "one"), chunk(source, 1, "two")];
        match write(catalog, &commit(index_id, source, revision, &new)).await {
            CommitOutcome::Committed { garbage } => {
                let old: HashSet<Uuid> = points(&old).into_iter().collect();
                assert_eq!(garbage.into_iter().collect::<HashSet<_>>(), old);
                return (old, points(&new).into_iter().collect());
            }
            CommitOutcome::Conflict => {}
            CommitOutcome::Retired => panic!("the index is live"),
        }
    }
}

/// Claims all pending points of any age, and forgets those that are due. Returns the claimed points.
async fn sweep(catalog: &Catalog, index_id: i64) -> Vec<Uuid> {
    let pending = catalog
        .claim_pending(index_id, Duration::ZERO)
        .await
        .unwrap();
    let last = pending.iter().filter(|pending| pending.last_time);
    let last: Vec<Uuid> = last.map(|pending| pending.point_id).collect();
    catalog.forget(index_id, &last).await.unwrap();
    pending.iter().map(|pending| pending.point_id).collect()
}

/// Returns the points that the book holds.
async fn joined(catalog: &Catalog, index_id: i64, points: &HashSet<Uuid>) -> HashSet<Uuid> {
    let points: Vec<Uuid> = points.iter().copied().collect();
    let joined = catalog.join(index_id, &points).await.unwrap();
    joined.iter().map(|joined| joined.point_id).collect()
}
