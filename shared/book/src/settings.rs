//! A site's settings: from `bookrag.toml`, or else literals in its Docusaurus config, or else defaults.

mod value;
mod appearance;
mod budget;
mod changes;
mod evaluate;
mod origin;
mod bookrag_toml;
mod build;
mod docusaurus;
mod patterns;
mod versions;
mod synonyms;
mod locales;
mod syntax;
mod sidebars;
mod instance;
mod plugins;
mod reading_key;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use appearance::{Appearance, ColorMode};
pub use bookrag_toml::build_folder;
pub use build::{SITEMAP, is_front_page};
pub use docusaurus::MadeFolder;
pub use instance::{
    ContentKind, DEFAULT_INSTANCE, Instance, instance_of_version, origin_of_version,
    version_in_site,
};
pub use origin::{Origin, Setting};
pub(crate) use sidebars::{GeneratedIndex, Sidebars};

use crate::decoding::decode;
use crate::facets::Facets;
use crate::skip_reason::SkipReason;
use bookrag_toml::TomlSettings;
use build::FRONT_PAGE;
use docusaurus::{made_folders, preprocessor, read_docusaurus_config};
use locales::Locales;
use origin::Picker;
use plugins::{read_docs, read_unversioned};
use synonyms::{SYNONYMS_FILE, read_synonyms};
use value::ConfigValue;

/// The files with settings, in order of precedence. Docs instances other than the default also have [files of
/// versions](Instance::versions_file), known only after these were read.
pub const SETTINGS_FILES: [&str; 9] = [
    "bookrag.toml",
    "docusaurus.config.ts",
    "docusaurus.config.js",
    "docusaurus.config.mjs",
    "docusaurus.config.cjs",
    "docusaurus.config.mts",
    "versions.json",
    SYNONYMS_FILE,
    FRONT_PAGE,
];

/// Docusaurus's name for the version in `docs/`.
pub const CURRENT_VERSION: &str = "current";

/// True if settings may be read from the file at a path: one of [`SETTINGS_FILES`], the sitemap of a build, or a file about versions, whether or
/// not the site has that docs instance or its config imports the file.
#[must_use]
pub fn is_settings_file(path: &str) -> bool {
    SETTINGS_FILES.contains(&path) || path == SITEMAP || is_about_versions(path)
}

/// True for `api_versions.json`, `archivedVersions.json` and other files beside the config that say by their names that they are about versions.
fn is_about_versions(path: &str) -> bool {
    let name = path.strip_suffix(".json");
    // `versions` or `Versions`.
    name.is_some_and(|name| !name.contains('/') && name.contains("ersions"))
}

/// The longest name of a file on common systems, in bytes.
const MAX_FILE_NAME: usize = 255;

/// The most files about versions that a config may import, more than any site has.
const MAX_IMPORTED_FILES: usize = 16;

/// Returns the [settings files](is_settings_file) in JSON that a config names, for it to import.
#[must_use]
pub fn settings_files_named_in(config: &str) -> BTreeSet<String> {
    let literals = config.split(['"', '\'', '`']);
    let files = literals.filter_map(|literal| literal.strip_prefix("./"));
    let files = files.filter(|file| file.len() <= MAX_FILE_NAME && is_about_versions(file));
    let files: BTreeSet<&str> = files.collect();
    let files = files.into_iter().take(MAX_IMPORTED_FILES);
    files.map(str::to_owned).collect()
}

/// True for an id that Docusaurus accepts: letters, digits, `_` and `-`.
fn is_instance_id(id: &str) -> bool {
    let mut bytes = id.bytes();
    !id.is_empty() && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte))
}

