//! Determines which versions of the docs a site builds.

use std::collections::BTreeMap;

use super::bookrag_toml::TomlDocs;
use super::docusaurus::version_paths;
use super::origin::{Origin, Picker};
use super::value::ConfigValue;
use super::{CURRENT_VERSION, DEFAULT_INSTANCE, SettingsError};

/// The most versions of one docs instance, far more than any site has. Each is looked for, and each page is compared with all.
const MAX_VERSIONS: usize = 1_000;

pub(super) struct BuiltVersions {
    /// True if the docs folder itself is built, as the version `current`.
    pub(super) current: bool,
    pub(super) others: Vec<String>,
    /// The version that is to be at the bare path.
    pub(super) last: Option<String>,
    /// Custom paths of versions.
    pub(super) paths: BTreeMap<String, String>,
}

impl BuiltVersions {
    /// Reads the versions of the docs `id` from `bookrag.toml` and the options of the docs.
    ///
    /// # Errors
    /// If the file that lists the versions cannot be parsed, or Docusaurus would not build the docs.
    pub(super) fn read(
        id: &str,
        mut toml: TomlDocs,
        options: &ConfigValue,
        is_assumed: bool,
        files: &BTreeMap<String, String>,
        picker: &mut Picker,
    ) -> Result<Self, SettingsError> {
        let (current, others) = built_versions(id, &mut toml, options, files, picker)?;
        let last = picker.optional(
            "last_version",
            toml.last_version,
            options.get("lastVersion"),
            ConfigValue::text,
        );
        let paths = picker.pick(
            "version_paths",
            toml.version_paths,
            options.get("versions"),
            version_paths,
            BTreeMap::new(),
        );
        let versions = Self {
            current,
            others,
            last,
            paths,
        };
        // The file of other docs' versions is read once these docs are known.
        let are_known = id == DEFAULT_INSTANCE || files.contains_key(&versions_file(id));
        if !is_assumed && are_known {
            versions.check(id, files, picker)?;
        }
        Ok(versions)
    }

    /// Checks that the version that readers see first is built.
    ///
    /// # Errors
    /// If no version is built, or not the one that the site shows first. Docusaurus does not build such a site.
    fn check(
        &self,
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
        let last = self.last.as_deref();
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

/// Reads whether the docs folder itself is built, and the other versions, from `bookrag.toml`, or else from the file that lists them, limited by
/// the options of the docs.
///
/// A computed option has no effect, with a warning, since it seldom changes which version readers see first. An option that depends on the
/// environment gets the value that it has if no variable is set. Without versions `onlyIncludeVersions` has no effect, since Docusaurus builds at
/// least one.
///
/// # Errors
/// If the file that lists the versions cannot be parsed, or lists too many.
fn built_versions(
    id: &str,
    toml: &mut TomlDocs,
    docs: &ConfigValue,
    files: &BTreeMap<String, String>,
    picker: &mut Picker,
) -> Result<(bool, Vec<String>), SettingsError> {
    let toml_current = toml.current_version;
    let (versions_told, current_told) = (toml.versions.is_some(), toml_current.is_some());
    // Other generators have other files of this name.
    let none = BTreeMap::new();
    let files = if *docs.get("disableVersioning") == ConfigValue::Bool(true) {
        &none
    } else {
        files
    };
    let mut others = read_versions(&versions_file(id), toml.versions.take(), files, picker)?;
    if others.len() > MAX_VERSIONS {
        let count = others.len();
        let reason = format!(
            "the docs `{id}` have {count} versions; at most {MAX_VERSIONS} are read; name those to read as `versions` in bookrag.toml"
        );
        return Err(picker.refused("versions", "", &reason, files));
    }
    // Docusaurus builds the docs folder if it is named among the versions, too.
    let names_current = others.iter().any(|version| version == CURRENT_VERSION);
    others.retain(|version| version != CURRENT_VERSION);
    let mut only = docs.get("onlyIncludeVersions");
    let mut disabled = docs.get("disableVersioning");
    // A computed option says nothing about what bookrag.toml decides.
    if versions_told && current_told && only.computed_line().is_some() {
        only = &ConfigValue::Absent;
    }
    if versions_told && disabled.computed_line().is_some() {
        disabled = &ConfigValue::Absent;
    }
    // A part of the list would leave out the other versions.
    let whole;
    if let (ConfigValue::List(_), None, Some(line)) = (only, only.usual(), only.computed_line()) {
        whole = ConfigValue::Computed(line);
        only = &whole;
    }
    let only = picker.of_config(
        "onlyIncludeVersions",
        only,
        ConfigValue::texts,
        "write `versions` and `current_version` into bookrag.toml",
    );
    if let Some(only) = &only {
        picker.found("only_include_versions", only, picker.config_origin());
        others.retain(|version| only.contains(version));
    }
    let remedy = "write `versions` into bookrag.toml";
    if picker.of_config("disableVersioning", disabled, ConfigValue::bool, remedy) == Some(true) {
        others.clear();
    }
    let is_included = picker.pick(
        "current_version",
        toml_current,
        docs.get("includeCurrentVersion"),
        ConfigValue::bool,
        true,
    );
    let current = (is_included || (names_current && !current_told))
        && only.is_none_or(|only| only.iter().any(|name| name == CURRENT_VERSION));
    Ok((current, others))
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

/// Returns the file that lists the versions of the docs `id`.
pub(super) fn versions_file(id: &str) -> String {
    prefixed(id, "versions.json")
}

/// Returns the name of a file or folder of the docs `id`: `versions.json`, `api_versions.json`.
pub(super) fn prefixed(id: &str, name: &str) -> String {
    match id {
        DEFAULT_INSTANCE => name.to_owned(),
        id => format!("{id}_{name}"),
    }
}
