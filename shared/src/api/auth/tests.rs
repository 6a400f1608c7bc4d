mod fixtures;
mod key_set;
mod resource;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures::executor::block_on;
use ring::hmac;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::api::{Origins, cors};
use fixtures::{
    ED25519_KEY, ED25519_TOKEN, P256_KEY, P256_TOKEN, P384_KEY, RSA_KEY, RSA_TOKEN, SHORT_RSA_KEY,
};

const SECRET: &str = "a secret of forty characters, or about so";
const ISSUER: &str = "https://sign-in.example";

fn with_secret() -> AuthOptions {
    AuthOptions {
        secret: Some(SecretString::from(SECRET)),
        issuer: Some(ISSUER.to_owned()),
        audience: Some("bookrag".to_owned()),
        ..AuthOptions::default()
    }
}

fn with_key(pem: &str) -> AuthOptions {
    AuthOptions {
        public_key: Some(pem.to_owned()),
        ..AuthOptions {
            secret: None,
            ..with_secret()
        }
    }
}

fn authorizer(options: &AuthOptions) -> Authorizer {
    options.check().expect("valid").expect("a key")
}

fn seconds_from_now(seconds: i64) -> i64 {
    let now = jsonwebtoken::get_current_timestamp();
    i64::try_from(now).unwrap() + seconds
}

fn claims() -> Value {
    json!({ "iss": ISSUER, "aud": "bookrag", "exp": seconds_from_now(600) })
}

/// Returns the claims with some changes; claims set to null are left out.
fn claims_with(changes: Value) -> Value {
    let mut claims = claims();
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims
        .as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    claims
}

/// Returns a token with a correct HMAC, whatever its header says.
fn signed(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let message = format!("{}.{}", part(header), part(claims));
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret);
    let signature = hmac::sign(&key, message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
}

fn hs256(claims: &Value) -> String {
    signed(
        &json!({ "alg": "HS256", "typ": "JWT" }),
        claims,
        SECRET.as_bytes(),
    )
}

fn checked(authorizer: &Authorizer, token: &str) -> Result<(), Refusal> {
    let mut headers = HeaderMap::new();
    let value = format!("Bearer {token}").parse().unwrap();
    headers.insert(header::AUTHORIZATION, value);
    block_on(authorizer.check(&headers))
}

#[track_caller]
fn assert_refused(authorizer: &Authorizer, token: &str, reason: &str) {
    let refusal = Refusal::InvalidToken(reason.to_owned());
    assert_eq!(checked(authorizer, token), Err(refusal));
}

#[test]
fn tokens_of_each_algorithm_pass_with_its_key() {
    let authorizer = authorizer(&with_secret());
    assert_eq!(checked(&authorizer, &hs256(&claims())), Ok(()));
    let several = claims_with(json!({ "aud": ["others", "bookrag"] }));
    assert_eq!(checked(&authorizer, &hs256(&several)), Ok(()));
}

#[test]
fn public_keys_say_the_algorithm_and_pass_no_other_keys_tokens() {
    let keys = [
        (RSA_KEY, RSA_TOKEN, "RS256"),
        (P256_KEY, P256_TOKEN, "ES256"),
        (ED25519_KEY, ED25519_TOKEN, "EdDSA"),
    ];
    for (key, own, algorithm) in keys {
        let authorizer = authorizer(&with_key(key));
        assert_eq!(checked(&authorizer, own), Ok(()), "{algorithm}");
        for (_, token, other) in keys.iter().filter(|(_, token, _)| *token != own) {
            let reason = format!("the token must be signed with {algorithm}");
            assert_eq!(
                checked(&authorizer, token),
                Err(Refusal::InvalidToken(reason)),
                "{other}"
            );
        }
        let (message, signature) = own.rsplit_once('.').unwrap();
        let mut signature = URL_SAFE_NO_PAD.decode(signature).unwrap();
        signature[9] ^= 1;
        let forged = format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature));
        assert_refused(&authorizer, &forged, "the token's signature does not match");
    }
}

