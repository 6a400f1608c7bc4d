//! An HTTP client that blocks. That of reqwest is a feature, and with it the tests would not share what other builds of the workspace compiled.

use std::string::FromUtf8Error;
use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::{Body, Method, RequestBuilder, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Longest time for one request.
const TIMEOUT: Duration = Duration::from_mins(1);

pub(crate) struct Client(reqwest::Client);

pub(crate) struct Request(RequestBuilder);

/// A response, read whole.
#[derive(Debug)]
pub(crate) struct Response {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

pub(crate) fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::builder().no_proxy().timeout(TIMEOUT);
    Client(client.build().unwrap())
}

impl Client {
    pub(crate) fn get(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::GET, url)
    }

    pub(crate) fn post(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::POST, url)
    }

    pub(crate) fn put(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::PUT, url)
    }

    pub(crate) fn delete(&self, url: impl AsRef<str>) -> Request {
        self.request(Method::DELETE, url)
    }

    fn request(&self, method: Method, url: impl AsRef<str>) -> Request {
        Request(self.0.request(method, url.as_ref()))
    }
}

impl Request {
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        Self(self.0.header(name, value))
    }

    pub(crate) fn json(self, body: &impl Serialize) -> Self {
        Self(self.0.json(body))
    }

    pub(crate) fn body(self, body: impl Into<Body>) -> Self {
        Self(self.0.body(body))
    }

    pub(crate) fn send(self) -> reqwest::Result<Response> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(async {
            let response = self.0.send().await?;
            Ok(Response {
                status: response.status(),
                headers: response.headers().clone(),
                body: response.bytes().await?.to_vec(),
            })
        })
    }
}

impl Response {
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) fn text(self) -> Result<String, FromUtf8Error> {
        String::from_utf8(self.body)
    }

    pub(crate) fn json<T: DeserializeOwned>(self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.body)
    }
}
