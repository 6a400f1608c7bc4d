//! Scripted faults: in the simulation of the ingest protocol every call of a port is a step that a seed decides.
//!
//! The ports have wrappers (`FaultyCatalog`, `FaultyIndex`, `FaultyEmbedder`, `MemorySource`) around stores in memory. Each of
//! their calls lets other tasks run first, may fail before or after its work is done, or may be the last thing its task does.
//! All of it follows from the seed, so a history replays exactly. The wrappers also take away the parts of the protocol that
//! the mutation tests remove: production code knows of none of this.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
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
    /// How many texts were embedded.
    pub(crate) embedded: usize,
    /// How often embedded texts, or the call that embedded them, came to nothing while their task went on.
    pub(crate) wasted: usize,
    /// The part of the protocol that is removed, to show that it is needed.
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
        embedded: 0,
        wasted: 0,
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

/// True if this part of the protocol is removed.
pub(crate) fn removed(part: Part) -> bool {
    with(|script| script.removed == Some(part)).unwrap_or(false)
}

/// Returns a point id that follows from the seed; a random one outside a history.
pub(crate) fn point_id() -> Uuid {
    let seeded =
        |script: &mut Script| Uuid::from_u64_pair(script.random.next(), script.random.next());
    with(seeded).unwrap_or_else(Uuid::new_v4)
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

/// Makes a call of a port: lets others run before and after `work`, which is one step, and may fail it on either side.
pub(crate) async fn call<T, E>(
    work: impl Future<Output = Result<T, E>>,
    lost: impl FnOnce() -> E,
) -> Result<T, E> {
    pause().await;
    let fate = with(|script| {
        let fails = script.random.next() % 1_000 < script.failures;
        (fails, fails && script.random.next() % 2 == 0)
    });
    let (fails, is_done_first) = fate.unwrap_or_default();
    if fails && !is_done_first {
        return Err(lost());
    }
    let done = work
        .now_or_never()
        .expect("a store in memory waits for nothing");
    pause().await;
    if fails { Err(lost()) } else { done }
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
