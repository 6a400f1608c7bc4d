//! The extractive answer: a contiguous quote of whole blocks from the section that ranks first.

mod brief;

use std::borrow::Cow;
use std::ops::Range;

pub(super) use brief::brief;

use super::blocks::{BlockKind, Code, QuotableBlock, blocks_of};
use super::similarity::{Similarities, raise};
use super::{Passage, Quote};
use crate::retrieve::PATH_SEPARATOR;
use book::{ListMarkers, fenced};

/// Sections up to this many words are quoted whole. Of 336 answers to questions of real users about eight sites 38 then end before their section, and
/// 5 have a mark for what is left out (with limits of 180, 180 and 300 words 98 and 29). They contain .621 of the needed strings (.606), and have 235
/// words on average (199).
pub(crate) const WHOLE_WORDS: usize = 400;
/// Quotes of longer sections aim at this length.
const TARGET_WORDS: usize = 300;
/// The most words of a quote. Blocks that belong together may be longer.
const MAX_WORDS: usize = 500;
/// The penalty for each unit of `|ln(words / TARGET_WORDS)|`.
const LENGTH_WEIGHT: f32 = 0.1;
/// The penalty for a quote that begins in the middle of a section, where text may point back to what is left out. With it 20 of 182 quotes about
/// eight sites leave out a beginning, without it 45; they contain as many of the strings that questions need (.625 and .619).
const START_WEIGHT: f32 = 0.1;
/// The fewest questions of a section that is a list of questions and answers.
const FEWEST_ENTRIES: usize = 2;
/// Longer lists are cut. Of 5,800 sections 15 have a list of half as many words, and cutting those loses answers.
const MAX_LIST_WORDS: usize = 400;
/// The most words of a section's first paragraph that is repeated before a later part.
const MAX_LEAD_WORDS: usize = 40;
/// Scores that differ by less are equal.
const TOLERANCE: f32 = 1e-6;

/// Marks where code was cut.
const CUT: &str = "…";

/// Quotes the first section with text, with the citation at the end. `continues` says that the section has more.
pub(super) fn answer(
    query: &str,
    passages: &[Passage<'_>],
    similarities: Option<&Similarities>,
    continues: &str,
) -> Vec<Quote> {
    let mut sections = passages.iter().map(|passage| (passage, blocks_of(passage)));
    let Some((passage, blocks)) = sections.find(|(_, blocks)| !blocks.is_empty()) else {
        return Vec::new();
    };
    let similarities = given_or_by_words(similarities, query, passage);
    let best = best_span(&blocks, &similarities);
    let (heading, span) = headed(passage, &blocks, without_loose_ends(&blocks, best));
    let chunk = &passage.candidate.chunk;
    let has_more = chunk.chunk_index + 1 < chunk.chunk_count
        || !blocks[span.end..].iter().all(QuotableBlock::is_heading);
    let mut shown = vec![heading];
    // A part of a section that could not be read whole.
    if chunk.chunk_index > 0 {
        shown.push(QuotableBlock::cut(CUT));
    }
    shown.extend(beginning(&blocks, span.start));
    let says_more = has_more && !continues.is_empty();
    let cuts_list = cuts_list(&blocks, span.end);
    add_span(&mut shown, &blocks, span);
    if cuts_list && !says_more {
        shown.push(QuotableBlock::cut(CUT));
    }
    let mut quotes = written(&shown);
    quotes.push(Quote::Text(if says_more {
        format!("\n\n*{continues}* ")
    } else {
        before_marker(shown.last()).to_owned()
    }));
    quotes.push(Quote::Citation(passage.n));
    quotes
}

/// Returns the first paragraph of whole sentences of a section, before code, lists, tables and subsections. Admonitions are left out.
pub(super) fn introduction(passage: &Passage<'_>) -> Option<QuotableBlock> {
    blocks_of(passage)
        .into_iter()
        .take_while(|block| !block.is_led() && !block.is_heading())
        .find(|block| block.is_prose() && !block.is_link() && !block.is_note())
}

/// Quotes a section's first paragraph, with the citation at the end.
pub(super) fn introduce(passage: &Passage<'_>) -> Vec<Quote> {
    let Some(paragraph) = introduction(passage) else {
        return Vec::new();
    };
    let heading = QuotableBlock::heading(&passage.candidate.name());
    let mut quotes = written(&[heading, paragraph.clone()]);
    quotes.push(Quote::Text(before_marker(Some(&paragraph)).to_owned()));
    quotes.push(Quote::Citation(passage.n));
    quotes
}

/// Returns the given similarities; without them, compares the passage with the question by words.
fn given_or_by_words<'a>(
    given: Option<&'a Similarities>,
    query: &str,
    passage: &Passage<'_>,
) -> Cow<'a, Similarities> {
    match given {
        Some(given) => Cow::Borrowed(given),
        None => Cow::Owned(Similarities::by_words(query, &passage.candidate.chunk)),
    }
}

