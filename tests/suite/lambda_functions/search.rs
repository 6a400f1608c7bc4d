use bookrag_tests::backends::{Backends, ORIGIN};
use bookrag_tests::events::RestRequest;
use serde_json::{Value, json};

use super::{Lambda, assert_failure, filled};

const WORDS: &str = "calibrate the Dewdrop probe in air and water";
const SOURCE: &str = "docs/module-1-foundations/chapter-1-sensing/01-lesson-soil-moisture.md";

fn sources(body: &Value) -> Vec<&str> {
    let results = body["data"]["results"].as_array().unwrap();
    results
        .iter()
        .map(|result| result["source"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn search_finds_by_url_and_by_body() {
    let backends = filled("lambda_search").await;
    let lambda = Lambda::start("search", &backends.environment()).await;
    let by_url = |top_k: &str| {
        RestRequest::new("GET", "/api/v1/search")
            .query("q", WORDS)
            .query("top_k", top_k)
    };

    let response = lambda.send(by_url("3").stage("prod")).await;
    let body = response.json();
    assert_eq!(response.status, 200, "{body}");
    assert_eq!(sources(&body).len(), 3, "{body}");
    assert!(sources(&body).contains(&SOURCE), "{body}");

    let request = json!({ "query": WORDS, "top_k": 3 });
    let response = lambda
        .send(RestRequest::post_json("/api/v1/search", &request))
        .await;
    assert_eq!(sources(&response.json()), sources(&body));

    let response = lambda.send(RestRequest::new("GET", "/api/v1/search")).await;
    assert_failure(&response, 400, "invalid_request", Some("query"));
    assert_failure(
        &lambda.send(by_url("many")).await,
        400,
        "invalid_request",
        Some("top_k"),
    );
    let response = lambda.send(RestRequest::new("PUT", "/api/v1/search")).await;
    assert_failure(&response, 405, "method_not_allowed", None);
}

#[tokio::test]
async fn pages_are_read_as_json_and_as_markdown() {
    let backends = filled("lambda_page").await;
    let lambda = Lambda::start("search", &backends.environment()).await;
    let words = RestRequest::new("GET", "/api/v1/search").query("q", WORDS);
    let found = lambda.send(words).await.json();
    let url = found["data"]["results"][0]["url"].as_str().unwrap();
    let page = || RestRequest::new("GET", "/api/v1/page").query("url", url);
    let body = lambda.send(page()).await.json();
    assert_eq!(body["data"]["url"], url, "{body}");
    let markdown = page().header("Accept", "text/markdown");
    let markdown = lambda.send(markdown.header("Origin", ORIGIN)).await;
    assert_eq!(markdown.text(), body["data"]["text"].as_str().unwrap());
    let path = url.split('#').next().unwrap();
    let canonical = format!("<{ORIGIN}{path}>; rel=\"canonical\"");
    assert_eq!(markdown.header("link"), Some(canonical.as_str()));
    assert_eq!(markdown.header("x-robots-tag"), Some("noindex"));

    let response = lambda.send(RestRequest::new("GET", "/api/v1/page")).await;
    assert_failure(&response, 400, "invalid_request", Some("url"));
    let nowhere = RestRequest::new("GET", "/api/v1/page").query("url", "/docs/none");
    assert_failure(&lambda.send(nowhere).await, 404, "not_found", None);
}

/// API Gateway routes preflights to this function: see `template.yaml`.
#[tokio::test]
async fn search_answers_preflights_of_the_other_functions_paths() {
    let backends = Backends::start("lambda_search_preflights").await;
    let lambda = Lambda::start("search", &backends.environment()).await;
    let allowed = "access-control-allow-origin";
    for path in ["/api/v1/chat", "/api/query", "/api/v1/conversations/1"] {
        let preflight = |origin: &str| {
            RestRequest::new("OPTIONS", path)
                .header("Origin", origin)
                .header("Access-Control-Request-Method", "POST")
                .header("Access-Control-Request-Headers", "content-type")
        };
        let response = lambda.send(preflight(ORIGIN)).await;
        assert!(response.status.is_success(), "{path}: {}", response.status);
        assert_eq!(response.header(allowed), Some(ORIGIN), "{path}");
        let age = response.header("access-control-max-age");
        assert_eq!(age, Some("7200"), "{path}");
        let response = lambda.send(preflight("https://evil.example")).await;
        assert_eq!(response.header(allowed), None, "{path}");
    }
    let response = lambda.send(RestRequest::new("GET", "/api/v1/chat")).await;
    assert_failure(&response, 404, "not_found", None);
}
