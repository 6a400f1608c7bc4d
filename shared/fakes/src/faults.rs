//! Scripted faults for the simulation of the ingest protocol.
//!
//! Wrappers (`FaultyCatalog`, `FaultyIndex`, `FaultyEmbedder`, `MemorySource`) enclose in-memory stores. Each call to them lets other tasks run
//! first, may fail before or after its work is done, or may be the last action of its task. A seed decides all of it, so a history can be replayed
//! exactly. The wrappers also disable parts of the protocol for the mutation tests; production code knows nothing of this.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use futures::FutureExt;
use uuid::Uuid;

thread_local! {
    static SCRIPT: RefCell<Option<Script>> = const { RefCell::new(None) };
}

/// The state of a simulation, driven by its seed.
#[derive(Debug, Clone)]
pub struct Script {
    random: Random,
    /// Failing calls in a thousand.
    pub failures: u64,
    /// How many texts were embedded.
    pub embedded: usize,
    /// How many embeddings were lost although their task continued.
    pub wasted: usize,
    /// The part of the protocol that is disabled, to show that it is needed.
    pub removed: Option<Part>,
}

/// Parts of the protocol, each of which prevents a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The commit compares the revision.
    CompareAndSet,
    /// Point ids are recorded before they are upserted.
    Intents,
    /// The commit finds all its intents.
    IntentCheck,
    /// The sweep claims points before deleting them, and deletes them again before their rows.
    ClaimBeforeSweep,
    /// Replaced points are listed to be deleted.
    GarbageList,
    /// The file is read in its current state, whatever the event says.
    LevelTriggered,
    /// Readers drop points that the catalog does not list.
    Join,
    /// The file is checked again after the commit.
    LookAfterCommit,
    /// The files are checked again after a switch of indexes.
    LookAfterSwitch,
}

/// A reader of files that can be kept in the past.
pub trait Freeze: std::fmt::Debug + Send + Sync {
    /// From now on, shows what was read last.
    fn freeze(&self);

    /// Shows the files as they are again.
    fn thaw(&self);
}

/// A seeded random generator: `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014).
#[derive(Debug, Clone)]
pub struct Random(pub u64);

impl Random {
    /// Returns the next number.
    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() % end as u64).expect("below a usize")
    }
}

/// Begins a history.
pub fn begin(seed: u64, removed: Option<Part>) {
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
#[must_use]
pub fn end() -> Option<Script> {
    SCRIPT.take()
}

/// Reads or changes the script of the current history.
pub fn with<T>(change: impl FnOnce(&mut Script) -> T) -> Option<T> {
    SCRIPT.with_borrow_mut(|script| script.as_mut().map(change))
}

/// True if this part of the protocol is disabled.
#[must_use]
pub fn removed(part: Part) -> bool {
    with(|script| script.removed == Some(part)).unwrap_or(false)
}

/// Returns a seeded point id; a random one outside a history.
pub fn point_id() -> Uuid {
    with(|script| Uuid::from_u64_pair(script.random.number(), script.random.number()))
        .unwrap_or_else(Uuid::new_v4)
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

/// Simulates a call of a backend: lets other tasks run before and after `work`, which is one step, and may fail on either side.
pub async fn call<T, E>(
    work: impl Future<Output = Result<T, E>>,
    lost: impl FnOnce() -> E,
) -> Result<T, E> {
    pause().await;
    let fate = with(|script| {
        let fails = script.random.number() % 1_000 < script.failures;
        (fails, fails && script.random.number() % 2 == 0)
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

/// Runs a future that waits only for this process.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return value;
        }
    }
}
