//! A content plugin of a site: which files it makes pages of, and where it shows them.

use std::collections::BTreeMap;

use globset::GlobSet;
use serde::{Deserialize, Serialize};

use super::bookrag_toml::{TomlDocs, TomlPlugin};
use super::docusaurus::version_paths;
use super::origin::Picker;
use super::patterns::glob_set;
use super::value::ConfigValue;
use super::versions::built_versions;
use super::{CURRENT_VERSION, SettingsError};

/// The id of the docs instance whose options name none.
pub const DEFAULT_INSTANCE: &str = "default";

/// What stands between an instance's id and a version's name where versions of several instances are listed.
const VERSION_SEPARATOR: char = '@';

/// What Docusaurus takes unless the site says otherwise.
const DEFAULT_INCLUDE: [&str; 1] = ["**/*.{md,mdx}"];

/// What Docusaurus leaves out unless the site says otherwise.
const DEFAULT_EXCLUDE: [&str; 4] = [
    "**/_*.{js,jsx,ts,tsx,md,mdx}",
    "**/_*/**",
    "**/*.test.{js,jsx,ts,tsx}",
    "**/__tests__/**",
];

/// What a plugin makes pages of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContentKind {
    /// The docs, in versions: `plugin-content-docs`.
    #[default]
    Docs,
    /// Single pages: `plugin-content-pages`.
    #[serde(rename = "page")]
    Pages,
    /// The posts of a blog: `plugin-content-blog`.
    Blog,
}

impl ContentKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Docs, Self::Blog, Self::Pages];

    /// The name that requests and responses have for it.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Pages => "page",
            Self::Blog => "blog",
        }
    }

    /// The name that presets, `bookrag.toml`, ids and folders of translations have for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Docs => "docs",
            Self::Pages => "pages",
            Self::Blog => "blog",
        }
    }
}

/// A use of one of Docusaurus's content plugins, with folders, a route and versions of its own. Pages and posts have no versions,
/// and are all of `current`.
#[derive(Debug, Clone)]
pub struct Instance {
    /// What the plugin makes pages of.
    pub kind: ContentKind,
    /// The plugin's id. Plugins of pages and blogs have their kind before it: `default`, `api`, `pages/default`, `blog/news`. The id
    /// itself has no slash.
    pub id: String,
    /// `routeBasePath`: `docs`, or empty.
    pub route_base_path: String,
    /// The folder of the version `current` relative to the site, without slashes at its ends; empty when the site is a docs
    /// folder alone.
    pub path: String,
    /// Whether number prefixes are stripped from names.
    pub number_prefixes: bool,
    /// Whether [`Self::path`] itself is shown, as the version `current`.
    pub current_version: bool,
    /// Versions other than `current`, newest first.
    pub versions: Vec<String>,
    /// The version at the bare path; `None` is the newest.
    pub last_version: Option<String>,
    /// Paths that versions' settings give them.
    pub version_paths: BTreeMap<String, String>,
    pub(super) include_patterns: Vec<String>,
    pub(super) include: GlobSet,
    pub(super) exclude_patterns: Vec<String>,
    pub(super) exclude: GlobSet,
}

