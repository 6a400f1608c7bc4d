//! Numbers of lines that a page shows beside code.

use std::ops::Range;

use html5gum::Token;

use crate::webpage::{Start, attribute, has_word, tokens};

/// Parts of the classes of elements with the number of a line, such as `lineno`, `ln` and `rouge-gutter`.
const OF_NUMBERS: [&str; 3] = ["lin", "ln", "gutter"];

/// The number of a line of code.
pub(super) struct LineNumber {
    /// Its place in the code.
    pub(super) range: Range<usize>,
    /// The offsets of its source.
    pub(super) source: Range<usize>,
}

/// True for an element that may hold the number of a line of code. Hugo gives it a style if its elements have no classes.
pub(super) fn may_be_number(tag: &Start) -> bool {
    let classes = attribute(tag, "class").unwrap_or_default();
    let style = attribute(tag, "style").unwrap_or_default();
    OF_NUMBERS.iter().any(|part| classes.contains(part)) || style.contains("user-select")
}

/// True for an element of Doxygen with a line of code.
pub(super) fn is_line(tag: &Start) -> bool {
    **tag.name == *b"div" && has_word(tag, "class", "line")
}

/// True for Doxygen's code, which has an element for each line; `content` follows its start tag.
pub(super) fn is_in_lines(tag: &Start, content: &str) -> bool {
    if **tag.name != *b"div" || !has_word(tag, "class", "fragment") {
        return false;
    }
    let mut tokens = tokens(content).filter_map(|Ok(token)| match token {
        Token::String(text) if text.trim_ascii().is_empty() => None,
        Token::Error(_) => None,
        token => Some(token),
    });
    matches!(tokens.next(), Some(Token::StartTag(first)) if is_line(&first))
}

/// True for a table of two cells, one with numbers and one with code; `content` follows its start tag. A row with a title may precede them.
pub(super) fn is_listing(content: &str) -> bool {
    let (mut in_numbers, mut has_pre, mut has_digits, mut is_over) = (false, false, false, false);
    for Ok(token) in tokens(content) {
        match token {
            Token::StartTag(tag) => match tag.name.as_slice() {
                b"table" => return false,
                b"pre" | b"code" if is_over => return true,
                b"pre" if in_numbers => has_pre = true,
                b"pre" => return false,
                b"td" if in_numbers => return false,
                b"td" if !is_over => in_numbers = true,
                _ => {}
            },
            Token::EndTag(tag) => match tag.name.as_slice() {
                b"td" if in_numbers && has_pre && has_digits => {
                    (in_numbers, is_over) = (false, true);
                }
                b"td" | b"table" => return false,
                _ => {}
            },
            Token::String(text) if in_numbers || is_over => {
                let shown = text.trim_ascii();
                if !(shown.is_empty() || (in_numbers && is_number(shown))) {
                    return false;
                }
                has_digits |= text.iter().any(u8::is_ascii_digit);
            }
            _ => {}
        }
    }
    false
}

/// True for digits with white space between them.
fn is_number(text: &[u8]) -> bool {
    text.iter()
        .all(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace())
}

/// Returns the ends of the lines of code. A line that only the element of a number ends continues after the number.
fn line_ends(code: &str, numbers: &[Range<usize>]) -> impl Iterator<Item = usize> {
    let ends = code.match_indices('\n').map(|(at, end)| at + end.len());
    let of_lines = ends.filter(|end| {
        let next = numbers.partition_point(|number| number.start < *end);
        next == 0 || numbers[next - 1].end < *end
    });
    of_lines.chain([code.len()])
}

/// Returns code without the numbers of its lines, if each line begins with one and they count up; else they are code. A space that then begins each line
/// belongs to them.
pub(super) fn without_numbers(code: &str, numbers: &[LineNumber]) -> Option<String> {
    // White space at the end of the code was removed.
    let numbers: Vec<Range<usize>> = numbers
        .iter()
        .map(|number| &number.range)
        .filter(|range| range.start < code.len())
        .map(|range| range.start..range.end.min(code.len()))
        .collect();
    let values: Vec<Option<u64>> = numbers
        .iter()
        .map(|range| code[range.clone()].trim().parse().ok())
        .collect();
    let count_up = values.is_sorted_by(|one, next| one < next) && !values.contains(&None);
    let mut starts = numbers.iter().map(|range| range.start).peekable();
    let mut from = 0;
    let all_lines = line_ends(code, &numbers).all(|end| {
        let line = &code[from..end];
        from = end;
        line.trim().is_empty() || starts.next_if(|start| *start < end).is_some()
    });
    if numbers.is_empty() || !all_lines || !count_up {
        return None;
    }
    let mut left = String::with_capacity(code.len());
    let mut from = 0;
    for range in &numbers {
        left.push_str(&code[from..range.start]);
        from = range.end;
    }
    left.push_str(&code[from..]);
    if left.trim().is_empty() {
        return None;
    }
    let are_indented = left
        .lines()
        .all(|line| line.is_empty() || line.starts_with(' '));
    if !are_indented {
        return Some(left);
    }
    let lines: Vec<&str> = left
        .lines()
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    Some(lines.join("\n"))
}
