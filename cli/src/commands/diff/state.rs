//! A book as it was or is, and what it tells readers.

use std::collections::BTreeMap;

use bookrag::answer::{Answerer, Question};
use bookrag::config::{Config, GeneratorChoice};
use bookrag::error::{Error, ErrorKind};
use bookrag::index::Filters;
use bookrag::ingest::{MassDeletion, OpenMode, SkippedFile, SyncOptions};
use bookrag::source::Source;

use super::anchors::Anchors;
use super::questions::Asked;
use super::told::Told;
use crate::commands::pages::{ReadPages, Unread};
use crate::commands::{CommandError, sync};
use crate::local::{BookFolder, LocalBook, LocalError};
use crate::running::Hold;
use crate::site::Site;

/// Passages an answer draws on: what a request without `top_k` gets.
const TOP_K: usize = 10;

/// What a state of the book tells.
#[derive(Debug)]
pub(super) struct State {
    /// The commit; `None` for the files as they are.
    pub(super) commit: Option<String>,
    /// The answers, in the order of the questions.
    pub(super) told: Vec<Told>,
    /// Its addresses and links.
    pub(super) anchors: Anchors,
    /// Pages that cannot be read, with the reason; drafts are not among them.
    pub(super) unread: BTreeMap<String, String>,
    /// True if some pages could not be read or stored, and may be later.
    pub(super) is_partial: bool,
}

/// The index that takes one state of the book after the other, as a site's index does that follows its changes: what both have
/// is embedded once, and a page that cannot be read keeps its last good text.
pub(super) struct States {
    config: Config,
    site: Site,
    book: LocalBook,
    _hold: Hold,
}

impl States {
    /// Opens the index in the user's cache folder, apart from the site's own.
    pub(super) async fn open(
        config: &Config,
        site: &Site,
        say: impl Fn(&str),
    ) -> Result<Self, LocalError> {
        let config = Config {
            database_url: None,
            qdrant_url: None,
            // The book's own sentences: a model's would cost, and differ from run to run.
            generator: GeneratorChoice::Extractive,
            ..config.clone()
        };
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

    /// Makes the index hold a state of the book, and asks it the questions.
    pub(super) async fn take(
        &self,
        source: Source,
        questions: &[Asked],
    ) -> Result<State, CommandError> {
        let mode = OpenMode::TakeOver;
        let ingest = self
            .book
            .ingest_from(source, &self.config, &self.site, mode);
        let ingest = ingest.await?;
        let options = SyncOptions {
            // The other state may be another book altogether.
            mass_deletion: MassDeletion::Allow,
        };
        let report = sync::with_progress(&ingest, options).await?;
        let answerer = self.answerer().await?;
        let mut told = Vec::with_capacity(questions.len());
        for question in questions {
            told.push(ask(&answerer, question).await?);
        }
        let read = ReadPages::of(&ingest.source, &ingest.settings).await?;
        let mut anchors = Anchors::default();
        let mut unread = BTreeMap::new();
        for SkippedFile { source, reason } in report.failed {
            unread.insert(source, reason);
        }
        for page in read.pages {
            match page.document {
                Ok(document) => anchors.add(&document),
                Err(Unread::Skipped(bookrag::book::SkipReason::Draft)) => {}
                Err(reason) => drop(unread.insert(page.file.source, reason.to_string())),
            }
        }
        Ok(State {
            commit: match &ingest.source {
                Source::Git(commit) => Some(commit.commit().to_owned()),
                _ => None,
            },
            told,
            anchors,
            unread,
            is_partial: report.status != "success",
        })
    }

    async fn answerer(&self) -> Result<Answerer, CommandError> {
        // Not the remembered one: a run may have calibrated it.
        let live = self.book.context.catalog().live_index().await;
        let live = live.map_err(LocalError::from)?;
        let missing = || Error::new(ErrorKind::Unavailable, "the book could not be indexed");
        Ok(self.book.context.answerer(&live.ok_or_else(missing)?)?)
    }
}

/// Asks as a reader does who is on none of the book's pages.
async fn ask(answerer: &Answerer, question: &Asked) -> Result<Told, CommandError> {
    let asked = Question {
        filters: Filters {
            locale: question.locale.clone(),
            ..Filters::default()
        },
        ..Question::new(&question.query, TOP_K)
    };
    let prepared = answerer.prepare(asked, None).await.map_err(Error::from);
    match prepared {
        Ok(prepared) => Ok(Told::of(&prepared.whole().await?)),
        // This state does not have the locale.
        Err(error) if error.kind == ErrorKind::Invalid => Ok(Told::nothing()),
        Err(error) => Err(error.into()),
    }
}
