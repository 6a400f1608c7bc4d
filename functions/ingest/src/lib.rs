//! The ingest function: looks at the objects that events name and makes the index hold what they say now.

mod events;
mod queue;
mod deadline;
mod converge;
mod commands;
mod error;

use std::collections::BTreeSet;
use std::time::Duration;

use bookrag::catalog::{Catalog, Retired};
use bookrag::chunk::ChunkPolicy;
use bookrag::config::Config;
use bookrag::context::{INGEST_INDEX_TIMEOUT, StartError, hosted_embedder, postgres_catalog};
use bookrag::embed::Embedder;
use bookrag::index::VectorIndex;
use bookrag::ingest::{Ingest, OpenOptions, Ports, SyncError};
use bookrag::source::{S3Source, Source};
use bookrag::telemetry::Metrics;
use jiff::Timestamp;
use serde_json::{Value, json};

pub use deadline::Deadline;
pub use error::{ConnectError, HandlerError};
pub use events::EventError;
pub use queue::QueueError;

use converge::{Changed, Converging};
use events::{Command, Event, Message, Object, Request};
use queue::Queue;

/// Documents that one change may concern and that are still converged at once; more go into the queue, one by one.
const MAX_AT_ONCE: usize = 8;

/// The ports of the function, which it holds from one event to the next.
#[derive(Debug)]
pub struct Function {
    source: S3Source,
    site: String,
    policy: ChunkPolicy,
    embedder: Embedder,
    index: VectorIndex,
    catalog: Catalog,
    collection: String,
    /// Without it long work is done here, as far as an invocation's time goes.
    queue: Option<Queue>,
}

impl Function {
    /// Builds the ports from the configuration; `BOOKRAG_SOURCE` must be set. Nothing is sent to them yet.
    ///
    /// # Errors
    /// When something configured is missing or cannot be built.
    pub async fn connect(config: &Config) -> Result<Self, ConnectError> {
        let missing = |name: &str| StartError::NotInThisBuild(format!("{name} is not set"));
        let source = config.source.as_deref();
        let source = source.ok_or_else(|| missing("BOOKRAG_SOURCE"))?;
        let index = config.qdrant_url.as_deref();
        let index = index.ok_or_else(|| missing("QDRANT_URL"))?;
        let index = VectorIndex::new(index, config.qdrant_api_key.as_ref(), INGEST_INDEX_TIMEOUT);
        let catalog = config.database_url.as_ref();
        let catalog = catalog.ok_or_else(|| missing("DATABASE_URL"))?;
        let embedder = hosted_embedder(config).map_err(StartError::from)?;
        let source = S3Source::connect(source).await?;
        let queue = match &config.queue_url {
            Some(url) => Some(Queue::connect(url).await),
            None => None,
        };
        Ok(Self {
            site: config.site.clone().unwrap_or_else(|| source.url()),
            source,
            policy: config.chunk_policy.clone(),
            embedder: embedder.ok_or_else(|| missing("BOOKRAG_EMBEDDER=openai"))?,
            index: index.map_err(StartError::from)?,
            catalog: postgres_catalog(config, catalog).map_err(StartError::from)?,
            collection: config.collection.clone(),
            queue,
        })
    }

    /// Does what an event asks for, before the deadline.
    ///
    /// A batch of SQS messages is answered with those that failed, as `ReportBatchItemFailures` wants it.
    ///
    /// # Errors
    /// When the event cannot be read or served; for a batch, when none of its messages can be served.
    pub async fn handle(&self, event: Value, deadline: Deadline) -> Result<Value, HandlerError> {
        let mut metrics = Metrics::of("ingest");
        let answer = match Event::try_from(event)? {
            Event::Queue(messages) => self.serve_queue(&messages, deadline, &mut metrics).await,
            Event::Objects(objects) => {
                let served = self.serve_objects(objects, &mut metrics);
                deadline.bound(served).await
            }
            Event::Command(command) => {
                let served = Box::pin(self.command(command, &mut metrics));
                deadline.bound(served).await
            }
        };
        if let Err(HandlerError::Sync(SyncError::MassDeletion { .. })) = &answer {
            metrics.count("mass_deletions_stopped", 1);
        }
        metrics.emit();
        answer
    }

    async fn serve_objects(
        &self,
        objects: Vec<Object>,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        let objects = self.ours(objects);
        if !objects.is_empty() {
            let mut converging = self.converging().await?;
            self.serve(&mut converging, &objects, metrics).await?;
            converging.check_settings().await?;
        }
        Ok(json!({ "files": objects.len() }))
    }

