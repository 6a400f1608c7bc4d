//! Has a chat model write the questions of sections that have none, while the program does its other work.
//!
//! The questions of a page are a row of the catalog, which is an input of the page like a file of the site: once the row is written, the page's
//! fingerprint differs, and any run indexes the page again. So nothing is lost between the two.

mod asking;
mod prompt;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Mutex as StdMutex, MutexGuard, PoisonError};

use book::questions::{
    AskedSection, QuestionFile, Written, asked_sections, is_asked, written_file,
};
use book::{Document, SiteSettings};
use futures::{StreamExt, stream};
use tokio::sync::Mutex;
use uuid::Uuid;

use crate::ingest::{Ingest, IngestError};
use models::chat::{ChatModel, Usage, fence};
use store::budget::{Reserved, cost};
use store::catalog::{Account, Catalog};

pub use asking::{AskFailure, Asked, ask_for_questions};
pub use prompt::{
    MAX_QUESTIONS_TOKENS, USUAL_QUESTIONS_TOKENS, parse_questions, questions_prompt,
    tokens_of_prompt,
};

/// The sections that the model is asked about at once: readers' questions to the same model should not wait.
const AT_ONCE: usize = 2;
/// The number of failures in a row that end a run: the model, the key or the network does not work.
const MAX_FAILED_IN_A_ROW: u32 = 3;
/// Attempts to store the questions of a page while other writers store some, too.
const MAX_ATTEMPTS: usize = 5;

/// A chat model that writes questions, with what is known about pages and texts since the process began.
#[derive(Debug)]
pub struct QuestionWriter {
    model: ChatModel,
    /// The model's name, which is noted with its questions.
    name: String,
    /// The budget of a day in millionths of a dollar; `None` for no limit.
    budget: Option<u64>,
    /// The fingerprints of pages that lack no questions, so that they are not read again.
    complete: HashMap<String, String>,
    /// All questions that a model wrote, by the hash of their section's text: no text is sent twice.
    known: HashMap<String, Written>,
    /// The hashes of texts for which the model wrote nothing usable.
    unusable: HashSet<String>,
}

/// What a run is to do.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The pages that lack questions, or are not indexed with those that the catalog has.
    pages: Vec<String>,
    /// The sections that lack questions.
    pub sections: usize,
}

/// What a run did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// The sections that got questions.
    pub sections: usize,
    /// The sections that failed. The reasons are in the log.
    pub failed: usize,
    /// Why the run ended before its last section.
    pub end: Option<&'static str>,
}

/// The state that calls of one run share.
#[derive(Debug, Default)]
struct Run {
    failed_in_a_row: u32,
    end: Option<&'static str>,
}

/// The outcome of asking about a section; `None` if the run ended before.
type Outcome = Option<Result<Vec<String>, AskFailure>>;

impl Plan {
    /// True if there is nothing to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty()
    }
}

impl QuestionWriter {
    /// Creates the writer. `name` is the model's name, `budget` that of a day in millionths of a dollar.
    #[must_use]
    pub fn new(model: ChatModel, name: String, budget: Option<u64>) -> Self {
        Self {
            model,
            name,
            budget,
            complete: HashMap::new(),
            known: HashMap::new(),
            unusable: HashSet::new(),
        }
    }

    /// Returns the model's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the budget of a day in millionths of a dollar; `None` for no limit.
    #[must_use]
    pub fn budget(&self) -> Option<u64> {
        self.budget
    }

