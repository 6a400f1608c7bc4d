//! A folder of a git repository at one commit, read with the `git` program and without a checkout.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use book::{MAX_PAGE_BYTES, SiteSettings, is_markdown, is_outside, joined, private_name};

use super::folder::{LINK_OUTSIDE, is_tool_folder};
use super::site_folder::SiteFolder;
use super::{Listing, SourceError, is_private, outer_folders};

/// The mode of a symbolic link in a git tree.
const LINK_MODE: &str = "120000";
const MAX_LINKS: usize = 8;

/// The book's files at a commit; clones share the git process that reads them.
#[derive(Debug, Clone)]
pub struct GitSource {
    tree: Arc<Tree>,
    /// The site's folder in the repository.
    pub(super) site: SiteFolder,
    /// The folders outside of the site's that its settings name.
    outer: Vec<String>,
}

#[derive(Debug)]
struct Tree {
    commit: String,
    /// All files of the repository.
    files: BTreeMap<String, Blob>,
    not_utf8: BTreeSet<String>,
    objects: Mutex<Objects>,
}

#[derive(Debug, Clone)]
struct Blob {
    object: String,
    is_link: bool,
}

impl GitSource {
    /// Opens a folder of a repository at a revision, such as `main`, `HEAD^1` or a commit's hash.
    ///
    /// # Errors
    /// [`SourceError::NotFound`] if the revision does not exist or lacks the folder, [`SourceError::Unavailable`] if the folder is in no
    /// repository or git cannot be run.
    pub async fn open(folder: &Path, revision: &str) -> Result<Self, SourceError> {
        let (folder, revision) = (folder.to_owned(), revision.to_owned());
        blocking("the git repository", move || open(&folder, &revision)).await
    }

    /// Returns the commit's hash.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.tree.commit
    }

    pub(super) fn with_settings(self, settings: &SiteSettings) -> Self {
        let outer = outer_folders(settings);
        Self { outer, ..self }
    }

    pub(super) fn has_folder(&self, name: &str) -> bool {
        self.below(name).next().is_some()
    }

    pub(super) fn has_docs(&self, name: &str) -> bool {
        self.below(name).any(is_markdown)
    }

    /// Returns the paths in the repository of the files in a folder.
    fn below(&self, name: &str) -> impl Iterator<Item = &str> {
        let start = self.site.in_root(name).map(|folder| match folder.as_str() {
            "" => folder,
            _ => folder + "/",
        });
        start.into_iter().flat_map(|start| {
            let files = self.tree.files.range(start.clone()..);
            let paths = files.map(|(path, _)| path.as_str());
            paths.take_while(move |path| path.starts_with(&start))
        })
    }

    pub(super) fn listing(&self) -> Listing {
        let front_page = self.site.in_root("index.html");
        let is_build = front_page.is_some_and(|path| self.tree.files.contains_key(&path));
        let skips_tools = self.has_folder("docs") && !is_build;
        Listing {
            paths: self.listed(self.tree.files.keys(), skips_tools),
            not_utf8: self.listed(self.tree.not_utf8.iter(), skips_tools),
            ..Listing::default()
        }
    }

    /// Returns the paths of the repository's files that belong to a listing.
    fn listed<'a>(
        &self,
        files: impl Iterator<Item = &'a String>,
        skips_tools: bool,
    ) -> BTreeSet<String> {
        files
            .map(|path| self.site.of_root(path))
            .filter(|path| self.is_listed(path, skips_tools))
            .collect()
    }

    /// True if a file is in the site's folder or in one that its settings name, and its path is not private.
    fn is_listed(&self, path: &str, skips_tools: bool) -> bool {
        let is_of_book = if is_outside(path) {
            self.outer.iter().any(|folder| {
                path.strip_prefix(folder.as_str())
                    .is_some_and(|rest| rest.starts_with('/'))
            })
        } else {
            let top = path.split_once('/').map_or("", |(top, _)| top);
            !(skips_tools && is_tool_folder(top))
        };
        is_of_book && private_name(path).is_none()
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let file = self.site.in_root(path);
        let Some(file) = file.filter(|file| self.tree.files.contains_key(file)) else {
            return Ok(None);
        };
        let (tree, name) = (Arc::clone(&self.tree), path.to_owned());
        let site = self.site.clone();
        blocking(path, move || tree.read(&file, &name, &site))
            .await
            .map(Some)
    }
}

