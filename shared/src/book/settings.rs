//! A site's settings: from `bookrag.toml`, else from the literals of its Docusaurus config, else the defaults.

mod value;
mod changes;
mod evaluate;
mod origin;
mod docusaurus;
mod patterns;
mod versions;
mod synonyms;
mod reading_key;

use std::collections::BTreeMap;

use globset::GlobSet;
use serde::{Deserialize, Serialize};

pub use origin::{Origin, Setting};

use docusaurus::{docs_options, locale_places, read_docusaurus_config, read_toml, version_paths};
use origin::Picker;
use patterns::glob_set;
use synonyms::{SYNONYMS_FILE, read_synonyms};
use value::ConfigValue;
use versions::built_versions;

/// The files that settings are read from, in the order they are looked for.
pub const SETTINGS_FILES: [&str; 8] = [
    "bookrag.toml",
    "docusaurus.config.ts",
    "docusaurus.config.js",
    "docusaurus.config.mjs",
    "docusaurus.config.cjs",
    "docusaurus.config.mts",
    "versions.json",
    SYNONYMS_FILE,
];

/// The name Docusaurus gives to the version in `docs/`.
pub const CURRENT_VERSION: &str = "current";

/// What Docusaurus takes unless the site says otherwise.
const DEFAULT_INCLUDE: [&str; 1] = ["**/*.{md,mdx}"];

/// What Docusaurus leaves out unless the site says otherwise.
const DEFAULT_EXCLUDE: [&str; 4] = [
    "**/_*.{js,jsx,ts,tsx,md,mdx}",
    "**/_*/**",
    "**/*.test.{js,jsx,ts,tsx}",
    "**/__tests__/**",
];

/// Everything about a site that decides which files are pages and what their URLs are.
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent settings, each a field of the config"
)]
#[derive(Debug, Clone)]
pub struct SiteSettings {
    /// The site's title.
    pub title: Option<String>,
    /// `baseUrl`, with both slashes: `/book/`.
    pub base_url: String,
    /// `routeBasePath` of the docs: `docs`, or empty.
    pub route_base_path: String,
    /// The docs folder relative to the site, without slashes at its ends; empty when the site is a docs folder alone.
    pub docs_path: String,
    /// `trailingSlash`; `None` leaves URLs as their files make them.
    pub trailing_slash: Option<bool>,
    /// Whether number prefixes are stripped from names.
    pub number_prefixes: bool,
    /// The locale without a prefix.
    pub default_locale: String,
    /// The folders whose files the site serves as they are, relative to the site: `static`.
    pub static_folders: Vec<String>,
    /// All locales, the default one among them.
    pub locales: Vec<String>,
    /// The folder of the translations: `i18n`.
    pub i18n_path: String,
    locale_places: BTreeMap<String, LocalePlace>,
    /// Whether `docs/` itself is shown, as the version `current`.
    pub current_version: bool,
    /// Versions other than `current`, newest first.
    pub versions: Vec<String>,
    /// The version at the bare path; `None` is the newest.
    pub last_version: Option<String>,
    /// Paths that versions' settings give them.
    pub version_paths: BTreeMap<String, String>,
    /// How files are written, unless their front matter says otherwise.
    pub markdown_format: MarkdownFormat,
    /// Whether `$…$` and `$$…$$` are formulas: the site uses remark-math.
    pub math: bool,
    /// Whether `<!-- #id -->` gives a heading of plain Markdown its id.
    pub comment_ids: bool,
    /// Front matter fields a page must have to be indexed.
    pub require_front_matter: Vec<String>,
    /// Sets of words that mean the same, from `synonyms.txt`.
    pub synonyms: Vec<Vec<String>>,
    /// Whether headings' ids keep their upper case (`markdown.anchors.maintainCase`).
    pub keep_anchor_case: bool,
    /// Each setting with its value and where it was read.
    pub origins: Vec<Setting>,
    /// Settings that could not be read and that a page can do without.
    pub warnings: Vec<String>,
    include_patterns: Vec<String>,
    include: GlobSet,
    exclude_patterns: Vec<String>,
    exclude: GlobSet,
}

/// A file of settings that cannot be read. Its settings are not known, so nothing may be read with others.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct SettingsError {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what to do.
    pub reason: String,
}

impl SettingsError {
    pub(crate) fn new(file: &str, line: usize, reason: &str) -> Self {
        Self {
            file: file.to_owned(),
            line,
            reason: reason.to_owned(),
        }
    }
}

/// Where a locale's own settings put it.
#[derive(Debug, Clone, Default)]
struct LocalePlace {
    folder: Option<String>,
    base_url: Option<String>,
    /// `translate: false`: its translations are not used.
    untranslated: bool,
}

/// How Markdown files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MarkdownFormat {
    /// All are MDX: Docusaurus's default.
    Mdx,
    /// All are plain Markdown.
    Md,
    /// `.mdx` files are MDX, `.md` files plain Markdown.
    Detect,
}

