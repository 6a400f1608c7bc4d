//! The ingest function: updates the index with the current state of the objects named by events.

mod events;
mod queue;
mod deadline;
mod converge;
mod commands;
mod questions;
mod deployment;
mod books;
mod error;

use std::collections::BTreeSet;
use std::time::Duration;

use bookrag::catalog::Catalog;
use bookrag::chunk::ChunkPolicy;
use bookrag::config::{BookId, Config};
use bookrag::context::{
    INGEST_INDEX_TIMEOUT, INGEST_STATEMENT_TIMEOUT, StartError, embedder, postgres_catalog,
    question_writer,
};
use bookrag::embed::Embedder;
use bookrag::index::VectorIndex;
use bookrag::ingest::{Ingest, OpenMode, OpenOptions, Ports, SyncError};
use bookrag::metrics::{Metric, Metrics, MetricsOptions};
use bookrag::question_writer::QuestionWriter;
use bookrag::source::{S3Source, Source};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::Mutex;

pub use books::Books;
pub use deadline::Deadline;
pub use deployment::not_started;
pub use error::{ConnectError, HandlerError};
pub use events::EventError;
pub use queue::QueueError;

use converge::{Changed, Converging};
use events::{Command, Event, Message, Object, Request};
use queue::Queue;

/// The most documents updated at once for a change; more are put into the queue one by one.
const MAX_AT_ONCE: usize = 8;

/// The messages of a full batch, as in template.yaml.
const FULL_BATCH: usize = 10;

/// The backends of the function for one book, kept between events.
#[derive(Debug)]
pub struct Function {
    /// The book, if the deployment has several.
    book: Option<BookId>,
    source: S3Source,
    site: String,
    policy: ChunkPolicy,
    embedder: Embedder,
    index: VectorIndex,
    catalog: Catalog,
    /// The name of the setting with the URL for migrations.
    migrated_over: &'static str,
    collection: String,
    metrics: MetricsOptions,
    retention: Option<Duration>,
    /// Without a queue, long work is done here within an invocation's time.
    queue: Option<Queue>,
    /// Writes the questions that sections lack, if there is a budget for it.
    writer: Option<Mutex<QuestionWriter>>,
}

impl Function {
    /// Creates the backends from the configuration, without sending requests. `BOOKRAG_SOURCE` must be set.
    ///
    /// # Errors
    /// If something configured is missing or cannot be created.
    pub async fn connect(config: &Config) -> Result<Self, ConnectError> {
        let source = config.source.as_deref();
        let source = source.ok_or(StartError::MissingSetting("BOOKRAG_SOURCE"))?;
        let index = config.qdrant_url.as_deref();
        let index = index.ok_or(StartError::MissingSetting("QDRANT_URL"))?;
        let index =
            VectorIndex::qdrant(index, config.qdrant_api_key.as_ref(), INGEST_INDEX_TIMEOUT);
        let catalog = config.database_url.as_ref();
        let catalog = catalog.ok_or(StartError::MissingSetting("DATABASE_URL"))?;
        let embedder = embedder(config, log_start).await?;
        let source = S3Source::connect(source).await?;
        let queue = match &config.queue_url {
            Some(url) => Some(Queue::connect(url, config.book.clone()).await),
            None => None,
        };
        Ok(Self {
            book: config.book.clone(),
            site: config.site.clone().unwrap_or_else(|| source.url()),
            source,
            policy: config.chunk_policy.clone(),
            embedder,
            index: index
                .map_err(StartError::from)?
                .with_layout(config.collection_layout),
            catalog: postgres_catalog(config, catalog, INGEST_STATEMENT_TIMEOUT)?,
            migrated_over: match config.database_url_direct {
                Some(_) => "DATABASE_URL_DIRECT",
                None => "DATABASE_URL",
            },
            collection: config.collection.clone(),
            metrics: config.metrics.clone(),
            retention: config.retention,
            queue,
            writer: question_writer(config)
                .map_err(StartError::Generate)?
                .map(Mutex::new),
        })
    }

    /// Handles an event before the deadline.
    ///
    /// For a batch of SQS messages, returns those that failed, as `ReportBatchItemFailures` requires. Messages and objects that fail because of the
    /// site's settings are logged and counted, but not retried: see [`HandlerError::settings`].
    ///
    /// # Errors
    /// If the event cannot be read or handled. For a batch, only if Lambda cannot identify its messages.
    pub async fn handle(&self, event: Value, deadline: Deadline) -> Result<Value, HandlerError> {
        let mut metrics = Metrics::new(&self.metrics, "ingest");
        let answer = match Event::try_from(event)? {
            Event::Queue(messages) => self.serve_queue(&messages, deadline, &mut metrics).await,
            Event::Objects(objects) => {
                let mut converging = None;
                let served = self.serve_objects(objects, &mut converging, &mut metrics);
                let served = deadline.bound(served).await;
                if let (Some(converging), Ok(_)) = (&converging, &served) {
                    self.write_questions_of(converging, deadline).await;
                }
                served.or_else(|error| unless_in_settings(error, &mut metrics))
            }
            Event::Command(command) => {
                let is_reconcile = matches!(command, Command::Reconcile { .. });
                let served = Box::pin(self.command(command, &mut metrics));
                let served = deadline.bound(served).await;
                if is_reconcile && served.is_ok() {
                    self.write_all_questions(deadline).await;
                }
                served
            }
            // A timeout must also be reported to `CloudFormation`.
            Event::Resource(request) => {
                Box::pin(request.settle(deadline.bound(self.prepare()))).await
            }
        };
        if let Err(error) = &answer {
            count_refusal(error, &mut metrics);
        }
        metrics.emit();
        answer
    }

