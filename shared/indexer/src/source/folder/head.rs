//! The commit that is checked out in a repository, from the files in which git keeps references
//! (<https://git-scm.com/docs/gitrepository-layout>).

use std::path::Path;

use super::git_index::git_folder;
use super::read_bytes;
use crate::source::commit_hash;
use crate::source::site_folder::is_plain;

/// The most bytes of a file with one reference.
const MAX_REFERENCE: usize = 4_096;

/// The most bytes of the file with all references that have none of their own.
const MAX_PACKED: usize = 16 << 20;

/// Returns the hash of the commit that is checked out; `None` if there is none, or the references are stored otherwise.
pub(super) fn commit_of(repository: &Path) -> Option<String> {
    let folder = git_folder(repository);
    let head = text(&folder.join("HEAD"), MAX_REFERENCE)?;
    let Some(name) = head.strip_prefix("ref:").map(str::trim) else {
        return commit_hash(&head);
    };
    if !is_plain(name) {
        return None;
    }
    // The branches of a worktree are in the folder of its repository.
    let common = text(&folder.join("commondir"), MAX_REFERENCE);
    let common = common.map_or_else(|| folder.clone(), |common| folder.join(common.trim()));
    match text(&common.join(name), MAX_REFERENCE) {
        Some(hash) => commit_hash(&hash),
        None => packed(&text(&common.join("packed-refs"), MAX_PACKED)?, name),
    }
}

/// Returns the hash of a reference among lines of `HASH NAME`.
fn packed(references: &str, name: &str) -> Option<String> {
    let mut references = references.lines().filter_map(|line| line.split_once(' '));
    references.find_map(|(hash, named)| (named == name).then(|| commit_hash(hash))?)
}

/// Reads a file; `None` if it does not exist, is too large, or is not UTF-8.
fn text(file: &Path, most: usize) -> Option<String> {
    let bytes = read_bytes(file, most + 1).ok()?;
    (bytes.len() <= most).then(|| String::from_utf8(bytes).ok())?
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_commit_is_found_wherever_git_keeps_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let (root, hash) = (folder.path(), |digit: &str| digit.repeat(40));
        let write = |path: &str, text: &str| {
            let file = root.join(path);
            fs::create_dir_all(file.parent().expect("a parent")).expect("writable");
            fs::write(file, text).expect("writable");
        };
        assert_eq!(commit_of(root), None);
        write(".git/HEAD", &format!("{}\n", hash("a")));
        assert_eq!(commit_of(root), Some(hash("a")));
        write(".git/HEAD", "ref: refs/heads/main\n");
        assert_eq!(commit_of(root), None);
        let lines = format!("# pack-refs\n{} refs/heads/main\n", hash("b"));
        write(".git/packed-refs", &lines);
        assert_eq!(commit_of(root), Some(hash("b")));
        write(".git/refs/heads/main", &hash("c"));
        assert_eq!(commit_of(root), Some(hash("c")));
        write(".git/worktrees/w/HEAD", "ref: refs/heads/main\n");
        write(".git/worktrees/w/commondir", "../..\n");
        write("w/.git", "gitdir: ../.git/worktrees/w\n");
        assert_eq!(commit_of(&root.join("w")), Some(hash("c")));
        write(".git/HEAD", "ref: ../../elsewhere\n");
        write("elsewhere", &hash("d"));
        assert_eq!(commit_of(root), None);
    }
}