fn words(blocks: &[QuotableBlock]) -> usize {
    blocks.iter().map(QuotableBlock::words).sum()
}

/// Returns the heading of a quote, `Page › Heading`, and the quote without the headings that it begins with.
fn headed(
    passage: &Passage<'_>,
    blocks: &[QuotableBlock],
    span: Range<usize>,
) -> (QuotableBlock, Range<usize>) {
    let start = span.clone().find(|at| !blocks[*at].is_heading());
    let start = start.unwrap_or(span.start);
    let mut name = passage.candidate.name();
    if let Some(below) = blocks[..start].iter().rfind(|block| block.is_heading()) {
        name = format!("{name}{PATH_SEPARATOR}{}", below.text.trim());
    }
    (QuotableBlock::heading(&name), start..span.end)
}

/// Returns what is shown above a quote that does not begin at its heading: the section's first paragraph, if it is short and has whole sentences, and
/// a mark for what is left out. Empty for an entry of a list of questions and answers.
fn beginning(blocks: &[QuotableBlock], start: usize) -> Vec<QuotableBlock> {
    // The paragraph that leads to a piece of code is quoted with it.
    let before = &blocks[..lead_of_piece(blocks, start).unwrap_or(start)];
    let has_heading = before.iter().any(QuotableBlock::is_heading);
    let begins_entry = blocks[start].asks() || summaries(blocks).contains(&start);
    if before.is_empty() || has_heading || begins_entry {
        return Vec::new();
    }
    let first = &before[0];
    let is_shown = first.is_prose() && first.words() <= MAX_LEAD_WORDS;
    let mut above: Vec<QuotableBlock> = is_shown.then(|| first.clone()).into_iter().collect();
    if before.len() > above.len() {
        above.push(QuotableBlock::cut(CUT));
    }
    above
}

/// Returns the entry of a list of questions and answers that covers most of the question's terms; `None` for other sections. The text before the
/// first question is an entry, too.
fn best_entry(blocks: &[QuotableBlock], similarities: &Similarities) -> Option<Range<usize>> {
    let asked = blocks.iter().filter(|block| block.asks()).count();
    let summaries = summaries(blocks);
    if asked.max(summaries.len()) < FEWEST_ENTRIES {
        return None;
    }
    let mut edges: Vec<usize> = (0..blocks.len())
        .filter(|at| summaries.contains(at) || begins_entry(blocks, *at))
        .collect();
    edges.push(blocks.len());
    if edges[0] > 0 {
        edges.insert(0, 0);
    }
    let (_, best) = edges
        .windows(2)
        .map(|edges| {
            let entry = blocks[edges[0]..edges[1]].iter();
            let texts: Vec<&str> = entry.map(|block| &*block.text).collect();
            (similarities.fit(&texts.join("\n")), edges[0]..edges[1])
        })
        // On a tie, the first entry wins.
        .rev()
        .max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (words(&blocks[best.clone()]) <= MAX_WORDS).then_some(best)
}

/// Returns the summaries of details, if there is nothing else from the first one on. Text after details may continue the text before them.
fn summaries(blocks: &[QuotableBlock]) -> Vec<usize> {
    let (summaries, others): (Vec<usize>, Vec<usize>) = (0..blocks.len()).partition(|at| {
        let next = blocks.get(at + 1);
        next.is_some_and(|next| blocks[*at].is_summary_of(next))
    });
    let first = summaries.first().copied().unwrap_or_default();
    let mut after = others.into_iter().filter(|at| *at > first);
    if after.all(|at| !blocks[at].labels.is_empty()) {
        summaries
    } else {
        Vec::new()
    }
}