    async fn serve_objects(
        &self,
        objects: Vec<Object>,
        converging: &mut Option<Converging>,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        let objects = self.ours(objects);
        if !objects.is_empty() {
            let converging = self.shared(converging).await?;
            let served = self.serve(converging, &objects, metrics).await;
            converging.finish(served).await?;
        }
        Ok(json!({ "files": objects.len() }))
    }

    async fn serve_queue(
        &self,
        messages: &[Message],
        deadline: Deadline,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        let mut begun: Vec<&Message> = Vec::new();
        let mut failed: Vec<&Message> = Vec::new();
        let mut converging = None;
        for message in messages {
            if deadline.has_passed() {
                break;
            }
            begun.push(message);
            let served = deadline.bound(self.serve_message(message, &mut converging, metrics));
            if let Err(error) = served.await {
                log_failure(message, &error);
                count_refusal(&error, metrics);
                if error.settings().is_none() {
                    failed.push(message);
                }
            }
        }
        if let Some(converging) = &converging {
            let noted = async {
                converging.note_progress().await;
                Ok(())
            };
            if let Err(error) = deadline.bound(noted).await {
                tracing::warn!(stage = "ingest", %error, "cannot record the progress of the first indexing");
            }
        }
        if let Some(converging) = &converging
            && let Err(error) = deadline.bound_for_answer(converging.check_settings()).await
        {
            for message in &begun {
                log_failure(message, &error);
            }
            count_refusal(&error, metrics);
            if error.settings().is_none() {
                failed.clone_from(&begun);
            }
        }
        let late: Vec<&Message> = messages.iter().skip(begun.len()).collect();
        let handed_back = self.hand_back(&late, metrics);
        if let Err(error) = deadline.bound_for_answer(handed_back).await {
            for message in &late {
                log_failure(message, &error);
            }
            failed.extend(late);
        }
        metrics.count(Metric::MessagesFailed, failed.len());
        self.retry_soon(&failed, deadline).await;
        // More messages probably wait behind a full batch.
        if let Some(converging) = converging.filter(|_| messages.len() < FULL_BATCH) {
            self.write_questions_of(&converging, deadline).await;
        }
        let failed = failed
            .iter()
            .map(|message| json!({ "itemIdentifier": message.id }));
        Ok(json!({ "batchItemFailures": failed.collect::<Vec<_>>() }))
    }

    async fn serve_message(
        &self,
        message: &Message,
        converging: &mut Option<Converging>,
        metrics: &mut Metrics,
    ) -> Result<(), HandlerError> {
        let objects = match message.request()? {
            Request::Objects(objects) => self.ours(objects),
            Request::Command(Command::Converge { paths }) => {
                let converging = self.shared(converging).await?;
                return converging
                    .converge(&BTreeSet::from_iter(paths), metrics)
                    .await
                    .map(drop);
            }
            Request::Command(command) => {
                return Box::pin(self.command(command, metrics)).await.map(drop);
            }
        };
        if objects.is_empty() {
            return Ok(());
        }
        let converging = self.shared(converging).await?;
        self.serve(converging, &objects, metrics).await
    }

