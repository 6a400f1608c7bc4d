//! Port: the book's files.

mod site_folder;
mod sitemap;
mod cache;
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

use std::collections::{BTreeMap, BTreeSet};

use futures::future::try_join_all;
use futures::{StreamExt, stream};

use folder::DEFAULT_FOLDER;
use site_folder::SiteFolder;

use book::{
    Inputs, Instance, OTHER_GENERATORS, Origin, PageFile, SETTINGS_FILES, SITEMAP, SettingsError,
    SiteSettings, is_label_file, is_outside, is_too_much, missing_inputs, settings_files_named_in,
    settings_text,
};

pub use cache::FileCache;
pub use error::SourceError;
pub use folder::{FolderSource, repository_of};
pub use git::{GitSource, merge_base};
#[cfg(test)]
pub use memory::MemorySource;
#[cfg(feature = "s3")]
pub use s3::{S3Source, aws_config};

/// True for a configuration file of Docusaurus or of bookrag.
fn is_config(name: &str) -> bool {
    name.starts_with("docusaurus.config") || name == "bookrag.toml"
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

    /// Returns all files of the site and of the folders beside it, and what could not be listed. Files outside of the site's folder are listed
    /// [with settings](Self::with_settings) alone.
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

    /// Returns a file's content; `None` if it does not exist. A file above the page limit is cut just past it.
    pub async fn read(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        match self {
            Self::Folder(folder) => folder.read(path).await,
            Self::Git(commit) => commit.read(path).await,
            #[cfg(feature = "s3")]
            Self::S3(bucket) => bucket.read(path).await,
            #[cfg(test)]
            Self::Memory(files) => files.read(path).await,
        }
    }

    /// Like [`Self::read`], for a page itself rather than for a file that a page uses.
    ///
    /// # Errors
    /// Those of [`Self::read`]; also if the page is one of a built site that is being built.
    pub async fn read_page(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        match self {
            Self::Folder(folder) => folder.read_page(path).await,
            other => other.read(path).await,
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

    /// Reads the site's settings, and returns the source [with them](Self::with_settings). In a bucket that holds the folders of a repository, the site
    /// is first looked for.
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

    /// Returns the path of the site of a file with a path in the root of what is read: of an object below a bucket's prefix.
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

    /// Gives each folder of pages the one path that its files have.
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
        let configs = files.iter().filter(|(name, _)| is_config(name));
        let imports = configs.flat_map(|(_, config)| settings_files_named_in(config));
        let imports: Vec<String> = imports.filter(|name| !files.contains_key(name)).collect();
        for name in imports {
            // What the config imports is computed if it cannot be read.
            match self.settings_files(std::slice::from_ref(&name)).await {
                Err(error @ SourceError::Unavailable { .. }) => return Err(error),
                read => files.extend(read.unwrap_or_default()),
            }
        }
        let read = |files: &BTreeMap<String, String>| {
            SiteSettings::read_with_build(files, has_docs_folder, self.build_folder())
        };
        let settings = read(&files)?;
        // Only now are the instances known; the default one's versions have already been read.
        let versions = settings
            .instances
            .iter()
            .filter_map(Instance::versions_file);
        let versions = versions.filter(|name| !named.contains(name));
        let versions: Vec<String> = versions.collect();
        let needs_sitemap = settings.is_build && settings.url.is_none();
        if versions.is_empty() && !needs_sitemap {
            return Ok(settings);
        }
        // Docs without such a file have no other versions.
        let none = versions.iter().map(|name| (name.clone(), "[]".to_owned()));
        files.extend(none);
        files.extend(self.settings_files(&versions).await?);
        if !needs_sitemap {
            return Ok(read(&files)?);
        }
        let sitemap = self.sitemap().await?;
        if let Ok(Some(text)) = &sitemap {
            files.insert(SITEMAP.to_owned(), text.clone());
        }
        let mut settings = read(&files)?;
        if let Err(unread) = sitemap {
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

    /// # Errors
    /// If the folder is a site of another generator, whose pages would be read wrongly.
    async fn check_generator(&self) -> Result<(), SourceError> {
        for (file, generator) in OTHER_GENERATORS {
            if self.read(file).await?.is_some() {
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
            let reads: Vec<_> = missing.iter().map(|path| files.read(self, path)).collect();
            let mut contents = stream::iter(reads).buffered(READS);
            for path in &missing {
                let content = match contents.next().await.transpose() {
                    // An unreadable file of names only means that keys have no names; the page itself can be read.
                    Err(SourceError::Forbidden { .. }) if is_label_file(settings, page, path) => {
                        Some(Vec::new())
                    }
                    content => content?.flatten(),
                };
                inputs.insert(path.clone(), content);
                if is_too_much(&inputs) {
                    return Ok(inputs);
                }
            }
        }
    }
}

/// Returns the folders outside of the site's in which its pages are.
fn outer_folders(settings: &SiteSettings) -> Vec<String> {
    let folders = settings.instances.iter().map(|it| it.path.clone());
    folders.filter(|path| is_outside(path)).collect()
}

/// Returns where the folder of a plugin's pages is set.
fn folder_origin(settings: &SiteSettings, instance: &Instance) -> Origin {
    let name = instance.path_setting();
    let mut origins = settings.origins.iter();
    let setting = origins.find(|setting| setting.name == name);
    setting.map_or(Origin::Default, |setting| setting.origin.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use book::{fingerprint, page_file, read_document};

    pub(super) fn site(files: &[(&str, &str)]) -> (MemorySource, Source) {
        let memory = MemorySource::default();
        for (path, text) in files {
            memory
                .files()
                .insert((*path).to_owned(), text.as_bytes().to_vec());
        }
        (memory.clone(), Source::Memory(memory))
    }

    #[tokio::test]
    async fn a_settings_file_that_cannot_be_read_is_an_error_that_names_it() {
        for (name, bytes, expected) in [
            (
                "bookrag.toml",
                &b"exclude = ["[..],
                "bookrag.toml, line 1: ",
            ),
            ("versions.json", b"[\n1]", "versions.json, line 2: "),
            (
                "docusaurus.config.js",
                b"export default {\n\xff}",
                "docusaurus.config.js, line 2: it is not UTF-8",
            ),
        ] {
            let (files, source) = site(&[]);
            files.files().insert(name.to_owned(), bytes.to_vec());
            let error = source.settings().await.unwrap_err();
            assert!(matches!(error, SourceError::Settings(_)), "{error:?}");
            assert!(error.to_string().starts_with(expected), "{error}");
        }
        let (_, marked) = site(&[("versions.json", "\u{feff}[\"1.0\"]")]);
        assert_eq!(
            marked.settings().await.unwrap().instances[0].versions,
            ["1.0"]
        );
    }

    #[tokio::test]
    async fn the_versions_of_each_docs_instance_are_read() {
        let (files, source) = site(&[
            ("bookrag.toml", "docs.api.docs_path = 'api'"),
            ("versions.json", "[\"1.0\"]"),
            ("api_versions.json", "[\"3.0\"]"),
        ]);
        let settings = source.settings().await.unwrap();
        let versions = settings.instances.iter().map(|docs| docs.versions.concat());
        assert_eq!(versions.collect::<Vec<_>>(), ["1.0", "3.0"]);
        let broken = b"[\n".to_vec();
        files.files().insert("api_versions.json".to_owned(), broken);
        let error = source.settings().await.unwrap_err().to_string();
        assert!(error.starts_with("api_versions.json, line "), "{error}");
    }

    #[tokio::test]
    async fn an_edit_of_a_module_that_passes_a_partial_on_changes_the_page() {
        let (files, source) = site(&[
            ("docs/page.mdx", "import {A} from './parts'\n\n<A/>\n"),
            (
                "docs/parts/index.ts",
                "export {default as A} from './_one.mdx'",
            ),
            ("docs/parts/_one.mdx", "First words.\n"),
            ("docs/parts/_two.mdx", "Second words.\n"),
        ]);
        let settings = source.settings().await.unwrap();
        let page = page_file(&settings, "docs/page.mdx").unwrap();
        let read = async || {
            let bytes = source.read("docs/page.mdx").await.unwrap().unwrap();
            let files = FileCache::default();
            let inputs = source
                .inputs(&settings, &page, &bytes, &files)
                .await
                .unwrap();
            let document = read_document(&settings, "", &page, &bytes, &inputs).unwrap();
            let texts: Vec<String> = document
                .blocks
                .into_iter()
                .map(|block| block.text)
                .collect();
            (texts.join("\n"), fingerprint("", &bytes, &inputs))
        };
        let (first, before) = read().await;
        assert!(first.contains("First words."), "{first}");
        let text = b"import B from './_two.mdx';\nexport {B as A};";
        files
            .files()
            .insert("docs/parts/index.ts".to_owned(), text.to_vec());
        let (second, after) = read().await;
        assert!(
            second.contains("Second words.") && !second.contains("First"),
            "{second}"
        );
        assert_ne!(before, after);
        // A file that precedes the former one in the search for a module.
        files
            .files()
            .insert("docs/parts.js".to_owned(), b"export const A = 1".to_vec());
        let (third, last) = read().await;
        assert!(!third.contains("words"), "{third}");
        assert_ne!(after, last);
    }
}
