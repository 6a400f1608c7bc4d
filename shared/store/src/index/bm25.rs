//! The terms that the chunks of every store are found by, and their weights in BM25.

#[cfg(feature = "cloud")]
use std::collections::{BTreeMap, BTreeSet};

use text::{TERMS_VERSION, Words};

use super::ChunkPayload;

/// The number of terms in a chunk by which a hosted store normalises lengths; the local store computes its own mean. The means of nine English sites
/// with questions are 94 to 142, those of five sites in other languages without questions 40 to 68.
const AVERAGE_TERMS: f32 = 100.0;

/// Returns what the terms of an index and their weights depend on, as part of its identity.
#[must_use]
pub fn bm25_settings() -> String {
    format!("terms={TERMS_VERSION} length={AVERAGE_TERMS}")
}

/// Returns the terms of a chunk's searched text, in its page's language.
pub(crate) fn document_terms(payload: &ChunkPayload) -> Vec<String> {
    Words::new(payload.language()).terms(&payload.searched_text())
}

/// Returns a chunk's sparse vector: the dimensions of its terms, with their weights in BM25 except for the rarity, which the store knows.
#[cfg(feature = "cloud")]
#[expect(clippy::cast_precision_loss, reason = "a chunk has few terms")]
pub(super) fn document_vector(terms: &[String]) -> (Vec<u32>, Vec<f32>) {
    let mut frequencies = BTreeMap::<u32, f32>::new();
    for term in terms {
        *frequencies.entry(dimension(term)).or_default() += 1.0;
    }
    let length = terms.len() as f32 / AVERAGE_TERMS;
    frequencies
        .into_iter()
        .map(|(dimension, frequency)| (dimension, text::bm25_weight(frequency, length)))
        .unzip()
}

/// Returns a question's sparse vector. Its terms count equally.
#[cfg(feature = "cloud")]
pub(super) fn question_vector(terms: &[String]) -> (Vec<u32>, Vec<f32>) {
    let dimensions: BTreeSet<u32> = terms.iter().map(|term| dimension(term)).collect();
    dimensions
        .into_iter()
        .map(|dimension| (dimension, 1.0))
        .unzip()
}

/// Returns the dimension of a term: the first four bytes of its SHA-256. Of 100,000 terms, about one pair shares a dimension.
#[cfg(feature = "cloud")]
fn dimension(term: &str) -> u32 {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(term);
    u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
}

#[cfg(all(test, feature = "cloud"))]
mod tests {
    use super::*;

    #[test]
    fn a_term_that_occurs_more_often_weighs_more_and_a_question_counts_it_once() {
        let terms = ["node", "spin", "node"].map(str::to_owned);
        let (dimensions, weights) = document_vector(&terms);
        assert!(dimensions.is_sorted());
        let weight = |term: &str| {
            let place = dimensions.binary_search(&dimension(term));
            weights[place.expect("a term of the chunk")]
        };
        assert!(weight("node") > weight("spin") && weight("spin") > 0.0);
        assert_eq!(question_vector(&terms), (dimensions, vec![1.0, 1.0]));
    }
}
