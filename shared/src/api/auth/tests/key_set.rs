//! Tokens whose keys are in the key set of a sign-in.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::State;

use super::*;

/// A sign-in that publishes a text, and counts how often it was read.
#[derive(Clone)]
struct SignIn {
    text: Arc<Mutex<String>>,
    reads: Arc<AtomicUsize>,
}

impl SignIn {
    /// Starts a sign-in, and returns it with its address.
    async fn start(text: String) -> (Self, String) {
        let sign_in = Self {
            text: Arc::new(Mutex::new(text)),
            reads: Arc::default(),
        };
        let keys = Router::new()
            .route(
                "/keys.json",
                get(async |State(it): State<Self>| it.publish()),
            )
            .with_state(sign_in.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, keys).await });
        (sign_in, format!("http://{address}/keys.json"))
    }

    fn publish(&self) -> String {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.text.lock().unwrap().clone()
    }
}

fn with_set(url: &str) -> AuthOptions {
    AuthOptions {
        key_set_url: Some(url.to_owned()),
        secret: None,
        ..with_secret()
    }
}

async fn checked(authorizer: &Authorizer, token: &str) -> Result<(), Refusal> {
    let mut headers = HeaderMap::new();
    let value = format!("Bearer {token}").parse().unwrap();
    headers.insert(header::AUTHORIZATION, value);
    authorizer.check(&headers).await
}

/// Returns the bytes of a key's PEM from an offset on.
fn bytes(pem: &str, from: usize, length: usize) -> String {
    let base64: String = pem.lines().filter(|line| !line.contains('-')).collect();
    let der = STANDARD.decode(base64).unwrap();
    URL_SAFE_NO_PAD.encode(&der[from..from + length])
}

/// Returns the keys of the fixtures as a sign-in publishes them.
fn published() -> Value {
    // A `SubjectPublicKeyInfo` of 2,048 bits has 33 bytes before the modulus, and that of P-256 27 before the point's coordinates.
    json!({ "keys": [
        { "kty": "RSA", "use": "sig", "kid": "r", "n": bytes(RSA_KEY, 33, 256), "e": "AQAB" },
        { "kty": "RSA", "use": "enc", "n": bytes(RSA_KEY, 33, 256), "e": "AQAB" },
        { "kty": "EC", "crv": "P-256", "x": bytes(P256_KEY, 27, 32), "y": bytes(P256_KEY, 59, 32), "alg": "ES256" },
        { "kty": "OKP", "crv": "Ed25519", "x": bytes(ED25519_KEY, 12, 32) },
        { "kty": "EC", "crv": "P-384", "x": "AA", "y": "AA" },
        { "kty": "oct", "k": "AA" },
    ]})
}

#[tokio::test]
async fn tokens_of_each_key_of_a_set_are_accepted() {
    let (sign_in, url) = SignIn::start(published().to_string()).await;
    let authorizer = authorizer(&with_set(&url));
    for token in [RSA_TOKEN, P256_TOKEN, ED25519_TOKEN, RSA_TOKEN] {
        assert_eq!(checked(&authorizer, token).await, Ok(()));
    }
    assert_eq!(sign_in.reads.load(Ordering::Relaxed), 1);
    let tampered = RSA_TOKEN.replace(".U5jE", ".U5jF");
    let refused = |reason: &str| Err(Refusal::InvalidToken(reason.to_owned()));
    let expected = refused("the token's signature does not match");
    assert_eq!(checked(&authorizer, &tampered).await, expected);
    // A public key is no secret.
    let expected = refused("the token must be signed with RS256, ES256 or EdDSA");
    assert_eq!(checked(&authorizer, &hs256(&claims())).await, expected);
}

#[tokio::test]
async fn unknown_keys_are_refused_and_do_not_let_the_set_be_read_each_time() {
    let (sign_in, url) = SignIn::start(published().to_string()).await;
    let authorizer = authorizer(&with_set(&url));
    let header = json!({ "alg": "RS256", "kid": "other" });
    let unknown = signed(&header, &claims(), b"any");
    let expected = Refusal::InvalidToken("the token's key is not one of the sign-in's".to_owned());
    for _ in 0..3 {
        assert_eq!(checked(&authorizer, &unknown).await, Err(expected.clone()));
    }
    assert_eq!(sign_in.reads.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn without_the_keys_nobody_is_refused_as_unknown() {
    let (_, url) = SignIn::start("<html>".to_owned()).await;
    let authorizer = authorizer(&with_set(&url));
    assert_eq!(checked(&authorizer, RSA_TOKEN).await, Err(Refusal::NoKeys));
    let response = Refusal::NoKeys.into_response("id", None);
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
}

#[test]
fn only_one_kind_of_key_is_set_and_sets_come_over_https() {
    let both = AuthOptions {
        public_key: Some(RSA_KEY.to_owned()),
        ..with_set("https://sign-in.example/keys.json")
    };
    let told = both.check().unwrap_err();
    assert!(told.contains("only one of BOOKRAG_AUTH_SECRET"), "{told}");
    let told = with_set("http://sign-in.example/keys.json")
        .check()
        .unwrap_err();
    assert_eq!(told, "BOOKRAG_AUTH_JWKS_URL must be an https address");
    assert!(
        with_set("https://sign-in.example/keys.json")
            .check()
            .is_ok()
    );
}
