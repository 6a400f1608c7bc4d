//! Measures how well the lines of a section resemble a question.

use std::collections::{BTreeSet, HashMap};

use store::index::ChunkPayload;
use text::Words;

/// The least cosine of two tokens that counts as similarity.
const FLOOR: f32 = 0.5;

/// The similarity of each line of a section to each term of a question. A term is a token of the embedder, or a word.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Similarities {
    /// The weight of each term; they add up to 1, or to 0 without terms.
    weights: Vec<f32>,
    /// The best similarity of each line to each term, −1 to 1.
    lines: HashMap<String, Vec<f32>>,
}

impl Similarities {
    /// Creates similarities without lines, for terms with these weights.
    #[must_use]
    pub fn new(weights: &[f32]) -> Self {
        let sum: f32 = weights.iter().sum();
        Self {
            weights: weights.iter().map(|weight| weight / sum).collect(),
            lines: HashMap::new(),
        }
    }

    /// Adds a line with its similarity to each term. Equal lines keep the best value.
    pub fn add(&mut self, line: &str, similarities: Vec<f32>) {
        match self.lines.get_mut(line) {
            Some(known) => raise(known, &similarities),
            None => drop(self.lines.insert(line.to_owned(), similarities)),
        }
    }

    /// Compares the lines of a chunk by the words they share with the question: 1 or 0.
    #[must_use]
    pub fn by_words(question: &str, chunk: &ChunkPayload) -> Self {
        let words = Words::new(chunk.language());
        let terms = words.of_question(question).map(|(_, term)| term);
        let terms: Vec<String> = terms.collect::<BTreeSet<_>>().into_iter().collect();
        let mut similarities = Self::new(&vec![1.0; terms.len()]);
        for line in chunk.text.lines() {
            let found = words.terms(line);
            let shared = terms
                .iter()
                .map(|term| f32::from(u8::from(found.contains(term))));
            similarities.add(line, shared.collect());
        }
        similarities
    }

    /// Returns how much a text contributes to all terms together, 0 to 1.
    pub(super) fn fit(&self, text: &str) -> f32 {
        self.gains(text).iter().sum()
    }

    /// Returns how much a text contributes to each term: the similarity above the floor, 0 to 1, times the term's weight.
    pub(super) fn gains(&self, text: &str) -> Vec<f32> {
        let mut best = vec![FLOOR; self.weights.len()];
        for similarities in text.lines().filter_map(|line| self.lines.get(line)) {
            raise(&mut best, similarities);
        }
        let weighed = best.iter().zip(&self.weights);
        weighed
            .map(|(best, weight)| (best - FLOOR) / (1.0 - FLOOR) * weight)
            .collect()
    }
}

/// Replaces each number by the larger of the two.
pub(super) fn raise(numbers: &mut [f32], others: &[f32]) {
    for (number, other) in numbers.iter_mut().zip(others) {
        *number = number.max(*other);
    }
}
