//! Hosted models behind an OpenAI-compatible `POST {base}/embeddings`.

use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::batches::batches;
use super::windows::{estimate_tokens, windows};
use super::{Dimensions, EmbedderIdentity, Windows};
use crate::http::Endpoint;
use crate::prices::Price;
use crate::provider::ProviderError;

/// Texts in one request: `api.openai.com` accepts 2,048, other servers fewer.
const BATCH_TEXTS: usize = 128;

/// Tokens in one request: `api.openai.com` accepts 300,000.
const BATCH_TOKENS: usize = 250_000;

/// Connection settings of a hosted model.
#[derive(Debug, Clone)]
pub struct OpenAiOptions {
    /// The URL before `/embeddings`, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The bearer token; local servers need none.
    pub api_key: Option<SecretString>,
    /// The model's name, e.g. `text-embedding-3-small`.
    pub model: String,
    /// The vectors' length.
    pub dimensions: Dimensions,
    /// Longest time for one request of up to 128 texts.
    pub timeout: Duration,
}

/// A hosted model; clones share connections.
#[derive(Debug, Clone)]
pub struct OpenAiEmbedder {
    identity: EmbedderIdentity,
    endpoint: Endpoint,
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
    /// The most tokens of a text: `text-embedding-3-*` accept 8,191.
    pub const MAX_TOKENS: usize = 8_000;

    /// Creates the client without sending a request.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is invalid.
    pub fn new(options: OpenAiOptions) -> Result<Self, ProviderError> {
        let paths = ["/embeddings", "/models"];
        let endpoint = Endpoint::new(&options.base_url, paths, options.api_key, options.timeout)?;
        Ok(Self {
            identity: identity(&endpoint, options.model, options.dimensions),
            endpoint,
            requested_dimensions: options.dimensions.requested(),
        })
    }

    /// Returns the model's price; `None` if it is unknown.
    pub(super) fn dollars_per_million_tokens(&self) -> Option<f64> {
        let price = Price::listed(self.endpoint.host(), &self.identity.name);
        price.map(|price| price.input)
    }

    /// Returns another model of the same provider.
    pub(super) fn with_model(&self, model: &str, dimensions: usize) -> Self {
        let dimensions = Dimensions::of_model(model, Some(dimensions));
        Self {
            identity: identity(&self.endpoint, model.to_owned(), dimensions),
            requested_dimensions: dimensions.requested(),
            endpoint: self.endpoint.clone(),
        }
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    #[expect(
        clippy::unused_self,
        reason = "the same call as on the other embedders"
    )]
    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Windows {
        windows(breadcrumb, text, Self::MAX_TOKENS, estimate_tokens)
    }

    pub(super) async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches(texts, BATCH_TEXTS, BATCH_TOKENS) {
            vectors.extend(self.embed_batch(batch).await?);
        }
        Ok(vectors)
    }

    async fn embed_batch(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ProviderError> {
        let request = EmbeddingsRequest {
            model: &self.identity.name,
            input: texts,
            dimensions: self.requested_dimensions,
        };
        let response: EmbeddingsResponse =
            self.endpoint.post(&request, "list of embeddings").await?;
        in_order(response.data, texts.len())
    }
}

fn identity(endpoint: &Endpoint, model: String, dimensions: Dimensions) -> EmbedderIdentity {
    EmbedderIdentity {
        fingerprint: format!("{}/{model}", endpoint.host()),
        name: model,
        dimensions: dimensions.length(),
        max_tokens: OpenAiEmbedder::MAX_TOKENS,
        token_vectors: None,
    }
}

/// Sorts the vectors by `index`; each text must have exactly one.
fn in_order(mut data: Vec<Embedding>, count: usize) -> Result<Vec<Vec<f32>>, ProviderError> {
    if data.len() != count {
        return Err(ProviderError::Malformed(format!(
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
        return Err(ProviderError::Malformed(format!(
            "no embedding has index {at}"
        )));
    }
    Ok(data
        .into_iter()
        .map(|embedding| embedding.embedding)
        .collect())
}

#[cfg(test)]
mod tests;
