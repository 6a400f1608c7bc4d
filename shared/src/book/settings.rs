//! A site's settings: from `bookrag.toml`, else from the literals of its Docusaurus config, else the defaults.

use std::collections::BTreeMap;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use serde::Deserialize;
use serde_json::Value;

use super::js_literals::read_config;

/// The files that settings are read from, in the order they are looked for.
pub const SETTINGS_FILES: [&str; 7] = [
    "bookrag.toml",
    "docusaurus.config.ts",
    "docusaurus.config.js",
    "docusaurus.config.mjs",
    "docusaurus.config.cjs",
    "docusaurus.config.mts",
    "versions.json",
];

/// The name Docusaurus gives to the version in `docs/`.
pub const CURRENT_VERSION: &str = "current";

/// What Docusaurus leaves out unless the site says otherwise.
const DEFAULT_EXCLUDE: [&str; 4] = [
    "**/_*.{js,jsx,ts,tsx,md,mdx}",
    "**/_*/**",
    "**/*.test.{js,jsx,ts,tsx}",
    "**/__tests__/**",
];

/// Everything about a site that decides which files are pages and what their URLs are.
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
    /// All locales, the default one among them.
    pub locales: Vec<String>,
    /// Versions other than `current`, newest first.
    pub versions: Vec<String>,
    /// The version at the bare path; `None` is the newest.
    pub last_version: Option<String>,
    /// Paths that versions' settings give them.
    pub version_paths: BTreeMap<String, String>,
    /// Whether `.md` files are plain Markdown rather than MDX.
    pub detect_format: bool,
    /// Front matter fields a page must have to be indexed.
    pub require_front_matter: Vec<String>,
    /// What was read from which file.
    pub sources: Vec<String>,
    /// What could not be read, said once.
    pub warnings: Vec<String>,
    exclude_patterns: Vec<String>,
    exclude: GlobSet,
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
    default_locale: Option<String>,
    locales: Option<Vec<String>>,
    versions: Option<Vec<String>>,
    last_version: Option<String>,
    version_paths: Option<BTreeMap<String, String>>,
    exclude: Option<Vec<String>>,
    require_front_matter: Vec<String>,
}

impl SiteSettings {
    /// Reads a site's settings from the text of its [`SETTINGS_FILES`], by name, and whether it has a docs folder.
    ///
    /// What cannot be read stands in `warnings`; it never fails.
    #[must_use]
    pub fn read(files: &BTreeMap<String, String>, has_docs_folder: bool) -> Self {
        let mut warnings = Vec::new();
        let mut sources = Vec::new();
        let toml = files
            .get("bookrag.toml")
            .map_or_else(TomlSettings::default, |text| {
                sources.push("bookrag.toml".to_owned());
                toml::from_str(text).unwrap_or_else(|error| {
                    warnings.push(format!("bookrag.toml: {}", error.message()));
                    TomlSettings::default()
                })
            });
        let config = SETTINGS_FILES
            .iter()
            .filter(|name| name.starts_with("docusaurus.config"))
            .find_map(|name| {
                let config = read_config(files.get(*name)?);
                sources.push((*name).to_owned());
                if config.is_null() {
                    warnings.push(format!(
                        "{name}: no object literal with `baseUrl` found; put the settings in bookrag.toml"
                    ));
                }
                Some(config)
            })
            .unwrap_or(Value::Null);
        let docs = docs_options(&config);
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let versions = toml.versions.or_else(|| {
            let text = files.get("versions.json")?;
            sources.push("versions.json".to_owned());
            serde_json::from_str(text)
                .map_err(|error| warnings.push(format!("versions.json: {error}")))
                .ok()
        });
        let default_locale = toml
            .default_locale
            .or_else(|| text(&config["i18n"]["defaultLocale"]))
            .unwrap_or_else(|| "en".to_owned());
        let mut locales = toml
            .locales
            .or_else(|| strings(&config["i18n"]["locales"]))
            .unwrap_or_default();
        if !locales.contains(&default_locale) {
            locales.insert(0, default_locale.clone());
        }
        let version_paths = toml.version_paths.unwrap_or_else(|| version_paths(docs));
        let mut exclude = toml.exclude.or_else(|| strings(&docs["exclude"]));
        let patterns = exclude
            .get_or_insert_with(|| DEFAULT_EXCLUDE.map(str::to_owned).to_vec())
            .clone();
        let docs_path = toml.docs_path.or_else(|| text(&docs["path"]));
        Self {
            title: toml.title.or_else(|| text(&config["title"])),
            base_url: slashed(
                &toml
                    .base_url
                    .or_else(|| text(&config["baseUrl"]))
                    .unwrap_or_default(),
            ),
            route_base_path: toml
                .route_base_path
                .or_else(|| text(&docs["routeBasePath"]))
                .unwrap_or_else(|| "docs".to_owned())
                .trim_matches('/')
                .to_owned(),
            docs_path: match docs_path {
                Some(path) => path.trim_start_matches("./").trim_matches('/').to_owned(),
                None if has_docs_folder => "docs".to_owned(),
                None => String::new(),
            },
            trailing_slash: toml
                .trailing_slash
                .or_else(|| config["trailingSlash"].as_bool()),
            number_prefixes: toml
                .number_prefixes
                .unwrap_or(docs["numberPrefixParser"] != false),
            default_locale,
            locales,
            versions: versions.unwrap_or_default(),
            last_version: toml.last_version.or_else(|| text(&docs["lastVersion"])),
            version_paths,
            detect_format: matches!(config["markdown"]["format"].as_str(), Some("detect" | "md")),
            require_front_matter: toml.require_front_matter,
            exclude: glob_set(&patterns, &mut warnings),
            exclude_patterns: patterns,
            sources,
            warnings,
        }
    }

