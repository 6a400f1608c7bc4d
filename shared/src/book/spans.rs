//! Where spans within a line end: code, formulas, addresses. All take time linear in what they pass.

/// Longer addresses between `<` and `>` are text.
const MAX_AUTOLINK_BYTES: usize = 4_096;

/// How many backticks `text` starts with.
pub(super) fn ticks(text: &str) -> usize {
    text.bytes().take_while(|b| *b == b'`').count()
}

/// The bytes of the code span that `text` starts with; it ends within its paragraph.
///
/// # Errors
/// Nothing closes it: the bytes that were searched.
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

/// The bytes of the formula within a line that `text` starts with, or of its `$` when it is money.
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

/// The formula with a space at both ends that `text` starts with, its marks aside: remark-math takes the spaces off.
pub(super) fn padded_math(text: &str) -> Option<&str> {
    let rest = &text[1..];
    let end = rest.find(['$', '\n'])?;
    let formula = &rest[..end];
    let padded = formula.starts_with(' ') && formula.ends_with(' ') && !formula.trim().is_empty();
    (rest[end..].starts_with('$') && padded).then_some(formula)
}

/// The bytes of the address between `<` and `>` that `text` starts with. `None` when it is none.
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