#[test]
fn a_public_key_is_no_secret() {
    let authorizer = authorizer(&with_key(RSA_KEY));
    let base64: String = RSA_KEY.lines().filter(|line| !line.contains('-')).collect();
    let der = STANDARD.decode(base64).unwrap();
    let (_, pkcs1) = der.split_at(24);
    let header = json!({ "alg": "HS256" });
    for secret in [RSA_KEY.as_bytes(), RSA_KEY.trim().as_bytes(), &der, pkcs1] {
        let token = signed(&header, &claims(), secret);
        assert_refused(&authorizer, &token, "the token must be signed with RS256");
        let lies = signed(&json!({ "alg": "RS256" }), &claims(), secret);
        assert_refused(&authorizer, &lies, "the token's signature does not match");
    }
}

#[test]
fn a_token_must_be_signed_with_the_keys_algorithm() {
    let authorizer = authorizer(&with_secret());
    let wrong = "the token must be signed with HS256";
    let with = |header: Value| signed(&header, &claims(), SECRET.as_bytes());
    for algorithm in [
        "none", "None", "HS384", "HS512", "RS256", "ES256", "EdDSA", "",
    ] {
        assert_refused(&authorizer, &with(json!({ "alg": algorithm })), wrong);
    }
    assert_refused(&authorizer, &with(json!({ "typ": "JWT" })), wrong);
    // An unsigned token, as a library that supports `none` writes it.
    let unsigned = with(json!({ "alg": "none" }));
    let (message, _) = unsigned.rsplit_once('.').unwrap();
    assert_refused(&authorizer, &format!("{message}."), wrong);
    assert_refused(&authorizer, RSA_TOKEN, wrong);
    let critical = with(json!({ "alg": "HS256", "crit": ["b64"], "b64": false }));
    let reason = "the token needs extensions that are not known here";
    assert_refused(&authorizer, &critical, reason);
}

#[test]
fn claims_are_there_and_are_those_asked_for() {
    let authorizer = authorizer(&with_secret());
    for (changes, reason) in [
        (json!({ "exp": null }), "the token has no valid exp"),
        (json!({ "exp": "tomorrow" }), "the token has no valid exp"),
        (json!({ "exp": -1 }), "the token has no valid exp"),
        (json!({ "iss": null }), "the token has no valid iss"),
        // The issuer must be a single string (RFC 7519, section 4.1.1).
        (
            json!({ "iss": [ISSUER, "https://others.example"] }),
            "the token has no valid iss",
        ),
        (json!({ "iss": [ISSUER] }), "the token has no valid iss"),
        (json!({ "aud": null }), "the token has no valid aud"),
        (json!({ "aud": [] }), "the token is for another audience"),
        (
            json!({ "iss": "https://others.example" }),
            "the token is from another issuer",
        ),
        (
            json!({ "aud": "others" }),
            "the token is for another audience",
        ),
        (
            json!({ "aud": ["others"] }),
            "the token is for another audience",
        ),
        (
            json!({ "nbf": seconds_from_now(120) }),
            "the token is not valid yet",
        ),
        (json!({ "nbf": "tomorrow" }), "the token has no valid nbf"),
        (
            json!({ "exp": seconds_from_now(-62) }),
            "the token has expired",
        ),
    ] {
        assert_refused(&authorizer, &hs256(&claims_with(changes)), reason);
    }
    let other_secret = signed(&json!({ "alg": "HS256" }), &claims(), &[7; 32]);
    assert_refused(
        &authorizer,
        &other_secret,
        "the token's signature does not match",
    );
}

#[test]
fn clocks_may_be_a_minute_apart() {
    let authorizer = authorizer(&with_secret());
    for changes in [
        json!({ "exp": seconds_from_now(-55) }),
        json!({ "nbf": seconds_from_now(55) }),
    ] {
        assert_eq!(checked(&authorizer, &hs256(&claims_with(changes))), Ok(()));
    }
}