/// True for a heading, and for a question unless a heading stands above it.
fn begins_entry(blocks: &[QuotableBlock], at: usize) -> bool {
    blocks[at].is_heading() || blocks[at].asks() && (at == 0 || !blocks[at - 1].is_heading())
}

/// Returns the blocks that cover most of the question's terms at about the target length.
fn best_span(blocks: &[QuotableBlock], similarities: &Similarities) -> Range<usize> {
    if let Some(entry) = best_entry(blocks, similarities) {
        return entry;
    }
    if words(blocks) <= WHOLE_WORDS {
        return 0..blocks.len();
    }
    let gains: Vec<Vec<f32>> = blocks
        .iter()
        .map(|block| similarities.gains(&block.text))
        .collect();
    let mut covered_by_all = vec![0.0; gains[0].len()];
    cover(&mut covered_by_all, &gains);
    let most = covered_by_all.iter().sum::<f32>().max(TOLERANCE);
    let edges = edges(blocks);
    let mut best = (0..blocks.len(), f32::NEG_INFINITY);
    for (at, &from) in edges.iter().enumerate() {
        let mut covered = vec![0.0; covered_by_all.len()];
        let mut length = 0;
        for group in edges[at..].windows(2).map(|edges| edges[0]..edges[1]) {
            length += words(&blocks[group.clone()]);
            if group.start > from && length > MAX_WORDS {
                break;
            }
            cover(&mut covered, &gains[group.clone()]);
            let span = from..group.end;
            if blocks[span.clone()].iter().all(QuotableBlock::is_diagram) {
                continue;
            }
            let score = covered.iter().sum::<f32>() / most
                - LENGTH_WEIGHT * distance(length)
                - start_penalty(blocks, from);
            // On a tie the earlier span wins, then the shorter one.
            if score > best.1 + TOLERANCE {
                best = (span, score);
            }
        }
    }
    best.0
}

/// Returns the places where a quote may begin or end, in order.
fn edges(blocks: &[QuotableBlock]) -> Vec<usize> {
    let cuts = list_cuts(blocks);
    let inner = (1..blocks.len())
        .filter(|at| cuts.contains(at) || !blocks[*at].belongs_to(&blocks[at - 1]));
    let edges = std::iter::once(0).chain(inner);
    edges.chain([blocks.len()]).collect()
}

/// Raises the coverage of each term to what the blocks contribute to it.
fn cover(covered: &mut [f32], gains: &[Vec<f32>]) {
    for gains in gains {
        raise(covered, gains);
    }
}

fn start_penalty(blocks: &[QuotableBlock], from: usize) -> f32 {
    if from == 0 || blocks[from].is_heading() {
        0.0
    } else {
        START_WEIGHT
    }
}

/// Returns the items at which a list of more than [`MAX_LIST_WORDS`] words may be cut.
fn list_cuts(blocks: &[QuotableBlock]) -> Vec<usize> {
    let mut cuts = Vec::new();
    let mut at = 0;
    for list in blocks.chunk_by(|before, block| before.is_item() && block.is_item()) {
        if words(list) > MAX_LIST_WORDS {
            let items = (at + 1..at + list.len()).filter(|item| blocks[*item].has_marker());
            cuts.extend(items);
        }
        at += list.len();
    }
    cuts
}

/// Returns how far a number of words is from the target: `|ln(words / TARGET_WORDS)|`.
fn distance(length: usize) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a page has few words")]
    let ratio = length.max(1) as f32 / TARGET_WORDS as f32;
    ratio.ln().abs()
}

/// Removes labels at both ends, and a heading or a colon at the end, if the text they belong to is not quoted.
fn without_loose_ends(blocks: &[QuotableBlock], span: Range<usize>) -> Range<usize> {
    let Range { mut start, mut end } = span;
    while end - start > 1 && blocks[start].is_label() && !blocks[start + 1].is_led() {
        start += 1;
    }
    while end - start > 1 && points_forward(&blocks[end - 1]) {
        end -= 1;
    }
    start..end
}

/// True for a block that says nothing without the text below it.
fn points_forward(block: &QuotableBlock) -> bool {
    block.is_heading() || block.ends_in_colon() || block.is_label()
}

