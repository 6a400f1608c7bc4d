//! Splits documents into chunks: classifies sections, splits long ones, enriches short ones, counts tokens. Pure.

mod policy;

mod section;
mod split;
mod tokens;
mod types;
mod ledger;

use std::collections::HashMap;

use pulldown_cmark::{Event, Parser, Tag};
use uuid::Uuid;

use crate::block::{Block, BlockKind, Mark, MarkKind};
use crate::document::Document;
use crate::escape::fence_of;
use crate::placement::Placement;
use crate::titles::shortened_title;

pub use ledger::{LedgerEntry, ledger, ledger_of_markdown};
pub use policy::ChunkPolicy;
pub use section::SectionType;
pub use tokens::count_tokens;
pub use types::Chunk;

use section::classify;
pub(crate) use section::{Section, sections_of};
use split::{Part, pieces_of};

/// The version of the embedded text, part of an index's identity.
pub const EMBEDDED_TEXT_VERSION: u32 = 2;

const BREADCRUMB_SEPARATOR: &str = " › ";

/// Splits a document into chunks, in reading order. The same bytes and policy give the same chunks with the same ids.
#[must_use]
pub fn chunk_document(document: &Document, policy: &ChunkPolicy) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut occurrences: HashMap<Uuid, usize> = HashMap::new();
    let mut words_before = 0;
    let sections = sections_of(&document.blocks);
    let enriched = are_enriched(&sections, policy);
    for (section, enriched) in sections.iter().zip(enriched) {
        let pieces = pieces_of(section, policy);
        let place = SectionContext {
            document,
            section_type: classify(section),
            enriched,
            count: pieces.len(),
            section,
        };
        for (index, piece) in pieces.iter().enumerate() {
            let mut chunk = place.chunk(index, piece, policy);
            chunk.page = 1 + words_before / types::WORDS_A_PRINTED_PAGE;
            words_before += piece.new_words();
            let text = chunk.embedded_text();
            let first = chunk_id(document, &text, 0);
            let occurrence = occurrences.entry(first).or_insert(0);
            chunk.chunk_id = match *occurrence {
                0 => first,
                repeated => chunk_id(document, &text, repeated),
            };
            *occurrence += 1;
            chunks.push(chunk);
        }
    }
    chunks
}

fn chunk_id(document: &Document, text: &str, occurrence: usize) -> Uuid {
    Uuid::new_v5(&document.id, format!("{text}\n{occurrence}").as_bytes())
}

/// Returns, for each section, whether its chunks are enriched with module and chapter. Sections under the same heading of level 2 are
/// enriched if they are short together.
fn are_enriched(sections: &[Section<'_>], policy: &ChunkPolicy) -> Vec<bool> {
    sections
        .chunk_by(|_, next| next.level().is_some_and(|level| level > 2))
        .flat_map(|group| {
            let mut token_counts = group
                .iter()
                .flat_map(|section| section.heading.into_iter().chain(section.blocks))
                .map(|block| count_tokens(&block.text));
            // Counting stops once the limit is exceeded.
            let left = token_counts.try_fold(policy.enrich_below_tokens, usize::checked_sub);
            std::iter::repeat_n(left.is_some_and(|left| left > 0), group.len())
        })
        .collect()
}

struct SectionContext<'a> {
    document: &'a Document,
    section: &'a Section<'a>,
    section_type: SectionType,
    /// True if the section is short, so its chunks are embedded with module and chapter.
    enriched: bool,
    count: usize,
}

impl SectionContext<'_> {
    /// Returns the questions of the section. Each chunk of a long section has all of them.
    fn questions(&self) -> Vec<String> {
        let anchor = self.section.path.anchor().unwrap_or_default();
        let section = self.document.questions.get(&anchor);
        section.map_or_else(Vec::new, |section| section.questions.clone())
    }

    fn chunk(&self, index: usize, piece: &Part<'_>, policy: &ChunkPolicy) -> Chunk {
        let heading = self.section.heading.filter(|_| index == 0);
        let own: Vec<&Block> = piece.blocks.iter().map(|block| &**block).collect();
        // A heading without content is its own text.
        let body = match (own.as_slice(), self.section.heading) {
            ([], Some(heading)) => vec![heading],
            _ => searched(own.clone()),
        };
        let (text, marks) = marked_text(&body);
        let (start_line, end_line) = lines_of(heading.into_iter().chain(own.iter().copied()));
        let token_count = count_tokens(&text);
        let titles = self.section.path.titles();
        Chunk {
            chunk_id: Uuid::nil(),
            section: self
                .section
                .heading
                .map(|heading| shortened_title(&heading.text)),
            section_id: self.section.path.anchor(),
            questions: self.questions(),
            breadcrumb: breadcrumb(self.document, &titles, self.enriched),
            heading_path: titles,
            links: links_of(heading.into_iter().chain(own.iter().copied())),
            section_type: self.section_type,
            chunk_index: index,
            chunk_count: self.count,
            start_line,
            end_line,
            page: 1,
            word_count: text.split_whitespace().count(),
            has_code: own.iter().any(|block| block.is_code()),
            has_equations: text.contains("$$") || has_inline_formula(&text),
            oversized: token_count > policy.flag_above_tokens,
            enriched: self.enriched,
            token_count,
            text,
            marks,
        }
    }
}

