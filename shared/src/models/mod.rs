//! Models that run in this process: their files, their tokenizer, and inference by `rten`.
//!
//! All are BERT encoders from int8 ONNX files; one text is run at a time, since batches are slower and need far more memory.

mod files;
mod projection;
mod tokenizer;
mod transformer;

pub use files::{LocalModel, ModelFiles, ModelFilesError, locate};

/// Whether these models, all of them English, make sense of a text: of other scripts they know single letters at best, and
/// score any two texts alike.
pub(crate) fn reads(text: &str) -> bool {
    /// The end of Latin Extended-B.
    const LAST_LATIN: char = '\u{24f}';
    let letters = || text.chars().filter(|c| c.is_alphabetic());
    let latin = letters().filter(|c| *c <= LAST_LATIN).count();
    2 * latin >= letters().count()
}

pub(crate) use projection::TokenProjection;
pub(crate) use tokenizer::SPECIAL_TOKENS;
pub(crate) use transformer::{Threads, Transformer};

#[cfg(test)]
mod tests {
    use super::reads;

    #[test]
    fn english_models_read_latin_letters() {
        assert!(reads("Wie heißt der naïve Knoten?") && reads("ros2 node فائل") && reads("42"));
        assert!(!reads("روبوٹ کیا ہے") && !reads("yaml فائل سے پیرامیٹر"));
    }
}
