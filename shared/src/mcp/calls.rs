//! Implements the tools.

use std::ops::Range;

use uuid::Uuid;

use crate::api::{ChatRequest, Route, SearchRequest, facet_filters, nothing_found, optional_text};
use answer::cite::Citation;
use answer::error::Error;
use answer::retrieve::ScoredChunk;
use answer::{Answer, Question};
use store::catalog::AgentReport;
use store::index::Filters;
use text::invisible::visible;

use super::budget::Budget;
use super::id::Id;
use super::reading::{self, Text, title};
use super::server::Server;
use super::text::without_links;
use super::tools::{
    Answered, AskArguments, Cited, Entry, FetchArguments, Fetched, Found, FoundSection, Index,
    Nearest, Outline, OutlineArguments, ReportArguments, Reported, SearchArguments,
};

/// The default and the maximum number of sections in a search.
pub(super) const DEFAULT_LIMIT: usize = 5;
const MAX_LIMIT: usize = 20;
/// Marks where a text was cut.
const CUT: char = '…';

/// The sections of a book that match, best first.
pub(super) struct Sections {
    /// The sections, each with its value among those of several books.
    pub(super) valued: Vec<(f32, FoundSection)>,
    /// Why there are none.
    pub(super) message: Option<String>,
    pub(super) index: Option<Index>,
}

impl Server {
    pub(super) async fn search(&self, arguments: SearchArguments) -> Result<Found, Error> {
        let sections = self.sections(arguments).await?;
        let results = sections.valued.into_iter().map(|(_, section)| section);
        let found = Found {
            results: results.collect(),
            message: sections.message,
            index: sections.index,
        };
        Ok(within_budget(self.call.budget, found))
    }