    async fn serve_queue(
        &self,
        messages: &[Message],
        deadline: Deadline,
        metrics: &mut Metrics,
    ) -> Result<Value, HandlerError> {
        let mut failed: Vec<&Message> = Vec::new();
        let mut late: Vec<&Message> = Vec::new();
        let mut converging = None;
        for message in messages {
            if deadline.has_passed() {
                late.push(message);
                continue;
            }
            let served = deadline.bound(self.serve_message(message, &mut converging, metrics));
            if let Err(error) = served.await {
                let kind = error.kind();
                tracing::error!(stage = "ingest", message.id = message.id, error.kind = kind, error = %error, "the message failed");
                if matches!(error, HandlerError::Sync(SyncError::MassDeletion { .. })) {
                    metrics.count("mass_deletions_stopped", 1);
                }
                failed.push(message);
            }
        }
        if let Some(converging) = converging {
            deadline.bound(converging.check_settings()).await?;
        }
        if !self.hand_back(&late, metrics).await {
            failed.extend(late);
        }
        metrics.count("messages_failed", failed.len());
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
        let request = message.request()?;
        if let Request::Command(command) = request {
            return Box::pin(self.command(command, metrics)).await.map(drop);
        }
        let Request::Objects(objects) = request else {
            return Ok(());
        };
        let objects = self.ours(objects);
        if objects.is_empty() {
            return Ok(());
        }
        let converging = match converging {
            Some(converging) => converging,
            none => none.insert(self.converging().await?),
        };
        self.serve(converging, &objects, metrics).await
    }

    /// Puts messages that were not begun into the queue again, as new ones: they are had at once, and have not used up
    /// any of the times that a message is received before it is given up. `false` when they must fail instead.
    async fn hand_back(&self, late: &[&Message], metrics: &mut Metrics) -> bool {
        let Some(queue) = &self.queue else {
            return late.is_empty();
        };
        let bodies: Vec<String> = late.iter().map(|message| message.body.clone()).collect();
        metrics.count("messages_handed_back", bodies.len());
        match queue.send(&bodies, Duration::ZERO).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(stage = "ingest", error = %error, "the messages fail instead");
                false
            }
        }
    }

    /// Converges all documents that changes of these objects concern.
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
                metrics.count("documents_enqueued", sources.len());
                continue;
            }
            let changed = converging.converge(&sources, metrics).await?;
            if let (Changed::Yes, Some(changed_at)) = (changed, changed_at) {
                let lag = Timestamp::now().duration_since(*changed_at).as_millis();
                metrics.took("ingest_lag_ms", u64::try_from(lag).unwrap_or(0));
            }
        }
        Ok(())
    }

    /// Puts documents into the queue, one a message; without a queue they are converged here. Returns how many were put.
    async fn work_off(
        &self,
        ingest: &Ingest,
        sources: &BTreeSet<String>,
        metrics: &mut Metrics,
    ) -> Result<usize, HandlerError> {
        match &self.queue {
            Some(queue) => {
                queue.send(&one_by_one(sources), Duration::ZERO).await?;
                metrics.count("documents_enqueued", sources.len());
                Ok(sources.len())
            }
            None => {
                let mut converging = Converging::new(ingest.clone());
                converging.converge(sources, metrics).await?;
                converging.check_settings().await?;
                Ok(0)
            }
        }
    }

    /// The paths of the objects that are files of the site, with the times they changed.
    fn ours(&self, objects: Vec<Object>) -> Vec<(String, Option<Timestamp>)> {
        let ours = |object: &Object| object.bucket == self.source.bucket();
        let ours = objects.into_iter().filter(ours);
        ours.filter_map(|object| {
            let path = self.source.path_of(&object.key)?;
            Some((path.to_owned(), object.changed_at))
        })
        .collect()
    }

    async fn converging(&self) -> Result<Converging, HandlerError> {
        Ok(Converging::new(self.open(Retired::Stays).await?))
    }

    /// Reads the site's settings and finds or makes the index that is fed.
    async fn open(&self, retired: Retired) -> Result<Ingest, HandlerError> {
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
            retired,
        };
        let ingest = Ingest::open(ports, options).await?;
        for warning in &ingest.settings.warnings {
            tracing::warn!(
                stage = "ingest",
                warning,
                "the site's settings are not all read"
            );
        }
        Ok(ingest)
    }
}

/// A message for each document: one that cannot be served holds back no other.
fn one_by_one(sources: &BTreeSet<String>) -> Vec<String> {
    let message = |source: &String| {
        let command = Command::Converge {
            paths: vec![source.clone()],
        };
        json!(command).to_string()
    };
    sources.iter().map(message).collect()
}
