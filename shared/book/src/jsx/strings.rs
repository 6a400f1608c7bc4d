//! `{expressions}`, and the strings and templates in them.

/// A part of a string or template.
#[derive(Debug, PartialEq, Eq)]
pub(in super::super) enum Part<'a> {
    /// Text, with escapes resolved.
    Text(String),
    /// The inner text of `${…}`.
    Expression(&'a str),
}

impl Part<'_> {
    /// Returns the text; that of an expression is unknown, and so empty.
    pub(super) fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Expression(_) => String::new(),
        }
    }
}

/// For each kind of quote, the offset before which it is known to be unpaired, so that no text is searched twice.
#[derive(Default)]
struct Unpaired {
    double: usize,
    single: usize,
    template: usize,
}

impl Unpaired {
    fn of(&mut self, quote: u8) -> &mut usize {
        match quote {
            b'"' => &mut self.double,
            b'\'' => &mut self.single,
            _ => &mut self.template,
        }
    }

    fn holds(&mut self, quote: u8, at: usize) -> bool {
        at < *self.of(quote)
    }

    fn up_to(&mut self, quote: u8, end: usize) {
        *self.of(quote) = end;
    }
}

/// What is open in JavaScript.
enum Open {
    Brace,
    Template,
}

/// Returns the length of the `{expression}` at the start of `text`; `None` if it never ends.
pub(in super::super) fn expression_length(text: &str) -> Option<usize> {
    length_to_end(text, Vec::new())
}

/// Returns the length of the rest of a template, after its opening backtick; `None` if it never ends.
fn template_length(text: &str) -> Option<usize> {
    length_to_end(text, vec![Open::Template])
}

/// Returns the length of the text up to where everything is closed that is `open` or that the text opens first.
fn length_to_end(text: &str, mut open: Vec<Open>) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut unpaired = Unpaired::default();
    while at < bytes.len() {
        let byte = bytes[at];
        let is_in_template = matches!(open.last(), Some(Open::Template));
        match byte {
            b'\\' if is_in_template => at += 1,
            b'`' if is_in_template => drop(open.pop()),
            b'$' if is_in_template && bytes.get(at + 1) == Some(&b'{') => {
                open.push(Open::Brace);
                at += 1;
            }
            _ if is_in_template => {}
            b'{' => open.push(Open::Brace),
            b'}' => drop(open.pop()),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at += text[at..].find("*/")? + 1,
            // A string ends on its line. Otherwise the quote is an apostrophe in the text of nested JSX.
            quote @ (b'"' | b'\'') if !unpaired.holds(quote, at) => {
                match string_length(&text[at + 1..], quote) {
                    Ok(length) => at += length,
                    Err(searched) => unpaired.up_to(quote, at + 1 + searched),
                }
            }
            b'`' => open.push(Open::Template),
            _ => {}
        }
        at += 1;
        if open.is_empty() {
            return Some(at);
        }
    }
    None
}

/// Returns the length up to and including the closing quote, which must be on the same line.
///
/// # Errors
/// The length of the line if there is no closing quote.
fn string_length(text: &str, quote: u8) -> Result<usize, usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => return Err(at),
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            byte if byte == quote => return Ok(at + 1),
            _ => {}
        }
    }
    Err(text.len())
}

/// Returns the string literals of an expression, in order, with escapes resolved. Omits keys of objects.
pub(super) fn string_literals(expression: &str) -> Vec<String> {
    let mut literals = Vec::new();
    let mut at = 0;
    let mut unpaired = Unpaired::default();
    while let Some(found) = expression[at..].find(['"', '\'', '`']) {
        let start = at + found + 1;
        let quote = expression.as_bytes()[start - 1];
        if unpaired.holds(quote, start - 1) {
            at = start;
            continue;
        }
        let length = if quote == b'`' {
            template_length(&expression[start..]).ok_or(expression.len() - start)
        } else {
            string_length(&expression[start..], quote)
        };
        let length = match length {
            Ok(length) => length,
            Err(searched) => {
                unpaired.up_to(quote, start + searched);
                at = start;
                continue;
            }
        };
        let end = start + length;
        let is_field = expression[end..].trim_start().starts_with(':');
        if !is_field {
            let literal = &expression[start..end - 1];
            literals.push(match quote {
                b'`' => template_parts(literal)
                    .into_iter()
                    .map(Part::text)
                    .collect(),
                _ => unescape(literal),
            });
        }
        at = end;
    }
    literals
}