    /// Finds the indexed pages that lack questions; with `only`, among these. Pages without a change since a former call are not read.
    ///
    /// # Errors
    /// If the catalog or the whole source cannot be read.
    pub async fn plan(
        &mut self,
        ingest: &Ingest,
        only: Option<&BTreeSet<String>>,
    ) -> Result<Plan, IngestError> {
        let mut plan = Plan::default();
        let mut states = ingest.catalog.states(ingest.index_row.index_id).await?;
        states.retain(|state| {
            state.skip_reason.is_none()
                && only.is_none_or(|only| only.contains(&state.source))
                && self.complete.get(&state.source) != Some(&state.fingerprint)
        });
        if states.is_empty() {
            return Ok(plan);
        }
        states.sort_by(|a, b| a.source.cmp(&b.source));
        let files = ingest.files().await?;
        for text in files.written().values() {
            self.learn(text);
        }
        for state in states {
            let (document, fingerprint) = match ingest.page_now(&state.source, &files).await {
                Ok(Some(page)) => page,
                Err(error) if error.is_outage() => return Err(error),
                Ok(None) | Err(_) => continue,
            };
            let missing = self.missing(&ingest.settings, &document).len();
            plan.sections += missing;
            if missing > 0 || fingerprint != state.fingerprint {
                plan.pages.push(state.source);
            } else {
                self.complete.insert(state.source, fingerprint);
            }
        }
        Ok(plan)
    }

    /// Writes the questions of a plan and indexes their pages, one after the other. The index is locked while a page is indexed, never while the
    /// model is asked.
    ///
    /// # Errors
    /// If a store fails, or a page cannot be indexed. What is written stays, and the next plan has the rest.
    pub async fn write(&mut self, ingest: &Mutex<Ingest>, plan: Plan) -> Result<Done, IngestError> {
        let run = StdMutex::new(Run::default());
        let mut done = Done::default();
        for source in plan.pages {
            match self.write_and_index(ingest, &source, &run, &mut done).await {
                Err(error) if !error.is_outage() => {
                    tracing::warn!(stage = "questions", source, %error, "a page is left for the next run");
                }
                written => written?,
            }
            done.end = lock(&run).end;
            if done.end.is_some() {
                break;
            }
        }
        Ok(done)
    }

    async fn write_and_index(
        &mut self,
        ingest: &Mutex<Ingest>,
        source: &str,
        run: &StdMutex<Run>,
        done: &mut Done,
    ) -> Result<(), IngestError> {
        let current = ingest.lock().await.clone();
        if self.write_page(&current, source, run, done).await? {
            // Locked again, because the settings may have changed while the model wrote.
            let ingest = ingest.lock().await;
            for page in ingest.concerned(&written_file(source)).await? {
                ingest.ingest_document(&page).await?;
            }
        }
        Ok(())
    }

    /// Asks for the questions of a page's sections, and stores them. Returns whether the page is to be indexed.
    async fn write_page(
        &mut self,
        ingest: &Ingest,
        source: &str,
        run: &StdMutex<Run>,
        done: &mut Done,
    ) -> Result<bool, IngestError> {
        let Some(document) = ingest.page_with_questions(source).await? else {
            return Ok(false);
        };
        let sections = self.missing(&ingest.settings, &document);
        let mut texts: Vec<&AskedSection> = Vec::new();
        for section in &sections {
            let hash = &section.text_hash;
            let is_known = self.known.contains_key(hash);
            if !is_known && !texts.iter().any(|text| text.text_hash == *hash) {
                texts.push(section);
            }
        }
        let calls = texts
            .iter()
            .map(|section| self.ask(&ingest.catalog, source, section, run));
        let outcomes: Vec<Outcome> = stream::iter(calls).buffered(AT_ONCE).collect().await;
        for (section, outcome) in texts.into_iter().zip(outcomes) {
            match outcome {
                Some(Ok(questions)) => {
                    let written = self.signed(section, &questions);
                    self.known.insert(section.text_hash.clone(), written);
                }
                Some(Err(failure)) => {
                    done.failed += 1;
                    if matches!(failure, AskFailure::Unusable(_)) {
                        self.unusable.insert(section.text_hash.clone());
                    }
                }
                None => {}
            }
        }
        let written: Vec<Written> = sections
            .iter()
            .filter_map(|section| self.written_for(section))
            .collect();
        done.sections += written.len();
        if !written.is_empty() {
            store(ingest, source, &written).await?;
        }
        Ok(!written.is_empty() || sections.is_empty())
    }

