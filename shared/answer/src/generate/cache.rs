//! Reuses a chat model's answer for an equal question about the same state of the book, with the same settings.
//!
//! Extracts cost milliseconds and are not cached. To protect what readers say about themselves, the cache never stores the question, nor an answer
//! that repeats words of the question which the book does not have.

use std::collections::HashSet;
use std::mem::discriminant;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::timeout;
use uuid::Uuid;

use crate::cite::Citation;
use crate::decide::answerable::thresholds;
use crate::generate::{Exchange, Generator, form_of_prompts};
use crate::retrieve::open_page::path_of;
use crate::retrieve::{Language, UNKNOWN_INDEX, Words};
use crate::{Answer, AnswerEvent, Answerer, Asker, Mode, Outcome, Prepared, Question, Suggestion};
use book::hex;
use store::catalog::{AnswerLookup, CachedAnswer, Catalog, CatalogError};

/// Time limit for reading from the cache and for writing to it.
const DEADLINE: Duration = Duration::from_secs(1);

/// A cached answer.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The streamed pieces, in order.
    pieces: Vec<KeptPiece>,
    text: String,
    outcome: Option<Outcome>,
    confidence: f32,
    citations: Vec<Citation>,
    #[serde(default)]
    unsupported: Vec<String>,
    #[serde(default)]
    adapted: Vec<String>,
    suggestions: Vec<Suggestion>,
    #[serde(default)]
    follow_ups: Vec<String>,
    retrieved_chunk_ids: Vec<Uuid>,
    num_candidates: usize,
    scores: Vec<f32>,
    /// The original cost, in millionths of a dollar.
    cost_micro_usd: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum KeptPiece {
    Text(String),
    Citation(Box<Citation>),
}

/// The result of a cache lookup.
#[derive(Debug, Clone)]
pub(crate) enum Cache {
    /// The cache is off, the question is part of a conversation, or the catalog is unavailable.
    Unused,
    Hit(Box<Kept>),
    Miss(CacheEntry),
}

/// The cache entry to write.
#[derive(Debug, Clone)]
pub(crate) struct CacheEntry {
    key: String,
    index_id: i64,
    /// The book's revision before the search.
    book_revision: i64,
}

impl Kept {
    /// Returns the events that the first reader got, except the last.
    pub(crate) fn events(&self) -> impl Iterator<Item = AnswerEvent> + use<> {
        let pieces = self.pieces.clone().into_iter();
        pieces.map(|piece| match piece {
            KeptPiece::Text(text) => AnswerEvent::Token(text),
            KeptPiece::Citation(citation) => AnswerEvent::Citation(citation),
        })
    }

    /// Appends a streamed event; adjacent texts are merged.
    pub(crate) fn push(&mut self, event: &AnswerEvent) {
        match (event, self.pieces.last_mut()) {
            (AnswerEvent::Token(more), Some(KeptPiece::Text(text))) => text.push_str(more),
            (AnswerEvent::Token(text), _) => self.pieces.push(KeptPiece::Text(text.clone())),
            (AnswerEvent::Citation(citation), _) => {
                self.pieces.push(KeptPiece::Citation(citation.clone()));
            }
            (AnswerEvent::Reading(_) | AnswerEvent::LookingUp(_) | AnswerEvent::Done(_), _) => {}
        }
    }

    fn with(self, answer: &Answer) -> Self {
        Self {
            pieces: self.pieces,
            text: answer.text.clone(),
            outcome: Some(answer.outcome),
            confidence: answer.confidence,
            citations: answer.citations.clone(),
            unsupported: answer.unsupported.clone(),
            adapted: answer.adapted.clone(),
            suggestions: answer.suggestions.clone(),
            follow_ups: answer.follow_ups.clone(),
            retrieved_chunk_ids: answer.retrieved_chunk_ids.clone(),
            num_candidates: answer.num_candidates,
            scores: answer.scores.clone(),
            cost_micro_usd: answer.cost_micro_usd,
        }
    }
}

