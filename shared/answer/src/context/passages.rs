//! Reads the text around the chunks found.
//!
//! An extract quotes whole sections: all parts of a long one, and the subsections of a heading with little text. `model_input.rs` chooses what a
//! model reads.

use std::collections::HashMap;
use std::sync::Arc;

use crate::context::truncated_code::reopen;
use crate::quote::Passage;
use crate::retrieve::{Retriever, ScoredChunk, Scores};
use book::{Mark, MarkKind};
use store::catalog::{CatalogError, JoinedChunk};
use store::index::ChunkPayload;
use text::introduces;

/// A heading with fewer words of its own is read with its subsections.
const STUB_WORDS: usize = 40;
/// Reading subsections stops at this many words.
const ENOUGH_WORDS: usize = 400;
/// The number of chunks read before a chunk, and after it.
const REACH: i32 = 8;
/// The most chunks that are read before a chunk, and after it, because they are of the same section.
const MAX_REACH: usize = 60;

/// Numbers chunks from 1 as passages.
pub(crate) fn numbered(chunks: &[ScoredChunk]) -> Vec<Passage<'_>> {
    let numbered = chunks.iter().zip(1..);
    numbered
        .map(|(candidate, n)| Passage { n, candidate })
        .collect()
}

/// The chunks around each of the best chunks, in page order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Surroundings(pub(crate) Vec<Vec<ScoredChunk>>);

impl Surroundings {
    /// Reads the neighbours of the chunks that `is_wanted` accepts. A chunk with unknown position gets none.
    pub(crate) async fn read(
        retriever: &Retriever,
        best: &[ScoredChunk],
        is_wanted: impl Fn(&ScoredChunk) -> bool,
    ) -> Result<Self, CatalogError> {
        let wanted: Vec<_> = best
            .iter()
            .filter_map(|found| {
                let position = found.position.filter(|_| is_wanted(found))?;
                let (before, after) = reach(found);
                let positions = (position - before).max(0)..=position + after;
                Some((found.point_id, (found.chunk.document_id, positions)))
            })
            .collect();
        let (points, places): (Vec<_>, Vec<_>) = wanted.into_iter().unzip();
        let read = if places.is_empty() {
            Vec::new()
        } else {
            let index_id = retriever.index.index_id;
            retriever.catalog().around(index_id, &places).await?
        };
        let mut read: HashMap<_, _> = points.into_iter().zip(read).collect();
        let around = best.iter().map(|found| {
            let chunks = read.remove(&found.point_id).unwrap_or_default();
            // The page may have been replaced since the search.
            if chunks.iter().all(|chunk| chunk.point_id != found.point_id) {
                return vec![found.clone()];
            }
            let chunks = chunks
                .into_iter()
                .map(|chunk| with_scores(found.scores, chunk));
            chunks.collect()
        });
        Ok(Self(around.collect()))
    }

    /// Extends each of the best chunks to the whole text of its heading. A heading with little text of its own also gets its subsections.
    pub(crate) fn complete(&self, best: &mut [ScoredChunk]) {
        for (found, around) in best.iter_mut().zip(&self.0) {
            let mut parts: Vec<&ScoredChunk> = around
                .iter()
                .filter(|other| is_of_section(found, other))
                .collect();
            if parts.len() != found.chunk.chunk_count {
                continue;
            }
            if is_stub(found) {
                parts.extend(subtree(found, around));
            }
            if parts.len() > 1 {
                let whole = joined(found, &parts);
                found.position = section_start(found);
                found.chunk = Arc::new(whole);
            }
        }
    }

    /// Returns the chunks joined into a section, or the section itself if it is a single chunk.
    pub(crate) fn parts(&self, whole: &ScoredChunk) -> Vec<ScoredChunk> {
        let parts: Vec<_> = self
            .around(whole)
            .filter(|chunk| is_within(chunk, whole))
            .cloned()
            .collect();
        if parts.is_empty() {
            vec![whole.clone()]
        } else {
            parts
        }
    }

    /// Returns the sections directly below a section's heading that are not part of its text, in page order.
    pub(crate) fn subsections(&self, whole: &ScoredChunk) -> Vec<&ScoredChunk> {
        let heading = &whole.chunk.heading_path;
        self.around(whole)
            .filter(|other| {
                let path = &other.chunk.heading_path;
                let is_below = path.len() == heading.len() + 1 && path.starts_with(heading);
                is_below && other.chunk.chunk_index == 0 && !is_within(other, whole)
            })
            .collect()
    }

