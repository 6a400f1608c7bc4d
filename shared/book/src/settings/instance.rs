//! A content plugin of a site: the files from which it makes pages, and their URLs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bookrag_toml::{TomlDocs, TomlPlugin};
use super::build::FRONT_PAGE;
use super::docusaurus::NO_DOCS;
use super::origin::Picker;
use super::patterns::{DEFAULT_INCLUDE, PagePatterns, pick_patterns};
use super::sidebars::SidebarsSource;
use super::syntax::admonitions;
use super::value::ConfigValue;
use super::versions::{BuiltVersions, prefixed, versions_file};
use super::{CURRENT_VERSION, SettingsError};
use crate::paths::joined;

/// The id of a docs instance whose options set none.
pub const DEFAULT_INSTANCE: &str = "default";

/// Separates an instance's id from a version's name in lists over several instances.
const VERSION_SEPARATOR: char = '@';

/// The kind of a page, by the plugin that makes it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// Docs with versions: `plugin-content-docs`.
    #[default]
    Docs,
    /// Single pages: `plugin-content-pages`.
    #[serde(rename = "page")]
    Pages,
    /// Blog posts: `plugin-content-blog`.
    Blog,
}

impl ContentKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Docs, Self::Blog, Self::Pages];

    /// Returns the name in requests and responses.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Pages => "page",
            Self::Blog => "blog",
        }
    }

    /// Returns the name in presets, `bookrag.toml`, ids and folders of translations.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Pages => "pages",
            Self::Blog => "blog",
        }
    }
}

/// One use of a content plugin, with its own folders, route and versions. Pages and posts have only the version `current`.
#[expect(
    clippy::struct_excessive_bools,
    reason = "settings of a plugin, independent of each other"
)]
#[derive(Debug, Clone)]
pub struct Instance {
    /// The content of the plugin.
    pub kind: ContentKind,
    /// The plugin's id, prefixed with its kind for pages and blogs: `default`, `api`, `pages/default`, `blog/news`. The id itself contains
    /// no slash.
    pub id: String,
    /// `routeBasePath`: `docs`, or empty.
    pub route_base_path: String,
    /// The folder of the version `current` relative to the site, without leading or trailing slash; empty if the site is only a docs folder, and
    /// `../docs` if the docs are beside the site's folder.
    pub path: String,
    /// True if its pages are the HTML of a build.
    pub is_built: bool,
    /// True for docs that no plugin of the config and no table of `bookrag.toml` names. Their folder need not exist.
    pub is_assumed: bool,
    /// True if number prefixes are removed from names.
    pub number_prefixes: bool,
    /// True if [`Self::path`] itself is shown, as the version `current`.
    pub current_version: bool,
    /// Versions other than `current`, newest first.
    pub versions: Vec<String>,
    /// The version at the bare path; `None` means the newest.
    pub last_version: Option<String>,
    /// The paths that the settings of versions set, by version.
    pub version_paths: BTreeMap<String, String>,
    /// The file that maps tag keys to names, relative to a content folder; `None` if tags are named in front matter only.
    pub tags_file: Option<String>,
    /// The file that maps author keys to names, relative to a content folder; for blogs only.
    pub authors_file: Option<String>,
    /// The sidebars of the version `current`; those of other versions are files of Docusaurus.
    pub(crate) sidebars: SidebarsSource,
    /// The containers that are admonitions (`:::note`); `None` for Docusaurus's own.
    pub admonitions: Option<Vec<String>>,
    pub(super) patterns: PagePatterns,
}