    /// Asks the model about a section, and logs a failure.
    async fn ask(
        &self,
        catalog: &Catalog,
        source: &str,
        section: &AskedSection,
        run: &StdMutex<Run>,
    ) -> Outcome {
        if lock(run).end.is_some() {
            return None;
        }
        let prompt = questions_prompt(section, &fence(Uuid::new_v4()));
        let reserved = Reserved::take(
            catalog,
            Account::Questions,
            &self.model,
            &prompt,
            MAX_QUESTIONS_TOKENS,
            self.budget,
        );
        let Some(reserved) = reserved.await else {
            lock(run).end = Some("the day's budget is spent");
            return None;
        };
        let asked = ask_for_questions(&self.model, &prompt, |error, wait| {
            tracing::info!(stage = "questions", source, %error, ?wait, "waiting for the chat model");
        });
        let asked = asked.await;
        let usual = Usage {
            input_tokens: tokens_of_prompt(&prompt),
            output_tokens: USUAL_QUESTIONS_TOKENS,
        };
        let spent = cost(&self.model, asked.usage.unwrap_or(usual));
        reserved.settle(catalog, spent).await;
        let mut run = lock(run);
        match &asked.questions {
            Ok(_) => run.failed_in_a_row = 0,
            Err(failure) => {
                let anchor = &section.anchor;
                tracing::warn!(stage = "questions", source, anchor, %failure, "a section has no questions yet");
                run.failed_in_a_row += 1;
                if run.failed_in_a_row >= MAX_FAILED_IN_A_ROW {
                    run.end = Some("the last sections all failed");
                }
            }
        }
        Some(asked.questions)
    }

    /// Returns the sections of a page that have text and no questions, and for which the model did not fail to write usable ones.
    fn missing(&self, settings: &SiteSettings, document: &Document) -> Vec<AskedSection> {
        if !is_asked(settings, document) {
            return Vec::new();
        }
        let mut sections = asked_sections(document);
        sections.retain(|section| {
            !section.is_empty
                && !document.questions.contains_key(&section.anchor)
                && !self.unusable.contains(&section.text_hash)
        });
        sections
    }

    /// Remembers the questions in a row of the catalog.
    fn learn(&mut self, text: &str) {
        for written in QuestionFile::parse(text).sections {
            if let Some(hash) = written.text_hash.clone() {
                self.known.entry(hash).or_insert(written);
            }
        }
    }

    fn signed(&self, section: &AskedSection, questions: &[String]) -> Written {
        let mut written = Written {
            text_hash: Some(section.text_hash.clone()),
            ..Written::default()
        };
        for question in questions {
            // The parser keeps to the limits of a question.
            let _ = written.add(question);
        }
        written.sign(&self.name);
        written
    }

    /// Returns the questions that are known for a section's text.
    fn written_for(&self, section: &AskedSection) -> Option<Written> {
        let known = self.known.get(&section.text_hash)?;
        let anchor = section.anchor.clone();
        Some(Written {
            anchor,
            ..known.clone()
        })
    }
}

/// Adds sections to the row of a page. Sections that another process has written meanwhile for the same text stay.
async fn store(ingest: &Ingest, source: &str, sections: &[Written]) -> Result<(), IngestError> {
    let (catalog, site) = (&ingest.catalog, &ingest.options.site);
    let sources = [source.to_owned()];
    for _ in 0..MAX_ATTEMPTS {
        let stored = catalog.written_questions(site, Some(&sources)).await?;
        let former = stored.get(source).map(String::as_str);
        let mut file = QuestionFile::parse(former.unwrap_or_default());
        for section in sections {
            let stored = file.section_mut(&section.anchor);
            if stored.text_hash != section.text_hash || stored.questions.is_empty() {
                stored.clone_from(section);
            }
        }
        let text = file.text();
        if former == Some(&text)
            || catalog
                .save_written_questions(site, source, former, &text)
                .await?
        {
            return Ok(());
        }
    }
    Err(IngestError::Contended {
        path: written_file(source),
    })
}

fn lock(run: &StdMutex<Run>) -> MutexGuard<'_, Run> {
    run.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;