/// The settings of a site that decide which files are pages and what their URLs are.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent settings")]
pub struct SiteSettings {
    /// The site's title.
    pub title: Option<String>,
    /// `url`: the scheme and host of the site, without a trailing slash; `None` if computed.
    pub url: Option<String>,
    /// `baseUrl`, with leading and trailing slash: `/book/`.
    pub base_url: String,
    /// The plugins that make pages: docs (at least one, the default ones first if they exist), then plugins of pages, then
    /// blogs.
    pub instances: Vec<Instance>,
    /// `trailingSlash`; `None` leaves URLs as derived from files.
    pub trailing_slash: Option<bool>,
    /// The locale whose URLs have no prefix.
    pub default_locale: String,
    /// Folders whose files the site serves unchanged, relative to the site: `static`.
    pub static_folders: Vec<String>,
    /// All locales, including the default one.
    pub locales: Vec<String>,
    /// The folder of the translations: `i18n`.
    pub i18n_path: String,
    locale_places: BTreeMap<String, LocalePlace>,
    /// The Markdown dialect of files whose front matter sets none.
    pub markdown_format: MarkdownFormat,
    /// True if `$…$` and `$$…$$` are formulas, because the site uses remark-math.
    pub math: bool,
    /// True if `<!-- #id -->` sets a heading's id in plain Markdown.
    pub comment_ids: bool,
    /// True if shortcodes such as `:gear:` are shown as emojis (`markdown.emoji`).
    pub emoji: bool,
    /// The comments in code that select lines for highlighting, which are not shown; `None` for Docusaurus's own.
    pub magic_comments: Option<Vec<String>>,
    /// True if the site is a build: its pages are HTML files, not sources.
    pub is_build: bool,
    /// Front matter fields that a page must have to be indexed.
    pub require_front_matter: Vec<String>,
    /// Fields of the front matter that searches can be filtered by.
    pub facets: Facets,
    /// Sets of synonyms, from `synonyms.txt`.
    pub synonyms: Vec<Vec<String>>,
    /// True if heading ids keep upper case (`markdown.anchors.maintainCase`).
    pub keep_anchor_case: bool,
    /// The folders into which plugins write pages when the site is built.
    pub made_folders: Vec<MadeFolder>,
    /// How the site looks.
    pub appearance: Appearance,
    /// Each setting with its value and origin.
    pub origins: Vec<Setting>,
    /// Settings that could not be read and are not essential.
    pub warnings: Vec<String>,
}

/// The error in a settings file. Its settings are unknown, so no page may be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {reason}")]
pub struct SettingsError {
    /// The file's name.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The problem, and how to solve it.
    pub reason: String,
}