#[test]
fn without_a_configured_audience_a_token_names_none() {
    let options = AuthOptions {
        issuer: None,
        audience: None,
        ..with_secret()
    };
    let authorizer = authorizer(&options);
    let unnamed = hs256(&claims_with(json!({ "iss": null, "aud": null })));
    assert_eq!(checked(&authorizer, &unnamed), Ok(()));
    assert_refused(
        &authorizer,
        &hs256(&claims()),
        "the token is for another audience",
    );
}

#[test]
fn what_is_no_token_is_refused_without_being_repeated() {
    let authorizer = authorizer(&with_secret());
    let token = hs256(&claims());
    let (start, _) = token.rsplit_once('.').unwrap();
    for nonsense in [
        "x",
        "...",
        "a.b",
        "a.b.c",
        "e30.e30.",
        "\"",
        start,
        &format!("{token}.x"),
    ] {
        let Err(Refusal::InvalidToken(reason)) = checked(&authorizer, nonsense) else {
            panic!("{nonsense} passes");
        };
        let known = [
            "the token is not a JSON Web Token",
            "the token must be signed with HS256",
        ];
        assert!(known.contains(&reason.as_str()), "{reason}");
    }
}

#[test]
fn a_token_is_named_by_one_header() {
    let authorizer = authorizer(&with_secret());
    let token = hs256(&claims());
    let with = |values: &[String]| {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::AUTHORIZATION, value.parse().unwrap());
        }
        block_on(authorizer.check(&headers))
    };
    assert_eq!(with(&[format!("bearer  {token}")]), Ok(()));
    for none in ["", "Bearer", "Basic dTpw", token.as_str()] {
        assert_eq!(with(&[none.to_owned()]), Err(Refusal::NoToken), "{none}");
    }
    assert_eq!(with(&[]), Err(Refusal::NoToken));
    let twice = [format!("Bearer {token}"), format!("Bearer {token}")];
    assert!(matches!(with(&twice), Err(Refusal::InvalidToken(_))));
}

#[test]
fn options_without_a_fitting_key_are_told_and_no_key_is_repeated() {
    assert!(AuthOptions::default().check().unwrap().is_none());
    let secret = |secret: &str| AuthOptions {
        secret: Some(SecretString::from(secret)),
        ..AuthOptions::default()
    };
    let both = AuthOptions {
        public_key: Some(RSA_KEY.to_owned()),
        ..with_secret()
    };
    let issuer_alone = AuthOptions {
        secret: None,
        ..with_secret()
    };
    let audience_alone = AuthOptions {
        issuer: None,
        ..issuer_alone.clone()
    };
    let damaged = RSA_KEY.replace("MIIBIj", "MIIBIz");
    let private = RSA_KEY.replace("PUBLIC", "PRIVATE");
    for (options, problem) in [
        (both, "only one of BOOKRAG_AUTH_SECRET"),
        (issuer_alone, "BOOKRAG_AUTH_ISSUER is set, which needs"),
        (audience_alone, "BOOKRAG_AUTH_AUDIENCE is set, which needs"),
        (secret("short"), "has 5 bytes, it needs 32"),
        (secret(RSA_KEY), "belongs in BOOKRAG_AUTH_PUBLIC_KEY"),
        (with_key(SHORT_RSA_KEY), "fits no algorithm"),
        (with_key(P384_KEY), "fits no algorithm"),
        (with_key(&damaged), "is damaged"),
        (with_key(&private), "holds no PEM of a public key"),
        (with_key("dGVzdA=="), "holds no PEM of a public key"),
        (with_key(""), "holds no PEM of a public key"),
    ] {
        let told = options.check().unwrap_err();
        assert!(told.contains(problem), "{told}");
        assert!(!told.contains("MIIB") && !told.contains("dGVzdA"), "{told}");
    }
}

