//! Loads the conversation before a question, and resolves the question in it.

use std::time::Duration;

use uuid::Uuid;

use crate::degradation::Degradation;
use crate::generate::{Exchange, Generator, latest, rewrite_prompt};
use crate::retrieve::{Language, RetrieveError, Retrieved, ScoredChunk, Words};
use crate::understand::follow_up::{MAX_REWRITTEN_TOKENS, rewritten};
use crate::understand::language::AnswerLocale;
use crate::understand::language::answer_locale;
use crate::understand::pointing::{asks_for_meaning, has_subject, points_back};
use crate::{Answerer, Asker, Outcome, Question, REMEMBERED_EXCHANGES, outcome};
use store::budget::{Reserved, Spent};
use store::catalog::{Account, CatalogError, SiteInfo};

/// Time limit for loading a conversation.
const MEMORY_DEADLINE: Duration = Duration::from_secs(2);
/// The most words, without stop words, of a question that may depend on the previous one. Of 40 short questions in conversations, written by somebody
/// who did not know this rule, 39 are classified correctly; a longer question says itself what it is about.
const FEW_WORDS: usize = 4;
/// The characters of a long word, by which scripts without spaces are measured.
const WORD_CHARACTERS: usize = 10;
/// The bonus for the page that came first for the question before, if a question says little without that one: relative to 1 for the best score.
const FIRST_PAGE_BONUS: f32 = 0.3;
/// The most earlier questions that a question may depend on.
const MAX_EARLIER: usize = 2;
/// The end of an earlier question that is searched for together with the next one, in characters.
const MAX_EARLIER_CHARACTERS: usize = 600;

/// Begins the line with the page and heading of a quote, as [`book::heading`] writes it.
const QUOTED_HEADING: &str = "#### ";

/// The search results of a question.
pub(crate) struct SearchResult {
    /// The question that was searched for, understandable on its own.
    pub(crate) standalone: String,
    /// The locale that the question is answered in.
    pub(crate) answered_in: AnswerLocale,
    /// True if the embedder understands what was searched for.
    pub(crate) is_read: bool,
    pub(crate) retrieved: Retrieved,
}

impl SearchResult {
    /// Returns the result for a question that is answered without a search.
    pub(crate) fn none(question: &Question, site: &SiteInfo) -> Self {
        Self {
            answered_in: answer_locale(question, &question.query, site),
            is_read: true,
            standalone: question.query.clone(),
            retrieved: Retrieved::default(),
        }
    }
}

impl SearchResult {
    /// Replaces the chunks that were found.
    fn with(mut self, candidates: Vec<ScoredChunk>) -> Self {
        self.retrieved.candidates = candidates;
        self
    }
}

impl Answerer {
    /// Returns the conversation so far: the stored one, else the client's. If the stored one is deleted or belongs to another session, a new
    /// conversation begins.
    pub(crate) async fn remembered(
        &self,
        question: &Question,
        asker: Option<&Asker>,
        degraded: &mut Vec<Degradation>,
    ) -> (Option<Uuid>, Vec<Exchange>) {
        let sent = question.history.clone();
        let (Some(_), Some(asker)) = (self.rules.keep_conversations, asker) else {
            return (None, sent);
        };
        let Some(id) = question.conversation_id else {
            return (Some(Uuid::new_v4()), sent);
        };
        let catalog = self.retriever.catalog();
        let stored = catalog.exchanges(id, &asker.session_hash, REMEMBERED_EXCHANGES);
        let stored = tokio::time::timeout(MEMORY_DEADLINE, stored).await;
        match stored
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
        {
            Ok(Some(exchanges)) => {
                let exchanges = exchanges.into_iter().map(|exchange| Exchange {
                    question: exchange.question,
                    answer: exchange.answer,
                });
                (Some(id), exchanges.collect())
            }
            Ok(None) => (Some(Uuid::new_v4()), sent),
            Err(error) => {
                tracing::warn!(stage = "memory", %error, "cannot read the conversation");
                degraded.push(Degradation::Memory);
                // Continue under the same id; writing to it later checks the session.
                (Some(id), sent)
            }
        }
    }

