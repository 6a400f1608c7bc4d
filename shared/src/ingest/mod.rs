//! The pipeline from a file to chunks that readers find: read → chunk → plan → embed → upsert → commit → sweep.
//!
//! The catalog is the root: a point that it does not list is not in the book, and a commit is the moment of change.

mod plan;
mod outcome;
mod report;
mod site;
mod compare;
mod sync;
#[cfg(all(test, feature = "embedded"))]
mod simulation;

use std::collections::{BTreeSet, HashMap};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use uuid::Uuid;

use crate::book::{
    Document, Inputs, PageFile, SiteSettings, SkipReason, default_source, document_id, fingerprint,
    own_translation, page_file, read_document, source_in,
};
use crate::catalog::{
    Catalog, CatalogError, ChunkRow, Commit, CommitOutcome, DocumentRow, IndexRow, IndexSpec,
    NewIndex, SiteInfo, StoredDocument,
};
use crate::chunk::{Chunk, ChunkPolicy, EMBEDDED_TEXT_VERSION, chunk_document};
use crate::embed::{EmbedError, Embedder, Purpose};
use crate::index::{BM25_SETTINGS, IndexError, NewPoint, VectorIndex};
use crate::source::{Source, SourceError};

pub use compare::Differences;
pub use outcome::{Change, DocumentOutcome};
pub use report::{Report, SkippedFile};
pub use site::site_info;
pub use sync::{MassDeletion, Progress, SyncError, SyncOptions, sync};

use outcome::{deleted, skipped};
use plan::{Plan, PlannedChunk, Vectors};

/// How often a document is started over when another writer, or the author, was faster.
const MAX_ATTEMPTS: usize = 5;
/// Intents older than this are swept: longer than an invocation lives.
const SWEEP_AGE: Duration = Duration::from_mins(15);
/// Texts in one call of the embedder.
const EMBED_BATCH: usize = 64;

/// All that converging a document needs.
#[derive(Debug, Clone)]
pub struct Ingest {
    /// Where the files are.
    pub source: Source,
    /// The site's settings.
    pub settings: SiteSettings,
    /// The site's name, part of every document's id.
    pub site: String,
    /// How documents are cut.
    pub policy: ChunkPolicy,
    /// What makes vectors.
    pub embedder: Embedder,
    /// Where they go.
    pub index: VectorIndex,
    /// The root.
    pub catalog: Catalog,
    /// The index that is fed.
    pub index_row: IndexRow,
}

/// Why a document could not be converged; it stays at its last revision.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The files.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The catalog.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The vector store.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The embedder.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// Others kept changing it.
    #[error("{path} changed during each of {MAX_ATTEMPTS} attempts")]
    Contended {
        /// The file.
        path: String,
    },
    /// The index was retired meanwhile.
    #[error("the index is retired")]
    Retired,
}

/// A file as it is now, with all that reading it uses.
struct Look {
    bytes: Option<Vec<u8>>,
    inputs: Inputs,
    fingerprint: String,
}

impl Ingest {
    /// Finds or creates the index for what this process embeds, and its collection. The collection is the site's own:
    /// another book in the same store has another.
    pub async fn open_index(
        catalog: &Catalog,
        index: &VectorIndex,
        embedder: &Embedder,
        policy: &ChunkPolicy,
        collection_prefix: &str,
        (site_name, site): (&str, SiteInfo),
    ) -> Result<IndexRow, IngestError> {
        let identity = embedder.identity();
        let spec = IndexSpec {
            embedder: identity.name.clone(),
            embedder_fingerprint: identity.fingerprint.clone(),
            dimensions: identity.dimensions,
            chunk_policy: policy.name.to_owned(),
            embedded_text_version: EMBEDDED_TEXT_VERSION,
            bm25: BM25_SETTINGS.to_owned(),
        };
        let json = serde_json::to_string(&spec).expect("an index's version serialises");
        let collection = format!(
            "{collection_prefix}_{}",
            &plan::hash(&format!("{site_name}\n{json}"))[..8]
        );
        let new = NewIndex {
            spec,
            collection,
            site,
        };
        let row = catalog.ensure_index(&new).await?;
        index
            .ensure_collection(&row.collection, row.spec.dimensions)
            .await?;
        Ok(row)
    }

