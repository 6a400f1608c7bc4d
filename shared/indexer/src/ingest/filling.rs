//! Progress of the first indexing, which readers see while the index is incomplete.

use super::{Ingest, IngestError, Status};

impl Ingest {
    /// Records how many pages the index will have. Ends the first indexing if only failed pages are pending, since readers would
    /// wait for them forever. Does nothing after the first indexing: later runs keep each page's former text until the new one is
    /// committed.
    pub async fn note_expected_pages(&self, status: &Status) -> Result<(), IngestError> {
        let pages = u64::try_from(status.expected.len()).unwrap_or(u64::MAX);
        let pages = Some(pages).filter(|_| status.awaits_pages());
        self.expect_pages(pages).await
    }

    /// Counts the pages again once the expected number is indexed or has failed, and ends the first indexing if none is left.
    /// Pages may be uploaded one by one, so the first count can be too low.
    pub async fn note_committed_pages(&self) -> Result<(), IngestError> {
        let Some(expected) = self.pages_expected_now().await? else {
            return Ok(());
        };
        let stats = self.catalog.stats(self.index_row.index_id).await?;
        let failed = u64::try_from(stats.failed.len()).unwrap_or(u64::MAX);
        if stats.documents.saturating_add(failed) < expected {
            return Ok(());
        }
        self.count_pages_again().await
    }

    /// Counts the pages again after a deletion, because the expected number may never be reached.
    pub async fn note_deleted_pages(&self) -> Result<(), IngestError> {
        match self.pages_expected_now().await? {
            Some(_) => self.count_pages_again().await,
            None => Ok(()),
        }
    }

    async fn count_pages_again(&self) -> Result<(), IngestError> {
        let status = self.status("").await?;
        self.note_expected_pages(&status).await
    }

    /// Reads the expected number of pages from the catalog: another invocation may have changed it since this one began.
    async fn pages_expected_now(&self) -> Result<Option<u64>, IngestError> {
        if self.index_row.pages_expected.is_none() {
            return Ok(None);
        }
        let indexes = self.catalog.indexes().await?;
        Ok(indexes
            .iter()
            .find(|index| index.index_id == self.index_row.index_id)
            .and_then(|index| index.pages_expected))
    }

    /// Ends the first indexing after a run over all pages. Failed pages are reported elsewhere.
    pub(super) async fn end_first_indexing(&self) -> Result<(), IngestError> {
        self.expect_pages(None).await
    }

    async fn expect_pages(&self, pages: Option<u64>) -> Result<(), IngestError> {
        let index = &self.index_row;
        if index.pages_expected.is_some() {
            self.catalog.expect_pages(index.index_id, pages).await?;
        }
        Ok(())
    }
}

