//! The pipeline from a question to a cited answer: retrieve → decide → generate → cite.

mod coverage;
mod scope;

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::catalog::IndexRow;
use crate::cite::{Citation, Cited, MarkerReader, citation};
use crate::generate::{Generator, Passage};
use crate::index::Filters;
use crate::retrieve::{Candidate, RetrieveError, Retrieved, Retriever, StageTimes, milliseconds};

pub use coverage::covers;
pub use scope::{default_filters, locale_of};

use scope::Selection;

/// What is said when the book does not cover a question (S2).
pub const NOT_COVERED: &str = "I don't have information on that in the textbook.";
/// What is said when a selection does not (S4).
pub const NOT_IN_SELECTION: &str =
    "I cannot answer this question based on the provided information.";
/// Lessons named when the book does not cover a question.
const MAX_SUGGESTIONS: usize = 3;

/// What may answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The whole book.
    GlobalBook,
    /// The section that the reader selected text in, and its page.
    SelectedText,
}

/// A question that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The question, 1 to 2,000 characters.
    pub query: String,
    /// The reader's own words on what it is about.
    pub context: Option<String>,
    /// What may answer.
    pub mode: Mode,
    /// The text the reader selected.
    pub selected_text: Option<String>,
    /// The page the reader is on.
    pub page_url: Option<String>,
    /// Limits on what may be found.
    pub filters: Filters,
    /// How many passages an answer may draw on.
    pub top_k: usize,
    /// Whether labels replace `[n]` in the text.
    pub labels_in_text: LabelsInText,
}

/// How citations stand in the text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LabelsInText {
    /// `[n]`.
    #[default]
    Numbers,
    /// `[Module 1, Chapter 2, Lesson 3]`.
    Labels,
}

/// A page near to a question that the book does not answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suggestion {
    /// The page's title.
    pub title: String,
    /// Its URL.
    pub url: String,
}

/// What an answer is made of, before it is written.
#[derive(Debug, Clone)]
pub struct Prepared {
    question: Question,
    /// The message's id; the query log's too.
    pub message_id: Uuid,
    /// What was found, best first.
    pub retrieved: Retrieved,
    /// Whether the book covers the question.
    pub covered: bool,
    locale: Option<String>,
    started: Instant,
}

/// A piece of the answer as it comes.
#[derive(Debug, Clone, PartialEq)]
pub enum AnswerEvent {
    /// Text.
    Token(String),
    /// A passage that the text named for the first time.
    Citation(Box<Citation>),
    /// The end, with the whole.
    Done(Box<Answer>),
}

/// A whole answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The text, citations as `[n]` or labels.
    pub text: String,
    /// Whether the book covered the question.
    pub answered: bool,
    /// What was searched.
    pub mode_used: Mode,
    /// The mean confidence of the citations, 0 to 1.
    pub confidence: f32,
    /// The passages cited, by number.
    pub citations: Vec<Citation>,
    /// Pages nearest to a question that was not answered.
    pub suggestions: Vec<Suggestion>,
    /// The message's id.
    pub message_id: Uuid,
    /// The chunks that were used, best first.
    pub retrieved_chunk_ids: Vec<Uuid>,
    /// How many sections were found.
    pub num_candidates: usize,
    /// What they are ranked by.
    pub scores: Vec<f32>,
    /// How long each stage took.
    pub times: StageTimes,
    /// What did not work and was done without.
    pub degraded: Vec<&'static str>,
    /// From the question to the end, in milliseconds.
    pub latency_ms: f64,
}

/// Retrieves for a question and decides whether the book covers it.
pub async fn prepare(
    retriever: &Retriever,
    index: &IndexRow,
    question: Question,
) -> Result<Prepared, RetrieveError> {
    let started = Instant::now();
    let locale = locale_of(&index.site, question.page_url.as_deref());
    let filters = default_filters(&index.site, &question.filters, question.page_url.as_deref());
    let text = match &question.context {
        Some(context) => format!("{}\n\nContext: {context}", question.query),
        None => question.query.clone(),
    };
    let selection = question.selected_text.as_deref().map(|text| Selection {
        text,
        page_url: question.page_url.as_deref(),
        locale: locale.as_deref(),
    });
    let retrieved = match (&question.mode, selection) {
        (Mode::SelectedText, Some(selection)) => {
            let limit = question.top_k;
            scope::retrieve_in_selection(retriever, index, &text, &selection, &filters, limit)
                .await?
        }
        (Mode::GlobalBook, Some(selection)) => {
            scope::retrieve_around_selection(retriever, index, &text, &selection, &filters).await?
        }
        (_, None) => {
            retriever
                .retrieve(index, &text, &filters, usize::MAX)
                .await?
        }
    };
    let covered = covers(&retrieved);
    Ok(Prepared {
        message_id: Uuid::new_v4(),
        locale: locale.or_else(|| question.filters.locale.clone()),
        question,
        retrieved,
        covered,
        started,
    })
}

/// A written answer, and the events it comes in.
#[derive(Debug, Clone, PartialEq)]
pub struct Written {
    /// Text and citations, in order.
    pub events: Vec<AnswerEvent>,
    /// The whole.
    pub answer: Answer,
}

