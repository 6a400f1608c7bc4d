//! Which files of a folder are published: of a repository those that git tracks, and otherwise those that no ignore file names.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use super::git_index::{GitIndex, git_folder, read_index};
use super::{REPOSITORY_MARK, read_bytes, slashed};

const IGNORE_FILE: &str = ".gitignore";

/// The ignore file of one checkout, in git's own folder.
const EXCLUDE_FILE: &str = "info/exclude";

/// The most bytes of an ignore file, far above any handwritten one.
const MAX_IGNORE_BYTES: usize = 256 << 10;

/// The greatest depth of submodules within submodules.
const MAX_SUBMODULES: usize = 8;

/// Knows which files are published, from ignore files and indexes. These are parsed again only if they change.
#[derive(Debug, Default)]
pub(super) struct Published {
    indexes: Parsed<GitIndex>,
    rules: Parsed<Gitignore>,
    /// The ignore file of all repositories of the user.
    users_rules: OnceLock<Arc<Gitignore>>,
}

impl Published {
    /// True if the site's folder is a part of the repository. The repository of a home folder that tracks settings alone says nothing about a site
    /// that was saved below it.
    pub(super) fn is_part(&self, repository: &Path, site: &Path) -> bool {
        let Some(folder) = site.strip_prefix(repository).ok().and_then(slashed) else {
            return false;
        };
        let Some(index) = self.index(repository) else {
            return folder.is_empty();
        };
        folder.is_empty() || index.is_empty() || index.has_below(&folder)
    }

    /// True if git tracks the file with this path in a repository, or in one of its submodules.
    pub(super) fn is_tracked(&self, repository: &Path, path: &str) -> bool {
        self.is_tracked_below(repository, path, MAX_SUBMODULES)
    }

    fn is_tracked_below(&self, repository: &Path, path: &str, depth: usize) -> bool {
        let Some(index) = self.index(repository).filter(|it| !it.is_empty()) else {
            return false;
        };
        if index.contains(path) {
            return true;
        }
        let mut folders = path.match_indices('/').map(|(at, _)| path.split_at(at));
        let submodule = folders.find(|(folder, _)| index.contains(folder));
        submodule.is_some_and(|(folder, rest)| {
            depth > 0 && self.is_tracked_below(&repository.join(folder), &rest[1..], depth - 1)
        })
    }

    /// True if an ignore file in the folder `root` or below names the file, or a folder that it is in. Also if an ignore file cannot be read.
    pub(super) fn is_ignored(&self, root: &Path, path: &str) -> bool {
        self.is_named_in_rules(root, path).unwrap_or(true)
    }

    fn is_named_in_rules(&self, root: &Path, path: &str) -> Result<bool, Unreadable> {
        let users = self.users_rules.get_or_init(|| {
            let (rules, _) = GitignoreBuilder::new("").build_global();
            Arc::new(rules)
        });
        let mut rules = vec![Arc::clone(users)];
        rules.extend(self.rules(root, &git_folder(root).join(EXCLUDE_FILE))?);
        let mut at = root.to_owned();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            rules.extend(self.rules(&at, &at.join(IGNORE_FILE))?);
            at.push(name);
            let is_folder = names.peek().is_some();
            // The innermost rules about a name count, and nothing below an ignored folder is read.
            let mut matches = rules.iter().rev().map(|it| it.matched(&at, is_folder));
            let first = matches.find(|it| !it.is_none());
            if first.is_some_and(|it| it.is_ignore()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the rules of an ignore file for a folder; `None` if there is no such file.
    fn rules(&self, folder: &Path, file: &Path) -> Result<Option<Arc<Gitignore>>, Unreadable> {
        self.rules.get(file, |file| rules_of(folder, file))
    }

    /// Returns the index of a repository, which is empty if nothing was ever added; `None` if it cannot be read.
    fn index(&self, repository: &Path) -> Option<Arc<GitIndex>> {
        let file = git_folder(repository).join("index");
        let index = self.indexes.get(&file, read_index);
        index.ok().map(Option::unwrap_or_default)
    }
}

/// True for the root of a repository.
pub(super) fn is_repository(folder: &Path) -> bool {
    folder.join(REPOSITORY_MARK).exists()
}

/// Reads an ignore file whose rules are for a folder. Lines that are not rules are left out, as git does; `None` if the file cannot be read.
fn rules_of(folder: &Path, file: &Path) -> Option<Gitignore> {
    let bytes = read_bytes(file, MAX_IGNORE_BYTES + 1).ok()?;
    if bytes.len() > MAX_IGNORE_BYTES {
        return None;
    }
    let mut rules = GitignoreBuilder::new(folder);
    for line in String::from_utf8_lossy(&bytes).lines() {
        let _ = rules.add_line(None, line);
    }
    rules.build().ok()
}

struct Unreadable;

/// Files by path, with what was parsed from them and the state of the file at that time.
#[derive(Debug)]
struct Parsed<T> {
    files: Mutex<HashMap<PathBuf, ParsedFile<T>>>,
}

/// The state of a file, and what was parsed from it; `None` if it could not be.
type ParsedFile<T> = (FileState, Option<Arc<T>>);

/// The length of a file, and the time of its last change.
type FileState = (u64, Option<SystemTime>);

impl<T> Default for Parsed<T> {
    fn default() -> Self {
        let files = Mutex::default();
        Self { files }
    }
}

impl<T> Parsed<T> {
    /// Returns a file as `parse` reads it; `None` if there is no such file.
    fn get(
        &self,
        file: &Path,
        parse: impl FnOnce(&Path) -> Option<T>,
    ) -> Result<Option<Arc<T>>, Unreadable> {
        let metadata = match file.metadata() {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == ErrorKind::NotFound && !file.is_symlink() => {
                return Ok(None);
            }
            Err(_) => return Err(Unreadable),
        };
        let state = (metadata.len(), metadata.modified().ok());
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let parsed = match files.get(file) {
            Some((then, parsed)) if *then == state => parsed.clone(),
            _ => {
                let parsed = parse(file).map(Arc::new);
                files.insert(file.to_owned(), (state, parsed.clone()));
                parsed
            }
        };
        parsed.map(Some).ok_or(Unreadable)
    }
}
