//! BM25 over the chunks of an index. SQLite's FTS5 finds the chunks of a term. Scores are computed here, because FTS5's own scores count all indexes
//! in the file and are negative for words that most chunks have.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rusqlite::Connection;

use super::image::{Chunks, Scored, keep_best};
use crate::sqlite::{DatabaseError, lock};
use text::{DocumentFrequencies, Language, Words, bm25_weight, idf};

/// Cached postings, 16 bytes each: 32 MiB for an index. Questions repeat words.
const CACHED_POSTINGS: usize = 2 << 20;

/// The slots of the chunks with a term, and how often it occurs.
type TermPostings = Arc<[(usize, f32)]>;

/// The cached postings.
#[derive(Debug, Default)]
pub(super) struct Postings {
    by_term: HashMap<String, TermPostings>,
    count: usize,
}

impl Chunks {
    /// Returns the `limit` best admitted chunks with any of the terms, best first.
    pub(super) fn best_by_words(
        &self,
        connection: &Connection,
        terms: &[String],
        admitted: &[bool],
        limit: usize,
    ) -> Result<Vec<Scored>, DatabaseError> {
        let count = number(self.numbers.len());
        let mut scores = vec![0.0; self.numbers.len()];
        for term in terms {
            let postings = self.postings_of(connection, term)?;
            let idf = idf(count, number(postings.len()));
            for (slot, weight) in postings.iter() {
                scores[*slot] += idf * weight;
            }
        }
        let mut best: Vec<Scored> = scores
            .into_iter()
            .enumerate()
            .filter(|(slot, score)| *score > 0.0 && self.is_admitted(*slot, admitted))
            .map(|(slot, score)| (score, slot))
            .collect();
        keep_best(&mut best, limit);
        Ok(best)
    }

    /// Counts the chunks that contain each word.
    pub(super) fn document_frequencies(
        &self,
        connection: &Connection,
        words: BTreeSet<String>,
        language: Language,
    ) -> Result<DocumentFrequencies, DatabaseError> {
        let stemmed = Words::new(language);
        let counted = words.into_iter().map(|word| {
            let with = match stemmed.term(&word) {
                Some(term) => self.postings_of(connection, &term)?.len(),
                None => self.numbers.len(),
            };
            Ok((word, with as u64))
        });
        Ok(DocumentFrequencies {
            chunks: self.numbers.len() as u64,
            with: counted.collect::<Result<_, DatabaseError>>()?,
        })
    }

    /// Returns the chunks with a term and its weight there.
    fn postings_of(
        &self,
        connection: &Connection,
        term: &str,
    ) -> Result<TermPostings, DatabaseError> {
        if let Some(known) = lock(&self.postings).by_term.get(term) {
            return Ok(Arc::clone(known));
        }
        let mut found: Vec<(usize, f32)> = Vec::new();
        let mut statement =
            connection.prepare_cached("SELECT doc FROM chunk_word_instances WHERE term = ?1")?;
        let mut rows = statement.query([term])?;
        let mut last = None;
        // Occurrences are grouped by chunk, in id order.
        while let Some(row) = rows.next()? {
            let chunk_number: i64 = row.get(0)?;
            if last == Some(chunk_number) {
                if let Some((_, often)) = found.last_mut() {
                    *often += 1.0;
                }
            } else if let Ok(slot) = self.numbers.binary_search(&chunk_number) {
                last = Some(chunk_number);
                found.push((slot, 1.0));
            }
        }
        for (slot, often) in &mut found {
            #[expect(clippy::cast_precision_loss, reason = "a chunk has few terms")]
            let length = self.term_counts[*slot] as f32 / self.mean_terms;
            *often = bm25_weight(*often, length);
        }
        let found: TermPostings = found.into();
        lock(&self.postings).keep(term.to_owned(), &found);
        Ok(found)
    }
}

impl Postings {
    /// Caches postings; empties the cache first if it is full.
    fn keep(&mut self, term: String, postings: &TermPostings) {
        if self.count > CACHED_POSTINGS {
            *self = Self::default();
        }
        // An entry takes memory even if no chunk has the term.
        self.count += postings.len() + 16;
        self.by_term.insert(term, Arc::clone(postings));
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of chunks")]
fn number(count: usize) -> f32 {
    count as f32
}
