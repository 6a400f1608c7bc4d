//! Splits long sections at the edges of their blocks.

use std::borrow::{Borrow, Cow};
use std::ops::{Deref, Range};

use crate::block::{Block, BlockKind, Mark};
use text::{CLAUSE_ENDS, sentences};

use super::fenced_text;
use super::policy::{ChunkPolicy, MAX_BLOCK_TOKENS};
use super::section::Section;
use super::tokens::count_tokens;

/// A whole block, or a part of a block that is too long.
#[derive(Debug, Clone)]
pub(super) struct PartBlock<'a>(Cow<'a, Block>);

impl Deref for PartBlock<'_> {
    type Target = Block;

    fn deref(&self) -> &Block {
        &self.0
    }
}

impl Borrow<Block> for PartBlock<'_> {
    fn borrow(&self) -> &Block {
        &self.0
    }
}

#[derive(Debug)]
pub(super) struct Part<'a> {
    /// The blocks, those shared with the previous piece first.
    pub(super) blocks: Vec<PartBlock<'a>>,
    shared: usize,
}

impl Part<'_> {
    /// Returns the number of words that the piece does not share with the previous one.
    pub(super) fn new_words(&self) -> usize {
        let fresh = &self.blocks[self.shared..];
        fresh
            .iter()
            .map(|block| block.text.split_whitespace().count())
            .sum()
    }
}

#[derive(Clone)]
struct Measured<'a> {
    block: PartBlock<'a>,
    tokens: usize,
}

/// Tokens of the blank line between two blocks.
const SEPARATOR_TOKENS: usize = 1;

/// Splits a section's blocks into pieces. A section that fits the policy is one piece.
pub(super) fn pieces_of<'a>(section: &Section<'a>, policy: &ChunkPolicy) -> Vec<Part<'a>> {
    let blocks: Vec<Measured<'a>> = measure(section.blocks, policy);
    if size_of(&blocks) <= policy.split_above_tokens + SEPARATOR_TOKENS {
        return vec![piece(blocks, 0)];
    }
    let mut pieces: Vec<Part<'a>> = Vec::new();
    let mut current: Vec<Measured<'a>> = Vec::new();
    let mut shared = 0;
    for (at, measured) in blocks.iter().enumerate() {
        let labelled = labelled_by_first(&blocks[at..], policy.target_tokens);
        let added = size_of(&current) + labelled.unwrap_or(measured.tokens);
        if current.len() > shared && added > policy.target_tokens {
            let overlap = match labelled {
                // An answer does not begin with the end of another one.
                Some(_) => 0,
                None => overlap_of(&current, policy.overlap_tokens),
            };
            let kept = current[current.len() - overlap..].to_vec();
            pieces.push(piece(std::mem::replace(&mut current, kept), shared));
            shared = overlap;
            // An overlap that leaves no room for the next block is dropped.
            if size_of(&current) + measured.tokens > policy.target_tokens {
                current.clear();
                shared = 0;
            }
        }
        current.push(measured.clone());
    }
    pieces.push(piece(current, shared));
    pieces
}