/// Returns the common ancestor of two revisions.
///
/// # Errors
/// Those of [`GitSource::open`]; also if there is no common ancestor, as in a shallow clone.
pub async fn merge_base(folder: &Path, one: &str, other: &str) -> Result<String, SourceError> {
    let (folder, one, other) = (folder.to_owned(), one.to_owned(), other.to_owned());
    blocking("the git repository", move || {
        for revision in [&one, &other] {
            commit_of(&folder, revision)?;
        }
        let found = git(&folder, &["merge-base", &one, &other])?;
        found.ok_or_else(|| {
            SourceError::NotFound(format!(
                "a commit that both `{one}` and `{other}` come from"
            ))
        })
    })
    .await
}

async fn blocking<T: Send + 'static>(
    path: &str,
    work: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|error| Err(unavailable(path, &error)))
}

fn open(folder: &Path, revision: &str) -> Result<GitSource, SourceError> {
    let commit = commit_of(folder, revision)?;
    let prefix = git(folder, &["rev-parse", "--show-prefix"])?.unwrap_or_default();
    let site = prefix.trim_end_matches('/');
    // The site may use files of the whole repository.
    let listed = run(folder, &["ls-tree", "-r", "-z", "--full-tree", &commit])?.unwrap_or_default();
    let (mut files, mut not_utf8) = (BTreeMap::new(), BTreeSet::new());
    for entry in listed
        .split(|byte| *byte == 0)
        .filter(|entry| !entry.is_empty())
    {
        let Some((blob, path)) = blob_of(entry) else {
            continue;
        };
        match str::from_utf8(path) {
            Ok(path) => drop(files.insert(path.to_owned(), blob)),
            Err(_) => drop(not_utf8.insert(String::from_utf8_lossy(path).into_owned())),
        }
    }
    let mut paths = files.keys().chain(&not_utf8);
    if !paths.any(|path| path.starts_with(&prefix)) {
        return Err(SourceError::NotFound(format!(
            "the folder `{site}` at the revision `{revision}`"
        )));
    }
    let objects = Mutex::new(Objects::start(folder)?);
    Ok(GitSource {
        site: SiteFolder::new(site),
        outer: Vec::new(),
        tree: Arc::new(Tree {
            commit,
            files,
            not_utf8,
            objects,
        }),
    })
}

/// Parses `MODE TYPE HASH<tab>PATH`; `None` if it is not a file, such as a submodule.
fn blob_of(entry: &[u8]) -> Option<(Blob, &[u8])> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let mut fields = str::from_utf8(&entry[..tab]).ok()?.split(' ');
    let (mode, kind, object) = (fields.next()?, fields.next()?, fields.next()?);
    let blob = Blob {
        object: object.to_owned(),
        is_link: mode == LINK_MODE,
    };
    (kind == "blob").then_some((blob, &entry[tab + 1..]))
}

fn commit_of(folder: &Path, revision: &str) -> Result<String, SourceError> {
    // If the folder is in no repository, git's message says so.
    if let Some(problem) = complaint(folder, &["rev-parse", "--git-dir"])? {
        return Err(unavailable(&folder.display().to_string(), &problem));
    }
    let commit = format!("{revision}^{{commit}}");
    let found = if revision.is_empty() || revision.starts_with('-') {
        None
    } else {
        git(folder, &["rev-parse", "--verify", "--quiet", &commit])?
    };
    found.ok_or_else(|| SourceError::NotFound(format!("the revision `{revision}`")))
}

impl Tree {
    /// Reads a file of the repository; `name` is its path in the site.
    fn read(&self, path: &str, name: &str, site: &SiteFolder) -> Result<Vec<u8>, SourceError> {
        let mut objects = self.objects.lock().unwrap_or_else(PoisonError::into_inner);
        let mut at = path.to_owned();
        for _ in 0..=MAX_LINKS {
            if let Some(private) = private_name(&site.of_root(&at)) {
                return Err(SourceError::not_published(name, is_private(private)));
            }
            let blob = self
                .files
                .get(&at)
                .ok_or_else(|| refused(name, "it is a link to a file that does not exist"))?;
            let content = objects
                .read(&blob.object)
                .map_err(|error| unavailable(name, &error))?;
            if !blob.is_link {
                return Ok(content);
            }
            let target = String::from_utf8_lossy(&content);
            at = linked(&at, &target).ok_or_else(|| refused(name, LINK_OUTSIDE))?;
        }
        Err(refused(name, "it is a link that leads in a circle"))
    }
}