    /// Counts the words of all parts of a section, without those of the sections below it.
    pub(crate) fn own_words(&self, section: &ScoredChunk) -> usize {
        self.around(section)
            .filter(|other| is_of_section(section, other))
            .map(|part| part.chunk.word_count)
            .sum()
    }

    /// Returns the chunks that were read around a chunk, with itself.
    fn around(&self, found: &ScoredChunk) -> impl Iterator<Item = &ScoredChunk> {
        let id = found.point_id;
        self.0
            .iter()
            .find(|around| around.iter().any(|chunk| chunk.point_id == id))
            .into_iter()
            .flatten()
    }
}

/// Returns how many chunks are read before a chunk, and after it: the other parts of its section, and at least [`REACH`].
fn reach(found: &ScoredChunk) -> (i32, i32) {
    let before = found.chunk.chunk_index;
    let after = found.chunk.chunk_count.saturating_sub(before + 1);
    let parts = |count: usize| i32::try_from(count.min(MAX_REACH)).unwrap_or(REACH);
    (parts(before).max(REACH), parts(after).max(REACH))
}

/// Gives a chunk that was read as a neighbour the scores of the chunk that was found.
pub(crate) fn with_scores(scores: Scores, chunk: JoinedChunk) -> ScoredChunk {
    ScoredChunk {
        point_id: chunk.point_id,
        position: Some(chunk.position),
        chunk: Arc::new(chunk.payload),
        scores,
        category: None,
    }
}

pub(crate) fn is_of_section(found: &ScoredChunk, other: &ScoredChunk) -> bool {
    let start = section_start(found);
    start.is_some()
        && start == section_start(other)
        && found.chunk.document_id == other.chunk.document_id
}

/// True if a chunk's lines are within those of another chunk.
fn is_within(chunk: &ScoredChunk, other: &ScoredChunk) -> bool {
    let (chunk, other) = (&chunk.chunk, &other.chunk);
    let lines = other.start_line..=other.end_line;
    chunk.document_id == other.document_id
        && lines.contains(&chunk.start_line)
        && lines.contains(&chunk.end_line)
}

/// True if an extract may need the text around a chunk: the other parts of its section, or the subsections of a heading with little text.
pub(crate) fn is_incomplete(scored: &ScoredChunk) -> bool {
    scored.chunk.chunk_count > 1 || is_stub(scored)
}

/// True if a heading has little text of its own, or text that only introduces what follows.
fn is_stub(scored: &ScoredChunk) -> bool {
    let chunk = &scored.chunk;
    chunk.chunk_count == 1 && (chunk.word_count < STUB_WORDS || introduces(&chunk.text))
}

/// Returns the chunks under a heading's subheadings in order, until there are enough words.
fn subtree<'a>(
    found: &'a ScoredChunk,
    around: &'a [ScoredChunk],
) -> impl Iterator<Item = &'a ScoredChunk> {
    let heading = &found.chunk.heading_path;
    let after = around
        .iter()
        .filter(|other| other.position > found.position);
    let below = after.take_while(move |other| {
        let path = &other.chunk.heading_path;
        path.len() > heading.len() && path.starts_with(heading)
    });
    let mut words = found.chunk.word_count;
    below.take_while(move |other| {
        let before = words;
        words += other.chunk.word_count;
        before <= ENOUGH_WORDS
    })
}

/// Returns the position of the first chunk of a chunk's section.
fn section_start(scored: &ScoredChunk) -> Option<i32> {
    let index = i32::try_from(scored.chunk.chunk_index).ok()?;
    Some(scored.position? - index)
}

/// Joins all parts into one chunk. Parts below other headings follow their heading; blocks shared by two parts appear once.
pub(crate) fn joined(found: &ScoredChunk, parts: &[&ScoredChunk]) -> ChunkPayload {
    let mut whole = ChunkPayload::clone(&found.chunk);
    (whole.chunk_index, whole.chunk_count) = (0, 1);
    whole.text.clear();
    whole.marks.clear();
    let mut before: Option<&ChunkPayload> = None;
    for part in parts {
        let heading = part.section();
        let is_bare = part.is_bare_heading();
        let part = &part.chunk;
        let section = before.map_or(&found.chunk.heading_path, |before| &before.heading_path);
        if part.heading_path != *section {
            let mark = (MarkKind::Heading, 0, heading.len());
            append(&mut whole, heading, &[mark.into()]);
        }
        let overlaps = before.is_some_and(|before| part.start_line <= before.end_line);
        let shared = if overlaps {
            shared_lines(&whole.text, &part.text)
        } else {
            0
        };
        if !is_bare && let Some(opening) = reopen(&mut whole, part) {
            let stretch = opening..part.text.len();
            let marks = part.marks[1..]
                .iter()
                .filter_map(|mark| mark.within(&stretch));
            let at = whole.text.len();
            whole.marks.extend(marks.map(|mark| mark.after(at)));
            whole.text.push_str(&part.text[opening..]);
        } else if !is_bare {
            let stretch = shared..part.text.len();
            let marks = part.marks.iter().filter_map(|mark| mark.within(&stretch));
            append(&mut whole, &part.text[shared..], &marks.collect::<Vec<_>>());
        }
        whole.start_line = whole.start_line.min(part.start_line);
        whole.end_line = whole.end_line.max(part.end_line);
        whole.links.extend(part.links.iter().cloned());
        before = Some(part);
    }
    whole
}

