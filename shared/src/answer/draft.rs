//! What a model writes, read as it comes: refusals and rules are told from an answer, the rest becomes events. Pure.

use super::AnswerEvent;
use super::leak::LeakReader;
use super::refusal::RefusalReader;
use super::writer::Writer;

/// A model's answer so far.
pub(super) struct Draft {
    refusals: RefusalReader,
    rules: LeakReader,
    pub(super) writer: Writer,
    /// Bytes that the model wrote.
    pub(super) written: usize,
}

/// Why the rest of what a model writes is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It refuses to answer.
    Refused,
    /// It repeats its rules.
    Leaked,
}

impl Draft {
    /// Nothing yet. `refusals` are the sentences that refuse, `rules` what must not be repeated.
    pub(super) fn new(refusals: [&str; 3], rules: &str, writer: Writer) -> Self {
        Self {
            refusals: RefusalReader::new(refusals),
            rules: LeakReader::new(rules),
            writer,
            written: 0,
        }
    }

    /// Reads a piece; what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> Vec<AnswerEvent> {
        self.written += piece.len();
        let shown = self.rules.push(&self.refusals.push(piece));
        self.writer.push(&shown)
    }

    /// Whether enough was read.
    pub(super) fn stopped(&self) -> Option<Stop> {
        if self.refusals.refused() {
            Some(Stop::Refused)
        } else {
            self.rules.leaked().then_some(Stop::Leaked)
        }
    }

    /// What is left when the text has ended; nothing of a refusal.
    pub(super) fn finish(&mut self) -> Vec<AnswerEvent> {
        if self.refusals.refused() {
            return Vec::new();
        }
        let rest = self.rules.push(&self.refusals.finish()) + &self.rules.finish();
        let mut events = self.writer.push(&rest);
        events.extend(self.writer.finish());
        events
    }
}
