//! Ingests one document, from its file to a commit.

use std::collections::BTreeSet;
use std::time::Duration;

use uuid::Uuid;

use super::outcome::{deleted, skipped};
use super::plan::{Plan, PlannedChunk, Vector};
use super::snapshot::Snapshot;
use super::{Change, DocumentOutcome, Ingest, IngestError, MAX_ATTEMPTS};
use book::chunk::{chunk_document, count_tokens};
use book::{
    Document, Inputs, PageFile, PageLinks, Placement, SkipReason, document_id, is_category_path,
    page_file, read_document, translations,
};
use models::embed::{Embedding, Windows};
use store::catalog::{Commit, CommitOutcome, DocumentRow, IndexRow, IndexState, StoredDocument};

impl Ingest {
    /// Makes the index hold exactly what the file at `path` contains now, whatever it held before.
    pub async fn ingest_document(&self, path: &str) -> Result<DocumentOutcome, IngestError> {
        self.ingest_without(path, &BTreeSet::new()).await
    }

    /// Like [`Self::ingest_document`], but stores the `lost` points of the document again.
    pub(super) async fn ingest_without(
        &self,
        path: &str,
        lost: &BTreeSet<Uuid>,
    ) -> Result<DocumentOutcome, IngestError> {
        let Some(page) = page_file(&self.settings, path) else {
            return self.delete_former_page(path).await;
        };
        let _at_work = self.batches.begin();
        let mut earlier = DocumentOutcome::default();
        for attempt in 0..MAX_ATTEMPTS {
            let stored = self.stored(path).await?;
            let files = self.files_of(&page).await?;
            let snapshot = self.snapshot(&page, &files).await?;
            let Some(mut outcome) = self
                .converge(&page, stored.as_ref(), &snapshot, lost)
                .await?
            else {
                continue;
            };
            outcome.embedded += earlier.embedded;
            outcome.embedded_tokens += earlier.embedded_tokens;
            outcome.embedding += earlier.embedding;
            outcome.retries = attempt;
            if outcome.change == Change::Unchanged {
                return Ok(outcome);
            }
            // Check the file again after the commit; otherwise a slow writer of an older text could overwrite a newer one.
            let files = self.files_of(&page).await?;
            let now = self.snapshot(&page, &files).await?;
            if now.fingerprint == snapshot.fingerprint {
                return Ok(outcome);
            }
            earlier = outcome;
        }
        Err(IngestError::Contended {
            path: path.to_owned(),
        })
    }

    /// Deletes the document at a path that was a page under former settings of the site.
    async fn delete_former_page(&self, path: &str) -> Result<DocumentOutcome, IngestError> {
        if !may_be_page(path) {
            return Ok(DocumentOutcome::default());
        }
        for _ in 0..MAX_ATTEMPTS {
            let stored = self.stored(path).await?;
            let present = stored.as_ref().filter(|stored| !stored.row.deleted);
            if let Some(outcome) = self.remove(path, present, &Inputs::new()).await? {
                return Ok(outcome);
            }
        }
        Err(IngestError::Contended {
            path: path.to_owned(),
        })
    }

    /// Returns the documents affected by a change of the file at `path`: itself, those that used or looked for it, and its
    /// translations, which are pages only while it is one.
    pub async fn concerned(&self, path: &str) -> Result<BTreeSet<String>, IngestError> {
        let dependents = self
            .catalog
            .dependents(self.index_row.index_id, path)
            .await?;
        let settings = &self.settings;
        let page = page_file(settings, path).filter(|page| page.locale == settings.default_locale);
        let translations = page.iter().flat_map(|page| translations(settings, page));
        Ok(dependents
            .into_iter()
            .chain(translations)
            .chain([path.to_owned()])
            .collect())
    }

    async fn stored(&self, path: &str) -> Result<Option<StoredDocument>, IngestError> {
        let index_id = self.index_row.index_id;
        Ok(self.catalog.document(index_id, path).await?)
    }

    /// Commits the snapshot. `None` if another writer committed first.
    async fn converge(
        &self,
        page: &PageFile,
        stored: Option<&StoredDocument>,
        snapshot: &Snapshot,
        lost: &BTreeSet<Uuid>,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let present = stored.filter(|stored| !stored.row.deleted);
        let Some(bytes) = &snapshot.bytes else {
            return self.remove(&page.source, present, &snapshot.inputs).await;
        };
        if let Some(stored) = present
            && stored.row.fingerprint == snapshot.fingerprint
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
        match read_document(
            &self.settings,
            &self.options.site,
            page,
            bytes,
            &snapshot.inputs,
        ) {
            Ok(mut document) => {
                if let Some(stored) = stored {
                    // Keep the stored id: version 0.1 could write one index under two site names, which gave it ids of both.
                    document.id = stored.row.document_id;
                }
                self.index_document(&document, stored, snapshot, lost).await
            }
            Err(reason) if reason.is_by_site() => {
                let removed = self.remove(&page.source, present, &snapshot.inputs).await?;
                Ok(removed.map(|outcome| match outcome.change {
                    Change::NotAPage => skipped(&reason, false),
                    _ => outcome,
                }))
            }
            Err(reason) => self.record_skip(page, stored, &reason, snapshot).await,
        }
    }

