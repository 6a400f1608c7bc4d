//! Counting tokens.

/// The number of cl100k tokens of a text, the measure of all chunk sizes.
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton()
        .encode_ordinary(text)
        .len()
}
