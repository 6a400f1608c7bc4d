//! One history: files, events, tasks and checks.

mod checks;
mod handlers;

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use handlers::{run_over_the_book, serve, serve_with_settings};
use uuid::Uuid;

use super::super::batches::Batches;
use super::super::{Ingest, IngestError, OpenMode, sweep};
use super::book;
use super::stores::{Stores, options};
use crate::source::{MemorySource, Source};
use ::book::chunk::{ChunkPolicy, chunk_document};
use ::book::{Inputs, SiteSettings, list_pages, missing_inputs, read_document};
use fakes::faults::{self, Part, Random, block_on};
use store::catalog::{Catalog, ChunkRow, IndexRow};

/// Steps during which files change and calls fail; afterwards nothing changes.
const EVENTFUL_STEPS: usize = 160;
/// The same for histories with a second deployment, which need more steps for a run over the whole book.
const DEPLOYMENT_STEPS: usize = 500;
/// An upper bound on the steps of any history.
const MAX_STEPS: usize = 200_000;
const MAX_TASKS: usize = 4;
/// Failing calls per thousand during the eventful steps.
const FAILURES: u64 = 20;
/// Slightly more than the age at which intents are swept.
const LEAP: Duration = Duration::from_mins(16);

#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Failure(String);

impl From<IngestError> for Failure {
    fn from(error: IngestError) -> Self {
        Self(error.to_string())
    }
}

type Work = Pin<Box<dyn Future<Output = Result<(), IngestError>>>>;

/// An active handler or sweep.
struct Task {
    work: Work,
    /// The event it handles; `None` for a sweep. The event is delivered again unless the task succeeds.
    event: Option<Event>,
    /// Leaps of the clock since the task began: no invocation outlives one leap.
    leaps: usize,
}

#[derive(Debug, Clone)]
struct Event {
    path: String,
    /// The files as they were when the event was sent. Used only if the level-triggered part of the protocol is disabled.
    then: MemorySource,
}

/// A reader's view of the stores after a given number of changes.
#[derive(Default)]
struct Seen {
    changes: u64,
    rows: BTreeMap<String, Vec<ChunkRow>>,
    points: BTreeSet<Uuid>,
    found: BTreeSet<Uuid>,
}

/// The event that requests a run over the whole book.
const SYNC: &str = "the whole book";
const NEXT_POLICY: ChunkPolicy = ChunkPolicy::PARAGRAPH_512;

/// Optional events of a history, besides changes, crashes and failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Attack {
    /// The store is damaged at the end.
    Damage,
    Comparisons,
    Settings,
    /// A second deployment, with another chunk policy and an index of its own, takes over.
    Deployment,
    /// The second deployment also renames the site.
    Renaming,
}

pub(super) struct World {
    random: Random,
    removed: Option<Part>,
    attacks: Vec<Attack>,
    source: MemorySource,
    stores: Stores,
    ingest: Ingest,
    former: Option<Ingest>,
    events: Vec<Event>,
    tasks: Vec<Task>,
    trace: Vec<String>,
    seen: Seen,
    /// The number of texts in each revision of each page, including texts shared with other revisions.
    revisions: BTreeMap<(String, Vec<Uuid>), usize>,
    lost: usize,
}

impl World {
    pub(super) fn new(seed: u64, removed: Option<Part>, attacks: Vec<Attack>) -> Self {
        faults::begin(seed, removed);
        let source = MemorySource::default();
        book::begin(&source);
        let source_then = source.snapshot();
        let stores = Stores::new();
        let ingest = block_on(stores.open(&source, options())).expect("nothing fails yet");
        Self {
            random: Random(seed ^ 0x5eed),
            removed,
            attacks,
            source,
            stores,
            ingest,
            former: None,
            events: vec![Event {
                path: book::FIRST_PAGE.to_owned(),
                then: source_then,
            }],
            tasks: Vec::new(),
            trace: Vec::new(),
            seen: Seen::default(),
            revisions: BTreeMap::new(),
            lost: 0,
        }
    }

