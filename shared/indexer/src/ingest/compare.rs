//! Compares the vector store with the catalog in both directions.
//!
//! The ingest protocol keeps them equal. They can differ after a restored backup, a lost disk or a manual deletion.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use futures::{StreamExt, TryStreamExt, stream};
use uuid::Uuid;

use super::plan::hash;
use super::{Change, Ingest, IngestError};
use models::embed::Embedding;
use store::catalog::{JoinedChunk, StoredDocument};
use store::index::{Filters, PlacedBy, VectorQuery};
use text::terms_in;

const READS: usize = 8;
/// Documents whose reads are prepared together: a prepared read takes memory, too.
const DOCUMENTS_AT_ONCE: usize = 128;
/// Missing points that are checked again in one call.
const POINTS_AT_ONCE: usize = 1_000;

/// Ids that are read at once from each store. Few in tests, whose books are small.
const RANGE: usize = if cfg!(test) { 3 } else { 10_000 };
/// A comparison ends after this many differences.
const MOST_DIFFERENCES: usize = 100_000;

/// Differences between the vector store and the catalog.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Differences {
    /// Stored points that the catalog does not know: they belong to no chunk and are not pending.
    pub stray: Vec<Uuid>,
    /// Points of chunks that the store does not hold, by their document's source.
    pub lost: BTreeMap<String, BTreeSet<Uuid>>,
}

/// Differences of the points whose ids are in a range.
struct ComparedRange {
    stray: Vec<Uuid>,
    /// Points of chunks that the store did not hold when it was read.
    missing: Vec<Uuid>,
    /// The last id of the range; `None` if no more follow.
    last: Option<Uuid>,
}

/// What the stores hold of a document.
#[derive(Default)]
struct Stored {
    vectors: HashMap<Uuid, Embedding>,
    /// The number of chunks whose text or metadata differs from its hash.
    altered: usize,
    /// The number of chunks that have another title or URL than their document.
    renamed: usize,
}

impl Ingest {
    /// Compares the store's points with the catalog's. Writers may be active. It ends early after [`MOST_DIFFERENCES`], so that its memory does not
    /// grow with the book; the next comparison finds the rest.
    pub async fn compare(&self) -> Result<Differences, IngestError> {
        let collection = &self.index_row.collection;
        let exists = self.index.has_collection(collection).await?;
        let mut differences = Differences::default();
        let mut found = 0;
        let mut after = None;
        while found < MOST_DIFFERENCES {
            let range = self.compare_after(after, exists).await?;
            found += range.stray.len() + range.missing.len();
            differences.stray.extend(range.stray);
            for (source, points) in self.lost(exists, &range.missing).await? {
                differences.lost.entry(source).or_default().extend(points);
            }
            match range.last {
                Some(last) => after = Some(last),
                None => break,
            }
        }
        Ok(differences)
    }

    /// Compares the points behind `after` in the order of their ids, as far as one page of both stores reaches.
    async fn compare_after(
        &self,
        after: Option<Uuid>,
        exists: bool,
    ) -> Result<ComparedRange, IngestError> {
        // Read the points first: an id is written to the catalog before its point is stored, so a stored point that the catalog
        // does not know afterwards is stray, or was deleted in between.
        let mut stored = if exists {
            let collection = &self.index_row.collection;
            self.index.point_ids_after(collection, after, RANGE).await?
        } else {
            BTreeSet::new()
        };
        let index_id = self.index_row.index_id;
        let known = self.catalog.known_points(index_id, after, RANGE).await?;
        let ends = [
            page_end(stored.len(), stored.last().copied()),
            page_end(known.len(), known.last().map(|(point, _)| *point)),
        ];
        let last = ends.into_iter().flatten().min();
        let is_within = |point: &Uuid| last.is_none_or(|last| *point <= last);
        let mut missing = Vec::new();
        for (point, is_used) in known.into_iter().filter(|(point, _)| is_within(point)) {
            if !stored.remove(&point) && is_used {
                missing.push(point);
            }
        }
        Ok(ComparedRange {
            stray: stored.into_iter().filter(is_within).collect(),
            missing,
            last,
        })
    }

    /// Returns the points among `missing` that a chunk has but the store still lacks, by their document's source.
    async fn lost(
        &self,
        exists: bool,
        missing: &[Uuid],
    ) -> Result<BTreeMap<String, BTreeSet<Uuid>>, IngestError> {
        let mut lost: BTreeMap<String, BTreeSet<Uuid>> = BTreeMap::new();
        for points in missing.chunks(POINTS_AT_ONCE) {
            // A missing point may have been stored or replaced since. Check again, the store before the catalog: the point is lost
            // only if a chunk still has it.
            let found = if exists {
                self.index
                    .vectors(&self.index_row.collection, points)
                    .await?
            } else {
                HashMap::new()
            };
            let index_id = self.index_row.index_id;
            let sources = self.catalog.sources_of_points(index_id, points).await?;
            for (point, source) in sources {
                if !found.contains_key(&point) {
                    lost.entry(source).or_default().insert(point);
                }
            }
        }
        Ok(lost)
    }

