//! From the pieces of a text to events: text, and citations as soon as their first marker is read. Pure.

use std::collections::BTreeMap;

use super::{AnswerEvent, LabelsInText};
use crate::book::escaped;
use crate::chunk::citation_label;
use crate::cite::{Citation, Cited, LinkGuard, MarkerReader, SentenceTracker, citation, supports};
use crate::generate::{Passage, Quote};
use crate::retrieve::{Language, ScoredChunk, Words};

/// Turns a text with markers into events; passages that share a URL share a citation.
pub(super) struct Writer {
    candidates: Vec<ScoredChunk>,
    locale: Option<String>,
    labels: LabelsInText,
    markers: MarkerReader,
    /// Takes out what a model may not write. The book's own sentences need none: what they hold is written as text.
    guard: Option<LinkGuard>,
    sentences: SentenceTracker,
    words: Words,
    events: Vec<AnswerEvent>,
    text: String,
    citations: BTreeMap<usize, Citation>,
    /// Passage → the number it is shown under.
    shown_as: BTreeMap<usize, usize>,
    /// The sentence that was cited last, by the numbers shown, and by which passages.
    cited: (String, Vec<usize>),
    /// Whether those say what it says.
    supported: bool,
}

impl Writer {
    pub(super) fn new(
        passages: &[Passage<'_>],
        locale: Option<&str>,
        labels: LabelsInText,
        guard: Option<LinkGuard>,
    ) -> Self {
        Self {
            candidates: passages
                .iter()
                .map(|passage| passage.candidate.clone())
                .collect(),
            locale: locale.map(str::to_owned),
            labels,
            markers: MarkerReader::new(passages.len()),
            guard,
            sentences: SentenceTracker::default(),
            words: Words::of(locale.map_or(Language::ENGLISH, Language::of_locale)),
            events: Vec::new(),
            text: String::new(),
            citations: BTreeMap::new(),
            shown_as: BTreeMap::new(),
            cited: (String::new(), Vec::new()),
            supported: true,
        }
    }

    /// Reads a piece; what can be shown now.
    pub(super) fn push(&mut self, piece: &str) -> Vec<AnswerEvent> {
        for cited in self.markers.push(piece) {
            self.add(cited);
        }
        std::mem::take(&mut self.events)
    }

    /// Writes a piece of an extractive answer: what looks like a marker in the book's text is none.
    pub(super) fn quote(&mut self, quote: Quote) -> Vec<AnswerEvent> {
        match quote {
            Quote::Text(markdown) => self.token(markdown),
            // A quote is its passage's own words, so the passage supports it.
            Quote::Citation(passage) => self.cite(passage, true),
        }
        std::mem::take(&mut self.events)
    }

    /// What is left when the text has ended.
    pub(super) fn finish(&mut self) -> Vec<AnswerEvent> {
        if let Some(rest) = std::mem::take(&mut self.markers).finish() {
            self.add(Cited::Text(rest));
        }
        if let Some(guard) = self.guard.take() {
            self.token(guard.finish());
        }
        std::mem::take(&mut self.events)
    }

    /// Whether anything but spaces was written.
    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The text, and the citations by number.
    pub(super) fn into_parts(self) -> (String, Vec<Citation>) {
        (self.text, self.citations.into_values().collect())
    }

    fn add(&mut self, cited: Cited) {
        match cited {
            Cited::Text(text) => {
                let shown = match &mut self.guard {
                    Some(guard) => guard.push(&text),
                    None => text,
                };
                self.token(shown);
            }
            Cited::Marker(passage) => {
                if let Some(guard) = &mut self.guard {
                    let before = guard.marker();
                    self.token(before);
                }
                let supported = self.check(passage);
                self.cite(passage, supported);
            }
        }
    }

    fn cite(&mut self, passage: usize, supported: bool) {
        let n = self.number_of(passage, supported);
        let mark = match self.labels {
            LabelsInText::Numbers => format!("[{n}]"),
            LabelsInText::Labels => self.label_of(passage),
        };
        self.text.push_str(&mark);
        self.events.push(AnswerEvent::Token(mark));
    }

    /// A citation's label as Markdown. One that is made of the book's titles is text; one of numbers stays as it is, since
    /// clients look for its brackets.
    fn label_of(&self, passage: usize) -> String {
        let candidate = &self.candidates[passage - 1];
        let lesson = candidate.chunk.lesson();
        let titles = || citation_label(&lesson, &candidate.chunk.title, Some(candidate.section()));
        lesson.label().unwrap_or_else(|| escaped(&titles()))
    }

    fn token(&mut self, text: String) {
        if !text.is_empty() {
            self.sentences.push(&text);
            self.text.push_str(&text);
            self.events.push(AnswerEvent::Token(text));
        }
    }

    /// The number a passage is shown under: numbers count up in the order of the text.
    fn number_of(&mut self, passage: usize, supported: bool) -> usize {
        if let Some(&n) = self.shown_as.get(&passage) {
            if let Some(known) = self.citations.get_mut(&n) {
                known.supported = Some(known.supported.unwrap_or(true) && supported);
            }
            return n;
        }
        let next = self.citations.len() + 1;
        let candidate = &self.candidates[passage - 1];
        let mut new = citation(next, candidate, self.locale.as_deref());
        new.supported = Some(supported);
        let known = self
            .citations
            .values_mut()
            .find(|known| known.url == new.url);
        let n = match known {
            Some(known) => {
                known.supported = Some(known.supported.unwrap_or(true) && supported);
                known.n
            }
            None => {
                self.events
                    .push(AnswerEvent::Citation(Box::new(new.clone())));
                self.citations.insert(next, new);
                next
            }
        };
        self.shown_as.insert(passage, n);
        n
    }

    /// Whether the passage, with those that were named for the same sentence before it, says what the sentence says.
    fn check(&mut self, passage: usize) -> bool {
        let sentence = self.sentences.sentence();
        if self.cited.0 != sentence {
            self.cited = (sentence.to_owned(), Vec::new());
        }
        if self.cited.1.contains(&passage) {
            return self.supported;
        }
        self.cited.1.push(passage);
        let (sentence, passages) = &self.cited;
        let text: String = passages
            .iter()
            .map(|passage| &self.candidates[passage - 1])
            .map(|candidate| format!("{}\n{}\n", candidate.chunk.breadcrumb, candidate.chunk.text))
            .collect();
        self.supported = supports(&text, sentence, &self.words).is_supported();
        self.supported
    }
}

#[cfg(test)]
mod tests;