    /// Retrieves for a question of a conversation. If it is short, the pages found for the question before are preferred, and the first of them more if
    /// both questions together fit better than this one alone; a model rewrites such a question instead. A question that is not covered alone stays
    /// so unless it points back. A model also rewrites a question that the embedder does not understand in the book's language.
    pub(crate) async fn find(
        &self,
        question: &Question,
        history: &[Exchange],
        fence: &str,
        spent: &mut Spent,
    ) -> Result<SearchResult, RetrieveError> {
        let asked = &question.query;
        let answered_in = answer_locale(question, asked, &self.retriever.index.site);
        if let Some(locale) = answered_in.book_language.as_deref()
            && !self.reads(asked, &answered_in)
            && let Some(translated) = self
                .rewritten(asked, history, Some(locale), fence, spent)
                .await
        {
            let found = self.retrieve(question, translated).await?;
            return Ok(SearchResult {
                answered_in,
                ..found
            });
        }
        let language = self.language_of(question, asked);
        let depends = may_depend(asked, language) && !self.is_about_selection(question);
        let earlier = depended_on(history, language);
        if !depends || earlier.is_empty() {
            return self.retrieve(question, asked.clone()).await;
        }
        // The question goes first: an embedder reads only the beginning of a long text.
        let subjects = earlier.iter().map(|it| subject_of(it, language));
        let together: Vec<String> = std::iter::once(asked.clone()).chain(subjects).collect();
        let before: Vec<String> = earlier.iter().map(|it| with_heading(it)).collect();
        let (alone, joined, before) = tokio::try_join!(
            self.retrieve(question, asked.clone()),
            self.retrieve(question, together.join("\n")),
            self.retrieve(question, before.join("\n")),
        )?;
        let own = &alone.retrieved.signals;
        if outcome(own) == Outcome::NotCovered && !points_back(asked, language) {
            return Ok(alone);
        }
        if own.fits_better(&joined.retrieved.signals) {
            let candidates = alone.retrieved.near(&before.retrieved, 0.0);
            return Ok(alone.with(candidates));
        }
        match self.rewritten(asked, history, None, fence, spent).await {
            Some(standalone) => self.retrieve(question, standalone).await,
            None => {
                // A question without a word of its own says nothing about the order.
                let ranked = if has_subject(asked, language) {
                    &alone
                } else {
                    &joined
                };
                let candidates = ranked.retrieved.near(&before.retrieved, FIRST_PAGE_BONUS);
                let mut found = joined.with(candidates);
                // What continues a covered question is covered.
                let signals = &mut found.retrieved.signals;
                let zs = [signals.z, before.retrieved.signals.z];
                signals.z = zs.into_iter().flatten().reduce(f32::max);
                Ok(found)
            }
        }
    }

    /// True if a question asks only what the selected text means ("explain").
    pub(crate) fn is_about_selection(&self, question: &Question) -> bool {
        let asked = &question.query;
        question.selected_text.is_some()
            && asks_for_meaning(asked, self.language_of(question, asked))
    }

    /// Returns the language whose stop words apply to a text: that of the locale in which it would be answered.
    pub(crate) fn language_of(&self, question: &Question, text: &str) -> Language {
        let answered_in = answer_locale(question, text, &self.retriever.index.site);
        let locale = answered_in.locale.as_deref();
        locale.map_or(Language::ENGLISH, Language::of_locale)
    }

    /// True if the embedder understands a question.
    pub(crate) fn reads(&self, question: &str, answered_in: &AnswerLocale) -> bool {
        let embedder = &self.retriever.backends.embedder;
        let is_foreign = answered_in.book_language.is_some();
        embedder.reads(question) && (!is_foreign || embedder.is_multilingual())
    }

    /// Has a model write the question in a form that can be understood without the conversation, in its own language or in that of a locale; `None`
    /// without a model, if the day's budget is spent, or if the model fails.
    async fn rewritten(
        &self,
        question: &str,
        history: &[Exchange],
        locale: Option<&str>,
        fence: &str,
        spent: &mut Spent,
    ) -> Option<String> {
        let Generator::Model(model) = &self.generator else {
            return None;
        };
        let latest = latest(history, self.rules.model.history_bytes());
        let prompt = rewrite_prompt(question, latest, locale, fence);
        let (catalog, account) = (self.retriever.catalog(), Account::Answers);
        let budget = self.rules.daily_budget_micro_usd;
        let most = MAX_REWRITTEN_TOKENS;
        let reserved = Reserved::take(catalog, account, model, &prompt, most, budget).await?;
        let written = rewritten(model, &prompt).await;
        let mut own = Spent::default();
        if let Ok((_, ending)) = &written {
            own.add(model, ending.usage.unwrap_or_default());
        }
        reserved.settle(catalog, own.micro_usd).await;
        spent.include(own);
        match written {
            Ok((text, _)) => Some(text),
            Err(error) => {
                tracing::warn!(stage = "rewrite", error = %format_args!("the chat model {error}"), "searching for the reader's own words");
                None
            }
        }
    }
}

/// True if a question has so few words that it may depend on the one before. Scripts without spaces are measured by their characters.
fn may_depend(question: &str, language: Language) -> bool {
    let words = Words::new(language);
    let lengths = words
        .of_question(question)
        .map(|(word, _)| word.chars().count());
    let lengths: Vec<usize> = lengths.collect();
    lengths.len() <= FEW_WORDS && lengths.iter().sum::<usize>() <= FEW_WORDS * WORD_CHARACTERS
}

/// Returns the exchanges that a question may depend on, newest first: the one before it, and if that points back, the one before that.
fn depended_on(history: &[Exchange], language: Language) -> Vec<&Exchange> {
    let mut exchanges: Vec<&Exchange> = Vec::new();
    for exchange in history.iter().rev().filter(|it| !it.question.is_empty()) {
        exchanges.push(exchange);
        if exchanges.len() == MAX_EARLIER || !points_back(&exchange.question, language) {
            break;
        }
    }
    exchanges
}

