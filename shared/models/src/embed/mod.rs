//! Embeds texts as unit-length vectors, and as token vectors if the model runs in this process.
//!
//! A model ignores text beyond its input limit, so documents are split with [`Embedder::windows`] first. Vectors of two embedders are comparable only
//! if their [`EmbedderIdentity`] is equal.

mod batches;
mod cohere;
mod dimensions;
mod embedding;
mod fake;
#[cfg(feature = "faults")]
mod faulty;
#[cfg(feature = "local-models")]
mod local;
mod off_topic;
mod openai;
mod tokens;
mod windows;

use std::ops::Range;
#[cfg(feature = "local-models")]
use std::sync::Arc;

use crate::provider::ProviderError;
pub use cohere::{CohereEmbedder, CohereOptions};
pub use dimensions::Dimensions;
pub use embedding::{Embedding, Windows};
pub use fake::FakeEmbedder;
#[cfg(feature = "faults")]
pub use faulty::FaultyEmbedder;
#[cfg(feature = "local-models")]
pub use local::LocalEmbedder;
pub use off_topic::{NEAREST_CHUNKS, OffTopic, mean_of_best};
pub use openai::{OpenAiEmbedder, OpenAiOptions};
pub use tokens::{
    MaxSim, TOKEN_DIMENSIONS, TokenVector, TokenVectors, WeightedToken, rounded, widened,
};

/// Converts texts to vectors.
#[derive(Debug, Clone)]
pub enum Embedder {
    /// A model in this process.
    #[cfg(feature = "local-models")]
    Local(Arc<LocalEmbedder>),
    /// A hosted model behind an OpenAI-compatible `POST {base}/embeddings`.
    OpenAi(OpenAiEmbedder),
    /// A Cohere model.
    Cohere(CohereEmbedder),
    /// Hashed words, for tests.
    Fake(FakeEmbedder),
    /// A fake whose calls may fail.
    #[cfg(feature = "faults")]
    Faulty(FaultyEmbedder),
}

/// The purpose of an embedding; some models embed questions differently from stored texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A text of the book, to be stored.
    Document,
    /// A question, to be compared with stored texts.
    Query,
}

/// The properties that comparable vectors share; part of an index's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbedderIdentity {
    /// The model's name, e.g. `all-MiniLM-L6-v2`.
    pub name: String,
    /// SHA-256 of a local model's weights (hex), or `provider/model` of a hosted one.
    pub fingerprint: String,
    /// Length of each vector.
    pub dimensions: usize,
    /// The input limit in the model's tokens, including special ones; the rest of a text is ignored.
    pub max_tokens: usize,
    /// The name and hash of the projection of token vectors; `None` without token vectors.
    pub token_vectors: Option<String>,
}

