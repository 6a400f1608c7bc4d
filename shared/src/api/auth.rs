//! Authorizes requests that have a token signed by the operator's sign-in.

mod key_set;
mod public_key;
mod resource;
mod signatures;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use jsonwebtoken::errors::{Error as TokenError, ErrorKind as TokenErrorKind};
use jsonwebtoken::{Algorithm, DecodingKey, Header, Validation, decode, decode_header};
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;

use super::envelope::failure;
use super::observe::Observed;
use answer::error::{Error, ErrorKind};
use key_set::{KeySet, Unread};
pub use resource::{RESOURCE_METADATA, Stage, resource_metadata};

/// The largest difference between the clocks of issuer and checker.
const LEEWAY_SECONDS: u64 = 60;
/// HS256 needs a key as long as its hash (RFC 7518, section 3.2), because a shorter one can be guessed from a single token.
const MIN_SECRET_BYTES: usize = 32;

/// The settings of which one is needed.
const KEY_SETTINGS: &str = "BOOKRAG_AUTH_SECRET, BOOKRAG_AUTH_PUBLIC_KEY and BOOKRAG_AUTH_JWKS_URL";
/// The algorithms of the keys in a set.
const SET_ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

/// Settings for checking tokens; without a key, no token is required.
#[derive(Debug, Clone, Default)]
pub struct AuthOptions {
    /// `BOOKRAG_AUTH_SECRET`: the HS256 secret, at least 32 bytes.
    pub secret: Option<SecretString>,
    /// `BOOKRAG_AUTH_PUBLIC_KEY`: a PEM (`BEGIN PUBLIC KEY`) whose key determines the algorithm: RS256, ES256 or `EdDSA`. Line breaks may be written
    /// as `\n`.
    pub public_key: Option<String>,
    /// `BOOKRAG_AUTH_JWKS_URL`: the address of the sign-in's key set, whose keys may change.
    pub key_set_url: Option<String>,
    /// `BOOKRAG_AUTH_ISSUER`: the required `iss` of a token. If it is an address, clients are told to sign in there.
    pub issuer: Option<String>,
    /// `BOOKRAG_AUTH_AUDIENCE`: an audience that must be in a token's `aud`. Without it, a token that names an audience is refused, because it is
    /// meant for others (RFC 7519, section 4.1.3).
    pub audience: Option<String>,
}

impl AuthOptions {
    /// Creates the authorizer for these settings; `None` without a key, so that no token is required.
    ///
    /// # Errors
    ///
    /// A sentence that says what is wrong, without repeating the key.
    pub fn check(&self) -> Result<Option<Authorizer>, String> {
        let keys = match (&self.secret, &self.public_key, &self.key_set_url) {
            (None, None, None) => return self.nothing_set().map(|()| None),
            (Some(secret), None, None) => Keys::One(Algorithm::HS256, secret_key(secret)?),
            (None, Some(pem), None) => public_key::read(&pem.replace("\\n", "\n"))
                .map(|(algorithm, key)| Keys::One(algorithm, key))
                .map_err(|problem| format!("BOOKRAG_AUTH_PUBLIC_KEY {problem}"))?,
            (None, None, Some(url)) => KeySet::new(url)
                .map(Keys::Set)
                .map_err(|problem| format!("BOOKRAG_AUTH_JWKS_URL {problem}"))?,
            _ => {
                return Err(format!("only one of {KEY_SETTINGS} may be set"));
            }
        };
        signatures::install();
        // The algorithm is that of each token's key.
        let mut validation = Validation::new(Algorithm::HS256);
        validation.leeway = LEEWAY_SECONDS;
        validation.validate_nbf = true;
        // Compared claims are required, because `jsonwebtoken` accepts a missing one.
        let mut required = vec!["exp"];
        if let Some(issuer) = &self.issuer {
            validation.set_issuer(&[issuer]);
            required.push("iss");
        }
        if let Some(audience) = &self.audience {
            validation.set_audience(&[audience]);
            required.push("aud");
        }
        validation.set_required_spec_claims(&required);
        let issuer = self.issuer.as_deref();
        let checks = Checks {
            keys,
            validation,
            authorization_server: issuer.and_then(resource::authorization_server),
        };
        Ok(Some(Authorizer {
            checks: Arc::new(checks),
        }))
    }