    fn suffers(&self, attack: Attack) -> bool {
        self.attacks.contains(&attack)
    }

    pub(super) fn trace(self) -> Vec<String> {
        self.trace
    }

    pub(super) fn run(&mut self) -> Result<(), Failure> {
        let result = self.happen().and_then(|()| self.quieten());
        self.tasks.clear();
        let script = faults::end().expect("the history is running");
        result?;
        // Each revision's texts are embedded once, and again for each lost attempt.
        let lost = self.lost + script.wasted + usize::from(self.suffers(Attack::Damage));
        let texts: usize = self.revisions.values().sum();
        let most = if self.suffers(Attack::Deployment) {
            self.texts_of_a_book()
        } else {
            self.revisions.values().max().copied().unwrap_or(0)
        };
        if script.embedded > texts + lost * most {
            return Err(Failure(format!(
                "{} embeddings of {texts} texts, with {lost} attempts lost",
                script.embedded
            )));
        }
        Ok(())
    }

    /// Runs the eventful phase: files change, tasks run in any order, calls fail, tasks die.
    fn happen(&mut self) -> Result<(), Failure> {
        faults::with(|script| script.failures = FAILURES);
        let steps = if self.suffers(Attack::Deployment) {
            DEPLOYMENT_STEPS
        } else {
            EVENTFUL_STEPS
        };
        for _ in 0..steps {
            match self.random.below(40) {
                // Changes are rare enough that an index sometimes equals the book, which it must to become live.
                1..=3 if self.suffers(Attack::Deployment) => {}
                0..=3 => self.change(),
                4 => self.deliver_again(),
                16 if self.suffers(Attack::Settings) => self.change_settings(),
                17 if self.suffers(Attack::Deployment) => self.deploy(),
                18..=20 if self.suffers(Attack::Deployment) => self.ask_for_sync(),
                5 if !self.tasks.is_empty() => self.crash(),
                6 => self.leap(),
                7 => self.start_sweep(),
                15 if self.suffers(Attack::Comparisons) => self.start_comparison(),
                8..=14 => self.start_handler(),
                _ => {}
            }
            self.step();
            self.check_readers()?;
        }
        Ok(())
    }

    /// Runs the quiet phase: nothing changes or fails, all events are handled, and leftovers are swept.
    fn quieten(&mut self) -> Result<(), Failure> {
        faults::with(|script| script.failures = 0);
        for _ in 0..MAX_STEPS {
            if self.tasks.is_empty() && self.events.is_empty() {
                break;
            }
            self.start_handler();
            self.step();
            self.check_readers()?;
        }
        if !(self.tasks.is_empty() && self.events.is_empty()) {
            return Err(Failure("events are served without end".to_owned()));
        }
        if self.suffers(Attack::Deployment) {
            self.finish_deployment()?;
        }
        // Intents are claimed after one leap and their rows deleted after the next; a retired index is dropped after four.
        for _ in 0..6 {
            self.pass_time();
            block_on(sweep(&self.ingest.catalog, &self.ingest.index, None))?;
        }
        if self.suffers(Attack::Damage) {
            self.mend()?;
        }
        self.check_end()
    }

    /// Damages the store by losing one point and adding a stray one. Comparing must find both while a handler is active, and
    /// repairing must fix them.
    fn mend(&mut self) -> Result<(), Failure> {
        let damaged = Uuid::from_u64_pair(self.random.number(), self.random.number());
        let collection = self.live().collection;
        let lost = self.random.below(1_000);
        let damage = self.stores.index.damage(&collection, lost, damaged);
        let holds_points = block_on(damage).expect("the index answers");
        let differences = block_on(self.ingest.compare())?;
        if differences.stray != Vec::from_iter(holds_points.then_some(damaged))
            || differences.lost.len() != usize::from(holds_points)
        {
            return Err(Failure(format!("the comparison finds {differences:?}")));
        }
        block_on(self.ingest.repair(&differences))?;
        Ok(())
    }

