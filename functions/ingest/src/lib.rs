//! The ingest function: looks at the objects that events name and makes the index hold what they say now.

mod converge;
mod error;
mod events;

use bookrag::catalog::Catalog;
use bookrag::chunk::ChunkPolicy;
use bookrag::config::Config;
use bookrag::context::{StartError, hosted_embedder, postgres_catalog, vector_index};
use bookrag::embed::Embedder;
use bookrag::index::VectorIndex;
use bookrag::ingest::{Ingest, MassDeletion, SyncOptions, site_info, sync};
use bookrag::source::{S3Source, Source};
use serde_json::{Value, json};

pub use error::{ConnectError, HandlerError};
pub use events::EventError;

use converge::Converging;
use events::{Command, Event, Message, Object};

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
        let catalog = config.database_url.as_ref();
        let catalog = catalog.ok_or_else(|| missing("DATABASE_URL"))?;
        let embedder = hosted_embedder(config).map_err(StartError::from)?;
        let source = S3Source::connect(source).await?;
        Ok(Self {
            site: config.site.clone().unwrap_or_else(|| source.url()),
            source,
            policy: config.chunk_policy.clone(),
            embedder: embedder.ok_or_else(|| missing("BOOKRAG_EMBEDDER=openai"))?,
            index: vector_index(config, index).map_err(StartError::from)?,
            catalog: postgres_catalog(config, catalog).map_err(StartError::from)?,
            collection: config.collection.clone(),
        })
    }

    /// Does what an event asks for.
    ///
    /// A batch of SQS messages is answered with those that failed, as `ReportBatchItemFailures` wants it.
    ///
    /// # Errors
    /// When the event cannot be read or served; for a batch, when none of its messages can be served.
    pub async fn handle(&self, event: Value) -> Result<Value, HandlerError> {
        match Event::try_from(event)? {
            Event::Queue(messages) => self.serve_queue(&messages).await,
            Event::Objects(objects) => {
                let paths = self.paths(objects);
                if !paths.is_empty() {
                    let mut converging = Converging::new(self.open().await?);
                    converging.converge(&paths).await?;
                    converging.check_settings().await?;
                }
                Ok(json!({ "files": paths.len() }))
            }
            Event::Command(Command::Reconcile {
                allow_mass_deletion,
            }) => self.reconcile(allow_mass_deletion).await,
            Event::Command(Command::Status {}) => self.status().await,
        }
    }

    async fn serve_queue(&self, messages: &[Message]) -> Result<Value, HandlerError> {
        let mut failed = Vec::new();
        let mut converging = None;
        for message in messages {
            let served = match message.objects().map(|objects| self.paths(objects)) {
                Err(error) => Err(error.into()),
                Ok(paths) if paths.is_empty() => Ok(()),
                Ok(paths) => {
                    let converging = match &mut converging {
                        Some(converging) => converging,
                        none => none.insert(Converging::new(self.open().await?)),
                    };
                    converging.converge(&paths).await
                }
            };
            if let Err(error) = served {
                let kind = error.kind();
                tracing::error!(stage = "ingest", message.id = message.id, error.kind = kind, error = %error, "the message failed");
                failed.push(json!({ "itemIdentifier": message.id }));
            }
        }
        if let Some(converging) = converging {
            converging.check_settings().await?;
        }
        Ok(json!({ "batchItemFailures": failed }))
    }

    /// The paths of the objects that are files of the site.
    fn paths(&self, objects: Vec<Object>) -> Vec<String> {
        let ours = |object: &Object| object.bucket == self.source.bucket();
        let ours = objects.into_iter().filter(ours);
        ours.filter_map(|object| self.source.path_of(&object.key).map(str::to_owned))
            .collect()
    }

    async fn reconcile(&self, allow_mass_deletion: bool) -> Result<Value, HandlerError> {
        let mass_deletion = if allow_mass_deletion {
            MassDeletion::Allow
        } else {
            MassDeletion::Stop
        };
        let ingest = self.open().await?;
        let report = sync(&ingest, SyncOptions { mass_deletion }, |_| {}).await?;
        for file in &report.failed {
            tracing::error!(
                stage = "ingest",
                document.source = file.source,
                error = file.reason,
                "the document failed"
            );
        }
        Ok(serde_json::to_value(report).expect("a report is plain data"))
    }

    async fn status(&self) -> Result<Value, HandlerError> {
        let Some(index) = self.catalog.live_index().await? else {
            return Ok(json!({ "index": null }));
        };
        let stats = self.catalog.stats(index.index_id).await?;
        let stale = stats
            .stale
            .iter()
            .map(|(source, reason)| json!({ "source": source, "reason": reason }));
        Ok(json!({
            "index": { "id": index.index_id, "collection": index.collection, "spec": index.spec },
            "documents": stats.documents,
            "chunks": stats.chunks,
            "tokens": stats.tokens,
            "stale": stale.collect::<Vec<_>>(),
            "pending_points": self.catalog.pending_count(index.index_id).await?,
            "last_indexed_at": stats.last_indexed_at.map(|at| at.to_string()),
        }))
    }

    /// Reads the site's settings and finds or makes the index that is fed.
    async fn open(&self) -> Result<Ingest, HandlerError> {
        let source = Source::S3(self.source.clone());
        let settings = source.settings().await?;
        for warning in &settings.warnings {
            tracing::warn!(
                stage = "ingest",
                warning,
                "the site's settings are not all read"
            );
        }
        let (catalog, index) = (self.catalog.clone(), self.index.clone());
        let site = site_info(&settings, &self.site);
        let index_row = Ingest::open_index(
            &catalog,
            &index,
            &self.embedder,
            &self.policy,
            &self.collection,
            (&self.site, site),
        )
        .await?;
        Ok(Ingest {
            source,
            settings,
            site: self.site.clone(),
            policy: self.policy.clone(),
            embedder: self.embedder.clone(),
            index,
            catalog,
            index_row,
        })
    }
}
