//! The coverage ledger: each piece of a page's source is in a chunk, or omitted for a stated reason.
//!
//! It checks the reader independently: it counts the letters and digits of each source line and subtracts those of the blocks
//! and of the listed omissions. The remainder was lost.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};
use uuid::Uuid;

use crate::block::{Block, BlockKind};
use crate::decoding::with_line_feeds;
use crate::document::Document;
use crate::omission::Omission;
use text::invisible::visible;

use super::types::Chunk;

/// Source lines that belong together, and where their content ended up.
#[derive(Debug, Clone, PartialEq)]
pub struct LedgerEntry {
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
    /// The chunks that hold the lines.
    pub chunks: Vec<Uuid>,
    /// Omitted content, with the reason.
    pub left_out: Vec<Omission>,
    /// Lost words: neither in a chunk nor omitted for a reason.
    pub unaccounted: Vec<String>,
}

/// Accounts for each line of a page that contains a letter or digit. `text` is the file's content.
#[must_use]
pub fn ledger(text: &str, document: &Document, chunks: &[Chunk]) -> Vec<LedgerEntry> {
    let text = with_line_feeds(text);
    let lines: Vec<&str> = text.lines().collect();
    regions(&lines, document)
        .into_iter()
        .map(|region| region.account(&lines, chunks))
        .collect()
}

/// Like [`ledger`], but for the Markdown of the whole page instead of its chunks. A word is lost if the rendered Markdown contains
/// it less often than the page.
#[must_use]
pub fn ledger_of_markdown(text: &str, document: &Document, markdown: &str) -> Vec<LedgerEntry> {
    let text = with_line_feeds(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut words: HashMap<&str, usize> = HashMap::new();
    let rendered = rendered(markdown);
    for word in words_of(&rendered) {
        *words.entry(word).or_default() += 1;
    }
    let entries = regions(&lines, document).into_iter().map(|region| {
        let mut unaccounted = region.unread(&lines);
        let shown = region.shown();
        for text in &shown {
            // Removing an invisible character joins the letters on both sides into one word.
            let text = visible(text);
            let lost = words_of(&text).filter(|word| match words.get_mut(*word) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    false
                }
                _ => true,
            });
            unaccounted.extend(lost.map(str::to_owned));
        }
        LedgerEntry {
            start_line: region.start,
            end_line: region.end,
            chunks: Vec::new(),
            left_out: region.omissions.into_iter().cloned().collect(),
            unaccounted,
        }
    });
    entries.collect()
}

/// Returns the text that Markdown shows, including the written numbers of lists and the info strings of fences, which hold titles.
fn rendered(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut text = String::with_capacity(markdown.len());
    for (event, range) in Parser::new_ext(markdown, options).into_offset_iter() {
        match event {
            Event::Text(shown) | Event::Code(shown) => text.push_str(&shown),
            Event::Html(shown) | Event::InlineHtml(shown) => text.push_str(&shown),
            Event::TaskListMarker(true) => text.push_str("x "),
            Event::Start(Tag::Item) => {
                let item = markdown[range].trim_start();
                let digits = item.bytes().take_while(u8::is_ascii_digit).count();
                text.push_str(&format!("\n{} ", &item[..digits]));
            }
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) => {
                text.push_str(&format!("\n{info}\n"));
            }
            Event::SoftBreak | Event::HardBreak | Event::End(TagEnd::TableCell) => text.push('\n'),
            Event::Start(tag) if !is_inline(&tag) => text.push('\n'),
            _ => {}
        }
    }
    text
}

fn is_inline(tag: &Tag<'_>) -> bool {
    use Tag::{Emphasis, Image, Link, Strikethrough, Strong};
    matches!(
        tag,
        Emphasis | Strong | Strikethrough | Link { .. } | Image { .. }
    )
}

/// Lines connected by blocks or omissions.
struct Region<'a> {
    start: u32,
    end: u32,
    blocks: Vec<&'a Block>,
    omissions: Vec<&'a Omission>,
}

fn regions<'a>(lines: &[&str], document: &'a Document) -> Vec<Region<'a>> {
    // The blocks of HTML have lines of the page's text, so the whole file is one region.
    if document.file.is_html() {
        return vec![Region {
            start: 1,
            end: u32::MAX,
            blocks: document.blocks.iter().collect(),
            omissions: document.omissions.iter().collect(),
        }];
    }
    let mut pieces: Vec<Region<'a>> = (1..)
        .zip(lines)
        .filter(|(_, line)| line.contains(char::is_alphanumeric))
        .map(|(number, _)| Region::from_line(number))
        .collect();
    pieces.extend(document.blocks.iter().map(|block| Region {
        end: block.end_line,
        blocks: vec![block],
        ..Region::from_line(block.start_line)
    }));
    let omissions = document
        .omissions
        .iter()
        .filter(|omission| omission.text.contains(char::is_alphanumeric));
    pieces.extend(omissions.map(|omission| Region {
        end: omission.end_line,
        omissions: vec![omission],
        ..Region::from_line(omission.start_line)
    }));
    pieces.sort_by_key(|piece| (piece.start, piece.end));
    let mut regions: Vec<Region<'a>> = Vec::new();
    for piece in pieces {
        match regions.last_mut() {
            Some(last) if piece.start <= last.end => {
                last.end = last.end.max(piece.end);
                last.blocks.extend(piece.blocks);
                last.omissions.extend(piece.omissions);
            }
            _ => regions.push(piece),
        }
    }
    regions
}