    async fn index_document(
        &self,
        document: &Document,
        stored: Option<&StoredDocument>,
        snapshot: &Snapshot,
        lost: &BTreeSet<Uuid>,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let index_id = self.index_row.index_id;
        let chunks = chunk_document(document, &self.options.policy);
        let mut old = self.catalog.chunks(index_id, document.id).await?;
        old.retain(|row| !lost.contains(&row.point_id));
        let mut plan = Plan::new(document, &chunks, &old, self.new_point_id);
        plan.find_stored_vectors(&self.catalog, &self.index, &self.index_row)
            .await?;
        plan.find_stored_questions(&self.index, &self.index_row, &old)
            .await?;
        let embedded = self.embed(&mut plan).await?;
        let intents = plan.fresh_points();
        if !intents.is_empty() {
            self.catalog
                .add_intents(index_id, document.id, &intents)
                .await?;
            self.index
                .upsert(&self.index_row.collection, plan.new_points()?)
                .await?;
        }
        let commit = Commit {
            index_id,
            document: document_row(document, &snapshot.fingerprint),
            expected_revision: stored.map_or(0, |stored| stored.revision),
            chunks: Some(plan.new_chunks(document)),
            intents,
            inputs: snapshot.inputs.keys().cloned().collect(),
        };
        if !self.commit(&self.index_row, &commit).await? {
            return Ok(None);
        }
        Ok(Some(DocumentOutcome {
            change: Change::Indexed,
            warnings: document.warnings.clone(),
            links: PageLinks::from_document(&self.settings, document),
            url: Some(document.url.clone()),
            chapter: document.placement.chapter.clone(),
            embedded: embedded.chunks,
            embedded_tokens: embedded.tokens,
            reused: plan.reused(),
            kept: plan.kept(),
            embedding: embedded.time,
            retries: 0,
            chunks,
        }))
    }

    /// Embeds the chunks and the questions for which no stored vector exists, in batches shared with other active documents.
    ///
    /// A chunk that exceeds the model's input, such as a long code block, gets the mean of its windows' vectors and the tokens of
    /// all windows.
    async fn embed(&self, plan: &mut Plan<'_>) -> Result<Embedded, IngestError> {
        let questions = plan.unknown_questions();
        let mut wanted: Vec<&mut PlannedChunk<'_>> = plan
            .chunks
            .iter_mut()
            .filter(|chunk| chunk.is_to_embed())
            .collect();
        let windows: Vec<Windows> = wanted
            .iter()
            .map(|planned| {
                let chunk = planned.chunk;
                self.embedder.windows(&chunk.breadcrumb, &chunk.text)
            })
            .collect();
        let texts: Vec<String> = windows
            .iter()
            .flat_map(|windows| &windows.texts)
            .chain(&questions)
            .cloned()
            .collect();
        let embedded = self.batches.embed(&self.embedder, &texts).await?;
        let tokens = texts
            .iter()
            .zip(&embedded.is_first)
            .filter(|(_, own)| **own)
            .map(|(text, _)| count_tokens(text) as u64)
            .sum();
        let mut embeddings = embedded.embeddings.into_iter().zip(embedded.is_first);
        let mut chunks = 0;
        for (planned, windows) in wanted.iter_mut().zip(windows) {
            let parts = embeddings.by_ref().take(windows.texts.len());
            let (parts, own): (Vec<Embedding>, Vec<bool>) = parts.unzip();
            let is_own = own.contains(&true);
            chunks += usize::from(is_own);
            let embedding = self.joined(&windows, parts);
            planned.vector = if is_own {
                Vector::Ready(embedding)
            } else {
                Vector::Reused(embedding)
            };
        }
        let vectors = embeddings.map(|(embedding, _)| embedding.vector);
        plan.add_questions(questions.into_iter().zip(vectors));
        Ok(Embedded {
            chunks,
            tokens,
            time: embedded.time,
        })
    }

    fn joined(&self, windows: &Windows, parts: Vec<Embedding>) -> Embedding {
        let breadcrumb = &windows.texts[0][..windows.head];
        let in_breadcrumb = match parts.len() {
            1 => 0,
            _ => self.embedder.token_words(breadcrumb).len(),
        };
        Embedding::of_windows(parts, in_breadcrumb)
    }