impl Instance {
    /// Reads a docs instance from its part of `bookrag.toml` and the plugin's options. `default_path` is its folder if neither sets
    /// one.
    ///
    /// # Errors
    /// If its versions file cannot be parsed or a pattern is invalid.
    pub(super) fn read_docs(
        id: &str,
        mut toml: TomlDocs,
        options: &ConfigValue,
        default_path: &str,
        files: &BTreeMap<String, String>,
        picker: &mut Picker,
    ) -> Result<Self, SettingsError> {
        if id != DEFAULT_INSTANCE {
            picker.table = format!("docs.{id}.");
        }
        let route_base_path = picker.pick(
            "route_base_path",
            toml.route_base_path.take(),
            options.get("routeBasePath"),
            ConfigValue::text,
            "docs".to_owned(),
        );
        let told_path = toml.docs_path.is_some();
        let docs_path = picker.pick_scope(
            "docs_path",
            toml.docs_path.take(),
            options.get("path"),
            ConfigValue::path,
            default_path.to_owned(),
        );
        let is_assumed = matches!(*options, ConfigValue::Absent | NO_DOCS) && !told_path;
        let number_prefixes = picker.pick(
            "number_prefixes",
            toml.number_prefixes,
            options.get("numberPrefixParser"),
            ConfigValue::bool,
            true,
        );
        let patterns = pick_patterns(
            [toml.include.take(), toml.exclude.take()],
            options,
            DEFAULT_INCLUDE,
            picker,
        );
        let path = content_folder("docs_path", &docs_path, picker);
        let admonitions = admonitions(options, picker);
        let versions = BuiltVersions::read(id, toml, options, is_assumed, files, picker)?;
        let patterns = PagePatterns::new(patterns, picker, files)?;
        picker.table.clear();
        Ok(Self {
            kind: ContentKind::Docs,
            id: id.to_owned(),
            route_base_path: route_base_path.trim_matches('/').to_owned(),
            path,
            is_built: picker.config_name == FRONT_PAGE,
            is_assumed,
            number_prefixes,
            current_version: versions.current && *options != NO_DOCS,
            versions: versions.others,
            last_version: versions.last,
            version_paths: versions.paths,
            tags_file: tags_file(options),
            authors_file: None,
            sidebars: SidebarsSource::new(options),
            admonitions,
            patterns,
        })
    }

    /// Reads a plugin without versions from its part of `bookrag.toml` and its options. `None`, with a warning, if the config computes
    /// which files are its pages, since the site can be read without them.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub(super) fn read_unversioned(
        kind: ContentKind,
        id: &str,
        toml: TomlPlugin,
        options: &ConfigValue,
        files: &BTreeMap<String, String>,
        picker: &mut Picker,
    ) -> Result<Option<Self>, SettingsError> {
        let (folder, route, pages) = match kind {
            // Scripts are pages too; they are listed but not read.
            ContentKind::Pages => ("src/pages", "", "**/*.{js,jsx,ts,tsx,md,mdx}"),
            ContentKind::Docs | ContentKind::Blog => (kind.name(), kind.name(), DEFAULT_INCLUDE),
        };
        let path = picker.pick_scope(
            "path",
            toml.path,
            options.get("path"),
            ConfigValue::path,
            folder.to_owned(),
        );
        let patterns = pick_patterns([toml.include, toml.exclude], options, pages, picker);
        if picker.leaves_out() {
            return Ok(None);
        }
        let path = content_folder("path", &path, picker);
        let route_base_path = picker.pick(
            "route_base_path",
            toml.route_base_path,
            options.get("routeBasePath"),
            ConfigValue::text,
            route.to_owned(),
        );
        Ok(Some(Self {
            kind,
            id: format!("{}/{id}", kind.name()),
            route_base_path: route_base_path.trim_matches('/').to_owned(),
            path,
            is_built: false,
            is_assumed: false,
            number_prefixes: false,
            current_version: true,
            versions: Vec::new(),
            last_version: None,
            version_paths: BTreeMap::new(),
            tags_file: tags_file(options).filter(|_| kind == ContentKind::Blog),
            authors_file: (kind == ContentKind::Blog).then(|| {
                let named = options.get("authorsMapPath").text();
                named.unwrap_or_else(|| "authors.yml".to_owned())
            }),
            sidebars: SidebarsSource::None,
            admonitions: admonitions(options, picker),
            patterns: PagePatterns::new(patterns, picker, files)?,
        }))
    }

    /// True if the instance includes the file at `relative`, a path below its version's root.
    #[must_use]
    pub fn includes(&self, relative: &str) -> bool {
        self.patterns.match_path(relative)
    }

    /// Returns the version at the bare path.
    #[must_use]
    pub fn default_version(&self) -> &str {
        let named = self.last_version.as_ref().or(self.versions.first());
        named.map_or(CURRENT_VERSION, String::as_str)
    }

    /// Returns the URL part of a version; empty for the one at the bare path.
    #[must_use]
    pub fn version_path<'a>(&'a self, version: &'a str) -> &'a str {
        match self.version_paths.get(version) {
            Some(path) => path,
            None if version == self.default_version() => "",
            None if version == CURRENT_VERSION => "next",
            None => version,
        }
    }

    /// Returns the file that lists the versions; `None` if the plugin has no versions.
    #[must_use]
    pub fn versions_file(&self) -> Option<String> {
        (self.kind == ContentKind::Docs).then(|| versions_file(&self.id))
    }

    /// Returns the folder of the versions other than `current`; `None` if there are none.
    #[must_use]
    pub fn versions_folder(&self) -> Option<String> {
        (self.kind == ContentKind::Docs).then(|| prefixed(&self.id, "versioned_docs"))
    }

    /// Returns the folder of a version other than `current`; `None` if the plugin has no versions.
    #[must_use]
    pub fn version_folder(&self, version: &str) -> Option<String> {
        Some(format!("{}/version-{version}", self.versions_folder()?))
    }

    /// Returns where the sidebars of a version are.
    pub(crate) fn sidebars_of(&self, version: &str) -> SidebarsSource {
        if version == CURRENT_VERSION {
            return self.sidebars.clone();
        }
        let folder = prefixed(&self.id, "versioned_sidebars");
        SidebarsSource::File(format!("{folder}/version-{version}-sidebars.json"))
    }

    /// Returns the name in `bookrag.toml` of the setting for the folder: `docs_path`, `docs.api.docs_path`, `blog.default.path`.
    #[must_use]
    pub fn path_setting(&self) -> String {
        match (self.kind, self.id.as_str()) {
            (ContentKind::Docs, DEFAULT_INSTANCE) => "docs_path".to_owned(),
            (ContentKind::Docs, id) => format!("docs.{id}.docs_path"),
            (_, id) => format!("{}.path", id.replace('/', ".")),
        }
    }

    /// Reads the docs from another folder than the one that the site's build makes. Returns a warning for the author.
    pub fn read_from(&mut self, folder: &str) -> String {
        let made = std::mem::replace(&mut self.path, folder.to_owned());
        format!(
            "the docs folder `{made}` has no file, so `{folder}` is read in its place; if the site's build makes `{made}`, run that step first; \
             otherwise write `{setting}` into bookrag.toml",
            setting = self.path_setting()
        )
    }

    /// Shows the docs folder, which the site hides, as the version at the bare path, whose own folder only the site's build makes. Returns
    /// a warning for the author.
    pub fn show_hidden_docs_first(&mut self) -> String {
        let version = self.default_version().to_owned();
        let warning = format!(
            "the folder of the version `{version}` has no file, and the site does not show `{path}` itself, so `{path}` is read as `{version}`; \
             if that is wrong, write the `versions` that exist into bookrag.toml",
            path = self.path
        );
        self.versions.retain(|other| *other != version);
        if let Some(path) = self.version_paths.remove(&version) {
            self.version_paths.insert(CURRENT_VERSION.to_owned(), path);
        }
        self.current_version = true;
        self.last_version = Some(CURRENT_VERSION.to_owned());
        warning
    }

    /// Returns the folder of translations below that of a locale.
    #[must_use]
    pub fn translations_folder(&self) -> String {
        let folder = format!("docusaurus-plugin-content-{}", self.kind.name());
        match self.id.rsplit('/').next() {
            None | Some(DEFAULT_INSTANCE) => folder,
            Some(id) => format!("{folder}-{id}"),
        }
    }
}

