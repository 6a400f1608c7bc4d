//! The files that git tracks, from a repository's index. The `git` program is not asked, because a repository's settings may name programs that it
//! then runs; the crates that read an index link twenty others, to change repositories as well.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{REPOSITORY_MARK, read_bytes};

/// The most bytes of an index, and of the paths in it: ten times those of a repository of 100,000 files.
const MAX_BYTES: usize = 128 << 20;

/// The longest path on Linux, in bytes.
const MAX_PATH: usize = 4_096;

/// The lengths of SHA-1 and SHA-256, which an index does not name.
const HASH_LENGTHS: [usize; 2] = [20, 32];

/// The bytes of an entry before its hash: times, device, mode, owner and size.
const STATUS_LENGTH: usize = 40;

/// The bits of an entry's flags.
const NAME_LENGTH: u16 = 0xfff;
const IS_EXTENDED: u16 = 0x4000;

/// The paths of the files that a repository tracks, and of its submodules.
#[derive(Debug, Default)]
pub(super) struct GitIndex(BTreeSet<Vec<u8>>);

impl GitIndex {
    /// Parses an index (<https://git-scm.com/docs/index-format>); `None` if it is invalid or of an unknown version.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        HASH_LENGTHS
            .into_iter()
            .find_map(|hash| paths_of(bytes, hash))
            .map(|paths| Self(paths.into_iter().collect()))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.0.contains(path.as_bytes())
    }

    /// True if a file in the folder is tracked.
    pub(super) fn has_below(&self, folder: &str) -> bool {
        let start = format!("{folder}/").into_bytes();
        let mut from = self.0.range(start.clone()..);
        from.next().is_some_and(|path| path.starts_with(&start))
    }
}

/// Returns the folder in which git keeps what concerns one checkout of a repository.
pub(super) fn git_folder(root: &Path) -> PathBuf {
    let mark = root.join(REPOSITORY_MARK);
    // In a worktree and in a submodule, a file names the folder.
    let named = mark.is_file().then(|| read_bytes(&mark, MAX_PATH));
    let named = named.and_then(Result::ok).map(String::from_utf8);
    let folder = named.and_then(Result::ok);
    let folder = folder.as_deref().and_then(|it| it.strip_prefix("gitdir:"));
    folder.map_or(mark, |folder| root.join(folder.trim()))
}

/// Reads the index of a checkout; `None` if it is invalid or too large.
pub(super) fn read_index(file: &Path) -> Option<GitIndex> {
    let bytes = read_bytes(file, MAX_BYTES + 1).ok()?;
    (bytes.len() <= MAX_BYTES).then(|| GitIndex::parse(&bytes))?
}

fn paths_of(bytes: &[u8], hash: usize) -> Option<Vec<Vec<u8>>> {
    let version =
        number(bytes, 4).filter(|it| bytes.starts_with(b"DIRC") && (2..=4).contains(it))?;
    let (mut at, mut paths, mut left) = (12, Vec::<Vec<u8>>::new(), MAX_BYTES);
    for _ in 0..number(bytes, 8)? {
        let start = at;
        at += STATUS_LENGTH + hash;
        let flags = u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?);
        at += if flags & IS_EXTENDED == 0 { 2 } else { 4 };
        let mut path = Vec::new();
        if version == 4 {
            // The path begins as the one before it does, except for its last bytes.
            let last = paths.last().map_or(&[][..], Vec::as_slice);
            let cut = variable_length(bytes, &mut at)?;
            path.extend_from_slice(&last[..last.len().checked_sub(cut)?]);
        }
        let rest = bytes.get(at..)?;
        let end = rest.iter().take(MAX_PATH).position(|byte| *byte == 0)?;
        path.extend_from_slice(&rest[..end]);
        at += end + 1;
        if version < 4 {
            // Entries have multiples of eight bytes.
            at = start + (at - start).next_multiple_of(8);
        }
        let length = usize::from(flags & NAME_LENGTH);
        if length < usize::from(NAME_LENGTH) && path.len() != length {
            return None;
        }
        left = left.checked_sub(path.len())?;
        paths.push(path);
    }
    Some(paths)
}

/// Reads a number of four bytes.
fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Reads a number of seven bits a byte, as git writes the offsets in a pack.
fn variable_length(bytes: &[u8], at: &mut usize) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *bytes.get(*at)?;
        *at += 1;
        value = value.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?.checked_mul(128)?;
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// An index of version 2 or 4 with these paths.
    fn index(version: u32, paths: &BTreeSet<String>) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend(u32::try_from(paths.len()).expect("few paths").to_be_bytes());
        let mut last = "";
        for path in paths {
            let start = bytes.len();
            bytes.extend([1; STATUS_LENGTH + 20]);
            bytes.extend(
                u16::try_from(path.len())
                    .expect("a short path")
                    .to_be_bytes(),
            );
            if version == 4 {
                bytes.push(u8::try_from(last.len()).expect("a short path"));
                bytes.extend(path.bytes().chain([0]));
            } else {
                bytes.extend(path.bytes().chain([0]));
                bytes.resize(start + (bytes.len() - start).next_multiple_of(8), 0);
            }
            last = path;
        }
        bytes
    }

    proptest! {
        #[test]
        fn the_paths_of_an_index_are_those_that_were_written(
            paths in vec("[a-z]{1,9}(/[a-z]{1,9}){0,3}", 0..20),
        ) {
            let paths = BTreeSet::from_iter(paths);
            for version in [2, 4] {
                let index = GitIndex::parse(&index(version, &paths)).expect("a valid index");
                let bytes = paths.iter().map(|path| path.as_bytes().to_vec());
                prop_assert_eq!(&index.0, &bytes.collect());
            }
        }

        #[test]
        fn any_bytes_end(version in 1_u32..6, count: u32, bytes in vec(any::<u8>(), 0..500)) {
            let head = [version.to_be_bytes(), count.to_be_bytes()].concat();
            GitIndex::parse(&[b"DIRC".to_vec(), head, bytes].concat());
        }

        #[test]
        fn a_cut_index_is_invalid(paths in vec("[a-z]{1,9}", 1..9), cut in 1_usize..200) {
            let bytes = index(2, &BTreeSet::from_iter(paths));
            let kept = bytes.len().saturating_sub(cut.max(8));
            prop_assert!(GitIndex::parse(&bytes[..kept]).is_none());
        }
    }
}