/// Appends a text and its marks as separate blocks.
fn append(whole: &mut ChunkPayload, text: &str, marks: &[Mark]) {
    if !whole.text.is_empty() && !text.is_empty() {
        whole.text.push_str("\n\n");
    }
    let at = whole.text.len();
    whole
        .marks
        .extend(marks.iter().cloned().map(|mark| mark.after(at)));
    whole.text.push_str(text);
}

/// Returns the length in bytes of the longest run of whole lines that ends `text` and begins `next`.
fn shared_lines(text: &str, next: &str) -> usize {
    let line_ends = next.rmatch_indices('\n').map(|(at, _)| at);
    let longest = [next.len()].into_iter().chain(line_ends).find(|end| {
        let before = text.strip_suffix(next[..*end].trim_end());
        before.is_some_and(|before| before.is_empty() || before.ends_with('\n'))
    });
    let rest = &next[longest.unwrap_or(0)..];
    next.len() - rest.trim_start_matches('\n').len()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    const PAYLOAD: &str = include_str!("../generate/prompt/payload.json");

    /// Returns a chunk of a page, one of the `count` chunks of its section.
    pub(crate) fn chunk(
        position: i32,
        path: &[&str],
        (index, count): (usize, usize),
        text: &str,
    ) -> ScoredChunk {
        let payload: ChunkPayload = serde_json::from_str(PAYLOAD).unwrap();
        let line = u32::try_from(position).unwrap() * 10 + 1;
        ScoredChunk {
            point_id: uuid::Uuid::new_v4(),
            position: Some(position),
            chunk: Arc::new(ChunkPayload {
                text: text.to_owned(),
                marks: vec![(MarkKind::Paragraph, 0, text.len()).into()],
                heading_path: path.iter().map(|&title| title.to_owned()).collect(),
                chunk_index: index,
                chunk_count: count,
                word_count: STUB_WORDS,
                start_line: line,
                end_line: line + 5,
                ..payload
            }),
            scores: Scores::default(),
            category: None,
        }
    }

    /// Adds the previous chunk's last line as the first line.
    fn overlapping(mut found: ScoredChunk) -> ScoredChunk {
        let chunk = Arc::make_mut(&mut found.chunk);
        chunk.start_line -= 5;
        found
    }

    pub(crate) fn page() -> Vec<ScoredChunk> {
        vec![
            chunk(0, &["Page"], (0, 1), "Intro."),
            chunk(1, &["Page", "A"], (0, 3), "One.\n\nTwo."),
            overlapping(chunk(2, &["Page", "A"], (1, 3), "Two.\n\nThree.")),
            chunk(3, &["Page", "A"], (2, 3), "Four."),
            chunk(4, &["Page", "A", "Deeper"], (0, 1), "Five."),
            chunk(5, &["Page", "B"], (0, 1), "Six."),
        ]
    }

    pub(crate) fn texts(chunks: &[ScoredChunk]) -> Vec<&str> {
        chunks
            .iter()
            .map(|found| found.chunk.text.as_str())
            .collect()
    }

    #[test]
    fn a_part_of_a_long_section_becomes_the_whole_with_shared_blocks_once() {
        let page = page();
        let mut best = vec![page[2].clone(), page[5].clone()];
        let around = Surroundings(vec![page.clone(), page]);
        around.complete(&mut best);
        assert_eq!(texts(&best), ["One.\n\nTwo.\n\nThree.\n\nFour.", "Six."]);
        let parts = around.parts(&best[0]);
        let expected = ["One.\n\nTwo.", "Two.\n\nThree.", "Four."];
        assert_eq!(texts(&parts), expected);
        let whole = &best[0].chunk;
        assert_eq!((whole.start_line, whole.end_line), (11, 36));
        let marked = whole.marks.iter().map(|mark| &whole.text[mark.range()]);
        let marked: Vec<&str> = marked.collect();
        assert_eq!(marked, ["One.\n\nTwo.", "Three.", "Four."]);
    }

    #[test]
    fn a_heading_with_little_text_is_read_with_what_stands_below_it() {
        let mut page = vec![
            chunk(0, &["Page", "A"], (0, 1), "There are two:"),
            chunk(1, &["Page", "A", "One"], (0, 1), "First."),
            chunk(2, &["Page", "A", "Two"], (0, 1), "Second."),
            chunk(3, &["Page", "B"], (0, 1), "Other."),
        ];
        Arc::make_mut(&mut page[0].chunk).word_count = 3;
        let mut best = vec![page[0].clone(), page[3].clone()];
        let around = Surroundings(vec![page.clone(), page]);
        around.complete(&mut best);
        let below = "There are two:\n\nOne\n\nFirst.\n\nTwo\n\nSecond.";
        assert_eq!(texts(&best), [below, "Other."]);
        assert_eq!((best[0].chunk.start_line, best[0].chunk.end_line), (1, 26));
    }

    #[test]
    fn the_sections_directly_below_a_heading_are_named() {
        let page = page();
        let around = Surroundings(vec![page.clone()]);
        let names = |whole: &ScoredChunk| -> Vec<String> {
            let sections = around.subsections(whole).into_iter();
            sections
                .map(|section| section.section().to_owned())
                .collect()
        };
        assert_eq!(names(&page[0]), ["A", "B"]);
        assert_eq!(names(&page[3]), ["Deeper"]);
        assert_eq!(names(&page[5]), [""; 0]);
        assert_eq!(around.own_words(&page[2]), 3 * STUB_WORDS);
        assert_eq!(around.own_words(&page[4]), STUB_WORDS);
        let mut whole = page[3].clone();
        Arc::make_mut(&mut whole.chunk).end_line = page[4].chunk.end_line;
        assert_eq!(names(&whole), [""; 0]);
    }

    #[test]
    fn only_whole_lines_are_shared() {
        for (text, next, shared) in [
            ("a\n- b\n- c", "- b\n- c\n- d", "- b\n- c\n"),
            ("see Options", "Options\n\nb", ""),
            ("```\na\n```", "```js\nb\n```", ""),
            ("a", "a", "a"),
            ("x\nx", "x\nx\ny", "x\nx\n"),
        ] {
            assert_eq!(&next[..shared_lines(text, next)], shared, "{text}");
        }
    }

    #[test]
    fn code_that_was_cut_is_one_again() {
        let code = |index: usize, text: &str| {
            let position = i32::try_from(index).unwrap();
            let mut part = chunk(position, &["Page"], (index, 2), text);
            let payload = Arc::make_mut(&mut part.chunk);
            let start = text.find("```").unwrap();
            let end = text.rfind("```").unwrap() + 3;
            payload.marks = vec![(MarkKind::Fence, start, end).into()];
            if end < text.len() {
                let after = (MarkKind::Paragraph, end + 2, text.len());
                payload.marks.push(after.into());
            }
            part
        };
        let first = code(0, "```js\na\nb\n```");
        let mut second = code(1, "```js\nc\n```\n\nAfter.");
        for (gap, expected) in [
            (0, "```js\na\nb\nc\n```\n\nAfter."),
            (1, "```js\na\nb\n```\n\n```js\nc\n```\n\nAfter."),
        ] {
            Arc::make_mut(&mut second.chunk).start_line = first.chunk.end_line + 1 + gap;
            let whole = joined(&first, &[&first, &second]);
            assert_eq!(whole.text, expected);
            let marked = whole.marks.iter().map(|mark| &whole.text[mark.range()]);
            assert_eq!(marked.collect::<Vec<_>>().join("\n\n"), expected);
        }
    }

    #[test]
    fn all_parts_of_a_section_are_read_up_to_a_limit() {
        let last = chunk(30, &["Page", "A"], (12, 13), "Last.");
        assert_eq!(reach(&last), (12, REACH));
        let endless = chunk(500, &["Page", "A"], (400, 1_000), "Middle.");
        assert_eq!(reach(&endless), (60, 60));
    }

    #[test]
    fn a_section_whose_parts_are_out_of_reach_stays_a_part() {
        let page = page();
        let mut best = vec![page[1].clone()];
        let around = Surroundings(vec![page[..3].to_vec()]);
        around.complete(&mut best);
        assert_eq!(texts(&best), ["One.\n\nTwo."]);
    }
}
