//! The file `bookrag.toml`.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Component, Path};

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{DEFAULT_INSTANCE, MarkdownFormat, SettingsError};
use crate::facets::{Facets, MAX_FACETS, is_facet_name};

pub(super) const NAME: &str = "bookrag.toml";

/// The contents of `bookrag.toml`. The keys of the default docs instance are at the top level, like those of the site.
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
    #[serde(deserialize_with = "named_facets")]
    pub(super) facets: Facets,
    #[serde(deserialize_with = "folder_in_site")]
    pub(super) build: Option<String>,
    pub(super) pages: Switch<TomlPlugins>,
    pub(super) blog: Switch<TomlPlugins>,
    route_base_path: Option<String>,
    docs_path: Option<String>,
    number_prefixes: Option<bool>,
    versions: Option<Vec<String>>,
    last_version: Option<String>,
    version_paths: Option<BTreeMap<String, String>>,
    current_version: Option<bool>,
    include: Option<Vec<String>>,
    exclude: Option<Vec<String>>,
    docs: BTreeMap<String, Switch<TomlDocs>>,
}

pub(super) type TomlPlugins = BTreeMap<String, Switch<TomlPlugin>>;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TomlPlugin {
    pub(super) enabled: Option<bool>,
    pub(super) path: Option<String>,
    pub(super) route_base_path: Option<String>,
    pub(super) include: Option<Vec<String>>,
    pub(super) exclude: Option<Vec<String>>,
}

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
    pub(super) fn is_enabled(&self) -> bool {
        self.enabled.unwrap_or(true)
    }

    /// True if the table sets more than `enabled`.
    fn has_keys(&self) -> bool {
        let enabled = self.enabled;
        *self
            != Self {
                enabled,
                ..Self::default()
            }
    }
}

/// A table of settings, or `false` to exclude the content.
#[derive(Debug)]
pub(super) struct Switch<T> {
    pub(super) is_on: bool,
    pub(super) table: T,
}

impl<T: Default> Default for Switch<T> {
    fn default() -> Self {
        Self {
            is_on: true,
            table: T::default(),
        }
    }
}

impl<'de, T: Default + Deserialize<'de>> Deserialize<'de> for Switch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SwitchVisitor(PhantomData))
    }
}

struct SwitchVisitor<T>(PhantomData<T>);

impl<'de, T: Default + Deserialize<'de>> Visitor<'de> for SwitchVisitor<T> {
    type Value = Switch<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table of settings, or `false`")
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<Self::Value, E> {
        let table = T::default();
        Ok(Switch { is_on, table })
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Self::Value, A::Error> {
        let table = T::deserialize(MapAccessDeserializer::new(table))?;
        Ok(Switch { is_on: true, table })
    }
}

impl Switch<TomlDocs> {
    /// Converts the switch to a table. `false` becomes `enabled = false`.
    fn into_table(self) -> TomlDocs {
        let enabled = self.table.enabled.or((!self.is_on).then_some(false));
        TomlDocs {
            enabled,
            ..self.table
        }
    }
}

/// Reads the path of a folder within the site's folder. Any other is rejected, because the file comes with the site, which may be somebody else's.
fn folder_in_site<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let folder = String::deserialize(deserializer)?;
    let mut parts = Path::new(&folder)
        .components()
        .filter(|part| *part != Component::CurDir)
        .peekable();
    if parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_))) {
        return Ok(Some(folder));
    }
    Err(D::Error::custom(format!(
        "`build` must name a folder within the site, such as `build`, got `{folder}`; a folder elsewhere is named by --build"
    )))
}

/// Reads the declared facets, and checks their names.
fn named_facets<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Facets, D::Error> {
    let facets = Facets::deserialize(deserializer)?;
    if let Some(name) = facets.keys().find(|name| !is_facet_name(name)) {
        return Err(D::Error::custom(format!(
            "a facet is named after a field of the front matter: letters, digits and `_`, with a letter first; got `{name}`"
        )));
    }
    if facets.len() > MAX_FACETS {
        return Err(D::Error::custom(format!(
            "a site has at most {MAX_FACETS} facets, got {}",
            facets.len()
        )));
    }
    Ok(facets)
}

/// Returns the folder of the built site that a `bookrag.toml` names. `None` if it names none, or cannot be parsed.
#[must_use]
pub fn build_folder(text: &str) -> Option<String> {
    let files = [(NAME.to_owned(), text.to_owned())];
    TomlSettings::read(&files.into()).ok()?.build
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
        if default.is_some_and(|docs| docs.table.has_keys()) {
            let reason = "the settings of the default docs stand at the top level; `docs.default` may be `false` alone";
            return Err(SettingsError::new(NAME, 1, reason));
        }
        Ok(settings)
    }

    /// Takes the tables of docs instances, by id; the default one is always included.
    pub(super) fn take_docs(&mut self) -> BTreeMap<String, TomlDocs> {
        let mut others = std::mem::take(&mut self.docs);
        let default = others.remove(DEFAULT_INSTANCE);
        let default = TomlDocs {
            enabled: default.and_then(|docs| docs.into_table().enabled),
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
            .map(|(id, docs)| (id, docs.into_table()))
            .chain([(DEFAULT_INSTANCE.to_owned(), default)])
            .collect()
    }
}
