//! Whether the book covers a question.

use crate::generate::coverage;
use crate::retrieve::Candidate;

/// Candidates whose words are looked at.
const LOOKED_AT: usize = 5;
/// The least weighted sum of the best cosine and the best share of the question's words.
///
/// Provisional: chosen on the questions of five books; `ARCHITECTURE.md` has the rates it gives.
const THRESHOLD: f32 = 0.65;
/// The weight of the share of words beside the cosine.
const WORDS_WEIGHT: f32 = 0.5;

/// Whether the candidates cover the question. Without candidates: no.
#[must_use]
pub fn covers(query: &str, candidates: &[Candidate]) -> bool {
    let looked_at = &candidates[..candidates.len().min(LOOKED_AT)];
    let cosine = looked_at
        .iter()
        .map(Candidate::confidence)
        .fold(0.0, f32::max);
    let words = coverage(query, looked_at);
    !candidates.is_empty() && cosine + WORDS_WEIGHT * words >= THRESHOLD
}
