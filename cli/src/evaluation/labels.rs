//! Pages and sections that are right for a question.

use std::collections::{HashMap, HashSet};

use super::question::{Heading, Question};
use super::{Found, url_path};

/// The anchors of the right sections of each right page, by the page's source and by its URL path: those of the labelled headings and of the headings
/// nested under them.
#[derive(Debug, Default)]
pub(super) struct Labels {
    anchors: HashMap<String, HashSet<String>>,
}

impl Labels {
    /// Returns the labelled page and its copies, for example in other versions.
    pub(super) fn from_question(question: &Question) -> Self {
        let mut labels = Self::default();
        if let Some(source) = &question.source {
            labels.add(source, question.url.as_deref(), &question.headings);
        }
        for copy in &question.also_relevant {
            labels.add(&copy.source, copy.url.as_deref(), &copy.headings);
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
        let pages = [Some(source.to_owned()), url.map(url_path)];
        for page in pages.into_iter().flatten() {
            let of_page = self.anchors.entry(page).or_default();
            of_page.extend(anchors.iter().cloned());
        }
    }

    /// True if a section is labelled.
    pub(super) fn has_sections(&self) -> bool {
        self.anchors.values().any(|anchors| !anchors.is_empty())
    }

    /// Returns the rank, from 1, of the first right page among the distinct pages of the results.
    pub(super) fn page_rank(&self, results: &[&Found]) -> Option<usize> {
        let mut seen = HashSet::new();
        let pages = results.iter().map(|found| found.page());
        let mut pages = pages.filter(|page| seen.insert(page.clone()));
        Some(pages.position(|page| self.anchors.contains_key(&page))? + 1)
    }

    /// Returns the rank, from 1, of the first result in a right section.
    pub(super) fn section_rank(&self, results: &[&Found]) -> Option<usize> {
        let first = results.iter().position(|found| self.has_section(found))?;
        Some(first + 1)
    }

    fn has_section(&self, found: &Found) -> bool {
        let pages = [found.page(), url_path(&found.url)];
        let mut anchors = pages.iter().filter_map(|page| self.anchors.get(page));
        anchors.any(|anchors| anchors.contains(&found.anchor()))
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
            r#""headings": [{"id": "x", "under": ["y", "über"]}, {"id": null, "under": ["n"]}], "#,
            r#""also_relevant": [{"source": "v1/a.md", "url": "/v1/a", "headings": [{"id": "x"}]}]}"#
        ));
        Labels::from_question(&questions.unwrap()[0])
    }

    fn ranks(results: &[Found]) -> (Option<usize>, Option<usize>) {
        let results: Vec<&Found> = results.iter().collect();
        let labels = labels();
        (labels.page_rank(&results), labels.section_rank(&results))
    }

    #[test]
    fn a_page_is_known_by_its_source_or_else_by_its_url() {
        for (source, url, is_right) in [
            ("docs/a.md", "/elsewhere", true),
            ("v1/a.md", "", true),
            ("", "/docs/a b#z", true),
            ("", "/docs/a%20b/", true),
            ("docs/b.md", "/docs/a%20b/", false),
            ("", "", false),
        ] {
            let (page, _) = ranks(&[found(source, url)]);
            assert_eq!(page.is_some(), is_right, "{source} {url}");
        }
    }

    #[test]
    fn a_section_is_a_labelled_heading_or_one_nested_under_it() {
        for (source, url, is_right) in [
            ("docs/a.md", "/other#x", true),
            ("docs/a.md", "/other#y", true),
            ("docs/a.md", "/other#%C3%BCber", true),
            ("docs/a.md", "/other#über", true),
            ("docs/other.md", "/docs/a%20b/#x", true),
            ("", "/docs/a%20b", false),
            ("", "/docs/a%20b#top", false),
            ("", "/docs/a%20b#n", false),
            ("", "/b#x", false),
        ] {
            let (_, section) = ranks(&[found(source, url)]);
            assert_eq!(section.is_some(), is_right, "{source} {url}");
        }
    }

    #[test]
    fn a_page_counts_once_in_the_ranks() {
        let results = [
            found("docs/b.md", "/b#1"),
            found("docs/b.md", "/b#2"),
            found("docs/a.md", "/a#top"),
            found("v1/a.md", "/v1/a#x"),
        ];
        assert_eq!(ranks(&results), (Some(2), Some(4)));
        assert_eq!(ranks(&results[..2]), (None, None));
        assert_eq!(ranks(&[]), (None, None));
    }
}