impl Answerer {
    /// Looks up an answer to an equal question. Questions that depend on a conversation are not cached, nor is anything while the book is being
    /// indexed.
    pub(crate) async fn cached(
        &self,
        question: &Question,
        history: &[Exchange],
        asker: Option<&Asker>,
    ) -> Cache {
        let index = &self.retriever.index;
        let stands_alone = history.is_empty()
            && question.mode == Mode::GlobalBook
            && question.selected_text.is_none()
            && question.context.is_none();
        let is_known = index.index_id != UNKNOWN_INDEX && index.pages_expected.is_none();
        let (Some(asker), true) = (asker, self.rules.cache_answers && stands_alone && is_known)
        else {
            return Cache::Unused;
        };
        let Some(key) = self.key(question, asker) else {
            return Cache::Unused;
        };
        let index_id = index.index_id;
        let found = timeout(
            DEADLINE,
            self.retriever.catalog().cached_answer(index_id, &key),
        );
        match found.await.unwrap_or_else(|_| Err(late())) {
            Ok(AnswerLookup {
                answer,
                book_revision,
            }) => {
                // An answer written by another release may be unreadable.
                let kept = answer.and_then(|answer| serde_json::from_str(&answer).ok());
                let entry = CacheEntry {
                    key,
                    index_id,
                    book_revision,
                };
                kept.map_or(Cache::Miss(entry), Cache::Hit)
            }
            Err(error) => {
                tracing::warn!(stage = "cache", %error, "cannot read the answer cache");
                Cache::Unused
            }
        }
    }

    /// Hashes everything a model's answer depends on except the book's text, such as settings, prompt and model. `None` without a model.
    fn key(&self, question: &Question, asker: &Asker) -> Option<String> {
        let Generator::Model(model) = &self.generator else {
            return None;
        };
        let retriever = &self.retriever;
        let asked = format!(
            "{:?}",
            (
                &asker.question_hash,
                &question.filters,
                question.page_url.as_deref().map(path_of),
                question.top_k,
                question.labels_in_text,
            )
        );
        let answered = format!(
            "{:?}",
            (
                env!("CARGO_PKG_VERSION"),
                form_of_prompts(),
                thresholds(),
                model.identity(),
                &self.rules,
                discriminant(&retriever.backends.reranker),
                &retriever.index,
            )
        );
        let mut hash = Sha256::new();
        for part in [asked, answered] {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        }
        Some(hex(&hash.finalize()))
    }
}

impl Prepared {
    /// Returns a cached answer as the answer to this question.
    pub(crate) fn given_again(&self, kept: Kept) -> Answer {
        Answer {
            text: kept.text,
            outcome: kept.outcome.unwrap_or(self.outcome),
            confidence: kept.confidence,
            citations: kept.citations,
            unsupported: kept.unsupported,
            adapted: kept.adapted,
            suggestions: kept.suggestions,
            follow_ups: kept.follow_ups,
            retrieved_chunk_ids: kept.retrieved_chunk_ids,
            num_candidates: kept.num_candidates,
            scores: kept.scores,
            saved_micro_usd: Some(kept.cost_micro_usd),
            ..self.bare()
        }
    }

    /// Returns the writer for this answer's cache entry, if there is one.
    pub(crate) fn keeper(&self) -> Option<Keeper> {
        let Cache::Miss(entry) = &self.cache else {
            return None;
        };
        let read = &self.texts.model_input;
        let words = Words::new(
            self.locale
                .as_deref()
                .map_or(Language::ENGLISH, Language::of_locale),
        );
        let passages = read.passages.iter();
        let texts = passages.map(|passage| passage.chunk.embedded_text());
        let known: HashSet<String> = texts.flat_map(|text| words.terms(&text)).collect();
        let mut own = words.terms(&self.question.query);
        own.retain(|term| !known.contains(term));
        Some(Keeper {
            entry: entry.clone(),
            catalog: self.answerer.retriever.catalog().clone(),
            own: own.into_iter().collect(),
            words,
        })
    }
}

/// Writes an answer to the cache.
pub(crate) struct Keeper {
    entry: CacheEntry,
    catalog: Catalog,
    /// The question's terms that no passage has.
    own: HashSet<String>,
    words: Words,
}

impl Keeper {
    /// Caches a model's complete answer.
    pub(crate) async fn keep(self, kept: Kept, answer: &Answer) {
        let by_a_model = answer.tokens > 0 && answer.degraded.is_empty();
        let mut terms = self.words.terms(&answer.text).into_iter();
        if !by_a_model || terms.any(|term| self.own.contains(&term)) {
            return;
        }
        let kept = serde_json::to_string(&kept.with(answer)).expect("plain fields serialise");
        let is_lasting = answer.outcome == Outcome::Answered;
        let entry = CachedAnswer {
            key: self.entry.key,
            index_id: self.entry.index_id,
            answer: kept,
            points: answer.points_read.clone(),
            book_revision: (!is_lasting).then_some(self.entry.book_revision),
        };
        let keeping = timeout(DEADLINE, self.catalog.cache_answer(&entry));
        if let Err(error) = keeping.await.unwrap_or_else(|_| Err(late())) {
            tracing::warn!(stage = "cache", %error, "cannot cache the answer");
        }
    }
}

fn late() -> CatalogError {
    CatalogError::Unavailable("no answer in time".to_owned())
}
