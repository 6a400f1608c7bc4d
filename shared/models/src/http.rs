//! Posts JSON to hosted models over HTTPS, and maps statuses to errors. Responses are read whole or as server-sent events.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Client, RequestBuilder, Response, StatusCode, Url};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use secrecy::{ExposeSecret, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sse_stream::SseByteStream;

use crate::provider::ProviderError;

/// Longest wait for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The largest response that is read, whole or as a stream; a batch of embeddings is a tenth of it.
const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// Longest time for putting JSON.
const PUT_TIMEOUT: Duration = Duration::from_secs(20);

/// The data after the last event of an OpenAI-compatible stream.
const DONE: &str = "[DONE]";

/// An endpoint that accepts JSON, with its credentials; clones share connections.
#[derive(Debug, Clone)]
pub struct Endpoint {
    parts: Arc<Parts>,
}

#[derive(Debug)]
struct Parts {
    client: Client,
    url: Url,
    /// The list of models, which checks the key free of charge.
    models_url: Url,
    /// For messages; unlike an address, a host holds no credentials.
    host: String,
    api_key: Option<SecretString>,
}

impl Endpoint {
    /// Creates the client for `path` under a base URL whose models are listed at `models_path`; sends no request. The key is sent as a bearer token,
    /// and `timeout` limits one request.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is invalid.
    pub fn new(
        base_url: &str,
        [path, models_path]: [&str; 2],
        api_key: Option<SecretString>,
        timeout: Duration,
    ) -> Result<Self, ProviderError> {
        let url = joined(base_url, path)?;
        let models_url = joined(base_url, models_path)?;
        let host = match (url.scheme(), url.host_str()) {
            ("http" | "https", Some(host)) => host.to_owned(),
            _ => return Err(refused_url("it is not an http(s) address")),
        };
        let parts = Parts {
            client: https_client(timeout)?,
            url,
            models_url,
            host,
            api_key,
        };
        Ok(Self {
            parts: Arc::new(parts),
        })
    }

    /// Returns the address, which may hold credentials and must never be shown.
    #[must_use]
    pub fn address(&self) -> &str {
        self.parts.url.as_str()
    }

