//! From documents to chunks: classify sections, split long ones, enrich short ones, count tokens. Pure.

mod policy;

mod section;
mod split;
mod tokens;
mod types;
mod ledger;

use std::collections::HashMap;

use uuid::Uuid;

use crate::book::{Block, BlockKind, Document, Lesson, Mark, MarkKind, fence_of, shortened_title};

pub use ledger::{LedgerEntry, count_reasons, ledger};
pub use policy::ChunkPolicy;
pub use section::SectionType;
pub use tokens::count_tokens;
pub use types::{Chunk, Leaf};

use section::{HeadingPath, Section, classify, sections_of};
use split::{Piece, pieces_of};

/// The version of the text that is embedded for a chunk; part of an index's version.
pub const EMBEDDED_TEXT_VERSION: u32 = 1;

/// What separates the parts of a breadcrumb.
const BREADCRUMB_SEPARATOR: &str = " › ";

/// Cuts a document in chunks, in reading order. The same bytes and policy give the same chunks with the same ids.
#[must_use]
pub fn chunk_document(document: &Document, policy: &ChunkPolicy) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut occurrences: HashMap<Uuid, usize> = HashMap::new();
    let mut words_before = 0;
    for section in sections_of(&document.blocks) {
        let section_type = classify(&section);
        let pieces = pieces_of(&section, policy);
        let count = pieces.len();
        let mut headings = section.headings();
        for (index, piece) in pieces.into_iter().enumerate() {
            let path = headings.before(piece.first_index);
            let mut chunk = make_chunk(document, policy, &section, section_type, &piece, path);
            chunk.chunk_index = index;
            chunk.chunk_count = count;
            chunk.page = 1 + words_before / types::WORDS_A_PRINTED_PAGE;
            words_before += piece.new_words();
            let text = chunk.embedded_text();
            let id = |occurrence: usize| {
                Uuid::new_v5(&document.id, format!("{text}\n{occurrence}").as_bytes())
            };
            let first = id(0);
            let occurrence = occurrences.entry(first).or_insert(0);
            chunk.chunk_id = if *occurrence == 0 {
                first
            } else {
                id(*occurrence)
            };
            *occurrence += 1;
            chunks.push(chunk);
        }
    }
    chunks
}

fn make_chunk(
    document: &Document,
    policy: &ChunkPolicy,
    section: &Section<'_>,
    section_type: SectionType,
    piece: &Piece<'_>,
    path: &HeadingPath,
) -> Chunk {
    let text = join_text(&piece.blocks);
    let token_count = piece.token_count;
    let enriched = token_count < policy.enrich_below_tokens;
    let leaves = leaves_of(document, piece, path.clone(), enriched);
    let (start_line, end_line) = lines_of(&piece.blocks);
    let mut place = path.clone();
    if let Some(level) = piece.blocks[0].heading_level() {
        place.enter(level, &piece.blocks[0]);
    }
    Chunk {
        chunk_id: Uuid::nil(),
        section: section.title().map(shortened_title),
        section_id: place.anchor(),
        heading_path: place.titles(),
        section_type,
        chunk_index: 0,
        chunk_count: 1,
        start_line,
        end_line,
        page: 1,
        word_count: text.split_whitespace().count(),
        has_code: piece.blocks.iter().any(|block| block.is_code()),
        has_equations: text.contains("$$") || has_inline_formula(&text),
        oversized: token_count > policy.flag_above_tokens,
        enriched,
        token_count,
        markdown: join_markdown(&piece.blocks),
        text,
        leaves,
    }
}

/// The leaf sections of a piece: one for each heading in it, and one for what stands before the first.
fn leaves_of(
    document: &Document,
    piece: &Piece<'_>,
    mut path: HeadingPath,
    enriched: bool,
) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    let mut from = 0;
    for at in 1..=piece.blocks.len() {
        let ends = at == piece.blocks.len() || piece.blocks[at].heading_level().is_some();
        if !ends {
            continue;
        }
        let blocks = &piece.blocks[from..at];
        if let Some(level) = blocks[0].heading_level() {
            path.enter(level, &blocks[0]);
        }
        from = at;
        // A heading with nothing below it is embedded with what follows: its words stand in the breadcrumb.
        let only_heading = blocks.len() == 1 && blocks[0].heading_level().is_some();
        if only_heading && at < piece.blocks.len() {
            continue;
        }
        let body = if blocks[0].heading_level().is_some() && !only_heading {
            &blocks[1..]
        } else {
            blocks
        };
        let (start_line, end_line) = lines_of(blocks);
        let (text, marks) = marked_text(&searched(body));
        leaves.push(Leaf {
            section_id: path.anchor(),
            heading_path: path.titles(),
            breadcrumb: breadcrumb(document, &path.titles(), enriched),
            text,
            marks,
            start_line,
            end_line,
        });
    }
    leaves
}

