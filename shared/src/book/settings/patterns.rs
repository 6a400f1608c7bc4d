//! The patterns of files that are pages, and of those that are not.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

/// Bytes of an exclude pattern, and how many of them there may be: reading one takes stack, and all of them memory.
const MAX_PATTERN_BYTES: usize = 1_000;
const MAX_PATTERNS: usize = 1_000;

pub(super) fn glob_set(patterns: &[String], warnings: &mut Vec<String>) -> GlobSet {
    let mut builder = GlobSetBuilder::new();
    if patterns.len() > MAX_PATTERNS {
        let count = patterns.len();
        warnings.push(format!(
            "of {count} exclude patterns the first {MAX_PATTERNS} are read"
        ));
    }
    for pattern in patterns.iter().take(MAX_PATTERNS) {
        if pattern.len() > MAX_PATTERN_BYTES {
            let beginning: String = pattern.chars().take(20).collect();
            warnings.push(format!(
                "exclude pattern `{beginning}…` has more than {MAX_PATTERN_BYTES} bytes and is not read"
            ));
            continue;
        }
        let glob: Result<Glob, _> = GlobBuilder::new(pattern).literal_separator(true).build();
        match glob {
            Ok(glob) => {
                builder.add(glob);
            }
            Err(error) => warnings.push(format!("exclude pattern `{pattern}`: {}", error.kind())),
        }
    }
    builder.build().unwrap_or_else(|error| {
        warnings.push(format!("exclude patterns: {error}"));
        GlobSet::empty()
    })
}
