//! Scripted faults: in the simulation of the ingest protocol every call of a fake port is a step that a seed decides.
//!
//! A step may let other tasks run first, fail before or after its work is done, or be the last thing its task does. All of
//! it follows from the seed, so a history replays exactly.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use uuid::Uuid;

thread_local! {
    static SCRIPT: RefCell<Option<Script>> = const { RefCell::new(None) };
}

/// What the seed decides as it goes.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    random: Random,
    /// Calls that fail, of a thousand.
    pub(crate) failures: u64,
    /// Time that has passed.
    clock: Duration,
    /// How many texts were embedded.
    pub(crate) embedded: usize,
    /// How often a document was started over.
    pub(crate) started_over: usize,
    /// A part of the protocol that is taken away, to see that it is missed.
    pub(crate) removed: Option<Part>,
}

/// The parts of the protocol that each prevent something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The commit compares the revision.
    CompareAndSet,
    /// Point ids are written down before they are upserted.
    Intents,
    /// The commit finds all its intents.
    IntentCheck,
    /// The sweep claims before it deletes, and deletes again before the rows go.
    ClaimBeforeSweep,
    /// Replaced points are listed to be deleted.
    GarbageList,
    /// The object is read as it is now, not as the event saw it.
    LevelTriggered,
    /// A reader drops what the catalog does not list.
    Join,
    /// The object is looked at again after the commit.
    LookAfterCommit,
    /// The files are looked at again after a switch of indexes.
    LookAfterSwitch,
}

/// Numbers that follow from a seed: `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Debug, Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }
}

/// Begins a history.
pub(crate) fn begin(seed: u64, removed: Option<Part>) {
    let script = Script {
        random: Random(seed),
        failures: 0,
        clock: Duration::ZERO,
        embedded: 0,
        started_over: 0,
        removed,
    };
    SCRIPT.set(Some(script));
}

/// Ends a history; returns its script.
pub(crate) fn end() -> Option<Script> {
    SCRIPT.take()
}

/// Changes or reads the script of the history that is running.
pub(crate) fn with<T>(change: impl FnOnce(&mut Script) -> T) -> Option<T> {
    SCRIPT.with_borrow_mut(|script| script.as_mut().map(change))
}

impl Script {
    pub(crate) fn pass(&mut self, time: Duration) {
        self.clock += time;
    }
}

/// The time that has passed in the running history; none outside.
pub(crate) fn clock() -> Duration {
    with(|script| script.clock).unwrap_or_default()
}

/// Whether a part of the protocol was taken away.
pub(crate) fn removed(part: Part) -> bool {
    with(|script| script.removed == Some(part)).unwrap_or(false)
}

/// A point id that follows from the seed; `None` outside a history.
pub(crate) fn point_id() -> Option<Uuid> {
    with(|script| Uuid::from_u64_pair(script.random.next(), script.random.next()))
}

/// Lets other tasks run.
async fn pause() {
    let mut paused = false;
    poll_fn(|context| {
        if paused {
            return Poll::Ready(());
        }
        paused = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// A call of a fake port: a step before its work and one after, each of which may fail it.
pub(crate) async fn call<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    lost: impl FnOnce() -> E,
) -> Result<T, E> {
    pause().await;
    let fate = with(|script| {
        let fails = script.random.next() % 1_000 < script.failures;
        (fails, fails && script.random.next() % 2 == 0)
    });
    match fate {
        Some((true, false)) => return Err(lost()),
        Some((true, true)) => {
            // Done, and the answer is lost.
            let _ = work();
            pause().await;
            return Err(lost());
        }
        _ => {}
    }
    let done = work();
    pause().await;
    done
}

/// Runs a future that waits for nothing outside this process.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
