//! Pages and sections that are right for a question.

use std::collections::{HashMap, HashSet};

use super::question::{Heading, Label, Question};
use super::{Found, url_path};

/// The right pages, by source and by URL path.
#[derive(Debug, Default)]
pub(super) struct Labels {
    pages: HashMap<String, Page>,
}

#[derive(Debug, Default)]
struct Page {
    /// Anchors of its right sections: those of the labelled headings and of the headings nested under them.
    anchors: HashSet<String>,
    /// True if a label of the page names no section.
    is_whole: bool,
}

impl Labels {
    /// The labelled page and its copies, for example in other versions.
    pub(super) fn of(question: &Question) -> Self {
        let mut labels = Self::default();
        if let Some(source) = &question.source {
            labels.add(source, question.url.as_deref(), &question.headings);
        }
        labels.add_all(&question.also_relevant);
        labels
    }

    /// The labels of [`Labels::of`] and the other places that also answer the question.
    pub(super) fn with_alternatives(question: &Question) -> Self {
        let mut labels = Self::of(question);
        labels.add_all(&question.alternatives);
        labels
    }

    fn add_all(&mut self, labels: &[Label]) {
        for label in labels {
            self.add(&label.source, label.url.as_deref(), &label.headings);
        }
    }

    fn add(&mut self, source: &str, url: Option<&str>, headings: &[Heading]) {
        let anchors: Vec<String> = headings
            .iter()
            .filter_map(|heading| Some((heading.id.as_ref().filter(|id| !id.is_empty())?, heading)))
            .flat_map(|(id, heading)| std::iter::once(id).chain(&heading.under))
            .cloned()
            .collect();
        for name in [Some(source.to_owned()), url.map(url_path)]
            .into_iter()
            .flatten()
        {
            let page = self.pages.entry(name).or_default();
            page.is_whole |= anchors.is_empty();
            page.anchors.extend(anchors.iter().cloned());
        }
    }

    /// Returns the number of right sections. Copies of a section in other versions have its anchor and count once, since
    /// a search returns one version only.
    pub(super) fn sections(&self) -> usize {
        let pages = self.pages.values();
        let anchors: HashSet<&String> = pages.flat_map(|page| &page.anchors).collect();
        anchors.len()
    }

    pub(super) fn has_page(&self, found: &Found) -> bool {
        self.pages.contains_key(&found.page())
    }

    pub(super) fn has_section(&self, found: &Found) -> bool {
        let anchor = found.anchor();
        let is_on = |page: &str| {
            let page = self.pages.get(page);
            page.is_some_and(|page| page.anchors.contains(&anchor))
        };
        // Unlike an empty source, an empty path is valid: it is the site's first page.
        (!found.source.is_empty() && is_on(&found.source)) || is_on(&url_path(&found.url))
    }

    /// True if the result is in a right section, or on a page labelled as a whole.
    fn has_answer(&self, found: &Found) -> bool {
        let page = self.pages.get(&found.page());
        page.is_some_and(|page| page.is_whole) || self.has_section(found)
    }

    /// Returns the rank, from 1, of the first result that answers the question.
    pub(super) fn answer_rank(&self, results: &[&Found]) -> Option<usize> {
        Some(results.iter().position(|found| self.has_answer(found))? + 1)
    }

    /// Returns the rank, from 1, of the first right page among the distinct pages of the results.
    pub(super) fn page_rank(&self, results: &[&Found]) -> Option<usize> {
        let mut seen = HashSet::new();
        let mut pages = results.iter().filter(|found| seen.insert(found.page()));
        Some(pages.position(|found| self.has_page(found))? + 1)
    }

    /// Returns for each result whether it is the first one in a right section.
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
    fn an_alternative_answers_but_is_no_label() {
        let questions = Question::parse_all(concat!(
            r#"{"id": "a", "query": "q", "answerable": true, "source": "docs/a.md", "headings": [{"id": "x"}], "#,
            r#""alternatives": [{"source": "docs/b.md", "headings": [{"id": "y"}]}, {"source": "docs/c.md"}]}"#
        ));
        let question = &questions.unwrap()[0];
        let (labels, all) = (Labels::of(question), Labels::with_alternatives(question));
        let rank = |labels: &Labels, url| {
            let places = [found("docs/a.md", "/a#z"), found("", "/d"), url];
            labels.answer_rank(&places.iter().collect::<Vec<_>>())
        };
        let label = found("docs/a.md", "/a#x");
        assert_eq!(rank(&labels, label.clone()), Some(3));
        assert_eq!(rank(&all, label), Some(3));
        for url in [found("docs/b.md", "/b#y"), found("docs/c.md", "/c#any")] {
            assert_eq!(rank(&labels, url.clone()), None);
            assert_eq!(rank(&all, url), Some(3));
        }
        assert_eq!(rank(&all, found("docs/b.md", "/b#x")), None);
        assert_eq!(all.page_rank(&[&found("docs/b.md", "/b")]), Some(1));
        assert_eq!(labels.page_rank(&[&found("docs/b.md", "/b")]), None);
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
