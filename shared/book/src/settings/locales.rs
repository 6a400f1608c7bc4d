//! Reads the locales of a site.

use std::collections::BTreeMap;

use super::bookrag_toml::TomlSettings;
use super::docusaurus::locale_places;
use super::origin::{Origin, Picker};
use super::value::ConfigValue;
use super::{LocalePlace, SettingsError};

/// The most locales, far more than any site has. Each page has a URL for each of them.
const MAX_LOCALES: usize = 1_000;

/// The locales of a site, and where their translations and URLs are.
pub(super) struct Locales {
    pub(super) default: String,
    pub(super) all: Vec<String>,
    pub(super) path: String,
    pub(super) places: BTreeMap<String, LocalePlace>,
}

impl Locales {
    /// Reads the locales from `bookrag.toml`, or else from the config.
    ///
    /// # Errors
    /// If there are too many.
    pub(super) fn read(
        toml: &mut TomlSettings,
        i18n: &ConfigValue,
        base_url: &str,
        files: &BTreeMap<String, String>,
        picker: &mut Picker,
    ) -> Result<Self, SettingsError> {
        let default = picker.pick(
            "default_locale",
            toml.default_locale.take(),
            i18n.get("defaultLocale"),
            ConfigValue::text,
            "en".to_owned(),
        );
        let mut all = picker.pick(
            "locales",
            toml.locales.take(),
            i18n.get("locales"),
            ConfigValue::texts,
            vec![],
        );
        if !all.contains(&default) {
            all.insert(0, default.clone());
        }
        if all.len() > MAX_LOCALES {
            let count = all.len();
            let reason = format!(
                "the site has {count} locales; at most {MAX_LOCALES} are read; name those to read as `locales` in bookrag.toml"
            );
            return Err(picker.refused("locales", "locales", &reason, files));
        }
        Ok(Self {
            default,
            all,
            path: i18n_path(i18n, picker),
            places: locale_places(i18n.get("localeConfigs"), base_url, picker),
        })
    }
}

/// Returns the folder of translations.
fn i18n_path(i18n: &ConfigValue, picker: &mut Picker) -> String {
    let configured = picker.config_only("i18n.path", i18n.get("path"), ConfigValue::text);
    let origin = match configured {
        Some(_) => Origin::File(picker.config_name.to_owned()),
        None => Origin::Default,
    };
    let path = configured.unwrap_or_else(|| "i18n".to_owned());
    picker.found("i18n_path", &path, origin);
    path.trim_matches('/').to_owned()
}
