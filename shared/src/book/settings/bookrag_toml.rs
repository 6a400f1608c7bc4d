//! What `bookrag.toml` says.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{DEFAULT_INSTANCE, MarkdownFormat, SettingsError};

/// The file's name.
pub(super) const NAME: &str = "bookrag.toml";

/// `bookrag.toml`. The keys of the default docs instance stand beside those of the site.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TomlSettings {
    pub(super) title: Option<String>,
    pub(super) base_url: Option<String>,
    pub(super) trailing_slash: Option<bool>,
    pub(super) markdown_format: Option<MarkdownFormat>,
    pub(super) math: Option<bool>,
    pub(super) keep_anchor_case: Option<bool>,
    pub(super) default_locale: Option<String>,
    pub(super) locales: Option<Vec<String>>,
    pub(super) require_front_matter: Vec<String>,
    pub(super) pages: Option<bool>,
    route_base_path: Option<String>,
    docs_path: Option<String>,
    number_prefixes: Option<bool>,
    versions: Option<Vec<String>>,
    last_version: Option<String>,
    version_paths: Option<BTreeMap<String, String>>,
    current_version: Option<bool>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    docs: BTreeMap<String, TomlInstance>,
}

/// The keys of one docs instance.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TomlDocs {
    enabled: Option<bool>,
    pub(super) route_base_path: Option<String>,
    pub(super) docs_path: Option<String>,
    pub(super) number_prefixes: Option<bool>,
    pub(super) versions: Option<Vec<String>>,
    pub(super) last_version: Option<String>,
    pub(super) version_paths: Option<BTreeMap<String, String>>,
    pub(super) current_version: Option<bool>,
    pub(super) include: Option<Vec<String>>,
    pub(super) exclude: Option<Vec<String>>,
}

impl TomlDocs {
    /// Whether the instance is read.
    pub(super) fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// True if it says more than whether the instance is read.
    fn has_keys(&self) -> bool {
        let enabled = self.enabled;
        *self
            != Self {
                enabled,
                ..Self::default()
            }
    }
}

/// A table of [`TomlDocs`], or `false` for `enabled = false`.
#[derive(Debug)]
struct TomlInstance(TomlDocs);

impl<'de> Deserialize<'de> for TomlInstance {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(InstanceVisitor)
    }
}

struct InstanceVisitor;

impl<'de> Visitor<'de> for InstanceVisitor {
    type Value = TomlInstance;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table of settings, or `false`")
    }

    fn visit_bool<E>(self, enabled: bool) -> Result<Self::Value, E> {
        Ok(TomlInstance(TomlDocs {
            enabled: Some(enabled),
            ..TomlDocs::default()
        }))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        TomlDocs::deserialize(MapAccessDeserializer::new(table)).map(TomlInstance)
    }
}

impl TomlSettings {
    /// Reads the file, if the site has one.
    ///
    /// # Errors
    /// If it cannot be parsed, has unknown keys, or has the keys of the default docs instance in a table.
    pub(super) fn read(files: &BTreeMap<String, String>) -> Result<Self, SettingsError> {
        let Some(text) = files.get(NAME) else {
            return Ok(Self::default());
        };
        let settings: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start.min(text.len()));
            let line = 1 + text.as_bytes()[..start]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            SettingsError::new(NAME, line, error.message())
        })?;
        let default = settings.docs.get(DEFAULT_INSTANCE);
        if default.is_some_and(|TomlInstance(docs)| docs.has_keys()) {
            let reason = "the settings of the default docs stand at the top level; `docs.default` may be `false` alone";
            return Err(SettingsError::new(NAME, 1, reason));
        }
        Ok(settings)
    }

    /// Takes the keys of the docs instances that the file names, by id; the default one is always among them.
    pub(super) fn take_docs(&mut self) -> BTreeMap<String, TomlDocs> {
        let mut others = std::mem::take(&mut self.docs);
        let default = others.remove(DEFAULT_INSTANCE);
        let default = TomlDocs {
            enabled: default.and_then(|TomlInstance(docs)| docs.enabled),
            route_base_path: self.route_base_path.take(),
            docs_path: self.docs_path.take(),
            number_prefixes: self.number_prefixes.take(),
            versions: self.versions.take(),
            last_version: self.last_version.take(),
            version_paths: self.version_paths.take(),
            current_version: self.current_version.take(),
            include: self.include.take(),
            exclude: self.exclude.take(),
        };
        others
            .into_iter()
            .map(|(id, TomlInstance(docs))| (id, docs))
            .chain([(DEFAULT_INSTANCE.to_owned(), default)])
            .collect()
    }
}
