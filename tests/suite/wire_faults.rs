//! What goes wrong on the wire of an ingest: how it ends, that the last revision stays, and that the next run is right.

mod catalog;
mod embedder;
mod provider;
mod store;

use std::{fs, time::Duration};

use bookrag::{
    catalog::{ChunkRow, StoredDocument},
    ingest::{Change, Differences, DocumentOutcome, Ingest, IngestError, Ports},
};
use bookrag_tests::backends::Backends;
use tempfile::TempDir;
use tokio::time::timeout;

/// The page that changes.
const PAGE: &str = "docs/frost.md";
const FIRST: &str = "# Frost\n\nCover the seedlings before the night falls below zero.\n\n\
    ## Signs\n\nA clear sky, no wind, and a low moon.\n";
/// No section of it is as it was: all are embedded, and none takes over stored vectors.
const EDITED: &str = "# Frost\n\nFleece with zirconium threads keeps four degrees more.\n\n\
    ## Signs\n\nThe grass is stiff before sunrise.\n";
/// A word that only the edited page has, and whatever is sent of it.
const MARKER: &str = "zirconium";
/// A page that stays as it is.
const OTHER: (&str, &str) = (
    "docs/soil.md",
    "# Soil\n\nSand drains quickly, clay holds water.\n",
);

/// The longest time for a call, whatever is wrong: several of the clients' own limits.
const BOUND: Duration = Duration::from_mins(2);
/// The limit of clients that are to give up.
const IMPATIENT: Duration = Duration::from_secs(1);
/// The limit of clients that are to be told: a machine that compiles as well is slow.
const PATIENT: Duration = Duration::from_secs(15);

/// Makes all pending points old enough to be swept.
const AGE: &str = "UPDATE pending_points
    SET created_at = created_at - interval '1 hour', claimed_at = claimed_at - interval '1 hour'";

/// A book of two pages that was indexed; since then one was edited.
struct World {
    backends: Backends,
    folder: TempDir,
    /// An ingest over wires that never break.
    direct: Ingest,
    /// The page as it was indexed.
    before: Page,
}

/// A page as the catalog has it.
type Page = (StoredDocument, Vec<ChunkRow>);

impl World {
    async fn start(database: &str) -> Self {
        let backends = Backends::start(database).await;
        let folder = book();
        backends.fill(folder.path()).await;
        let direct = Backends::open(backends.ports(folder.path())).await.unwrap();
        let before = page(&direct).await;
        fs::write(folder.path().join(PAGE), EDITED).unwrap();
        Self {
            backends,
            folder,
            direct,
            before,
        }
    }

    /// Ports over wires that never break.
    fn ports(&self) -> Ports {
        self.backends.ports(self.folder.path())
    }

    /// Ingests the page, which fails and leaves its last revision.
    async fn fail(&self, ingest: &Ingest) -> IngestError {
        let failure = run(ingest).await.unwrap_err();
        self.assert_last_revision().await;
        failure
    }

    /// Ingests the page, which succeeds, whatever was left behind before.
    async fn succeed(&self, ingest: &Ingest) {
        assert_eq!(run(ingest).await.unwrap().change, Change::Indexed);
        self.assert_next_revision(ingest).await;
    }

    /// Checks that the page is as before the edit, all its points are there, and the catalog knows every other.
    async fn assert_last_revision(&self) {
        assert_eq!(page(&self.direct).await, self.before);
        let differences = self.direct.compare().await.unwrap();
        assert_eq!(differences, Differences::default());
    }

    /// Checks that the page is as edited, by one revision, and that nothing else is left once the sweep was there.
    async fn assert_next_revision(&self, ingest: &Ingest) {
        // An intent is claimed at first, and forgotten at last.
        for _ in 0..2 {
            self.backends.execute(AGE).await;
            bookrag::ingest::sweep(&ingest.catalog, &ingest.index, None)
                .await
                .unwrap();
        }
        let differences = ingest.compare().await.unwrap();
        assert_eq!(differences, Differences::default());
        self.assert_no_leftovers().await;
        let (document, chunks) = page(ingest).await;
        assert_eq!(document.revision, self.before.0.revision + 1);
        assert!(chunks.iter().any(|chunk| chunk.text.contains(MARKER)));
        assert_eq!(run(ingest).await.unwrap().change, Change::Unchanged);
    }

    /// Checks that the store holds as many points as there are chunks, and that none is pending.
    async fn assert_no_leftovers(&self) {
        let index_id = self.direct.index_row.index_id;
        let stats = self.direct.catalog.stats(index_id).await.unwrap();
        assert_eq!(stats.pending_points, 0);
        assert_eq!(self.points().await, stats.chunks);
    }

    /// How many points the store holds.
    async fn points(&self) -> u64 {
        let collection = &self.direct.index_row.collection;
        self.direct.index.count(collection).await.unwrap()
    }
}

/// A site with two pages.
fn book() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    for (path, text) in [(PAGE, FIRST), OTHER] {
        fs::write(folder.path().join(path), text).unwrap();
    }
    folder
}

async fn page(ingest: &Ingest) -> Page {
    let index_id = ingest.index_row.index_id;
    let documents = ingest.catalog.documents(index_id).await.unwrap();
    let mut documents = documents.into_iter();
    let document = documents.find(|document| document.row.source == PAGE);
    let document = document.unwrap();
    let id = document.row.document_id;
    let chunks = ingest.catalog.chunks(index_id, id).await.unwrap();
    (document, chunks)
}

/// Ingests the page, in bounded time.
async fn run(ingest: &Ingest) -> Result<DocumentOutcome, IngestError> {
    bounded(ingest.ingest_document(PAGE)).await
}

async fn bounded<T>(call: impl Future<Output = T>) -> T {
    timeout(BOUND, call).await.expect("it took too long")
}