/// Returns what an earlier exchange was about: its question, and the heading of the quote that answered it, if the question has no word of its own
/// ("explain" about selected text).
fn subject_of(exchange: &Exchange, language: Language) -> String {
    if has_subject(&exchange.question, language) {
        end_of(&exchange.question).to_owned()
    } else {
        with_heading(exchange)
    }
}

/// Returns an earlier question with the heading of the quote that answered it.
fn with_heading(exchange: &Exchange) -> String {
    let question = end_of(&exchange.question);
    let answer = exchange.answer.as_deref().unwrap_or_default();
    let heading = answer
        .lines()
        .find_map(|line| line.strip_prefix(QUOTED_HEADING));
    match heading {
        Some(heading) => format!("{question}\n{heading}"),
        None => question.to_owned(),
    }
}

/// Returns the end of a question, at most [`MAX_EARLIER_CHARACTERS`].
fn end_of(question: &str) -> &str {
    let from = question.char_indices().nth_back(MAX_EARLIER_CHARACTERS - 1);
    from.map_or(question, |(at, _)| &question[at..])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::retrieve::{ScoredChunk, section};

    /// A chunk of a page with a score.
    fn scored(page: u128, chunk: u128, score: f32) -> ScoredChunk {
        let mut found = section(&page.to_string(), "x", "Text.", 0.5, "2026-01-01");
        found.point_id = Uuid::from_u128(chunk);
        Arc::make_mut(&mut found.chunk).document_id = Uuid::from_u128(page);
        found.scores.score = score;
        found
    }

    #[test]
    fn pages_of_the_question_before_are_preferred_and_only_near_ties_decided() {
        let found = |chunks: &[(u128, u128, f32)]| Retrieved {
            candidates: chunks
                .iter()
                .map(|(page, chunk, score)| scored(*page, *chunk, *score))
                .collect(),
            ..Retrieved::default()
        };
        let order = |alone: &Retrieved, before: &Retrieved, bonus: f32| -> Vec<u128> {
            let candidates = alone.near(before, bonus).into_iter();
            candidates.map(|it| it.point_id.as_u128()).collect()
        };
        let alone = found(&[(1, 11, 0.9), (2, 21, 0.8), (3, 31, 0.6)]);
        assert_eq!(order(&alone, &found(&[]), 0.0), [11, 21, 31]);
        let before = found(&[(3, 32, 1.0), (2, 22, 0.7)]);
        assert_eq!(order(&alone, &before, 0.0), [21, 11, 31, 32, 22]);
        assert_eq!(
            order(&alone, &before, FIRST_PAGE_BONUS),
            [31, 21, 11, 32, 22]
        );
        for found in alone.near(&before, FIRST_PAGE_BONUS) {
            assert!((0.0..=1.0).contains(&found.scores.score), "{found:?}");
        }
    }

    #[test]
    fn a_question_depends_on_those_before_until_one_stands_alone() {
        let asked = |questions: &[&str]| {
            let exchanges = questions.iter().map(|question| Exchange {
                question: (*question).to_owned(),
                answer: None,
            });
            let history: Vec<Exchange> = exchanges.collect();
            depended_on(&history, Language::ENGLISH)
                .into_iter()
                .map(|exchange| exchange.question.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            asked(&["install the pump", "calibrate the probe"]),
            ["calibrate the probe"]
        );
        assert_eq!(
            asked(&[
                "install the pump",
                "calibrate the probe",
                "shorter, please",
                ""
            ]),
            ["shorter, please", "calibrate the probe"]
        );
        assert_eq!(asked(&[]), [""; 0]);
    }

    #[test]
    fn a_short_question_may_depend_on_the_one_before() {
        for question in [
            "why not?",
            "and in water?",
            "What is a list?",
            "how do i release it again",
        ] {
            assert!(may_depend(question, Language::ENGLISH), "{question}");
        }
        assert!(!may_depend(
            "browser freezes: registerUpdateListener with editor.update inside",
            Language::ENGLISH
        ));
        assert!(!may_depend(&"节点如何通信".repeat(8), Language::ENGLISH));
        let german = "Und wie kann ich das in der Datei ändern?";
        assert!(may_depend(german, Language::of_locale("de")));
        assert!(!may_depend(german, Language::ENGLISH));
        assert_eq!(end_of("a list"), "a list");
        assert_eq!(
            end_of(&"é".repeat(700)).chars().count(),
            MAX_EARLIER_CHARACTERS
        );
    }

    #[test]
    fn the_answer_to_a_question_without_a_subject_says_what_it_was_about() {
        let about = |question: &str, answer: &str| {
            let exchange = Exchange {
                question: question.to_owned(),
                answer: Some(answer.to_owned()),
            };
            subject_of(&exchange, Language::ENGLISH)
        };
        let quote = format!("{}\n\nIt drifts. [1]", book::heading("Sensors › Dew"));
        assert_eq!(about("explain", &quote), "explain\nSensors › Dew");
        assert_eq!(about("dew?", &quote), "dew?");
        assert_eq!(about("explain", "```sh\n# installs\n```"), "explain");
        assert_eq!(about("explain", "No."), "explain");
    }
}
