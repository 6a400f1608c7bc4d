//! Makes the whole answer of a text.

use super::closest::{nearest_pages, next_sections};
use super::proposals::{Seen, follow_ups};
use super::writer::{Writer, Written};
use super::{Answer, Mode, Outcome, Prepared, Suggestion};
use crate::catalog::Indexing;
use crate::cite::Citation;
use crate::generate::Passage;
use crate::retrieve::milliseconds;

impl Prepared {
    /// Returns the refusal, with the nearest pages.
    pub(super) fn refusal(&self) -> (Option<String>, Answer) {
        let text = match self.retrieved.indexing {
            Some(progress) => still_indexing(progress),
            None => self.with_limits(self.refusal_sentence()),
        };
        let answer = Answer {
            text: text.clone(),
            outcome: Outcome::NotCovered,
            suggestions: nearest_pages(&self.retrieved.candidates, self.locale.as_deref()),
            ..self.bare()
        };
        (Some(text), answer)
    }

    pub(super) fn written(&self, writer: Writer) -> (Option<String>, Answer) {
        let Written {
            text,
            citations,
            unsupported,
            adapted,
        } = writer.written();
        let mut count = 0.0_f32;
        let mut sum = 0.0;
        for citation in &citations {
            count += 1.0;
            sum += citation.confidence;
        }
        let is_cited = |passage: &Passage<'_>| {
            let url = passage.candidate.url(self.locale.as_deref());
            citations.iter().any(|citation| citation.url == url)
        };
        let suggestions: Vec<Suggestion> = match (self.outcome, &self.question.mode) {
            (Outcome::Answered, Mode::GlobalBook) => {
                let passages = self.extractable();
                let similarities = self.texts.similarities.as_ref();
                next_sections(&self.standalone, &passages, is_cited, similarities)
                    .iter()
                    .map(|section| section.suggestion(self.locale.as_deref()))
                    .collect()
            }
            _ => Vec::new(),
        };
        let follow_ups = self.follow_ups(&citations, &suggestions);
        let answer = Answer {
            text,
            follow_ups,
            confidence: if count > 0.0 { sum / count } else { 0.0 },
            citations,
            suggestions,
            unsupported,
            adapted,
            ..self.bare()
        };
        (None, answer)
    }

    /// Returns the questions to ask next, of the sections that were found or read.
    fn follow_ups(&self, citations: &[Citation], suggestions: &[Suggestion]) -> Vec<String> {
        let asked = [&self.question.query, &self.standalone];
        let before = self.history.iter().map(|exchange| &exchange.question);
        let seen = Seen {
            asked: asked
                .into_iter()
                .chain(before)
                .map(String::as_str)
                .collect(),
            citations,
            suggestions,
            locale: self.locale.as_deref(),
        };
        let around = self.texts.around.0.iter().flatten();
        let sections: Vec<_> = around.chain(&self.retrieved.candidates).collect();
        follow_ups(&seen, &sections)
    }

    /// Returns the answer without its text.
    pub(super) fn bare(&self) -> Answer {
        let candidates = &self.retrieved.candidates;
        let used = &candidates[..self.question.top_k.min(candidates.len())];
        let chunks = used.iter().map(|found| found.chunk.chunk_id);
        Answer {
            text: String::new(),
            outcome: self.outcome,
            mode_used: self.question.mode.clone(),
            confidence: 0.0,
            citations: Vec::new(),
            unsupported: Vec::new(),
            adapted: Vec::new(),
            suggestions: Vec::new(),
            follow_ups: Vec::new(),
            message_id: self.message_id,
            conversation_id: self.conversation_id,
            tokens: self.spent.tokens,
            cost_micro_usd: self.spent.micro_usd,
            saved_micro_usd: None,
            lookups: self.lookups,
            points_read: self.texts.model_input.points.clone(),
            retrieved_chunk_ids: chunks.collect(),
            num_candidates: self.retrieved.num_candidates,
            scores: used.iter().map(|found| found.scores.score).collect(),
            times: self.retrieved.times,
            degraded: self.retrieved.degraded.clone(),
            book_language: self.book_language.clone(),
            latency_ms: milliseconds(self.started),
        }
    }
}

/// The refusal while the book is indexed for the first time.
fn still_indexing(progress: Indexing) -> String {
    format!(
        "This book is still being indexed ({progress}), so I cannot answer that yet. Please ask again in a moment."
    )
}
