//! Finds code in the passages.

/// Prefixes of comment lines.
const COMMENTS: [&str; 7] = ["//", "#", "/*", "*", "<!--", "--", ";"];

/// The source of a code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CodeSource {
    /// The passage with this number has most of the block's lines.
    Passage(usize),
    /// No passage has most of the lines; holds the first line that none has.
    Elsewhere(String),
    /// The block has no lines to compare.
    Unknown,
}

/// Finds the passage of a code block. Spaces, comments and lines without letters or digits do not count.
pub(super) fn source<'a>(lines: &[String], passages: impl Iterator<Item = &'a str>) -> CodeSource {
    let passages: Vec<String> = passages.map(with_single_spaces).collect();
    let is_comment = |line: &String| COMMENTS.iter().any(|mark| line.starts_with(mark));
    let lines = lines.iter().map(|line| with_single_spaces(line));
    let lines = lines.filter(|line| line.contains(char::is_alphanumeric) && !is_comment(line));
    let lines: Vec<String> = lines.collect();
    let held = |passage: &String| {
        lines
            .iter()
            .filter(|line| passage.contains(&**line))
            .count()
    };
    let is_unknown = |line: &&String| !passages.iter().any(|passage| passage.contains(&***line));
    let unknown: Vec<&String> = lines.iter().filter(is_unknown).collect();
    if let Some(first) = unknown.first().filter(|_| 2 * unknown.len() > lines.len()) {
        return CodeSource::Elsewhere((*first).clone());
    }
    // On a tie, the passage ranked first wins.
    let best = (0..passages.len())
        .rev()
        .max_by_key(|at| held(&passages[*at]));
    match best {
        Some(at) if !lines.is_empty() => CodeSource::Passage(at + 1),
        _ => CodeSource::Unknown,
    }
}

fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