impl MarkdownFormat {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "mdx" => Some(Self::Mdx),
            "md" => Some(Self::Md),
            "detect" => Some(Self::Detect),
            _ => None,
        }
    }
}

/// `bookrag.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TomlSettings {
    title: Option<String>,
    base_url: Option<String>,
    route_base_path: Option<String>,
    docs_path: Option<String>,
    trailing_slash: Option<bool>,
    number_prefixes: Option<bool>,
    markdown_format: Option<MarkdownFormat>,
    math: Option<bool>,
    keep_anchor_case: Option<bool>,
    default_locale: Option<String>,
    locales: Option<Vec<String>>,
    versions: Option<Vec<String>>,
    last_version: Option<String>,
    version_paths: Option<BTreeMap<String, String>>,
    current_version: Option<bool>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    require_front_matter: Vec<String>,
}

impl SiteSettings {
    /// Reads a site's settings from the text of its [`SETTINGS_FILES`], by name, and whether it has a docs folder.
    ///
    /// A setting that the config computes is reported in `warnings`, and its default taken.
    ///
    /// # Errors
    /// If a file cannot be parsed, or the config computes which pages or versions are built and `bookrag.toml` does not say.
    #[expect(clippy::too_many_lines, reason = "one setting after another")]
    pub fn read(
        files: &BTreeMap<String, String>,
        has_docs_folder: bool,
    ) -> Result<Self, SettingsError> {
        let mut picker = Picker::default();
        let toml = read_toml(files)?;
        let (config_name, config) = read_docusaurus_config(files)?;
        picker.config_name = config_name;
        let docs = docs_options(&config, &mut picker.warnings);
        let title = picker.optional("title", toml.title, config.get("title"), ConfigValue::text);
        let base_url = slashed(&picker.pick(
            "base_url",
            toml.base_url,
            config.get("baseUrl"),
            ConfigValue::text,
            "/".to_owned(),
        ));
        let route_base_path = picker.pick(
            "route_base_path",
            toml.route_base_path,
            docs.get("routeBasePath"),
            ConfigValue::text,
            "docs".to_owned(),
        );
        let docs_path = picker.pick_scope(
            "docs_path",
            toml.docs_path,
            docs.get("path"),
            ConfigValue::path,
            if has_docs_folder { "docs" } else { "" }.to_owned(),
        );
        let trailing_slash = picker.optional(
            "trailing_slash",
            toml.trailing_slash,
            config.get("trailingSlash"),
            ConfigValue::bool,
        );
        let number_prefixes = picker.pick(
            "number_prefixes",
            toml.number_prefixes,
            docs.get("numberPrefixParser"),
            ConfigValue::bool,
            true,
        );
        let markdown = config.get("markdown");
        let markdown_format = picker.pick(
            "markdown_format",
            toml.markdown_format,
            markdown.get("format"),
            |value| MarkdownFormat::named(&value.text()?),
            MarkdownFormat::Mdx,
        );
        // Plugins are functions, so their use shows in the text alone. A folder without a config gets the benefit of it.
        let math = toml.math.unwrap_or_else(|| {
            files
                .get(config_name)
                .is_none_or(|text| text.contains("remark-math"))
        });
        picker.found(
            "math",
            &math,
            match (toml.math, config_name) {
                (Some(_), _) => Origin::File("bookrag.toml"),
                (None, "") => Origin::Default,
                (None, name) => Origin::File(name),
            },
        );
        let keep_anchor_case = picker.pick(
            "keep_anchor_case",
            toml.keep_anchor_case,
            markdown.get("anchors").get("maintainCase"),
            ConfigValue::bool,
            false,
        );
        let include_patterns = picker.pick_scope(
            "include",
            toml.include,
            docs.get("include"),
            ConfigValue::texts,
            DEFAULT_INCLUDE.map(str::to_owned).to_vec(),
        );
        let exclude_patterns = picker.pick_scope(
            "exclude",
            toml.exclude,
            docs.get("exclude"),
            ConfigValue::texts,
            DEFAULT_EXCLUDE.map(str::to_owned).to_vec(),
        );
        let versions = built_versions(
            toml.versions,
            toml.current_version,
            &docs,
            files,
            &mut picker,
        )?;
        picker.check()?;
        // Only pictures depend on it: a computed one is not worth a warning.
        let static_folders = config.get("staticDirectories").texts();
        let static_folders = static_folders.unwrap_or_else(|| vec!["static".to_owned()]);
        let i18n = config.get("i18n");
        let default_locale = picker.pick(
            "default_locale",
            toml.default_locale,
            i18n.get("defaultLocale"),
            ConfigValue::text,
            "en".to_owned(),
        );
        let mut locales = picker.pick(
            "locales",
            toml.locales,
            i18n.get("locales"),
            ConfigValue::texts,
            vec![],
        );
        if !locales.contains(&default_locale) {
            locales.insert(0, default_locale.clone());
        }
        let i18n_path = picker.config_only("i18n.path", i18n.get("path"), ConfigValue::text);
        let origin = i18n_path
            .as_ref()
            .map_or(Origin::Default, |_| Origin::File(config_name));
        let i18n_path = i18n_path.unwrap_or_else(|| "i18n".to_owned());
        picker.found("i18n_path", &i18n_path, origin);
        let locale_places = locale_places(i18n.get("localeConfigs"), &base_url, &mut picker);
        let last_version = picker.optional(
            "last_version",
            toml.last_version,
            docs.get("lastVersion"),
            ConfigValue::text,
        );
        let version_paths = picker.pick(
            "version_paths",
            toml.version_paths,
            docs.get("versions"),
            version_paths,
            BTreeMap::new(),
        );
        if !toml.require_front_matter.is_empty() {
            picker.note("require_front_matter", &toml.require_front_matter);
        }
        let comment_ids = comment_ids(&config, &mut picker);
        let synonyms = read_synonyms(files)?;
        if !synonyms.is_empty() {
            picker.found("synonyms", &synonyms, Origin::File(SYNONYMS_FILE));
        }
        let Picker {
            origins, warnings, ..
        } = picker;
        Ok(Self {
            title,
            base_url,
            route_base_path: route_base_path.trim_matches('/').to_owned(),
            docs_path: docs_path
                .trim_start_matches("./")
                .trim_matches('/')
                .to_owned(),
            trailing_slash,
            number_prefixes,
            default_locale,
            static_folders: static_folders
                .iter()
                .map(|folder| folder.trim_start_matches("./").trim_matches('/').to_owned())
                .collect(),
            locales,
            i18n_path: i18n_path.trim_matches('/').to_owned(),
            locale_places,
            current_version: versions.current,
            versions: versions.others,
            last_version,
            version_paths,
            markdown_format,
            math,
            comment_ids,
            keep_anchor_case,
            require_front_matter: toml.require_front_matter,
            synonyms,
            include: glob_set("include", &include_patterns, &origins, files)?,
            include_patterns,
            exclude: glob_set("exclude", &exclude_patterns, &origins, files)?,
            exclude_patterns,
            origins,
            warnings,
        })
    }

