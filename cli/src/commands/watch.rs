//! Watches the folders that a book is read from.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bookrag::catalog::CatalogError;
use bookrag::ingest::Ingest;
use bookrag::source::Source;
use notify::{Event, EventHandler, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

use super::CommandError;

/// How often a folder is polled if the system cannot watch it.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// Writes closer together than this, as an editor or `git` makes them, belong together.
const QUIET_AFTER_CHANGE: Duration = Duration::from_millis(300);
/// The longest wait for the end of a change. A file that is written all the time must not hold back the others.
const MAX_WAIT_FOR_QUIET: Duration = Duration::from_secs(2);

/// Folders to watch, with or without their subfolders.
pub(super) type Folders = BTreeMap<PathBuf, RecursiveMode>;

/// Returns the folders in which a change may concern the book: the site's, those of pages beside it, those of other files that pages use, and the
/// build.
pub(super) async fn watched_folders(
    ingest: &Ingest,
    build: Option<&Path>,
) -> Result<Folders, CatalogError> {
    let Source::Folder(source) = &ingest.source else {
        return Ok(Folders::new());
    };
    let whole = source
        .folders()
        .into_iter()
        .chain(build.map(Path::to_owned));
    let mut folders: Folders = whole
        .filter(|folder| folder.is_dir())
        .map(|folder| (folder, RecursiveMode::Recursive))
        .collect();
    let inputs = ingest.catalog.outer_inputs(ingest.index_row.index_id);
    for path in inputs.await? {
        let Some(file) = source.full_path(&path) else {
            continue;
        };
        // A file that is only looked for may be in a folder that does not exist yet.
        let folder = file.ancestors().skip(1).find(|folder| folder.is_dir());
        if let Some(folder) = folder
            && !folders
                .iter()
                .any(|(known, mode)| *mode == RecursiveMode::Recursive && folder.starts_with(known))
        {
            folders
                .entry(folder.to_owned())
                .or_insert(RecursiveMode::NonRecursive);
        }
    }
    Ok(folders)
}

/// Reports changes in folders until it is dropped.
pub(super) struct Watch {
    watcher: FolderWatcher,
    folders: Folders,
    /// The folder of the stores, which may be in the site's. Its changes are ignored.
    stores: PathBuf,
    changed: mpsc::Sender<()>,
    changes: mpsc::Receiver<()>,
}

enum FolderWatcher {
    /// The system's watcher.
    Native { _watcher: RecommendedWatcher },
    /// Polls every [`POLL_INTERVAL`].
    Polling { _watcher: PollWatcher },
}

impl Watch {
    pub(super) fn start(folders: Folders, stores: &Path) -> Result<Self, CommandError> {
        let (changed, changes) = mpsc::channel(1);
        let stores = stores.canonicalize().unwrap_or_else(|_| stores.to_owned());
        Ok(Self {
            watcher: watcher(&folders, &stores, &changed)?,
            folders,
            stores,
            changed,
            changes,
        })
    }

    /// Watches these folders instead.
    pub(super) fn follow(&mut self, folders: Folders) -> Result<(), CommandError> {
        if folders == self.folders {
            return Ok(());
        }
        let watcher = watcher(&folders, &self.stores, &self.changed)?;
        drop(std::mem::replace(&mut self.watcher, watcher));
        self.folders = folders;
        // A file may have changed after it was read and before it was watched.
        let _ = self.changed.try_send(());
        Ok(())
    }

    /// Waits for a change.
    pub(super) async fn changed(&mut self) {
        // The channel is never closed, because this holds its sender too.
        let _ = self.changes.recv().await;
    }

    /// Waits until writes that belong together are over, [`MAX_WAIT_FOR_QUIET`] at most. Returns whether they are.
    pub(super) async fn settle(&mut self) -> bool {
        let end = Instant::now() + MAX_WAIT_FOR_QUIET;
        while Instant::now() < end {
            if timeout(QUIET_AFTER_CHANGE, self.changed()).await.is_err() {
                return true;
            }
        }
        false
    }

    /// True if nothing has changed since the last wait.
    pub(super) fn is_quiet(&self) -> bool {
        self.changes.is_empty()
    }
}

/// Watches folders. The system's watcher takes all of their subfolders or none, so polling replaces it if one is unreadable.
fn watcher(
    folders: &Folders,
    stores: &Path,
    changed: &mpsc::Sender<()>,
) -> Result<FolderWatcher, CommandError> {
    let reporter = Reporter {
        stores: stores.to_owned(),
        changed: changed.clone(),
    };
    // Links to folders are not followed, as when pages are listed.
    let options = notify::Config::default()
        .with_follow_symlinks(false)
        .with_poll_interval(POLL_INTERVAL);
    let watched = RecommendedWatcher::new(reporter.clone(), options).and_then(|mut watcher| {
        follow(&mut watcher, folders)?;
        Ok(FolderWatcher::Native { _watcher: watcher })
    });
    let watched = watched.or_else(|_| {
        let mut watcher = PollWatcher::new(reporter, options)?;
        follow(&mut watcher, folders)?;
        Ok(FolderWatcher::Polling { _watcher: watcher })
    });
    watched.map_err(|error: notify::Error| {
        let folders: Vec<String> = folders.keys().map(|it| it.display().to_string()).collect();
        CommandError::Message(format!("{} cannot be watched: {error}", folders.join(", ")))
    })
}

fn follow(watcher: &mut impl Watcher, folders: &Folders) -> notify::Result<()> {
    let mut folders = folders.iter();
    folders.try_for_each(|(folder, mode)| watcher.watch(folder, *mode))
}

/// Reports the events of a watcher.
#[derive(Clone)]
struct Reporter {
    /// The folder of the stores, whose changes are ignored.
    stores: PathBuf,
    changed: mpsc::Sender<()>,
}

impl EventHandler for Reporter {
    fn handle_event(&mut self, event: notify::Result<Event>) {
        // Reads are events too, and are ignored. If the channel is full, a sync is already due.
        if event.is_ok_and(|event| !event.kind.is_access() && !self.is_of_stores(&event)) {
            let _ = self.changed.try_send(());
        }
    }
}

impl Reporter {
    fn is_of_stores(&self, event: &Event) -> bool {
        let mut paths = event.paths.iter();
        !event.paths.is_empty() && paths.all(|path| path.starts_with(&self.stores))
    }
}
