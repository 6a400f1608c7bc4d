//! Code blocks, and the pieces that long ones are cut into.

use std::ops::Range;

use super::{BlockKind, Code, QuotableBlock};
use text::split;

/// Code with more words is split at blank lines.
const LONG_CODE_WORDS: usize = 200;
/// The fewest lines of a piece of code.
pub(super) const PIECE_LINES: usize = 8;

/// Reads a code block, including its fences.
pub(super) fn code(text: &str) -> QuotableBlock {
    let (opening, rest) = text.split_once('\n').unwrap_or((text, ""));
    let language = opening.trim_start_matches('`');
    let fence = &opening[..opening.len() - language.len()];
    let code = rest.strip_suffix(fence).unwrap_or(rest);
    QuotableBlock {
        kind: BlockKind::Code(Code {
            language: language.to_owned(),
            title: String::new(),
            piece: 0,
            pieces: 1,
            opening: String::new(),
            closing: String::new(),
        }),
        text: format!("{opening}\n{code}"),
        markdown: code.strip_suffix('\n').unwrap_or(code).to_owned(),
        labels: Vec::new(),
    }
}

/// Splits long code at blank lines.
pub(super) fn pieces(block: QuotableBlock) -> Vec<QuotableBlock> {
    let BlockKind::Code(code) = &block.kind else {
        return vec![block];
    };
    if block.words() <= LONG_CODE_WORDS {
        return vec![block];
    }
    let lines: Vec<&str> = block.markdown.lines().collect();
    let cut = cut(&lines);
    let pieces = cut.len();
    let blocks = cut.into_iter().enumerate().map(|(piece, range)| {
        let text = lines[range.clone()].join("\n");
        let opening = opening(&lines[..range.start], lines[range.start]);
        let closing = closing(&lines[range.end..], lines[range.end - 1]);
        QuotableBlock {
            kind: BlockKind::Code(Code {
                piece,
                pieces,
                opening: opening.join("\n"),
                closing: closing.join("\n"),
                ..code.clone()
            }),
            text: text.clone(),
            markdown: text,
            labels: block.labels.clone(),
        }
    });
    blocks.collect()
}

/// Cuts lines of code at the blank lines before its outermost statements; statements that are long themselves, at all blank lines.
fn cut(lines: &[&str]) -> Vec<Range<usize>> {
    let outermost = lines.iter().filter(|line| !line.trim().is_empty());
    let outermost = outermost.map(|line| indentation(line)).min().unwrap_or(0);
    let mut pieces = Vec::new();
    for piece in cut_at_blank_lines(lines, 0..lines.len(), outermost) {
        let words: usize = lines[piece.clone()]
            .iter()
            .map(|line| split(line).count())
            .sum();
        if words > LONG_CODE_WORDS {
            pieces.extend(cut_at_blank_lines(lines, piece, usize::MAX));
        } else {
            pieces.push(piece);
        }
    }
    pieces
}

/// Cuts a range of lines at the blank lines before lines that are indented at most this much, into pieces of at least [`PIECE_LINES`] lines that
/// neither begin nor end with a blank one.
fn cut_at_blank_lines(lines: &[&str], range: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let mut cut: Vec<Range<usize>> = Vec::new();
    for at in range.filter(|at| !lines[*at].trim().is_empty()) {
        let is_inner = indentation(lines[at]) > most || closes(lines[at]);
        match cut.last_mut() {
            Some(piece) if at == piece.end || at - piece.start <= PIECE_LINES || is_inner => {
                piece.end = at + 1;
            }
            _ => cut.push(at..at + 1),
        }
    }
    cut
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Returns the lines before a line of code that open the blocks around it. A line that closes a bracket, such as the end of a long signature, is
/// returned with the lines since the bracket was opened.
fn opening<'a>(before: &[&'a str], line: &str) -> Vec<&'a str> {
    let mut least = indentation(line);
    let mut closed = false;
    let mut lines = Vec::new();
    for line in before.iter().rev().filter(|line| !line.trim().is_empty()) {
        let opens = indentation(line) < least;
        if opens || closed {
            lines.push(*line);
        }
        if opens || indentation(line) <= least {
            closed = closes(line) && (opens || closed);
            least = least.min(indentation(line));
        }
    }
    lines.reverse();
    lines
}

/// Returns the lines after a line of code that close the blocks around it.
fn closing<'a>(after: &[&'a str], line: &str) -> Vec<&'a str> {
    let mut least = indentation(line);
    let mut lines = Vec::new();
    for line in after.iter().filter(|line| !line.trim().is_empty()) {
        if indentation(line) < least {
            least = indentation(line);
            lines.push(*line);
        }
    }
    lines.retain(|line| closes(line));
    lines
}

/// True for a line that closes brackets or a tag.
fn closes(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['}', ')', ']']) || line.starts_with("</")
}
