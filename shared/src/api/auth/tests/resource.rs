//! Clients learn where to sign in.

use super::*;

/// Returns the challenge for a request, and the metadata that it leads to.
async fn discovered(
    options: &AuthOptions,
    path: &str,
    headers: &[(&str, &str)],
    stage: Option<&str>,
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
        let stage = stage.map(|stage| Stage(stage.to_owned()));
        stage.map(|stage| request.extensions_mut().insert(stage));
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
    for (path, headers, stage, base, resource) in [
        (
            "/mcp",
            vec![("host", "a.example")],
            None,
            "https://a.example",
            "/mcp",
        ),
        (
            "/ask",
            vec![("host", "a.example")],
            None,
            "https://a.example",
            "",
        ),
        (
            "/mcp",
            vec![
                ("host", "x.execute-api.eu-west-1.amazonaws.com"),
                ("x-forwarded-proto", "https"),
            ],
            Some("/live"),
            "https://x.execute-api.eu-west-1.amazonaws.com/live",
            "/mcp",
        ),
        (
            "/mcp",
            vec![("host", "127.0.0.1:8080")],
            None,
            "http://127.0.0.1:8080",
            "/mcp",
        ),
    ] {
        let (challenge, metadata) = discovered(&with_secret(), path, &headers, stage).await;
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
    let (challenge, _) = discovered(&with_secret(), "/mcp", &invalid, None).await;
    let expected = "Bearer error=\"invalid_token\", resource_metadata=\"https://a.example/";
    assert!(challenge.starts_with(expected), "{challenge}");
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
        let (challenge, metadata) = discovered(&options, "/mcp", &host, None).await;
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
        let (challenge, _) = discovered(&with_secret(), "/mcp", &[("host", hostile)], None).await;
        assert_eq!(challenge, "Bearer", "{hostile}");
    }
}
