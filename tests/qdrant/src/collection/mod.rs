//! One collection: its schema and its shard. Blocking; callers use `spawn_blocking`.

mod read;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use qdrant_edge::{EdgeShard, UpdateOperation};

use super::error::CallError;
use super::schema::Schema;

#[derive(Debug)]
pub(crate) struct Collection {
    name: String,
    folder: PathBuf,
    schema: RwLock<Schema>,
    /// `None` once deleted. Readers share the lock; deletion waits for them.
    shard: RwLock<Option<EdgeShard>>,
}

impl Collection {
    /// Creates a collection in a new folder.
    pub(crate) fn create(name: &str, folder: &Path, schema: Schema) -> Result<Self, CallError> {
        fs::create_dir_all(folder)?;
        let shard = EdgeShard::new(folder, schema.vectors.clone())?;
        Ok(Self {
            name: name.to_owned(),
            folder: folder.to_path_buf(),
            schema: RwLock::new(schema),
            shard: RwLock::new(Some(shard)),
        })
    }

    /// Closes the collection and removes its folder. Later calls find no collection.
    pub(crate) fn delete(&self) -> Result<(), CallError> {
        let mut shard = self.shard.write().unwrap_or_else(PoisonError::into_inner);
        drop(shard.take());
        Ok(fs::remove_dir_all(&self.folder)?)
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
        work(shard)
    }

    fn update(&self, operation: UpdateOperation) -> Result<(), CallError> {
        self.with_shard(|shard| Ok(shard.update(operation)?))
    }

    fn schema(&self) -> RwLockReadGuard<'_, Schema> {
        self.schema.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn schema_mut(&self) -> RwLockWriteGuard<'_, Schema> {
        self.schema.write().unwrap_or_else(PoisonError::into_inner)
    }
}
