//! A folder on this machine.

mod build;
mod git_index;
mod head;
mod published;
#[cfg(all(test, unix))]
mod tests;

use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use book::{InputUse, MAX_PAGE_BYTES, SiteSettings, is_markdown, is_outside, private_name};

use super::site_folder::{SiteFolder, is_plain};
use super::{Listing, SourceError, is_private, outer_folders};

pub(super) use build::DEFAULT_FOLDER;

use build::Build;
use published::{Published, is_repository};

pub(super) const LINK_OUTSIDE: &str =
    "it is a link to a file outside of the site's folder and of its repository";

/// Folders beside `docs` that tools create and that hold no book.
const SKIPPED_FOLDERS: [&str; 2] = ["build", "static"];

/// Marks the root of a repository. In a worktree it is a file.
const REPOSITORY_MARK: &str = ".git";

/// The book's files in a folder, and in the folders beside it that the site's settings name.
#[derive(Debug, Clone)]
pub struct FolderSource {
    root: PathBuf,
    /// The folder's path with links resolved.
    real_root: PathBuf,
    /// Nothing outside of this folder is read: the repository, or else the common folder of the site and what its settings name. Links resolved.
    limit: PathBuf,
    /// The site's folder in `limit`.
    site: SiteFolder,
    /// The folders outside of the site's that its settings name.
    outer: Vec<String>,
    /// The folders whose Markdown makes pages, whether or not git ignores them, because a build may make them.
    page_folders: Vec<String>,
    published: Arc<Published>,
    named_build: Option<PathBuf>,
    build: Option<Arc<Build>>,
}

impl FolderSource {
    /// Opens a folder, which must exist.
    pub fn open(root: &Path) -> Result<Self, SourceError> {
        let real_root = real_folder(root)?;
        let published = Arc::<Published>::default();
        let (limit, site) = limit_of(&real_root, &[], &published);
        Ok(Self {
            root: root.to_owned(),
            real_root,
            limit,
            site,
            outer: Vec::new(),
            page_folders: Vec::new(),
            published,
            named_build: None,
            build: None,
        })
    }

    /// Returns the same folder, with its built site in another folder than its settings name. Its pages are known only
    /// [with settings](super::Source::with_settings).
    #[must_use]
    pub fn with_build(self, folder: PathBuf) -> Self {
        Self {
            named_build: Some(folder),
            ..self
        }
    }

    /// True if the site has a build that its settings need not name.
    pub(super) fn has_named_build(&self) -> bool {
        self.named_build.is_some()
    }

    pub(super) fn with_settings(self, settings: &SiteSettings) -> Self {
        let outer = outer_folders(settings);
        let (limit, site) = limit_of(&self.real_root, &outer, &self.published);
        let named = self.named_build.as_deref();
        let build = Build::new(settings, named, &self.root, &self.real_root).map(Arc::new);
        Self {
            limit,
            site,
            outer,
            page_folders: page_folders(settings),
            build,
            ..self
        }
    }

    /// Returns the folder that is read with these settings, and the site's folder in it.
    pub(super) fn limit(&self, settings: &SiteSettings) -> (PathBuf, SiteFolder) {
        limit_of(&self.real_root, &outer_folders(settings), &self.published)
    }

