//! Looks up in the book what a model asks for before it writes.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::timeout;
use uuid::Uuid;

use crate::context::links;
use crate::context::passages::{Surroundings, numbered, with_scores};
use crate::error::Error;
use crate::generate::fenced;
use crate::retrieve::open_page::may_be_found;
use crate::retrieve::{ScoredChunk, Scores};
use crate::{Mode, Prepared, Question, fence};
use models::chat::{Called, FunctionCall, Lookup, Prompt};
use store::catalog::CatalogError;
use store::index::Filters;
use text::invisible::visible;

/// Time limit for looking one thing up.
const DEADLINE: Duration = Duration::from_secs(5);
/// The most chunks that one search finds. Their neighbours are read, too.
const FOUND: usize = 10;
/// One look-up may add the passages' budget divided by this number.
const SHARE: usize = 4;
/// All positions of a page's chunks.
const ALL: std::ops::RangeInclusive<i32> = 0..=i32::MAX;

/// Chunks found for a model, best first, and those around each of them.
#[derive(Default)]
struct Found(Vec<ScoredChunk>, Surroundings);

impl Prepared {
    /// Returns how often a model may look something up. A question about a selection is answered from the selection alone.
    pub(crate) fn max_lookups(&self) -> usize {
        match self.question.mode {
            Mode::GlobalBook => self.answerer.rules.model.lookups,
            Mode::SelectedText => 0,
        }
    }

    /// Returns what readers are told while a call runs: the words that are searched for, or a page's title or path. `None` if it looks nothing up.
    pub(crate) fn subject(&self, call: &FunctionCall) -> Option<String> {
        let subject = match call.lookup().ok()? {
            Lookup::Search(words) => words,
            Lookup::PageOf(n) => self.passage(n)?.chunk.title.clone(),
            Lookup::PageAt(path) => path,
        };
        Some(visible(&subject))
    }

    /// Runs a model's calls, and adds them to its prompt with their results. What they find is appended to the passages.
    pub(crate) async fn looked_up(
        &mut self,
        mut prompt: Prompt,
        calls: Vec<FunctionCall>,
    ) -> Prompt {
        let mut round = Vec::new();
        for call in calls {
            round.push(match call.lookup() {
                Ok(lookup) => {
                    let result = self.look_up(&lookup).await;
                    Called { call, result }
                }
                Err(problem) => Called::refused(call, problem),
            });
        }
        tracing::info!(
            stage = "lookup",
            calls = round.len(),
            "a model looked something up"
        );
        prompt.functions.left -= round.len().min(prompt.functions.left);
        self.lookups += round.len();
        prompt.functions.rounds.push(round);
        prompt
    }

    /// Returns passages that the model does not have yet, as it reads them.
    async fn look_up(&mut self, lookup: &Lookup) -> String {
        let found = timeout(DEADLINE, self.found(lookup)).await;
        let found = found.unwrap_or_else(|_| {
            let late = CatalogError::Unavailable("no answer in time".to_owned());
            Err(Error::unavailable(late))
        });
        let Found(best, around) = match found {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(stage = "lookup", %error, "a model's look-up failed");
                return "The book cannot be read now.".to_owned();
            }
        };
        let limits = self.answerer.rules.model;
        let filters = &self.question.filters;
        let mut input = around.model_input(&best, filters, limits.passage_bytes() / SHARE);
        let locale = self.locale.as_deref();
        links::resolve(&self.answerer.retriever, &mut input.passages, locale).await;
        links::afford(&mut input.passages, limits.link_bytes() / SHARE);
        if input.passages.is_empty() {
            return "The book has nothing else on that.".to_owned();
        }
        let known = self.texts.model_input.passages.len();
        self.texts.model_input.points.extend(input.points);
        self.texts.model_input.passages.extend(input.passages);
        let passages = numbered(&self.texts.model_input.passages);
        visible(&fenced(&passages[known..], &fence(self.message_id)))
    }

    /// Finds the chunks that a model asks for, except those that it has read.
    async fn found(&self, lookup: &Lookup) -> Result<Found, Error> {
        let points = self.texts.model_input.points.iter();
        let read: HashSet<Uuid> = points.copied().collect();
        let Found(best, mut around) = match lookup {
            Lookup::Search(words) => self.found_about(words, &read).await?,
            Lookup::PageOf(n) => match self.passage(*n) {
                Some(passage) => self.page_of(passage, &read).await?,
                None => Found::default(),
            },
            Lookup::PageAt(path) => self.page_at(path, &read).await?,
        };
        for page in &mut around.0 {
            page.retain(|chunk| !read.contains(&chunk.point_id));
        }
        Ok(Found(best, around))
    }

    /// Searches as for a question of the reader, with the reader's filters.
    async fn found_about(&self, words: &str, read: &HashSet<Uuid>) -> Result<Found, Error> {
        let question = Question {
            filters: Filters {
                locale: self.locale.clone(),
                ..self.question.filters.clone()
            },
            page_url: self.question.page_url.clone(),
            ..Question::new(words)
        };
        let search = self.answerer.retrieve(&question, words.to_owned()).await?;
        let found = search.retrieved.candidates.into_iter();
        let new = found.filter(|chunk| !read.contains(&chunk.point_id));
        let best: Vec<_> = new.take(FOUND).collect();
        let around = Surroundings::read(&self.answerer.retriever, &best, |_| true).await;
        Ok(Found(best, around.map_err(Error::unavailable)?))
    }

    async fn page_at(&self, path: &str, read: &HashSet<Uuid>) -> Result<Found, Error> {
        let retriever = &self.answerer.retriever;
        let path = path.split(['#', '?']).next().unwrap_or_default();
        let index = &retriever.index;
        let page = retriever
            .catalog()
            .page_at(index.index_id, &index.site, path);
        match page.await.map_err(Error::unavailable)? {
            Some(page) => {
                self.page(page.document_id, 0, Scores::default(), read)
                    .await
            }
            None => Ok(Found::default()),
        }
    }

    async fn page_of(&self, passage: &ScoredChunk, read: &HashSet<Uuid>) -> Result<Found, Error> {
        let position = passage.position.unwrap_or_default();
        let document_id = passage.chunk.document_id;
        self.page(document_id, position, passage.scores, read).await
    }

    /// Reads more of a page, from a position on: the next chunk that is not in `read`, or else the nearest before it, with all others around it.
    async fn page(
        &self,
        document_id: Uuid,
        position: i32,
        scores: Scores,
        read: &HashSet<Uuid>,
    ) -> Result<Found, Error> {
        let retriever = &self.answerer.retriever;
        let index_id = retriever.index.index_id;
        let chunks = retriever
            .catalog()
            .around(index_id, &[(document_id, ALL)])
            .await;
        let chunks = chunks.map_err(Error::unavailable)?.into_iter().flatten();
        let open_page = self.question.page_url.as_deref();
        let page: Vec<_> = chunks
            .filter(|chunk| may_be_found(&chunk.payload, open_page))
            .map(|chunk| with_scores(scores, chunk))
            .collect();
        let nearest = page
            .iter()
            .filter(|chunk| !read.contains(&chunk.point_id))
            .min_by_key(|chunk| {
                let at = chunk.position?;
                Some((at < position, at.abs_diff(position)))
            });
        let nearest: Vec<_> = nearest.cloned().into_iter().collect();
        Ok(Found(nearest, Surroundings(vec![page])))
    }

    fn passage(&self, n: usize) -> Option<&ScoredChunk> {
        self.texts.model_input.passages.get(n.checked_sub(1)?)
    }
}
