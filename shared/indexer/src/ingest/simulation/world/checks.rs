//! Invariants at every step, and at the end.

use std::collections::{BTreeMap, BTreeSet};

use uuid::Uuid;

use super::{Failure, Seen, World, book, inputs_of};
use ::book::chunk::chunk_document;
use ::book::{list_pages, read_document};
use fakes::faults::{Part, block_on};
use models::embed::{Embedder, Embedding, FakeEmbedder, Purpose};
use store::catalog::{ChunkRow, IndexState};
use store::index::{Filters, VectorQuery};

impl World {
    /// Searches everything a reader can find, if anything changed since the last search. Returns true if it did.
    fn look(&mut self) -> bool {
        let changes = block_on(self.stores.catalog.changes()).expect("the catalog answers");
        if self.seen.changes == changes {
            return false;
        }
        let live = self.live();
        let points = block_on(self.stores.index.point_ids_after(
            &live.collection,
            None,
            usize::MAX,
        ));
        self.seen = Seen {
            changes,
            rows: self.read_rows(live.index_id),
            points: points.expect("the index answers"),
            found: self.find_all(&live.collection),
        };
        true
    }

    fn find_all(&self, collection: &str) -> BTreeSet<Uuid> {
        let query = VectorQuery {
            terms: &[],
            vector: &[1.0; FakeEmbedder::DIMENSIONS],
            tokens: &[],
            with_questions: true,
            filters: &Filters::default(),
            limit: usize::MAX,
        };
        let found = block_on(self.stores.index.search(collection, &query));
        let found = found.expect("the index answers").into_iter();
        found.map(|point| point.point_id).collect()
    }

    fn read_rows(&self, index_id: i64) -> BTreeMap<String, Vec<ChunkRow>> {
        let catalog = self.stores.tables();
        let documents = block_on(catalog.documents(index_id)).expect("the catalog answers");
        let with_rows = documents.into_iter().map(|document| {
            let rows = block_on(catalog.chunks(index_id, document.row.document_id));
            (document.row.source, rows.expect("the catalog answers"))
        });
        with_rows.collect()
    }

    /// Checks that a reader sees exactly the points of one revision of each document.
    pub(super) fn check_readers(&mut self) -> Result<(), Failure> {
        if !self.look() {
            return Ok(());
        }
        let Seen {
            rows,
            points,
            found,
            ..
        } = &self.seen;
        let mut listed = BTreeSet::new();
        for (source, rows) in rows {
            for row in rows {
                listed.insert(row.point_id);
                if !points.contains(&row.point_id) {
                    return Err(Failure(format!(
                        "{source}: the point of lines {} to {} is gone while it is listed",
                        row.start_line, row.end_line
                    )));
                }
                let index = &self.stores.index;
                if index.with_point(row.point_id, |it| it.payload.chunk_id) != row.chunk_id {
                    return Err(Failure(format!("{source}: a point holds another chunk")));
                }
            }
        }
        if *found != listed {
            return Err(Failure(format!(
                "a search finds {found:?}, the book has {listed:?}"
            )));
        }
        // Without the join, a reader would see everything in the store.
        if self.removed == Some(Part::Join) && !points.is_subset(&listed) {
            return Err(Failure(
                "a reader sees a point that is not in the book".to_owned(),
            ));
        }
        Ok(())
    }

    /// Returns the chunks of the current files, by source: id, first line and tier.
    pub(super) fn expected(&self) -> BTreeMap<String, BTreeSet<(Uuid, u32, i64)>> {
        let files = self.source.files();
        let paths = files.keys().cloned().collect();
        let settings = &book::settings(&files);
        let mut expected = BTreeMap::new();
        for page in list_pages(settings, &paths) {
            let bytes = &files[&page.source];
            let inputs = inputs_of(settings, &page, bytes, &files);
            let Ok(document) =
                read_document(settings, &self.ingest.options.site, &page, bytes, &inputs)
            else {
                continue;
            };
            let tier = document.front_matter.hardware_tier.unwrap_or(1);
            let chunks = chunk_document(&document, &self.ingest.options.policy);
            let chunks = chunks
                .into_iter()
                .map(|chunk| (chunk.chunk_id, chunk.start_line, tier))
                .collect();
            expected.insert(page.source, chunks);
        }
        expected
    }

