//! Faults of the catalog: it refuses connections, does not answer, or the connection breaks at a commit.

use std::time::Duration;

use bookrag::{
    catalog::{Catalog, CatalogError, PostgresCatalog, PostgresOptions, TlsOptions},
    ingest::{Change, Differences, Ingest, IngestError, Ports},
};
use bookrag_tests::{
    backends::Backends,
    proxy::{Fault, Proxy, Target, When},
};

use super::{IMPATIENT, PATIENT, World, page, run};

/// Ends the transaction of a document; no other statement of an ingest contains it.
const COMMIT: &str = "COMMIT";
/// The server's role; anyone with access to its socket is trusted.
const USER: &str = "rag";
/// Connections per function.
const POOL_SIZE: usize = 2;

/// A catalog behind a proxy; its client waits at most `limit` for a connection or a response.
async fn proxied(world: &World, database: &str, limit: Duration) -> (Proxy, Ingest) {
    let proxy = Proxy::start(Target::postgres(world.backends.database_url())).await;
    let address = proxy.address();
    let url = format!("postgresql://{USER}@{address}/{database}?sslmode=disable");
    let catalog = PostgresCatalog::new(PostgresOptions {
        url: url.into(),
        direct_url: None,
        tls: TlsOptions::default(),
        statement_timeout: limit,
        connect_timeout: limit,
        pool_size: POOL_SIZE,
    });
    let ports = Ports {
        catalog: Catalog::Postgres(catalog.unwrap()),
        ..world.ports()
    };
    let ingest = Backends::open(ports).await.unwrap();
    (proxy, ingest)
}

fn is_unavailable(failure: &IngestError) -> bool {
    matches!(failure, IngestError::Catalog(CatalogError::Unavailable(_)))
}

#[tokio::test]
async fn a_lost_commit_changes_nothing() {
    let database = "wire_catalog_cut";
    let world = World::start(database).await;
    let (proxy, ingest) = proxied(&world, database, PATIENT).await;
    proxy.set(Fault::CutOn {
        bytes: COMMIT.into(),
        when: When::BeforeForward,
    });
    let failure = world.fail(&ingest).await;
    assert!(is_unavailable(&failure), "{failure}");
    assert_eq!(proxy.fault(), Fault::None, "no commit was cut");
    world.succeed(&ingest).await;
}

#[tokio::test]
async fn the_next_run_finds_a_commit_whose_response_was_lost() {
    let database = "wire_catalog_lost";
    let world = World::start(database).await;
    let (proxy, ingest) = proxied(&world, database, PATIENT).await;
    proxy.set(Fault::CutOn {
        bytes: COMMIT.into(),
        when: When::AfterForward,
    });
    let failure = run(&ingest).await.unwrap_err();
    assert!(is_unavailable(&failure), "{failure}");
    assert_eq!(proxy.fault(), Fault::None, "no commit was cut");

    // The commit succeeded anyway: all its points exist, and the replaced ones are recorded as garbage.
    let committed = page(&world.direct).await;
    assert_eq!(committed.0.revision, world.before.0.revision + 1);
    let differences = world.direct.compare().await.unwrap();
    assert_eq!(differences, Differences::default());

    assert_eq!(run(&ingest).await.unwrap().change, Change::Unchanged);
    world.assert_next_revision(&ingest).await;
    assert_eq!(page(&world.direct).await, committed);
}

#[tokio::test]
async fn a_catalog_is_used_again_after_an_outage() {
    let database = "wire_catalog_gone";
    let world = World::start(database).await;
    let (proxy, ingest) = proxied(&world, database, PATIENT).await;
    proxy.set(Fault::Refuse);
    for _ in 0..2 {
        let failure = world.fail(&ingest).await;
        assert!(is_unavailable(&failure), "{failure}");
    }
    proxy.set(Fault::None);
    world.succeed(&ingest).await;
}

#[tokio::test]
async fn a_catalog_that_does_not_answer_times_out() {
    let database = "wire_catalog_silent";
    let world = World::start(database).await;
    let (proxy, ingest) = proxied(&world, database, IMPATIENT).await;
    proxy.set(Fault::Silent);
    // First on an existing connection, then on one that cannot be opened.
    for _ in 0..2 {
        let failure = world.fail(&ingest).await;
        assert!(is_unavailable(&failure), "{failure}");
    }
    proxy.set(Fault::None);
    world.succeed(&ingest).await;
}