    fn change(&mut self) {
        let paths = book::change(&self.source, &mut self.random);
        self.note_texts();
        self.trace.push(format!("change {paths:?}"));
        for path in paths {
            let event = Event {
                path,
                then: self.source.snapshot(),
            };
            self.events.push(event);
        }
    }

    /// Delivers an event twice, as a queue may.
    fn deliver_again(&mut self) {
        if !self.events.is_empty() {
            let at = self.random.below(self.events.len());
            self.events.push(self.events[at].clone());
        }
    }

    fn start_handler(&mut self) {
        if self.events.is_empty() || self.tasks.len() >= MAX_TASKS {
            return;
        }
        let event = self
            .events
            .swap_remove(self.random.below(self.events.len()));
        let event_is_sync = event.path == SYNC;
        let mut ingest = match &self.former {
            Some(_) if event_is_sync => self.ingest.clone(),
            Some(former) if self.random.below(4) > 0 => former.clone(),
            _ => self.ingest.clone(),
        };
        let source = if self.removed == Some(Part::LevelTriggered) {
            event.then.clone()
        } else {
            self.source.reader()
        };
        ingest.catalog = Catalog::Faulty(self.stores.catalog.freezing(Arc::new(source.clone())));
        ingest.source = Source::Memory(source);
        // Each handler is a separate process.
        ingest.batches = Batches::default();
        let path = event.path.clone();
        self.trace.push(format!("serve {path}"));
        self.tasks.push(Task {
            work: if event_is_sync {
                Box::pin(run_over_the_book(ingest))
            } else if self.suffers(Attack::Settings) || self.suffers(Attack::Deployment) {
                Box::pin(serve_with_settings(ingest, path))
            } else {
                Box::pin(serve(ingest, path))
            },
            event: Some(event),
            leaps: 0,
        });
    }

    fn change_settings(&mut self) {
        let path = book::change_settings(&self.source, &mut self.random);
        self.note_texts();
        self.trace.push("change the settings".to_owned());
        let then = self.source.snapshot();
        self.events.push(Event { path, then });
    }

    /// Starts the second deployment, whose handlers run beside the former ones.
    fn deploy(&mut self) {
        if self.ingest.options.policy.name == NEXT_POLICY.name {
            return;
        }
        self.trace.push("deploy".to_owned());
        self.former = Some(self.ingest.clone());
        self.ingest.options.policy = NEXT_POLICY;
        if self.suffers(Attack::Renaming) {
            "renamed".clone_into(&mut self.ingest.options.site);
        }
        self.note_texts();
    }

    /// Requests a run over the whole book, which switches once its index is complete. The event is repeated until the run ends.
    fn ask_for_sync(&mut self) {
        if self.events.iter().all(|event| event.path != SYNC) {
            let then = self.source.snapshot();
            let path = SYNC.to_owned();
            self.events.push(Event { path, then });
        }
    }

    fn finish_deployment(&mut self) -> Result<(), Failure> {
        let max_tokens = self.ingest.embedder.identity().max_tokens;
        let next = NEXT_POLICY.for_input(max_tokens).identity();
        if self.live().spec.chunk_policy == next {
            // All events were handled, so the new index already equals the book.
            self.check_rows()?;
        }
        self.deploy();
        block_on(run_over_the_book(self.ingest.clone()))
            .map_err(|error| Failure(error.to_string()))?;
        let live = self.live();
        if live.spec.chunk_policy != next {
            return Err(Failure(format!("{live:?} is still the live index")));
        }
        Ok(())
    }

    fn live(&self) -> IndexRow {
        let live = block_on(self.stores.tables().live_index());
        live.expect("the catalog answers").expect("there is one")
    }

    fn start_sweep(&mut self) {
        let ingest = self.ingest.clone();
        self.trace.push("sweep".to_owned());
        self.tasks.push(Task {
            work: Box::pin(
                async move { sweep(&ingest.catalog, &ingest.index, None).await.map(drop) },
            ),
            event: None,
            leaps: 0,
        });
    }

