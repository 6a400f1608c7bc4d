//! Hosted models behind an OpenAI-compatible `POST {base}/embeddings`.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, StatusCode, Url};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::windows::{estimate_tokens, windows};
use super::{EmbedError, EmbedderIdentity};

/// Tokens a window may have: `text-embedding-3-*` take 8,191.
const MAX_TOKENS: usize = 8_000;

/// Texts in one request: `api.openai.com` takes 2,048, other servers fewer.
const BATCH_TEXTS: usize = 128;

/// Tokens in one request: `api.openai.com` takes 300,000.
const BATCH_TOKENS: usize = 250_000;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// What a hosted model is asked with.
#[derive(Debug, Clone)]
pub struct OpenAiOptions {
    /// Up to and without `/embeddings`, e.g. `https://api.openai.com/v1`.
    pub base_url: String,
    /// Sent as a bearer token; local servers need none.
    pub api_key: Option<SecretString>,
    /// The model's name, e.g. `text-embedding-3-small`.
    pub model: String,
    /// The vectors' length.
    pub dimensions: Dimensions,
    /// Longest time for one request of up to 128 texts.
    pub timeout: Duration,
}

/// How long vectors are, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dimensions {
    /// What the model gives by itself; the request does not name it, as many servers refuse to be told.
    Native(usize),
    /// Asked for in each request (`text-embedding-3-*` can shorten its vectors).
    Requested(usize),
}

const OPENAI_HOST: &str = "api.openai.com";
/// US dollars for a million tokens. Source: the public list prices.
const PRICES: [(&str, f64); 3] = [
    ("text-embedding-3-small", 0.02),
    ("text-embedding-3-large", 0.13),
    ("text-embedding-ada-002", 0.10),
];

/// What `text-embedding-3-large` gives by itself, and what its smaller sister and the models before it do.
const LARGE_DIMENSIONS: usize = 3_072;
const USUAL_DIMENSIONS: usize = 1_536;

impl Dimensions {
    /// The dimensions that are wanted of a model; without any, those that its name stands for.
    #[must_use]
    pub fn of_model(model: &str, wanted: Option<usize>) -> Self {
        let native = if model.contains("3-large") {
            LARGE_DIMENSIONS
        } else {
            USUAL_DIMENSIONS
        };
        match wanted {
            Some(wanted) if wanted != native => Self::Requested(wanted),
            _ => Self::Native(native),
        }
    }
}

/// A hosted model; clones share connections.
#[derive(Debug, Clone)]
pub struct OpenAiEmbedder {
    identity: EmbedderIdentity,
    client: Client,
    url: Url,
    /// For messages; an address may hold credentials, a host does not.
    host: String,
    api_key: Option<SecretString>,
    requested_dimensions: Option<usize>,
}

