//! Finds code in the passages.

/// Prefixes of comment lines.
const COMMENTS: [&str; 7] = ["//", "#", "/*", "*", "<!--", "--", ";"];

/// The source of a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSource {
    /// The passage with this number has most of the block's lines; with the lines that no passage has.
    Passage(usize, Vec<String>),
    /// No passage has most of the lines; holds those that none has, at least one.
    Elsewhere(Vec<String>),
    /// The block has no lines to compare.
    Unknown,
}

/// Finds the passage of a code block. Spaces, comments and lines without letters or digits do not count.
pub(super) fn source<'a>(lines: &[String], passages: impl Iterator<Item = &'a str>) -> CodeSource {
    let passages: Vec<String> = passages.map(with_single_spaces).collect();
    let lines: Vec<(&str, String)> = lines
        .iter()
        .map(|line| line.trim())
        .filter(|line| line.contains(char::is_alphanumeric) && !is_comment(line))
        .map(|line| (line, with_single_spaces(line)))
        .collect();
    let unknown: Vec<String> = lines
        .iter()
        .filter(|(_, line)| !passages.iter().any(|passage| passage.contains(line)))
        .map(|(line, _)| (*line).to_owned())
        .collect();
    if 2 * unknown.len() > lines.len() {
        return CodeSource::Elsewhere(unknown);
    }
    // On a tie, the passage ranked first wins.
    let best = (0..passages.len()).rev().max_by_key(|at| {
        let held = lines
            .iter()
            .filter(|(_, line)| passages[*at].contains(line));
        held.count()
    });
    match best {
        Some(at) if !lines.is_empty() => CodeSource::Passage(at + 1, unknown),
        _ => CodeSource::Unknown,
    }
}

fn is_comment(line: &str) -> bool {
    COMMENTS.iter().any(|mark| line.starts_with(mark))
}

fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
