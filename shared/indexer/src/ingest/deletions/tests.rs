use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::ingest::simulation::stores::{Stores, options};
use crate::ingest::{Report, sync};
use crate::source::MemorySource;
use fakes::faults::block_on;

const PAGES: usize = 24;

/// What an author does with a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Nothing,
    Rename,
    Delete,
    /// Replaces it by a page with another name and text.
    Replace,
}

struct Book {
    files: MemorySource,
    ingest: Ingest,
}

impl Book {
    /// An indexed book.
    fn new() -> Self {
        let files = MemorySource::default();
        let ingest = block_on(Stores::new().open(&files, options())).unwrap();
        let book = Self { files, ingest };
        for page in 0..PAGES {
            book.write("guide", page, "The former text");
        }
        book.sync(MassDeletion::Stop).unwrap();
        book
    }

    fn write(&self, folder: &str, page: usize, text: &str) {
        let next = (page + 1) % PAGES;
        let text =
            format!("# Page {page}\n\n{text} of page {page}. See [the next](./{next}.md).\n");
        self.files
            .files()
            .insert(format!("docs/{folder}/{page}.md"), text.into_bytes());
    }

    fn act(&self, page: usize, action: Action) {
        if action == Action::Nothing {
            return;
        }
        self.files.files().remove(&format!("docs/guide/{page}.md"));
        match action {
            Action::Rename => self.write("guides", page, "The former text"),
            Action::Replace => self.write("guides", page, "Other words"),
            Action::Delete | Action::Nothing => {}
        }
    }

    fn sync(&self, mass_deletion: MassDeletion) -> Result<Report, SyncError> {
        block_on(sync(&self.ingest, SyncOptions { mass_deletion }, |_| {}))
    }

    /// The sources in the index.
    fn documents(&self) -> BTreeSet<String> {
        let index_id = self.ingest.index_row.index_id;
        let documents = block_on(self.ingest.catalog.documents(index_id)).unwrap();
        documents.into_iter().map(|it| it.row.source).collect()
    }

    /// The sources that health and `status` report.
    fn failed(&self) -> Vec<String> {
        let stats = block_on(self.ingest.catalog.stats(self.ingest.index_row.index_id));
        let failed = stats.unwrap().failed.into_iter();
        failed.map(|(source, _)| source).collect()
    }

    /// When the index was last found equal to the files.
    fn compared_at(&self) -> Option<Timestamp> {
        let live = block_on(self.ingest.catalog.live_index()).unwrap();
        live.unwrap().compared_at
    }

    fn pages(&self) -> BTreeSet<String> {
        self.files.files().keys().cloned().collect()
    }
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        2 => Just(Action::Nothing),
        4 => Just(Action::Rename),
        4 => Just(Action::Delete),
        1 => Just(Action::Replace),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_run_is_refused_if_most_texts_are_gone_whatever_the_names(
        actions in prop::collection::vec(action(), PAGES),
    ) {
        let book = Book::new();
        let before = book.pages();
        for (page, action) in actions.iter().enumerate() {
            book.act(page, *action);
        }
        let is_lost = |action: &&Action| matches!(action, Action::Delete | Action::Replace);
        let lost = actions.iter().filter(is_lost).count();
        let outcome = book.sync(MassDeletion::Stop);
        if lost * 2 > PAGES {
            let is_refusal = matches!(
                outcome,
                Err(SyncError::MassDeletion { deleted, total: PAGES }) if deleted == lost
            );
            prop_assert!(is_refusal, "{outcome:?}");
            prop_assert_eq!(book.documents(), before);
        } else if book.pages().is_empty() {
            prop_assert!(outcome.is_err());
        } else {
            prop_assert!(outcome.is_ok(), "{outcome:?}");
            prop_assert_eq!(book.documents(), book.pages());
        }
    }
}

#[test]
fn a_renamed_folder_replaces_its_pages() {
    let book = Book::new();
    for page in 0..PAGES {
        book.act(page, Action::Rename);
    }
    let report = book.sync(MassDeletion::Stop).unwrap();
    assert_eq!((report.files_changed, report.files_deleted), (PAGES, PAGES));
    assert_eq!(book.documents(), book.pages());
}

