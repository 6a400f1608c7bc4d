//! Port: the book's files.

mod site_folder;
mod sitemap;
mod cache;
mod book_files;
mod error;
mod folder;
mod git;
mod made_docs;
#[cfg(test)]
mod memory;
#[cfg(feature = "s3")]
mod s3;
#[cfg(all(test, unix))]
mod beside_tests;
#[cfg(all(test, unix))]
mod published_tests;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use futures::{StreamExt, stream};

use folder::DEFAULT_FOLDER;
use site_folder::SiteFolder;

use book::{
    Input, InputUse, Inputs, Instance, OTHER_GENERATORS, Origin, PageFile, SETTINGS_FILES, SITEMAP,
    SettingsError, SiteSettings, is_label_file, is_outside, is_too_much, missing_inputs,
    private_name, settings_files_named_in, settings_text,
};

pub use book_files::{BookFiles, FileKind};
pub use cache::FileCache;
pub use error::SourceError;
pub use folder::{FolderSource, repository_of};
pub use git::{GitSource, merge_base};
#[cfg(test)]
pub use memory::MemorySource;
#[cfg(feature = "s3")]
pub use s3::{S3Source, aws_config, decoded_key};

/// True for a configuration file of Docusaurus or of bookrag.
fn is_config(name: &str) -> bool {
    name.starts_with("docusaurus.config") || name == "bookrag.toml"
}

/// Returns a text that is the hash of a commit, in SHA-1 or SHA-256; `None` for any other.
fn commit_hash(text: &str) -> Option<String> {
    let hash = text.trim();
    let is_hash = matches!(hash.len(), 40 | 64) && hash.bytes().all(|it| it.is_ascii_hexdigit());
    is_hash.then(|| hash.to_owned())
}

/// Concurrent reads of the files that one page uses.
const READS: usize = 8;

/// The book's files: a folder, a commit, or a prefix of a bucket.
#[derive(Debug, Clone)]
pub enum Source {
    /// A folder on this machine.
    Folder(FolderSource),
    /// A folder of a git repository at one commit.
    Git(GitSource),
    /// A prefix of a bucket.
    #[cfg(feature = "s3")]
    S3(S3Source),
    /// Files in memory, for the simulation of the ingest protocol.
    #[cfg(test)]
    Memory(MemorySource),
}

/// The files of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The paths of all files of the site and of the folders beside it, separated by `/`. They are relative to the site's folder.
    pub paths: BTreeSet<String>,
    /// The `ETag`s of files, by path, from sources that have them.
    pub etags: BTreeMap<String, String>,
    /// Folders that could not be listed (paths end in `/`), with the reason. Their files are unknown.
    pub unreadable: BTreeMap<String, String>,
    /// Files whose path is not UTF-8, with U+FFFD for invalid bytes. They have no URL and cannot be read.
    pub not_utf8: BTreeSet<String>,
    /// Folders of the built site (paths end in `/`) that are not built yet. The pages in them are unknown.
    pub not_built: BTreeSet<String>,
}

impl Source {
    /// Opens a prefix of a bucket, `s3://bucket/prefix`.
    ///
    /// # Errors
    /// If the URL is invalid, the bucket cannot be read, or this build has no S3.
    pub async fn bucket(url: &str) -> Result<Self, SourceError> {
        #[cfg(feature = "s3")]
        return Ok(Self::S3(S3Source::connect(url).await?));
        #[cfg(not(feature = "s3"))]
        Err(SourceError::NotInThisBuild(url.to_owned()))
    }

    /// Returns the paths of all files, separated by `/`.
    pub async fn list(&self) -> Result<BTreeSet<String>, SourceError> {
        Ok(self.listing().await?.paths)
    }

    /// Returns all files of the site and of the folders beside it, and what could not be listed. Files outside of the site's folder are listed only
    /// [with settings](Self::with_settings).
    ///
    /// # Errors
    /// If the site's folder itself cannot be listed.
    pub async fn listing(&self) -> Result<Listing, SourceError> {
        match self {
            Self::Folder(folder) => folder.listing().await,
            Self::Git(commit) => Ok(commit.listing()),
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.list().await,
            #[cfg(test)]
            Self::Memory(files) => files.list().await,
        }
    }