    /// Makes the index hold exactly what the file at `path` says now, whatever it held before.
    pub async fn ingest_document(&self, path: &str) -> Result<DocumentOutcome, IngestError> {
        self.ingest_without(path, &BTreeSet::new()).await
    }

    /// As [`Self::ingest_document`], of a document some of whose points are `lost`: they are stored anew.
    async fn ingest_without(
        &self,
        path: &str,
        lost: &BTreeSet<Uuid>,
    ) -> Result<DocumentOutcome, IngestError> {
        let Some(page) = page_file(&self.settings, path) else {
            return self.delete_former_page(path).await;
        };
        let mut embedded = 0;
        let mut embedding = Duration::ZERO;
        for attempt in 0..MAX_ATTEMPTS {
            #[cfg(test)]
            crate::faults::with(|script| script.started_over += usize::from(attempt > 0));
            let stored = self.stored(path).await?;
            let look = self.look(&page).await?;
            let Some(mut outcome) = self.converge(&page, stored.as_ref(), &look, lost).await?
            else {
                continue;
            };
            embedded += outcome.embedded;
            embedding += outcome.embedding;
            // What was committed must still be there: else a slow writer of an older text would have the last word.
            let look_again = outcome.change != Change::Unchanged;
            #[cfg(test)]
            let look_again =
                look_again && !crate::faults::removed(crate::faults::Part::LookAfterCommit);
            if look_again && self.look(&page).await?.fingerprint != look.fingerprint {
                continue;
            }
            outcome.embedded = embedded;
            outcome.embedding = embedding;
            outcome.retries = attempt;
            return Ok(outcome);
        }
        Err(IngestError::Contended {
            path: path.to_owned(),
        })
    }

    /// A path that is no page may have been one before the site's settings changed.
    async fn delete_former_page(&self, path: &str) -> Result<DocumentOutcome, IngestError> {
        for _ in 0..MAX_ATTEMPTS {
            let Some(stored) = self
                .stored(path)
                .await?
                .filter(|stored| !stored.row.deleted)
            else {
                return Ok(DocumentOutcome::default());
            };
            if self.delete(&stored, &Inputs::new()).await? {
                return Ok(deleted());
            }
        }
        Err(IngestError::Contended {
            path: path.to_owned(),
        })
    }

    /// The documents that a change of the file at `path` concerns: itself, those that used or looked for it, and its
    /// translations, which are pages only as long as it is one.
    pub async fn concerned(&self, path: &str) -> Result<BTreeSet<String>, IngestError> {
        let dependents = self
            .catalog
            .dependents(self.index_row.index_id, path)
            .await?;
        let settings = &self.settings;
        let page = page_file(settings, path).filter(|page| page.locale == settings.default_locale);
        let translations = page.iter().flat_map(|page| {
            let locales = settings.locales.iter();
            locales.map(|locale| source_in(settings, page, locale))
        });
        Ok(dependents
            .into_iter()
            .chain(translations)
            .chain([path.to_owned()])
            .collect())
    }

    async fn stored(&self, path: &str) -> Result<Option<StoredDocument>, IngestError> {
        let id = document_id(&self.site, path);
        Ok(self.catalog.document(self.index_row.index_id, id).await?)
    }

    /// Reads the file and all that reading it uses, as they are now.
    async fn look(&self, page: &PageFile) -> Result<Look, IngestError> {
        // A translation of no page is none; a page that the default locale's own translation stands in for neither.
        let translated = default_source(&self.settings, page);
        let mut exists =
            translated == page.source || self.source.read(&translated).await?.is_some();
        let mut inputs = Inputs::new();
        if let Some(path) = own_translation(&self.settings, page) {
            let content = self.source.read(&path).await?;
            exists &= content.is_none();
            inputs.insert(path, content);
        }
        let bytes = if exists {
            self.source.read(&page.source).await?
        } else {
            None
        };
        if let Some(bytes) = &bytes {
            inputs.extend(self.source.inputs(&self.settings, page, bytes).await?);
        }
        let fingerprint = match &bytes {
            Some(bytes) => fingerprint(&self.settings.reading_key(), bytes, &inputs),
            None => String::new(),
        };
        Ok(Look {
            bytes,
            inputs,
            fingerprint,
        })
    }

