//! Determines which versions of the docs a site builds.

use std::collections::BTreeMap;

use super::origin::{Origin, Picker};
use super::value::ConfigValue;
use super::{CURRENT_VERSION, SettingsError};

pub(super) struct BuiltVersions {
    /// True if the docs folder itself is built, as the version `current`.
    pub(super) current: bool,
    pub(super) others: Vec<String>,
}

impl BuiltVersions {
    /// # Errors
    /// If no version is built, or not the one that the site shows first. Docusaurus does not build such a site.
    pub(super) fn check(
        &self,
        last: Option<&str>,
        id: &str,
        files: &BTreeMap<String, String>,
        picker: &Picker,
    ) -> Result<(), SettingsError> {
        let named = self.others.iter().map(String::as_str);
        let mut built: Vec<&str> = named.collect();
        built.extend(self.current.then_some(CURRENT_VERSION));
        if built.is_empty() {
            let reason = format!(
                "the docs `{id}` have no version: their folder is left out (`includeCurrentVersion`, `current_version`), and no other version \
                 is named"
            );
            return Err(picker.refused("current_version", "includeCurrentVersion", &reason, files));
        }
        match last.filter(|last| !built.contains(last)) {
            None => Ok(()),
            Some(last) => {
                let reason = format!(
                    "`{last}` is to be the last version of the docs `{id}`, but the site has no such version; its versions are {}",
                    built.join(", ")
                );
                Err(picker.refused("last_version", last, &reason, files))
            }
        }
    }
}

/// Reads the versions from `bookrag.toml`, or else from `versions_file`, limited by the options of the docs.
///
/// A computed option has no effect, with a warning, since it cannot change which version readers see first. One that depends on the
/// environment has its value without any variable. Without versions `onlyIncludeVersions` has no effect, since Docusaurus builds at least one.
///
/// # Errors
/// If `versions_file` cannot be parsed.
pub(super) fn built_versions(
    versions_file: &str,
    toml_versions: Option<Vec<String>>,
    toml_current: Option<bool>,
    docs: &ConfigValue,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<BuiltVersions, SettingsError> {
    let (versions_told, current_told) = (toml_versions.is_some(), toml_current.is_some());
    // Other generators have other files of this name.
    let none = BTreeMap::new();
    let files = if *docs.get("disableVersioning") == ConfigValue::Bool(true) {
        &none
    } else {
        files
    };
    let mut others = read_versions(versions_file, toml_versions, files, picker)?;
    // A computed option says nothing about what bookrag.toml decides.
    let option = |name, is_decided| match docs.get(name) {
        option if is_decided && option.computed_line().is_some() => &ConfigValue::Absent,
        option => option,
    };
    let only = option("onlyIncludeVersions", versions_told && current_told);
    let only = picker.of_config(
        "onlyIncludeVersions",
        only,
        ConfigValue::texts,
        "name those of the site as `versions` in bookrag.toml",
    );
    if let Some(only) = &only {
        picker.found("only_include_versions", only, picker.config_origin());
        others.retain(|version| only.contains(version));
    }
    let disabled = option("disableVersioning", versions_told);
    if picker.config_only("disableVersioning", disabled, ConfigValue::bool) == Some(true) {
        others.clear();
    }
    let current = picker.pick(
        "current_version",
        toml_current,
        docs.get("includeCurrentVersion"),
        ConfigValue::bool,
        true,
    ) && only.is_none_or(|only| only.iter().any(|name| name == CURRENT_VERSION));
    Ok(BuiltVersions { current, others })
}

fn read_versions(
    name: &str,
    toml: Option<Vec<String>>,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<Vec<String>, SettingsError> {
    if let Some(versions) = toml {
        picker.note("versions", &versions);
        return Ok(versions);
    }
    let Some(text) = files.get(name) else {
        return Ok(Vec::new());
    };
    let mut versions: Vec<String> = serde_json::from_str(text).map_err(|error| {
        SettingsError::new(
            name,
            error.line().max(1),
            &format!("expected a list of names: {error}"),
        )
    })?;
    // Docusaurus reads this version from the docs folder, wherever it is named.
    versions.retain(|version| version != CURRENT_VERSION);
    picker.found("versions", &versions, Origin::File(name.to_owned()));
    Ok(versions)
}
