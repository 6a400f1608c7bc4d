//! From markers in a text to citations that were checked. Pure.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::chunk::citation_label;
use crate::retrieve::Candidate;

/// The longest marker that is waited for: `[` and four digits.
const MAX_MARKER_BYTES: usize = 5;
/// Characters of a quote.
const MAX_QUOTE_CHARACTERS: usize = 240;

/// Where a claim comes from. S0's, S1's and S4's fields are all here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Citation {
    /// The number that the text's markers name.
    pub n: usize,
    /// The chunk.
    pub chunk_id: Uuid,
    /// The module's title.
    pub module: String,
    /// The chapter's title.
    pub chapter: String,
    /// The page's title.
    pub title: String,
    /// The heading.
    pub section: String,
    /// Its anchor.
    pub section_id: Option<String>,
    /// The page's URL with the anchor.
    pub url: String,
    /// The source path.
    pub source: String,
    /// The first line cited, from 1.
    pub start_line: u32,
    /// The last line cited.
    pub end_line: u32,
    /// The printed page within the document.
    pub page: usize,
    /// How well it matches, 0 to 1.
    pub confidence: f32,
    /// The beginning of the cited text.
    pub quote: String,
    /// `[Module 1, Chapter 2, Lesson 3]`, or `(Source: chapter, section)`.
    pub label: String,
    /// Whether the passage says what the sentence says; absent until it was checked.
    pub supported: Option<bool>,
}

/// The citation of a section under a number.
#[must_use]
pub fn citation(n: usize, candidate: &Candidate, locale: Option<&str>) -> Citation {
    let payload = &candidate.payload;
    let leaf = candidate.section_of_chunk();
    let prose = candidate
        .text()
        .lines()
        .filter(|line| !line.starts_with("```"));
    let quote: String = prose
        .flat_map(str::split_whitespace)
        .collect::<Vec<_>>()
        .join(" ");
    let quote = if quote.chars().count() > MAX_QUOTE_CHARACTERS {
        let cut: String = quote.chars().take(MAX_QUOTE_CHARACTERS).collect();
        format!("{}…", cut.trim_end())
    } else {
        quote
    };
    Citation {
        n,
        chunk_id: payload.chunk_id,
        module: payload.module.clone(),
        chapter: payload.chapter.clone(),
        title: payload.title.clone(),
        section: candidate.section().to_owned(),
        section_id: leaf.map_or(payload.section_id.clone(), |leaf| leaf.section_id.clone()),
        url: candidate.url(locale),
        source: payload.source.clone(),
        start_line: leaf.map_or(payload.start_line, |leaf| leaf.start_line),
        end_line: leaf.map_or(payload.end_line, |leaf| leaf.end_line),
        page: payload.page,
        confidence: candidate.confidence(),
        quote,
        label: citation_label(&payload.lesson(), &payload.title, Some(candidate.section())),
        supported: None,
    }
}

/// Reads the markers of a text that comes in pieces.
#[derive(Debug, Default)]
pub struct MarkerReader {
    /// How many passages were given.
    passages: usize,
    /// What may become a marker.
    held: String,
}

/// A piece of cited text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cited {
    /// Text to show.
    Text(String),
    /// A marker of a passage that was given; it is shown as `[n]`.
    Marker(usize),
}

impl MarkerReader {
    /// A reader of answers to `passages` passages, numbered from 1.
    #[must_use]
    pub fn new(passages: usize) -> Self {
        Self {
            passages,
            held: String::new(),
        }
    }

    /// Reads the next piece. Text is held back no longer than a marker needs; markers of no passage are dropped.
    pub fn push(&mut self, piece: &str) -> Vec<Cited> {
        let mut out = Vec::new();
        let mut text = String::new();
        for c in piece.chars() {
            let opens = c == '[';
            if !self.held.is_empty() && c == ']' && self.held.len() > 1 {
                let number = self.held[1..].parse().unwrap_or(0);
                self.held.clear();
                if (1..=self.passages).contains(&number) {
                    flush(&mut text, &mut out);
                    out.push(Cited::Marker(number));
                }
            } else if !self.held.is_empty()
                && c.is_ascii_digit()
                && self.held.len() < MAX_MARKER_BYTES
            {
                self.held.push(c);
            } else {
                text.push_str(&self.held);
                self.held.clear();
                if opens {
                    self.held.push(c);
                } else {
                    text.push(c);
                }
            }
        }
        flush(&mut text, &mut out);
        out
    }

    /// What was held back when the text ended.
    #[must_use]
    pub fn finish(self) -> Option<String> {
        (!self.held.is_empty()).then_some(self.held)
    }
}

fn flush(text: &mut String, out: &mut Vec<Cited>) {
    if !text.is_empty() {
        out.push(Cited::Text(std::mem::take(text)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(pieces: &[&str], passages: usize) -> (String, Vec<usize>) {
        let mut reader = MarkerReader::new(passages);
        let mut text = String::new();
        let mut markers = Vec::new();
        for cited in pieces.iter().flat_map(|piece| reader.push(piece)) {
            match cited {
                Cited::Text(piece) => text.push_str(&piece),
                Cited::Marker(n) => {
                    markers.push(n);
                    text.push_str(&format!("[{n}]"));
                }
            }
        }
        text.push_str(&reader.finish().unwrap_or_default());
        (text, markers)
    }

    #[test]
    fn markers_are_read_across_pieces_and_unknown_ones_dropped() {
        let (text, markers) = read(
            &["a [", "1", "] b [9] c [x] d [12", "34567] [0] arr[2] ["],
            2,
        );
        assert_eq!(text, "a [1] b  c [x] d [1234567]  arr[2] [");
        assert_eq!(markers, [1, 2]);
    }

    proptest! {
        #[test]
        fn no_output_cites_a_passage_that_was_not_given(text in "[\\[\\]0-9a \n]{0,60}", cuts in proptest::collection::vec(0usize..60, 0..8), passages in 0usize..12) {
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.sort_unstable();
            let mut pieces = Vec::new();
            let mut from = 0;
            for cut in cuts {
                pieces.push(&text[from..cut]);
                from = cut;
            }
            pieces.push(&text[from..]);
            let (split, markers) = read(&pieces, passages);
            let (whole, same) = read(&[&text], passages);
            prop_assert!(markers.iter().all(|n| (1..=passages).contains(n)));
            prop_assert_eq!((split, markers), (whole, same));
        }
    }
}