    /// Prepares the state that all messages of a batch share.
    async fn shared<'batch>(
        &self,
        converging: &'batch mut Option<Converging>,
    ) -> Result<&'batch mut Converging, HandlerError> {
        match converging {
            Some(converging) => Ok(converging),
            none => Ok(none.insert(self.converging().await?)),
        }
    }

    /// Puts messages that were not started into the queue again, as new ones: these are available immediately, and have their full number of receives
    /// before the dead-letter queue.
    ///
    /// # Errors
    /// If there is no queue, or it did not accept them; then the messages must fail.
    async fn hand_back(
        &self,
        late: &[&Message],
        metrics: &mut Metrics,
    ) -> Result<(), HandlerError> {
        if late.is_empty() {
            return Ok(());
        }
        let queue = self.queue.as_ref().ok_or(HandlerError::Deadline)?;
        let bodies: Vec<String> = late.iter().map(|message| message.body.clone()).collect();
        queue.send(&bodies, Duration::ZERO).await?;
        metrics.count(Metric::MessagesHandedBack, bodies.len());
        Ok(())
    }

    /// Makes messages that failed visible again soon. If that fails, it is only logged: the queue delivers them later.
    async fn retry_soon(&self, failed: &[&Message], deadline: Deadline) {
        let Some(queue) = self.queue.as_ref().filter(|_| !failed.is_empty()) else {
            return;
        };
        let retried = async { Ok(queue.retry_soon(failed).await?) };
        if let Err(error) = deadline.bound_for_answer(retried).await {
            tracing::warn!(stage = "ingest", %error, "failed messages are delivered only after the queue's visibility timeout");
        }
    }

    /// Updates all documents affected by these objects.
    async fn serve(
        &self,
        converging: &mut Converging,
        objects: &[(String, Option<Timestamp>)],
        metrics: &mut Metrics,
    ) -> Result<(), HandlerError> {
        for (path, changed_at) in objects {
            let sources = converging.concerned(std::slice::from_ref(path)).await?;
            if let Some(queue) = self.queue.as_ref().filter(|_| sources.len() > MAX_AT_ONCE) {
                queue.send(&one_by_one(&sources), Duration::ZERO).await?;
                metrics.count(Metric::DocumentsEnqueued, sources.len());
                continue;
            }
            let changed = converging.converge(&sources, metrics).await?;
            if let (Changed::Yes, Some(changed_at)) = (changed, changed_at) {
                let lag = Timestamp::now().duration_since(*changed_at);
                metrics.note(Metric::IngestLag, lag.as_millis_f64().max(0.0));
            }
        }
        Ok(())
    }

    /// Puts documents into the queue, one for each message; without a queue, updates them here. Returns the number put.
    async fn work_off(
        &self,
        ingest: &Ingest,
        sources: &BTreeSet<String>,
        metrics: &mut Metrics,
    ) -> Result<usize, HandlerError> {
        match &self.queue {
            Some(queue) => {
                queue.send(&one_by_one(sources), Duration::ZERO).await?;
                metrics.count(Metric::DocumentsEnqueued, sources.len());
                Ok(sources.len())
            }
            None => {
                let mut converging = Converging::new(ingest.clone());
                let converged = converging.converge(sources, metrics).await;
                converging.finish(converged).await?;
                Ok(0)
            }
        }
    }

    /// Returns the paths of objects that are files of the site, with the times of their changes.
    fn ours(&self, objects: Vec<Object>) -> Vec<(String, Option<Timestamp>)> {
        objects
            .into_iter()
            .filter(|object| object.bucket == self.source.bucket())
            .filter_map(|object| {
                let path = self.source.path_of(&object.key)?;
                Some((path.to_owned(), object.changed_at))
            })
            .collect()
    }

    async fn converging(&self) -> Result<Converging, HandlerError> {
        Ok(Converging::new(self.open(OpenMode::Write).await?))
    }

    /// Reads the site's settings and finds or creates the index to write.
    async fn open(&self, mode: OpenMode) -> Result<Ingest, HandlerError> {
        let ports = Ports {
            source: Source::S3(self.source.clone()),
            embedder: self.embedder.clone(),
            index: self.index.clone(),
            catalog: self.catalog.clone(),
        };
        let options = OpenOptions {
            site: self.site.clone(),
            title: self.site.clone(),
            policy: self.policy.clone(),
            collection: self.collection.clone(),
            mode,
            retention: self.retention,
        };
        let ingest = Ingest::open(ports, options).await?;
        for warning in &ingest.settings.warnings {
            tracing::warn!(
                stage = "ingest",
                warning,
                "some of the site's settings cannot be read"
            );
        }
        Ok(ingest)
    }
}

fn log_start(line: &str) {
    tracing::info!(stage = "start", "{line}");
}

fn log_failure(message: &Message, error: &HandlerError) {
    let kind = error.kind();
    tracing::error!(stage = "ingest", message.id = message.id, error.kind = kind, error = %error, "the message failed");
}

/// Accepts a failure caused by the site's settings, because sending the event again would change nothing.
fn unless_in_settings(error: HandlerError, metrics: &mut Metrics) -> Result<Value, HandlerError> {
    if error.settings().is_none() {
        return Err(error);
    }
    tracing::error!(stage = "ingest", error.kind = error.kind(), error = %error, "the event failed");
    count_refusal(&error, metrics);
    Ok(json!({ "files": 0, "error": error.to_string() }))
}

/// Counts failures that an author or operator must check.
fn count_refusal(error: &HandlerError, metrics: &mut Metrics) {
    if error.settings().is_some() {
        metrics.count(Metric::DocumentsSkipped, 1);
    }
    if matches!(error, HandlerError::Sync(SyncError::MassDeletion { .. })) {
        metrics.count(Metric::MassDeletionsStopped, 1);
    }
}

/// Creates one message for each document, so that a failure does not hold back others.
fn one_by_one(sources: &BTreeSet<String>) -> Vec<String> {
    sources
        .iter()
        .map(|source| Command::Converge {
            paths: vec![source.clone()],
        })
        .map(|command| json!(command).to_string())
        .collect()
}
