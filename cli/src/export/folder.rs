//! The folder of a built site, and the files that exports write to it.
//!
//! The manifest lists the path and MD5 of each exported file. Files that do not match the manifest are never overwritten or
//! deleted. The manifest is written first, with the old and the new files, so that the next export recognizes
//! the files of an interrupted one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use bookrag::book::etag;

use super::STAMP;
use super::place::is_path;

const MANIFEST: &str = ".bookrag-export";
/// The name of a file while it is written; it is renamed when complete.
const UNFINISHED: &str = ".bookrag-export.new";

/// The folder of a built site.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
    /// The MD5s that earlier exports may have written, by path.
    known: Manifest,
}

type Manifest = BTreeMap<String, BTreeSet<String>>;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// New and changed files.
    pub(crate) written: usize,
    /// Files that were up to date.
    pub(crate) unchanged: usize,
    /// Deleted files of earlier exports.
    pub(crate) removed: usize,
    /// Paths skipped because they hold something that no export wrote.
    pub(crate) kept: Vec<String>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    #[error("{0} is not a folder; build the site first, or name the folder that it was built into")]
    NotAFolder(String),
    #[error("{0} cannot be written: {1}")]
    Unwritable(String, io::Error),
}

/// What a path holds.
enum Found {
    Nothing,
    /// A file of an earlier export.
    Own,
    /// A file that already has the new text, though it may have been made earlier, and its hash.
    Same(String),
    Other,
}

impl Folder {
    /// Opens an existing folder.
    ///
    /// # Errors
    /// If it is not a folder, or its manifest cannot be read.
    pub(crate) fn open(root: &Path) -> Result<Self, FolderError> {
        if !root.is_dir() {
            return Err(FolderError::NotAFolder(root.display().to_string()));
        }
        let manifest = match fs::read_to_string(root.join(MANIFEST)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(FolderError::Unwritable(MANIFEST.to_owned(), error)),
        };
        let mut known = Manifest::new();
        for (hash, path) in manifest.lines().filter_map(|line| line.split_once("  ")) {
            known
                .entry(path.to_owned())
                .or_default()
                .insert(hash.to_owned());
        }
        Ok(Self {
            root: root.to_owned(),
            known,
        })
    }

    /// Writes these files, by path, and deletes all others of earlier exports.
    ///
    /// # Errors
    /// If the system refuses to write. Files already written are complete.
    pub(crate) fn write(&self, files: &BTreeMap<String, String>) -> Result<Outcome, FolderError> {
        let mut outcome = Outcome::default();
        let mut changed = Vec::new();
        let (mut before, mut after) = (self.known.clone(), Manifest::new());
        for (path, text) in files {
            let hash = match self.find(path, Some(text)) {
                Found::Other => {
                    outcome.kept.push(path.clone());
                    continue;
                }
                Found::Same(hash) => {
                    outcome.unchanged += 1;
                    hash
                }
                Found::Nothing | Found::Own => {
                    changed.push((path, text));
                    etag(text.as_bytes())
                }
            };
            before.entry(path.clone()).or_default().insert(hash.clone());
            after.insert(path.clone(), BTreeSet::from([hash]));
        }
        self.put(MANIFEST, &written(&before))?;
        for (path, text) in changed {
            self.put(path, text)?;
            outcome.written += 1;
        }
        for path in self.known.keys().filter(|path| !files.contains_key(*path)) {
            if matches!(self.find(path, None), Found::Own) {
                let file = self.root.join(path);
                fs::remove_file(file).map_err(|error| unwritable(path, error))?;
                outcome.removed += 1;
            }
        }
        self.put(MANIFEST, &written(&after))?;
        Ok(outcome)
    }

    /// Returns what a path holds; `text` is the new text. Symbolic links are not followed, so that nothing outside of the folder
    /// is touched.
    fn find(&self, path: &str, text: Option<&str>) -> Found {
        if !is_path(path) {
            return Found::Other;
        }
        let mut at = self.root.clone();
        let mut names = path.split('/').peekable();
        while let Some(name) = names.next() {
            at.push(name);
            let is_file = names.peek().is_none();
            match fs::symlink_metadata(&at) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Found::Nothing,
                Ok(found) if is_file && found.is_file() => {}
                Ok(found) if !is_file && found.is_dir() => {}
                _ => return Found::Other,
            }
        }
        let Ok(bytes) = fs::read(&at) else {
            return Found::Other;
        };
        let found = etag(&bytes);
        let is_own = (self.known.get(path)).is_some_and(|known| known.contains(&found));
        match text {
            Some(text) if bytes == text.as_bytes() => Found::Same(found),
            Some(text) if is_own && is_same(&bytes, text) => Found::Same(found),
            _ if is_own => Found::Own,
            _ => Found::Other,
        }
    }

    /// Writes a file atomically.
    fn put(&self, path: &str, text: &str) -> Result<(), FolderError> {
        let file = self.root.join(path);
        let folder = file.parent().unwrap_or(&self.root);
        let unfinished = folder.join(UNFINISHED);
        fs::create_dir_all(folder)
            .and_then(|()| write_new(&unfinished, text))
            .and_then(|()| fs::rename(&unfinished, &file))
            .map_err(|error| {
                let _ = fs::remove_file(&unfinished);
                unwritable(path, error)
            })
    }
}