    /// Returns the hash of the commit that the files are of; `None` if it is unknown. Of a folder it is the one that is checked out, even if files were
    /// edited since, of a bucket the one that the last complete upload wrote there.
    pub async fn commit(&self) -> Result<Option<String>, SourceError> {
        match self {
            Self::Folder(folder) => Ok(folder.commit()),
            Self::Git(commit) => Ok(Some(commit.commit().to_owned())),
            #[cfg(feature = "s3")]
            Self::S3(bucket) => Box::pin(bucket.commit()).await,
            #[cfg(test)]
            Self::Memory(_) => Ok(None),
        }
    }

    /// Returns a file's content; `None` if it does not exist. A file above the page limit is cut just past it.
    ///
    /// # Errors
    /// Also [`SourceError::NotPublished`], for each path with a [private name](private_name).
    pub async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        check_name(path)?;
        self.read_any(path).await
    }

    async fn read_any(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        match self {
            Self::Folder(folder) => folder.read(path).await,
            Self::Git(commit) => commit.read(path).await,
            #[cfg(feature = "s3")]
            // The types of the client's futures are too deep for the compiler in the benches, which hold a whole run.
            Self::S3(bucket) => Box::pin(bucket.read(path)).await,
            #[cfg(test)]
            Self::Memory(files) => files.read(path).await,
        }
    }

    /// Like [`Self::read`], for a page itself rather than for a file that a page uses.
    ///
    /// # Errors
    /// Those of [`Self::read`]; also if the page is one of a built site that is being built.
    pub async fn read_page(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        check_name(path)?;
        match self {
            Self::Folder(folder) => folder.read_page(path).await,
            other => other.read_any(path).await,
        }
    }

    /// Reads a file for a use of a page. A commit and a bucket hold published files alone; of a folder, each file that a page names is checked.
    async fn read_for(&self, path: &str, usage: InputUse) -> Result<Option<Vec<u8>>, SourceError> {
        check_name(path)?;
        match self {
            Self::Folder(folder) => folder.read_for(path, usage).await,
            other => other.read_any(path).await,
        }
    }

    /// Returns the same files, those of the folders beside the site that these settings name, and the pages of the built site that the sources do
    /// not hold.
    #[must_use]
    pub fn with_settings(self, settings: &SiteSettings) -> Self {
        match self {
            Self::Folder(folder) => Self::Folder(folder.with_settings(settings)),
            Self::Git(commit) => Self::Git(commit.with_settings(settings)),
            #[cfg(any(test, feature = "s3"))]
            // All of a bucket is listed.
            other => other,
        }
    }

    /// Reads the site's settings, and returns the source [with them](Self::with_settings). In a bucket that holds the folders of a repository, the
    /// site is first looked for.
    ///
    /// # Errors
    /// Those of [`Self::settings`]; also if a bucket holds several sites.
    pub async fn opened(self) -> Result<(Self, SiteSettings), SourceError> {
        let settings = self.settings().await?;
        #[cfg(feature = "s3")]
        if let Self::S3(mut bucket) = self {
            if !settings.are_defaults() || !bucket.find_site().await? {
                return Ok((Self::S3(bucket), settings));
            }
            let source = Self::S3(bucket);
            let settings = source.settings().await?;
            return Ok((source, settings));
        }
        Ok((self.with_settings(&settings), settings))
    }

    /// Returns the path in the site of a file whose path in the root is `in_root`, such as the part of an object's key after a bucket's prefix.
    #[must_use]
    pub fn path_of_site(&self, in_root: &str) -> String {
        match self {
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.site.of_root(in_root),
            _ => in_root.to_owned(),
        }
    }

    /// Reads the site's settings.
    ///
    /// # Errors
    /// [`SourceError::Settings`] if one of their files cannot be parsed, or they name a folder that may not be read.
    pub async fn settings(&self) -> Result<SiteSettings, SourceError> {
        let mut settings = self.written_settings().await?;
        self.find_made_docs(&mut settings).await?;
        self.located(settings)
    }

    /// Returns the name of the folder or bucket that is read, and the site's folder in it.
    fn root(&self, settings: &SiteSettings) -> (String, SiteFolder) {
        match self {
            Self::Folder(folder) => {
                let (limit, site) = folder.limit(settings);
                (limit.display().to_string(), site)
            }
            Self::Git(commit) => ("the repository".to_owned(), commit.site.clone()),
            #[cfg(feature = "s3")]
            Self::S3(bucket) => (bucket.url(), bucket.site.clone()),
            #[cfg(test)]
            Self::Memory(files) => ("memory".to_owned(), files.site.clone()),
        }
    }

    /// Replaces the path of each folder of pages by the one that its files have.
    fn located(&self, mut settings: SiteSettings) -> Result<SiteSettings, SourceError> {
        let (root, site) = self.root(&settings);
        for at in 0..settings.instances.len() {
            let path = &settings.instances[at].path;
            if !is_outside(path) {
                continue;
            }
            let Some(path) = site.folder(path) else {
                let file = folder_origin(&settings, &settings.instances[at]).to_string();
                let reason = format!(
                    "the folder `{path}` is outside of {root}, and files there are not read"
                );
                return Err(SettingsError {
                    file,
                    line: 1,
                    reason,
                }
                .into());
            };
            settings.instances[at].path = path;
        }
        Ok(settings)
    }

    async fn written_settings(&self) -> Result<SiteSettings, SourceError> {
        let named = SETTINGS_FILES.map(str::to_owned);
        let (mut files, has_docs_folder) =
            tokio::try_join!(self.settings_files(&named), self.has_folder("docs"))?;
        if !files.keys().any(|name| is_config(name)) {
            self.check_generator().await?;
        }
        let imports: Vec<String> = files
            .iter()
            .filter(|(name, _)| is_config(name))
            .flat_map(|(_, config)| settings_files_named_in(config))
            .filter(|name| !files.contains_key(name))
            .collect();
        for name in imports {
            // What the config imports is computed if it cannot be read.
            match self.settings_files(std::slice::from_ref(&name)).await {
                Err(error @ SourceError::Unavailable { .. }) => return Err(error),
                read => files.extend(read.unwrap_or_default()),
            }
        }
        let build = self.build_folder();
        let mut settings = SiteSettings::read_with_build(&files, has_docs_folder, build)?;
        // Only now are the instances known; the default one's versions have already been read.
        let versions: Vec<String> = settings
            .instances
            .iter()
            .filter_map(Instance::versions_file)
            .filter(|name| !named.contains(name))
            .collect();
        let needs_sitemap = settings.is_build && settings.url.is_none();
        if versions.is_empty() && !needs_sitemap {
            return Ok(settings);
        }
        // Docs without such a file have no other versions.
        let none = versions.iter().map(|name| (name.clone(), "[]".to_owned()));
        files.extend(none);
        files.extend(self.settings_files(&versions).await?);
        let mut unread = None;
        if needs_sitemap {
            match self.sitemap().await? {
                Ok(Some(text)) => drop(files.insert(SITEMAP.to_owned(), text)),
                Ok(None) => {}
                Err(error) => unread = Some(error),
            }
        }
        settings = SiteSettings::read_with_build(&files, has_docs_folder, build)?;
        if let Some(unread) = unread {
            settings.warnings.push(format!(
                "{unread}; without it, the site is taken to be at `{}`, unless bookrag.toml has its `base_url`",
                settings.base_url
            ));
        }
        Ok(settings)
    }

    /// Returns the folder of the site in which built pages are, whatever its settings say.
    fn build_folder(&self) -> Option<&'static str> {
        let has_build = match self {
            Self::Folder(folder) => folder.has_named_build(),
            // Of a build, only the pages that the sources do not hold are uploaded.
            #[cfg(feature = "s3")]
            Self::S3(_) => true,
            Self::Git(_) => false,
            #[cfg(test)]
            Self::Memory(_) => false,
        };
        has_build.then_some(DEFAULT_FOLDER)
    }

    /// Checks that the site is not one of another generator.
    ///
    /// # Errors
    /// If the folder is a site of another generator, whose pages would be read wrongly.
    async fn check_generator(&self) -> Result<(), SourceError> {
        for (file, generator) in OTHER_GENERATORS {
            let is_there = match self.read_any(file).await {
                Err(SourceError::NotPublished { .. }) => true,
                content => content?.is_some(),
            };
            if is_there {
                let reason = format!(
                    "this is a site of {generator}, which is not read from its source: its Markdown and addresses differ from Docusaurus's. To read \
                     its files as plain Markdown all the same, add a bookrag.toml"
                );
                return Err(SettingsError {
                    file: file.to_owned(),
                    line: 1,
                    reason,
                }
                .into());
            }
        }
        Ok(())
    }

    /// Reads those of the named settings files that exist.
    async fn settings_files(
        &self,
        names: &[String],
    ) -> Result<BTreeMap<String, String>, SourceError> {
        let contents = try_join_all(names.iter().map(|name| self.read(name))).await?;
        let mut files = BTreeMap::new();
        for (name, bytes) in names.iter().zip(contents) {
            if let Some(bytes) = bytes {
                files.insert(name.clone(), settings_text(name, &bytes)?);
            }
        }
        Ok(files)
    }

    async fn has_folder(&self, name: &str) -> Result<bool, SourceError> {
        match self {
            Self::Folder(folder) => Ok(folder.has_folder(name)),
            Self::Git(commit) => Ok(commit.has_folder(name)),
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.has_folder(name).await,
            #[cfg(test)]
            Self::Memory(_) => Ok(true),
        }
    }

    /// Returns all other files that reading a page uses or looks for, from the cache `files` where possible.
    pub async fn inputs(
        &self,
        settings: &SiteSettings,
        page: &PageFile,
        bytes: &[u8],
        files: &FileCache,
    ) -> Result<Inputs, SourceError> {
        let mut inputs = Inputs::new();
        loop {
            let missing = missing_inputs(settings, page, bytes, &inputs);
            if missing.is_empty() {
                return Ok(inputs);
            }
            let reads: Vec<_> = missing
                .iter()
                .map(|(path, usage)| files.read(self, path, *usage))
                .collect();
            let mut contents = stream::iter(reads).buffered(READS);
            for path in missing.keys() {
                let input = match contents.next().await.transpose() {
                    // An unreadable file of names only means that keys have no names; the page itself can be read.
                    Err(SourceError::Forbidden { .. }) if is_label_file(settings, page, path) => {
                        Input::Content(Vec::new())
                    }
                    input => input?.unwrap_or(Input::Absent),
                };
                inputs.insert(path.clone(), input);
                if is_too_much(&inputs) {
                    return Ok(inputs);
                }
            }
        }
    }
}

/// Rejects paths that nothing published has, whatever asks for them.
fn check_name(path: &str) -> Result<(), SourceError> {
    match private_name(path) {
        Some(name) => Err(SourceError::not_published(path, is_private(name))),
        None => Ok(()),
    }
}

/// Returns why a file with a [private name](private_name) in its path is not read.
fn is_private(name: &str) -> String {
    format!("`{name}` is never read; names that begin with a dot and node_modules hold no docs")
}

/// Returns the folders outside of the site's in which its pages are.
fn outer_folders(settings: &SiteSettings) -> Vec<String> {
    settings
        .instances
        .iter()
        .map(|instance| instance.path.clone())
        .filter(|path| is_outside(path))
        .collect()
}

/// Returns where the folder of a plugin's pages is set.
fn folder_origin(settings: &SiteSettings, instance: &Instance) -> Origin {
    let name = instance.path_setting();
    settings
        .origins
        .iter()
        .find(|setting| setting.name == name)
        .map_or(Origin::Default, |setting| setting.origin.clone())
}
