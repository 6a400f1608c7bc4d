//! Whether code stands in passages.

/// What a line of a comment begins with.
const COMMENTS: [&str; 7] = ["//", "#", "/*", "*", "<!--", "--", ";"];

/// True if more than half of the lines of code stand in no passage, spaces, comments and lines of signs alone aside.
pub(super) fn is_elsewhere<'a>(lines: &[String], passages: impl Iterator<Item = &'a str>) -> bool {
    let passages: Vec<String> = passages.map(with_single_spaces).collect();
    let is_comment = |line: &String| COMMENTS.iter().any(|mark| line.starts_with(mark));
    let lines = lines.iter().map(|line| with_single_spaces(line));
    let lines = lines.filter(|line| line.contains(char::is_alphanumeric) && !is_comment(line));
    let (known, unknown): (Vec<String>, Vec<String>) = lines.partition(|line| {
        passages
            .iter()
            .any(|passage| passage.contains(line.as_str()))
    });
    unknown.len() > known.len()
}

fn with_single_spaces(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
