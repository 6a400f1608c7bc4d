//! Heading ids as `github-slugger` makes them.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// Characters removed by `github-slugger` 1.5, which Docusaurus uses: all but letters, marks, decimal digits, connectors such as
/// `_`, `-` and the space, as of Unicode 13.
static REMOVED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\- ]&&\p{Age=13.0}]")
        .expect("the pattern is a constant")
});

/// Generates the heading ids of one page. A repeated id gets `-1`, `-2`, ….
#[derive(Debug, Default)]
pub(super) struct Slugger {
    keep_case: bool,
    /// True if the page's title reserves no id.
    skips_title: bool,
    occurrences: HashMap<String, usize>,
}

impl Slugger {
    /// Creates a slugger. With `keep_case`, capital letters stay (`markdown.anchors.maintainCase`).
    pub(super) fn new(keep_case: bool) -> Self {
        Self {
            keep_case,
            skips_title: false,
            occurrences: HashMap::new(),
        }
    }

    /// Configures the slugger for a blog post, whose title Docusaurus removes before it generates ids.
    pub(super) fn without_title(self) -> Self {
        Self {
            skips_title: true,
            ..self
        }
    }

    /// Returns the id of the page's title; empty if titles have none.
    pub(super) fn title_slug(&mut self, text: &str) -> String {
        if self.skips_title {
            String::new()
        } else {
            self.slug(text)
        }
    }

    pub(super) fn slug(&mut self, text: &str) -> String {
        let original = if self.keep_case {
            kept_characters(text)
        } else {
            slug(text)
        };
        let mut candidate = original.clone();
        while self.occurrences.contains_key(&candidate) {
            let count = self.occurrences.entry(original.clone()).or_insert(0);
            *count += 1;
            candidate = format!("{original}-{count}");
        }
        self.occurrences.insert(candidate.clone(), 0);
        candidate
    }
}

/// Returns the slug of one text, without a suffix for repetitions.
#[must_use]
pub fn slug(text: &str) -> String {
    kept_characters(&text.to_lowercase())
}

fn kept_characters(text: &str) -> String {
    REMOVED.replace_all(text, "").replace(' ', "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_those_of_github_slugger() {
        for (text, expected) in [
            ("a - b", "a---b"),
            ("C++ & C#", "c--c"),
            ("2.3 Inverse", "23-inverse"),
            ("🚀 Rocket start", "-rocket-start"),
            ("Rocket end 🚀", "rocket-end-"),
            ("snake_case and dots.here", "snake_case-and-dotshere"),
            ("یہ کیا ہے؟", "یہ-کیا-ہے"),
            ("Energy $E=mc^2$ law", "energy-emc2-law"),
            ("x² and Ⅷ", "x-and-ⅷ"),
            ("tab\there", "tabhere"),
        ] {
            assert_eq!(slug(text), expected, "{text}");
        }
    }

    #[test]
    fn case_can_be_kept() {
        assert_eq!(Slugger::new(true).slug("The `API`!"), "The-API");
    }

    #[test]
    fn repeated_slugs_are_numbered_past_real_headings() {
        let mut slugger = Slugger::default();
        let ids: Vec<_> = ["Setup", "Setup", "Setup 1", "constructor", "", ""]
            .iter()
            .map(|text| slugger.slug(text))
            .collect();
        assert_eq!(
            ids,
            ["setup", "setup-1", "setup-1-1", "constructor", "", "-1"]
        );
    }
}
