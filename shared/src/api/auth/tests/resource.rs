//! Clients learn where to sign in.

use axum::http::Extensions;

use super::*;
use crate::api::PlatformRequestId;

/// Returns what API Gateway adds to a request of a stage.
fn of_stage(stage: &str) -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(Stage(stage.to_owned()));
    extensions
}

/// Returns what Lambda adds to a request.
fn of_lambda() -> Extensions {
    let mut extensions = Extensions::new();
    extensions.insert(PlatformRequestId("request".to_owned()));
    extensions
}

/// Returns the challenge for a request, and the metadata that it leads to.
async fn discovered(
    options: &AuthOptions,
    path: &str,
    headers: &[(&str, &str)],
    extensions: &Extensions,
) -> (String, Option<Value>) {
    let authorizer = Some(authorizer(options));
    let metadata = get(resource_metadata).with_state(authorizer.clone());
    let routes = Router::new()
        .route("/mcp", post(async || "a tool"))
        .route("/ask", post(async || "an answer"))
        .layer(from_fn_with_state(authorizer, authorize))
        .route("/.well-known/oauth-protected-resource", metadata.clone())
        .route("/.well-known/oauth-protected-resource/mcp", metadata);
    let request = |request: axum::http::request::Builder| {
        let mut request = empty(headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        }));
        *request.extensions_mut() = extensions.clone();
        request
    };
    let refused = routes.clone().oneshot(request(Request::post(path)));
    let refused = refused.await.unwrap();
    let challenge = &refused.headers()[header::WWW_AUTHENTICATE];
    let challenge = challenge.to_str().unwrap().to_owned();
    let address = challenge.split_once("resource_metadata=\"");
    let address = address.map(|(_, address)| address.trim_end_matches('"'));
    let Some((_, below)) = address.and_then(|address| address.split_once("/.well-known")) else {
        return (challenge, None);
    };
    let named = format!("/.well-known{below}");
    let answered = routes.oneshot(request(Request::get(named))).await.unwrap();
    assert_eq!(answered.status(), StatusCode::OK);
    let body = to_bytes(answered.into_body(), 10_000).await.unwrap();
    (challenge, Some(serde_json::from_slice(&body).unwrap()))
}

#[tokio::test]
async fn a_challenge_leads_to_metadata_that_names_the_sign_in() {
    let well_known = "/.well-known/oauth-protected-resource";
    for (path, headers, extensions, base, resource) in [
        (
            "/mcp",
            vec![("host", "a.example")],
            of_lambda(),
            "https://a.example",
            "/mcp",
        ),
        (
            "/ask",
            vec![("host", "a.example")],
            of_lambda(),
            "https://a.example",
            "",
        ),
        (
            "/mcp",
            vec![
                ("host", "x.execute-api.eu-west-1.amazonaws.com"),
                ("x-forwarded-proto", "https"),
            ],
            of_stage("/live"),
            "https://x.execute-api.eu-west-1.amazonaws.com/live",
            "/mcp",
        ),
        (
            "/mcp",
            vec![("host", "127.0.0.1:8080")],
            Extensions::new(),
            "http://127.0.0.1:8080",
            "/mcp",
        ),
    ] {
        let (challenge, metadata) = discovered(&with_secret(), path, &headers, &extensions).await;
        let expected = format!("Bearer resource_metadata=\"{base}{well_known}{resource}\"");
        assert_eq!(challenge, expected);
        let expected = json!({
            "resource": format!("{base}{resource}"),
            "authorization_servers": [ISSUER],
            "bearer_methods_supported": ["header"],
        });
        assert_eq!(metadata, Some(expected));
    }
    let invalid = [("host", "a.example"), ("authorization", "Bearer x")];
    let (challenge, _) = discovered(&with_secret(), "/mcp", &invalid, &of_lambda()).await;
    let expected = "Bearer error=\"invalid_token\", resource_metadata=\"https://a.example/";
    assert!(challenge.starts_with(expected), "{challenge}");
}

#[tokio::test]
async fn the_scheme_is_that_of_the_client_or_of_the_server() {
    for (forwarded, extensions, scheme) in [
        (None, Extensions::new(), "http"),
        (None, of_lambda(), "https"),
        (None, of_stage("/live"), "https"),
        (Some("https"), Extensions::new(), "https"),
        (Some("http"), of_lambda(), "http"),
        (Some("https, http"), Extensions::new(), "https"),
        (Some("http,https"), of_lambda(), "http"),
        (Some("gopher, https"), Extensions::new(), "http"),
        (Some(""), of_lambda(), "https"),
    ] {
        let mut headers = vec![("host", "docs.example:8080")];
        headers.extend(forwarded.map(|schemes| ("x-forwarded-proto", schemes)));
        let (challenge, _) = discovered(&with_secret(), "/mcp", &headers, &extensions).await;
        let expected = format!("Bearer resource_metadata=\"{scheme}://docs.example:8080/");
        assert!(
            challenge.starts_with(&expected),
            "{forwarded:?}: {challenge}"
        );
    }
}

#[tokio::test]
async fn nothing_is_named_if_it_is_not_known_where_readers_sign_in() {
    let host = [("host", "a.example")];
    for issuer in [
        None,
        Some("bookrag"),
        Some("http://a.example"),
        Some("https://a.example/#b"),
    ] {
        let options = AuthOptions {
            issuer: issuer.map(str::to_owned),
            ..with_secret()
        };
        let (challenge, metadata) = discovered(&options, "/mcp", &host, &Extensions::new()).await;
        assert_eq!(
            (challenge.as_str(), metadata),
            ("Bearer", None),
            "{issuer:?}"
        );
        let metadata = get(resource_metadata).with_state(Some(authorizer(&options)));
        let routes = Router::new().route("/.well-known/oauth-protected-resource", metadata);
        let request =
            Request::get("/.well-known/oauth-protected-resource").header("host", "a.example");
        let answered = routes.oneshot(empty(request)).await.unwrap();
        assert_eq!(answered.status(), StatusCode::NOT_FOUND);
    }
    for hostile in ["a@evil.example", "a b", "\"x"] {
        let host = [("host", hostile)];
        let (challenge, _) = discovered(&with_secret(), "/mcp", &host, &Extensions::new()).await;
        assert_eq!(challenge, "Bearer", "{hostile}");
    }
}
