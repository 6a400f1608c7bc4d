//! The folder: its lock, its collections, their aliases. Blocking; callers use `spawn_blocking`.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use qdrant_client::qdrant::alias_operations::Action;
use qdrant_client::qdrant::{AliasOperations, CreateCollection};

use super::collection::Collection;
use super::convert;
use super::error::{CallError, EngineError};
use super::{files, panic_message, space};

const LOCK_FILE: &str = "lock";
const ALIASES_FILE: &str = "aliases.json";
const COLLECTIONS_FOLDER: &str = "collections";

/// Names are folder names, so what some file system refuses is refused everywhere, as by Qdrant's server.
const NAME_LENGTHS: std::ops::RangeInclusive<usize> = 1..=255;
const FORBIDDEN_IN_NAMES: [char; 9] = ['<', '>', ':', '"', '/', '\\', '|', '?', '*'];

/// Everything in the folder.
#[derive(Debug)]
pub(super) struct Store {
    folder: PathBuf,
    names: RwLock<Names>,
    /// Held while collections or aliases are made, renamed or removed.
    changing: Mutex<()>,
    /// Last, so that it is released after the collections are closed.
    lock: File,
}

/// What a name stands for.
#[derive(Debug, Default)]
struct Names {
    collections: BTreeMap<String, Arc<Collection>>,
    /// Alias to collection.
    aliases: BTreeMap<String, String>,
}

impl Store {
    /// Locks the folder, making it if need be, and opens all its collections.
    pub(super) fn open(folder: &Path) -> Result<Self, EngineError> {
        let collections_folder = folder.join(COLLECTIONS_FOLDER);
        fs::create_dir_all(&collections_folder)
            .map_err(EngineError::folder(&collections_folder))?;
        let lock = lock(folder)?;
        space::check(folder).map_err(EngineError::folder(folder))??;
        let mut collections = BTreeMap::new();
        let entries =
            fs::read_dir(&collections_folder).map_err(EngineError::folder(&collections_folder))?;
        for entry in entries {
            let entry = entry.map_err(EngineError::folder(&collections_folder))?;
            // What an operating system leaves in any folder.
            if !entry.path().is_dir() {
                continue;
            }
            let name = entry.file_name().to_string_lossy().into_owned();
            match load(folder, &name, &entry.path())? {
                Some(collection) => {
                    collections.insert(name, Arc::new(collection));
                }
                None => {
                    fs::remove_dir_all(entry.path()).map_err(EngineError::folder(&entry.path()))?;
                }
            }
        }
        let mut aliases = load_aliases(folder)?;
        aliases.retain(|_, collection| collections.contains_key(collection));
        Ok(Self {
            folder: folder.to_path_buf(),
            names: RwLock::new(Names {
                collections,
                aliases,
            }),
            changing: Mutex::new(()),
            lock,
        })
    }

    /// Flushes and closes all collections, and unlocks the folder.
    pub(super) fn close(&self) -> Result<(), EngineError> {
        let _changing = self.changing();
        // The aliases stay: a change that waits for the lock writes all of them.
        let collections = std::mem::take(&mut self.write_names().collections);
        for collection in collections.values() {
            collection.close();
        }
        (self.lock.unlock()).map_err(EngineError::folder(&self.folder.join(LOCK_FILE)))
    }

    /// The collection of that name or alias.
    pub(super) fn collection(&self, name: &str) -> Result<Arc<Collection>, CallError> {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        let name = names.aliases.get(name).map_or(name, String::as_str);
        (names.collections.get(name).cloned())
            .ok_or_else(|| CallError::UnknownCollection(name.to_owned()))
    }

    /// The names of all collections, sorted.
    pub(super) fn list(&self) -> Vec<String> {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        names.collections.keys().cloned().collect()
    }

    /// All aliases with their collections, sorted by alias.
    pub(super) fn aliases(&self) -> BTreeMap<String, String> {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        names.aliases.clone()
    }

    /// Makes an empty collection.
    pub(super) fn create(&self, request: CreateCollection) -> Result<(), CallError> {
        let name = request.collection_name.clone();
        check_name(&name)?;
        let schema = convert::collection::schema(request)?;
        let _changing = self.changing();
        if self.aliases().contains_key(&name) {
            return Err(CallError::Invalid(format!(
                "Can't create collection with name {name}. Alias with the same name already exists"
            )));
        }
        if self.list().contains(&name) {
            return Err(CallError::CollectionExists(name));
        }
        let folder = self.folder.join(COLLECTIONS_FOLDER).join(&name);
        // What an earlier creation left that failed half way.
        remove_folder(&folder)?;
        space::check(&self.folder).map_err(CallError::storage(&self.folder))??;
        let collection = Collection::create(&name, &folder, schema)?;
        let collections = self.folder.join(COLLECTIONS_FOLDER);
        files::sync_folder(&collections).map_err(CallError::storage(&collections))?;
        (self.write_names().collections).insert(name, Arc::new(collection));
        Ok(())
    }

