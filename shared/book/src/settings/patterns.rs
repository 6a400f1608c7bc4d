//! The patterns of files to include as pages or to exclude.

use std::collections::BTreeMap;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use super::SettingsError;
use super::origin::Picker;
use super::value::ConfigValue;

/// The default `include` of docs and blogs.
pub(super) const DEFAULT_INCLUDE: &str = "**/*.{md,mdx}";

const DEFAULT_EXCLUDE: [&str; 4] = [
    "**/_*.{js,jsx,ts,tsx,md,mdx}",
    "**/_*/**",
    "**/*.test.{js,jsx,ts,tsx}",
    "**/__tests__/**",
];

/// The longest pattern in bytes, and the most patterns: parsing one takes stack, and all of them memory.
const MAX_PATTERN_BYTES: usize = 1_000;
const MAX_PATTERNS: usize = 1_000;

/// Beginnings of extended globs, which Docusaurus supports but `globset` treats as text.
const EXTENDED: [&str; 5] = ["!(", "@(", "+(", "?(", "*("];

/// Which files of a plugin's folder are its pages.
#[derive(Debug, Clone)]
pub(super) struct PagePatterns {
    /// The patterns as they are written, for [keys](super::SiteSettings::reading_key).
    pub(super) include: Vec<String>,
    pub(super) exclude: Vec<String>,
    included: GlobSet,
    excluded: GlobSet,
}

impl PagePatterns {
    /// Parses the patterns `include` and `exclude`.
    ///
    /// # Errors
    /// If a pattern is invalid.
    pub(super) fn new(
        [include, exclude]: [Vec<String>; 2],
        picker: &Picker,
        files: &BTreeMap<String, String>,
    ) -> Result<Self, SettingsError> {
        Ok(Self {
            included: glob_set("include", &include, picker, files)?,
            excluded: glob_set("exclude", &exclude, picker, files)?,
            include,
            exclude,
        })
    }

    /// True for a page's path below its version's root.
    pub(super) fn match_path(&self, path: &str) -> bool {
        self.included.is_match(path) && !self.excluded.is_match(path)
    }
}

/// Takes the patterns `include` and `exclude` from `bookrag.toml`, or else from a plugin's options.
pub(super) fn pick_patterns(
    toml: [Option<Vec<String>>; 2],
    options: &ConfigValue,
    default_include: &str,
    picker: &mut Picker,
) -> [Vec<String>; 2] {
    let [include, exclude] = toml;
    let default_exclude = DEFAULT_EXCLUDE.map(str::to_owned).to_vec();
    [
        ("include", include, vec![default_include.to_owned()]),
        ("exclude", exclude, default_exclude),
    ]
    .map(|(name, toml, default)| {
        picker.pick_scope(name, toml, options.get(name), ConfigValue::texts, default)
    })
}

/// Parses the patterns of the setting `name`.
///
/// # Errors
/// If a pattern is invalid, since ignoring it would change which pages are shown.
fn glob_set(
    name: &str,
    patterns: &[String],
    picker: &Picker,
    files: &BTreeMap<String, String>,
) -> Result<GlobSet, SettingsError> {
    compile(patterns).map_err(|(pattern, reason)| {
        let shown: String = pattern.chars().take(40).collect();
        let reason = format!("the {name} pattern `{shown}` {reason}");
        picker.refused(name, pattern, &reason, files)
    })
}

/// Compiles patterns to one set.
///
/// # Errors
/// The first invalid pattern, with what is wrong with it.
fn compile(patterns: &[String]) -> Result<GlobSet, (&str, String)> {
    if let Some(surplus) = patterns.get(MAX_PATTERNS) {
        let count = patterns.len();
        let reason = format!("is one of {count}; at most {MAX_PATTERNS} are read");
        return Err((surplus, reason));
    }
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        builder.add(parse_glob(pattern).map_err(|reason| (pattern.as_str(), reason))?);
    }
    builder.build().map_err(|error| ("", error.to_string()))
}

fn parse_glob(pattern: &str) -> Result<Glob, String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("has more than {MAX_PATTERN_BYTES} bytes"));
    }
    if EXTENDED.iter().any(|beginning| pattern.contains(beginning)) {
        let reason = "is an extended glob; write a pattern for each of its cases, such as `**/{a,b}/**`, in bookrag.toml";
        return Err(reason.to_owned());
    }
    if pattern.starts_with('!') {
        let reason = "is negated; bookrag.toml takes `include` and `exclude` without `!`";
        return Err(reason.to_owned());
    }
    let glob = GlobBuilder::new(pattern).literal_separator(true).build();
    glob.map_err(|error| error.kind().to_string())
}
