//! The vectors of a text.

use super::TokenVectors;

/// The vectors of a text, and of the questions that it answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedding {
    /// The text's vector, of unit length.
    pub vector: Vec<f32>,
    /// The token vectors; empty if the model has none.
    pub tokens: TokenVectors,
    /// One vector of unit length for each question of a chunk, in the order of its payload; empty in what an embedder returns.
    pub questions: Vec<Vec<f32>>,
}

/// A text split into pieces that fit the model's input, each with the same breadcrumb.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Windows {
    /// The pieces with the breadcrumb; at least one.
    pub texts: Vec<String>,
    /// Bytes of the breadcrumb and the line break after it, at the start of each text.
    pub head: usize,
}

impl From<Vec<f32>> for Embedding {
    /// Creates the embedding of a text without token vectors.
    fn from(vector: Vec<f32>) -> Self {
        Self {
            vector,
            tokens: TokenVectors::default(),
            questions: Vec::new(),
        }
    }
}

impl Embedding {
    /// Joins the embeddings of a text's windows: the mean of their vectors, scaled to unit length, and all tokens in order. Each window begins with
    /// the same number of breadcrumb tokens, which are kept once.
    #[must_use]
    pub fn of_windows(windows: Vec<Self>, in_breadcrumb: usize) -> Self {
        let mut tokens = Vec::new();
        let mut sum: Vec<f32> = Vec::new();
        for window in windows {
            let repeated = if sum.is_empty() { 0 } else { in_breadcrumb };
            tokens.extend(window.tokens.iter().skip(repeated).copied());
            sum.resize(window.vector.len(), 0.0);
            for (sum, number) in sum.iter_mut().zip(window.vector) {
                *sum += number;
            }
        }
        let length = sum.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            for number in &mut sum {
                *number /= length;
            }
        }
        Self {
            vector: sum,
            tokens: TokenVectors::new(tokens),
            questions: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TOKEN_DIMENSIONS, rounded};
    use super::*;

    #[test]
    fn windows_are_joined_in_order_with_the_breadcrumb_once() {
        let token = |place: usize| {
            let mut vector = [0.0; TOKEN_DIMENSIONS];
            vector[place] = 1.0;
            rounded(&vector)
        };
        let window = |vector: [f32; 2], tokens: [usize; 3]| Embedding {
            vector: vector.to_vec(),
            tokens: TokenVectors::new(tokens.map(token)),
            questions: Vec::new(),
        };
        let windows = [window([1.0, 0.0], [0, 1, 2]), window([0.0, 1.0], [0, 3, 4])];
        let joined = Embedding::of_windows(windows.to_vec(), 1);
        assert_eq!(joined.tokens, TokenVectors::new([0, 1, 2, 3, 4].map(token)));
        let half = 0.5_f32.sqrt();
        let near = |value: &f32| (value - half).abs() < 1e-6;
        assert!(joined.vector.iter().all(near), "{:?}", joined.vector);
        let one = window([0.0, 1.0], [5, 6, 7]);
        assert_eq!(Embedding::of_windows(vec![one.clone()], 2), one);
    }
}