#[derive(Serialize)]
struct EmbeddingsRequest<'a> {
    model: &'a str,
    input: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct EmbeddingsResponse {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: usize,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// Sets the client up; no request is made.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is none.
    pub fn new(options: OpenAiOptions) -> Result<Self, EmbedError> {
        let address = format!("{}/embeddings", options.base_url.trim_end_matches('/'));
        let url = Url::parse(&address).map_err(|error| refused_url(&error.to_string()))?;
        let host = match (url.scheme(), url.host_str()) {
            ("http" | "https", Some(host)) => host.to_owned(),
            _ => return Err(refused_url("it is not an http(s) address")),
        };
        let (dimensions, requested_dimensions) = match options.dimensions {
            Dimensions::Native(dimensions) => (dimensions, None),
            Dimensions::Requested(dimensions) => (dimensions, Some(dimensions)),
        };
        Ok(Self {
            identity: EmbedderIdentity {
                fingerprint: format!("{host}/{}", options.model),
                name: options.model,
                dimensions,
                max_tokens: MAX_TOKENS,
            },
            client: https_client(options.timeout)?,
            url,
            host,
            api_key: options.api_key,
            requested_dimensions,
        })
    }

    /// The model's price at `OpenAI`; other providers' are not known here.
    pub(super) fn dollars_per_million_tokens(&self) -> Option<f64> {
        let mut prices = PRICES.into_iter();
        let price = prices.find(|(model, _)| *model == self.identity.name);
        price
            .filter(|_| self.host == OPENAI_HOST)
            .map(|(_, price)| price)
    }

    /// The same provider with another of its models.
    pub(super) fn with_model(&self, model: &str, dimensions: usize) -> Self {
        let requested = Dimensions::of_model(model, Some(dimensions));
        Self {
            identity: EmbedderIdentity {
                fingerprint: format!("{}/{model}", self.host),
                name: model.to_owned(),
                dimensions,
                max_tokens: MAX_TOKENS,
            },
            requested_dimensions: match requested {
                Dimensions::Native(_) => None,
                Dimensions::Requested(dimensions) => Some(dimensions),
            },
            ..self.clone()
        }
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    #[expect(
        clippy::unused_self,
        reason = "the same call as on the other embedders"
    )]
    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Vec<String> {
        windows(breadcrumb, text, MAX_TOKENS, estimate_tokens)
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches(texts) {
            vectors.extend(self.embed_batch(batch).await?);
        }
        Ok(vectors)
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut request = self.client.post(self.url.clone()).json(&EmbeddingsRequest {
            model: &self.identity.name,
            input: texts,
            dimensions: self.requested_dimensions,
        });
        if let Some(api_key) = &self.api_key {
            request = request.bearer_auth(api_key.expose_secret());
        }
        let response = request
            .send()
            .await
            .map_err(|error| self.no_answer(&error))?;
        let status = response.status();
        let retry_after = retry_after(response.headers());
        let body = response
            .bytes()
            .await
            .map_err(|error| self.no_answer(&error))?;
        if !status.is_success() {
            return Err(self.refusal(status, retry_after, &body));
        }
        let response: EmbeddingsResponse = serde_json::from_slice(&body).map_err(|error| {
            // The line and column only: serde's message quotes the answer.
            let (line, column) = (error.line(), error.column());
            EmbedError::Malformed(format!(
                "{} gave no list of embeddings (line {line}, column {column})",
                self.host
            ))
        })?;
        in_order(response.data, texts.len())
    }

    fn no_answer(&self, error: &reqwest::Error) -> EmbedError {
        if error.is_timeout() {
            EmbedError::Timeout
        } else if error.is_connect() {
            EmbedError::Unavailable(format!("cannot connect to {}", self.host))
        } else if error.is_builder() {
            EmbedError::Rejected("the key or address cannot be sent as HTTP".to_owned())
        } else {
            EmbedError::Unavailable(format!("the connection to {} broke", self.host))
        }
    }

    fn refusal(
        &self,
        status: StatusCode,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> EmbedError {
        let code = error_code(body);
        let answer = match &code {
            Some(code) => format!("{} answered {} ({code})", self.host, status.as_u16()),
            None => format!("{} answered {}", self.host, status.as_u16()),
        };
        match status {
            // An account without money is no matter of waiting, although OpenAI gives it the same status.
            StatusCode::TOO_MANY_REQUESTS if code.as_deref() != Some("insufficient_quota") => {
                EmbedError::RateLimited { retry_after }
            }
            StatusCode::REQUEST_TIMEOUT => EmbedError::Timeout,
            status if status.is_server_error() => EmbedError::Unavailable(answer),
            _ => EmbedError::Rejected(answer),
        }
    }
}

/// Successive runs of texts that one request may hold; a text over the limit goes alone.
fn batches(texts: &[String]) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let text_tokens = estimate_tokens(text);
        let full = at - start == BATCH_TEXTS || tokens + text_tokens > BATCH_TOKENS;
        if full && at > start {
            batches.push(&texts[start..at]);
            (start, tokens) = (at, 0);
        }
        tokens += text_tokens;
    }
    batches.push(&texts[start..]);
    batches
}

/// The vectors by their `index`, which must name each text once.
fn in_order(mut data: Vec<Embedding>, count: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    if data.len() != count {
        return Err(EmbedError::Malformed(format!(
            "{} embeddings came for {count} texts",
            data.len()
        )));
    }
    data.sort_by_key(|embedding| embedding.index);
    if let Some((at, _)) = data
        .iter()
        .enumerate()
        .find(|(at, embedding)| *at != embedding.index)
    {
        return Err(EmbedError::Malformed(format!(
            "no embedding has index {at}"
        )));
    }
    Ok(data
        .into_iter()
        .map(|embedding| embedding.embedding)
        .collect())
}

/// `error.code` (or `error.type`) of the answer, if it is an identifier; its message is not used, as it may quote the key or text.
fn error_code(body: &[u8]) -> Option<String> {
    /// Characters.
    const LONGEST_CODE: usize = 64;
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let error = body.get("error")?;
    let code = [error.get("code"), error.get("type")]
        .into_iter()
        .flatten()
        .find_map(serde_json::Value::as_str)?;
    let is_identifier =
        code.len() <= LONGEST_CODE && code.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    is_identifier.then(|| code.to_owned())
}

/// `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = value.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    // A date that has passed means now.
    Some(Duration::try_from(date.duration_since(Timestamp::now())).unwrap_or_default())
}

/// A client that trusts Mozilla's roots and uses ring, whatever provider the process has installed.
fn https_client(timeout: Duration) -> Result<Client, EmbedError> {
    let roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let mut tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("ring supports the default TLS versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
        .timeout(timeout)
        .build()
        .map_err(|error| EmbedError::Unavailable(format!("setting up HTTPS: {error}")))
}

fn refused_url(reason: &str) -> EmbedError {
    EmbedError::Rejected(format!("the base URL cannot be used: {reason}"))
}

#[cfg(test)]
mod tests;