    /// Reads all vectors and texts, and runs a dense and a full-text search with every filter for a chunk of each locale and version:
    /// a damaged store may still list its ids. Returns the problems found; [`Self::compare`] finds missing points.
    pub async fn damage(&self) -> Result<Vec<String>, IngestError> {
        let collection = &self.index_row.collection;
        if !self.index.has_collection(collection).await? {
            return Ok(Vec::new());
        }
        let mut damage = Vec::new();
        let mut editions: BTreeMap<(String, String), (String, Vec<f32>)> = BTreeMap::new();
        let documents = self.catalog.documents(self.index_row.index_id).await?;
        for documents in documents.chunks(DOCUMENTS_AT_ONCE) {
            let reads: Vec<_> = documents.iter().map(|it| self.stored_chunks(it)).collect();
            let mut reads = stream::iter(reads).buffered(READS);
            for StoredDocument { row, .. } in documents {
                let Stored {
                    vectors,
                    altered,
                    renamed,
                } = reads.try_next().await?.unwrap_or_default();
                let (intact, broken): (Vec<_>, Vec<_>) = vectors
                    .into_values()
                    .map(|stored| stored.vector)
                    .partition(|vector| self.is_embedding(vector));
                let broken = broken.len();
                let source = &row.source;
                if altered > 0 {
                    damage.push(format!(
                        "{source}: the text of {altered} chunks is not what was indexed"
                    ));
                }
                if renamed > 0 {
                    damage.push(format!(
                        "{source}: its title or URL is not that of its {renamed} chunks"
                    ));
                }
                if broken > 0 {
                    damage.push(format!(
                        "{source}: the vectors of {broken} chunks are broken"
                    ));
                }
                if let Some(vector) = intact.into_iter().next() {
                    let edition = editions.entry((row.locale.clone(), row.version.clone()));
                    edition.or_insert_with(|| (row.source.clone(), vector));
                }
            }
        }
        for (source, vector) in editions.into_values() {
            if !self.finds(&source, &vector).await? {
                damage.push(format!(
                    "{source}: searches with filters do not find its chunks"
                ));
            }
        }
        Ok(damage)
    }

    async fn stored_chunks(&self, document: &StoredDocument) -> Result<Stored, IngestError> {
        let (index, row) = (self.index_row.index_id, &document.row);
        let chunks = self.catalog.chunks(index, row.document_id).await?;
        let points: Vec<Uuid> = chunks.iter().map(|chunk| chunk.point_id).collect();
        let collection = &self.index_row.collection;
        let vectors = self.index.vectors(collection, &points).await?;
        // Chunks whose metadata cannot be read are left out of the join.
        let joined: HashMap<Uuid, JoinedChunk> = self
            .catalog
            .join(index, &points)
            .await?
            .into_iter()
            .map(|joined| (joined.point_id, joined))
            .collect();
        let as_indexed = chunks.iter().filter(|chunk| {
            joined.get(&chunk.point_id).is_some_and(|joined| {
                hash(&joined.payload.embedded_text()) == chunk.text_hash
                    && joined.payload.hash() == chunk.payload_hash
            })
        });
        // A page that cannot be read keeps its former chunks.
        let renamed = joined.values().filter(|joined| {
            row.skip_reason.is_none()
                && (&joined.payload.title, &joined.payload.url) != (&row.title, &row.url)
        });
        Ok(Stored {
            vectors,
            altered: chunks.len() - as_indexed.count(),
            renamed: renamed.count(),
        })
    }

    /// True if a dense and a full-text search with all filters both find a chunk of the page.
    async fn finds(&self, source: &str, vector: &[f32]) -> Result<bool, IngestError> {
        let collection = &self.index_row.collection;
        let of_the_page = Filters {
            source: Some(source.to_owned()),
            ..Filters::default()
        };
        let by_source = query(vector, &[], &of_the_page);
        let found = self.index.search(collection, &by_source).await?;
        let points: Vec<Uuid> = found.iter().map(|point| point.point_id).collect();
        let chunks = self.catalog.join(self.index_row.index_id, &points).await?;
        let Some(JoinedChunk { payload, .. }) = chunks.into_iter().next() else {
            return Ok(false);
        };
        let by_title = Filters::fulfilled_by(payload.clone(), PlacedBy::Title);
        let by_number = Filters::fulfilled_by(payload.clone(), PlacedBy::Number);
        let terms = terms_in(&payload.text, &[payload.language()]);
        let by_title = query(vector, &[], &by_title);
        let by_number = query(&[], &terms, &by_number);
        let (dense, lexical) = tokio::try_join!(
            self.index.search(collection, &by_title),
            self.index.search(collection, &by_number)
        )?;
        Ok(!dense.is_empty() && !lexical.is_empty())
    }

    /// True if a vector has the index's dimensions and a length of about 1, as every embedder returns.
    fn is_embedding(&self, vector: &[f32]) -> bool {
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.len() == self.index_row.spec.dimensions && (0.9..1.1).contains(&length)
    }

    /// Deletes stray points and restores lost ones. Returns the sources that were restored.
    pub async fn repair(&self, differences: &Differences) -> Result<Vec<String>, IngestError> {
        self.index
            .delete(&self.index_row.collection, &differences.stray)
            .await?;
        let mut restored = Vec::new();
        for (source, points) in &differences.lost {
            let outcome = self.ingest_without(source, points).await?;
            if matches!(outcome.change, Change::Indexed | Change::Deleted) {
                restored.push(source.clone());
            }
        }
        Ok(restored)
    }
}

/// Returns the last id of a full page; `None` if the page reaches to the end.
fn page_end(length: usize, last: Option<Uuid>) -> Option<Uuid> {
    last.filter(|_| length >= RANGE)
}

/// Returns a search for the best chunk; it is a full-text search if the vector is empty.
fn query<'a>(vector: &'a [f32], terms: &'a [String], filters: &'a Filters) -> VectorQuery<'a> {
    VectorQuery {
        terms,
        vector,
        tokens: &[],
        with_questions: false,
        filters,
        limit: 1,
    }
}
