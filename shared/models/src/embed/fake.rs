//! An embedder for tests: deterministic and instant. Texts that share words are close.

use std::ops::Range;

use super::windows::windows;
use super::{EmbedderIdentity, Embedding, TOKEN_DIMENSIONS, TokenVectors, Windows, rounded};

/// The input limit in words: as many as the local model has tokens, so that tests use windows.
const MAX_WORDS: usize = 256;

/// Counts hashed words, so that texts with many common words are close.
#[derive(Debug, Clone)]
pub struct FakeEmbedder {
    identity: EmbedderIdentity,
}

impl FakeEmbedder {
    /// Length of the fake's vectors.
    pub const DIMENSIONS: usize = 64;

    /// Creates the fake. All fakes are equal.
    #[must_use]
    pub fn new() -> Self {
        Self {
            identity: EmbedderIdentity {
                name: "fake".to_owned(),
                fingerprint: "fake/hashed-words".to_owned(),
                dimensions: Self::DIMENSIONS,
                max_tokens: MAX_WORDS,
                token_vectors: Some("hashed-words".to_owned()),
            },
        }
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Windows {
        windows(breadcrumb, text, self.identity.max_tokens, |piece| {
            piece.split_whitespace().count()
        })
    }

    #[expect(
        clippy::unused_self,
        reason = "the same call as on the other embedders"
    )]
    pub(super) fn embed(&self, texts: &[String]) -> Vec<Embedding> {
        texts.iter().map(|text| embedding(text)).collect()
    }

    #[expect(
        clippy::unused_self,
        reason = "the same call as on the other embedders"
    )]
    pub(super) fn token_words(&self, text: &str) -> Vec<Range<usize>> {
        words(text).map(|(at, word)| at..at + word.len()).collect()
    }
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts words. Each word is also a token, whose vector is 1 in the word's dimension.
fn embedding(text: &str) -> Embedding {
    let mut vector = vec![0.0; FakeEmbedder::DIMENSIONS];
    let mut tokens = Vec::new();
    for (_, word) in words(text) {
        let dimension = bucket(&word.to_lowercase());
        vector[dimension] += 1.0;
        let mut token = [0.0; TOKEN_DIMENSIONS];
        token[dimension] = 1.0;
        tokens.push(rounded(&token));
    }
    if tokens.is_empty() {
        vector[0] = 1.0;
    }
    Embedding {
        vector,
        tokens: TokenVectors::new(tokens),
        questions: Vec::new(),
    }
}

/// Returns the words of a text up to the input limit, with their positions.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split_whitespace()
        .take(MAX_WORDS)
        .flat_map(|word| word.split(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr().addr() - text.as_ptr().addr(), word))
}

/// Hashes a word to a dimension with FNV-1a, since the standard library's hasher may change between releases.
fn bucket(word: &str) -> usize {
    let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // The top six bits: 64 buckets.
    usize::try_from(hash >> 58).expect("six bits fit a usize")
}

#[cfg(test)]
mod tests {
    use super::super::{Embedder, Purpose};
    use super::*;

    #[tokio::test]
    async fn texts_that_share_words_are_nearer() {
        let fake = Embedder::Fake(FakeEmbedder::new());
        let texts = [
            "A node publishes on a topic.",
            "which topic does a node use",
            "Bread needs flour, water, salt",
            "",
        ]
        .map(str::to_owned);
        let vectors = fake.embed(&texts, Purpose::Document).await.unwrap();
        let dot = |a: usize, b: usize| -> f32 {
            let pairs = vectors[a].vector.iter().zip(&vectors[b].vector);
            pairs.map(|(x, y)| x * y).sum()
        };
        assert!(dot(0, 1) > dot(0, 2) + 0.3);
        assert!((dot(3, 3) - 1.0).abs() < 1e-6);
        assert_eq!(
            vectors,
            fake.embed(&texts, Purpose::Query).await.unwrap(),
            "not deterministic"
        );
        fake.ping().await.unwrap();
    }

    #[tokio::test]
    async fn each_token_has_its_word() {
        let fake = Embedder::Fake(FakeEmbedder::new());
        let text = "Spin — the node, spin!";
        let words = fake.token_words(text);
        let words: Vec<&str> = words.into_iter().map(|word| &text[word]).collect();
        assert_eq!(words, ["Spin", "the", "node", "spin"]);
        let embedded = fake
            .embed(&[text.to_owned()], Purpose::Query)
            .await
            .unwrap();
        let tokens: Vec<_> = embedded[0].tokens.iter().collect();
        assert_eq!(tokens.len(), 4);
        assert!(tokens[0] == tokens[3] && tokens[0] != tokens[2]);
    }

    #[tokio::test]
    async fn no_texts_give_no_vectors() {
        let fake = Embedder::Fake(FakeEmbedder::new());
        assert!(fake.embed(&[], Purpose::Query).await.unwrap().is_empty());
    }
}
