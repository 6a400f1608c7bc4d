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
    let is_comment = |line: &str| COMMENTS.iter().any(|mark| line.starts_with(mark));
    let lines = lines
        .iter()
        .map(|line| (line.trim(), with_single_spaces(line)));
    let lines = lines
        .filter(|(line, _)| line.contains(char::is_alphanumeric) && !is_comment(line))
        .collect::<Vec<_>>();
    let has = |passage: &String, line: &str| passage.contains(line);
    let is_unknown = |line: &str| !passages.iter().any(|passage| has(passage, line));
    let unknown = lines.iter().filter(|(_, line)| is_unknown(line));
    let unknown: Vec<String> = unknown.map(|(line, _)| (*line).to_owned()).collect();
    if 2 * unknown.len() > lines.len() {
        return CodeSource::Elsewhere(unknown);
    }
    let held = |passage: &String| lines.iter().filter(|(_, line)| has(passage, line)).count();
    // On a tie, the passage ranked first wins.
    let best = (0..passages.len())
        .rev()
        .max_by_key(|at| held(&passages[*at]));
    match best {
        Some(at) if !lines.is_empty() => CodeSource::Passage(at + 1, unknown),
        _ => CodeSource::Unknown,
    }
}

fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
