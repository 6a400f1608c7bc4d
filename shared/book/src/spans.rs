//! Lengths of inline spans: code, formulas, addresses. All functions take linear time.

/// The longest address between `<` and `>`; longer ones are text.
const MAX_AUTOLINK_BYTES: usize = 4_096;

pub(super) fn ticks(text: &str) -> usize {
    text.bytes().take_while(|b| *b == b'`').count()
}

/// Returns the length of the code span at the start of `text`, which must end within its paragraph.
///
/// # Errors
/// The number of bytes searched if nothing closes it.
pub(super) fn code_span_length(text: &str) -> Result<usize, usize> {
    let opening = ticks(text);
    let bytes = text.as_bytes();
    let mut at = opening;
    while at < bytes.len() {
        match bytes[at] {
            b'`' => {
                let run = ticks(&text[at..]);
                at += run;
                if run == opening {
                    return Ok(at);
                }
            }
            b'\n' if bytes.get(at + 1) == Some(&b'\n') => break,
            _ => at += 1,
        }
    }
    Err(at)
}

/// Returns the length in bytes of the inline formula at the start of `text`; 1 if the `$` there begins no formula, as in `$5`.
pub(super) fn math_length(text: &str) -> usize {
    let rest = &text[1..];
    match rest.find(['$', '\n']) {
        Some(end) if rest[end..].starts_with('$') => {
            let formula = &rest[..end];
            let tight = !formula.starts_with(' ') && !formula.ends_with(' ') && !formula.is_empty();
            if tight { end + 2 } else { 1 }
        }
        _ => 1,
    }
}

/// Returns the content of a formula at the start of `text` that is padded with spaces; remark-math trims them.
pub(super) fn padded_math(text: &str) -> Option<&str> {
    let rest = &text[1..];
    let end = rest.find(['$', '\n'])?;
    let formula = &rest[..end];
    let padded = formula.starts_with(' ') && formula.ends_with(' ') && !formula.trim().is_empty();
    (rest[end..].starts_with('$') && padded).then_some(formula)
}

/// Returns the length of the address in `<` and `>` at the start of `text`; `None` if it is not an address.
pub(super) fn autolink_length(text: &str) -> Option<usize> {
    let end = text
        .bytes()
        .take(MAX_AUTOLINK_BYTES)
        .skip(1)
        .position(|byte| matches!(byte, b'>' | b'\n' | b' ' | b'<'))?
        + 1;
    let address = &text[..end];
    (text[end..].starts_with('>') && address.contains([':', '@'])).then_some(end + 1)
}
