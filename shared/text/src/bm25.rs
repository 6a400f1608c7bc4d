//! Weighs the words of texts by BM25.

use std::collections::BTreeMap;

/// How many chunks of an index contain each word, for BM25.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFrequencies {
    /// The number of chunks in the index.
    pub chunks: u64,
    /// The number of chunks with each word in any form. Stop words (`the`) count as in all chunks.
    pub with: BTreeMap<String, u64>,
}

impl DocumentFrequencies {
    /// Returns the rarity of a word, at least 0. `None` if the word was not counted.
    #[must_use]
    pub fn idf(&self, word: &str) -> Option<f32> {
        let with = *self.with.get(word)?;
        #[expect(clippy::cast_precision_loss, reason = "counts of chunks")]
        let (chunks, with) = (self.chunks as f32, with as f32);
        Some(idf(chunks, with))
    }
}

/// BM25: the score of a text is the sum over the question's terms of [`idf`] × [`bm25_weight`] (Robertson and Zaragoza, 2009).
///
/// Returns the rarity of a term in `with` of `texts`, at least 0: ln(1 + (n − d + 0.5) / (d + 0.5)).
#[must_use]
pub fn idf(texts: f32, with: f32) -> f32 {
    (1.0 + (texts - with + 0.5).max(0.0) / (with + 0.5)).ln()
}

/// Returns the weight in BM25 of a term that occurs `frequency` times in a text: f (k + 1) / (f + k (1 − b + b × length)). `length` is relative to
/// the mean of all texts.
#[must_use]
pub fn bm25_weight(frequency: f32, length: f32) -> f32 {
    /// Term frequency saturation and length normalisation, the usual values.
    const K: f32 = 1.2;
    const B: f32 = 0.75;
    frequency * (K + 1.0) / (frequency + K * (1.0 - B + B * length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rarer_word_weighs_more_and_one_of_all_chunks_hardly_anything() {
        let with = [
            ("the", 1_000),
            ("node", 400),
            ("quaternion", 3),
            ("zymurgy", 0),
        ];
        let frequencies = DocumentFrequencies {
            chunks: 1_000,
            with: with.map(|(word, with)| (word.to_owned(), with)).into(),
        };
        assert_eq!(frequencies.idf("uncounted"), None);
        let idf = with.map(|(word, _)| frequencies.idf(word).unwrap());
        assert!(idf[0] >= 0.0 && idf[0] < 0.001, "{idf:?}");
        assert!(idf.is_sorted());
        assert!((idf[1] - (1.0_f32 + 600.5 / 400.5).ln()).abs() < 1e-6);
    }
}