    /// Commits what was seen. `None` when another writer was first.
    async fn converge(
        &self,
        page: &PageFile,
        stored: Option<&StoredDocument>,
        look: &Look,
        lost: &BTreeSet<Uuid>,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let present = stored.filter(|stored| !stored.row.deleted);
        let Some(bytes) = &look.bytes else {
            return match present {
                None => Ok(Some(DocumentOutcome::default())),
                Some(stored) => Ok(self.delete(stored, &look.inputs).await?.then(deleted)),
            };
        };
        if let Some(stored) = present
            && stored.row.fingerprint == look.fingerprint
            && lost.is_empty()
        {
            let change = match &stored.row.skip_reason {
                Some(reason) => Change::Skipped {
                    reason: reason.clone(),
                    stale: stored.chunk_count > 0,
                },
                None => Change::Unchanged,
            };
            return Ok(Some(DocumentOutcome {
                change,
                url: Some(stored.row.url.clone()),
                ..DocumentOutcome::default()
            }));
        }
        match read_document(&self.settings, &self.site, page, bytes, &look.inputs) {
            Ok(document) => self.index_document(&document, stored, look, lost).await,
            Err(SkipReason::Draft) => match present {
                None => Ok(Some(skipped(&SkipReason::Draft, false))),
                Some(stored) => Ok(self.delete(stored, &look.inputs).await?.then(deleted)),
            },
            Err(reason) => self.record_skip(page, stored, &reason, look).await,
        }
    }

    async fn index_document(
        &self,
        document: &Document,
        stored: Option<&StoredDocument>,
        look: &Look,
        lost: &BTreeSet<Uuid>,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let index_id = self.index_row.index_id;
        let chunks = chunk_document(document, &self.policy);
        let mut old = self.catalog.chunks(index_id, document.id).await?;
        old.retain(|row| !lost.contains(&row.point_id));
        let mut plan = Plan::new(document, &chunks, &old, &self.embedder);
        plan.find_stored_vectors(&self.catalog, &self.index, &self.index_row)
            .await?;
        let started = Instant::now();
        let embedded = self.embed(&mut plan).await?;
        let embedding = started.elapsed();
        let fresh = plan.fresh_points();
        let intents = fresh.clone();
        #[cfg(test)]
        let intents = if crate::faults::removed(crate::faults::Part::Intents) {
            Vec::new()
        } else {
            intents
        };
        if !fresh.is_empty() {
            self.catalog
                .add_intents(index_id, document.id, &intents)
                .await?;
            self.index
                .upsert(&self.index_row.collection, plan.new_points()?)
                .await?;
        }
        let commit = Commit {
            index_id,
            document: document_row(document, &look.fingerprint),
            expected_revision: stored.map_or(0, |stored| stored.revision),
            chunks: Some(plan.chunk_rows(document)),
            intents,
            inputs: look.inputs.keys().cloned().collect(),
        };
        if !self.commit(&commit).await? {
            return Ok(None);
        }
        Ok(Some(DocumentOutcome {
            change: Change::Indexed,
            warnings: document.warnings.clone(),
            url: Some(document.url.clone()),
            chapter: document.lesson.chapter.clone(),
            embedded,
            reused: plan.reused(),
            kept: plan.kept(),
            embedding,
            retries: 0,
            chunks,
        }))
    }

    /// Embeds the chunks that no stored vectors serve. Returns how many.
    async fn embed(&self, plan: &mut Plan<'_>) -> Result<usize, IngestError> {
        let mut wanted: Vec<&mut PlannedChunk<'_>> = plan
            .chunks
            .iter_mut()
            .filter(|chunk| matches!(chunk.vectors, Vectors::ToEmbed))
            .collect();
        let texts: Vec<String> = wanted
            .iter()
            .flat_map(|chunk| chunk.windows.clone())
            .flatten()
            .collect();
        let mut rows = Vec::with_capacity(texts.len());
        for batch in texts.chunks(EMBED_BATCH) {
            rows.extend(self.embedder.embed(batch, Purpose::Document).await?);
        }
        let mut rows = rows.into_iter();
        for chunk in &mut wanted {
            let count = chunk.windows.iter().map(Vec::len).sum();
            chunk.vectors = Vectors::Ready(rows.by_ref().take(count).collect());
        }
        Ok(wanted.len())
    }