    async fn record_skip(
        &self,
        page: &PageFile,
        stored: Option<&StoredDocument>,
        reason: &SkipReason,
        snapshot: &Snapshot,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let last_good = stored.filter(|stored| !stored.row.deleted && stored.chunk_count > 0);
        let row = match (last_good, stored) {
            (Some(stored), _) => stored.row.clone(),
            (None, Some(stored)) => empty_row(page, stored.row.document_id),
            (None, None) => empty_row(page, document_id(&self.options.site, &page.source)),
        };
        let commit = Commit {
            index_id: self.index_row.index_id,
            document: DocumentRow {
                fingerprint: snapshot.fingerprint.clone(),
                skip_reason: Some(reason.to_string()),
                deleted: false,
                ..row
            },
            expected_revision: stored.map_or(0, |stored| stored.revision),
            chunks: None,
            intents: Vec::new(),
            inputs: snapshot.inputs.keys().cloned().collect(),
        };
        let committed = self.commit(&self.index_row, &commit).await?;
        Ok(committed.then(|| skipped(reason, last_good.is_some())))
    }

    /// Removes a document that is no longer a page from every index. Other indexes are written by deployments with other settings,
    /// which may not receive the event. `None` if another writer committed first.
    async fn remove(
        &self,
        path: &str,
        present: Option<&StoredDocument>,
        inputs: &Inputs,
    ) -> Result<Option<DocumentOutcome>, IngestError> {
        let mut outcome = DocumentOutcome::default();
        if let Some(stored) = present {
            if !self.delete(&self.index_row, stored, inputs).await? {
                return Ok(None);
            }
            outcome = deleted();
        }
        for other in self.catalog.indexes().await? {
            if other.index_id == self.index_row.index_id || other.state == IndexState::Retired {
                continue;
            }
            let stored = self.catalog.document(other.index_id, path).await?;
            let present = stored.as_ref().filter(|stored| !stored.row.deleted);
            if let Some(stored) = present
                && !self.delete(&other, stored, inputs).await?
            {
                return Ok(None);
            }
        }
        Ok(Some(outcome))
    }

    /// Replaces the document by a tombstone. `false` if another writer committed first.
    async fn delete(
        &self,
        index: &IndexRow,
        stored: &StoredDocument,
        inputs: &Inputs,
    ) -> Result<bool, IngestError> {
        let commit = Commit {
            index_id: index.index_id,
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
        self.commit(index, &commit).await
    }

    /// Commits, and deletes the points that the change replaced. `false` if another writer committed first.
    async fn commit(&self, index: &IndexRow, commit: &Commit) -> Result<bool, IngestError> {
        let turn = self.batches.commit_turn().await;
        let outcome = self.catalog.commit(commit).await?;
        drop(turn);
        match outcome {
            CommitOutcome::Conflict => Ok(false),
            CommitOutcome::Retired => Err(IngestError::Retired),
            CommitOutcome::Committed { garbage } => {
                // The change is committed. Points that cannot be deleted now are pending, and the sweep deletes them.
                if let Err(error) = self.delete_garbage(index, &garbage).await {
                    tracing::warn!(stage = "sweep", error = %error, points = garbage.len(), "leaving old points to the sweep");
                }
                Ok(true)
            }
        }
    }

    async fn delete_garbage(&self, index: &IndexRow, points: &[Uuid]) -> Result<(), IngestError> {
        if points.is_empty() {
            return Ok(());
        }
        self.index.delete(&index.collection, points).await?;
        self.catalog.forget(index.index_id, points).await?;
        Ok(())
    }
}

struct Embedded {
    chunks: usize,
    tokens: u64,
    time: Duration,
}

/// True if the extension allows the file to be a page, now or under other settings.
fn may_be_page(path: &str) -> bool {
    is_category_path(path)
        || [".md", ".mdx", ".html"]
            .iter()
            .any(|extension| path.ends_with(extension))
}

fn document_row(document: &Document, fingerprint: &str) -> DocumentRow {
    DocumentRow {
        document_id: document.id,
        source: document.file.source.clone(),
        title: document.title.clone(),
        url: document.url.clone(),
        locale: document.file.locale.clone(),
        version: document.file.version_in_site(),
        lesson_id: document.placement.id(),
        placement: document.placement.clone(),
        fingerprint: fingerprint.to_owned(),
        skip_reason: None,
        deleted: false,
    }
}

/// Returns the row of a page that has never been read successfully.
fn empty_row(page: &PageFile, document_id: Uuid) -> DocumentRow {
    DocumentRow {
        document_id,
        source: page.source.clone(),
        title: String::new(),
        url: String::new(),
        locale: page.locale.clone(),
        version: page.version_in_site(),
        lesson_id: None,
        placement: Placement::default(),
        fingerprint: String::new(),
        skip_reason: None,
        deleted: false,
    }
}