fn refused(path: &str, reason: &str) -> SourceError {
    SourceError::Forbidden {
        path: path.to_owned(),
        reason: reason.to_owned(),
    }
}

/// Returns the path that a link leads to; `None` if it is outside of the repository.
fn linked(link: &str, target: &str) -> Option<String> {
    let folder = link.rsplit_once('/').map_or("", |(folder, _)| folder);
    let path = joined(folder, target);
    (!target.starts_with('/') && !is_outside(&path)).then_some(path)
}

/// A `git cat-file --batch` process, which maps hashes to contents. Dropping it ends the process.
#[derive(Debug)]
struct Objects {
    child: Child,
    hashes: Option<ChildStdin>,
    contents: BufReader<ChildStdout>,
}

impl Objects {
    fn start(folder: &Path) -> Result<Self, SourceError> {
        let mut child = command(folder, &["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| unavailable("git", &error))?;
        let hashes = child.stdin.take();
        let contents = child
            .stdout
            .take()
            .ok_or_else(|| unavailable("git", &ended()))?;
        Ok(Self {
            child,
            hashes,
            contents: BufReader::new(contents),
        })
    }

    /// Returns an object's content, cut just past the page limit.
    fn read(&mut self, hash: &str) -> io::Result<Vec<u8>> {
        let hashes = self.hashes.as_mut().ok_or_else(ended)?;
        writeln!(hashes, "{hash}")?;
        hashes.flush()?;
        // The output is `HASH blob SIZE`, the content and a line feed; or `HASH missing`.
        let mut head = String::new();
        self.contents.read_line(&mut head)?;
        if head.ends_with(" missing\n") {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "the repository lacks its content (a partial clone?); fetch it first",
            ));
        }
        let size = head.trim_end().rsplit(' ').next();
        let size: u64 = size
            .and_then(|size| size.parse().ok())
            .ok_or_else(|| io::Error::other(format!("git answered `{}`", head.trim_end())))?;
        let mut content = Vec::new();
        let mut whole = self.contents.by_ref().take(size + 1);
        let kept = MAX_PAGE_BYTES as u64 + 1;
        whole
            .by_ref()
            .take(kept.min(size))
            .read_to_end(&mut content)?;
        io::copy(&mut whole, &mut io::sink())?;
        Ok(content)
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // The process ends when its input is closed.
        drop(self.hashes.take());
        let _ = self.child.wait();
    }
}

fn ended() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "git ended early")
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments);
    // A repository's own settings may name a command that fetches missing objects.
    command
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_ALLOW_PROTOCOL", "none");
    command
}

/// Returns git's output; `None` if git fails.
fn run(folder: &Path, arguments: &[&str]) -> Result<Option<Vec<u8>>, SourceError> {
    let output = command(folder, arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| unavailable("git", &error))?;
    Ok(output.status.success().then_some(output.stdout))
}

/// Returns the line that git prints; `None` if git fails.
fn git(folder: &Path, arguments: &[&str]) -> Result<Option<String>, SourceError> {
    let printed = run(folder, arguments)?;
    Ok(printed.map(|bytes| String::from_utf8_lossy(&bytes).trim_end().to_owned()))
}

/// Returns git's error message; `None` if git succeeds.
fn complaint(folder: &Path, arguments: &[&str]) -> Result<Option<String>, SourceError> {
    let output = command(folder, arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| unavailable("git", &error))?;
    let complaint = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Ok((!output.status.success()).then_some(complaint))
}

