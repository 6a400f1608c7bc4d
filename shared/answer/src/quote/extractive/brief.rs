//! The part of a section that fits the question best: one block, with what it leads to or follows from.

use std::ops::Range;

use super::super::Passage;
use super::super::blocks::{BlockKind, QuotableBlock, blocks_of};
use super::super::similarity::Similarities;
use super::{TOLERANCE, given_or_by_words};

/// The most lines of code, and rows of a table, in a brief quote.
const BRIEF_LINES: usize = 15;

/// Returns the block of a section that fits the question best, with the sentence that leads to it or the code that it leads to, as plain text; empty
/// if the section has no text of its own.
pub(in crate::quote) fn brief(
    query: &str,
    passage: &Passage<'_>,
    similarities: Option<&Similarities>,
) -> String {
    let blocks = blocks_of(passage);
    let similarities = given_or_by_words(similarities, query, passage);
    let span = brief_span(&blocks, &similarities);
    if span.is_empty() {
        return String::new();
    }
    let label = blocks[span.start].label_line();
    let label = label.map(|label| format!("{}:", label.text)).into_iter();
    let texts = blocks[span]
        .iter()
        .map(|block| block.brief(BRIEF_LINES, |row| similarities.fit(row)));
    label.chain(texts).collect::<Vec<_>>().join(" ")
}

/// Returns the block that fits best, with a neighbour that it needs: prose if any has something of the question, because code says little on one
/// line. Empty if the section has no text of its own.
fn brief_span(blocks: &[QuotableBlock], similarities: &Similarities) -> Range<usize> {
    if leads_away(blocks) {
        return 0..0;
    }
    let says = |at: &usize| says_something(&blocks[*at]);
    let prose = (0..blocks.len()).filter(|at| says(at) && !blocks[*at].is_code());
    let any = (0..blocks.len()).filter(says);
    let best = best_fit(prose, blocks, similarities)
        .filter(|best| similarities.fit(&blocks[*best].text) > TOLERANCE);
    let Some(best) = best.or_else(|| best_fit(any, blocks, similarities)) else {
        return 0..0;
    };
    let before = best.checked_sub(1).map(|at| &blocks[at]);
    if before.is_some_and(|lead| lead.kind == BlockKind::Paragraph && leads_to(lead, &blocks[best]))
    {
        return best - 1..best + 1;
    }
    let needs_next = blocks.get(best + 1).is_some_and(|next| {
        (leads_to(&blocks[best], next) || blocks[best].asks()) && is_short(next)
    });
    best..best + 1 + usize::from(needs_next)
}

/// Returns the place of the block that fits best; on a tie, the first.
fn best_fit(
    places: impl DoubleEndedIterator<Item = usize>,
    blocks: &[QuotableBlock],
    similarities: &Similarities,
) -> Option<usize> {
    let fits = places.map(|at| (similarities.fit(&blocks[at].text), at));
    let best = fits
        .rev()
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    best.map(|(_, at)| at)
}

/// True for a block that can be quoted alone.
fn says_something(block: &QuotableBlock) -> bool {
    let shows = !matches!(block.kind, BlockKind::Heading | BlockKind::Picture);
    shows && !block.is_label() && !block.is_diagram() && is_short(block)
}

fn is_short(block: &QuotableBlock) -> bool {
    !block.is_code() || block.lines() <= BRIEF_LINES
}

fn leads_to(block: &QuotableBlock, next: &QuotableBlock) -> bool {
    block.leads() && next.is_led()
}

/// True if a section is only a link, perhaps with a sentence that leads to it, or only pictures.
fn leads_away(blocks: &[QuotableBlock]) -> bool {
    match blocks {
        [only] if only.is_link() => true,
        [lead, link] if lead.ends_in_colon() && link.is_link() => true,
        blocks => blocks
            .iter()
            .all(|block| block.kind == BlockKind::Picture || block.is_label()),
    }
}
