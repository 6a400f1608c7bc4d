//! Faults of the embedder: rate limits, errors, and vectors that cannot be stored.

use std::time::Duration;

use bookrag::{
    ingest::{Change, Ingest, IngestError, Ports},
    provider::ProviderError,
};
use bookrag_tests::backends::Backends;

use super::provider::{Provider, Reply, Script};
use super::{World, run};

/// A `Retry-After` short enough for a client to wait.
const SHORT: Duration = Duration::from_secs(1);
const SHORT_SECONDS: &str = "1";
/// A `Retry-After` too long for any client.
const LONG: Duration = Duration::from_hours(1);
const LONG_SECONDS: &str = "3600";

async fn start(database: &str) -> (World, Provider, Ingest) {
    let world = World::start(database).await;
    let provider = Provider::start().await;
    let embedder = provider.embedder(&world.direct.embedder);
    let ports = Ports {
        embedder,
        ..world.ports()
    };
    let ingest = Backends::open(ports).await.unwrap();
    (world, provider, ingest)
}

/// Ingests the page, which must fail without leaving intents, since vectors are computed first.
async fn fail(world: &World, ingest: &Ingest) -> ProviderError {
    let failure = world.fail(ingest).await;
    world.assert_no_leftovers().await;
    match failure {
        IngestError::Embed(failure) => failure,
        failure => panic!("{failure}"),
    }
}

/// Ingests the page until it succeeds, with retries by the client or by this function.
async fn get_through(world: &World, ingest: &Ingest, may_pass: fn(&ProviderError) -> bool) {
    loop {
        match run(ingest).await {
            Ok(outcome) => {
                assert_eq!(outcome.change, Change::Indexed);
                return;
            }
            Err(IngestError::Embed(failure)) if may_pass(&failure) => {
                world.assert_last_revision().await;
                world.assert_no_leftovers().await;
            }
            Err(failure) => panic!("{failure}"),
        }
    }
}

fn is_limit(failure: &ProviderError, wait: Duration) -> bool {
    matches!(failure, ProviderError::RateLimited { retry_after } if *retry_after == Some(wait))
}

#[tokio::test]
async fn a_rate_limit_that_passes_costs_one_request() {
    let (world, provider, ingest) = start("wire_embedder_limit").await;
    provider.tell(|request| match request {
        1 => Reply::RateLimit(SHORT_SECONDS),
        _ => Reply::Vectors,
    });
    get_through(&world, &ingest, |failure| is_limit(failure, SHORT)).await;
    assert_eq!(provider.requests(), 2);
    world.assert_next_revision(&ingest).await;
}

#[tokio::test]
async fn a_lasting_rate_limit_is_reported_with_its_wait() {
    let (world, provider, ingest) = start("wire_embedder_limited").await;
    provider.tell(|_| Reply::RateLimit(LONG_SECONDS));
    let failure = fail(&world, &ingest).await;
    assert!(is_limit(&failure, LONG), "{failure}");
    provider.tell(|_| Reply::Vectors);
    world.succeed(&ingest).await;
}

#[tokio::test]
async fn temporary_failures_cost_their_requests() {
    let (world, provider, ingest) = start("wire_embedder_failures").await;
    provider.tell(|request| match request {
        1 | 2 => Reply::Failure,
        _ => Reply::Vectors,
    });
    get_through(&world, &ingest, |failure| {
        matches!(failure, ProviderError::Unavailable(_))
    })
    .await;
    assert_eq!(provider.requests(), 3);
    world.assert_next_revision(&ingest).await;
}

#[tokio::test]
async fn a_provider_that_always_fails_is_unavailable() {
    let (world, provider, ingest) = start("wire_embedder_fails").await;
    provider.tell(|_| Reply::Failure);
    let failure = fail(&world, &ingest).await;
    assert!(
        matches!(failure, ProviderError::Unavailable(_)),
        "{failure}"
    );
    provider.tell(|_| Reply::Vectors);
    world.succeed(&ingest).await;
}

#[tokio::test]
async fn nothing_is_stored_of_an_answer_that_is_not_one_finite_vector_a_text() {
    let (world, provider, ingest) = start("wire_embedder_malformed").await;
    let scripts: [Script; 5] = [
        |_| Reply::Half,
        |_| Reply::Longer,
        |_| Reply::Of("0"),
        // Exceeds 32 bits.
        |_| Reply::Of("1e39"),
        // Invalid JSON that some servers send.
        |_| Reply::Of("NaN"),
    ];
    for script in scripts {
        provider.tell(script);
        let failure = fail(&world, &ingest).await;
        assert!(matches!(failure, ProviderError::Malformed(_)), "{failure}");
    }
    provider.tell(|_| Reply::Vectors);
    world.succeed(&ingest).await;
}