/// Returns the text of an expression that consists of one string without `${…}`.
pub(in super::super) fn only_string(expression: &str) -> Option<String> {
    match string_parts(expression)?.as_mut_slice() {
        [] => Some(String::new()),
        [Part::Text(text)] => Some(std::mem::take(text)),
        _ => None,
    }
}

/// Returns the parts of an expression that consists of one string or template.
pub(in super::super) fn string_parts(expression: &str) -> Option<Vec<Part<'_>>> {
    const RAW: &str = "String.raw`";
    let expression = expression.trim();
    let is_raw = expression.starts_with(RAW);
    let literal = &expression[if is_raw { RAW.len() - 1 } else { 0 }..];
    let quote = *literal.as_bytes().first()?;
    let rest = literal.get(1..)?;
    let length = match quote {
        b'"' | b'\'' => string_length(rest, quote).ok()?,
        b'`' => template_length(rest)?,
        _ => return None,
    };
    if length != rest.len() {
        return None;
    }
    let inner = &rest[..length - 1];
    Some(match quote {
        b'`' if is_raw && !inner.contains("${") => vec![Part::Text(inner.to_owned())],
        b'`' => template_parts(inner),
        _ => vec![Part::Text(unescape(inner))],
    })
}

/// Splits the inner text of a template.
fn template_parts(template: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut text_start = 0;
    let mut at = 0;
    while let Some(found) = template[at..].find(['\\', '$']) {
        at += found;
        let rest = &template[at..];
        let length = match rest.strip_prefix('$') {
            Some(braces) if braces.starts_with('{') => expression_length(braces),
            Some(_) => None,
            None => {
                let escaped = rest.chars().nth(1);
                at += 1 + escaped.map_or(0, char::len_utf8);
                continue;
            }
        };
        let Some(length) = length else {
            at += 1;
            continue;
        };
        parts.extend(text_part(&template[text_start..at]));
        parts.push(Part::Expression(&rest["${".len()..length]));
        at += 1 + length;
        text_start = at;
    }
    parts.extend(text_part(&template[text_start..]));
    parts
}

fn text_part(source: &str) -> Option<Part<'static>> {
    (!source.is_empty()).then(|| Part::Text(unescape(source)))
}

/// The most bytes of `u{…}` after a backslash, with its braces.
const MAX_CODE_POINT_BYTES: usize = 16;

/// Resolves the escapes of JavaScript.
fn unescape(literal: &str) -> String {
    let mut text = String::with_capacity(literal.len());
    let mut rest = literal;
    while let Some((before, escape)) = rest.split_once('\\') {
        text.push_str(before);
        let (character, length) = escaped_character(escape);
        text.extend(character);
        rest = &escape[length..];
    }
    text.push_str(rest);
    text
}

/// Returns the character that the text after a backslash stands for, and the length of that text. A line break after a backslash stands for none.
fn escaped_character(escape: &str) -> (Option<char>, usize) {
    let Some(first) = escape.chars().next() else {
        return (None, 0);
    };
    let digits = match (first, escape.as_bytes().get(1)) {
        ('u', Some(b'{')) => {
            let mut start = escape.bytes().take(MAX_CODE_POINT_BYTES);
            start.position(|byte| byte == b'}').map(|end| 2..end)
        }
        ('u', _) => Some(1..5),
        ('x', _) => Some(1..3),
        _ => None,
    };
    let code = digits.and_then(|digits| {
        let code = u32::from_str_radix(escape.get(digits.clone())?, 16).ok()?;
        let is_braced = digits.start == 2;
        Some((char::from_u32(code)?, digits.end + usize::from(is_braced)))
    });
    if let Some((character, length)) = code {
        return (Some(character), length);
    }
    let character = match first {
        'n' | 'r' => Some('\n'),
        't' => Some('\t'),
        '\n' => None,
        other => Some(other),
    };
    (character, first.len_utf8())
}
