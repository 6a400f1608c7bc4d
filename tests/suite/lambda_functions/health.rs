use std::net::TcpListener;

use bookrag_tests::backends::Backends;
use bookrag_tests::events::RestRequest;
use serde_json::json;

use super::{Lambda, assert_failure, book, filled};

/// A request that also checks the stores.
fn deep(path: &str) -> RestRequest {
    RestRequest::new("GET", path).query("deep", "true")
}

#[tokio::test]
async fn only_deep_health_calls_the_dependencies() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = closed.local_addr().unwrap();
    // It accepts connections, so that a call would be noticed, but never answers.
    closed.set_nonblocking(true).unwrap();
    let lambda = Lambda::start(
        "health",
        &[
            ("QDRANT_URL", format!("http://{nobody}")),
            ("DATABASE_URL", format!("postgresql://rag@{nobody}/book")),
            ("BOOKRAG_EMBEDDER", "openai".to_owned()),
            ("OPENAI_BASE_URL", format!("http://{nobody}/v1")),
            ("BOOKRAG_SALT", "test-salt".to_owned()),
        ],
    )
    .await;
    for path in ["/api/v1/health", "/api/v1/health"] {
        let response = lambda.send(RestRequest::new("GET", path)).await;
        let body = response.json();
        assert_eq!(response.status, 200, "{body}");
        assert_eq!(body["success"], true, "{body}");
        assert_eq!(body["data"]["status"], "unchecked", "{body}");
        for (component, kind) in [
            ("vector_store", "qdrant"),
            ("catalog", "postgres"),
            ("embedder", "openai"),
        ] {
            let component = &body["data"][component];
            assert_eq!(component["status"], "unchecked", "{body}");
            assert_eq!(component["kind"], kind, "{body}");
        }
    }
    let asked = closed.accept().map_err(|error| error.kind());
    assert_eq!(asked.unwrap_err(), std::io::ErrorKind::WouldBlock);

    let request = RestRequest::new("GET", "/api/v1/health").query("deep", "maybe");
    let response = lambda.send(request).await;
    assert_failure(&response, 400, "invalid_request", None);
}

#[tokio::test]
async fn plain_health_reports_the_last_deep_result() {
    let backends = filled("lambda_health_recent").await;
    let lambda = Lambda::start("health", &backends.environment()).await;
    for request in [
        deep("/api/v1/health"),
        RestRequest::new("GET", "/api/v1/health"),
    ] {
        let body = lambda.send(request).await.json();
        assert_eq!(body["data"]["status"], "healthy", "{body}");
        assert!(body["data"]["index"]["chunks"].as_u64() > Some(0), "{body}");
    }
}

#[tokio::test]
async fn health_counts_what_the_index_holds() {
    let backends = Backends::start("lambda_health").await;
    let report = backends.fill(&book()).await;
    let lambda = Lambda::start("health", &backends.environment()).await;
    for path in ["/api/v1/health", "/api/v1/health"] {
        let response = lambda.send(deep(path).stage("prod")).await;
        let body = response.json();
        assert_eq!(response.status, 200, "{body}");
        assert_eq!(body["data"]["status"], "healthy", "{body}");
        assert_eq!(
            body["data"]["index"]["chunks"], report.total_chunks,
            "{body}"
        );
    }
}

#[tokio::test]
async fn health_names_stale_pages_where_the_book_is_for_everybody() {
    let backends = Backends::start("lambda_health_stale").await;
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    std::fs::create_dir(&docs).unwrap();
    let page = docs.join("greenhouse.md");
    std::fs::write(&page, "# Greenhouse\n\nThe door opens at noon.\n").unwrap();
    backends.fill(folder.path()).await;
    std::fs::write(&page, "---\ntitle: \"never closed\n---\n\nThe door.\n").unwrap();
    backends.fill(folder.path()).await;

    let secret = "a secret of thirty-two bytes or more".to_owned();
    for (variable, stale) in [
        (None, json!(["docs/greenhouse.md"])),
        (Some(("BOOKRAG_AUTH_SECRET", secret)), json!([])),
    ] {
        let mut environment = backends.environment();
        environment.extend(variable);
        let lambda = Lambda::start("health", &environment).await;
        let response = lambda.send(deep("/api/v1/health")).await;
        let body = response.json();
        assert_eq!(body["data"]["index"]["documents"], 1, "{body}");
        assert_eq!(body["data"]["index"]["stale"], stale, "{body}");
    }
}

#[tokio::test]
async fn health_says_how_far_the_first_indexing_is() {
    let backends = Backends::start("lambda_health_indexing").await;
    let ingest = Backends::open(backends.ports(&book())).await.unwrap();
    let index = backends.catalog.live_index().await.unwrap().unwrap();
    let expecting = backends.catalog.expect_pages(index.index_id, Some(6_300));
    expecting.await.unwrap();
    ingest.ingest_document("docs/intro.md").await.unwrap();
    let lambda = Lambda::start("health", &backends.environment()).await;
    let response = lambda.send(deep("/api/v1/health")).await;
    let body = response.json();
    assert_eq!(response.status, 200, "{body}");
    assert_eq!(body["data"]["status"], "degraded", "{body}");
    let expected = json!({"done": 1, "total": 6_300});
    assert_eq!(body["data"]["index"]["indexing"], expected, "{body}");
}

#[tokio::test]
async fn health_without_a_vector_store_is_degraded_and_says_no_address() {
    let backends = filled("lambda_health_down").await;
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut environment = backends.environment();
    environment.retain(|(name, _)| *name != "QDRANT_URL");
    environment.push(("QDRANT_URL", format!("http://{closed}")));
    let lambda = Lambda::start("health", &environment).await;
    let response = lambda.send(deep("/api/v1/health")).await;
    let body = response.json();
    assert_eq!(response.status, 200, "{body}");
    assert_eq!(body["data"]["status"], "degraded", "{body}");
    assert_eq!(
        body["data"]["vector_store"]["status"], "unhealthy",
        "{body}"
    );
    assert_eq!(body["data"]["catalog"]["status"], "healthy", "{body}");
    assert!(
        !response.text().contains(&closed.port().to_string()),
        "{body}"
    );
}

#[tokio::test]
async fn health_fails_without_both_stores() {
    let backends = Backends::start("lambda_health_none").await;
    let closed = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let mut environment = backends.environment();
    environment.retain(|(name, _)| !["QDRANT_URL", "DATABASE_URL"].contains(name));
    environment.push(("QDRANT_URL", format!("http://{closed}")));
    let database = format!("postgresql://rag@{closed}/book?sslmode=disable");
    environment.push(("DATABASE_URL", database));
    let lambda = Lambda::start("health", &environment).await;
    let response = lambda.send(deep("/api/v1/health")).await;
    let body = response.json();
    assert_eq!(response.status, 503, "{body}");
    assert_eq!(body["data"]["status"], "unhealthy", "{body}");
}