    /// Returns the host, for messages.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.parts.host
    }

    /// Posts a request and reads its response; `wanted` names the response in messages, such as `list of embeddings`.
    ///
    /// # Errors
    ///
    /// Any [`ProviderError`].
    pub async fn post<Answer: DeserializeOwned>(
        &self,
        request: &impl Serialize,
        wanted: &str,
    ) -> Result<Answer, ProviderError> {
        let response = self.send(request).await?;
        let body = self.body(response).await?;
        serde_json::from_slice(&body).map_err(|error| self.not_wanted(&error, wanted))
    }

    /// Requests the address and reads its response; `wanted` names the response in messages.
    ///
    /// # Errors
    ///
    /// Any [`ProviderError`].
    pub async fn get<Answer: DeserializeOwned>(
        &self,
        wanted: &str,
    ) -> Result<Answer, ProviderError> {
        let request = self.parts.client.get(self.parts.url.clone());
        let body = self.body(self.answered(request).await?).await?;
        serde_json::from_slice(&body).map_err(|error| self.not_wanted(&error, wanted))
    }

    /// Posts a request and reads its response as server-sent events: parses each event's data as JSON until it is `[DONE]` or the response ends. The
    /// endpoint's timeout limits the whole stream. Dropping the stream closes the connection.
    ///
    /// # Errors
    ///
    /// Any [`ProviderError`], before the first event or instead of one.
    pub async fn stream<Event: DeserializeOwned + 'static>(
        &self,
        request: &impl Serialize,
        wanted: &'static str,
    ) -> Result<BoxStream<'static, Result<Event, ProviderError>>, ProviderError> {
        let response = self.send(request).await?;
        let endpoint = self.clone();
        let events = SseByteStream::new(limited(response))
            .filter_map(|event| async {
                match event {
                    Ok(event) => event.data.filter(|data| !data.is_empty()).map(Ok),
                    Err(error) => Some(Err(error)),
                }
            })
            .take_while(|data| std::future::ready(!matches!(data, Ok(data) if data == DONE)))
            .map(move |data| endpoint.event(data, wanted));
        Ok(events.boxed())
    }

    /// Parses an event's data.
    fn event<Event: DeserializeOwned>(
        &self,
        data: Result<String, sse_stream::Error>,
        wanted: &str,
    ) -> Result<Event, ProviderError> {
        match data {
            Ok(data) => {
                serde_json::from_str(&data).map_err(|error| self.not_wanted(&error, wanted))
            }
            Err(sse_stream::Error::Body(error)) => match error.downcast_ref::<BodyError>() {
                Some(error) => Err(self.no_body(error)),
                None => Err(self.broke()),
            },
            Err(_) => Err(ProviderError::Malformed(format!(
                "{} gave no {wanted} (not UTF-8)",
                self.parts.host
            ))),
        }
    }

    /// Requests the list of models, which checks free of charge that the provider is reachable and accepts the key.
    ///
    /// # Errors
    ///
    /// Any [`ProviderError`].
    pub async fn ping(&self) -> Result<(), ProviderError> {
        let request = self.parts.client.get(self.parts.models_url.clone());
        self.answered(request).await.map(drop)
    }

    /// Posts a request; fails unless the status is a success.
    async fn send(&self, request: &impl Serialize) -> Result<Response, ProviderError> {
        let request = self.parts.client.post(self.parts.url.clone()).json(request);
        self.answered(request).await
    }

    async fn answered(&self, mut request: RequestBuilder) -> Result<Response, ProviderError> {
        if let Some(api_key) = &self.parts.api_key {
            request = request.bearer_auth(api_key.expose_secret());
        }
        let response = request
            .send()
            .await
            .map_err(|error| self.no_answer(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let retry_after = retry_after(response.headers());
        let body = self.body(response).await?;
        Err(self.refusal(status, retry_after, &body))
    }

    async fn body(&self, response: Response) -> Result<Vec<u8>, ProviderError> {
        let pieces = limited(response).try_fold(Vec::new(), |mut body, piece| async move {
            body.extend_from_slice(&piece);
            Ok(body)
        });
        pieces.await.map_err(|error| self.no_body(&error))
    }

    fn no_body(&self, error: &BodyError) -> ProviderError {
        match error {
            BodyError::Broke(error) => self.no_answer(error),
            BodyError::TooLarge => {
                ProviderError::Malformed(format!("{} answered with {error}", self.parts.host))
            }
        }
    }

    fn not_wanted(&self, error: &serde_json::Error, wanted: &str) -> ProviderError {
        // Only the line and column, because serde's message quotes the response.
        let (line, column) = (error.line(), error.column());
        ProviderError::Malformed(format!(
            "{} gave no {wanted} (line {line}, column {column})",
            self.parts.host
        ))
    }

    fn broke(&self) -> ProviderError {
        ProviderError::Unavailable(format!("the connection to {} broke", self.parts.host))
    }

    fn no_answer(&self, error: &reqwest::Error) -> ProviderError {
        if error.is_timeout() {
            ProviderError::Timeout
        } else if error.is_connect() {
            ProviderError::Unavailable(format!("cannot connect to {}", self.parts.host))
        } else if error.is_builder() {
            ProviderError::Rejected("the key or address cannot be sent as HTTP".to_owned())
        } else {
            self.broke()
        }
    }

    fn refusal(
        &self,
        status: StatusCode,
        retry_after: Option<Duration>,
        body: &[u8],
    ) -> ProviderError {
        let code = error_code(body);
        let answer = match &code {
            Some(code) => format!("{} answered {} ({code})", self.parts.host, status.as_u16()),
            None => format!("{} answered {}", self.parts.host, status.as_u16()),
        };
        match status {
            // OpenAI uses the same status for an account without credit, where waiting does not help.
            StatusCode::TOO_MANY_REQUESTS if code.as_deref() != Some("insufficient_quota") => {
                ProviderError::RateLimited { retry_after }
            }
            StatusCode::REQUEST_TIMEOUT => ProviderError::Timeout,
            status if status.is_server_error() => ProviderError::Unavailable(answer),
            StatusCode::UNAUTHORIZED
            | StatusCode::PAYMENT_REQUIRED
            | StatusCode::FORBIDDEN
            | StatusCode::TOO_MANY_REQUESTS => ProviderError::Unauthorized(answer),
            // Without a code, a router of models has none that may call functions.
            StatusCode::NOT_FOUND if code.is_some() => ProviderError::Unauthorized(answer),
            _ => ProviderError::Rejected(answer),
        }
    }
}

/// The reason why a body could not be read.
#[derive(Debug, thiserror::Error)]
enum BodyError {
    #[error(transparent)]
    Broke(#[from] reqwest::Error),
    #[error("more than {MAX_ANSWER_BYTES} bytes")]
    TooLarge,
}

/// Reads a response's body up to the size limit.
fn limited(response: Response) -> impl Stream<Item = Result<Bytes, BodyError>> + Send {
    let mut read = 0;
    response.bytes_stream().map(move |piece| {
        let piece = piece?;
        read += piece.len();
        if read > MAX_ANSWER_BYTES {
            return Err(BodyError::TooLarge);
        }
        Ok(piece)
    })
}

/// Returns `error.code` (or `error.type`) of a response, if it is an identifier. The message is ignored, because it may quote the key or text.
fn error_code(body: &[u8]) -> Option<String> {
    /// In characters.
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

/// Parses `Retry-After`: seconds or a date (RFC 9110, 10.2.3).
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?;
    if let Ok(seconds) = value.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::parse(value).ok()?.timestamp();
    // A date in the past means now.
    Some(Duration::try_from(date.duration_since(Timestamp::now())).unwrap_or_default())
}

/// True if a URL's host is this machine or in its network: a loopback, private or link-local address, or a name that no public host has (`localhost`,
/// `host.docker.internal`, `ollama`).
#[must_use]
pub fn is_private(url: &str) -> bool {
    let url = Url::parse(url).ok();
    let Some(host) = url.as_ref().and_then(Url::host_str) else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(IpAddr::V4(address)) => {
            address.is_loopback() || address.is_private() || address.is_link_local()
        }
        Ok(IpAddr::V6(address)) => {
            address.is_loopback() || address.is_unique_local() || address.is_unicast_link_local()
        }
        Err(_) => {
            let endings = [".localhost", ".local", ".internal", ".lan", ".home.arpa"];
            !host.contains('.') || endings.iter().any(|end| host.ends_with(end))
        }
    }
}

/// A checked HTTPS address.
#[derive(Debug, Clone)]
pub struct HttpsUrl(Url);

impl HttpsUrl {
    /// Accepts an https URL whose host ends with one of `hosts`, or the URL of a local substitute; `None` otherwise.
    #[must_use]
    pub fn among(address: &str, hosts: &[&str], stand_in: Option<&str>) -> Option<Self> {
        let url = Url::parse(address).ok()?;
        let host = url.host_str()?;
        let is_among = url.scheme() == "https" && hosts.iter().any(|end| host.ends_with(end));
        let is_substitute = stand_in
            .and_then(|address| Url::parse(address).ok())
            .is_some_and(|stand_in| stand_in.origin() == url.origin());
        (is_among || is_substitute).then_some(Self(url))
    }
}

/// A failed upload of JSON.
#[derive(Debug, thiserror::Error)]
#[error("the JSON could not be sent: {0}")]
pub struct NotSent(String);

/// Uploads JSON to a presigned URL, without a content type.
///
/// # Errors
/// If the upload failed.
pub async fn put_json(url: &HttpsUrl, json: &serde_json::Value) -> Result<(), NotSent> {
    let client =
        https_client(PUT_TIMEOUT).map_err(|error| NotSent(format!("the HTTPS client {error}")))?;
    let request = client.put(url.0.clone()).body(json.to_string());
    // The presigned URL is a secret, so errors must not contain it.
    let answer = request.send().await;
    let answer = answer.map_err(|error| NotSent(error.without_url().to_string()))?;
    match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(NotSent(format!("status {}", status.as_u16()))),
    }
}