    /// Returns the folders that pages are listed in: the site's own, and those beside it.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        let outer = self.outer.iter().filter_map(|path| self.full_path(path));
        [self.root.clone()].into_iter().chain(outer).collect()
    }

    /// Returns the full path of a file or folder, given by its path in the site; `None` if it may not be read.
    #[must_use]
    pub fn full_path(&self, path: &str) -> Option<PathBuf> {
        if is_outside(path) {
            return Some(self.limit.join(self.site.in_root(path)?));
        }
        is_plain(path).then(|| self.root.join(path))
    }

    /// Returns the path in the site of a folder that is given with links resolved; `None` if it may not be read.
    #[must_use]
    pub fn path_of(&self, folder: &Path) -> Option<String> {
        let in_limit = slashed(folder.strip_prefix(&self.limit).ok()?)?;
        let path = self.site.of_root(&format!("{in_limit}/"));
        Some(path.trim_end_matches('/').to_owned())
    }

    /// Returns the full path of a file of the site, which may be in the built site.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<PathBuf> {
        let mut builds = self.build.iter();
        let built = builds.find_map(|build| build.file(path));
        built.or_else(|| self.full_path(path))
    }

    /// Returns the path that a file of the site has in the folder that is read: the site's own, or the repository.
    #[must_use]
    pub fn path_in_root(&self, path: &str) -> Option<String> {
        self.site.in_root(path)
    }

    /// Returns the hash of the commit that is checked out in the repository that the site is a part of.
    pub(super) fn commit(&self) -> Option<String> {
        is_repository(&self.limit).then(|| head::commit_of(&self.limit))?
    }

    /// Returns the site's folder, as it was named.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    pub(super) fn has_folder(&self, name: &str) -> bool {
        self.root.join(name).is_dir()
    }

    /// True if there is Markdown in the folder; `None` if a part of it is a link, or cannot be listed.
    pub(super) fn has_docs(&self, name: &str) -> Option<bool> {
        let mut folders = vec![self.root.join(name)];
        let mut is_known = true;
        while let Some(folder) = folders.pop() {
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) if !folder.is_symlink() => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                _ => {
                    is_known = false;
                    continue;
                }
            };
            for entry in entries.flatten() {
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    folders.push(entry.path());
                } else if entry.file_name().to_str().is_some_and(is_markdown) {
                    return Some(true);
                }
            }
        }
        is_known.then_some(false)
    }

    pub(super) async fn listing(&self) -> Result<Listing, SourceError> {
        let (root, build) = (self.root.clone(), self.build.clone());
        if let Some(build) = &build {
            build.check()?;
        }
        let mut walk = Walk {
            // The folders of a site that is a build are parts of it, whatever their names.
            skip_tools: self.has_folder("docs") && !self.root.join("index.html").is_file(),
            site: self.real_root.clone(),
            limit: self.limit.clone(),
            listing: Listing::default(),
        };
        let outer: Vec<(String, PathBuf)> = self
            .outer
            .iter()
            .filter_map(|path| Some((format!("{path}/"), self.full_path(path)?)))
            .collect();
        let source = self.clone();
        let walked = tokio::task::spawn_blocking(move || {
            walk.folder(&root, "", true)?;
            for (path, folder) in outer {
                walk.outer(&folder, path);
            }
            let mut listing = walk.listing;
            if let Some(build) = build {
                // A source that cannot be read is reported when it is read as a page.
                build.add_pages(&mut listing, |path| {
                    source.read_now(path, InputUse::Lookup).ok().flatten()
                });
            }
            Ok(listing)
        });
        walked
            .await
            .unwrap_or_else(|error| Err(std::io::Error::other(error)))
            .map_err(|error| failed("", &error))
    }

    pub(super) async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        self.read_for(path, InputUse::Lookup).await
    }

    /// Reads a file for a use.
    ///
    /// # Errors
    /// Also [`SourceError::NotPublished`].
    pub(super) async fn read_for(
        &self,
        path: &str,
        usage: InputUse,
    ) -> Result<Option<Vec<u8>>, SourceError> {
        let (source, name) = (self.clone(), path.to_owned());
        let read = tokio::task::spawn_blocking(move || source.read_now(&name, usage)).await;
        read.unwrap_or_else(|error| Err(failed(path, &std::io::Error::other(error))))
    }

    fn read_now(&self, path: &str, usage: InputUse) -> Result<Option<Vec<u8>>, SourceError> {
        let build = self.build.as_ref().filter(|_| usage == InputUse::Lookup);
        if let Some(built) = build.and_then(|build| build.read(path)) {
            return built.map_err(|error| failed(path, &error));
        }
        let Some(full) = self.full_path(path) else {
            if usage == InputUse::Lookup {
                return Ok(None);
            }
            let limit = self.limit.display();
            let reason = format!("it is outside of {limit}, and files there are not read");
            return Err(SourceError::not_published(path, reason));
        };
        let real = real_file(&full, &self.limit).map_err(|error| failed(path, &error))?;
        let Some(real) = real else {
            return Ok(None);
        };
        if let Some(reason) = self.refusal(path, &real, usage) {
            return Err(SourceError::not_published(path, reason));
        }
        let read = read_bytes(&real, MAX_PAGE_BYTES + 1).map_err(|error| failed(path, &error))?;
        Ok(Some(read))
    }

    /// Returns why a file is not published; `real` is its path with links resolved.
    fn refusal(&self, path: &str, real: &Path, usage: InputUse) -> Option<String> {
        let Some(in_limit) = real.strip_prefix(&self.limit).ok().and_then(slashed) else {
            return Some("its path is not UTF-8".to_owned());
        };
        let of_site = self.site.of_root(&in_limit);
        if let Some(name) = private_name(&of_site) {
            return Some(is_private(name));
        }
        // A link makes any file a page or a label, so its file must be one that a page could import.
        let is_link = self.site.in_root(path).as_ref() != Some(&in_limit);
        let usage = match usage {
            InputUse::Lookup if !is_link => return None,
            InputUse::Lookup if is_markdown(&in_limit) => InputUse::Markdown,
            InputUse::Lookup => InputUse::Text,
            usage => usage,
        };
        let is_tracked =
            is_repository(&self.limit) && self.published.is_tracked(&self.limit, &in_limit);
        if is_tracked || usage == InputUse::Markdown && self.is_in_page_folder(&of_site) {
            return None;
        }
        if usage == InputUse::Text && is_repository(&self.limit) {
            return Some(format!(
                "git does not track `{of_site}`; to publish its text, `git add` it"
            ));
        }
        let is_ignored = self.published.is_ignored(&self.limit, &in_limit);
        is_ignored.then(|| format!("a .gitignore names `{of_site}`, so it is not published"))
    }

    fn is_in_page_folder(&self, path: &str) -> bool {
        self.page_folders
            .iter()
            .any(|folder| match folder.as_str() {
                "" => !is_outside(path),
                folder => path
                    .strip_prefix(folder)
                    .is_some_and(|rest| rest.starts_with('/')),
            })
    }

    /// Like [`Self::read`], for a page itself. Fails if the page may be missing only until the next build.
    pub(super) async fn read_page(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let content = self.read(path).await?;
        let mut builds = self.build.iter();
        if content.is_none() && builds.any(|build| build.may_be_built(path)) {
            return Err(SourceError::Forbidden {
                path: path.to_owned(),
                reason: "the site is not built".to_owned(),
            });
        }
        Ok(content)
    }
}