impl<'a> Region<'a> {
    fn from_line(line: u32) -> Self {
        Self {
            start: line,
            end: line,
            blocks: Vec::new(),
            omissions: Vec::new(),
        }
    }

    /// Returns the text that the region's blocks show. A list of the page's headings is generated, so it has no source.
    fn shown(&self) -> Vec<Cow<'a, str>> {
        self.blocks
            .iter()
            .filter(|block| block.kind != BlockKind::Contents)
            .map(|block| block.shown_text())
            .collect()
    }

    /// Words of the source that are in no block and no omission.
    fn unread(&self, lines: &[&str]) -> Vec<String> {
        let from = (self.start as usize - 1).min(lines.len());
        let to = (self.end as usize).clamp(from, lines.len());
        let source = lines[from..to].join("\n");
        if is_definition(&source) {
            return Vec::new();
        }
        let shown = self.shown();
        let mut kept: Vec<&str> = shown.iter().map(AsRef::as_ref).collect();
        kept.extend(self.omissions.iter().map(|omission| omission.text.as_str()));
        missing(&source, &kept)
    }

    fn account(self, lines: &[&str], chunks: &[Chunk]) -> LedgerEntry {
        let mut unaccounted = self.unread(lines);
        let shown = self.shown();
        let holding: Vec<&Chunk> = chunks
            .iter()
            .filter(|chunk| chunk.start_line <= self.end && chunk.end_line >= self.start)
            .collect();
        let mut texts = ChunkTexts::new(&holding);
        for text in &shown {
            if texts.contain(text) {
                continue;
            }
            for line in text.lines() {
                if texts.contain(line.trim()) {
                    continue;
                }
                let words = words_of(line).filter(|word| !texts.contain_word(word));
                unaccounted.extend(words.map(str::to_owned));
            }
        }
        let in_chunks = !self.blocks.is_empty();
        LedgerEntry {
            start_line: self.start,
            end_line: self.end,
            chunks: holding
                .iter()
                .filter(|_| in_chunks)
                .map(|chunk| chunk.chunk_id)
                .collect(),
            left_out: self.omissions.into_iter().cloned().collect(),
            unaccounted,
        }
    }
}

struct ChunkTexts {
    texts: Vec<String>,
    /// The end of each text with the beginning of the next one: between them, a word may be cut.
    cuts: Vec<String>,
    last_match: usize,
}

impl ChunkTexts {
    fn new(chunks: &[&Chunk]) -> Self {
        let texts: Vec<String> = chunks.iter().map(|chunk| chunk.shown_text()).collect();
        let pairs = texts.windows(2);
        let cuts = pairs.map(|pair| format!("{}{}", last_word(&pair[0]), start_of(&pair[1])));
        Self {
            cuts: cuts.collect(),
            texts,
            last_match: 0,
        }
    }

    /// True if a chunk contains the start of a word, or two chunks do together.
    fn contain_word(&mut self, word: &str) -> bool {
        let start = start_of(word);
        self.contain(start) || self.cuts.iter().any(|cut| cut.contains(start))
    }

    /// True if a chunk contains the text. Searches from the last match on, because the rest of a cut block is in the next chunk.
    fn contain(&mut self, text: &str) -> bool {
        let place = (self.last_match..self.texts.len())
            .chain(0..self.last_match)
            .find(|place| self.texts[*place].contains(text));
        self.last_match = place.unwrap_or(self.last_match);
        place.is_some()
    }
}

/// True if a line defines a link's target. Markdown uses the first definition of a label and ignores others without a trace.
fn is_definition(line: &str) -> bool {
    let definition = line.trim_start().strip_prefix('[');
    definition
        .and_then(|rest| rest.split_once("]:"))
        .is_some_and(|(label, target)| !label.contains(['[', '^']) && !target.contains('\n'))
}

/// Returns the start of a word, which suffices to identify a long word that is cut more than once.
fn start_of(word: &str) -> &str {
    const CHARS: usize = 32;
    let end = word.char_indices().nth(CHARS);
    &word[..end.map_or(word.len(), |(at, _)| at)]
}

fn last_word(text: &str) -> &str {
    text.rsplit(|c: char| !c.is_alphanumeric())
        .next()
        .unwrap_or_default()
}

/// Returns the words of a text that `others` lack. Each word of `others` accounts for one occurrence.
fn missing(text: &str, others: &[&str]) -> Vec<String> {
    let mut letters = letter_counts(text);
    for other in others {
        for (letter, count) in letter_counts(other) {
            letters.entry(letter).and_modify(|left| *left -= count);
        }
    }
    letters.retain(|_, left| *left > 0);
    if letters.is_empty() {
        return Vec::new();
    }
    let mut words: HashMap<String, i64> = HashMap::new();
    for word in others.iter().flat_map(|other| words_of(other)) {
        *words.entry(word.to_lowercase()).or_default() += 1;
    }
    let missing: Vec<String> = words_of(text)
        .filter(|word| {
            let left = words.entry(word.to_lowercase()).or_default();
            *left -= 1;
            *left < 0
        })
        .map(str::to_owned)
        .collect();
    if missing.is_empty() {
        return letters.into_keys().map(String::from).collect();
    }
    missing
}

fn letter_counts(text: &str) -> BTreeMap<char, i64> {
    let mut counts = BTreeMap::new();
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    for letter in letters.flat_map(char::to_lowercase) {
        *counts.entry(letter).or_default() += 1;
    }
    counts
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
