//! Chooses what a model reads: the chunks found and their neighbours.

use std::collections::HashSet;
use std::sync::Arc;

use uuid::Uuid;

use crate::context::passages::{Surroundings, is_of_section, joined};
use crate::retrieve::ScoredChunk;
use store::index::{FilterValues, Filters};
use text::introduces;

/// What a model reads.
#[derive(Debug, Clone, Default)]
pub(crate) struct ModelInput {
    /// The passages, best first, each of one heading.
    pub(crate) passages: Vec<ScoredChunk>,
    /// The ids of the points of their chunks.
    pub(crate) points: Vec<Uuid>,
}

impl Surroundings {
    /// Chooses what a model reads, up to `max_bytes` of text, best first. The first chunk is always read. A neighbour is
    /// read if the filters admit it.
    ///
    /// The worth of a chunk is 2⁻ᵈ / (3 + r): it is d chunks away from the chunk that was found in place r, counted from 0. Chunks of one heading are
    /// joined, so that a citation names it. `docs/decisions/0003-one-chunk-one-vector.md` has the figures.
    pub(crate) fn model_input(
        &self,
        found: &[ScoredChunk],
        filters: &Filters,
        max_bytes: usize,
    ) -> ModelInput {
        let mut chosen: Vec<&ScoredChunk> = Vec::new();
        let mut left = max_bytes;
        for chunk in self.by_worth(found, filters) {
            let bytes = chunk.chunk.text.len();
            let is_known = chosen.iter().any(|known| is_copy(chunk, known));
            if chunk.is_bare_heading() || is_known || (bytes > left && !chosen.is_empty()) {
                continue;
            }
            left = left.saturating_sub(bytes);
            chosen.push(chunk);
        }
        let points = chosen.iter().map(|chunk| chunk.point_id).collect();
        let mut passages = Vec::new();
        while let Some(&best) = chosen.first() {
            let mut parts: Vec<_> = chosen
                .extract_if(.., |chunk| {
                    chunk.point_id == best.point_id || is_of_section(best, chunk)
                })
                .collect();
            parts.sort_by_key(|part| part.position);
            let runs = parts.chunk_by(|part, next| next.position == part.position.map(|at| at + 1));
            passages.extend(runs.map(whole));
        }
        ModelInput { passages, points }
    }

    /// Returns the chunks found and their neighbours in the order of their worth, each once.
    fn by_worth<'a>(&'a self, found: &'a [ScoredChunk], filters: &Filters) -> Vec<&'a ScoredChunk> {
        // All chunks of a page agree in the other filters.
        let filters = Filters {
            section_type: filters.section_type,
            has_code: filters.has_code,
            has_equations: filters.has_equations,
            ..Filters::default()
        };
        let mut worths: Vec<(f32, &ScoredChunk)> = Vec::new();
        for (rank, chunk) in found.iter().enumerate() {
            let neighbours = self.0.get(rank).into_iter().flatten();
            let neighbours = neighbours.filter_map(|other| {
                let distance = (other.position? - chunk.position?).abs();
                let is_admitted = filters.admits(&FilterValues::from(&*other.chunk));
                (distance > 0 && is_admitted).then_some((distance, other))
            });
            let near = std::iter::once((0, chunk)).chain(neighbours);
            worths.extend(near.map(|(distance, chunk)| (worth(rank, distance), chunk)));
        }
        worths.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let mut known = HashSet::new();
        let chunks = worths.into_iter().map(|(_, chunk)| chunk);
        let chunks = chunks.filter(|chunk| known.insert(chunk.point_id));
        with_introduced_chunks(chunks.collect())
    }
}

/// Moves the next chunk of its section behind each chunk that ends with a colon, which says little without the code or the list that it introduces.
fn with_introduced_chunks(mut chunks: Vec<&ScoredChunk>) -> Vec<&ScoredChunk> {
    let mut at = 0;
    while at < chunks.len() {
        let chunk = chunks[at];
        at += 1;
        if introduces(&chunk.chunk.text) {
            let next = chunk.position.map(|at| at + 1);
            let led = chunks[at..]
                .iter()
                .position(|other| other.position == next && is_of_section(chunk, other));
            if let Some(led) = led {
                chunks[at..=at + led].rotate_right(1);
            }
        }
    }
    chunks
}

fn worth(rank: usize, distance: i32) -> f32 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "an answer starts from a few chunks"
    )]
    let rank = rank as f32;
    0.5_f32.powi(distance) / (3.0 + rank)
}

