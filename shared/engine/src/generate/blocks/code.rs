//! Code blocks, and the pieces that long ones are cut into.

use std::ops::Range;

use super::{BlockKind, Code, QuotableBlock};

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
    let cut = cut_at_blank_lines(&lines);
    let pieces = cut.len();
    let block = |(piece, range): (usize, Range<usize>)| {
        let text = lines[range.clone()].join("\n");
        let mut opening = enclosing(lines[..range.start].iter().rev(), lines[range.start]);
        opening.reverse();
        let mut closing = enclosing(lines[range.end..].iter(), lines[range.end - 1]);
        closing.retain(|line| closes(line));
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
        }
    };
    cut.into_iter().enumerate().map(block).collect()
}

/// Cuts lines of code at blank lines, into pieces of at least [`PIECE_LINES`] lines that neither begin nor end with a blank one.
fn cut_at_blank_lines(lines: &[&str]) -> Vec<Range<usize>> {
    let is_blank = |at: usize| lines[at].trim().is_empty();
    let mut cut: Vec<Range<usize>> = Vec::new();
    for at in (0..lines.len()).filter(|at| !is_blank(*at)) {
        match cut.last_mut() {
            Some(piece) if at == piece.end || at - piece.start <= PIECE_LINES => piece.end = at + 1,
            _ => cut.push(at..at + 1),
        }
    }
    cut
}

/// Returns those of the lines that go away from a line of code which are indented less than all before them.
fn enclosing<'a>(away: impl Iterator<Item = &'a &'a str>, line: &str) -> Vec<&'a str> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut least = indentation(line);
    let mut lines = Vec::new();
    for line in away.filter(|line| !line.trim().is_empty()) {
        if indentation(line) < least {
            least = indentation(line);
            lines.push(*line);
        }
    }
    lines
}

/// True for a line that closes brackets or a tag.
fn closes(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with(['}', ')', ']']) || line.starts_with("</")
}
