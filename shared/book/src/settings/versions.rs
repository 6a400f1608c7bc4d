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
/// [`Picker::check`] rejects a computed option unless `bookrag.toml` replaces it, because its default could show excluded
/// versions. If an option depends on the environment, its value without any variable is used, with a warning. Without versions
/// `onlyIncludeVersions` has no effect, since Docusaurus builds at least one.
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
    let versions_told = toml_versions.is_some();
    // Other generators have other files of this name.
    let none = BTreeMap::new();
    let files = if *docs.get("disableVersioning") == ConfigValue::Bool(true) {
        &none
    } else {
        files
    };
    let mut others = read_versions(versions_file, toml_versions, files, picker)?;
    let mut only = docs.get("onlyIncludeVersions");
    let mut disabled = docs.get("disableVersioning");
    let mut include_current = docs.get("includeCurrentVersion");
    if versions_told || !others.is_empty() {
        let current_told = toml_current.is_some();
        let both_told = versions_told && current_told;
        let unknown_only = take_unknown(&mut only, both_told, ConfigValue::texts);
        let unknown_disabled = take_unknown(&mut disabled, versions_told, ConfigValue::bool);
        let unknown_current = take_unknown(&mut include_current, current_told, ConfigValue::bool);
        if let Some(option) = unknown_only.or(unknown_disabled).filter(|_| !versions_told) {
            picker.refuse("versions", &others, option);
        }
        let unknown_current = unknown_current.or(unknown_only);
        if let Some(option) = unknown_current.filter(|_| !current_told) {
            picker.refuse("current_version", &true, option);
        }
    }
    let only = picker.config_only("onlyIncludeVersions", only, ConfigValue::texts);
    if let Some(only) = &only {
        picker.found("only_include_versions", only, picker.config_origin());
        others.retain(|version| only.contains(version));
    }
    if picker.config_only("disableVersioning", disabled, ConfigValue::bool) == Some(true) {
        others.clear();
    }
    let current = picker.pick(
        "current_version",
        toml_current,
        include_current,
        ConfigValue::bool,
        true,
    ) && only.is_none_or(|only| only.iter().any(|name| name == CURRENT_VERSION));
    Ok(BuiltVersions { current, others })
}

/// Takes an option whose value is set but unknown, and replaces it by an absent one. The value without the environment counts only if
/// `bookrag.toml` does not decide it.
fn take_unknown<'a, T>(
    option: &mut &'a ConfigValue,
    is_decided: bool,
    convert: impl Fn(&ConfigValue) -> Option<T>,
) -> Option<&'a ConfigValue> {
    let is_set = **option != ConfigValue::Absent && convert(option).is_none();
    let usual = option.usual().filter(|_| !is_decided);
    let has_usual =
        usual.is_some_and(|usual| usual == ConfigValue::Absent || convert(&usual).is_some());
    let unknown = is_set && !has_usual;
    unknown.then(|| std::mem::replace(option, &ConfigValue::Absent))
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
    let versions: Vec<String> = serde_json::from_str(text).map_err(|error| {
        SettingsError::new(
            name,
            error.line().max(1),
            &format!("expected a list of names: {error}"),
        )
    })?;
    picker.found("versions", &versions, Origin::File(name.to_owned()));
    Ok(versions)
}
