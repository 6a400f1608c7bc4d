//! Turns the pieces of a text into events: text, and citations as soon as their first marker is read. Pure.

use std::collections::BTreeMap;

use crate::cite::{
    AllowedLinks, Citation, Cited, Evidence, MarkdownWriter, MarkerReader, citation,
};
use crate::guard::attribution::{AnswerQuality, Attribution, ShownPiece};
use crate::quote::{Passage, Quote};
use crate::retrieve::ScoredChunk;
use crate::{AnswerEvent, LabelsInText};
use book::chunk::citation_label;
use book::escaped;

/// Turns a text with markers into events. Passages with the same URL share a citation.
pub(crate) struct Writer {
    candidates: Vec<ScoredChunk>,
    locale: Option<String>,
    labels: LabelsInText,
    /// The reader of a model's text; `None` for quotes of the book.
    model: Option<ModelText>,
    events: Vec<AnswerEvent>,
    /// True if the last event is a marker.
    after_marker: bool,
    text: String,
    citations: BTreeMap<usize, Citation>,
    /// Maps a passage to its displayed number.
    shown_as: BTreeMap<usize, usize>,
    /// The byte offset in `text` at which the model's current sentence begins.
    sentence: usize,
    /// A model's sentences that no passage supports, as they appear in the text.
    unsupported: Vec<String>,
    /// Lines of code that no passage has, in blocks whose other lines one has.
    adapted: Vec<String>,
}

/// A whole text, with its citations and its parts that no passage supports.
pub(crate) struct Written {
    pub(crate) text: String,
    /// The citations by number.
    pub(crate) citations: Vec<Citation>,
    pub(crate) unsupported: Vec<String>,
    pub(crate) adapted: Vec<String>,
}

/// The readers of a model's text: markers, Markdown, attribution of sentences.
struct ModelText {
    markers: MarkerReader,
    markdown: MarkdownWriter,
    attribution: Attribution,
}

