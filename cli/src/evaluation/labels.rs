//! The pages and sections that are right for a question.

use std::collections::{HashMap, HashSet};

use super::question::{Heading, Question};
use super::{Found, url_path};

/// Pages by source and by URL path, each with the anchors of its sections that are right: those of the labelled
/// headings and of the headings nested under them.
#[derive(Debug, Default)]
pub(super) struct Labels {
    anchors_by_page: HashMap<String, HashSet<String>>,
}

impl Labels {
    pub(super) fn of(question: &Question) -> Self {
        let mut labels = Self::default();
        if let Some(source) = &question.source {
            labels.add(source, question.url.as_deref(), &question.headings);
        }
        for label in &question.also_relevant {
            labels.add(&label.source, label.url.as_deref(), &label.headings);
        }
        labels
    }

    fn add(&mut self, source: &str, url: Option<&str>, headings: &[Heading]) {
        let anchors: Vec<String> = headings
            .iter()
            .filter_map(|heading| Some((heading.id.as_ref().filter(|id| !id.is_empty())?, heading)))
            .flat_map(|(id, heading)| std::iter::once(id).chain(&heading.under))
            .cloned()
            .collect();
        for page in [Some(source.to_owned()), url.map(url_path)]
            .into_iter()
            .flatten()
        {
            let of_page = self.anchors_by_page.entry(page).or_default();
            of_page.extend(anchors.iter().cloned());
        }
    }

    /// How many sections are right. A section's copies in other versions of its page have its anchor and are one with
    /// it: a search holds to one version, so more of them could not be found.
    pub(super) fn sections(&self) -> usize {
        let anchors: HashSet<&String> = self.anchors_by_page.values().flatten().collect();
        anchors.len()
    }

    pub(super) fn has_page(&self, found: &Found) -> bool {
        self.anchors_by_page.contains_key(&found.page())
    }

    pub(super) fn has_section(&self, found: &Found) -> bool {
        let anchor = found.anchor();
        let is_on = |page: &str| {
            let anchors = self.anchors_by_page.get(page);
            anchors.is_some_and(|anchors| anchors.contains(&anchor))
        };
        // An empty source is none, but an empty path is that of the site's first page.
        (!found.source.is_empty() && is_on(&found.source)) || is_on(&url_path(&found.url))
    }

    /// The place of the first right page among the results' pages, each counted once, from 1.
    pub(super) fn page_rank(&self, results: &[&Found]) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut pages = results.iter().filter(|found| seen.insert(found.page()));
        Some(pages.position(|found| self.has_page(found))? + 1)
    }

    /// For each result whether it brings a right section that none before it brought.
    pub(super) fn new_sections(&self, results: &[&Found]) -> Vec<bool> {
        let mut brought = HashSet::new();
        results
            .iter()
            .map(|found| self.has_section(found) && brought.insert(found.anchor()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(source: &str, url: &str) -> Found {
        Found {
            source: source.to_owned(),
            url: url.to_owned(),
        }
    }

    fn labels() -> Labels {
        let questions = Question::parse_all(concat!(
            r#"{"id": "a", "query": "q", "answerable": true, "source": "docs/a.md", "url": "/docs/a%20b/", "#,
            r#""headings": [{"id": "x", "under": ["y", "über"], "above": ["top"]}, {"id": null, "under": ["n"]}], "#,
            r#""also_relevant": [{"source": "v1/a.md", "url": "/v1/a", "headings": [{"id": "x"}]}]}"#
        ));
        Labels::of(&questions.unwrap()[0])
    }

    #[test]
    fn a_page_is_known_by_its_source_or_else_by_its_url() {
        let labels = labels();
        assert!(labels.has_page(&found("docs/a.md", "/elsewhere")));
        assert!(labels.has_page(&found("v1/a.md", "")));
        assert!(labels.has_page(&found("", "/docs/a b#x")));
        assert!(labels.has_page(&found("", "/docs/a%20b/")));
        assert!(!labels.has_page(&found("docs/b.md", "/docs/a%20b/")));
        assert!(!labels.has_page(&found("", "")));
    }

    #[test]
    fn a_section_is_a_labelled_heading_or_one_nested_under_it() {
        let labels = labels();
        for url in ["/other#x", "/other#y", "/other#%C3%BCber", "/other#über"] {
            assert!(labels.has_section(&found("docs/a.md", url)), "{url}");
        }
        assert!(labels.has_section(&found("docs/other.md", "/docs/a%20b/#x")));
        for url in ["/docs/a%20b", "/docs/a%20b#top", "/docs/a%20b#n", "/b#x"] {
            assert!(!labels.has_section(&found("", url)), "{url}");
        }
    }

    #[test]
    fn copies_in_other_versions_are_one_section() {
        let labels = labels();
        assert_eq!(labels.sections(), 3);
        let results = [
            found("docs/a.md", "/a#top"),
            found("docs/a.md", "/a#x"),
            found("v1/a.md", "/v1/a#x"),
            found("docs/a.md", "/a#y"),
        ];
        let results: Vec<&Found> = results.iter().collect();
        assert_eq!(labels.new_sections(&results), [false, true, false, true]);
    }

    #[test]
    fn a_page_counts_once_in_the_ranks() {
        let results = [
            found("docs/b.md", "/b#1"),
            found("docs/b.md", "/b#2"),
            found("docs/a.md", "/a"),
        ];
        let results: Vec<&Found> = results.iter().collect();
        assert_eq!(labels().page_rank(&results), Some(2));
        assert_eq!(labels().page_rank(&results[..2]), None);
        assert_eq!(labels().page_rank(&[]), None);
    }
}