impl SettingsError {
    /// Names the file, the line from 1, and the problem.
    #[must_use]
    pub fn new(file: &str, line: usize, reason: &str) -> Self {
        Self {
            file: file.to_owned(),
            line,
            reason: reason.to_owned(),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct LocalePlace {
    folder: Option<String>,
    base_url: Option<String>,
    /// `translate: false`: its translations are not used.
    untranslated: bool,
}

/// The dialect of Markdown files.
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

impl SiteSettings {
    /// True if no file of the site contains settings. The folder of a bucket's built pages does not count, because it is known without a file.
    #[must_use]
    pub fn are_defaults(&self) -> bool {
        let mut origins = self.origins.iter();
        origins.all(|it| it.origin == Origin::Default || it.name.starts_with("pages.build."))
    }

    /// Reads a site's settings from the texts of its [`SETTINGS_FILES`] and of its docs' versions, by name. `has_docs_folder` is true if
    /// the site has a docs folder.
    ///
    /// A computed setting is reported in `warnings` and gets its default.
    ///
    /// # Errors
    /// If a file cannot be parsed, the config computes too much, the config computes which pages are built and `bookrag.toml` does not say it, or
    /// there are more plugins, versions or locales than any site has.
    pub fn read(
        files: &BTreeMap<String, String>,
        has_docs_folder: bool,
    ) -> Result<Self, SettingsError> {
        Self::read_with_build(files, has_docs_folder, None)
    }

    /// Like [`Self::read`], for a site whose build is in this folder if `bookrag.toml` names no other.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn read_with_build(
        files: &BTreeMap<String, String>,
        has_docs_folder: bool,
        build: Option<&str>,
    ) -> Result<Self, SettingsError> {
        let mut picker = Picker::default();
        let mut toml = TomlSettings::read(files)?;
        let (config_name, config) = read_docusaurus_config(files)?;
        picker.config_name = config_name;
        let is_build = config_name == FRONT_PAGE;
        let build = toml.build.take().or_else(|| build.map(str::to_owned));
        let build = build.filter(|_| !is_build);
        let title = picker.optional(
            "title",
            toml.title.take(),
            config.get("title"),
            ConfigValue::text,
        );
        let base_url = slashed(&picker.pick(
            "base_url",
            toml.base_url.take(),
            config.get("baseUrl"),
            ConfigValue::text,
            "/".to_owned(),
        ));
        let trailing_slash = picker.optional(
            "trailing_slash",
            toml.trailing_slash,
            config.get("trailingSlash"),
            ConfigValue::bool,
        );
        let instances = read_instances(
            &mut toml,
            &config,
            has_docs_folder,
            build.as_deref(),
            files,
            &mut picker,
        )?;
        let markdown = config.get("markdown");
        picker.warnings.extend(preprocessor(markdown, config_name));
        let markdown_format = picker.pick(
            "markdown_format",
            toml.markdown_format,
            markdown.get("format"),
            |value| MarkdownFormat::named(&value.text()?),
            MarkdownFormat::Mdx,
        );
        let math = reads_math(toml.math, files, &mut picker);
        let keep_anchor_case = picker.pick(
            "keep_anchor_case",
            toml.keep_anchor_case,
            markdown.get("anchors").get("maintainCase"),
            ConfigValue::bool,
            false,
        );
        let i18n = config.get("i18n");
        let locales = Locales::read(&mut toml, i18n, &base_url, files, &mut picker)?;
        if !toml.require_front_matter.is_empty() {
            picker.note("require_front_matter", &toml.require_front_matter);
        }
        if !toml.facets.is_empty() {
            picker.note("facets", &toml.facets);
        }
        Ok(Self {
            title,
            // Only exports need it and also accept it as an argument, so a computed one causes no warning.
            url: config
                .get("url")
                .text()
                .map(|url| url.trim_end_matches('/').to_owned()),
            instances,
            trailing_slash,
            default_locale: locales.default,
            static_folders: static_folders(&config),
            made_folders: made_folders(&config),
            appearance: Appearance::read(&config),
            locales: locales.all,
            i18n_path: locales.path,
            locale_places: locales.places,
            base_url,
            markdown_format,
            math,
            comment_ids: comment_ids(&config, &mut picker),
            emoji: syntax::emoji(&config, &mut picker),
            magic_comments: syntax::magic_comments(&config, &mut picker),
            keep_anchor_case,
            is_build,
            require_front_matter: toml.require_front_matter,
            facets: toml.facets,
            synonyms: site_synonyms(files, &mut picker)?,
            origins: std::mem::take(&mut picker.origins),
            warnings: picker.into_warnings(),
        })
    }

    /// Returns the folder of the site's build, relative to the site, if pages that the sources do not hold are read from it.
    #[must_use]
    pub fn build_folder(&self) -> Option<&str> {
        let mut plugins = self.instances.iter();
        let build = plugins.find(|it| it.is_built && !self.is_build);
        build.map(|it| it.path.as_str())
    }

    /// Returns the instance with this id, or else the first docs instance.
    #[must_use]
    pub fn instance(&self, id: &str) -> &Instance {
        let named = self.instances.iter().find(|docs| docs.id == id);
        named.unwrap_or(&self.instances[0])
    }

    /// Returns the base URL of a locale's pages.
    #[must_use]
    pub fn locale_base_url(&self, locale: &str) -> String {
        let own = self.locale_places.get(locale);
        match own.and_then(|place| place.base_url.clone()) {
            Some(url) => url,
            None if locale == self.default_locale => self.base_url.clone(),
            None => format!("{}{locale}/", self.base_url),
        }
    }

    /// True if a locale's translations are used. Those of the only locale are not looked for: hardly a site has any, and each page would cost a read.
    #[must_use]
    pub fn translates(&self, locale: &str) -> bool {
        let own = self.locale_places.get(locale);
        self.locales.len() > 1 && own.is_none_or(|place| !place.untranslated)
    }

    /// Returns the folder of a locale's translations, relative to the site.
    #[must_use]
    pub fn locale_folder(&self, locale: &str) -> String {
        let own = self.locale_places.get(locale);
        let folder = own.and_then(|place| place.folder.as_deref());
        format!("{}/{}", self.i18n_path, folder.unwrap_or(locale))
    }
}

/// True if `$` begins a formula. Plugins are functions, so their use shows only in the config's text. Without a config, formulas are assumed.
fn reads_math(toml: Option<bool>, files: &BTreeMap<String, String>, picker: &mut Picker) -> bool {
    let config = files.get(picker.config_name);
    let math = toml.unwrap_or_else(|| config.is_none_or(|text| text.contains("remark-math")));
    let origin = match (toml, picker.config_name) {
        (Some(_), _) => Origin::toml(),
        (None, "") => Origin::Default,
        (None, name) => Origin::File(name.to_owned()),
    };
    picker.found("math", &math, origin);
    math
}

/// Returns the folders of files that are copied into the site. Only pictures depend on them, so a computed value causes no warning.
fn static_folders(config: &ConfigValue) -> Vec<String> {
    let folders = config.get("staticDirectories").texts();
    folders
        .unwrap_or_else(|| vec!["static".to_owned()])
        .iter()
        .map(|folder| folder.trim_start_matches("./").trim_matches('/').to_owned())
        .collect()
}

fn site_synonyms(
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<Vec<Vec<String>>, SettingsError> {
    let synonyms = read_synonyms(files)?;
    if !synonyms.is_empty() {
        let origin = Origin::File(SYNONYMS_FILE.to_owned());
        picker.found("synonyms", &synonyms, origin);
    }
    Ok(synonyms)
}

/// True if `<!-- #id -->` sets a heading's id: a feature of Docusaurus 4 that can be enabled separately.
fn comment_ids(config: &ConfigValue, picker: &mut Picker) -> bool {
    let all = config.get("future").get("v4");
    let compat = config.get("markdown").get("mdx1Compat").get("comments");
    let options = [("future.v4", all), ("markdown.mdx1Compat.comments", compat)];
    let [all, compat] = options.map(|(name, option)| {
        picker.config_only(name, option, |value| match value.computed_line() {
            Some(_) => None,
            None => Some(
                value
                    .bool()
                    .or_else(|| value.get("mdx1CompatDisabledByDefault").bool()),
            ),
        })
    });
    // An explicit setting wins (`configValidation` of Docusaurus 3.10).
    match compat.flatten() {
        Some(is_compatible) => !is_compatible,
        None => all == Some(Some(true)),
    }
}

fn slashed(url: &str) -> String {
    let path = url.trim_matches('/');
    if path.is_empty() {
        "/".to_owned()
    } else {
        format!("/{path}/")
    }
}

/// Returns the text of the settings file `name`.
pub fn settings_text(name: &str, bytes: &[u8]) -> Result<String, SettingsError> {
    decode(bytes).map_err(|reason| match reason {
        SkipReason::NotUtf8 { line } => SettingsError::new(name, line, "it is not UTF-8 text"),
        reason => SettingsError::new(name, 1, &reason.to_string()),
    })
}

/// Reads the plugins of docs, pages and blogs. The pages that only the build has count as a plugin of pages.
fn read_instances(
    toml: &mut TomlSettings,
    config: &ConfigValue,
    has_docs_folder: bool,
    build: Option<&str>,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<Vec<Instance>, SettingsError> {
    let pages = std::mem::take(&mut toml.pages);
    let blog = std::mem::take(&mut toml.blog);
    let docs = read_docs(toml, config, has_docs_folder, files, picker)?;
    let pages = read_unversioned(ContentKind::Pages, pages, config, build, files, picker)?;
    let blogs = read_unversioned(ContentKind::Blog, blog, config, None, files, picker)?;
    Ok(docs.into_iter().chain(pages).chain(blogs).collect())
}

#[cfg(test)]
mod hostile_configs;
#[cfg(test)]
mod change_tests;
#[cfg(test)]
mod computed_tests;
#[cfg(test)]
mod config_tests;
#[cfg(test)]
mod partial_tests;
#[cfg(test)]
mod scope_tests;
#[cfg(test)]
mod instance_tests;
#[cfg(test)]
mod tests;
