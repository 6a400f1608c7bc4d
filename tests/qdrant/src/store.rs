//! The collections and their aliases. Blocking; callers use `spawn_blocking`.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use qdrant_client::qdrant::alias_operations::Action;
use qdrant_client::qdrant::{AliasOperations, CreateCollection};
use tempfile::TempDir;

use super::collection::Collection;
use super::convert;
use super::error::CallError;

/// Names are folder names. Lengths that some file system refuses are refused everywhere, as by Qdrant's server.
const NAME_LENGTHS: std::ops::RangeInclusive<usize> = 1..=255;
const FORBIDDEN_IN_NAMES: [char; 9] = ['<', '>', ':', '"', '/', '\\', '|', '?', '*'];

/// All collections and aliases of an engine.
#[derive(Debug)]
pub(crate) struct Store {
    names: RwLock<Names>,
    /// The last field, so that it is removed after the collections are closed.
    folder: TempDir,
}

/// The meanings of names.
#[derive(Debug, Default)]
struct Names {
    collections: BTreeMap<String, Arc<Collection>>,
    /// Maps an alias to its collection.
    aliases: BTreeMap<String, String>,
}

impl Store {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {
            names: RwLock::default(),
            folder: tempfile::tempdir()?,
        })
    }

    /// Returns the collection with this name or alias.
    pub(crate) fn collection(&self, name: &str) -> Result<Arc<Collection>, CallError> {
        let names = self.names();
        let name = names.aliases.get(name).map_or(name, String::as_str);
        (names.collections.get(name).cloned())
            .ok_or_else(|| CallError::UnknownCollection(name.to_owned()))
    }

    pub(crate) fn create(&self, request: CreateCollection) -> Result<(), CallError> {
        let name = request.collection_name.clone();
        check_name(&name)?;
        let schema = convert::collection::schema(request)?;
        let mut names = self.names_mut();
        if names.aliases.contains_key(&name) {
            return Err(CallError::Invalid(format!(
                "Can't create collection with name {name}. Alias with the same name already exists"
            )));
        }
        if names.collections.contains_key(&name) {
            return Err(CallError::CollectionExists(name));
        }
        let collection = Collection::create(&name, &self.folder.path().join(&name), schema)?;
        names.collections.insert(name, Arc::new(collection));
        Ok(())
    }

    /// Deletes a collection and its aliases. Returns true if it existed. As in Qdrant, aliases are not resolved.
    pub(crate) fn delete(&self, name: &str) -> Result<bool, CallError> {
        let mut names = self.names_mut();
        let Some(collection) = names.collections.remove(name) else {
            return Ok(false);
        };
        names.aliases.retain(|_, target| target != name);
        collection.delete()?;
        Ok(true)
    }

    /// Creates or moves aliases, all or none.
    pub(crate) fn change_aliases(&self, actions: Vec<AliasOperations>) -> Result<(), CallError> {
        let mut names = self.names_mut();
        let mut aliases = names.aliases.clone();
        for action in actions {
            let Some(Action::CreateAlias(create)) = action.action else {
                return Err(CallError::Unsupported("this change of aliases".into()));
            };
            if !names.collections.contains_key(&create.collection_name) {
                return Err(CallError::UnknownCollection(create.collection_name));
            }
            if names.collections.contains_key(&create.alias_name) {
                return Err(CallError::CollectionExists(create.alias_name));
            }
            check_name(&create.alias_name)?;
            aliases.insert(create.alias_name, create.collection_name);
        }
        names.aliases = aliases;
        Ok(())
    }

    fn names(&self) -> RwLockReadGuard<'_, Names> {
        self.names.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn names_mut(&self) -> RwLockWriteGuard<'_, Names> {
        self.names.write().unwrap_or_else(PoisonError::into_inner)
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