/// Returns consecutive chunks of one heading as a passage, which tells whether its section goes on.
fn whole(parts: &[&ScoredChunk]) -> ScoredChunk {
    let mut whole = parts[0].clone();
    if let [_, .., last] = parts {
        let mut chunk = joined(&whole, parts);
        if last.chunk.goes_on() {
            (chunk.chunk_index, chunk.chunk_count) =
                (last.chunk.chunk_index, last.chunk.chunk_count);
        }
        whole.chunk = Arc::new(chunk);
    }
    whole
}

/// True if a section has the same heading and text, as in another version of its page.
fn is_copy(section: &ScoredChunk, other: &ScoredChunk) -> bool {
    section.section() == other.section() && section.chunk.text == other.chunk.text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::passages::tests::{chunk, page, texts};

    #[test]
    fn a_model_reads_the_chunks_found_and_their_neighbours_joined_by_heading() {
        let page = page();
        let mut copy = page[5].clone();
        let chunk = Arc::make_mut(&mut copy.chunk);
        chunk.document_id = Uuid::new_v4();
        copy.point_id = Uuid::new_v4();
        let best = [page[4].clone(), copy.clone(), page[2].clone()];
        let around = Surroundings(vec![page.clone(), vec![copy], page.clone()]);
        let input = around.model_input(&best, &Filters::default(), 1_000);
        let whole = "One.\n\nTwo.\n\nThree.\n\nFour.";
        assert_eq!(texts(&input.passages), ["Five.", "Six.", whole, "Intro."]);
        let read: HashSet<_> = input.points.iter().copied().collect();
        let expected: HashSet<_> = [0, 1, 2, 3, 4].map(|at| page[at].point_id).into();
        assert_eq!(read, &expected | &HashSet::from([best[1].point_id]));
    }

    #[test]
    fn a_neighbour_that_the_filters_exclude_is_not_read() {
        let mut page = page();
        Arc::make_mut(&mut page[5].chunk).has_code = true;
        let filters = Filters {
            has_code: Some(true),
            ..Filters::default()
        };
        let best = [page[5].clone()];
        let input = Surroundings(vec![page]).model_input(&best, &filters, 1_000);
        assert_eq!(texts(&input.passages), ["Six."]);
    }

    #[test]
    fn what_a_chunk_leads_to_is_read_with_it() {
        let mut page = page();
        let chunk = Arc::make_mut(&mut page[2].chunk);
        (chunk.text, chunk.marks) = ("Run this:".to_owned(), Vec::new());
        let best = [page[5].clone(), page[2].clone()];
        let around = Surroundings(vec![Vec::new(), page.clone()]);
        // The part before would fit, too.
        let most = "Six.Run this:One.\n\nTwo.".len();
        let input = around.model_input(&best, &Filters::default(), most);
        assert_eq!(
            texts(&input.passages),
            ["Six.", "Run this:\n\nFour.", "Five."]
        );
    }

    #[test]
    fn parts_of_a_heading_with_a_gap_stay_apart() {
        let page = page();
        let best = [page[1].clone(), page[3].clone()];
        let input = Surroundings::default().model_input(&best, &Filters::default(), 1_000);
        assert_eq!(texts(&input.passages), ["One.\n\nTwo.", "Four."]);
    }

    #[test]
    fn a_passage_tells_whether_its_section_goes_on() {
        let page = page();
        let goes_on = |best: &[ScoredChunk]| {
            let input = Surroundings::default().model_input(best, &Filters::default(), 1_000);
            input.passages[0].chunk.goes_on()
        };
        assert!(goes_on(&page[1..2]) && goes_on(&page[1..3]));
        assert!(!goes_on(&page[1..4]) && !goes_on(&page[5..]));
    }

    #[test]
    fn a_near_neighbour_of_a_good_chunk_is_worth_more_than_a_chunk_found_late() {
        assert!(worth(0, 1) > worth(4, 0) && worth(0, 1) < worth(2, 0));
        assert!(worth(0, 4) < worth(19, 0));
    }

    #[test]
    fn a_model_reads_no_more_than_its_budget_and_the_best_section_always() {
        let section =
            |position: i32, bytes: usize| chunk(position, &["Page"], (0, 1), &"x".repeat(bytes));
        let best = [section(0, 40), section(1, 10), section(2, 8)];
        let lengths = |max_bytes| -> Vec<usize> {
            let input = Surroundings::default().model_input(&best, &Filters::default(), max_bytes);
            let passages = input.passages.iter();
            passages.map(|found| found.chunk.text.len()).collect()
        };
        assert_eq!(lengths(0), [40]);
        assert_eq!(lengths(48), [40, 8]);
        assert_eq!(lengths(50), [40, 10]);
        assert_eq!(lengths(58), [40, 10, 8]);
    }
}