    fn nothing_set(&self) -> Result<(), String> {
        let name = match (&self.issuer, &self.audience) {
            (None, None) => return Ok(()),
            (Some(_), _) => "BOOKRAG_AUTH_ISSUER",
            (None, Some(_)) => "BOOKRAG_AUTH_AUDIENCE",
        };
        Err(format!("{name} is set, which needs one of {KEY_SETTINGS}"))
    }
}

fn secret_key(secret: &SecretString) -> Result<DecodingKey, String> {
    let secret = secret.expose_secret();
    if secret.contains("-----BEGIN") {
        return Err(
            "BOOKRAG_AUTH_SECRET is a PEM; a public key belongs in BOOKRAG_AUTH_PUBLIC_KEY"
                .to_owned(),
        );
    }
    if secret.len() < MIN_SECRET_BYTES {
        return Err(format!(
            "BOOKRAG_AUTH_SECRET has {} bytes, it needs {MIN_SECRET_BYTES} at least",
            secret.len()
        ));
    }
    Ok(DecodingKey::from_secret(secret.as_bytes()))
}

/// Checks the tokens of requests; clones share the key.
#[derive(Debug, Clone)]
pub struct Authorizer {
    checks: Arc<Checks>,
}

#[derive(Debug)]
struct Checks {
    keys: Keys,
    validation: Validation,
    /// The address of the sign-in, if it is known.
    authorization_server: Option<String>,
}

#[derive(Debug)]
enum Keys {
    One(Algorithm, DecodingKey),
    Set(KeySet),
}

/// The claims that `jsonwebtoken` checks too loosely: it accepts a list of issuers, but the issuer is a single string (RFC 7519, section 4.1.1).
#[derive(Deserialize)]
struct Claims {
    #[expect(dead_code, reason = "only its type counts")]
    iss: Option<String>,
}

/// The reason for refusing a request.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Refusal {
    /// The request has no token.
    NoToken,
    /// The token is invalid; the reason never quotes it.
    InvalidToken(String),
    /// The keys of the sign-in cannot be read.
    NoKeys,
}

impl Authorizer {
    /// True if a request has a valid token.
    pub async fn admits(&self, headers: &HeaderMap) -> bool {
        self.check(headers).await.is_ok()
    }

    /// Returns the refusal of a request without a valid token; `None` for one with a token. `metadata` is the address of the resource's metadata.
    pub(crate) async fn refusal(
        &self,
        headers: &HeaderMap,
        metadata: &str,
        request_id: &str,
    ) -> Option<Response> {
        let refusal = self.check(headers).await.err()?;
        Some(refusal.into_response(request_id, Some(metadata)))
    }

    async fn check(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let token = bearer_token(headers)?;
        let header = decode_header(token).map_err(|error| match error.kind() {
            // Valid JSON with an unknown algorithm, such as `none`.
            TokenErrorKind::Json(json) if json.is_data() => self.wrong_algorithm(),
            _ => Refusal::InvalidToken(reason(&error)),
        })?;
        if header.crit.is_some() {
            let reason = "the token needs extensions that are not known here";
            return Err(Refusal::InvalidToken(reason.to_owned()));
        }
        let (algorithm, key) = self.key_of(&header).await?;
        let mut validation = self.checks.validation.clone();
        validation.algorithms = vec![algorithm];
        decode::<Claims>(token, &key, &validation)
            .map(|_| ())
            .map_err(|error| match error.kind() {
                TokenErrorKind::InvalidAlgorithm => self.wrong_algorithm(),
                TokenErrorKind::Json(json) if json.is_data() => {
                    Refusal::InvalidToken("the token has no valid iss".to_owned())
                }
                _ => Refusal::InvalidToken(reason(&error)),
            })
    }

    /// Returns the key that a token with this header must be signed with, and its algorithm.
    async fn key_of(&self, header: &Header) -> Result<(Algorithm, DecodingKey), Refusal> {
        let keys = match &self.checks.keys {
            Keys::One(algorithm, key) => return Ok((*algorithm, key.clone())),
            Keys::Set(keys) => keys,
        };
        if !SET_ALGORITHMS.contains(&header.alg) {
            return Err(self.wrong_algorithm());
        }
        let key = keys.key(header.kid.as_deref(), header.alg).await;
        match key {
            Ok(Some(key)) => Ok((header.alg, key)),
            Ok(None) => Err(Refusal::InvalidToken(
                "the token's key is not one of the sign-in's".to_owned(),
            )),
            Err(Unread) => Err(Refusal::NoKeys),
        }
    }