#[test]
fn a_pem_may_come_on_one_line() {
    let line = P256_KEY.replace('\n', "\\n");
    assert_eq!(checked(&authorizer(&with_key(&line)), P256_TOKEN), Ok(()));
}

#[test]
fn keys_that_are_cut_off_are_none() {
    for pem in [RSA_KEY, P256_KEY, ED25519_KEY] {
        let base64: String = pem.lines().filter(|line| !line.contains('-')).collect();
        let der = STANDARD.decode(base64).unwrap();
        for length in 0..der.len() {
            let cut = STANDARD.encode(&der[..length]);
            let pem = format!("-----BEGIN PUBLIC KEY-----\n{cut}\n-----END PUBLIC KEY-----\n");
            assert!(public_key::read(&pem).is_err(), "{length} bytes");
        }
    }
}

#[test]
fn neither_options_nor_authorizer_show_their_secret() {
    let options = with_secret();
    let shown = format!("{options:?} {:?}", authorizer(&options));
    assert!(!shown.contains("forty"), "{shown}");
}

async fn answer(authorizer: Option<Authorizer>, request: Request<Body>) -> Response {
    let routes = Router::new()
        .route("/ask", post(async || "an answer"))
        .layer(from_fn_with_state(authorizer, authorize))
        .route("/health", get(async || "well"))
        .layer(cors(Origins::new(&["https://book.example".to_owned()])));
    routes.oneshot(request).await.unwrap()
}

fn ask() -> axum::http::request::Builder {
    Request::post("/ask").header(header::ORIGIN, "https://book.example")
}

fn empty(request: axum::http::request::Builder) -> Request<Body> {
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn a_refusal_is_an_envelope_with_a_challenge_that_the_books_page_can_read() {
    let expired = hs256(&claims_with(json!({ "exp": 1 })));
    for (request, challenge, message) in [
        (
            ask(),
            "Bearer",
            "this needs a token; send it as Authorization: Bearer TOKEN",
        ),
        (
            ask().header(header::AUTHORIZATION, format!("Bearer {expired}")),
            "Bearer error=\"invalid_token\"",
            "the token has expired",
        ),
    ] {
        let response = answer(Some(authorizer(&with_secret())), empty(request)).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        assert_eq!(response.headers()[header::WWW_AUTHENTICATE], challenge);
        let origin = &response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN];
        assert_eq!(origin, "https://book.example");
        let body = to_bytes(response.into_body(), 10_000).await.unwrap();
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["success"], false);
        assert_eq!(
            body["error"],
            json!({ "code": "unauthorized", "message": message })
        );
    }
}

#[tokio::test]
async fn a_valid_token_passes_and_health_and_preflights_need_none() {
    let authorizer = Some(authorizer(&with_secret()));
    let token = format!("Bearer {}", hs256(&claims()));
    let with_token = empty(ask().header(header::AUTHORIZATION, token));
    let health = empty(Request::get("/health"));
    let preflight = Request::options("/ask")
        .header(header::ORIGIN, "https://book.example")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
        .header(
            header::ACCESS_CONTROL_REQUEST_HEADERS,
            "authorization,content-type",
        );
    for request in [with_token, health] {
        let response = answer(authorizer.clone(), request).await;
        assert_eq!(response.status(), StatusCode::OK);
    }
    let response = answer(authorizer.clone(), empty(preflight)).await;
    assert_eq!(response.status(), StatusCode::OK);
    let allowed = &response.headers()[header::ACCESS_CONTROL_ALLOW_HEADERS];
    assert!(allowed.to_str().unwrap().contains("authorization"));
    // Without a layer that answers preflights, they pass through.
    let layered = Router::new()
        .route(
            "/ask",
            post(async || "an answer").options(async || "options"),
        )
        .layer(from_fn_with_state(authorizer, authorize));
    let response = layered
        .oneshot(empty(Request::options("/ask")))
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn without_an_authorizer_everybody_may_ask() {
    let response = answer(None, empty(ask())).await;
    assert_eq!(response.status(), StatusCode::OK);
}
