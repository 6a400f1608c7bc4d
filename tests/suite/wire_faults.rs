//! Network faults during ingest: each call ends in time, the last revision stays, and the next run succeeds.

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

/// The page to edit.
const PAGE: &str = "docs/frost.md";
const FIRST: &str = "# Frost\n\nCover the seedlings before the night falls below zero.\n\n\
    ## Signs\n\nA clear sky, no wind, and a low moon.\n";
/// The edited page. Every section differs, so all of them are embedded anew.
const EDITED: &str = "# Frost\n\nFleece with zirconium threads keeps four degrees more.\n\n\
    ## Signs\n\nThe grass is stiff before sunrise.\n";
/// A word that only the edited page and requests about it contain.
const MARKER: &str = "zirconium";
/// A page that is not edited.
const OTHER: (&str, &str) = (
    "docs/soil.md",
    "# Soil\n\nSand drains quickly, clay holds water.\n",
);

/// The longest time for a call under any fault: several times the clients' own limits.
const BOUND: Duration = Duration::from_mins(2);
/// The clients' time limit in tests that expect a timeout. Once the fault has ended, it is enough on a busy machine too.
const IMPATIENT: Duration = Duration::from_secs(5);
/// The clients' time limit in tests that expect a response: long enough for a machine that is compiling at the same time.
const PATIENT: Duration = Duration::from_secs(15);

/// Makes all pending points old enough to be swept.
const AGE: &str = "UPDATE pending_points
    SET created_at = created_at - interval '1 hour', claimed_at = claimed_at - interval '1 hour'";

/// An indexed book of two pages, one of which was edited since.
struct World {
    backends: Backends,
    folder: TempDir,
    /// An ingest without faults.
    direct: Ingest,
    /// The page as indexed before the edit.
    before: Page,
}

/// A page in the catalog.
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

    /// Returns ports without faults.
    fn ports(&self) -> Ports {
        self.backends.ports(self.folder.path())
    }

    /// Ingests the page, which must fail and leave the last revision.
    async fn fail(&self, ingest: &Ingest) -> IngestError {
        let failure = run(ingest).await.unwrap_err();
        self.assert_last_revision().await;
        failure
    }

    /// Ingests the page, which must succeed despite leftovers.
    async fn succeed(&self, ingest: &Ingest) {
        assert_eq!(run(ingest).await.unwrap().change, Change::Indexed);
        self.assert_next_revision(ingest).await;
    }

    /// Asserts that the page is as before the edit, all its points exist, and the catalog knows all other points.
    async fn assert_last_revision(&self) {
        assert_eq!(page(&self.direct).await, self.before);
        let differences = self.direct.compare().await.unwrap();
        assert_eq!(differences, Differences::default());
    }

    /// Asserts that the page is as edited, one revision later, and that the sweep removes everything else.
    async fn assert_next_revision(&self, ingest: &Ingest) {
        // The first sweep claims an intent, the second forgets it.
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

    /// Asserts that the store has one point per chunk, and that none is pending.
    async fn assert_no_leftovers(&self) {
        let index_id = self.direct.index_row.index_id;
        let stats = self.direct.catalog.stats(index_id).await.unwrap();
        assert_eq!(stats.pending_points, 0);
        assert_eq!(self.points().await, stats.chunks);
    }

    async fn points(&self) -> u64 {
        let collection = &self.direct.index_row.collection;
        self.direct.index.count(collection).await.unwrap()
    }
}

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

/// Ingests the page within [`BOUND`].
async fn run(ingest: &Ingest) -> Result<DocumentOutcome, IngestError> {
    bounded(ingest.ingest_document(PAGE)).await
}

async fn bounded<T>(call: impl Future<Output = T>) -> T {
    timeout(BOUND, call).await.expect("it took too long")
}
