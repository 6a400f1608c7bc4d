//! Assembles the text of a page or a section from its chunks. Pure.

use std::ops::Range;

use answer::generate::readable;
use book::{Block, BlockKind, Mark, MarkKind, Nesting, page_markdown};
use store::catalog::JoinedChunk;
use store::index::ChunkPayload;
use text::invisible::visible;

/// The most number signs of a heading.
const MAX_LEVEL: usize = 6;

/// Writes consecutive chunks of a page as Markdown, with anchors after the headings: `## Signs of frost {#signs-of-frost}`. Text that is invisible on
/// the site is left out.
pub(super) fn markdown(chunks: &[JoinedChunk]) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (place, chunk) in chunks.iter().enumerate() {
        let chunk = &chunk.payload;
        if (place == 0 || chunk.chunk_index == 0)
            && let Some(heading) = heading(chunk)
        {
            parts.push(heading);
        }
        if !is_bare(chunk) {
            parts.push(without_links(chunk));
        }
    }
    visible(&parts.join("\n\n"))
}

/// Writes a chunk's text as Markdown without link targets, because a target that no reader sees may lead away from the book.
pub(super) fn without_links(chunk: &ChunkPayload) -> String {
    let text = chunk.text.as_str();
    let marks = chunk.marks.iter();
    let marks = marks.filter(|mark| !matches!(mark.kind, MarkKind::Link(_)));
    let marks: Vec<Mark> = marks.cloned().collect();
    let (mut written, mut at) = (String::new(), 0);
    for mark in marks.iter().filter(|mark| mark.kind == MarkKind::Table) {
        if mark.start >= at
            && let Some(shown) = text.get(mark.range())
            && shown.contains('\n')
        {
            written.push_str(&part(text, &marks, at..mark.start));
            written.push_str(&table(shown, &marks, &mark.range()));
            at = mark.end;
        }
    }
    written + &part(text, &marks, at..text.len())
}

fn part(text: &str, marks: &[Mark], stretch: Range<usize>) -> String {
    let marks: Vec<Mark> = marks.iter().filter_map(|it| it.within(&stretch)).collect();
    readable(&text[stretch], &marks)
}

/// Writes a table as in exported pages, so that a pipe in a cell does not end it.
fn table(text: &str, marks: &[Mark], stretch: &Range<usize>) -> String {
    let kept = marks
        .iter()
        .filter(|mark| matches!(mark.kind, MarkKind::Code | MarkKind::Formula));
    let block = Block {
        kind: BlockKind::Table,
        text: text.to_owned(),
        marks: kept.filter_map(|mark| mark.within(stretch)).collect(),
        markdown: String::new(),
        start_line: 0,
        end_line: 0,
        nesting: Nesting::default(),
        panels: Vec::new(),
    };
    page_markdown(&[block]).trim_end().to_owned()
}

/// Returns the level of a chunk's heading; the page's title has level 1.
pub(super) fn level(chunk: &ChunkPayload) -> usize {
    let is_below_title = chunk.heading_path.first() == Some(&chunk.title);
    let depth = chunk.heading_path.len() + usize::from(!is_below_title);
    depth.clamp(1, MAX_LEVEL)
}

/// Returns the heading of a chunk; `None` above the first heading.
pub(super) fn section_title(chunk: &ChunkPayload) -> Option<&str> {
    chunk.heading_path.last().map(String::as_str)
}

fn heading(chunk: &ChunkPayload) -> Option<String> {
    let title = section_title(chunk)?.replace('\n', " ");
    let signs = "#".repeat(level(chunk));
    Some(match &chunk.section_id {
        Some(anchor) => format!("{signs} {title} {{#{anchor}}}"),
        None => format!("{signs} {title}"),
    })
}

/// True for a heading without text below it.
fn is_bare(chunk: &ChunkPayload) -> bool {
    section_title(chunk).is_some_and(|title| chunk.text.trim() == title.trim())
}

/// Returns the chunks of a section and its subsections.
pub(super) fn of_section<'a>(chunks: &'a [JoinedChunk], anchor: &str) -> &'a [JoinedChunk] {
    let Some(start) = chunks.iter().position(|chunk| has_anchor(chunk, anchor)) else {
        return &[];
    };
    let section = &chunks[start..];
    let path = &section[0].payload.heading_path;
    let length = section
        .iter()
        .take_while(|chunk| has_anchor(chunk, anchor) || is_below(chunk, path))
        .count();
    &section[..length]
}

fn has_anchor(chunk: &JoinedChunk, anchor: &str) -> bool {
    chunk.payload.section_id.as_deref() == Some(anchor)
}

fn is_below(chunk: &JoinedChunk, path: &[String]) -> bool {
    let own = &chunk.payload.heading_path;
    own.len() > path.len() && own.starts_with(path)
}
