//! Cohere's models, by `POST {base}/v2/embed`: they embed questions in another way than passages.

use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::batches::batches;
use super::windows::{estimate_tokens, windows};
use super::{Dimensions, EmbedderIdentity, Purpose, Windows};
use crate::http::Endpoint;
use crate::prices::Price;
use crate::provider::ProviderError;

/// Tokens a window may have: `embed-*-v3.0` and the models before them take 512, their special tokens included.
const MAX_TOKENS: usize = 500;

/// The same for `embed-v4.0`, which takes 128,000: a vector of more says little about any part of it.
const LONG_MAX_TOKENS: usize = 8_000;

/// Texts in one request. Source: `V2EmbedRequest.texts` in Cohere's API description.
const BATCH_TEXTS: usize = 96;

/// Tokens in one request: Oracle, which serves these models too, takes 128,000. Cohere names no limit.
const BATCH_TOKENS: usize = 120_000;

/// What Cohere is asked with.
#[derive(Debug, Clone)]
pub struct CohereOptions {
    /// Up to and without `/v2`, e.g. `https://api.cohere.com`.
    pub base_url: String,
    /// Sent as a bearer token.
    pub api_key: SecretString,
    /// The model's name, e.g. `embed-multilingual-v3.0`.
    pub model: String,
    /// The vectors' length; models before `embed-v4.0` give their native one only.
    pub dimensions: Dimensions,
    /// Longest time for one request of up to 96 texts.
    pub timeout: Duration,
}

/// A model of Cohere's; clones share connections.
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
    /// The most tokens that a model reads of one text.
    #[must_use]
    pub fn max_tokens(model: &str) -> usize {
        // `embed-v4.0` and later begin with it; names of earlier models end with the version.
        if model.starts_with("embed-v") {
            LONG_MAX_TOKENS
        } else {
            MAX_TOKENS
        }
    }

    /// Sets the client up; no request is made.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is none.
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

    /// The model's price; `None` where it is not known.
    pub(super) fn dollars_per_million_tokens(&self) -> Option<f64> {
        let price = Price::of(self.endpoint.host(), &self.identity.name);
        price.map(|price| price.input)
    }

    /// The same provider with another of its models.
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
            // A passage was cut into windows: one that is too long all the same is refused, not stored in part. Of a
            // question the start will do.
            truncate: match purpose {
                Purpose::Document => "NONE",
                Purpose::Query => "END",
            },
            output_dimension: self.requested_dimensions,
        };
        let response: EmbedResponse = self.endpoint.post(&request, "list of embeddings").await?;
        let vectors = response.embeddings.float;
        // Here, as one batch's surplus would fill another's gap.
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