    fn wrong_algorithm(&self) -> Refusal {
        let accepted = match &self.checks.keys {
            Keys::One(algorithm, _) => format!("{algorithm:?}"),
            Keys::Set(_) => "RS256, ES256 or EdDSA".to_owned(),
        };
        Refusal::InvalidToken(format!("the token must be signed with {accepted}"))
    }
}

/// Returns why a token is invalid, without quoting it.
fn reason(error: &TokenError) -> String {
    match error.kind() {
        TokenErrorKind::ExpiredSignature => "the token has expired".to_owned(),
        TokenErrorKind::ImmatureSignature => "the token is not valid yet".to_owned(),
        TokenErrorKind::InvalidSignature => "the token's signature does not match".to_owned(),
        TokenErrorKind::InvalidIssuer => "the token is from another issuer".to_owned(),
        TokenErrorKind::InvalidAudience => "the token is for another audience".to_owned(),
        TokenErrorKind::MissingRequiredClaim(claim) | TokenErrorKind::InvalidClaimFormat(claim) => {
            format!("the token has no valid {claim}")
        }
        _ => "the token is not a JSON Web Token".to_owned(),
    }
}

/// Returns a request's token (RFC 6750, section 2.1). Tokens in a URL or a body are ignored, because URLs are logged.
fn bearer_token(headers: &HeaderMap) -> Result<&str, Refusal> {
    let mut values = headers.get_all(header::AUTHORIZATION).iter();
    let value = values.next().ok_or(Refusal::NoToken)?;
    if values.next().is_some() {
        let reason = "there are several Authorization headers".to_owned();
        return Err(Refusal::InvalidToken(reason));
    }
    let credentials = value.to_str().ok().and_then(|value| value.split_once(' '));
    match credentials {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => Ok(token.trim()),
        _ => Err(Refusal::NoToken),
    }
}

impl Refusal {
    /// Returns the response. `metadata` is the address of the resource's metadata (RFC 9728, section 5.1).
    fn into_response(self, request_id: &str, metadata: Option<&str>) -> Response {
        // Without a token, no error code is sent (RFC 6750, section 3.1).
        let (error_code, message) = match self {
            Self::NoKeys => {
                let message = "the keys of the sign-in cannot be read; try again soon";
                return failure(&Error::new(ErrorKind::Unavailable, message), request_id);
            }
            Self::NoToken => (
                None,
                "this needs a token; send it as Authorization: Bearer TOKEN".to_owned(),
            ),
            Self::InvalidToken(reason) => (Some("error=\"invalid_token\"".to_owned()), reason),
        };
        let error = Error::new(ErrorKind::Unauthorized, message);
        let mut response = failure(&error, request_id);
        let metadata = metadata.map(|address| format!("resource_metadata=\"{address}\""));
        let parameters: Vec<String> = error_code.into_iter().chain(metadata).collect();
        let challenge = format!("Bearer {}", parameters.join(", "));
        let challenge = HeaderValue::from_str(challenge.trim_end());
        let headers = response.headers_mut();
        headers.extend(challenge.map(|challenge| (header::WWW_AUTHENTICATE, challenge)));
        response
    }
}

/// Middleware for routes that need a token; answers 401 without a valid one. `OPTIONS` passes, because browsers send no token with it; without an
/// authorizer every request passes.
pub async fn authorize(
    State(authorizer): State<Option<Authorizer>>,
    request: Request,
    next: Next,
) -> Response {
    let Some(authorizer) = authorizer.filter(|_| request.method() != Method::OPTIONS) else {
        return next.run(request).await;
    };
    match authorizer.check(request.headers()).await {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            let metadata = authorizer.metadata_address(&request, "");
            let request_id = Observed::from_request(&request).request_id;
            refusal.into_response(&request_id, metadata.as_deref())
        }
    }
}