/// Returns the file that a plugin's option `tags` names; `None` if the option is `false`. It affects only words that a page is found by, so a
/// computed option causes no warning.
fn tags_file(options: &ConfigValue) -> Option<String> {
    match options.get("tags") {
        ConfigValue::Bool(false) => None,
        named => Some(named.text().unwrap_or_else(|| "tags.yml".to_owned())),
    }
}

/// Returns the path of a folder with pages. Adds a warning if it contains the site's folder, whose files have paths without its name.
fn content_folder(name: &str, path: &str, picker: &mut Picker) -> String {
    let path = joined("", path);
    if path.ends_with("..") {
        let name = format!("{}{name}", picker.table);
        picker.warnings.push(format!(
            "`{name}` is `{path}`, which contains the site's own folder: what is in the same folder of `{path}` as the site is not read as its pages"
        ));
    }
    path
}

/// Returns a version's name in the whole site: `2.0` for the default instance, `api@2.0` for others.
#[must_use]
pub fn version_in_site(instance: &str, version: &str) -> String {
    match instance {
        DEFAULT_INSTANCE => version.to_owned(),
        id => format!("{id}{VERSION_SEPARATOR}{version}"),
    }
}

/// Returns the id of the instance that a version belongs to, from its name in the whole site.
#[must_use]
pub fn instance_of_version(version: &str) -> &str {
    let instance = version.split_once(VERSION_SEPARATOR);
    instance.map_or(DEFAULT_INSTANCE, |(id, _)| id)
}

/// Returns the kind and id of the instance that a stored version belongs to: `blog/news@current` belongs to the blog `news`.
#[must_use]
pub fn origin_of_version(version: &str) -> (ContentKind, &str) {
    let instance = instance_of_version(version);
    let prefixed = instance.split_once('/').and_then(|(prefix, id)| {
        let mut kinds = ContentKind::ALL.into_iter();
        Some((kinds.find(|kind| kind.name() == prefix)?, id))
    });
    prefixed.unwrap_or((ContentKind::Docs, instance))
}
