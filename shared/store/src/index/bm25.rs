//! The settings of a hosted store's BM25, which are part of an index's identity.

/// Term frequency saturation, the usual value (Robertson and Zaragoza, 2009).
pub(super) const K: f64 = 1.2;
/// Length normalisation, the usual value (Robertson and Zaragoza, 2009).
pub(super) const B: f64 = 0.75;
/// The mean number of words in a chunk, by which lengths are normalised.
pub(super) const AVERAGE_WORDS: f64 = 256.0;
/// The language of stems and stop words.
pub(super) const LANGUAGE: &str = "english";

/// Returns the BM25 settings as part of an index's identity.
#[must_use]
pub fn bm25_settings() -> String {
    format!("k={K} b={B} avg_len={AVERAGE_WORDS} language={LANGUAGE}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stored indexes contain this text in their identity.
    #[test]
    fn the_settings_are_written_as_in_stored_indexes() {
        let text = "k=1.2 b=0.75 avg_len=256 language=english";
        assert_eq!(bm25_settings(), text);
    }
}