impl Written {
    /// All events, the last one [`AnswerEvent::Done`].
    pub fn into_events(self) -> impl Iterator<Item = AnswerEvent> {
        let done = AnswerEvent::Done(Box::new(self.answer));
        self.events.into_iter().chain(std::iter::once(done))
    }
}

impl Prepared {
    /// Writes the answer, or the refusal when the book does not cover the question.
    #[must_use]
    pub fn write(self, generator: &Generator) -> Written {
        if !self.covered {
            return self.refuse();
        }
        let count = self.question.top_k.min(self.retrieved.candidates.len());
        let candidates = &self.retrieved.candidates[..count];
        let passages: Vec<Passage<'_>> = candidates
            .iter()
            .zip(1..)
            .map(|(candidate, n)| Passage { n, candidate })
            .collect();
        let pieces = generator.generate(&self.question.query, &passages);
        if pieces.is_empty() {
            return self.refuse();
        }
        let mut writer = Writer::new(&self, candidates);
        let mut reader = MarkerReader::new(count);
        for piece in pieces {
            for cited in reader.push(&piece) {
                writer.add(cited);
            }
        }
        if let Some(rest) = reader.finish() {
            writer.add(Cited::Text(rest));
        }
        let Writer {
            events,
            text,
            citations,
            ..
        } = writer;
        let citations: Vec<Citation> = citations.into_values().collect();
        let answer = self.finish(text, true, citations, Vec::new());
        Written { events, answer }
    }

    fn refuse(self) -> Written {
        let text = match self.question.mode {
            Mode::GlobalBook => NOT_COVERED,
            Mode::SelectedText => NOT_IN_SELECTION,
        };
        let mut suggestions: Vec<Suggestion> = Vec::new();
        for candidate in &self.retrieved.candidates {
            let url = candidate.payload.url_in(self.locale.as_deref()).to_owned();
            let listed = !candidate.payload.unlisted;
            if listed && suggestions.iter().all(|known| known.url != url) {
                suggestions.push(Suggestion {
                    title: candidate.payload.title.clone(),
                    url,
                });
            }
        }
        suggestions.truncate(MAX_SUGGESTIONS);
        let answer = self.finish(text.to_owned(), false, Vec::new(), suggestions);
        Written {
            events: vec![AnswerEvent::Token(text.to_owned())],
            answer,
        }
    }

    fn finish(
        self,
        text: String,
        answered: bool,
        citations: Vec<Citation>,
        suggestions: Vec<Suggestion>,
    ) -> Answer {
        let mut count = 0.0_f32;
        let mut sum = 0.0;
        for citation in &citations {
            count += 1.0;
            sum += citation.confidence;
        }
        let candidates = &self.retrieved.candidates;
        let used = self.question.top_k.min(candidates.len());
        Answer {
            text,
            answered,
            mode_used: self.question.mode,
            confidence: if count > 0.0 { sum / count } else { 0.0 },
            citations,
            suggestions,
            message_id: self.message_id,
            retrieved_chunk_ids: candidates[..used]
                .iter()
                .map(|found| found.payload.chunk_id)
                .collect(),
            num_candidates: candidates.len(),
            scores: candidates[..used]
                .iter()
                .map(|found| found.scores.score)
                .collect(),
            times: self.retrieved.times,
            degraded: self.retrieved.degraded,
            latency_ms: milliseconds(self.started),
        }
    }
}

/// Turns cited text into events; passages that share a URL share a citation.
struct Writer<'a> {
    prepared: &'a Prepared,
    candidates: &'a [Candidate],
    events: Vec<AnswerEvent>,
    text: String,
    citations: BTreeMap<usize, Citation>,
    /// Passage → the number it is shown under.
    shown_as: BTreeMap<usize, usize>,
}

impl<'a> Writer<'a> {
    fn new(prepared: &'a Prepared, candidates: &'a [Candidate]) -> Self {
        Self {
            prepared,
            candidates,
            events: Vec::new(),
            text: String::new(),
            citations: BTreeMap::new(),
            shown_as: BTreeMap::new(),
        }
    }

    fn add(&mut self, cited: Cited) {
        match cited {
            Cited::Text(text) => self.token(text),
            Cited::Marker(passage) => {
                let n = self.number_of(passage);
                let mark = match self.prepared.question.labels_in_text {
                    LabelsInText::Numbers => format!("[{n}]"),
                    LabelsInText::Labels => self.citations[&n].label.clone(),
                };
                self.token(mark);
            }
        }
    }

    fn token(&mut self, text: String) {
        self.text.push_str(&text);
        self.events.push(AnswerEvent::Token(text));
    }

    /// The number a passage is shown under: numbers count up in the order of the text.
    fn number_of(&mut self, passage: usize) -> usize {
        if let Some(n) = self.shown_as.get(&passage) {
            return *n;
        }
        let next = self.citations.len() + 1;
        let new = citation(
            next,
            &self.candidates[passage - 1],
            self.prepared.locale.as_deref(),
        );
        let known = self
            .citations
            .values()
            .find(|known| known.url == new.url)
            .map(|known| known.n);
        let n = known.unwrap_or(next);
        self.shown_as.insert(passage, n);
        if known.is_none() {
            self.events
                .push(AnswerEvent::Citation(Box::new(new.clone())));
            self.citations.insert(n, new);
        }
        n
    }
}