impl Writer {
    /// Creates a writer for quotes of the book.
    pub(crate) fn new(
        passages: &[Passage<'_>],
        locale: Option<&str>,
        labels: LabelsInText,
    ) -> Self {
        Self {
            candidates: passages
                .iter()
                .map(|passage| passage.candidate.clone())
                .collect(),
            locale: locale.map(str::to_owned),
            labels,
            model: None,
            events: Vec::new(),
            after_marker: false,
            text: String::new(),
            citations: BTreeMap::new(),
            shown_as: BTreeMap::new(),
            sentence: 0,
            unsupported: Vec::new(),
            adapted: Vec::new(),
        }
    }

    /// Turns the writer into one of a model's text, which may contain only the allowed links.
    pub(crate) fn of_model(
        self,
        book: &str,
        question: &str,
        allowed: AllowedLinks,
        is_trusted: bool,
    ) -> Self {
        let chunks = self.candidates.iter().map(|candidate| &candidate.chunk);
        let texts = chunks.map(|chunk| format!("{}\n{}", chunk.breadcrumb, chunk.text));
        let locale = self.locale.as_deref();
        let evidence = Evidence::new(book, texts, locale);
        Self {
            model: Some(ModelText {
                markers: MarkerReader::new(self.candidates.len()),
                markdown: MarkdownWriter::new(allowed),
                attribution: Attribution::new(evidence, question, is_trusted),
            }),
            ..self
        }
    }

    /// Reads a piece of a model's text; returns the events that can be shown now.
    pub(crate) fn push(&mut self, piece: &str) -> Vec<AnswerEvent> {
        if let Some(mut model) = self.model.take() {
            for cited in model.markers.push(piece) {
                self.show(model.read(cited));
            }
            self.model = Some(model);
        }
        std::mem::take(&mut self.events)
    }

    /// Writes a piece of an extract. Text that looks like a marker is not a citation.
    pub(crate) fn quote(&mut self, quote: Quote) -> Vec<AnswerEvent> {
        match quote {
            Quote::Text(markdown) => self.token(markdown),
            // A quote is its passage's own text, so the passage supports it.
            Quote::Citation(passage) => self.cite(passage, true, None),
        }
        std::mem::take(&mut self.events)
    }

    /// Returns the remaining events at the end of a model's text.
    pub(crate) fn finish(&mut self) -> Vec<AnswerEvent> {
        if let Some(mut model) = self.model.take() {
            let pieces = model.finish();
            self.show(pieces);
            self.model = Some(model);
        }
        std::mem::take(&mut self.events)
    }

    /// Returns the worth of the model's text; call it at the end.
    pub(crate) fn worth(&self) -> AnswerQuality {
        let model = self.model.as_ref();
        model.map_or(AnswerQuality::Answer, |model| model.attribution.worth())
    }

    /// Returns whether the text so far may be shown as an answer ([`Attribution::is_supported`]); `None` before a sentence was checked.
    pub(crate) fn is_supported(&self) -> Option<bool> {
        self.model.as_ref()?.attribution.is_supported()
    }

    /// True if nothing but white space was written.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the whole text.
    pub(crate) fn written(self) -> Written {
        Written {
            text: self.text,
            citations: self.citations.into_values().collect(),
            unsupported: self.unsupported,
            adapted: self.adapted,
        }
    }

    fn show(&mut self, pieces: Vec<ShownPiece>) {
        for piece in pieces {
            match piece {
                ShownPiece::Text(text) => self.token(text),
                ShownPiece::Marker(passage, supported, sentence) => {
                    self.cite(passage, supported, sentence);
                }
                ShownPiece::Begin => self.sentence = self.text.len(),
                ShownPiece::Unsupported(cited) => {
                    for passage in cited {
                        self.number_of(passage, false);
                    }
                    let sentence = self.text[self.sentence..].trim();
                    self.unsupported.push(sentence.to_owned());
                }
                ShownPiece::UnsupportedCode(line) => self.unsupported.push(line),
                ShownPiece::AdaptedCode(lines) => self.adapted.extend(lines),
            }
        }
    }

    /// Writes a passage's marker. `sentence` is the passage's sentence that supports the text before the marker.
    fn cite(&mut self, passage: usize, supported: bool, sentence: Option<String>) {
        let n = self.number_of(passage, supported);
        if let Some(citation) = self.citations.get_mut(&n) {
            citation.support.push(sentence);
        }
        let mark = match self.labels {
            LabelsInText::Numbers => format!("[{n}]"),
            LabelsInText::Labels => self.label_of(passage),
            LabelsInText::Footnotes => format!("[^{n}]"),
        };
        self.text.push_str(&mark);
        self.events.push(AnswerEvent::Token(mark));
        self.after_marker = true;
    }

    /// Returns a citation's label as Markdown. Labels of titles are escaped; labels of numbers are not, because clients search for their brackets.
    fn label_of(&self, passage: usize) -> String {
        let candidate = &self.candidates[passage - 1];
        let placement = candidate.chunk.placement();
        placement.label().unwrap_or_else(|| {
            let section = Some(candidate.section());
            escaped(&citation_label(&placement, &candidate.page_name(), section))
        })
    }

    fn token(&mut self, text: String) {
        if !text.is_empty() {
            self.text.push_str(&text);
            // Adjacent words share one token, and so does an adjacent marker.
            match self.events.last_mut() {
                Some(AnswerEvent::Token(before)) if !self.after_marker => before.push_str(&text),
                _ => self.events.push(AnswerEvent::Token(text)),
            }
            self.after_marker = false;
        }
    }

    /// Returns a passage's displayed number. Numbers count up in text order.
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
}

impl ModelText {
    fn read(&mut self, cited: Cited) -> Vec<ShownPiece> {
        let written = match cited {
            Cited::Text(text) | Cited::Other(text) => self.markdown.push(&text),
            Cited::Marker(passage) => self.markdown.marker(passage),
        };
        self.attributed(written)
    }

    fn finish(&mut self) -> Vec<ShownPiece> {
        let rest = std::mem::take(&mut self.markers).finish();
        let mut pieces = rest.map_or_else(Vec::new, |rest| self.read(Cited::Text(rest)));
        let written = self.markdown.finish();
        pieces.extend(self.attributed(written));
        pieces.extend(self.attribution.finish());
        pieces
    }

    fn attributed(&mut self, written: Vec<Cited>) -> Vec<ShownPiece> {
        let mut pieces = Vec::new();
        let mut markers = Vec::new();
        for cited in written {
            let Cited::Marker(passage) = cited else {
                pieces.extend(self.attribution.markers(&std::mem::take(&mut markers)));
                match cited {
                    Cited::Text(text) => pieces.extend(self.attribution.text(&text)),
                    Cited::Other(text) => pieces.extend(self.attribution.other(text)),
                    Cited::Marker(_) => {}
                }
                continue;
            };
            markers.push(passage);
        }
        pieces.extend(self.attribution.markers(&markers));
        pieces
    }
}

#[cfg(test)]
mod tests;