    /// Whether the file at `relative`, a path below its version's root, is one of the site's.
    #[must_use]
    pub fn includes(&self, relative: &str) -> bool {
        self.include.is_match(relative) && !self.exclude.is_match(relative)
    }

    /// The base URL of a locale's pages.
    #[must_use]
    pub fn locale_base_url(&self, locale: &str) -> String {
        let own = self.locale_places.get(locale);
        match own.and_then(|place| place.base_url.clone()) {
            Some(url) => url,
            None if locale == self.default_locale => self.base_url.clone(),
            None => format!("{}{locale}/", self.base_url),
        }
    }

    /// Whether a locale's translations are used.
    #[must_use]
    pub fn translates(&self, locale: &str) -> bool {
        let own = self.locale_places.get(locale);
        own.is_none_or(|place| !place.untranslated)
    }

    /// The folder of a locale's translations, relative to the site.
    #[must_use]
    pub fn locale_folder(&self, locale: &str) -> String {
        let own = self.locale_places.get(locale);
        let folder = own.and_then(|place| place.folder.as_deref());
        format!("{}/{}", self.i18n_path, folder.unwrap_or(locale))
    }

    /// The version at the bare path.
    #[must_use]
    pub fn default_version(&self) -> String {
        let named = self.last_version.as_ref().or(self.versions.first());
        named.cloned().unwrap_or_else(|| CURRENT_VERSION.to_owned())
    }

    /// The URL part of a version: empty for the one at the bare path.
    #[must_use]
    pub fn version_path(&self, version: &str) -> String {
        if let Some(path) = self.version_paths.get(version) {
            return path.clone();
        }
        let last = self
            .last_version
            .as_deref()
            .or(self.versions.first().map(String::as_str))
            .unwrap_or(CURRENT_VERSION);
        if version == last {
            String::new()
        } else if version == CURRENT_VERSION {
            "next".to_owned()
        } else {
            version.to_owned()
        }
    }
}

/// Whether `<!-- #id -->` gives a heading its id: a choice of Docusaurus 4 that can be made alone.
fn comment_ids(config: &ConfigValue, picker: &mut Picker) -> bool {
    // Other kinds of values, such as a list of single features, leave it as it is.
    let chosen = |value: &ConfigValue| match value {
        ConfigValue::Computed(_) => None,
        value => Some(value.bool()),
    };
    let all = picker.config_only("future.v4", config.get("future").get("v4"), chosen);
    let compat = config.get("markdown").get("mdx1Compat").get("comments");
    let compat = picker.config_only("markdown.mdx1Compat.comments", compat, chosen);
    all == Some(Some(true)) || compat == Some(Some(false))
}

/// A base URL with a slash at both ends.
fn slashed(url: &str) -> String {
    let path = url.trim_matches('/');
    if path.is_empty() {
        "/".to_owned()
    } else {
        format!("/{path}/")
    }
}

#[cfg(test)]
mod config_tests;
#[cfg(test)]
mod tests;
