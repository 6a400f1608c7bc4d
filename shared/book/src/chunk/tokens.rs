//! Counts cl100k tokens like `tiktoken`, but encodes each distinct piece of text once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// Matches the pieces that cl100k encodes separately. `tiktoken`'s pattern ends in `\s+(?!\S)|\s+`, which needs lookahead. Here a
/// run of spaces matches as a whole, and [`piece_end`] gives its last character back to the following word.
static PIECE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+",
    )
    .expect("the pattern is a constant")
});

/// Longer pieces are counted in parts of this size, because merging byte pairs takes quadratic time.
const MAX_PIECE_BYTES: usize = 1_024;
/// Pieces up to this size are cached; longer ones rarely recur.
const MAX_REMEMBERED_BYTES: usize = 32;
/// Cached pieces per thread: a few MiB.
const MAX_REMEMBERED: usize = 1 << 16;

thread_local! {
    static REMEMBERED: RefCell<HashMap<Box<str>, u32>> = RefCell::new(HashMap::new());
}

/// Returns the number of cl100k tokens in a text, the unit of all chunk sizes.
///
/// A single piece of more than 1,024 bytes is counted in parts, so that the time stays linear.
#[must_use]
pub fn count_tokens(text: &str) -> usize {
    REMEMBERED.with_borrow_mut(|remembered| {
        let mut count = 0;
        let mut from = 0;
        while from < text.len() {
            let end = piece_end(text, from);
            count += count_piece(&text[from..end], remembered);
            from = end;
        }
        count
    })
}

/// Returns the end of the piece that begins at `from`. Any character can begin a piece.
fn piece_end(text: &str, from: usize) -> usize {
    if let Some(length) = ascii_piece(&text.as_bytes()[from..]) {
        return from + length;
    }
    let end = PIECE
        .find_at(text, from)
        .map_or(text.len(), |found| found.end());
    let piece = &text[from..end];
    let mut spaces = piece.chars().rev();
    let last = spaces
        .next()
        .filter(|c| c.is_whitespace() && !matches!(c, '\r' | '\n'));
    match last {
        // The last of several spaces belongs to the following word.
        Some(last) if end < text.len() && end - from > last.len_utf8() => end - last.len_utf8(),
        _ => end,
    }
}

/// Returns the length of the first piece of a text according to [`PIECE`]; `None` if a non-ASCII character decides. Most text is ASCII, and this path
/// is ten times as fast.
fn ascii_piece(text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let second = text.get(1).copied();
    if !first.is_ascii() || second.is_some_and(|byte| !byte.is_ascii()) {
        return None;
    }
    if let Some(length) = contraction(text) {
        return Some(length);
    }
    if first.is_ascii_alphabetic() {
        return run_end(text, 0, |byte| byte.is_ascii_alphabetic());
    }
    if first.is_ascii_digit() {
        let digits = run_end(text, 0, |byte| byte.is_ascii_digit())?;
        return Some(digits.min(3));
    }
    if !is_line_end(first) && second.is_some_and(|byte| byte.is_ascii_alphabetic()) {
        return run_end(text, 1, |byte| byte.is_ascii_alphabetic());
    }
    let marks = usize::from(first == b' ');
    if text.get(marks).is_some_and(|byte| is_mark(*byte)) {
        let end = run_end(text, marks, is_mark)?;
        return run_end(text, end, is_line_end);
    }
    let spaces = run_end(text, 0, is_space)?;
    let line_end = text[..spaces].iter().rposition(|byte| is_line_end(*byte));
    Some(match line_end {
        Some(at) => at + 1,
        // The last of several spaces belongs to the following word.
        None if spaces < text.len() && spaces > 1 => spaces - 1,
        None => spaces,
    })
}

/// Returns the length of the ending of a contraction at the start of a text: `'s`, `'ll`.
fn contraction(text: &[u8]) -> Option<usize> {
    match text.strip_prefix(b"'")? {
        [b's' | b'S' | b't' | b'T' | b'm' | b'M' | b'd' | b'D', ..] => Some(2),
        [b'r' | b'R' | b'v' | b'V', b'e' | b'E', ..] | [b'l' | b'L', b'l' | b'L', ..] => Some(3),
        _ => None,
    }
}

/// Returns the end of a run of such bytes that begins at `from`; `None` if a non-ASCII character follows it.
fn run_end(text: &[u8], from: usize, holds: impl Fn(u8) -> bool) -> Option<usize> {
    let length = text[from..].iter().take_while(|byte| holds(**byte)).count();
    let end = from + length;
    text.get(end).is_none_or(u8::is_ascii).then_some(end)
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n')
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn is_mark(byte: u8) -> bool {
    byte.is_ascii() && !byte.is_ascii_alphanumeric() && !is_space(byte)
}

fn count_piece(piece: &str, remembered: &mut HashMap<Box<str>, u32>) -> usize {
    if piece.len() > MAX_REMEMBERED_BYTES {
        return parts(piece).map(encoded_length).sum();
    }
    if let Some(count) = remembered.get(piece) {
        return *count as usize;
    }
    let count = encoded_length(piece);
    if remembered.len() < MAX_REMEMBERED {
        remembered.insert(piece.into(), u32::try_from(count).unwrap_or(u32::MAX));
    }
    count
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut length = rest.len().min(MAX_PIECE_BYTES);
        while !rest.is_char_boundary(length) {
            length -= 1;
        }
        let (part, after) = rest.split_at(length);
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

fn encoded_length(piece: &str) -> usize {
    tiktoken_rs::cl100k_base_singleton()
        .encode_ordinary(piece)
        .len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn pieces_are_those_of_tiktoken(text in any_text()) {
            prop_assert_eq!(count_tokens(&text), encoded_length(&text));
        }
    }

    /// Words, numbers, spaces, punctuation and letters of several scripts, in any order.
    fn any_text() -> impl Strategy<Value = String> {
        "([a-zA-Z]{1,6}|[0-9]{1,5}| {1,3}|[.,;:!?'\"()`$#*_-]{1,3}|\n{1,3}|\r\n|\t|don't|WE'LL|[éßÀـہ語🤖²\u{301}\u{a0}\u{2003}]){0,40}"
    }

    #[test]
    fn a_word_of_a_mebibyte_is_counted() {
        assert!(count_tokens(&"a".repeat(1 << 20)) > 1_000);
        assert!(count_tokens(&"\u{6f22}".repeat(1 << 18)) > 1_000);
    }
}
