//! Reads the content plugins of a site from its config and from `bookrag.toml`.

use std::collections::BTreeMap;

use super::bookrag_toml::{self, Switch, TomlPlugins, TomlSettings};
use super::build::{BUILD_PLUGIN, build_plugin};
use super::docusaurus::{docs_plugins, unversioned_plugins};
use super::origin::Picker;
use super::value::ConfigValue;
use super::{ContentKind, DEFAULT_INSTANCE, Instance, SettingsError, is_instance_id};

/// The most plugins of a kind, far more than any site has. Each docs instance requires looking for a file.
const MAX_INSTANCES: usize = 100;

/// Reads the docs instances of the config and of `bookrag.toml`.
///
/// # Errors
/// If an instance is invalid or has an id that Docusaurus rejects, or there are none or too many.
pub(super) fn read_docs(
    toml: &mut TomlSettings,
    config: &ConfigValue,
    has_docs_folder: bool,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<Vec<Instance>, SettingsError> {
    let mut tables = toml.take_docs();
    let plugins = docs_plugins(config, &tables, picker);
    check_plugins(ContentKind::Docs, &plugins, picker)?;
    let mut docs = Vec::new();
    for (id, options) in plugins {
        let table = tables.remove(&id).unwrap_or_default();
        if !table.is_enabled() {
            picker.note(&format!("docs.{id}"), &false);
            continue;
        }
        let is_plain_folder = picker.config_name.is_empty() && !has_docs_folder;
        let default_path = if id == DEFAULT_INSTANCE && is_plain_folder {
            ""
        } else {
            "docs"
        };
        let instance = Instance::read_docs(&id, table, &options, default_path, files, picker)?;
        docs.push(instance);
    }
    picker.check()?;
    for id in tables.keys().filter(|id| *id != DEFAULT_INSTANCE) {
        let warning = unused_table(ContentKind::Docs, id, "docs_path");
        picker.warnings.push(warning);
    }
    if docs.is_empty() {
        let reason = "it leaves out all docs of the site; one must stay";
        return Err(SettingsError::new(bookrag_toml::NAME, 1, reason));
    }
    Ok(docs)
}

/// Reads the plugins of pages, or the blogs, of the config and of `bookrag.toml`. The site's `build` counts as a plugin of pages.
///
/// # Errors
/// If a plugin has an invalid pattern or an id that Docusaurus rejects, or there are too many.
pub(super) fn read_unversioned(
    kind: ContentKind,
    toml: Switch<TomlPlugins>,
    config: &ConfigValue,
    build: Option<&str>,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<Vec<Instance>, SettingsError> {
    let mut tables = toml.table;
    let mut plugins = Vec::new();
    if toml.is_on {
        plugins = unversioned_plugins(kind, config, picker);
    } else {
        picker.note(kind.name(), &false);
    }
    if build.is_some() && plugins.iter().any(|(id, _)| id == BUILD_PLUGIN) {
        let reason = format!(
            "the id `{BUILD_PLUGIN}` of a plugin of pages is that of the pages which are read from the built site; rename the plugin"
        );
        return Err(SettingsError::new(picker.config_name, 1, &reason));
    }
    plugins.extend(build.map(|folder| (BUILD_PLUGIN.to_owned(), build_plugin(folder))));
    let told = tables.iter().filter(|(id, plugin)| {
        plugin.table.path.is_some() && plugins.iter().all(|(known, _)| known != *id)
    });
    let told: Vec<_> = told
        .map(|(id, _)| (id.clone(), ConfigValue::Absent))
        .collect();
    plugins.extend(told);
    check_plugins(kind, &plugins, picker)?;
    let mut instances = Vec::new();
    for (id, options) in plugins {
        let Switch { is_on, table } = tables.remove(&id).unwrap_or_default();
        let name = format!("{}.{id}", kind.name());
        if !is_on || table.enabled == Some(false) {
            picker.note(&name, &false);
            continue;
        }
        picker.table = name + ".";
        let is_built = build.is_some() && id == BUILD_PLUGIN;
        let read = Instance::read_unversioned(kind, &id, table, &options, files, picker)?;
        instances.extend(read.map(|read| Instance { is_built, ..read }));
        picker.table.clear();
    }
    let unused = tables.keys().map(|id| unused_table(kind, id, "path"));
    picker.warnings.extend(unused);
    Ok(instances)
}

/// Checks the number of plugins of a kind, and their ids.
///
/// # Errors
/// If there are too many plugins of a kind, or one has an id that Docusaurus rejects.
fn check_plugins(
    kind: ContentKind,
    plugins: &[(String, ConfigValue)],
    picker: &Picker,
) -> Result<(), SettingsError> {
    let file = match picker.config_name {
        "" => bookrag_toml::NAME,
        config => config,
    };
    let (count, kind) = (plugins.len(), kind.name());
    if count > MAX_INSTANCES {
        let reason =
            format!("the site has {count} {kind} plugins; at most {MAX_INSTANCES} are read");
        return Err(SettingsError::new(file, 1, &reason));
    }
    let Some((id, _)) = plugins.iter().find(|(id, _)| !is_instance_id(id)) else {
        return Ok(());
    };
    let reason =
        format!("the `id` of a {kind} plugin must be of letters, digits, `_` and `-`, got `{id}`");
    Err(SettingsError::new(file, 1, &reason))
}

fn unused_table(kind: ContentKind, id: &str, path_key: &str) -> String {
    let kind = kind.name();
    format!(
        "bookrag.toml: `{kind}.{id}` is not used, as the config has no {kind} plugin of this id; for one that the config computes, \
         write its `{path_key}`"
    )
}
