//! The keys of a sign-in service, read from its JSON Web Key Set (RFC 7517). Services change keys without notice, and publish the next one before
//! they sign with it.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::public_key;
use models::http::{Endpoint, is_private};

/// Time limit of reading the set.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The set is read again after this time, so that a withdrawn key ends.
const FRESH: Duration = Duration::from_hours(1);
/// While the service is down, its last keys are used for this time.
const USABLE: Duration = Duration::from_hours(24);
/// The shortest time between two attempts: anybody can send a token with an unknown key.
const RETRY: Duration = Duration::from_secs(30);

/// The keys at an address.
#[derive(Debug)]
pub(super) struct KeySet {
    endpoint: Endpoint,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    keys: Vec<SetKey>,
    read_at: Option<Instant>,
    tried_at: Option<Instant>,
}

#[derive(Debug)]
struct SetKey {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

/// The keys are unknown.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Unread;

/// A set as it is published; other members are ignored.
#[derive(Deserialize)]
struct Published {
    keys: Vec<serde_json::Value>,
}

/// A key as it is published.
#[derive(Deserialize)]
struct PublishedKey {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    purpose: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// Creates the set without reading it.
    ///
    /// # Errors
    /// A phrase that follows the name of the address.
    pub(super) fn new(url: &str) -> Result<Self, String> {
        if !(url.starts_with("https://") || is_private(url)) {
            return Err("must be an https address".to_owned());
        }
        let endpoint = Endpoint::new(url, ["", ""], None, TIMEOUT)
            .map_err(|_| "is no address of a key set".to_owned())?;
        Ok(Self {
            endpoint,
            held: Mutex::default(),
        })
    }

    /// Returns the key of a token with this key id and algorithm; `None` if the set has none, or several for a token without an id. Reads the set if
    /// it is old or lacks the key.
    pub(super) async fn key(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Option<DecodingKey>, Unread> {
        let mut held = self.held.lock().await;
        let is_younger = |at: Option<Instant>, age| at.is_some_and(|at| at.elapsed() < age);
        let is_known = held.find(id, algorithm).is_some() && is_younger(held.read_at, FRESH);
        if !is_known && !is_younger(held.tried_at, RETRY) {
            held.tried_at = Some(Instant::now());
            match self.endpoint.get::<Published>("key set").await {
                Ok(published) => {
                    held.keys = published.keys.into_iter().filter_map(usable).collect();
                    held.read_at = Some(Instant::now());
                }
                Err(error) => {
                    tracing::warn!(stage = "auth", error = %format_args!("the key set {error}"), "using the last keys of the sign-in");
                }
            }
        }
        if !is_younger(held.read_at, USABLE) {
            return Err(Unread);
        }
        Ok(held.find(id, algorithm).cloned())
    }
}

impl Held {
    fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Option<&DecodingKey> {
        let mut fitting = self
            .keys
            .iter()
            .filter(|key| key.algorithm == algorithm && (id.is_none() || key.id.as_deref() == id));
        let found = fitting.next()?;
        fitting.next().is_none().then_some(&found.key)
    }
}

/// Reads a published key; `None` for one that is for something else, or that this program does not know.
fn usable(published: serde_json::Value) -> Option<SetKey> {
    let published: PublishedKey = serde_json::from_value(published).ok()?;
    if published.purpose.as_deref().unwrap_or("sig") != "sig" {
        return None;
    }
    let bytes = |part: &Option<String>| URL_SAFE_NO_PAD.decode(part.as_deref()?).ok();
    let (algorithm, key) = match (published.kty.as_str(), published.crv.as_deref()) {
        ("RSA", _) => public_key::rsa(&bytes(&published.n)?, &bytes(&published.e)?)?,
        ("EC", Some("P-256")) => public_key::p256(&bytes(&published.x)?, &bytes(&published.y)?)?,
        ("OKP", Some("Ed25519")) => public_key::ed25519(&bytes(&published.x)?)?,
        _ => return None,
    };
    Some(SetKey {
        id: published.kid,
        algorithm,
        key,
    })
}
