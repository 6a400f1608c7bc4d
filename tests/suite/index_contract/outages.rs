//! If the store is down, the error says that a retry may succeed.

use std::fmt::Debug;
use std::time::Duration;

use bookrag::index::{IndexError, VectorIndex};
use tokio::net::TcpListener;
use uuid::Uuid;

use super::points::{DIMENSIONS, many, vector};
use super::{TIMEOUT, assert_rejected, matching, nearest};

/// The timeout for a server that never answers.
const PATIENCE: Duration = Duration::from_millis(200);

async fn is_unavailable<T: Debug>(call: impl Future<Output = Result<T, IndexError>>) {
    let failure = call.await.unwrap_err();
    assert!(matches!(failure, IndexError::Unavailable(_)), "{failure}");
}

/// Makes every call, and asserts that each reports the store as unavailable.
async fn all_are_unavailable(index: &VectorIndex) {
    let (query, points) = (vector(0), [Uuid::new_v4()]);
    tokio::join!(
        is_unavailable(index.ping()),
        is_unavailable(index.ensure_collection("a", DIMENSIONS)),
        is_unavailable(index.upsert("a", many(1))),
        is_unavailable(index.delete("a", &points)),
        is_unavailable(index.vectors("a", &points)),
        is_unavailable(index.point_ids("a")),
        is_unavailable(index.count("a")),
        is_unavailable(index.payloads("a", &points)),
        is_unavailable(nearest(index, "a", &query, 1)),
        is_unavailable(matching(index, "a", "robots", 1)),
        is_unavailable(index.drop_collection("a")),
        is_unavailable(index.point_alias("alias", "a")),
    );
}

#[tokio::test]
async fn a_missing_server_is_unavailable() {
    let nobody = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    all_are_unavailable(&VectorIndex::qdrant(&url, None, TIMEOUT).unwrap()).await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_unavailable() {
    // Connections stay in its queue.
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    all_are_unavailable(&VectorIndex::qdrant(&url, None, PATIENCE).unwrap()).await;
}

#[test]
fn an_invalid_address_is_rejected() {
    assert_rejected(VectorIndex::qdrant("no address", None, TIMEOUT));
}