#[cfg(all(test, feature = "embedded"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests {
    use crate::ingest::simulation::stores::{Stores, options};
    use crate::ingest::{Ingest, IngestError, OpenMode, RunStatus, SyncOptions, sync};
    use crate::source::MemorySource;
    use fakes::faults::block_on;
    use models::provider::ProviderError;
    use store::index::Filters;

    fn book() -> (MemorySource, Ingest) {
        let source = MemorySource::default();
        for page in ["a", "b", "c"] {
            write(&source, page, "former");
        }
        let ingest = block_on(Stores::new().open(&source, options())).unwrap();
        (source, ingest)
    }

    fn write(source: &MemorySource, page: &str, text: &str) {
        let text = format!("# Page {page}\n\nThe {text} text of this page.\n");
        source
            .files()
            .insert(format!("docs/{page}.md"), text.into_bytes());
    }

    fn told(ingest: &Ingest) -> Option<String> {
        let live = block_on(ingest.catalog.live_index()).unwrap().unwrap();
        let stats = block_on(ingest.catalog.stats(live.index_id)).unwrap();
        let indexing = live.indexing(stats.documents);
        indexing.map(|progress| progress.to_string())
    }

    fn told_during_a_run(ingest: &Ingest) -> Vec<Option<String>> {
        let mut heard = Vec::new();
        let run = sync(ingest, SyncOptions::default(), |_| heard.push(told(ingest)));
        assert_eq!(block_on(run).unwrap().status, RunStatus::Success);
        heard
    }

    #[test]
    fn readers_are_told_how_far_the_first_run_is_and_nothing_after_it() {
        let (source, ingest) = book();
        // More pages than are ingested at once.
        for page in 0..37 {
            write(&source, &format!("more-{page:02}"), "former");
        }
        assert_eq!(told(&ingest).as_deref(), Some("0 pages so far"));
        let during = told_during_a_run(&ingest);
        assert_eq!(during.len(), 40);
        let done = during.iter().map_while(|told| {
            let done = told.as_deref()?.strip_suffix(" of 40 pages");
            Some(done.unwrap().parse().unwrap())
        });
        let done: Vec<usize> = done.collect();
        assert!(done.len() > 5 && done.is_sorted(), "{during:?}");
        assert!(during[done.len()..].iter().all(Option::is_none));
        assert_eq!(told(&ingest), None);
    }

    #[test]
    fn a_first_run_that_broke_off_is_told_of_until_another_ends() {
        let (_, ingest) = book();
        let status = block_on(ingest.status("")).unwrap();
        block_on(ingest.note_expected_pages(&status)).unwrap();
        block_on(ingest.ingest_document("docs/a.md")).unwrap();
        let ingest = block_on(ingest.reopened(OpenMode::Write)).unwrap();
        assert_eq!(told(&ingest).as_deref(), Some("1 of 3 pages"));
        block_on(ingest.note_committed_pages()).unwrap();
        assert_eq!(told(&ingest).as_deref(), Some("1 of 3 pages"));
        told_during_a_run(&ingest);
        assert_eq!(told(&ingest), None);
    }

    #[test]
    fn pages_that_come_one_by_one_end_the_first_indexing() {
        let (source, mut ingest) = book();
        let mut heard = Vec::new();
        for page in ["docs/a.md", "docs/b.md", "docs/c.md", "docs/d.md"] {
            if page == "docs/b.md" {
                // A page uploaded after the count.
                write(&source, "d", "former");
            }
            block_on(ingest.ingest_document(page)).unwrap();
            block_on(ingest.note_committed_pages()).unwrap();
            heard.push(told(&ingest));
            ingest = block_on(ingest.reopened(OpenMode::Write)).unwrap();
        }
        let expected = ["1 of 3 pages", "2 of 3 pages", "3 of 4 pages"];
        assert_eq!(heard[..3], expected.map(|told| Some(told.to_owned())));
        assert_eq!(heard[3], None);
        // Deleting a page later does not restart the first indexing.
        source.files().remove("docs/a.md");
        block_on(ingest.ingest_document("docs/a.md")).unwrap();
        assert_eq!(told(&ingest), None);
    }

    fn fail(ingest: &Ingest, source: &str) {
        let error = IngestError::from(ProviderError::Rejected("the input is invalid".to_owned()));
        block_on(ingest.record_failure(source, &error));
    }

    #[test]
    fn a_page_that_always_fails_does_not_keep_the_first_indexing_on() {
        let orders = [
            ["docs/a.md", "docs/b.md", "docs/c.md"],
            ["docs/c.md", "docs/b.md", "docs/a.md"],
        ];
        for order in orders {
            let (_, ingest) = book();
            let status = block_on(ingest.status("")).unwrap();
            block_on(ingest.note_expected_pages(&status)).unwrap();
            for page in order {
                match page {
                    "docs/c.md" => fail(&ingest, page),
                    page => drop(block_on(ingest.ingest_document(page)).unwrap()),
                }
                block_on(ingest.note_committed_pages()).unwrap();
                assert_eq!(told(&ingest).is_none(), page == order[2], "{page}");
            }
        }
    }

    #[test]
    fn a_run_that_finds_only_failed_pages_pending_ends_the_first_indexing() {
        let (_, ingest) = book();
        for page in ["docs/a.md", "docs/b.md"] {
            block_on(ingest.ingest_document(page)).unwrap();
        }
        fail(&ingest, "docs/c.md");
        let status = block_on(ingest.status("")).unwrap();
        block_on(ingest.note_expected_pages(&status)).unwrap();
        assert_eq!(told(&ingest), None);
    }

    #[test]
    fn a_page_that_is_deleted_meanwhile_is_not_expected_any_longer() {
        let (source, ingest) = book();
        let status = block_on(ingest.status("")).unwrap();
        block_on(ingest.note_expected_pages(&status)).unwrap();
        for page in ["docs/a.md", "docs/b.md"] {
            block_on(ingest.ingest_document(page)).unwrap();
        }
        source.files().remove("docs/a.md");
        block_on(ingest.ingest_document("docs/a.md")).unwrap();
        block_on(ingest.note_deleted_pages()).unwrap();
        assert_eq!(told(&ingest).as_deref(), Some("1 of 2 pages"));
        block_on(ingest.ingest_document("docs/c.md")).unwrap();
        block_on(ingest.note_committed_pages()).unwrap();
        assert_eq!(told(&ingest), None);
    }

    #[test]
    fn a_stale_invocation_does_not_begin_the_first_indexing_again() {
        let (_, stale) = book();
        let before = block_on(stale.status("")).unwrap();
        told_during_a_run(&block_on(stale.reopened(OpenMode::Write)).unwrap());
        block_on(stale.note_expected_pages(&before)).unwrap();
        assert_eq!(told(&stale), None);
    }

    #[test]
    fn while_a_later_run_is_on_readers_have_the_whole_former_book() {
        let (source, ingest) = book();
        told_during_a_run(&ingest);
        for page in ["a", "b", "c"] {
            write(&source, page, "latest");
        }
        let ingest = block_on(ingest.reopened(OpenMode::Write)).unwrap();
        let mut seen = Vec::new();
        let run = sync(&ingest, SyncOptions::default(), |_| {
            let latest = pages_with(&ingest, "latest");
            seen.push((told(&ingest), pages_with(&ingest, "former"), latest));
        });
        block_on(run).unwrap();
        assert_eq!(seen.len(), 3);
        for (told, former, latest) in seen {
            assert_eq!((told, former + latest), (None, 3));
        }
        assert_eq!(pages_with(&ingest, "former"), 0);
        assert_eq!(pages_with(&ingest, "latest"), 3);
    }

    fn pages_with(ingest: &Ingest, word: &str) -> usize {
        let index_id = ingest.index_row.index_id;
        let filters = Filters::default();
        let terms = [word.to_owned()];
        let search = ingest.catalog.search_text(index_id, &terms, &filters, 10);
        block_on(search).unwrap().len()
    }
}