impl Instance {
    /// Reads an instance of the docs from its part of `bookrag.toml` and the plugin's options. `default_path` is its folder if neither
    /// names one.
    ///
    /// # Errors
    /// If its versions file cannot be parsed, or a pattern cannot be read.
    pub(super) fn read_docs(
        id: &str,
        toml: TomlDocs,
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
            toml.route_base_path,
            options.get("routeBasePath"),
            ConfigValue::text,
            "docs".to_owned(),
        );
        let docs_path = picker.pick_scope(
            "docs_path",
            toml.docs_path,
            options.get("path"),
            ConfigValue::path,
            default_path.to_owned(),
        );
        let number_prefixes = picker.pick(
            "number_prefixes",
            toml.number_prefixes,
            options.get("numberPrefixParser"),
            ConfigValue::bool,
            true,
        );
        let include_patterns = picker.pick_scope(
            "include",
            toml.include,
            options.get("include"),
            ConfigValue::texts,
            DEFAULT_INCLUDE.map(str::to_owned).to_vec(),
        );
        let exclude_patterns = picker.pick_scope(
            "exclude",
            toml.exclude,
            options.get("exclude"),
            ConfigValue::texts,
            DEFAULT_EXCLUDE.map(str::to_owned).to_vec(),
        );
        let versions = built_versions(
            &versions_file(id),
            toml.versions,
            toml.current_version,
            options,
            files,
            picker,
        )?;
        let last_version = picker.optional(
            "last_version",
            toml.last_version,
            options.get("lastVersion"),
            ConfigValue::text,
        );
        let version_paths = picker.pick(
            "version_paths",
            toml.version_paths,
            options.get("versions"),
            version_paths,
            BTreeMap::new(),
        );
        let include = glob_set("include", &include_patterns, picker, files)?;
        let exclude = glob_set("exclude", &exclude_patterns, picker, files)?;
        picker.table.clear();
        Ok(Self {
            kind: ContentKind::Docs,
            id: id.to_owned(),
            route_base_path: route_base_path.trim_matches('/').to_owned(),
            path: folder_path(&docs_path),
            number_prefixes,
            current_version: versions.current,
            versions: versions.others,
            last_version,
            version_paths,
            include_patterns,
            include,
            exclude_patterns,
            exclude,
        })
    }

    /// Reads a plugin without versions from its part of `bookrag.toml` and its options. `None`, with a warning, if the config computes
    /// which files it makes pages of: the site can do without them.
    ///
    /// # Errors
    /// If a pattern cannot be read.
    pub(super) fn read_unversioned(
        kind: ContentKind,
        id: &str,
        toml: TomlPlugin,
        options: &ConfigValue,
        files: &BTreeMap<String, String>,
        picker: &mut Picker,
    ) -> Result<Option<Self>, SettingsError> {
        let (folder, route, pages) = match kind {
            // Scripts are pages too; they are listed.
            ContentKind::Pages => ("src/pages", "", "**/*.{js,jsx,ts,tsx,md,mdx}"),
            ContentKind::Docs | ContentKind::Blog => (kind.name(), kind.name(), DEFAULT_INCLUDE[0]),
        };
        let path = picker.pick_scope(
            "path",
            toml.path,
            options.get("path"),
            ConfigValue::path,
            folder.to_owned(),
        );
        let include_patterns = picker.pick_scope(
            "include",
            toml.include,
            options.get("include"),
            ConfigValue::texts,
            vec![pages.to_owned()],
        );
        let exclude_patterns = picker.pick_scope(
            "exclude",
            toml.exclude,
            options.get("exclude"),
            ConfigValue::texts,
            DEFAULT_EXCLUDE.map(str::to_owned).to_vec(),
        );
        if picker.leaves_out() {
            return Ok(None);
        }
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
            path: folder_path(&path),
            number_prefixes: false,
            current_version: true,
            versions: Vec::new(),
            last_version: None,
            version_paths: BTreeMap::new(),
            include: glob_set("include", &include_patterns, picker, files)?,
            include_patterns,
            exclude: glob_set("exclude", &exclude_patterns, picker, files)?,
            exclude_patterns,
        }))
    }

    /// Whether the file at `relative`, a path below its version's root, is one of the instance's.
    #[must_use]
    pub fn includes(&self, relative: &str) -> bool {
        self.include.is_match(relative) && !self.exclude.is_match(relative)
    }

    /// The version at the bare path.
    #[must_use]
    pub fn default_version(&self) -> &str {
        let named = self.last_version.as_ref().or(self.versions.first());
        named.map_or(CURRENT_VERSION, String::as_str)
    }

    /// The URL part of a version: empty for the one at the bare path.
    #[must_use]
    pub fn version_path<'a>(&'a self, version: &'a str) -> &'a str {
        match self.version_paths.get(version) {
            Some(path) => path,
            None if version == self.default_version() => "",
            None if version == CURRENT_VERSION => "next",
            None => version,
        }
    }

    /// The file that lists the versions; `None` if there are none.
    #[must_use]
    pub fn versions_file(&self) -> Option<String> {
        (self.kind == ContentKind::Docs).then(|| versions_file(&self.id))
    }

    /// The folder of the versions other than `current`; `None` if there are none.
    #[must_use]
    pub fn versions_folder(&self) -> Option<String> {
        (self.kind == ContentKind::Docs).then(|| prefixed(&self.id, "versioned_docs"))
    }

    /// The folder of translations below that of a locale.
    #[must_use]
    pub fn translations_folder(&self) -> String {
        let folder = format!("docusaurus-plugin-content-{}", self.kind.name());
        match self.id.rsplit('/').next() {
            None | Some(DEFAULT_INSTANCE) => folder,
            Some(id) => format!("{folder}-{id}"),
        }
    }
}

/// The path of a folder, without `./` before it and slashes at its ends.
fn folder_path(path: &str) -> String {
    let path = path.trim_start_matches("./").trim_matches('/');
    path.to_owned()
}

/// The name of a version among those of all instances: `2.0` of the default one, `api@2.0` of others.
#[must_use]
pub fn version_in_site(instance: &str, version: &str) -> String {
    match instance {
        DEFAULT_INSTANCE => version.to_owned(),
        id => format!("{id}{VERSION_SEPARATOR}{version}"),
    }
}

/// The id of the instance that a version is of, by its name among those of all instances.
#[must_use]
pub fn instance_of_version(version: &str) -> &str {
    let instance = version.split_once(VERSION_SEPARATOR);
    instance.map_or(DEFAULT_INSTANCE, |(id, _)| id)
}

/// Returns the kind and the id of the instance that a stored version belongs to: `blog/news@current` is of the blog `news`.
#[must_use]
pub fn origin_of_version(version: &str) -> (ContentKind, &str) {
    let instance = instance_of_version(version);
    let prefixed = instance.split_once('/').and_then(|(prefix, id)| {
        let mut kinds = ContentKind::ALL.into_iter();
        Some((kinds.find(|kind| kind.name() == prefix)?, id))
    });
    prefixed.unwrap_or((ContentKind::Docs, instance))
}

fn versions_file(id: &str) -> String {
    prefixed(id, "versions.json")
}

/// The name that Docusaurus gives to an instance's file or folder of this kind.
fn prefixed(id: &str, name: &str) -> String {
    match id {
        DEFAULT_INSTANCE => name.to_owned(),
        id => format!("{id}_{name}"),
    }
}