    async fn record_skip(
        &self,
        page: &PageFile,
        stored: Option<&StoredDocument>,
        reason: &SkipReason,
        look: &Look,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let last_good = stored.filter(|stored| !stored.row.deleted && stored.chunk_count > 0);
        let row = match last_good {
            Some(stored) => stored.row.clone(),
            None => empty_row(page, document_id(&self.site, &page.source)),
        };
        let commit = Commit {
            index_id: self.index_row.index_id,
            document: DocumentRow {
                fingerprint: look.fingerprint.clone(),
                skip_reason: Some(reason.to_string()),
                deleted: false,
                ..row
            },
            expected_revision: stored.map_or(0, |stored| stored.revision),
            chunks: None,
            intents: Vec::new(),
            inputs: look.inputs.keys().cloned().collect(),
        };
        let committed = self.commit(&commit).await?;
        Ok(committed.then(|| skipped(reason, last_good.is_some())))
    }

    /// Leaves a tombstone. `false` when another writer was first.
    async fn delete(&self, stored: &StoredDocument, inputs: &Inputs) -> Result<bool, IngestError> {
        let commit = Commit {
            index_id: self.index_row.index_id,
            document: DocumentRow {
                fingerprint: String::new(),
                skip_reason: None,
                deleted: true,
                ..stored.row.clone()
            },
            expected_revision: stored.revision,
            chunks: Some(Vec::new()),
            intents: Vec::new(),
            inputs: inputs.keys().cloned().collect(),
        };
        self.commit(&commit).await
    }

    /// Commits, and deletes the points that the change replaced. `false` when another writer was first.
    async fn commit(&self, commit: &Commit) -> Result<bool, IngestError> {
        match self.catalog.commit(commit).await? {
            CommitOutcome::Conflict => Ok(false),
            CommitOutcome::Retired => Err(IngestError::Retired),
            CommitOutcome::Committed { garbage } => {
                // The change is made; garbage that cannot be deleted now is on the list that the sweep works off.
                if let Err(error) = self.delete_garbage(&garbage).await {
                    tracing::warn!(stage = "sweep", error = %error, points = garbage.len(), "garbage is left to the sweep");
                }
                Ok(true)
            }
        }
    }

    async fn delete_garbage(&self, points: &[Uuid]) -> Result<(), IngestError> {
        if points.is_empty() {
            return Ok(());
        }
        self.index
            .delete(&self.index_row.collection, points)
            .await?;
        self.catalog.forget(self.index_row.index_id, points).await?;
        Ok(())
    }

    /// Deletes the points that writers left behind. Returns how many rows are done with.
    pub async fn sweep(&self) -> Result<usize, IngestError> {
        let pending = self
            .catalog
            .claim_pending(self.index_row.index_id, SWEEP_AGE)
            .await?;
        let points: Vec<Uuid> = pending.iter().map(|pending| pending.point_id).collect();
        self.index
            .delete(&self.index_row.collection, &points)
            .await?;
        let done: Vec<Uuid> = pending
            .iter()
            .filter(|pending| pending.last_time)
            .map(|pending| pending.point_id)
            .collect();
        self.catalog.forget(self.index_row.index_id, &done).await?;
        Ok(done.len())
    }
}

fn document_row(document: &Document, fingerprint: &str) -> DocumentRow {
    DocumentRow {
        document_id: document.id,
        source: document.file.source.clone(),
        title: document.title.clone(),
        url: document.url.clone(),
        locale: document.file.locale.clone(),
        version: document.file.version.clone(),
        lesson_id: document.lesson.id(),
        lesson: document.lesson.clone(),
        fingerprint: fingerprint.to_owned(),
        skip_reason: None,
        deleted: false,
    }
}

/// The row of a page that could never be read.
fn empty_row(page: &PageFile, document_id: Uuid) -> DocumentRow {
    DocumentRow {
        document_id,
        source: page.source.clone(),
        title: String::new(),
        url: String::new(),
        locale: page.locale.clone(),
        version: page.version.clone(),
        lesson_id: None,
        lesson: crate::book::Lesson::default(),
        fingerprint: String::new(),
        skip_reason: None,
        deleted: false,
    }
}
