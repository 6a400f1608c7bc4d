//! Tests of a switch during which a writer of the former index handles a change, at each step of the switch in turn.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::super::{Ingest, OpenMode, OpenOptions, Switched, SyncOptions};
use super::stores::{Stores, options};
use crate::source::MemorySource;
use ::book::chunk::ChunkPolicy;
use fakes::faults::{self, Part, block_on};
use store::catalog::Catalog;

const PAGE: &str = "docs/a.md";

#[derive(Debug, PartialEq, Eq)]
enum Change {
    TooLate,
    /// The change is pending, or its event will be delivered again.
    Known,
    /// The change will never be handled.
    Lost,
}

fn put(files: &MemorySource, text: &str) {
    let text = text.as_bytes().to_vec();
    files.files().insert(PAGE.to_owned(), text);
}

fn change_after(steps: usize, removed: Option<Part>) -> Change {
    faults::begin(0, removed);
    let files = MemorySource::default();
    put(&files, "# A\n\nFirst.\n");
    let stores = Stores::new();
    let former = indexed(&stores, &files, ChunkPolicy::ADAPTIVE, OpenMode::Write);
    let next = indexed(
        &stores,
        &files,
        ChunkPolicy::PARAGRAPH_512,
        OpenMode::TakeOver,
    );
    let mut switch = pin!(next.switch(SyncOptions::default()));
    let mut context = Context::from_waker(Waker::noop());
    let mut taken = 0;
    let mut served = None;
    let switched = loop {
        if taken == steps {
            put(&files, "# A\n\nSecond.\n");
            served = Some(block_on(former.ingest_document(PAGE)).is_ok());
        }
        match switch.as_mut().poll(&mut context) {
            Poll::Ready(switched) => break switched.expect("nothing fails"),
            Poll::Pending => taken += 1,
        }
    };
    let _ = faults::end();
    let (Switched::Live(status) | Switched::Behind(status)) = switched;
    match served {
        None => Change::TooLate,
        // The former index was already retired, so the event is delivered again.
        Some(false) => Change::Known,
        Some(true) if status.pending.iter().any(|pending| pending.source == PAGE) => Change::Known,
        Some(true) => Change::Lost,
    }
}

/// Opens an index and writes the page to it.
fn indexed(stores: &Stores, files: &MemorySource, policy: ChunkPolicy, mode: OpenMode) -> Ingest {
    let source = files.reader();
    let options = OpenOptions {
        policy,
        mode,
        ..options()
    };
    let mut ingest = block_on(stores.open(&source, options)).expect("nothing fails");
    ingest.catalog = Catalog::Faulty(stores.catalog.freezing(Arc::new(source)));
    block_on(ingest.ingest_document(PAGE)).expect("nothing fails");
    ingest
}

fn changes(removed: Option<Part>) -> Vec<Change> {
    let all = (0..).map(|steps| change_after(steps, removed));
    all.take_while(|change| *change != Change::TooLate)
        .collect()
}

#[test]
fn a_change_at_any_step_of_a_switch_is_known() {
    let changes = changes(None);
    assert!(changes.len() > 10, "{changes:?}");
    assert!(!changes.contains(&Change::Lost), "{changes:?}");
}

#[test]
fn the_look_after_the_switch_is_missed() {
    let changes = changes(Some(Part::LookAfterSwitch));
    let lost = changes.iter().position(|change| *change == Change::Lost);
    eprintln!("without LookAfterSwitch, a change after step {lost:?} is lost");
    assert!(lost.is_some(), "{changes:?}");
}