impl Embedder {
    /// Embeds each text as one unit-length vector and its token vectors, in order; text beyond the input limit is ignored.
    ///
    /// # Errors
    ///
    /// Any [`ProviderError`]; then no vector is returned. `Malformed` unless each text has one finite vector of [`EmbedderIdentity::dimensions`]
    /// numbers.
    #[tracing::instrument(target = "spans", skip_all)]
    pub async fn embed(
        &self,
        texts: &[String],
        purpose: Purpose,
    ) -> Result<Vec<Embedding>, ProviderError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let embeddings = match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => Arc::clone(local).embed(texts, purpose).await?,
            Self::OpenAi(hosted) => without_tokens(hosted.embed(texts).await?),
            Self::Cohere(hosted) => without_tokens(hosted.embed(texts, purpose).await?),
            Self::Fake(fake) => fake.embed(texts),
            #[cfg(feature = "faults")]
            Self::Faulty(faulty) => faulty.embed(texts).await?,
        };
        unit_vectors(embeddings, texts.len(), self.identity().dimensions)
    }

    /// Returns the word that each token vector of a text belongs to, as a byte range of the text. Needs no forward pass.
    ///
    /// A text that exceeds the model's input may have more words here than token vectors.
    #[must_use]
    pub fn token_words(&self, text: &str) -> Vec<Range<usize>> {
        match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => local.token_words(text),
            Self::OpenAi(_) | Self::Cohere(_) => Vec::new(),
            Self::Fake(fake) => fake.token_words(text),
            #[cfg(feature = "faults")]
            Self::Faulty(faulty) => faulty.token_words(text),
        }
    }

    /// Returns the share of the token score in the similarity; the cosine has the rest.
    #[must_use]
    pub fn token_share(&self) -> f32 {
        match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => local.token_share(),
            // Hosted models have no token vectors.
            _ => 0.5,
        }
    }

    /// Returns the embedder with this name, fingerprint and dimensions: this one, or another model of its provider. `None` if it is not available
    /// here.
    #[must_use]
    pub fn of_model(&self, name: &str, fingerprint: &str, dimensions: usize) -> Option<Self> {
        if self.is_model(fingerprint, dimensions) {
            return Some(self.clone());
        }
        let other = if let Self::OpenAi(hosted) = self {
            Self::OpenAi(hosted.with_model(name, dimensions))
        } else if let Self::Cohere(hosted) = self {
            Self::Cohere(hosted.with_model(name, dimensions))
        } else {
            return None;
        };
        other.is_model(fingerprint, dimensions).then_some(other)
    }

    fn is_model(&self, fingerprint: &str, dimensions: usize) -> bool {
        let identity = self.identity();
        identity.fingerprint == fingerprint && identity.dimensions == dimensions
    }

    /// True if the model understands a text. If not, its vectors are meaningless.
    #[must_use]
    pub fn reads(&self, text: &str) -> bool {
        match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => local.reads(text),
            _ => {
                let _ = text;
                true
            }
        }
    }

    /// True if the model was trained on many languages.
    #[must_use]
    pub fn is_multilingual(&self) -> bool {
        match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => local.is_multilingual(),
            _ => true,
        }
    }

    /// Returns the price of a million tokens in US dollars; `None` if the model has no public price.
    #[must_use]
    pub fn dollars_per_million_tokens(&self) -> Option<f64> {
        if let Self::OpenAi(hosted) = self {
            hosted.dollars_per_million_tokens()
        } else if let Self::Cohere(hosted) = self {
            hosted.dollars_per_million_tokens()
        } else {
            Some(0.0)
        }
    }

    /// Returns the model's identity.
    #[must_use]
    pub fn identity(&self) -> &EmbedderIdentity {
        match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => local.identity(),
            Self::OpenAi(hosted) => hosted.identity(),
            Self::Cohere(hosted) => hosted.identity(),
            Self::Fake(fake) => fake.identity(),
            #[cfg(feature = "faults")]
            Self::Faulty(faulty) => faulty.identity(),
        }
    }

    /// Splits `text` into consecutive windows that fit the model's input, each with `breadcrumb` and a line break before it.
    ///
    /// Splits between lines, else sentences, else words, else characters. Every word of `text` is in some window. A breadcrumb longer than a quarter
    /// of the input loses words at its start. Never empty: an empty text gives one window with the breadcrumb alone. For hosted models the number of
    /// tokens is estimated, rather too high than too low.
    #[must_use]
    pub fn windows(&self, breadcrumb: &str, text: &str) -> Windows {
        match self {
            #[cfg(feature = "local-models")]
            Self::Local(local) => local.windows(breadcrumb, text),
            Self::OpenAi(hosted) => hosted.windows(breadcrumb, text),
            Self::Cohere(hosted) => hosted.windows(breadcrumb, text),
            Self::Fake(fake) => fake.windows(breadcrumb, text),
            #[cfg(feature = "faults")]
            Self::Faulty(faulty) => faulty.windows(breadcrumb, text),
        }
    }

    /// Embeds one word, to check that the model works. Listing models would be free, but a key may have either permission without the other; the word
    /// costs less than a millionth of a dollar.
    ///
    /// # Errors
    ///
    /// As [`Embedder::embed`].
    pub async fn ping(&self) -> Result<(), ProviderError> {
        let word = ["ping".to_owned()];
        self.embed(&word, Purpose::Query).await.map(drop)
    }
}

fn without_tokens(vectors: Vec<Vec<f32>>) -> Vec<Embedding> {
    vectors.into_iter().map(Embedding::from).collect()
}

/// Checks count, size and finiteness, then scales each vector to length 1.
fn unit_vectors(
    mut embeddings: Vec<Embedding>,
    count: usize,
    dimensions: usize,
) -> Result<Vec<Embedding>, ProviderError> {
    if embeddings.len() != count {
        return Err(ProviderError::Malformed(format!(
            "{} embeddings came for {count} texts",
            embeddings.len()
        )));
    }
    for Embedding { vector, .. } in &mut embeddings {
        if vector.len() != dimensions {
            return Err(ProviderError::Malformed(format!(
                "embedding has {} dimensions, the index expects {dimensions}",
                vector.len()
            )));
        }
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        // Also rejects NaN, infinities and overflowing sums.
        if !(length.is_finite() && length > 0.0) {
            return Err(ProviderError::Malformed(format!(
                "embedding has length {length}"
            )));
        }
        for x in vector {
            *x /= length;
        }
    }
    Ok(embeddings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_scaled_to_unit_length() {
        let embeddings = unit_vectors(vec![vec![3.0, 4.0].into()], 1, 2).unwrap();
        assert_eq!(embeddings[0].vector, [0.6, 0.8]);
    }

    #[test]
    fn wrong_counts_sizes_and_numbers_are_malformed() {
        let message = |vectors: Vec<Vec<f32>>, count| {
            let embeddings = vectors.into_iter().map(Embedding::from).collect();
            unit_vectors(embeddings, count, 2).unwrap_err().to_string()
        };
        assert_eq!(
            message(vec![vec![1.0, 0.0]], 2),
            "gave a malformed answer: 1 embeddings came for 2 texts"
        );
        assert_eq!(
            message(vec![vec![1.0; 3]], 1),
            "gave a malformed answer: embedding has 3 dimensions, the index expects 2"
        );
        for bad in [f32::NAN, f32::INFINITY, f32::MAX] {
            assert!(message(vec![vec![bad, 1.0]], 1).contains("embedding has length"));
        }
        assert!(message(vec![vec![0.0, 0.0]], 1).contains("embedding has length 0"));
    }
}
