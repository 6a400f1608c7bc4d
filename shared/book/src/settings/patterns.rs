//! The patterns of files to include as pages or to exclude.

use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::SettingsError;
use super::origin::Picker;

/// The longest pattern in bytes, and the most patterns: parsing one takes stack, and all of them memory.
const MAX_PATTERN_BYTES: usize = 1_000;
const MAX_PATTERNS: usize = 1_000;

/// Beginnings of extended globs, which Docusaurus supports but `globset` treats as text.
const EXTENDED: [&str; 5] = ["!(", "@(", "+(", "?(", "*("];

/// Parses the patterns of the setting `name`.
///
/// # Errors
/// If a pattern is invalid, since ignoring it would change which pages are shown.
pub(super) fn glob_set(
    name: &str,
    patterns: &[String],
    picker: &Picker,
    files: &BTreeMap<String, String>,
) -> Result<GlobSet, SettingsError> {
    let refused = |pattern: &str, reason: &str| {
        let shown: String = pattern.chars().take(40).collect();
        let reason = format!("the {name} pattern `{shown}` {reason}");
        picker.refused(name, pattern, &reason, files)
    };
    if patterns.len() > MAX_PATTERNS {
        let reason = format!(
            "is one of {}; at most {MAX_PATTERNS} are read",
            patterns.len()
        );
        return Err(refused(&patterns[MAX_PATTERNS], &reason));
    }
    let mut builder = GlobSetBuilder::new();
    for pattern in patterns {
        if pattern.len() > MAX_PATTERN_BYTES {
            let reason = format!("has more than {MAX_PATTERN_BYTES} bytes");
            return Err(refused(pattern, &reason));
        }
        if EXTENDED.iter().any(|beginning| pattern.contains(beginning)) {
            let reason = "is an extended glob; write a pattern for each of its cases, such as `**/{a,b}/**`, in bookrag.toml";
            return Err(refused(pattern, reason));
        }
        if pattern.starts_with('!') {
            let reason = "is negated; bookrag.toml takes `include` and `exclude` without `!`";
            return Err(refused(pattern, reason));
        }
        let glob = GlobBuilder::new(pattern).literal_separator(true).build();
        builder.add(glob.map_err(|error| refused(pattern, &error.kind().to_string()))?);
    }
    builder
        .build()
        .map_err(|error| refused("", &error.to_string()))
}
