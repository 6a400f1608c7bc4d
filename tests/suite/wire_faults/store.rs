//! Faults of the vector store: it refuses connections, is slow, does not answer, or the connection breaks.

use std::time::Duration;

use bookrag::{
    book::CURRENT_VERSION,
    index::{Filters, IndexError, VectorIndex, VectorQuery},
    ingest::{Ingest, IngestError, Ports},
};
use bookrag_tests::{
    backends::Backends,
    proxy::{Fault, Proxy, Target, When},
};

use super::{BOUND, IMPATIENT, MARKER, PAGE, PATIENT, World, book, bounded};

/// The name of the sparse vectors, which only the request to create a collection contains.
const IN_CREATION: &str = "bm25";

/// A store behind a proxy; its client waits at most `limit` for a response.
async fn proxied(backends: &Backends, limit: Duration) -> (Proxy, VectorIndex) {
    let proxy = Proxy::start(Target::http(backends.engine_url())).await;
    let url = format!("http://{}", proxy.address());
    let index = VectorIndex::qdrant(&url, None, limit).unwrap();
    (proxy, index)
}

async fn open(world: &World, index: VectorIndex) -> Ingest {
    let ports = Ports {
        index,
        ..world.ports()
    };
    Backends::open(ports).await.unwrap()
}

fn is_unavailable(failure: &IngestError) -> bool {
    matches!(failure, IngestError::Index(IndexError::Unavailable(_)))
}

#[tokio::test]
async fn a_store_that_refuses_leaves_the_last_revision() {
    let world = World::start("wire_store_refuses").await;
    let (proxy, index) = proxied(&world.backends, PATIENT).await;
    let ingest = open(&world, index).await;
    proxy.set(Fault::Refuse);
    let failure = world.fail(&ingest).await;
    assert!(is_unavailable(&failure), "{failure}");
    proxy.set(Fault::None);
    world.succeed(&ingest).await;
}

#[tokio::test]
async fn a_slow_store_times_out() {
    let world = World::start("wire_store_slow").await;
    let (proxy, index) = proxied(&world.backends, IMPATIENT).await;
    let ingest = open(&world, index).await;
    proxy.set(Fault::Slow(BOUND));
    let failure = world.fail(&ingest).await;
    assert!(is_unavailable(&failure), "{failure}");
    proxy.set(Fault::None);
    world.succeed(&ingest).await;
}

#[tokio::test]
async fn points_of_a_lost_upsert_response_are_swept() {
    let world = World::start("wire_store_silent").await;
    let (proxy, index) = proxied(&world.backends, IMPATIENT).await;
    let ingest = open(&world, index).await;
    let points = world.points().await;
    proxy.set(Fault::Silent);
    let failure = world.fail(&ingest).await;
    assert!(is_unavailable(&failure), "{failure}");
    // The upsert arrived, although the client timed out.
    bounded(async { while world.points().await == points {} }).await;
    world.assert_last_revision().await;
    proxy.set(Fault::None);
    world.succeed(&ingest).await;
}

/// The client recovers from one broken connection without an error.
async fn a_cut_upsert_succeeds(database: &str, when: When) {
    let world = World::start(database).await;
    let (proxy, index) = proxied(&world.backends, PATIENT).await;
    let ingest = open(&world, index).await;
    let connections = proxy.connections();
    let bytes = MARKER.into();
    proxy.set(Fault::CutOn { bytes, when });
    world.succeed(&ingest).await;
    assert_eq!(proxy.fault(), Fault::None, "no upsert was cut");
    assert!(proxy.connections() > connections);
}

#[tokio::test]
async fn an_interrupted_upsert_succeeds() {
    a_cut_upsert_succeeds("wire_store_cut", When::BeforeForward).await;
}

#[tokio::test]
async fn an_upsert_whose_answer_is_lost_succeeds_and_leaves_no_stray_points() {
    a_cut_upsert_succeeds("wire_store_lost", When::AfterForward).await;
}

/// Even if the first writer gets an error, the next one finds a collection with all its field indexes.
async fn a_cut_creation_is_completed(database: &str, when: When) {
    let backends = Backends::start(database).await;
    let folder = book();
    let (proxy, index) = proxied(&backends, PATIENT).await;
    let ports = Ports {
        index,
        ..backends.ports(folder.path())
    };
    let bytes = IN_CREATION.into();
    proxy.set(Fault::CutOn { bytes, when });
    if let Err(failure) = bounded(Backends::open(ports.clone())).await {
        assert!(is_unavailable(&failure), "{failure}");
    }
    assert_eq!(proxy.fault(), Fault::None, "no creation was cut");
    let ingest = Backends::open(ports).await.unwrap();
    let by_two_fields = Filters {
        source: Some(PAGE.to_owned()),
        version: Some(CURRENT_VERSION.to_owned()),
        ..Filters::default()
    };
    let collection = &ingest.index_row.collection;
    let query = VectorQuery {
        terms: &["frost".to_owned()],
        vector: &[],
        tokens: &[],
        with_questions: true,
        filters: &by_two_fields,
        limit: 1,
    };
    let found = ingest.index.search(collection, &query).await;
    assert!(found.unwrap().is_empty());
}

#[tokio::test]
async fn the_next_writer_completes_an_interrupted_creation() {
    a_cut_creation_is_completed("wire_store_created", When::BeforeForward).await;
}

#[tokio::test]
async fn a_collection_is_completed_after_a_lost_creation_response() {
    a_cut_creation_is_completed("wire_store_unheard", When::AfterForward).await;
}
