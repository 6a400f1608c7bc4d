//! What a model writes, read as it comes: refusals and rules are told from an answer, the rest becomes events. Pure.

use super::AnswerEvent;
use super::leak::LeakReader;
use super::refusal::RefusalReader;
use super::turns::TurnReader;
use super::writer::Writer;

/// A model's answer so far.
pub(super) struct Draft {
    turns: TurnReader,
    refusals: RefusalReader,
    rules: LeakReader,
    pub(super) writer: Writer,
    /// Bytes that the model wrote.
    pub(super) written: usize,
    /// Bytes it may write: a server need not keep to the tokens it was told.
    most: usize,
}

/// Bytes of a token, at most, but for rare ones.
const BYTES_PER_TOKEN: usize = 12;

/// Why the rest of what a model writes is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It refuses to answer.
    Refused,
    /// It repeats its rules.
    Leaked,
    /// It goes on with a turn that is not its own.
    Ended,
    /// It wrote more than it may.
    Full,
}

impl Draft {
    /// Nothing yet. `refusals` are the sentences that refuse, `rules` what must not be repeated.
    pub(super) fn new<'a>(
        refusals: [&str; 3],
        rules: impl IntoIterator<Item = &'a str>,
        max_tokens: u32,
        writer: Writer,
    ) -> Self {
        Self {
            turns: TurnReader::default(),
            refusals: RefusalReader::new(refusals),
            rules: LeakReader::new(rules),
            writer,
            written: 0,
            most: usize::try_from(max_tokens)
                .unwrap_or(usize::MAX)
                .saturating_mul(BYTES_PER_TOKEN),
        }
    }

    /// Reads a piece; what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> Vec<AnswerEvent> {
        let left = self.most.saturating_sub(self.written);
        self.written += piece.len();
        let said = self.turns.push(&piece[..piece.floor_char_boundary(left)]);
        let shown = self.rules.push(&self.refusals.push(&said));
        self.writer.push(&shown)
    }

    /// Whether enough was read.
    pub(super) fn stopped(&self) -> Option<Stop> {
        if self.refusals.refused() {
            Some(Stop::Refused)
        } else if self.rules.leaked() {
            Some(Stop::Leaked)
        } else if self.turns.ended() {
            Some(Stop::Ended)
        } else {
            (self.written > self.most).then_some(Stop::Full)
        }
    }

    /// What is left when the text has ended; nothing of a refusal.
    pub(super) fn finish(&mut self) -> Vec<AnswerEvent> {
        if self.refusals.refused() {
            return Vec::new();
        }
        let rest = self.refusals.push(&self.turns.finish()) + &self.refusals.finish();
        if self.refusals.refused() {
            return Vec::new();
        }
        let rest = self.rules.push(&rest) + &self.rules.finish();
        let mut events = self.writer.push(&rest);
        events.extend(self.writer.finish());
        events
    }
}

#[cfg(test)]
mod tests;