fn unavailable(path: &str, reason: &dyn std::fmt::Display) -> SourceError {
    SourceError::Unavailable {
        path: path.to_owned(),
        reason: reason.to_string(),
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests {
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::source::{FolderSource, Source};

    fn run_git(folder: &Path, arguments: &[&str]) {
        let identity = ["-c", "user.name=a", "-c", "user.email=a@b.example"];
        let output = command(folder, &identity).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }

    /// A repository whose folder `site` has pages, tools' folders, links and a name that is not UTF-8.
    fn repository() -> tempfile::TempDir {
        let repository = tempfile::tempdir().unwrap();
        let site = repository.path().join("site");
        for (path, text) in [
            ("docs/page.md", "# Page\n"),
            ("docs/a b\n.md", "# Odd\n"),
            ("docs/.hidden/no.md", "# No\n"),
            ("docs/node_modules/no.md", "# No\n"),
            ("build/no.md", "# No\n"),
            ("static/_part.md", "A part.\n"),
            ("../outside.md", "# Outside\n"),
        ] {
            let path = site.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let docs = site.join("docs");
        symlink("../static/_part.md", docs.join("link.md")).unwrap();
        symlink("../../outside.md", docs.join("outside.md")).unwrap();
        symlink("circle.md", docs.join("circle.md")).unwrap();
        symlink("gone.md", docs.join("dangling.md")).unwrap();
        fs::write(docs.join("large.md"), vec![b'x'; MAX_PAGE_BYTES + 9]).unwrap();
        let name = std::ffi::OsStr::from_bytes(b"caf\xe9.md");
        fs::write(docs.join(name), "# Page").unwrap();
        run_git(repository.path(), &["init", "--quiet", "-b", "main"]);
        run_git(repository.path(), &["add", "--all", "--force"]);
        run_git(repository.path(), &["commit", "--quiet", "-m", "first"]);
        repository
    }

    #[tokio::test]
    async fn a_commit_reads_as_its_checkout_does() {
        let repository = repository();
        let site = repository.path().join("site");
        let folder = Source::Folder(FolderSource::open(&site).unwrap());
        let commit = Source::Git(GitSource::open(&site, "HEAD").await.unwrap());
        let listing = commit.listing().await.unwrap();
        assert!(listing.paths.contains("docs/a b\n.md"), "{listing:?}");
        assert_eq!(listing, folder.listing().await.unwrap());
        let absent = ["docs/none.md", "docs", "../outside.md"].map(str::to_owned);
        let parts = ["static/_part.md".to_owned()];
        for path in listing.paths.iter().chain(&absent).chain(&parts) {
            let (expected, read) = (folder.read(path).await, commit.read(path).await);
            match (expected, read) {
                (Ok(expected), Ok(read)) => assert!(expected == read, "{path}"),
                (Err(SourceError::Forbidden { .. }), Err(SourceError::Forbidden { .. })) => {}
                other => panic!("{path}: {other:?}"),
            }
        }
        let of_folder = folder.settings().await.unwrap();
        let of_commit = commit.settings().await.unwrap();
        assert_eq!(of_commit.reading_keys(), of_folder.reading_keys());
    }

    #[tokio::test]
    async fn an_old_commit_is_read_whatever_the_folder_has_now() {
        let repository = repository();
        let site = repository.path().join("site");
        fs::write(site.join("docs/page.md"), "# New\n").unwrap();
        run_git(repository.path(), &["commit", "--quiet", "-a", "-m", "new"]);
        fs::remove_dir_all(site.join("docs")).unwrap();
        for (revision, text) in [("HEAD^", "# Page\n"), ("main", "# New\n")] {
            let source = GitSource::open(&site, revision).await.unwrap();
            let read = source.read("docs/page.md").await.unwrap().unwrap();
            assert_eq!(String::from_utf8(read).unwrap(), text);
            assert_eq!(source.commit().len(), 40);
        }
        let base = merge_base(&site, "HEAD^", "main").await.unwrap();
        assert!(GitSource::open(&site, &base).await.is_ok());
    }

    #[tokio::test]
    async fn what_is_missing_is_named() {
        let repository = repository();
        let site = repository.path().join("site");
        for revision in ["none", "", "--all"] {
            let error = GitSource::open(&site, revision).await.unwrap_err();
            let expected = format!("the revision `{revision}` does not exist");
            assert_eq!(error.to_string(), expected);
        }
        let new = repository.path().join("new-site");
        fs::create_dir(&new).unwrap();
        let error = GitSource::open(&new, "HEAD").await.unwrap_err().to_string();
        let expected = "the folder `new-site` at the revision `HEAD` does not exist";
        assert_eq!(error, expected);
        let elsewhere = tempfile::tempdir().unwrap();
        let error = GitSource::open(elsewhere.path(), "HEAD").await.unwrap_err();
        assert!(
            error.to_string().contains("not a git repository"),
            "{error}"
        );
    }
}
