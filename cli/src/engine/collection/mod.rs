//! One collection: a folder with its schema and its shard. Blocking; callers use `spawn_blocking`.
//!
//! `collection.json` is written last on creation and removed first on deletion, so a folder without it is what an
//! interrupted creation or deletion left.

mod read;
mod write;

use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use qdrant_edge::{EdgeShard, UpdateOperation};

use super::error::CallError;
use super::schema::Schema;
use super::{files, panic_message, space};

const SCHEMA_FILE: &str = "collection.json";
const SHARD_FOLDER: &str = "shard";
const WAL_FOLDER: &str = "wal";

/// An open collection.
#[derive(Debug)]
pub(super) struct Collection {
    name: String,
    folder: PathBuf,
    schema: RwLock<Schema>,
    /// Empty once closed. Readers share it; closing waits for them.
    shard: RwLock<Option<EdgeShard>>,
    /// Held from an update to the end of its flush: `EdgeShard::flush` panics when an update holds the log.
    writing: Mutex<()>,
}

impl Collection {
    /// Makes a collection in a folder that does not exist yet.
    pub(super) fn create(name: &str, folder: &Path, schema: Schema) -> Result<Self, CallError> {
        let shard_folder = folder.join(SHARD_FOLDER);
        fs::create_dir_all(&shard_folder).map_err(CallError::storage(&shard_folder))?;
        let shard = EdgeShard::new(&shard_folder, schema.vectors.clone())?;
        shard.flush();
        save_schema(folder, &schema)?;
        Ok(Self::open(name, folder, schema, shard))
    }

    /// Opens a collection; `None` when its creation or deletion was interrupted.
    pub(super) fn load(name: &str, folder: &Path) -> Result<Option<Self>, CallError> {
        let file = folder.join(SCHEMA_FILE);
        let json = match fs::read(&file) {
            Ok(json) => json,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(CallError::storage(&file)(error)),
        };
        let schema: Schema = serde_json::from_slice(&json)
            .map_err(|error| CallError::storage(&file)(io::Error::from(error)))?;
        let shard_folder = folder.join(SHARD_FOLDER);
        forget_flushed_log(&shard_folder.join(WAL_FOLDER))?;
        let shard = EdgeShard::load(&shard_folder, Some(schema.vectors.clone()))?;
        Ok(Some(Self::open(name, folder, schema, shard)))
    }

    fn open(name: &str, folder: &Path, schema: Schema, shard: EdgeShard) -> Self {
        Self {
            name: name.to_owned(),
            folder: folder.to_path_buf(),
            schema: RwLock::new(schema),
            shard: RwLock::new(Some(shard)),
            writing: Mutex::new(()),
        }
    }

    /// Flushes and closes the files. Calls that come later find no collection.
    pub(super) fn close(&self) {
        let shard = (self.shard.write())
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        // Dropping the shard flushes it.
        drop(shard);
    }

    /// Closes the collection and removes its folder.
    pub(super) fn delete(&self) -> Result<(), CallError> {
        self.close();
        let file = self.folder.join(SCHEMA_FILE);
        fs::remove_file(&file).map_err(CallError::storage(&file))?;
        files::sync_folder(&self.folder).map_err(CallError::storage(&self.folder))?;
        fs::remove_dir_all(&self.folder).map_err(CallError::storage(&self.folder))
    }

    /// Calls `work` on the open shard.
    fn with_shard<T>(
        &self,
        work: impl FnOnce(&EdgeShard) -> Result<T, CallError>,
    ) -> Result<T, CallError> {
        let shard = self.shard.read().unwrap_or_else(PoisonError::into_inner);
        let Some(shard) = shard.as_ref() else {
            return Err(CallError::UnknownCollection(self.name.clone()));
        };
        match catch_unwind(AssertUnwindSafe(|| work(shard))) {
            Ok(result) => result.map_err(|error| error.in_folder(&self.folder)),
            Err(panic) => Err(CallError::Failed {
                folder: self.folder.clone(),
                reason: panic_message(&*panic),
            }),
        }
    }

    /// Applies an update and makes it durable: `EdgeShard::load` does not replay its log.
    fn update(&self, operation: UpdateOperation) -> Result<(), CallError> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        space::check(&self.folder).map_err(CallError::storage(&self.folder))??;
        self.with_shard(|shard| {
            shard.update(operation)?;
            shard.flush();
            Ok(())
        })
    }

    fn schema(&self) -> RwLockReadGuard<'_, Schema> {
        self.schema.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Saves a changed schema, then makes it the one in force.
    fn change_schema(&self, change: impl FnOnce(&mut Schema)) -> Result<(), CallError> {
        // Within the shard's lock, so that nothing is saved into a collection that is being deleted.
        self.with_shard(|_| {
            let mut current = self.schema.write().unwrap_or_else(PoisonError::into_inner);
            let mut changed = current.clone();
            change(&mut changed);
            save_schema(&self.folder, &changed)?;
            *current = changed;
            Ok(())
        })
    }
}

fn save_schema(folder: &Path, schema: &Schema) -> Result<(), CallError> {
    let file = folder.join(SCHEMA_FILE);
    files::save_json(&file, schema).map_err(CallError::storage(&file))
}

/// Removes all closed segments of the write-ahead log but the last, which carries the number of the next operation.
///
/// Every acknowledged operation was flushed to the segments, so the log is only ever written; the engine never
/// shortens it.
fn forget_flushed_log(wal: &Path) -> Result<(), CallError> {
    let entries = fs::read_dir(wal).map_err(CallError::storage(wal))?;
    let mut closed = Vec::new();
    for entry in entries {
        let entry = entry.map_err(CallError::storage(wal))?;
        let start: Option<u64> = (entry.file_name().to_str())
            .and_then(|name| name.strip_prefix("closed-"))
            .and_then(|start| start.parse().ok());
        if let Some(start) = start {
            closed.push((start, entry.path()));
        }
    }
    closed.sort();
    closed.pop();
    // Oldest first: whatever is left after a crash is contiguous.
    for (_, file) in closed {
        fs::remove_file(&file).map_err(CallError::storage(&file))?;
    }
    Ok(())
}