/// The blocks that are embedded: a list of the page's headings would answer for the sections it names. One that stands
/// alone is better than nothing.
fn searched<'a>(blocks: &'a [split::PieceBlock<'a>]) -> Vec<&'a Block> {
    let blocks = || blocks.iter().map(|block| &**block);
    let searched: Vec<&Block> = blocks()
        .filter(|block| block.kind != BlockKind::Contents)
        .collect();
    if searched.is_empty() {
        blocks().collect()
    } else {
        searched
    }
}

/// What stands before an embedded text: the page's title and the headings above; for short sections the module and chapter too.
fn breadcrumb(document: &Document, headings: &[String], enriched: bool) -> String {
    let mut parts: Vec<String> = Vec::new();
    if enriched {
        parts.extend(numbered(
            "Module",
            document.lesson.module_number,
            document.lesson.module.as_ref(),
        ));
        parts.extend(numbered(
            "Chapter",
            document.lesson.chapter_number,
            document.lesson.chapter.as_ref(),
        ));
    }
    parts.push(document.title.clone());
    parts.extend(
        headings
            .iter()
            .filter(|heading| **heading != document.title)
            .cloned(),
    );
    parts.join(BREADCRUMB_SEPARATOR)
}

fn numbered(name: &str, number: Option<i64>, title: Option<&String>) -> Option<String> {
    match (number, title) {
        (Some(number), Some(title)) => Some(format!("{name} {number}: {title}")),
        (Some(number), None) => Some(format!("{name} {number}")),
        (None, title) => title.cloned(),
    }
}

/// Joins blocks as a reader sees them: list items line by line, other blocks with a blank line between.
fn join_text<'a, B: std::borrow::Borrow<Block> + 'a>(blocks: &[B]) -> String {
    join(blocks, |block| block.shown_text().into_owned())
}

fn join_markdown(blocks: &[split::PieceBlock<'_>]) -> String {
    join(blocks, |block| block.markdown.clone())
}

fn join<'a, B: std::borrow::Borrow<Block> + 'a>(
    blocks: &'a [B],
    text_of: impl Fn(&'a Block) -> String,
) -> String {
    let mut joined = String::new();
    let mut previous = None;
    for block in blocks {
        let block = block.borrow();
        if let Some(previous) = previous {
            joined.push_str(separator(previous, block));
        }
        joined.push_str(&text_of(block));
        previous = Some(block);
    }
    joined
}

/// What stands between two blocks.
fn separator(first: &Block, second: &Block) -> &'static str {
    if first.kind == BlockKind::ListItem && second.kind == BlockKind::ListItem {
        "\n"
    } else {
        "\n\n"
    }
}

/// Joins blocks as they are embedded, and marks what each of them is.
fn marked_text(blocks: &[&Block]) -> (String, Vec<Mark>) {
    let mut text = String::new();
    let mut marks = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        if at > 0 {
            text.push_str(separator(blocks[at - 1], block));
        }
        let own = fenced_text(block);
        marks.extend(marks_of(block, &own).map(|mark| mark.after(text.len())));
        text.push_str(&own);
    }
    (text, marks)
}

/// The marks of a block, of which `text` is embedded.
fn marks_of(block: &Block, text: &str) -> impl Iterator<Item = Mark> {
    let mark = |kind, start, end| Mark { kind, start, end };
    let whole = |kind| vec![mark(kind, 0, text.len())];
    let blocks = match &block.kind {
        BlockKind::Code { title, .. } => {
            let title = title.as_ref().map_or(0, String::len);
            let fence = title + usize::from(title > 0);
            let title = (title > 0).then(|| mark(MarkKind::Paragraph, 0, title));
            let code = mark(MarkKind::Fence, fence, text.len());
            title.into_iter().chain([code]).collect()
        }
        BlockKind::Contents => {
            let lines = text.split_inclusive('\n').scan(0, |end, line| {
                let start = *end;
                *end += line.len();
                Some(mark(
                    MarkKind::ListItem,
                    start,
                    start + line.trim_end().len(),
                ))
            });
            lines.collect()
        }
        BlockKind::ListItem => whole(MarkKind::ListItem),
        BlockKind::Table => whole(MarkKind::Table),
        BlockKind::Heading { .. } | BlockKind::Paragraph => whole(MarkKind::Paragraph),
    };
    blocks.into_iter().chain(block.marks.iter().copied())
}

/// A block's text; code stands in a fence, so that whoever quotes it can keep it as code.
fn fenced_text(block: &Block) -> String {
    match &block.kind {
        BlockKind::Code { language, title } => {
            let fence = fence_of(&block.text);
            let title = title
                .as_ref()
                .map(|title| format!("{title}\n"))
                .unwrap_or_default();
            format!("{title}{fence}{language}\n{}\n{fence}", block.text)
        }
        _ => block.text.clone(),
    }
}

fn lines_of<B: std::borrow::Borrow<Block>>(blocks: &[B]) -> (u32, u32) {
    let lines = blocks.iter().map(|block| {
        let block = block.borrow();
        (block.start_line, block.end_line)
    });
    lines.fold((u32::MAX, 1), |(start, end), (first, last)| {
        (start.min(first), end.max(last))
    })
}

/// Whether a line holds `$…$` that is a formula rather than money or a shell variable.
fn has_inline_formula(text: &str) -> bool {
    text.contains('$')
        && text.lines().any(|line| {
            let parts: Vec<&str> = line.split('$').collect();
            parts.len() >= 3
                && parts.iter().skip(1).step_by(2).any(|formula| {
                    !formula.is_empty()
                        && !formula.starts_with(' ')
                        && !formula.ends_with(' ')
                        && formula.contains(['\\', '^', '_', '='])
                })
        })
}

impl Block {
    fn heading_level(&self) -> Option<u8> {
        match self.kind {
            BlockKind::Heading { level, .. } => Some(level),
            _ => None,
        }
    }

    fn is_code(&self) -> bool {
        matches!(self.kind, BlockKind::Code { .. })
    }
}

/// What a lesson's label is made of stands in [`Lesson`]; where a book has no lesson numbers it is chapter and section.
#[must_use]
pub fn citation_label(lesson: &Lesson, title: &str, section: Option<&str>) -> String {
    lesson.label().unwrap_or_else(|| {
        let chapter = lesson.chapter.as_deref().unwrap_or(title);
        let section = section.unwrap_or(title);
        format!("(Source: {chapter}, {section})")
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod hostile_tests;