    /// Starts a reconcile, which compares and repairs alongside the writers. It must find nothing lost. Stray points are leftovers
    /// of late writers, or already deleted.
    fn start_comparison(&mut self) {
        let ingest = self.ingest.clone();
        self.trace.push("compare".to_owned());
        self.tasks.push(Task {
            work: Box::pin(async move {
                let ingest = ingest.reopened(OpenMode::Write).await?;
                let differences = ingest.compare().await?;
                assert!(differences.lost.is_empty(), "{differences:?}");
                ingest.repair(&differences).await?;
                Ok(())
            }),
            event: None,
            leaps: 0,
        });
    }

    /// Kills a process between two calls.
    fn crash(&mut self) {
        let at = self.random.below(self.tasks.len());
        self.trace.push(format!("crash {at}"));
        let task = self.tasks.swap_remove(at);
        self.lose(task);
    }

    fn lose(&mut self, task: Task) {
        self.lost += 1;
        self.events.extend(task.event);
    }

    /// Advances the clock so that intents become old. Tasks that were alive at the previous leap die.
    fn leap(&mut self) {
        self.trace.push("leap".to_owned());
        self.pass_time();
        let (old, young): (Vec<_>, Vec<_>) = std::mem::take(&mut self.tasks)
            .into_iter()
            .partition(|task| task.leaps > 0);
        self.tasks = young;
        for task in &mut self.tasks {
            task.leaps += 1;
        }
        for task in old {
            self.lose(task);
        }
    }

    fn pass_time(&self) {
        block_on(self.stores.catalog.pass(LEAP)).expect("the catalog answers");
    }

    /// Runs one task up to its next call.
    fn step(&mut self) {
        if self.tasks.is_empty() {
            return;
        }
        let at = self.random.below(self.tasks.len());
        let mut context = Context::from_waker(Waker::noop());
        match self.tasks[at].work.as_mut().poll(&mut context) {
            Poll::Pending => {}
            Poll::Ready(Ok(())) => {
                self.trace.push(format!("done {at}"));
                self.tasks.swap_remove(at);
            }
            Poll::Ready(Err(error)) => {
                self.trace.push(format!("failed {at}: {error}"));
                let task = self.tasks.swap_remove(at);
                self.lose(task);
            }
        }
    }

    /// Returns the most texts that a batch can hold: the sum over pages of their longest revision.
    fn texts_of_a_book(&self) -> usize {
        let mut longest: BTreeMap<&str, usize> = BTreeMap::new();
        for ((source, _), texts) in &self.revisions {
            let page = longest.entry(source).or_default();
            *page = (*page).max(*texts);
        }
        longest.values().sum()
    }

    fn note_texts(&mut self) {
        let files = self.source.files();
        let paths = files.keys().cloned().collect();
        let settings = &book::settings(&files);
        for page in list_pages(settings, &paths) {
            let bytes = &files[&page.source];
            let inputs = inputs_of(settings, &page, bytes, &files);
            let Ok(document) =
                read_document(settings, &self.ingest.options.site, &page, bytes, &inputs)
            else {
                continue;
            };
            let chunks = chunk_document(&document, &self.ingest.options.policy);
            let embedder = &self.ingest.embedder;
            let windows = chunks.iter().map(|chunk| {
                let windows = embedder.windows(&chunk.breadcrumb, &chunk.text);
                windows.texts.len()
            });
            let questions: BTreeSet<&String> = chunks.iter().flat_map(|it| &it.questions).collect();
            let texts = windows.sum::<usize>() + questions.len();
            let ids = chunks.iter().map(|chunk| chunk.chunk_id).collect();
            let most = self.revisions.entry((page.source, ids)).or_default();
            *most = texts.max(*most);
        }
    }
}

fn inputs_of(
    settings: &SiteSettings,
    page: &::book::PageFile,
    bytes: &[u8],
    files: &BTreeMap<String, Vec<u8>>,
) -> Inputs {
    let mut inputs = Inputs::new();
    loop {
        let missing = missing_inputs(settings, page, bytes, &inputs);
        if missing.is_empty() {
            return inputs;
        }
        inputs.extend(missing.into_keys().map(|path| {
            let content = files.get(&path).cloned();
            (path, content.into())
        }));
    }
}
