//! Embeds a question and weights its tokens by the rarity of their words in the book.

use std::collections::BTreeSet;
use std::time::Duration;

use super::synonyms::Synonyms;
use super::{EMBED_DEADLINE, Retriever, UNKNOWN_INDEX};
use crate::degradation::Degradation;
use models::embed::{Embedding, WeightedToken};
use models::provider::ProviderError;
use store::catalog::CatalogError;
use text::{DocumentFrequencies, Language, Words};

/// Time limit for reading how many chunks contain the question's words.
const FREQUENCIES_DEADLINE: Duration = Duration::from_secs(1);

/// The most words of a question that are counted; of more words, the longest are. 672 questions of real users have at most 37 different words. Each
/// counted word costs a look-up.
const MOST_COUNTED: usize = 128;
/// The least weight of a token: a word such as `how` says little, but not nothing.
const LEAST_WEIGHT: f32 = 0.5;

/// An embedded question.
#[derive(Debug, Clone, Default)]
pub(super) struct EmbeddedQuestion {
    /// The question's vector; empty if the embedder is unavailable.
    pub(super) vector: Vec<f32>,
    /// The question's tokens; empty if the index has no token vectors of this embedder.
    pub(super) tokens: Vec<WeightedToken>,
    /// How many chunks contain each word; `None` if the catalog is unavailable.
    pub(super) frequencies: Option<DocumentFrequencies>,
}

impl Retriever {
    /// Embeds a question with its synonyms, and weights its tokens. The catalog counts word frequencies concurrently. Returns the dependencies that
    /// failed, too: without the embedder there are only the frequencies, and without the catalog all words weigh the same.
    pub(super) async fn embed(
        &self,
        question: &str,
        synonyms: &Synonyms<'_>,
        language: Language,
    ) -> (EmbeddedQuestion, Vec<Degradation>) {
        let words = self.token_words(question);
        let embedded = tokio::time::timeout(EMBED_DEADLINE, self.embedding_of(question));
        let stemmed = Words::new(language);
        let searched = stemmed.of_question(question).map(|(word, _)| word);
        let counted = searched.chain(words.iter().map(|word| (*word).to_owned()));
        let counted = longest(counted.collect(), MOST_COUNTED);
        let (embedded, frequencies) =
            tokio::join!(embedded, self.document_frequencies(counted, language));
        let mut degraded = Vec::new();
        let embedding = embedded
            .unwrap_or(Err(ProviderError::Timeout))
            .unwrap_or_else(|error| {
                tracing::warn!(stage = "embed", error = %format_args!("the embedder {error}"), "searching by words only");
                degraded.push(Degradation::Embedder);
                Embedding::default()
            });
        let mut frequencies = frequencies.unwrap_or_else(|error| {
            tracing::warn!(stage = "embed", %error, "giving all words of the question the same weight");
            degraded.push(Degradation::Catalog);
            None
        });
        if let Some(frequencies) = &mut frequencies {
            synonyms.count(frequencies, &stemmed);
        }
        let question = EmbeddedQuestion {
            tokens: weighted(&embedding, &words, frequencies.as_ref()),
            vector: embedding.vector,
            frequencies,
        };
        (question, degraded)
    }

    /// Returns the word of each token of a question; empty if the index has no comparable token vectors.
    fn token_words<'q>(&self, question: &'q str) -> Vec<&'q str> {
        let embedder = &self.backends.embedder;
        if self.index.spec.token_vectors != embedder.identity().token_vectors {
            return Vec::new();
        }
        let words = embedder.token_words(question).into_iter();
        words.map(|word| &question[word]).collect()
    }

    /// Returns how many chunks contain each word; `None` without words, or if the catalog was unavailable before.
    async fn document_frequencies(
        &self,
        words: BTreeSet<String>,
        language: Language,
    ) -> Result<Option<DocumentFrequencies>, CatalogError> {
        let index_id = self.index.index_id;
        if words.is_empty() || index_id == UNKNOWN_INDEX {
            return Ok(None);
        }
        let counted = self
            .catalog()
            .document_frequencies(index_id, &words, language);
        let counted = tokio::time::timeout(FREQUENCIES_DEADLINE, counted).await;
        let late = |_| Err(CatalogError::Unavailable("no answer in time".to_owned()));
        counted.unwrap_or_else(late).map(Some)
    }
}

/// Returns the longest words, `most` at most.
fn longest(words: BTreeSet<String>, most: usize) -> BTreeSet<String> {
    let mut words: Vec<String> = words.into_iter().collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.chars().count()));
    words.truncate(most);
    words.into_iter().collect()
}

/// Returns a question's tokens, weighted by the rarity of their words; equally for words that were not counted.
fn weighted(
    embedding: &Embedding,
    words: &[&str],
    frequencies: Option<&DocumentFrequencies>,
) -> Vec<WeightedToken> {
    let tokens = embedding.tokens.iter().zip(words);
    tokens
        .map(|(vector, word)| {
            let idf = frequencies.and_then(|counted| counted.idf(word));
            WeightedToken {
                vector: *vector,
                weight: idf.map_or(1.0, |idf| idf.max(LEAST_WEIGHT)),
            }
        })
        .collect()
}
