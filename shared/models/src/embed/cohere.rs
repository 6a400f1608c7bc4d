//! Cohere's models, through `POST {base}/v2/embed`. They embed questions differently from stored texts.

use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::batches::batches;
use super::windows::{estimate_tokens, windows};
use super::{Dimensions, EmbedderIdentity, Purpose, Windows};
use crate::http::Endpoint;
use crate::prices::Price;
use crate::provider::ProviderError;

/// The most tokens of a window: `embed-*-v3.0` and earlier models accept 512, including special tokens.
const MAX_TOKENS: usize = 500;

/// The same for `embed-v4.0`, which accepts 128,000; a vector of a longer text says little about any part of it.
const LONG_MAX_TOKENS: usize = 8_000;

/// Texts in one request. Source: `V2EmbedRequest.texts` in Cohere's API description.
const BATCH_TEXTS: usize = 96;

/// Tokens in one request. Cohere names no limit; Oracle, which serves these models too, accepts 128,000.
const BATCH_TOKENS: usize = 120_000;

/// Connection settings of Cohere's API.
#[derive(Debug, Clone)]
pub struct CohereOptions {
    /// The URL before `/v2`, such as `https://api.cohere.com`.
    pub base_url: String,
    /// The bearer token.
    pub api_key: SecretString,
    /// The model's name, e.g. `embed-multilingual-v3.0`.
    pub model: String,
    /// The length of vectors; models before `embed-v4.0` support only their native one.
    pub dimensions: Dimensions,
    /// Longest time for one request of up to 96 texts.
    pub timeout: Duration,
}

/// A Cohere embedder; clones share connections.
#[derive(Debug, Clone)]
pub struct CohereEmbedder {
    identity: EmbedderIdentity,
    endpoint: Endpoint,
    requested_dimensions: Option<usize>,
}

/// `V2EmbedRequest`.
#[derive(Serialize)]
struct EmbedRequest<'a> {
    model: &'a str,
    texts: &'a [String],
    input_type: &'static str,
    embedding_types: [&'static str; 1],
    truncate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_dimension: Option<usize>,
}

/// `EmbedByTypeResponse`.
#[derive(Deserialize)]
struct EmbedResponse {
    embeddings: EmbeddingsByType,
}

#[derive(Deserialize)]
struct EmbeddingsByType {
    float: Vec<Vec<f32>>,
}

impl CohereEmbedder {
    /// Returns the model's input limit, in tokens.
    #[must_use]
    pub fn max_tokens(model: &str) -> usize {
        // Names of `embed-v4.0` and later begin with `embed-v`; earlier names end with the version.
        if model.starts_with("embed-v") {
            LONG_MAX_TOKENS
        } else {
            MAX_TOKENS
        }
    }

    /// Creates the client without sending a request.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is invalid.
    pub fn new(options: CohereOptions) -> Result<Self, ProviderError> {
        let api_key = Some(options.api_key);
        let paths = ["/v2/embed", "/v1/models"];
        let endpoint = Endpoint::new(&options.base_url, paths, api_key, options.timeout)?;
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

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Windows {
        windows(breadcrumb, text, self.identity.max_tokens, estimate_tokens)
    }

    pub(super) async fn embed(
        &self,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in batches(texts, BATCH_TEXTS, BATCH_TOKENS) {
            vectors.extend(self.embed_batch(batch, purpose).await?);
        }
        Ok(vectors)
    }

    async fn embed_batch(
        &self,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Vec<f32>>, ProviderError> {
        let request = EmbedRequest {
            model: &self.identity.name,
            texts,
            input_type: match purpose {
                Purpose::Document => "search_document",
                Purpose::Query => "search_query",
            },
            embedding_types: ["float"],
            // Stored texts are cut into windows, so one that is still too long is an error. Of a question, the beginning is enough.
            truncate: match purpose {
                Purpose::Document => "NONE",
                Purpose::Query => "END",
            },
            output_dimension: self.requested_dimensions,
        };
        let response: EmbedResponse = self.endpoint.post(&request, "list of embeddings").await?;
        let vectors = response.embeddings.float;
        // Checked here, because the surplus of one batch could fill the gap of another.
        if vectors.len() != texts.len() {
            return Err(ProviderError::Malformed(format!(
                "{} embeddings came for {} texts",
                vectors.len(),
                texts.len()
            )));
        }
        Ok(vectors)
    }
}

fn identity(endpoint: &Endpoint, model: String, dimensions: Dimensions) -> EmbedderIdentity {
    EmbedderIdentity {
        fingerprint: format!("{}/{model}", endpoint.host()),
        dimensions: dimensions.length(),
        max_tokens: CohereEmbedder::max_tokens(&model),
        token_vectors: None,
        name: model,
    }
}

#[cfg(test)]
mod tests;