    /// Returns the sections that match, however long they are.
    pub(super) async fn sections(&self, arguments: SearchArguments) -> Result<Sections, Error> {
        let limit = arguments.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let message = format!("limit must be 1 to {MAX_LIMIT}, got {limit}");
            return Err(Error::field("limit", message));
        }
        let request = SearchRequest {
            query: arguments.query,
            filters: limits(arguments.version, arguments.locale, arguments.facets)?,
            top_k: Some(limit),
            ..SearchRequest::default()
        };
        let search = request.check()?;
        let retriever = self.live().await?.retriever;
        let locale = search.locale(&retriever);
        let found = search.run(&retriever).await?;
        self.call
            .measure(|measured| measured.searched(&found.times, &found.degraded));
        let candidates = found.candidates.iter();
        let valued = candidates.map(|scored| {
            let value = found.signals.value_among_books(scored.scores.score);
            (value, self.section(scored, locale.as_deref()))
        });
        Ok(Sections {
            valued: valued.collect(),
            message: nothing_found(&found),
            index: Index::of(&retriever.index),
        })
    }

    fn section(&self, scored: &ScoredChunk, locale: Option<&str>) -> FoundSection {
        let chunk = &scored.chunk;
        FoundSection {
            id: self.known(&scored.url(None)),
            book: self.book_id(),
            title: title(&chunk.title, scored.section()),
            text: visible(&without_links(chunk)),
            url: self.address(&scored.url(locale)),
            source: chunk.source.clone(),
            lines: lines(chunk.start_line, chunk.end_line),
            tokens: chunk.token_count,
            score: hundredths(scored.scores.score),
        }
    }

    pub(super) async fn fetch(&self, arguments: FetchArguments) -> Result<Fetched, Error> {
        let id = required("id", arguments.id)?;
        self.fetch_at(&Id::parse(&id)).await
    }

    /// Fetches the text of an id, from the offset in the id.
    pub(super) async fn fetch_at(&self, id: &Id) -> Result<Fetched, Error> {
        let retriever = self.live().await?.retriever;
        let text = reading::text(&retriever, id).await?;
        let index = Index::of(&retriever.index);
        if id.from > 0 && id.from >= text.markdown.len() {
            let message = format!(
                "the text ends before `{}`; fetch `{}` again",
                id.shown(),
                id.at(0)
            );
            return Err(Error::field("id", message));
        }
        let start = text.markdown.floor_char_boundary(id.from);
        let rest = &text.markdown[start..];
        let length = self.call.budget.cut(rest, |part| {
            self.fetched(id, &text, start..start + part.len(), index.clone())
        });
        if length == 0 && !rest.is_empty() {
            let message =
                "the titles and addresses alone are more than max_tokens; raise it in the URL";
            return Err(Error::field("max_tokens", message));
        }
        Ok(self.fetched(id, &text, start..start + length, index))
    }

    fn fetched(&self, id: &Id, text: &Text, part: Range<usize>, index: Option<Index>) -> Fetched {
        Fetched {
            id: self.known(&id.to_string()),
            book: self.book_id(),
            title: text.title.clone(),
            text: text.markdown[part.clone()].to_owned(),
            url: self.address(&text.path),
            source: text.source.clone(),
            lines: lines(text.lines.0, text.lines.1),
            tokens: text.tokens,
            next: (part.end < text.markdown.len()).then(|| self.known(&id.at(part.end))),
            index,
        }
    }

    pub(super) async fn ask(&self, arguments: AskArguments) -> Result<Answered, Error> {
        let request = ChatRequest {
            query: arguments.question,
            filters: limits(arguments.version, arguments.locale, arguments.facets)?,
            ..ChatRequest::default()
        };
        let question = Question::try_from(request)?;
        let asker = match &self.caller {
            Some(caller) => {
                // A chat model may be called, so this counts like a reader's question.
                caller
                    .limiter
                    .acquire(Route::Chat, &caller.client_key)
                    .await?;
                Some((caller.asker)(&question))
            }
            None => None,
        };
        let answerer = self.live().await?;
        let index = Index::of(&answerer.retriever.index);
        let prepared = answerer.prepare(question, asker).await?;
        let answer = prepared.whole().await?;
        self.call.measure(|measured| measured.answered(&answer));
        Ok(self.answered(&answer, index))
    }

    /// Returns the answer, cut if it exceeds half of the budget, and as many citations and pages as fit.
    fn answered(&self, answer: &Answer, index: Option<Index>) -> Answered {
        let cited: Vec<Cited> = answer.citations.iter().map(|it| self.cited(it)).collect();
        let nearest = answer.suggestions.iter().map(|page| Nearest {
            id: self.known(&Id::parse(&page.url).to_string()),
            title: visible(&page.title),
            url: self.address(&page.url),
            text: page.text.clone(),
        });
        let mut nearest: Vec<Nearest> = nearest.collect();
        let mut answered = Answered {
            book: self.book_id(),
            answerable: answer.answered(),
            outcome: answer.outcome,
            answer: answer.text.clone(),
            // Without a caller nothing is logged.
            message_id: self.caller.is_some().then(|| answer.message_id.to_string()),
            citations: Vec::new(),
            unsupported: Vec::new(),
            nearest: Vec::new(),
            index,
        };
        if !self.call.budget.holds(&(&answer.text, &answer.text)) {
            let end = self
                .call
                .budget
                .cut(&answer.text, |text| (text.to_owned(), text.to_owned()));
            answered.answer = format!("{}{CUT}", answer.text[..end].trim_end());
        }
        let with = |cited: &[Cited], unsupported: &[String], nearest: &[Nearest]| Answered {
            book: answered.book.clone(),
            answerable: answered.answerable,
            outcome: answered.outcome,
            answer: answered.answer.clone(),
            message_id: answered.message_id.clone(),
            citations: cited.to_vec(),
            unsupported: unsupported.to_vec(),
            nearest: nearest.to_vec(),
            index: answered.index.clone(),
        };
        let count = self
            .call
            .budget
            .fill(&cited, |count| with(&cited[..count], &[], &[]));
        let cited = &cited[..count];
        let sentences = &answer.unsupported;
        let count = self
            .call
            .budget
            .fill(sentences, |count| with(cited, &sentences[..count], &[]));
        let sentences = &sentences[..count];
        let count = self
            .call
            .budget
            .fill(&nearest, |count| with(cited, sentences, &nearest[..count]));
        nearest.truncate(count);
        with(cited, sentences, &nearest)
    }

    /// Stores a report for the authors of the book. Like feedback of readers it is counted, and the question's text is kept only if that is wanted; a
    /// program that this process serves alone is its user's own.
    pub(super) async fn report(&self, arguments: ReportArguments) -> Result<Reported, Error> {
        let question = Question::try_from(ChatRequest {
            query: arguments.question,
            ..ChatRequest::default()
        })?;
        let problem = required("problem", optional_text("problem", arguments.problem)?)?;
        let message_id = given(arguments.message_id).map(|id| id.parse::<Uuid>());
        let message_id = message_id.transpose().map_err(|_| unknown_answer())?;
        let page = optional_text("page", arguments.page)?;
        if let Some(caller) = &self.caller {
            let limiter = &caller.limiter;
            limiter.acquire(Route::Feedback, &caller.client_key).await?;
        }
        let answerer = self.live().await?;
        let keeps_question = self.caller.is_none() || answerer.rules.keep_questions;
        let report = AgentReport {
            message_id,
            question: keeps_question.then_some(question.query),
            problem,
            page,
        };
        let stored = answerer.retriever.catalog().add_report(&report).await;
        if stored.map_err(Error::unavailable)? {
            return Ok(Reported { received: true });
        }
        Err(unknown_answer())
    }

    fn cited(&self, citation: &Citation) -> Cited {
        Cited {
            n: citation.n,
            id: self.known(&Id::parse(&citation.url).to_string()),
            title: title(&citation.title, &citation.section),
            quote: citation.quote.clone(),
            url: self.address(&citation.url),
            source: citation.source.clone(),
            lines: lines(citation.start_line, citation.end_line),
        }
    }

    pub(super) async fn outline(&self, arguments: OutlineArguments) -> Result<Outline, Error> {
        let under = arguments.under.filter(|under| !under.trim().is_empty());
        let id = under.as_deref().map(Id::parse);
        let limits = limits(arguments.version, arguments.locale, None)?;
        let retriever = self.live().await?.retriever;
        let root = Id::parse(&retriever.index.site.base_url);
        // All pages are below the site's root.
        let place = id.as_ref().filter(|id| id.place != root.place);
        let from = id.as_ref().map_or(0, |id| id.from);
        let range = from..from.saturating_add(self.call.budget.most_items());
        let mut entries = reading::outline(&retriever, place, &limits, range).await?;
        for entry in &mut entries {
            entry.id = self.known(&entry.id);
        }
        let id = id.unwrap_or(root);
        let index = Index::of(&retriever.index);
        let count = self.call.budget.fill(&entries, |count| {
            self.entries(&id, &entries, count, index.clone())
        });
        Ok(self.entries(&id, &entries, count, index))
    }

    /// Lists the first `count` of the entries that begin at an id's offset.
    fn entries(&self, id: &Id, entries: &[Entry], count: usize, index: Option<Index>) -> Outline {
        Outline {
            book: self.book_id(),
            entries: entries[..count].to_vec(),
            next: (count < entries.len()).then(|| self.known(&id.at(id.from + count))),
            index,
        }
    }
}