    /// Checks that the store, the catalog and the files agree at the end. An unreadable page keeps its last good revision.
    pub(super) fn check_end(&mut self) -> Result<(), Failure> {
        let stray = self.check_rows()?;
        if stray > 0 {
            return Err(Failure(format!(
                "{stray} points are left that nothing lists"
            )));
        }
        self.check_vectors()?;
        self.check_leftovers()
    }

    /// Checks that each point has the token vectors of its text and the vectors of its questions, embedded or reused.
    fn check_vectors(&self) -> Result<(), Failure> {
        let (index, collection) = (&self.stores.index, &self.live().collection);
        let points: Vec<Uuid> = self.seen.points.iter().copied().collect();
        let stored = block_on(index.vectors(collection, &points)).expect("the index answers");
        let embedder = Embedder::Fake(FakeEmbedder::new());
        for (point_id, stored) in stored {
            let payload = index.with_point(point_id, |point| point.payload.clone());
            let windows = embedder.windows(&payload.breadcrumb, &payload.text);
            let parts = block_on(embedder.embed(&windows.texts, Purpose::Document));
            let parts = parts.expect("the fake embeds every text");
            let in_breadcrumb = embedder
                .token_words(&windows.texts[0][..windows.head])
                .len();
            let questions = block_on(embedder.embed(&payload.questions, Purpose::Document));
            let questions = questions.expect("the fake embeds every text");
            let is_same = questions.len() == stored.questions.len()
                && questions
                    .iter()
                    .zip(&stored.questions)
                    .all(|(own, stored)| is_near(&own.vector, stored));
            if !is_same {
                return Err(Failure(format!(
                    "{}: line {} has the vectors of other questions",
                    payload.source, payload.start_line
                )));
            }
            if stored.tokens != Embedding::of_windows(parts, in_breadcrumb).tokens {
                let lines = (payload.start_line, payload.end_line);
                return Err(Failure(format!(
                    "{}: the chunk of lines {lines:?} has the tokens of another text",
                    payload.source
                )));
            }
        }
        Ok(())
    }

    /// Checks that the rows, the points and the files agree. Returns the number of points that no row lists.
    pub(super) fn check_rows(&mut self) -> Result<usize, Failure> {
        let expected = self.expected();
        self.look();
        let Seen { rows, points, .. } = &self.seen;
        let mut listed = BTreeSet::new();
        for (source, rows) in rows {
            listed.extend(rows.iter().map(|row| row.point_id));
            let Some(expected) = expected.get(source) else {
                // Broken front matter is the only content that is skipped.
                let files = self.source.files();
                let broken = files
                    .get(source)
                    .is_some_and(|bytes| bytes.starts_with(b"---\ntitle: ["));
                if broken {
                    continue;
                }
                return Err(Failure(format!(
                    "{source} is in the catalog and not in the book"
                )));
            };
            let held = rows.iter().map(|row| {
                let index = &self.stores.index;
                let tier = index.with_point(row.point_id, |it| it.payload.hardware_tier);
                (row.chunk_id, row.start_line, tier)
            });
            let held: BTreeSet<_> = held.collect();
            if held != *expected {
                return Err(Failure(format!(
                    "{source}: the catalog has {held:?}, the file {expected:?}"
                )));
            }
        }
        if let Some(source) = expected.keys().find(|source| !rows.contains_key(*source)) {
            return Err(Failure(format!(
                "{source} is in the book and not in the catalog"
            )));
        }
        Ok(points.difference(&listed).count())
    }

    pub(super) fn check_leftovers(&mut self) -> Result<(), Failure> {
        let catalog = self.stores.tables();
        let indexes = block_on(catalog.indexes()).expect("the catalog answers");
        for index in &indexes {
            let pending = block_on(catalog.pending_count(index.index_id));
            if !matches!(pending, Ok(0)) {
                return Err(Failure(format!("points are still pending: {pending:?}")));
            }
        }
        let kept = indexes
            .into_iter()
            .filter(|index| index.state != IndexState::Retired);
        let kept: BTreeSet<String> = kept.map(|index| index.collection).collect();
        let collections = block_on(self.stores.index.collections()).expect("the index answers");
        if collections != kept || kept.len() != 1 {
            return Err(Failure(format!(
                "the collections are {collections:?}, the indexes' {kept:?}"
            )));
        }
        Ok(())
    }
}

/// True if two unit vectors are equal except for rounding in the store.
fn is_near(own: &[f32], stored: &[f32]) -> bool {
    own.len() == stored.len()
        && own
            .iter()
            .zip(stored)
            .all(|(own, stored)| (own - stored).abs() < 1e-4)
}
