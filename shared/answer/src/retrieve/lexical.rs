//! BM25 over the candidates.
//!
//! Candidates come from vector search and full-text search; all of them are scored here. The catalog counts word frequencies in the whole book; if it
//! is unavailable, they are counted among the candidates.

use std::collections::HashMap;

use text::{bm25_weight, idf};

/// A term of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct QuestionTerm {
    /// The term's number.
    pub(super) number: u32,
    /// The inverse document frequency in the book; `None` computes it from the candidates.
    pub(super) idf: Option<f32>,
}

/// The term numbers of a chunk, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkTerms {
    /// All terms, beginning with the page's keywords.
    pub(super) all: Vec<u32>,
    /// How many of the first terms are keywords of the page.
    pub(super) filed: usize,
}

/// The scores of texts for a question, in the texts' order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LexicalScores {
    /// BM25 scores.
    pub(super) scores: Vec<f32>,
    /// The share of the question's terms in each text, weighted by idf, 0 to 1.
    pub(super) coverage: Vec<f32>,
    /// The share of the question's terms that are keywords of the page, weighted by idf, 0 to 1.
    pub(super) filed: Vec<f32>,
}

/// Computes the BM25 scores of texts. The question's terms are distinct.
pub(super) fn bm25(question: &[QuestionTerm], texts: &[ChunkTerms]) -> LexicalScores {
    let places = question.iter().map(|term| term.number).zip(0..);
    let places: HashMap<u32, usize> = places.collect();
    let frequencies: Vec<Vec<f32>> = texts
        .iter()
        .map(|text| {
            let mut found = vec![0.0; question.len()];
            for place in text.all.iter().filter_map(|word| places.get(word)) {
                found[*place] += 1.0;
            }
            found
        })
        .collect();
    let count = number(texts.len());
    let mean_length = texts.iter().map(|text| number(text.all.len())).sum::<f32>() / count.max(1.0);
    let mut scores = LexicalScores {
        scores: vec![0.0; texts.len()],
        coverage: vec![0.0; texts.len()],
        filed: vec![0.0; texts.len()],
    };
    let mut sum = 0.0;
    for (word, term) in question.iter().enumerate() {
        let with = frequencies.iter().filter(|found| found[word] > 0.0);
        let with = number(with.count());
        let idf = term.idf.unwrap_or_else(|| idf(count, with));
        sum += idf;
        for (at, (found, text)) in frequencies.iter().zip(texts).enumerate() {
            let f = found[word];
            if f > 0.0 {
                let length = number(text.all.len()) / mean_length.max(1.0);
                scores.coverage[at] += idf;
                if text.all[..text.filed].contains(&term.number) {
                    scores.filed[at] += idf;
                }
                scores.scores[at] += idf * bm25_weight(f, length);
            }
        }
    }
    if sum > 0.0 {
        for share in scores.coverage.iter_mut().chain(&mut scores.filed) {
            *share /= sum;
        }
    }
    scores
}

#[expect(clippy::cast_precision_loss, reason = "counts of a few thousand words")]
fn number(count: usize) -> f32 {
    count as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of words, as indexes of this list.
    fn numbers(text: &str) -> Vec<u32> {
        let all = ["node", "spin", "quark", "a", "b"];
        let number = |word: &str| all.iter().position(|known| *known == word).unwrap();
        let numbers = text.split_whitespace().map(number);
        numbers
            .map(|number| u32::try_from(number).unwrap())
            .collect()
    }

    fn words(text: &str) -> ChunkTerms {
        ChunkTerms {
            all: numbers(text),
            filed: 0,
        }
    }

    fn terms(text: &str, idf: Option<f32>) -> Vec<QuestionTerm> {
        let numbers = numbers(text).into_iter();
        numbers.map(|number| QuestionTerm { number, idf }).collect()
    }

    #[test]
    fn a_rarity_that_was_counted_in_the_book_is_taken() {
        let texts = ["node a", "node b", "node spin"].map(words);
        let found = bm25(&terms("node", Some(3.0)), &texts);
        assert!((found.scores[0] - 3.0).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn a_rare_word_weighs_more_than_a_common_one() {
        let texts = ["node a", "node b", "node spin"].map(words);
        let found = bm25(&terms("node spin quark", None), &texts);
        // Lengths are equal, so f = 1 leaves the idf: ln(1 + 0.5/3.5), ln(1 + 2.5/1.5).
        let (node, spin, quark) = (0.133_531_4, 0.980_829_3, 2.079_441_5);
        for (score, expected) in found.scores.iter().zip([node, node, node + spin]) {
            assert!((score - expected).abs() < 1e-5, "{score} {expected}");
        }
        let all = node + spin + quark;
        for (coverage, expected) in found.coverage.iter().zip([node, node, node + spin]) {
            assert!((coverage - expected / all).abs() < 1e-5, "{found:?}");
        }
    }

    #[test]
    fn words_that_the_page_is_filed_under_are_told_apart() {
        let filed = |text: &str, filed| ChunkTerms {
            all: numbers(text),
            filed,
        };
        let texts = [
            filed("node spin a", 2),
            filed("node spin node", 2),
            filed("node a", 0),
        ];
        let found = bm25(&terms("node spin", Some(1.0)), &texts);
        assert_eq!(found.coverage, [1.0, 1.0, 0.5]);
        assert_eq!(found.filed, [1.0, 1.0, 0.0]);
    }

    #[test]
    fn a_question_of_stop_words_and_no_texts_give_zeros() {
        assert_eq!(bm25(&[], &[words("a")]).scores, [0.0]);
        let nothing = bm25(&terms("a", None), &[]);
        assert!(nothing.scores.is_empty() && nothing.coverage.is_empty());
    }
}