    /// Whether the site leaves out the file at `relative`, a path below its version's root.
    #[must_use]
    pub fn excludes(&self, relative: &str) -> bool {
        self.exclude.is_match(relative)
    }

    /// All that decides how a page is read, as one text; equal text, equal reading.
    #[must_use]
    pub fn reading_key(&self) -> String {
        format!(
            "{} {} {} {:?} {} {} {:?} {:?} {:?} {:?} {} {:?} {:?}",
            self.base_url,
            self.route_base_path,
            self.docs_path,
            self.trailing_slash,
            self.number_prefixes,
            self.default_locale,
            self.locales,
            self.versions,
            self.last_version,
            self.version_paths,
            self.detect_format,
            self.require_front_matter,
            self.exclude_patterns,
        )
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

/// The options of the docs plugin: of a preset, or of the plugin named in the config.
fn docs_options(config: &Value) -> &Value {
    let entries = |key: &str| config[key].as_array().map_or(&[][..], Vec::as_slice);
    let preset = entries("presets")
        .iter()
        .map(|preset| &preset[1]["docs"])
        .find(|docs| docs.is_object());
    let plugin = || {
        entries("plugins")
            .iter()
            .find(|plugin| {
                plugin[0]
                    .as_str()
                    .is_some_and(|name| name.ends_with("content-docs"))
                    && plugin[1]["id"].as_str().is_none_or(|id| id == "default")
            })
            .map(|plugin| &plugin[1])
    };
    preset.or_else(plugin).unwrap_or(&Value::Null)
}

fn version_paths(docs: &Value) -> BTreeMap<String, String> {
    let Some(versions) = docs["versions"].as_object() else {
        return BTreeMap::new();
    };
    versions
        .iter()
        .filter_map(|(name, options)| {
            let path = options["path"].as_str()?;
            Some((name.clone(), path.trim_matches('/').to_owned()))
        })
        .collect()
}

fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    Some(
        items
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
    )
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

fn glob_set(patterns: &[String], warnings: &mut Vec<String>) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        let glob: Result<Glob, _> = GlobBuilder::new(pattern).literal_separator(true).build();
        match glob {
            Ok(glob) => {
                builder.add(glob);
            }
            Err(error) => warnings.push(format!("exclude pattern `{pattern}`: {}", error.kind())),
        }
    }
    builder.build().unwrap_or_else(|error| {
        warnings.push(format!("exclude patterns: {error}"));
        GlobSet::empty()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> SiteSettings {
        let files = files
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
            .collect();
        SiteSettings::read(&files, true)
    }

    #[test]
    fn an_empty_site_has_docusaurus_defaults() {
        let settings = read(&[]);
        assert_eq!(
            (
                settings.base_url.as_str(),
                settings.route_base_path.as_str()
            ),
            ("/", "docs")
        );
        assert_eq!(settings.version_path(CURRENT_VERSION), "");
        assert!(settings.excludes("a/_hidden.md") && settings.excludes("_dir/x.md"));
        assert!(settings.excludes("x/__tests__/y.md") && !settings.excludes("z.test.md"));
    }

    #[test]
    fn a_sites_exclude_replaces_the_defaults() {
        let settings = read(&[(
            "docusaurus.config.js",
            "module.exports = {baseUrl: '/', presets: [['classic', {docs: {exclude: ['**/*.summary.md']}}]]}",
        )]);
        assert!(settings.excludes("a/b.summary.md") && !settings.excludes("_hidden.md"));
    }

    #[test]
    fn toml_wins_and_its_mistakes_are_said() {
        let config = ("docusaurus.config.js", "module.exports = {baseUrl: '/a/'}");
        assert_eq!(
            read(&[config, ("bookrag.toml", "base_url = '/b'")]).base_url,
            "/b/"
        );
        let broken = read(&[config, ("bookrag.toml", "base_ulr = '/b'")]);
        assert_eq!(broken.base_url, "/a/");
        assert!(
            broken.warnings[0].contains("base_ulr"),
            "{:?}",
            broken.warnings
        );
    }

    #[test]
    fn versions_take_their_paths() {
        let settings = read(&[("versions.json", "[\"2.0\", \"1.5\"]")]);
        assert_eq!(settings.version_path("2.0"), "");
        assert_eq!(settings.version_path("1.5"), "1.5");
        assert_eq!(settings.version_path(CURRENT_VERSION), "next");
    }
}
