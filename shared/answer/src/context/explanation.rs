//! Chooses what explains selected text without a model: the introduction of its section, and sections of other pages.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::time::Duration;

use tokio::time::timeout;

use crate::context::passages::with_scores;
use crate::quote::introduction;
use crate::retrieve::{Language, Retrieved, ScoredChunk, Words};
use crate::understand::selection::Selection;
use crate::{Answerer, Outcome, Question};
use store::catalog::CatalogError;

/// Time limit for reading the selection's page. After it, no introduction is quoted.
const DEADLINE: Duration = Duration::from_secs(2);
/// The number of sections of other pages, nearest to the selection first, that may be about one of its terms. Farther ones share only general words
/// with it.
const NEAR: usize = 20;

/// What explains a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Explanation {
    /// The first paragraph of the best section.
    Introduction,
    /// The best section, of another page.
    Section,
    /// The book has nothing but the selection.
    Missing,
}

/// The terms of a selection in the heading of a section, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Naming {
    /// All of them, and no other terms.
    All,
    /// Some of them, and no other terms.
    Some,
    None,
}

impl Explanation {
    pub(crate) fn outcome(self) -> Outcome {
        match self {
            Self::Introduction | Self::Section => Outcome::Answered,
            Self::Missing => Outcome::NotCovered,
        }
    }
}

impl Answerer {
    /// True if a question asks only what selected text means, and no model answers. A quote of the selection would say nothing new, so the whole book
    /// is searched.
    pub(crate) fn explains(&self, question: &Question) -> bool {
        !self.generator.is_model() && self.is_about_selection(question)
    }

    /// Orders the sections found for a selection by how well they explain it: an introduction to it, then sections of other pages. `None` if
    /// something else is asked, or the book does not have the selection.
    pub(crate) async fn explain(
        &self,
        retrieved: &mut Retrieved,
        question: &Question,
        locale: Option<&str>,
    ) -> Option<Explanation> {
        if !self.explains(question) {
            return None;
        }
        let selection = Selection::new(question, locale)?;
        let holder = selection.holder(&retrieved.candidates)?.clone();
        let page = holder.chunk.document_id;
        retrieved.keep(|found| found.chunk.document_id != page);
        let best = sort(
            &mut retrieved.candidates,
            &selection,
            &self.retriever.index.site.title,
        );
        if best == Naming::All {
            return Some(Explanation::Section);
        }
        if let Some(introduction) = self.introduction(&holder, &selection).await {
            retrieved.candidates.insert(0, introduction);
            return Some(Explanation::Introduction);
        }
        Some(match best {
            Naming::None => Explanation::Missing,
            Naming::All | Naming::Some => Explanation::Section,
        })
    }

    /// Returns the section of a selection, or one above it, whose first paragraph says something else than the selection.
    async fn introduction(
        &self,
        holder: &ScoredChunk,
        selection: &Selection<'_>,
    ) -> Option<ScoredChunk> {
        let page = self.page_before(holder).await.unwrap_or_else(|error| {
            tracing::warn!(stage = "explanation", %error, "explaining without the selection's page");
            Vec::new()
        });
        sections_above(page, holder).into_iter().find(|section| {
            let is_holder = section.chunk.heading_path == holder.chunk.heading_path;
            introduction(section).is_some_and(|text| {
                let repeats = selection.contains(&text) || is_holder && selection.stands_in(&text);
                !repeats
            })
        })
    }

    /// Reads the chunks of a page up to a chunk, in order.
    async fn page_before(&self, holder: &ScoredChunk) -> Result<Vec<ScoredChunk>, CatalogError> {
        let Some(position) = holder.position else {
            return Ok(Vec::new());
        };
        let places = [(holder.chunk.document_id, 0..=position)];
        let retriever = &self.retriever;
        let index_id = retriever.index.index_id;
        let read = timeout(DEADLINE, retriever.catalog().around(index_id, &places)).await;
        let chunks = read
            .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))?
            .into_iter()
            .flatten();
        Ok(chunks
            .map(|chunk| with_scores(holder.scores, chunk))
            .collect())
    }
}

/// Returns the beginnings of a chunk's section and of those above it, the nearest first, and that of the page.
fn sections_above(mut page: Vec<ScoredChunk>, holder: &ScoredChunk) -> Vec<ScoredChunk> {
    page.sort_by_key(|chunk| Reverse(chunk.position));
    let path = &holder.chunk.heading_path;
    let mut depth = path.len() + 1;
    page.retain(|chunk| {
        let above = &chunk.chunk.heading_path;
        let is_above = above.len() < depth && path.starts_with(above);
        let begins = chunk.chunk.chunk_index == 0 && (is_above || chunk.position == Some(0));
        if begins {
            depth = above.len();
        }
        begins
    });
    page
}

/// Puts the sections that are about terms of a selection first, and returns what the first one's heading names. The words of the book's title are on
/// every page, so they are no terms.
fn sort(others: &mut [ScoredChunk], selection: &Selection<'_>, book: &str) -> Naming {
    let language = selection.locale;
    let words = Words::new(language.map_or(Language::ENGLISH, Language::of_locale));
    let title = words.terms(book);
    let mut selected: HashSet<String> = words.terms(selection.text).into_iter().collect();
    selected.retain(|term| !title.contains(term));
    let near = others.len().min(NEAR);
    others[..near].sort_by_cached_key(|found| naming(&words, &selected, found.section()));
    let best = others.first();
    best.map_or(Naming::None, |found| {
        naming(&words, &selected, found.section())
    })
}

fn naming(words: &Words, selected: &HashSet<String>, heading: &str) -> Naming {
    let heading: HashSet<String> = words.terms(heading).into_iter().collect();
    if heading.is_empty() || !heading.is_subset(selected) {
        Naming::None
    } else if heading.len() < selected.len() {
        Naming::Some
    } else {
        Naming::All
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::section;
    use std::sync::Arc;

    fn chunk(position: i32, index: usize, path: &[&str]) -> ScoredChunk {
        let mut found = section("probe", "x", "It measures.", 0.5, "2026-01-01");
        found.position = Some(position);
        let chunk = Arc::make_mut(&mut found.chunk);
        chunk.chunk_index = index;
        chunk.heading_path = path.iter().map(|&heading| heading.to_owned()).collect();
        found
    }

    #[test]
    fn the_sections_above_a_chunk_are_its_own_its_parents_and_the_beginning_of_its_page() {
        let page = vec![
            chunk(0, 0, &["Probe"]),
            chunk(1, 0, &["Care"]),
            chunk(2, 0, &["Care", "Summer"]),
            chunk(3, 0, &["Care", "Winter"]),
            chunk(4, 1, &["Care", "Winter"]),
        ];
        let holder = page[4].clone();
        let above = sections_above(page, &holder);
        let positions: Vec<_> = above.iter().filter_map(|found| found.position).collect();
        assert_eq!(positions, [3, 1, 0]);
    }

    #[test]
    fn sections_whose_heading_has_only_terms_of_the_selection_come_first() {
        for (selected, best, expected) in [
            ("the dew sensor", "Dew sensors", Naming::All),
            ("the dew sensor drifts", "Dew sensors", Naming::Some),
            ("the frost sensor of Sprig", "Nights", Naming::None),
        ] {
            let mut others =
                ["Nights", "Sprig", "Dew sensors"].map(|heading| chunk(0, 0, &[heading]));
            let selection = Selection {
                text: selected,
                page_url: None,
                locale: None,
            };
            assert_eq!(sort(&mut others, &selection, "Sprig"), expected);
            assert_eq!(others[0].section(), best, "{selected}");
        }
    }
}
