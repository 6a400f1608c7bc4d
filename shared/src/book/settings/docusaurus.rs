//! What the settings' files say.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::js_literals::{is_computed, read_config};
use super::origin::{Origin, Picker};
use super::{LocalePlace, SETTINGS_FILES, TomlSettings, slashed};

pub(super) fn read_toml(
    files: &BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> TomlSettings {
    let Some(text) = files.get("bookrag.toml") else {
        return TomlSettings::default();
    };
    toml::from_str(text).unwrap_or_else(|error| {
        let line = error.span().map_or(1, |span| {
            1 + text[..span.start.min(text.len())].matches('\n').count()
        });
        warnings.push(format!("bookrag.toml, line {line}: {}", error.message()));
        TomlSettings::default()
    })
}

/// The first Docusaurus config there is: its name and its literals.
pub(super) fn read_docusaurus_config(
    files: &BTreeMap<String, String>,
    warnings: &mut Vec<String>,
) -> (&'static str, Value) {
    let mut names = SETTINGS_FILES
        .into_iter()
        .filter(|name| name.starts_with("docusaurus.config"));
    let Some((name, text)) = names.find_map(|name| Some((name, files.get(name)?))) else {
        return ("", Value::Null);
    };
    let config = read_config(text);
    if config.is_null() {
        warnings.push(format!(
            "{name}: no object literal with `baseUrl` found; put the settings in bookrag.toml"
        ));
    }
    (name, config)
}

pub(super) fn read_versions(
    toml: Option<Vec<String>>,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Vec<String> {
    if let Some(versions) = toml {
        picker.note("versions", &versions);
        return versions;
    }
    let Some(text) = files.get("versions.json") else {
        return Vec::new();
    };
    match serde_json::from_str::<Vec<String>>(text) {
        Ok(versions) => {
            picker.found("versions", &versions, Origin::File("versions.json"));
            versions
        }
        Err(error) => {
            picker.warnings.push(format!("versions.json: {error}"));
            Vec::new()
        }
    }
}

/// The options of the docs plugin: of a preset, or of the plugin named in the config.
pub(super) fn docs_options(config: &Value, warnings: &mut Vec<String>) -> Value {
    let entries = |key: &str| config[key].as_array().cloned().unwrap_or_default();
    let mut found = None;
    for preset in entries("presets") {
        let docs = &preset[1]["docs"];
        if is_computed(docs) || is_computed(&preset[1]) {
            warnings.push(
                "the preset's `docs` options are computed; put the settings in bookrag.toml"
                    .to_owned(),
            );
        } else if docs.is_object() {
            found.get_or_insert_with(|| docs.clone());
        }
    }
    for plugin in entries("plugins") {
        let docs_plugin = plugin[0]
            .as_str()
            .is_some_and(|name| name.ends_with("content-docs"));
        match plugin[1]["id"].as_str() {
            _ if !docs_plugin => {}
            None | Some("default") => {
                found.get_or_insert_with(|| plugin[1].clone());
            }
            Some(id) => warnings.push(format!(
                "the docs of the plugin instance `{id}` are not read: a book is one instance"
            )),
        }
    }
    found.unwrap_or(Value::Null)
}

/// The folders and base URLs that locales' own settings give them.
pub(super) fn locale_places(
    locale_configs: &Value,
    base_url: &str,
) -> BTreeMap<String, LocalePlace> {
    let Some(configs) = locale_configs.as_object() else {
        return BTreeMap::new();
    };
    configs
        .iter()
        .map(|(locale, config)| {
            let place = LocalePlace {
                untranslated: config["translate"] == false,
                folder: text(&config["path"]),
                // Relative to the site's own.
                base_url: text(&config["baseUrl"]).map(|url| {
                    if url.starts_with('/') {
                        slashed(&url)
                    } else {
                        slashed(&format!("{base_url}{url}"))
                    }
                }),
            };
            (locale.clone(), place)
        })
        .collect()
}

pub(super) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

pub(super) fn version_paths(versions: &Value) -> Option<BTreeMap<String, String>> {
    let paths = versions.as_object().filter(|_| !is_computed(versions))?;
    Some(
        paths
            .iter()
            .filter_map(|(name, options)| {
                let path = options["path"].as_str()?;
                Some((name.clone(), path.trim_matches('/').to_owned()))
            })
            .collect(),
    )
}

pub(super) fn strings(value: &Value) -> Option<Vec<String>> {
    let items = value.as_array()?;
    Some(
        items
            .iter()
            .filter_map(|item| item.as_str().map(str::to_owned))
            .collect(),
    )
}