/// True if a file of an export differs from a new text at most in when it was made.
fn is_same(bytes: &[u8], text: &str) -> bool {
    let former = str::from_utf8(bytes).ok().and_then(without_stamp);
    former.is_some() && former == without_stamp(text)
}

/// Returns what comes before and after the line that says when a text was made.
fn without_stamp(text: &str) -> Option<(&str, Option<&str>)> {
    let (before, rest) = text.split_once(STAMP)?;
    Some((before, rest.split_once('\n').map(|(_, after)| after)))
}

/// Writes a file, replacing an existing one. An existing symbolic link is not followed.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut new = fs::File::create_new(path)?;
    io::Write::write_all(&mut new, text.as_bytes())
}

fn unwritable(path: &str, error: io::Error) -> FolderError {
    FolderError::Unwritable(path.to_owned(), error)
}

fn written(manifest: &Manifest) -> String {
    let lines = manifest
        .iter()
        .flat_map(|(path, hashes)| hashes.iter().map(move |hash| format!("{hash}  {path}\n")));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(texts: &[(&str, &str)]) -> BTreeMap<String, String> {
        let owned = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
        texts.iter().map(owned).collect()
    }

    fn export(folder: &Path, texts: &[(&str, &str)]) -> (usize, usize, usize, Vec<String>) {
        let outcome = Folder::open(folder).unwrap().write(&files(texts)).unwrap();
        (
            outcome.written,
            outcome.unchanged,
            outcome.removed,
            outcome.kept,
        )
    }

    #[test]
    fn only_files_of_former_exports_are_written_over_and_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let read = |path: &str| fs::read_to_string(at(path)).unwrap();
        fs::create_dir(at("docs")).unwrap();
        fs::write(at("docs/own.md"), "the author's").unwrap();
        let first = [("docs/a.md", "1"), ("docs/own.md", "2"), ("x/y.md", "3")];
        let own = vec!["docs/own.md".to_owned()];
        assert_eq!(export(folder.path(), &first), (2, 0, 0, own.clone()));
        assert_eq!(export(folder.path(), &first), (0, 2, 0, own));
        // A file edited since no longer belongs to the export, and is neither overwritten nor deleted.
        fs::write(at("docs/a.md"), "edited").unwrap();
        let edited = vec!["docs/a.md".to_owned()];
        assert_eq!(
            export(folder.path(), &[("docs/a.md", "4"), ("x/y.md", "5")]),
            (1, 0, 0, edited)
        );
        assert_eq!(export(folder.path(), &[]), (0, 0, 1, Vec::new()));
        assert_eq!(read("docs/a.md"), "edited");
        assert_eq!(read("docs/own.md"), "the author's");
        assert!(!at("x/y.md").exists());
    }

    #[test]
    fn an_export_recognizes_the_files_of_an_interrupted_one() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        export(folder.path(), &[("a.md", "old"), ("b.md", "old")]);
        // Writing the last file of the next export fails.
        let opened = Folder::open(folder.path()).unwrap();
        fs::create_dir_all(at("z").join(UNFINISHED)).unwrap();
        let second = files(&[("a.md", "new"), ("b.md", "new"), ("z/c.md", "new")]);
        opened.write(&second).unwrap_err();
        assert_eq!(fs::read_to_string(at("a.md")).unwrap(), "new");
        fs::remove_dir(at("z").join(UNFINISHED)).unwrap();
        let third = [("a.md", "third"), ("b.md", "third"), ("z/c.md", "third")];
        assert_eq!(export(folder.path(), &third), (3, 0, 0, Vec::new()));
    }

    #[cfg(unix)]
    #[test]
    fn nothing_outside_the_folder_is_written_or_removed() {
        let outside = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        let target = outside.path().join("target.md");
        fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(outside.path(), at("linked")).unwrap();
        std::os::unix::fs::symlink(&target, at("file.md")).unwrap();
        std::os::unix::fs::symlink(&target, at(UNFINISHED)).unwrap();
        let parent = format!("{}  ../target.md\n", etag(b"mine"));
        fs::write(
            at(MANIFEST),
            parent + &format!("{}  file.md\n", etag(b"mine")),
        )
        .unwrap();
        let hostile = [
            ("linked/new.md", "x"),
            ("file.md", "x"),
            ("../x.md", "x"),
            ("/tmp/x.md", "x"),
            ("a/../../x.md", "x"),
            ("good.md", "x"),
        ];
        let (written, _, removed, kept) = export(folder.path(), &hostile);
        assert_eq!((written, removed, kept.len()), (1, 0, 5), "{kept:?}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
        let missing = Folder::open(&at("none")).unwrap_err().to_string();
        assert!(missing.contains("is not a folder"), "{missing}");
    }
}