/// Returns the blocks to embed. A list of the page's headings is left out, because it would match questions about the sections it names; it stays if
/// there is nothing else.
fn searched(blocks: Vec<&Block>) -> Vec<&Block> {
    let searched: Vec<&Block> = blocks
        .iter()
        .copied()
        .filter(|block| block.kind != BlockKind::Contents)
        .collect();
    if searched.is_empty() {
        blocks
    } else {
        searched
    }
}

/// Returns the text embedded before a chunk: the page's title and the headings above; for short sections, module and chapter too.
fn breadcrumb(document: &Document, headings: &[String], enriched: bool) -> String {
    let mut parts = if enriched {
        document.placement.titles()
    } else {
        Vec::new()
    };
    parts.push(document.title.clone());
    parts.extend(
        headings
            .iter()
            .filter(|heading| **heading != document.title)
            .cloned(),
    );
    parts.join(BREADCRUMB_SEPARATOR)
}

fn separator(first: &Block, second: &Block) -> &'static str {
    if first.kind == BlockKind::ListItem && second.kind == BlockKind::ListItem {
        "\n"
    } else {
        "\n\n"
    }
}

/// Joins blocks for embedding. Returns the text with the marks of its blocks.
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

/// Returns the marks of a block whose embedded text is `text`.
fn marks_of(block: &Block, text: &str) -> impl Iterator<Item = Mark> {
    let blocks = match &block.kind {
        BlockKind::Code { title, .. } => code_marks(title.as_deref(), text.len()),
        BlockKind::Contents => item_marks(text),
        BlockKind::ListItem => vec![Mark::from((MarkKind::ListItem, 0, text.len()))],
        BlockKind::Table => vec![Mark::from((MarkKind::Table, 0, text.len()))],
        BlockKind::Heading { .. } | BlockKind::Paragraph => {
            vec![Mark::from((MarkKind::Paragraph, 0, text.len()))]
        }
    };
    let panels = block.panels.iter();
    let panels = panels.map(|label| Mark::from((MarkKind::Panel(label.clone()), 0, text.len())));
    blocks
        .into_iter()
        .chain(panels)
        .chain(block.marks.iter().cloned())
}

fn code_marks(title: Option<&str>, length: usize) -> Vec<Mark> {
    match title.map_or(0, str::len) {
        0 => vec![Mark::from((MarkKind::Fence, 0, length))],
        title => vec![
            Mark::from((MarkKind::Paragraph, 0, title)),
            Mark::from((MarkKind::Fence, title + 1, length)),
        ],
    }
}

/// Marks each line as a list item.
fn item_marks(text: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        marks.push(Mark::from((MarkKind::ListItem, start, end)));
        start += line.len();
    }
    marks
}

/// Returns a block's text. Code is fenced, so that quotes can preserve it as code.
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

fn lines_of<'a>(blocks: impl Iterator<Item = &'a Block>) -> (u32, u32) {
    blocks.fold((u32::MAX, 1), |(start, end), block| {
        (start.min(block.start_line), end.max(block.end_line))
    })
}

fn links_of<'a>(blocks: impl Iterator<Item = &'a Block>) -> Vec<String> {
    let mut links: Vec<String> = Vec::new();
    for block in blocks {
        let in_markdown = Parser::new(&block.markdown).filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                Some(dest_url.into_string())
            }
            _ => None,
        });
        // Links in HTML and JSX, and bare addresses.
        let words = block
            .markdown
            .split(|c: char| c.is_whitespace() || "<>\"'`()[]{}|".contains(c))
            .filter(|word| word.contains("://") || word.contains('@') || word.starts_with('/'))
            .map(str::to_owned);
        for link in in_markdown.chain(words) {
            if !link.is_empty() && !links.contains(&link) {
                links.push(link);
            }
        }
    }
    links
}

/// True if a line contains `$…$` that is a formula, not money or a shell variable.
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

/// Returns [`Placement::label`], or a label of chapter and section if the book has no lesson numbers.
#[must_use]
pub fn citation_label(placement: &Placement, title: &str, section: Option<&str>) -> String {
    placement.label().unwrap_or_else(|| {
        let chapter = placement.chapter.as_deref().unwrap_or(title);
        let section = section.unwrap_or(title);
        format!("(Source: {chapter}, {section})")
    })
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod hostile_tests;
