//! A state of a book, and the answers it gives.

use std::collections::BTreeMap;

use bookrag::answer::{Answerer, Question};
use bookrag::config::{Config, GeneratorChoice};
use bookrag::error::{Error, ErrorKind};
use bookrag::index::Filters;
use bookrag::ingest::{MassDeletion, OpenMode, RunStatus, SkippedFile, SyncOptions};
use bookrag::source::Source;

use super::anchors::Anchors;
use super::answer::ComparedAnswer;
use super::questions::ComparedQuestion;
use crate::commands::CommandError;
use crate::commands::progress::with_progress;
use crate::local::{BookFolder, LocalBook, LocalError, config_for};
use crate::pages::{ReadPages, Unread};
use crate::running::Hold;
use crate::site::Site;

#[derive(Debug)]
pub(super) struct State {
    /// The commit; `None` for the working tree.
    pub(super) commit: Option<String>,
    /// Answers in the order of the questions.
    pub(super) answers: Vec<ComparedAnswer>,
    pub(super) anchors: Anchors,
    /// Pages that cannot be read, with the reason; those that the site leaves out are not in it.
    pub(super) unread: BTreeMap<String, String>,
    /// True if some pages could not be read or stored, but a later run may succeed.
    pub(super) is_partial: bool,
}

/// An index that holds one state of the book after the other, like the index of a site that is updated. Text that both states share is
/// embedded once, and a page that cannot be read keeps its last good text.
pub(super) struct States {
    config: Config,
    site: Site,
    book: LocalBook,
    _hold: Hold,
}

impl States {
    /// Opens the index in the user's cache folder, separate from the site's own index.
    pub(super) async fn open(
        config: &Config,
        site: &Site,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        let config = Config {
            database_url: None,
            qdrant_url: None,
            // Extractive answers: a chat model would cost money, and its answers vary between runs.
            generator: GeneratorChoice::Extractive,
            ..config.clone()
        };
        let config = config_for(&config, site).await?;
        let folder = BookFolder::create_for_diff(&config, site)?;
        let hold = Hold::take(&folder)?;
        let book = match LocalBook::open(&config, &folder, &say).await {
            Err(error) if error.is_damage() => {
                say(&format!("note: {error}; it is made again"));
                folder.set_store_aside()?;
                LocalBook::open(&config, &folder, &say).await?
            }
            opened => opened?,
        };
        Ok(Self {
            config,
            site: site.clone(),
            book,
            _hold: hold,
        })
    }

    /// Syncs the index with a state of the book, and asks it the questions.
    pub(super) async fn take(
        &self,
        source: Source,
        questions: &[ComparedQuestion],
    ) -> Result<State, CommandError> {
        let mode = OpenMode::TakeOver;
        let ingest = self
            .book
            .ingest_from(source, &self.config, &self.site, mode);
        let ingest = ingest.await?;
        let options = SyncOptions {
            // The other state may be a different book.
            mass_deletion: MassDeletion::Allow,
        };
        let report = with_progress(&ingest, options).await?;
        let answerer = self.answerer().await?;
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            answers.push(ask(&answerer, question).await?);
        }
        let read = ReadPages::read(&ingest.source, &ingest.settings).await?;
        let mut anchors = Anchors::default();
        let mut unread = BTreeMap::new();
        for SkippedFile { source, reason } in report.failed {
            unread.insert(source, reason);
        }
        for page in read.pages {
            match page.document {
                Ok(document) => anchors.add(&document),
                Err(Unread::Skipped(reason)) if reason.is_by_site() => {}
                Err(reason) => drop(unread.insert(page.file.source, reason.to_string())),
            }
        }
        Ok(State {
            commit: match &ingest.source {
                Source::Git(commit) => Some(commit.commit().to_owned()),
                _ => None,
            },
            answers,
            anchors,
            unread,
            is_partial: report.status == RunStatus::Partial,
        })
    }

    async fn answerer(&self) -> Result<Answerer, CommandError> {
        // Not the remembered row: a run may have calibrated the index since.
        let live = self.book.context.catalog().live_index().await;
        let Some(live) = live.map_err(LocalError::from)? else {
            let message = "the book could not be indexed";
            return Err(Error::new(ErrorKind::Unavailable, message).into());
        };
        Ok(self.book.context.answerer(&live)?)
    }
}

/// Asks like a reader who has no page of the book open.
async fn ask(
    answerer: &Answerer,
    question: &ComparedQuestion,
) -> Result<ComparedAnswer, CommandError> {
    let asked = Question {
        filters: Filters {
            locale: question.locale.clone(),
            ..Filters::default()
        },
        ..Question::new(&question.query)
    };
    let prepared = answerer.prepare(asked, None).await.map_err(Error::from);
    match prepared {
        Ok(prepared) => Ok(ComparedAnswer::from_answer(&prepared.whole().await?)),
        // This state lacks the locale.
        Err(error) if error.kind == ErrorKind::Invalid => Ok(ComparedAnswer::nothing()),
        Err(error) => Err(error.into()),
    }
}
