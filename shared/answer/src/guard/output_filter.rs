//! Reads a model's text as it streams: detects refusals, and turns the rest into events. Pure.

use crate::AnswerEvent;
use crate::guard::chat_template::ControlTokenFilter;
use crate::guard::model_refusal::RefusalDetector;
use crate::guard::writer::Writer;

pub(crate) struct OutputFilter {
    turns: ControlTokenFilter,
    refusals: RefusalDetector,
    pub(crate) writer: Writer,
    /// Bytes written by the model.
    pub(crate) written: usize,
    /// The most bytes the model may write, because a server may ignore the token limit.
    most: usize,
}

/// The most bytes of a token, except rare ones.
const BYTES_PER_TOKEN: usize = 12;

/// The reason to stop reading a model's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The model refuses to answer.
    Refused,
    /// The model continues with another speaker's turn.
    Ended,
    /// The model exceeded its length limit.
    Full,
}

impl OutputFilter {
    /// Creates an empty draft. `refusals` are refusing sentences.
    pub(crate) fn new(refusals: [&str; 3], max_tokens: u32, writer: Writer) -> Self {
        Self {
            turns: ControlTokenFilter::default(),
            refusals: RefusalDetector::new(refusals),
            writer,
            written: 0,
            most: usize::try_from(max_tokens)
                .unwrap_or(usize::MAX)
                .saturating_mul(BYTES_PER_TOKEN),
        }
    }

    /// Reads a piece; returns the events that can be shown now.
    pub(crate) fn push(&mut self, piece: &str) -> Vec<AnswerEvent> {
        let left = self.most.saturating_sub(self.written);
        self.written += piece.len();
        let said = self.turns.push(&piece[..piece.floor_char_boundary(left)]);
        let shown = self.refusals.push(&said);
        self.writer.push(&shown)
    }

    /// Returns the reason to stop, if there is one.
    pub(crate) fn stopped(&self) -> Option<Stop> {
        if self.refusals.refused() {
            Some(Stop::Refused)
        } else if self.turns.ended() {
            Some(Stop::Ended)
        } else {
            (self.written > self.most).then_some(Stop::Full)
        }
    }

    /// Returns the remaining events at the end of the text; none of a refusal.
    pub(crate) fn finish(&mut self) -> Vec<AnswerEvent> {
        if self.refusals.refused() {
            return Vec::new();
        }
        let rest = self.refusals.push(&self.turns.finish()) + &self.refusals.finish();
        if self.refusals.refused() {
            return Vec::new();
        }
        let mut events = self.writer.push(&rest);
        events.extend(self.writer.finish());
        events
    }
}

#[cfg(test)]
mod tests;