/// Returns the root of the repository that a folder is in.
#[must_use]
pub fn repository_of(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| is_repository(folder))
}

/// Returns the folder that is read for a site that uses folders outside of its own, and the site's folder in it. Without a repository that the site
/// is a part of, it is the nearest folder that contains all of them.
fn limit_of(site: &Path, outer: &[String], published: &Published) -> (PathBuf, SiteFolder) {
    let levels = outer
        .iter()
        .map(|path| path.split('/').filter(|name| *name == "..").count())
        .max();
    let limit = repository_of(site)
        .filter(|repository| published.is_part(repository, site))
        .or_else(|| site.ancestors().nth(levels.unwrap_or_default()))
        .unwrap_or(site);
    // A path that is not UTF-8 cannot be written in settings either.
    let within = site.strip_prefix(limit).ok().and_then(slashed);
    match within {
        Some(within) => (limit.to_owned(), SiteFolder::new(&within)),
        None => (site.to_owned(), SiteFolder::default()),
    }
}

/// Returns a relative path with `/` between its names; `None` if it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    let names: Option<Vec<&str>> = path.iter().map(|name| name.to_str()).collect();
    Some(names?.join("/"))
}

/// Returns a folder's path with links resolved.
fn real_folder(root: &Path) -> Result<PathBuf, SourceError> {
    if !root.is_dir() {
        return Err(SourceError::NotFound(format!(
            "the folder {}",
            root.display()
        )));
    }
    root.canonicalize().map_err(|error| failed("", &error))
}

