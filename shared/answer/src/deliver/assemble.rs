//! Assembles the complete answer from its text.

use crate::cite::Citation;
use crate::context::answer_context::QUOTABLE;
use crate::context::passages::numbered;
use crate::decide::proposals::{Seen, follow_ups};
use crate::decide::suggestions::next_sections;
use crate::guard::writer::{Writer, Written};
use crate::quote::Passage;
use crate::retrieve::milliseconds;
use crate::{Answer, Mode, Outcome, Prepared, Suggestion};
use store::catalog::Indexing;

impl Prepared {
    /// Returns the refusal, with the closest sections.
    pub(crate) fn refusal(&self) -> Answer {
        let text = match self.retrieved.indexing {
            Some(progress) => still_indexing(progress),
            // The embedder does not understand the question, so it is unknown whether the book covers it.
            None if !self.is_read => self.sentences.unread.clone(),
            None => self.refusal_sentence().to_owned(),
        };
        Answer {
            text,
            outcome: Outcome::NotCovered,
            suggestions: self.suggestions(&self.closest(), &[]),
            ..self.bare()
        }
    }

    /// Returns the reply to small talk, with questions that the book answers.
    pub(crate) fn small_talk(&self) -> Answer {
        let said = self.small_talk.as_ref();
        Answer {
            text: said.map(|said| said.reply.clone()).unwrap_or_default(),
            follow_ups: said.map(|said| said.proposals.clone()).unwrap_or_default(),
            ..self.bare()
        }
    }

    /// Returns the answer that was written.
    pub(crate) fn written(&self, writer: Writer) -> Answer {
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
        let suggestions = match self.question.mode {
            Mode::GlobalBook => self.suggestions(&self.extractable(), &citations),
            Mode::SelectedText => Vec::new(),
        };
        let follow_ups = self.follow_ups(&citations, &suggestions);
        Answer {
            text,
            follow_ups,
            confidence: if count > 0.0 { sum / count } else { 0.0 },
            citations,
            suggestions,
            unsupported,
            adapted,
            ..self.bare()
        }
    }

    /// Returns the passages that are closest to a question that the book does not cover.
    fn closest(&self) -> Vec<Passage<'_>> {
        let candidates = &self.retrieved.candidates;
        numbered(&candidates[..candidates.len().min(QUOTABLE)])
    }

    /// Returns the next sections that are not cited, each with the words that fit the question best.
    fn suggestions(&self, passages: &[Passage<'_>], citations: &[Citation]) -> Vec<Suggestion> {
        let locale = self.locale.as_deref();
        let next = next_sections(
            &self.standalone,
            passages,
            |passage| {
                let url = passage.candidate.url(locale);
                citations.iter().any(|citation| citation.url == url)
            },
            self.texts.similarities.as_ref(),
        );
        next.iter()
            .map(|section| section.suggestion(locale))
            .collect()
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
    pub(crate) fn bare(&self) -> Answer {
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
            index: self.answerer.retriever.index.freshness(),
            latency_ms: milliseconds(self.started),
        }
    }
}

/// Returns the refusal while the book is indexed for the first time.
fn still_indexing(progress: Indexing) -> String {
    format!(
        "This documentation is still being indexed ({progress}), so I cannot answer that yet. Please ask again in a moment."
    )
}