/// Adds a span of a section to what stands above it, with the labels of the tabs around its beginning, and marks that it begins inside of a list.
fn add_span(above: &mut Vec<QuotableBlock>, section: &[QuotableBlock], span: Range<usize>) {
    let is_marked = above.last().is_some_and(|last| last.text == CUT);
    let lead = lead_of_piece(section, span.start).map(|at| &section[at]);
    above.extend(lead.unwrap_or(&section[span.start]).label_line());
    above.extend(lead.cloned());
    if cuts_list(section, span.start) && !is_marked {
        above.push(QuotableBlock::cut(CUT));
    }
    above.extend_from_slice(&section[span]);
}

/// True for a place between two items of a list.
fn cuts_list(section: &[QuotableBlock], at: usize) -> bool {
    at > 0 && at < section.len() && section[at - 1].is_item() && section[at].is_item()
}

/// Writes blocks as Markdown.
fn written(blocks: &[QuotableBlock]) -> Vec<Quote> {
    let mut quotes = Vec::new();
    let mut list = ListMarkers::default();
    let mut in_list = false;
    let runs = blocks.chunk_by(|before, block| block.continues(before));
    let runs: Vec<&[QuotableBlock]> = runs.collect();
    for (at, run) in runs.iter().enumerate() {
        let block = &run[0];
        let is_item = matches!(&block.kind, BlockKind::ListItem { marker } if !marker.is_empty());
        if !quotes.is_empty() {
            let separator = if is_item && in_list { "\n" } else { "\n\n" };
            quotes.push(Quote::Text(separator.to_owned()));
        }
        if !is_item {
            list = ListMarkers::default();
        }
        in_list = is_item;
        quotes.push(Quote::Text(match &block.kind {
            BlockKind::ListItem { marker } if is_item => list.place(marker) + &block.markdown,
            // The site renders the diagram; a quote would show its source.
            BlockKind::Code(_) if block.is_mermaid() => CUT.to_owned(),
            BlockKind::Code(code) => fenced_pieces(code, run),
            BlockKind::Heading if at > 0 => {
                format!("**{}**", block.markdown.trim_start_matches('#').trim())
            }
            BlockKind::Paragraph if is_title(block, runs.get(at + 1)) => {
                format!("**{}**", block.markdown)
            }
            _ => block.markdown.clone(),
        }));
    }
    quotes
}

/// Returns the separator before the marker. A marker in a table, or on a fence's line, would become part of it.
fn before_marker(last: Option<&QuotableBlock>) -> &'static str {
    let ends_in_text = last.is_some_and(|last| {
        let stands_alone = last.is_code() || last.kind == BlockKind::Table;
        !stands_alone && last.kind != BlockKind::Picture && !last.markdown.ends_with("$$")
    });
    if ends_in_text { " " } else { "\n\n" }
}

/// Returns the place of the paragraph before a code block, if the quote begins with a later piece of the code.
fn lead_of_piece(section: &[QuotableBlock], start: usize) -> Option<usize> {
    let BlockKind::Code(code) = &section[start].kind else {
        return None;
    };
    let lead = start.checked_sub(code.piece + 1)?;
    (code.piece > 0 && section[lead].kind == BlockKind::Paragraph).then_some(lead)
}

/// True for the label of the next block's tab, and for the title of the next block, unless that is code. A summary is bold already.
fn is_title(block: &QuotableBlock, next: Option<&&[QuotableBlock]>) -> bool {
    let Some(next) = next
        .map(|next| &next[0])
        .filter(|next| !block.is_summary_of(next))
    else {
        return false;
    };
    next.is_labelled_by(block) || block.is_title() && !next.is_code()
}

/// Writes adjacent pieces of one code block between the lines that enclose them, with a mark where code was cut.
fn fenced_pieces(code: &Code, run: &[QuotableBlock]) -> String {
    let before = (code.piece > 0).then_some(CUT);
    let after = (code.piece + run.len() < code.pieces).then_some(CUT);
    let closing = match run.last().map(|last| &last.kind) {
        Some(BlockKind::Code(last)) => &*last.closing,
        _ => "",
    };
    let pieces = run.iter().map(|piece| &*piece.markdown);
    let lines = std::iter::once(&*code.opening).chain(before);
    let lines = lines.chain(pieces).chain(after).chain([closing]);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    fenced(&lines.join("\n\n"), &code.language, &code.title)
}

#[cfg(test)]
mod tests;
