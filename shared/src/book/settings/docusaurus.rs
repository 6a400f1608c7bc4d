//! What the settings' files say.

use std::collections::BTreeMap;

use super::evaluate::read_config;
use super::origin::Picker;
use super::value::{ConfigMap, ConfigValue};
use super::{LocalePlace, SETTINGS_FILES, SettingsError, TomlSettings, slashed};

pub(super) fn read_toml(files: &BTreeMap<String, String>) -> Result<TomlSettings, SettingsError> {
    let name = "bookrag.toml";
    let Some(text) = files.get(name) else {
        return Ok(TomlSettings::default());
    };
    toml::from_str(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = 1 + text.as_bytes()[..start]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count();
        SettingsError::new(name, line, error.message())
    })
}

/// The first Docusaurus config there is: its name and its object.
pub(super) fn read_docusaurus_config(
    files: &BTreeMap<String, String>,
) -> Result<(&'static str, ConfigValue), SettingsError> {
    let mut names = SETTINGS_FILES
        .into_iter()
        .filter(|name| name.starts_with("docusaurus.config"));
    let Some((name, text)) = names.find_map(|name| Some((name, files.get(name)?))) else {
        return Ok(("", ConfigValue::Absent));
    };
    let config = read_config(name, text)
        .map_err(|error| SettingsError::new(name, error.line, &error.reason))?;
    Ok((name, config))
}

/// The options of the book's docs plugin: of a preset, or of the plugin that the config names.
///
/// They are computed if no docs plugin is in sight and a computed preset or plugin may be one.
pub(super) fn docs_options(config: &ConfigValue, warnings: &mut Vec<String>) -> ConfigValue {
    let mut found = None;
    let mut computed = None;
    for (name, options) in entries(config.get("presets"), &mut computed) {
        match (is_named(&name, "classic"), options.get("docs")) {
            (_, docs @ ConfigValue::Map(_)) | (true, docs @ ConfigValue::Computed(_)) => {
                found.get_or_insert_with(|| docs.clone());
            }
            (false, docs @ ConfigValue::Computed(_)) => computed = computed.or(Some(docs.clone())),
            (true, ConfigValue::Absent) => {
                found.get_or_insert(ConfigValue::Map(ConfigMap::new()));
            }
            _ => {}
        }
    }
    for (name, options) in entries(config.get("plugins"), &mut computed) {
        if !is_named(&name, "content-docs") {
            continue;
        }
        match options.get("id") {
            ConfigValue::Computed(line) => {
                computed = computed.or(Some(ConfigValue::Computed(*line)));
            }
            ConfigValue::Text(id) if id != "default" => warnings.push(format!(
                "the docs of the plugin instance `{id}` are not read: a book is one instance"
            )),
            _ => {
                found.get_or_insert(options);
            }
        }
    }
    found.or(computed).unwrap_or(ConfigValue::Absent)
}

/// The names and options of a list of presets or plugins. What is not known of the list is put into `computed`.
fn entries(
    list: &ConfigValue,
    computed: &mut Option<ConfigValue>,
) -> Vec<(ConfigValue, ConfigValue)> {
    let items = match list {
        ConfigValue::List(items) => items.as_slice(),
        ConfigValue::Computed(_) => std::slice::from_ref(list),
        _ => &[],
    };
    let mut entries = Vec::new();
    for item in items {
        match item {
            ConfigValue::Computed(_) => {
                computed.get_or_insert_with(|| item.clone());
            }
            ConfigValue::List(_) => entries.push((item.get("0").clone(), item.get("1").clone())),
            item => entries.push((item.clone(), ConfigValue::Absent)),
        }
    }
    entries
}

fn is_named(name: &ConfigValue, ending: &str) -> bool {
    matches!(name, ConfigValue::Text(name) if name.ends_with(ending))
}

/// The folders and base URLs that locales' own settings give them.
pub(super) fn locale_places(
    locale_configs: &ConfigValue,
    base_url: &str,
    picker: &mut Picker,
) -> BTreeMap<String, LocalePlace> {
    let object = |value: &ConfigValue| match value {
        ConfigValue::Map(map) => Some(map.clone()),
        _ => None,
    };
    let Some(configs) = picker.config_only("i18n.localeConfigs", locale_configs, object) else {
        return BTreeMap::new();
    };
    picker.config_only("i18n.localeConfigs", configs.rest(), |_| None::<()>);
    let mut places = BTreeMap::new();
    for (locale, config) in configs.fields() {
        let name = |field: &str| format!("i18n.localeConfigs.{locale}.{field}");
        let translate = picker.config_only(
            &name("translate"),
            config.get("translate"),
            ConfigValue::bool,
        );
        let base = picker.config_only(&name("baseUrl"), config.get("baseUrl"), ConfigValue::text);
        let place = LocalePlace {
            untranslated: translate == Some(false),
            folder: picker.config_only(&name("path"), config.get("path"), ConfigValue::text),
            // Relative to the site's own.
            base_url: base.map(|url| {
                let is_whole = url.starts_with('/');
                slashed(&if is_whole {
                    url
                } else {
                    format!("{base_url}{url}")
                })
            }),
        };
        places.insert(locale.clone(), place);
    }
    places
}

/// The paths of versions that have one of their own. `None` if one of them is not known.
pub(super) fn version_paths(versions: &ConfigValue) -> Option<BTreeMap<String, String>> {
    let ConfigValue::Map(versions) = versions else {
        return None;
    };
    if *versions.rest() != ConfigValue::Absent {
        return None;
    }
    let mut paths = BTreeMap::new();
    for (name, options) in versions.fields() {
        match options.get("path") {
            ConfigValue::Text(path) => {
                paths.insert(name.clone(), path.trim_matches('/').to_owned());
            }
            ConfigValue::Absent => {}
            _ => return None,
        }
    }
    Some(paths)
}
