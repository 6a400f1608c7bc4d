//! Divides texts among requests.

use super::windows::estimate_tokens;

/// Splits texts into consecutive batches for one request each, by estimated tokens. A text over the limit gets its own batch.
pub(super) fn batches(texts: &[String], max_texts: usize, max_tokens: usize) -> Vec<&[String]> {
    let mut batches = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (at, text) in texts.iter().enumerate() {
        let text_tokens = estimate_tokens(text);
        let full = at - start == max_texts || tokens + text_tokens > max_tokens;
        if full && at > start {
            batches.push(&texts[start..at]);
            (start, tokens) = (at, 0);
        }
        tokens += text_tokens;
    }
    batches.push(&texts[start..]);
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MAX_TEXTS: usize = 128;
    const MAX_TOKENS: usize = 250_000;

    proptest! {
        #[test]
        fn batches_keep_all_texts_in_order_within_the_limits(sizes in proptest::collection::vec(prop_oneof![9 => 0_usize..99, 1 => 0_usize..120_000], 0..300)) {
            let texts: Vec<_> = sizes.iter().map(|size| ".".repeat(*size)).collect();
            let batches = batches(&texts, MAX_TEXTS, MAX_TOKENS);
            prop_assert_eq!(batches.concat(), &*texts);
            for batch in batches {
                let tokens: usize = batch.iter().map(|text| estimate_tokens(text)).sum();
                prop_assert!(batch.len() <= MAX_TEXTS && tokens <= MAX_TOKENS);
            }
        }
    }
}
