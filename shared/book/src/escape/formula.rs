//! Writes formulas so that TeX reads them unchanged, and renderers without formulas find no markup in them.

/// The longest formula in bytes; longer ones become text.
const MAX_BYTES: usize = 4_000;

/// True if the formula is complete, and no backtick, comment or dollar sign in it has an effect outside of it.
pub(super) fn is_writable(formula: &str) -> bool {
    let (_, tex) = parts(formula);
    if formula.len() > MAX_BYTES {
        return false;
    }
    let mut is_escaped = false;
    let mut is_plain = true;
    for c in tex.chars() {
        is_plain &= c != '`' && (is_escaped || !matches!(c, '$' | '%'));
        is_escaped = c == '\\' && !is_escaped;
    }
    is_plain && !is_escaped && !tex.is_empty()
}

pub(super) fn inline(formula: &str) -> String {
    let (dollars, tex) = parts(formula);
    format!("{dollars}{}{dollars}", without_markup(tex))
}

/// Writes a formula that is a paragraph of its own, on separate lines if it had them.
pub(super) fn block(formula: &str) -> String {
    let (dollars, tex) = parts(formula);
    if dollars == "$" || !formula.contains('\n') {
        return inline(formula);
    }
    let tex = without_markup(tex);
    let number = tex.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_item = number.len() < tex.len() && number.starts_with(['.', ')']);
    let begins_block = is_item || tex.starts_with(['-', '+', '=', '>', '#', ':', '|', '*', '_']);
    let before = if begins_block { "{}" } else { "" };
    format!("$$\n{before}{tex}\n$$")
}

/// Splits a formula into its dollar signs and the TeX between them, which is empty for a truncated formula.
fn parts(formula: &str) -> (&'static str, &str) {
    let dollars = if formula.starts_with("$$") { "$$" } else { "$" };
    let inner = formula.strip_prefix(dollars);
    let tex = inner.and_then(|inner| inner.strip_suffix(dollars));
    (dollars, tex.unwrap_or_default().trim())
}

/// Breaks up markup with spaces, empty braces and the star's name, which TeX treats alike.
fn without_markup(tex: &str) -> String {
    let words: Vec<&str> = tex.split_whitespace().collect();
    let chars: Vec<char> = words.join(" ").chars().collect();
    let mut written = String::with_capacity(tex.len());
    let mut is_escaped = false;
    for (at, &c) in chars.iter().enumerate() {
        let rest = &chars[at + 1..];
        let next = rest.first().copied().unwrap_or('$');
        let is_tag = next.is_ascii_alphabetic() || "/!?".contains(next);
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        match c {
            _ if is_escaped => written.push(c),
            '*' if opens(&chars, at) && next.is_alphabetic() => written.push_str(r"\ast "),
            '*' if opens(&chars, at) => written.push_str(r"\ast"),
            '~' => written.push_str(r"{\ }"),
            '.' if ends_in_www(&written) => written.push_str("{}."),
            _ => written.push(c),
        }
        written.push_str(match c {
            _ if is_escaped => "",
            '<' if is_tag => " ",
            '_' if opens(&chars, at) => " ",
            '&' if next == '#' || next.is_ascii_alphanumeric() => " ",
            '[' if next == '[' => "{}",
            '[' if digits > 0 && rest.get(digits) == Some(&']') => "{}",
            ']' if matches!(next, '(' | '[' | ':') => " ",
            ':' if rest.starts_with(&['/', '/']) => "{}",
            '@' => "{}",
            _ => "",
        });
        is_escaped = c == '\\' && !is_escaped;
    }
    written
}

fn ends_in_www(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes[bytes.len().saturating_sub(3)..].eq_ignore_ascii_case(b"www")
}

/// True if a star or an underscore can open emphasis (`CommonMark`'s left-flanking run).
fn opens(chars: &[char], at: usize) -> bool {
    let mark = chars[at];
    let before = chars[..at].iter().rev().find(|c| **c != mark);
    let after = chars[at..].iter().find(|c| **c != mark);
    let (before, after) = (*before.unwrap_or(&'$'), *after.unwrap_or(&'$'));
    let is_flanking = !after.is_whitespace()
        && (!is_punctuation(after) || before.is_whitespace() || is_punctuation(before))
        && (mark == '*' || !before.is_alphanumeric());
    // Micromark lets any such character open emphasis before another one.
    is_flanking || matches!(after, '*' | '_')
}

fn is_punctuation(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace()
}