/// Creates a client with Mozilla's roots and ring, whatever provider the process has installed.
///
/// # Errors
///
/// `Unavailable` if HTTPS cannot be set up.
pub fn https_client(timeout: Duration) -> Result<Client, ProviderError> {
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
        .map_err(|error| ProviderError::Unavailable(format!("setting up HTTPS: {error}")))
}

/// Appends a path to a base URL, which may end with a slash.
fn joined(base_url: &str, path: &str) -> Result<Url, ProviderError> {
    let address = format!("{}{path}", base_url.trim_end_matches('/'));
    Url::parse(&address).map_err(|error| refused_url(&error.to_string()))
}

fn refused_url(reason: &str) -> ProviderError {
    ProviderError::Rejected(format!("the base URL cannot be used: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_of_this_machine_and_network_are_told_from_hosted_ones() {
        for url in [
            "http://localhost:11434/v1",
            "http://127.0.0.1:8080/v1",
            "http://[::1]:8080",
            "http://192.168.1.20/v1",
            "https://10.0.0.7/v1",
            "http://172.16.3.4",
            "http://[fd00::12]/v1",
            "http://169.254.9.9",
            "http://ollama:11434/v1",
            "http://host.docker.internal:11434/v1",
            "http://workstation.local/v1",
        ] {
            assert!(is_private(url), "{url}");
        }
        for url in [
            "https://api.openai.com/v1",
            "http://8.8.8.8/v1",
            "http://172.32.0.1",
            "http://[2606:4700::1111]/v1",
            "https://internal.example.org",
            "https://localhost.example.org",
            "not an address",
        ] {
            assert!(!is_private(url), "{url}");
        }
    }

    #[test]
    fn retry_after_may_be_a_date() {
        let wait = |value: &str| {
            retry_after(&HeaderMap::from_iter([(
                RETRY_AFTER,
                value.parse().unwrap(),
            )]))
        };
        assert_eq!(wait("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert!(wait("Fri, 01 Jan 2100 00:00:00 GMT").unwrap() > Duration::from_secs(1 << 20));
        assert_eq!(wait("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("-1"), None);
        assert_eq!(wait("soon"), None);
    }

    #[tokio::test]
    async fn answers_without_an_end_are_given_up() {
        let endless = |_: &serde_json::Value| {
            let piece = Bytes::from(vec![b'a'; 1 << 20]);
            let pieces = futures::stream::repeat(Ok::<_, std::fmt::Error>(piece));
            axum::response::Response::new(axum::body::Body::from_stream(pieces))
        };
        let server = fakes::server::Server::start("/v1/chat", endless).await;
        let base = format!("{}/v1", server.origin);
        let paths = ["/chat", "/models"];
        let endpoint = Endpoint::new(&base, paths, None, Duration::from_mins(1)).unwrap();
        let request = serde_json::json!({});
        let whole: Result<serde_json::Value, _> = endpoint.post(&request, "answer").await;
        let whole = whole.unwrap_err();
        assert!(
            matches!(&whole, ProviderError::Malformed(told) if told.contains("bytes")),
            "{whole:?}"
        );
        let events = endpoint
            .stream::<serde_json::Value>(&request, "answer")
            .await;
        let first = events.unwrap().next().await.unwrap().unwrap_err();
        assert!(
            matches!(&first, ProviderError::Malformed(told) if told.contains("bytes")),
            "{first:?}"
        );
    }
}