/// Returns the size of the panel or details of which the first block is the label, with the label: of all of it if it fits, else of its first block.
/// `None` if the block is no label.
fn labelled_by_first(blocks: &[Measured<'_>], target: usize) -> Option<usize> {
    let (label, rest) = blocks.split_first()?;
    let depth = label.block.panels.len();
    let inner = rest
        .iter()
        .take_while(|inner| inner.block.panels.get(depth) == Some(&label.block.text));
    let mut size = label.tokens;
    let mut smallest = None;
    for inner in inner {
        size += inner.tokens + SEPARATOR_TOKENS;
        let first = *smallest.get_or_insert(size);
        if size > target {
            return Some(first);
        }
    }
    smallest.map(|_| size)
}

fn piece(blocks: Vec<Measured<'_>>, shared: usize) -> Part<'_> {
    Part {
        blocks: blocks.into_iter().map(|measured| measured.block).collect(),
        shared,
    }
}

fn size_of(blocks: &[Measured<'_>]) -> usize {
    blocks
        .iter()
        .map(|block| block.tokens + SEPARATOR_TOKENS)
        .sum()
}

impl<'a> Measured<'a> {
    fn new(block: PartBlock<'a>) -> Self {
        let tokens = count_tokens(&fenced_text(&block));
        Self { block, tokens }
    }
}

/// Returns the number of trailing blocks that the next piece repeats; never all of them.
fn overlap_of(blocks: &[Measured<'_>], max_tokens: usize) -> usize {
    let mut tokens = 0;
    let repeated = blocks.iter().skip(1).rev().take_while(|measured| {
        tokens += measured.tokens + SEPARATOR_TOKENS;
        tokens <= max_tokens
    });
    repeated.count()
}

fn measure<'a>(blocks: &'a [Block], policy: &ChunkPolicy) -> Vec<Measured<'a>> {
    let mut all = Vec::with_capacity(blocks.len());
    for block in blocks {
        let measured = Measured::new(PartBlock(Cow::Borrowed(block)));
        let whole = matches!(block.kind, BlockKind::Code { .. } | BlockKind::Table);
        let limit = if whole {
            MAX_BLOCK_TOKENS
        } else {
            policy.split_above_tokens
        };
        if measured.tokens <= limit {
            all.push(measured);
            continue;
        }
        let parts = cut_block(block, policy.target_tokens);
        all.extend(
            parts
                .into_iter()
                .map(|part| Measured::new(PartBlock(Cow::Owned(part)))),
        );
    }
    all
}

/// Splits a block into parts of about `target` tokens: code between lines, tables between rows with the header repeated, and text
/// between sentences or else words.
fn cut_block(block: &Block, target: usize) -> Vec<Block> {
    let by_line = matches!(block.kind, BlockKind::Code { .. } | BlockKind::Table);
    let units: Vec<&str> = if by_line || block.kind == BlockKind::Contents {
        block.text.split_inclusive('\n').collect()
    } else {
        sentences(&block.text)
    };
    let header = match block.kind {
        BlockKind::Table => units.first().copied().unwrap_or_default(),
        _ => "",
    };
    let header_lines = usize::from(!header.is_empty());
    let mut from = header.len();
    let mut at = from;
    let mut parts = Vec::new();
    let mut text = String::from(header);
    let mut size = count_tokens(header);
    let header_size = size;
    let mut first_unit = header_lines;
    for (index, unit) in units.iter().enumerate().skip(header_lines) {
        for fragment in fragments(unit, target) {
            let tokens = count_tokens(fragment);
            if size + tokens > target && size > header_size {
                let marks = marks_of(block, header.len(), from..at);
                parts.push(part_of(block, &text, marks, first_unit..index, by_line));
                from = at;
                text = String::from(header);
                size = header_size;
                first_unit = index;
            }
            text.push_str(fragment);
            at += fragment.len();
            size += tokens;
        }
    }
    if size > header_size || parts.is_empty() {
        let marks = marks_of(block, header.len(), from..at);
        let units = first_unit..units.len();
        parts.push(part_of(block, &text, marks, units, by_line));
    }
    parts
}

/// Returns the marks of a part: those of the repeated header, and those of its stretch of the block's text.
fn marks_of(block: &Block, header: usize, stretch: Range<usize>) -> Vec<Mark> {
    let of_header = block
        .marks
        .iter()
        .filter_map(|mark| mark.within(&(0..header)));
    let own = block.marks.iter().filter_map(|mark| mark.within(&stretch));
    of_header
        .chain(own.map(|mark| mark.after(header)))
        .collect()
}

/// Creates one part of a split block from its text, with the source lines of its units if units are lines.
fn part_of(
    block: &Block,
    text: &str,
    marks: Vec<Mark>,
    units: Range<usize>,
    by_line: bool,
) -> Block {
    let (start_line, end_line) = if by_line {
        let last = units.end.max(units.start + 1) - 1;
        (line_of(block, units.start), line_of(block, last))
    } else {
        (block.start_line, block.end_line)
    };
    let mut kind = block.kind.clone();
    // Only the first part keeps the title.
    if let (BlockKind::Code { title, .. }, true) = (&mut kind, units.start > 0) {
        *title = None;
    }
    let kept = 0..text.trim_end().len();
    Block {
        kind,
        text: text.trim_end().to_owned(),
        marks: marks.iter().filter_map(|mark| mark.within(&kept)).collect(),
        markdown: text.trim_end().to_owned(),
        start_line,
        end_line,
        nesting: block.nesting,
        panels: block.panels.clone(),
    }
}

/// Returns the source line of a unit, below a fence's opening line, or a table's header and delimiter row.
fn line_of(block: &Block, unit: usize) -> u32 {
    let unit = u32::try_from(unit).unwrap_or(u32::MAX);
    let first = block.start_line.saturating_add(1);
    first.saturating_add(unit).min(block.end_line)
}

/// Splits a unit that is longer than a part: after a clause of a script without spaces, else between words, else between characters.
fn fragments(unit: &str, target: usize) -> Vec<&str> {
    /// A token has at least one byte, so a text with fewer bytes than the target fits.
    const MIN_BYTES_A_TOKEN: usize = 1;
    if unit.len() <= target * MIN_BYTES_A_TOKEN || count_tokens(unit) <= target {
        return vec![unit];
    }
    let mut fragments = Vec::new();
    let mut rest = unit;
    while !rest.is_empty() {
        let longest = rest.ceil_char_boundary(target.min(rest.len()));
        let (fragment, after) = rest.split_at(fragment_end(&rest[..longest], rest.len()));
        fragments.push(fragment);
        rest = after;
    }
    fragments
}

/// Returns where the fragment that begins a text of `total` bytes ends, within `longest`, the most that it may have.
fn fragment_end(longest: &str, total: usize) -> usize {
    if longest.len() == total {
        return total;
    }
    if let Some((at, mark)) = longest.rmatch_indices(CLAUSE_ENDS).next() {
        return at + mark.len();
    }
    match longest.rfind(char::is_whitespace) {
        None | Some(0) => longest.len(),
        Some(space) => space,
    }
}
