//! An embedder for tests: deterministic, instant, and near for texts that share words.

use super::EmbedderIdentity;
use super::windows::windows;

/// Longest input in words, as many as the local model has tokens, so that tests see windows.
const MAX_WORDS: usize = 256;

/// Counts hashed words: texts that share many words are near.
#[derive(Debug, Clone)]
pub struct FakeEmbedder {
    identity: EmbedderIdentity,
}

impl FakeEmbedder {
    /// Length of the fake's vectors.
    pub const DIMENSIONS: usize = 64;

    /// Makes the fake; all fakes are alike.
    #[must_use]
    pub fn new() -> Self {
        Self {
            identity: EmbedderIdentity {
                name: "fake".to_owned(),
                fingerprint: "fake/hashed-words".to_owned(),
                dimensions: Self::DIMENSIONS,
                max_tokens: MAX_WORDS,
            },
        }
    }

    pub(super) fn identity(&self) -> &EmbedderIdentity {
        &self.identity
    }

    pub(super) fn windows(&self, breadcrumb: &str, text: &str) -> Vec<String> {
        windows(breadcrumb, text, self.identity.max_tokens, |piece| {
            piece.split_whitespace().count()
        })
    }

    #[expect(
        clippy::unused_self,
        reason = "the same call as on the other embedders"
    )]
    pub(super) fn embed(&self, texts: &[String]) -> Vec<Vec<f32>> {
        texts.iter().map(|text| bag_of_words(text)).collect()
    }
}

impl Default for FakeEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

fn bag_of_words(text: &str) -> Vec<f32> {
    let seen = text.split_whitespace().take(MAX_WORDS);
    let words = seen.flat_map(|word| word.split(|c: char| !c.is_alphanumeric()));
    let mut vector = vec![0.0; FakeEmbedder::DIMENSIONS];
    for word in words.filter(|word| !word.is_empty()) {
        vector[bucket(&word.to_lowercase())] += 1.0;
    }
    if vector.iter().all(|x| *x == 0.0) {
        vector[0] = 1.0;
    }
    vector
}

/// FNV-1a, since the standard library's hasher may change between releases.
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
            let pairs = vectors[a].iter().zip(&vectors[b]);
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
    async fn no_texts_give_no_vectors() {
        let fake = Embedder::Fake(FakeEmbedder::new());
        assert!(fake.embed(&[], Purpose::Query).await.unwrap().is_empty());
    }
}