    /// Deletes a collection and its aliases; says whether there was one. An alias is not followed, as in Qdrant.
    pub(super) fn delete(&self, name: &str) -> Result<bool, CallError> {
        let _changing = self.changing();
        if !self.list().iter().any(|known| known == name) {
            return Ok(false);
        }
        // Before the collection: when they cannot be saved, nothing has changed.
        let mut aliases = self.aliases();
        aliases.retain(|_, target| target != name);
        self.save_aliases(aliases)?;
        let collection = self.write_names().collections.remove(name);
        if let Some(collection) = collection {
            collection.delete()?;
        }
        Ok(true)
    }

    /// Applies all changes of aliases in their order, or none. A new alias that exists is moved, as in Qdrant.
    pub(super) fn change_aliases(&self, actions: Vec<AliasOperations>) -> Result<(), CallError> {
        let _changing = self.changing();
        let mut aliases = self.aliases();
        for action in actions {
            match action.action {
                Some(Action::CreateAlias(create)) => {
                    let collections = self.list();
                    if !collections.contains(&create.collection_name) {
                        return Err(CallError::UnknownCollection(create.collection_name));
                    }
                    if collections.contains(&create.alias_name) {
                        return Err(CallError::CollectionExists(create.alias_name));
                    }
                    check_name(&create.alias_name)?;
                    aliases.insert(create.alias_name, create.collection_name);
                }
                Some(Action::RenameAlias(rename)) => {
                    if self.list().contains(&rename.new_alias_name) {
                        return Err(CallError::CollectionExists(rename.new_alias_name));
                    }
                    check_name(&rename.new_alias_name)?;
                    let collection = (aliases.remove(&rename.old_alias_name))
                        .ok_or(CallError::UnknownCollection(rename.old_alias_name))?;
                    aliases.insert(rename.new_alias_name, collection);
                }
                Some(Action::DeleteAlias(delete)) => {
                    aliases.remove(&delete.alias_name);
                }
                None => return Err(CallError::Invalid("an alias action is empty".into())),
            }
        }
        self.save_aliases(aliases)
    }

    fn save_aliases(&self, aliases: BTreeMap<String, String>) -> Result<(), CallError> {
        let file = self.folder.join(ALIASES_FILE);
        files::save_json(&file, &aliases).map_err(CallError::storage(&file))?;
        self.write_names().aliases = aliases;
        Ok(())
    }

    fn changing(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_names(&self) -> std::sync::RwLockWriteGuard<'_, Names> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Locks the folder; the file says who holds it, for others that want it.
fn lock(folder: &Path) -> Result<File, EngineError> {
    let path = folder.join(LOCK_FILE);
    let failed = || EngineError::folder(&path);
    let open = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path);
    let mut file = open.map_err(failed())?;
    match file.try_lock() {
        Ok(()) => {
            file.set_len(0).map_err(failed())?;
            file.write_all(holder().as_bytes()).map_err(failed())?;
            Ok(file)
        }
        Err(TryLockError::WouldBlock) => {
            let mut holder = String::new();
            // Where a locked file cannot be read (Windows), the holder is not known.
            if file.read_to_string(&mut holder).is_err() || holder.is_empty() {
                "another process".clone_into(&mut holder);
            }
            Err(EngineError::InUse {
                folder: folder.to_path_buf(),
                holder,
            })
        }
        Err(TryLockError::Error(error)) => Err(failed()(error)),
    }
}

/// This process, for people: `process 4711 (bookrag serve)`.
fn holder() -> String {
    let command = std::env::args().nth(1).unwrap_or_default();
    format!("process {} (bookrag {command})", std::process::id())
}

/// Opens a collection. What the engine cannot read is damaged; what the system does not let it read is not.
fn load(folder: &Path, name: &str, path: &Path) -> Result<Option<Collection>, EngineError> {
    let damaged = |reason| EngineError::Damaged {
        folder: folder.to_path_buf(),
        reason: format!("collection {name}: {reason}"),
    };
    let loaded = catch_unwind(|| Collection::load(name, path));
    match loaded.map_err(|panic| damaged(panic_message(&*panic)))? {
        Err(CallError::Storage { path, source }) if !is_damage(&source) => {
            Err(EngineError::folder(&path)(source))
        }
        loaded => loaded.map_err(|error| damaged(error.to_string())),
    }
}

/// True if a file was read, and is not what it should be, or is missing where it must be.
fn is_damage(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, NotFound, UnexpectedEof};
    matches!(error.kind(), InvalidData | NotFound | UnexpectedEof)
}

fn load_aliases(folder: &Path) -> Result<BTreeMap<String, String>, EngineError> {
    let file = folder.join(ALIASES_FILE);
    match fs::read(&file) {
        Ok(json) => serde_json::from_slice(&json).map_err(|error| EngineError::Damaged {
            folder: folder.to_path_buf(),
            reason: format!("{ALIASES_FILE}: {error}"),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => Err(EngineError::folder(&file)(error)),
    }
}

fn remove_folder(folder: &Path) -> Result<(), CallError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(CallError::storage(folder)(error))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

fn check_name(name: &str) -> Result<(), CallError> {
    let forbidden = |letter: char| FORBIDDEN_IN_NAMES.contains(&letter) || letter.is_control();
    if NAME_LENGTHS.contains(&name.len()) && !name.starts_with('.') && !name.contains(forbidden) {
        return Ok(());
    }
    Err(CallError::Invalid(format!(
        "`{}` cannot be the name of a collection",
        name.escape_debug()
    )))
}
