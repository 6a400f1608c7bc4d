//! Cohere's rerankers, through `POST {base}/v2/rerank`.

use std::time::Duration;

use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::http::Endpoint;
use crate::provider::ProviderError;

/// Connection settings of Cohere's API.
#[derive(Debug, Clone)]
pub struct CohereRerankOptions {
    /// The URL before `/v2`, such as `https://api.cohere.com`.
    pub base_url: String,
    /// The bearer token.
    pub api_key: SecretString,
    /// The model's name, e.g. [`CohereReranker::DEFAULT_MODEL`].
    pub model: String,
    /// Longest time for one request.
    pub timeout: Duration,
}

/// A Cohere reranker; clones share connections.
#[derive(Debug, Clone)]
pub struct CohereReranker {
    model: String,
    endpoint: Endpoint,
}

/// `V2RerankRequest`. Without `top_n`, every document is scored.
#[derive(Serialize)]
struct RerankRequest<'a> {
    model: &'a str,
    query: &'a str,
    documents: &'a [String],
}

/// `V2RerankResponse`.
#[derive(Deserialize)]
struct RerankResponse {
    results: Vec<Ranked>,
}

#[derive(Deserialize)]
struct Ranked {
    index: usize,
    relevance_score: f32,
}

impl CohereReranker {
    /// The default model, which is multilingual.
    pub const DEFAULT_MODEL: &'static str = "rerank-v3.5";

    /// Creates the client without sending a request.
    ///
    /// # Errors
    ///
    /// `Rejected` if the base URL is invalid.
    pub fn new(options: CohereRerankOptions) -> Result<Self, ProviderError> {
        let api_key = Some(options.api_key);
        let paths = ["/v2/rerank", "/v1/models"];
        let endpoint = Endpoint::new(&options.base_url, paths, api_key, options.timeout)?;
        Ok(Self {
            model: options.model,
            endpoint,
        })
    }

    /// Returns how well each document answers the query, from 0 to 1, in the order of the documents. Sends one request, which should have at most
    /// 1,000 documents; the API reads the first 4,096 tokens of each.
    ///
    /// # Errors
    ///
    /// Any [`ProviderError`]; then no score is returned. `Malformed` unless there is exactly one score from 0 to 1 for each document.
    pub async fn scores(
        &self,
        query: &str,
        documents: &[String],
    ) -> Result<Vec<f32>, ProviderError> {
        if documents.is_empty() {
            return Ok(Vec::new());
        }
        let request = RerankRequest {
            model: &self.model,
            query,
            documents,
        };
        let response: RerankResponse = self.endpoint.post(&request, "list of scores").await?;
        in_order(&response.results, documents.len())
    }
}

/// Sorts the scores by `index`; each document must have exactly one.
fn in_order(results: &[Ranked], count: usize) -> Result<Vec<f32>, ProviderError> {
    let mut scores = vec![None; count];
    for ranked in results {
        let (index, score) = (ranked.index, ranked.relevance_score);
        if !(0.0..=1.0).contains(&score) {
            return Err(ProviderError::Malformed(format!(
                "document {index} has the score {score}"
            )));
        }
        let Some(slot) = scores.get_mut(index) else {
            return Err(ProviderError::Malformed(format!(
                "a score came for document {index} of {count}"
            )));
        };
        if slot.replace(score).is_some() {
            return Err(ProviderError::Malformed(format!(
                "two scores came for document {index}"
            )));
        }
    }
    let scores = scores.into_iter().enumerate().map(|(index, score)| {
        score.ok_or_else(|| ProviderError::Malformed(format!("no score came for document {index}")))
    });
    scores.collect()
}

#[cfg(test)]
mod tests;