/// Returns the path of a file below `limit` with links resolved; `None` if there is no such file. Rejects links that lead outside, and special files,
/// which could block.
fn real_file(path: &Path, limit: &Path) -> std::io::Result<Option<PathBuf>> {
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            // A link can point to a disk that is not mounted, so the page is unreadable, not deleted.
            return if path.is_symlink() {
                refused("it is a link to a file that does not exist")
            } else {
                Ok(None)
            };
        }
        Err(error) => return Err(error),
    };
    if !real.starts_with(limit) {
        return refused(LINK_OUTSIDE);
    }
    let kind = real.metadata()?;
    if kind.is_dir() {
        return Ok(None);
    }
    if !kind.is_file() {
        return refused("it is not a file");
    }
    Ok(Some(real))
}

/// Reads the first bytes of a file, which must not be a special one.
fn read_bytes(file: &Path, limit: usize) -> std::io::Result<Vec<u8>> {
    if !file.metadata()?.is_file() {
        return refused("it is not a file");
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file)?
        .take(limit as u64)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the folders whose Markdown makes pages, with those of versions and translations.
fn page_folders(settings: &SiteSettings) -> Vec<String> {
    settings
        .instances
        .iter()
        .flat_map(|it| [Some(it.path.clone()), it.versions_folder()])
        .flatten()
        .chain([settings.i18n_path.clone()])
        .collect()
}

fn refused<T>(reason: &str) -> std::io::Result<T> {
    Err(std::io::Error::new(ErrorKind::PermissionDenied, reason))
}

struct Walk {
    /// True if [`SKIPPED_FOLDERS`] beside `docs` are skipped.
    skip_tools: bool,
    /// The site's folder, with links resolved.
    site: PathBuf,
    limit: PathBuf,
    listing: Listing,
}

impl Walk {
    /// Adds the files of a folder outside of the site's, if it exists. `path` is its path in the listing and ends in `/`.
    fn outer(&mut self, folder: &Path, path: String) {
        let walked = match folder.canonicalize() {
            _ if private_name(&path).is_some() => return,
            Ok(real) if !real.starts_with(&self.limit) => refused(LINK_OUTSIDE),
            Ok(real) if real.is_dir() => self.folder(&real, &path, true),
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        if let Err(error) = walked {
            self.listing.unreadable.insert(path, error.to_string());
        }
    }

    /// Adds the files below `folder`. `path` is its path in the listing and ends in `/`, except for the root. Does not follow links to
    /// folders, which may form circles.
    ///
    /// # Errors
    /// If `folder` itself cannot be listed. Subfolders that cannot be listed are recorded instead.
    fn folder(&mut self, folder: &Path, path: &str, is_utf8: bool) -> std::io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let (name, is_utf8) = match entry.file_name().into_string() {
                Ok(name) => (name, is_utf8),
                Err(name) => (name.to_string_lossy().into_owned(), false),
            };
            let below = format!("{path}{name}");
            if private_name(&name).is_some() {
                continue;
            }
            if !entry.file_type()?.is_dir() {
                let files = if is_utf8 {
                    &mut self.listing.paths
                } else {
                    &mut self.listing.not_utf8
                };
                files.insert(below);
                continue;
            }
            let is_site = !path.is_empty() && entry.path() == self.site;
            let is_tool = self.skip_tools && path.is_empty() && is_tool_folder(&name);
            if is_site || is_tool {
                continue;
            }
            let below = format!("{below}/");
            if let Err(error) = self.folder(&entry.path(), &below, is_utf8) {
                self.listing.unreadable.insert(below, error.to_string());
            }
        }
        Ok(())
    }
}

/// True for folders beside `docs` that tools create and that hold no book.
pub(super) fn is_tool_folder(name: &str) -> bool {
    SKIPPED_FOLDERS.contains(&name)
}

/// Converts an I/O error. It concerns only this file, unless the process has too many open files.
fn failed(path: &str, error: &std::io::Error) -> SourceError {
    /// `ENFILE` and `EMFILE` of Linux, the BSDs and macOS.
    const TOO_MANY_OPEN: [i32; 2] = [23, 24];
    let path = if path.is_empty() { "the folder" } else { path }.to_owned();
    let reason = error.to_string();
    match error.raw_os_error() {
        Some(code) if TOO_MANY_OPEN.contains(&code) => SourceError::Unavailable { path, reason },
        _ => SourceError::Forbidden { path, reason },
    }
}