#[test]
fn pages_that_are_kept_are_listed_and_hold_back_no_other_change() {
    let book = Book::new();
    let former = book.documents();
    for page in 0..20 {
        book.act(page, Action::Delete);
    }
    let since = Timestamp::now();
    let kept: BTreeSet<String> = former.difference(&book.pages()).cloned().collect();
    for number in 0..2 {
        let new = format!("new-{number}");
        book.write(&new, number, "Something new");
        let report = book.sync(MassDeletion::Keep { since }).unwrap();
        assert_eq!((report.files_changed, report.files_deleted), (1, 0));
        let told = report
            .warnings
            .iter()
            .find(|it| it.contains("20 of 24 pages"));
        assert!(
            told.is_some_and(|it| it.contains("--allow-mass-deletion")),
            "{report:?}"
        );
        assert_eq!(book.failed(), Vec::from_iter(kept.clone()));
    }
    assert!(book.documents().is_superset(&former));
    book.sync(MassDeletion::Allow).unwrap();
    assert_eq!(book.documents(), book.pages());
    assert_eq!(book.failed(), [""; 0]);
}

#[test]
fn an_index_with_pages_that_are_kept_or_stale_is_not_equal_to_the_book() {
    let book = Book::new();
    let compared = book.compared_at();
    assert!(compared.is_some());
    for page in 0..20 {
        book.act(page, Action::Delete);
    }
    let since = Timestamp::now();
    book.sync(MassDeletion::Keep { since }).unwrap();
    assert_eq!(book.compared_at(), compared);
    book.sync(MassDeletion::Allow).unwrap();
    let compared_later = book.compared_at();
    assert!(compared_later > compared);

    let path = "docs/guide/20.md";
    let broken = b"---\ntitle: [\n---\nText.\n".to_vec();
    book.files.files().insert(path.to_owned(), broken);
    // The second run finds the page up to date.
    for _ in 0..2 {
        let report = book.sync(MassDeletion::Stop).unwrap();
        assert_eq!(report.stale, [path]);
        assert_eq!(book.compared_at(), compared_later);
    }
    book.write("guide", 20, "The former text");
    book.sync(MassDeletion::Stop).unwrap();
    assert!(book.compared_at() > compared_later);
}

#[test]
fn a_kept_page_whose_file_returns_is_not_listed_any_more() {
    let book = Book::new();
    let files = book.files.files().clone();
    book.files.files().retain(|path, _| path.contains("/1"));
    let since = Timestamp::now();
    book.sync(MassDeletion::Keep { since }).unwrap();
    assert_eq!(book.failed().len(), 13);
    *book.files.files() = files;
    let report = book.sync(MassDeletion::Keep { since }).unwrap();
    assert_eq!((report.files_changed, report.files_deleted), (0, 0));
    assert_eq!(book.failed(), [""; 0]);
}

#[test]
fn pages_of_an_unfinished_change_are_no_loss() {
    let book = Book::new();
    let since = Timestamp::now();
    // Indexed in the middle of the change.
    for page in 0..4 * PAGES {
        book.write("many", page, "Something new");
    }
    book.sync(MassDeletion::Keep { since }).unwrap();
    book.files.files().retain(|path, _| !path.contains("many"));
    let refused = book.sync(MassDeletion::Stop);
    assert!(
        matches!(refused, Err(SyncError::MassDeletion { .. })),
        "{refused:?}"
    );
    let report = book.sync(MassDeletion::Keep { since }).unwrap();
    assert_eq!(report.files_deleted, 4 * PAGES);
    assert_eq!(book.documents(), book.pages());
}

#[test]
fn the_pages_of_an_unfinished_change_do_not_hide_a_loss() {
    let book = Book::new();
    let former = book.documents();
    let since = Timestamp::now();
    for page in 0..4 * PAGES {
        book.write("many", page, "Something new");
    }
    book.sync(MassDeletion::Keep { since }).unwrap();
    book.files.files().retain(|path, _| path.contains("many"));
    book.sync(MassDeletion::Keep { since }).unwrap();
    assert!(book.documents().is_superset(&former));
}