impl Found {
    /// Returns a copy with another section at its end, whose text is cut to `text`.
    fn with_cut(&self, section: &FoundSection, text: &str) -> Self {
        let mut found = self.clone();
        found.results.push(FoundSection {
            text: format!("{text}{CUT}"),
            ..section.clone()
        });
        found
    }
}

/// Returns as many results as fit; the text of the next one is cut to the remaining space.
pub(super) fn within_budget(budget: Budget, mut found: Found) -> Found {
    let count = budget.fill(&found.results, |count| Found {
        results: found.results[..count].to_vec(),
        ..found.clone()
    });
    let next = found.results.get(count).cloned();
    found.results.truncate(count);
    if let Some(next) = next {
        let end = budget.cut(&next.text, |text| found.with_cut(&next, text));
        if end > 0 {
            return found.with_cut(&next, next.text[..end].trim_end());
        }
    }
    found
}

fn limits(
    version: Option<String>,
    locale: Option<String>,
    facets: Option<String>,
) -> Result<Filters, Error> {
    Ok(Filters {
        version: given(version),
        locale: given(locale),
        facets: facet_filters(given(facets).as_deref())?,
        ..Filters::default()
    })
}

/// Returns an argument unless it is blank, as programs send those that they leave out.
pub(super) fn given(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

fn unknown_answer() -> Error {
    Error::field(
        "message_id",
        "message_id must be that of an answer of `ask`",
    )
}

pub(super) fn required(field: &'static str, text: Option<String>) -> Result<String, Error> {
    given(text).ok_or_else(|| Error::field(field, format!("{field} must not be empty")))
}

fn lines(first: u32, last: u32) -> String {
    format!("{first}-{last}")
}

/// Rounds a score to hundredths; programs have no use for more digits.
fn hundredths(score: f32) -> f64 {
    (f64::from(score) * 100.0).round() / 100.0
}
