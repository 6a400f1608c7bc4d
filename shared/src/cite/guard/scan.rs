//! Markdown and HTML that a text may begin with: where it ends and what it leads to. Pure functions of what follows.

use super::address::{End, Place, Start, starts};
use crate::book::is_hidden;

/// The longest link, tag, definition or code span that is waited for, in bytes.
pub(super) const BOUND: usize = 2_048;
/// The longest label of a definition that is waited for, in bytes.
const MAX_LABEL_BYTES: usize = 256;
/// The longest role token, `<|im_start|>`, in bytes.
const MAX_ROLE_BYTES: usize = 32;
/// The longest number of a character reference.
const MAX_REFERENCE_DIGITS: usize = 8;

/// What a text begins with. It does not change when more text comes, but for [`Scan::Unsure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scan<'a> {
    /// More has to be read. Never said of a text that has ended.
    Unsure,
    /// Text.
    Text,
    /// So many bytes that lead nowhere allowed.
    Foreign(usize),
    /// So many bytes that lead to a target.
    Target { to: &'a str, length: usize },
}

/// Reads the beginning of a text up to the bound; what has not ended there is foreign.
pub(super) fn bounded<'a>(read: fn(&'a str, End) -> Scan<'a>, text: &'a str, end: End) -> Scan<'a> {
    if text.len() <= BOUND {
        return read(text, end);
    }
    let text = &text[..text.floor_char_boundary(BOUND)];
    match read(text, End::Open) {
        Scan::Unsure => Scan::Foreign(text.len()),
        scan => scan,
    }
}

fn unsure_or(scan: Scan<'_>, end: End) -> Scan<'_> {
    if end == End::Open { Scan::Unsure } else { scan }
}

/// Where a paragraph ended, if what stands here is the line end after it and only white space stands between: before the first one.
fn paragraph_end(text: &str, line_end: usize) -> Option<usize> {
    let before = text[..line_end].trim_end_matches([' ', '\t']);
    let ends = text[line_end..].starts_with('\n') && before.ends_with('\n');
    ends.then(|| before.trim_end_matches([' ', '\t', '\n']).len())
}

/// An HTML tag, comment, declaration or processing instruction, or an autolink, from `<` on; the target is what stands in the brackets.
///
/// What is no tag by `CommonMark` and sets no attribute is text: `a <b, c`. What is never closed is foreign if it sets one.
pub(super) fn tag(text: &str, end: End) -> Scan<'_> {
    if text.starts_with("<!--") {
        let short = ["<!-->", "<!--->"]
            .into_iter()
            .find(|comment| text.starts_with(comment));
        let length = short
            .map(str::len)
            .or_else(|| text[4..].find("-->").map(|at| at + 7));
        return length.map_or_else(|| unsure_or(Scan::Foreign(text.len()), end), Scan::Foreign);
    }
    if text.starts_with("<|") {
        return role(text, end);
    }
    if !text[1..].starts_with(opens_tag) {
        return mail_autolink(text, end);
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.');
    let mut is_element = text[1..].starts_with(|c: char| c.is_ascii_alphabetic());
    let mut in_name = is_element;
    let mut sets_attribute = !is_element && !text.starts_with("</");
    let unclosed = |length: usize, sets: bool| {
        if sets {
            Scan::Foreign(length)
        } else {
            Scan::Text
        }
    };
    let mut quote = None;
    let mut before = '<';
    for (at, c) in text.char_indices().skip(1) {
        if in_name && !is_name(c) {
            in_name = false;
            match c {
                '>' | '/' => {}
                ':' | '@' => is_element = false,
                _ if c.is_whitespace() && !text[1..at].contains(['+', '.']) => {}
                _ => return Scan::Text,
            }
        }
        if let Some(end) = paragraph_end(text, at) {
            return unclosed(end, sets_attribute);
        }
        match c {
            _ if quote == Some(c) => quote = None,
            _ if quote.is_some() => {}
            '>' => {
                let to = &text[1..at];
                return Scan::Target { to, length: at + 1 };
            }
            '"' | '\'' if before == '=' => quote = Some(c),
            '=' => sets_attribute = true,
            _ if sets_attribute || in_name => {}
            '<' => return Scan::Text,
            // The end of a clause.
            _ if c.is_whitespace() && matches!(before, '.' | ':') => return Scan::Text,
            _ if is_element && !is_attribute(c) => return Scan::Text,
            _ => {}
        }
        if !(c.is_whitespace() && before == '=') {
            before = c;
        }
    }
    unsure_or(unclosed(text.len(), sets_attribute), end)
}

/// Whether a character after `<` opens a tag.
pub(super) fn opens_tag(c: char) -> bool {
    c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?')
}

/// A mail address in brackets; its local part may begin with nearly anything.
fn mail_autolink(text: &str, end: End) -> Scan<'_> {
    let Some(at) = text[1..].find(|c: char| c.is_whitespace() || c == '<' || c == '>') else {
        return unsure_or(Scan::Text, end);
    };
    let to = &text[1..=at];
    if !text[1 + at..].starts_with('>') || !to.contains('@') {
        return Scan::Text;
    }
    Scan::Target { to, length: at + 2 }
}

fn is_attribute(c: char) -> bool {
    c.is_alphanumeric()
        || c.is_whitespace()
        || matches!(c, '_' | ':' | '.' | '-' | '/' | '"' | '\'')
}

/// A token by which models mark who speaks.
fn role(text: &str, end: End) -> Scan<'_> {
    let is_role = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let length = 2 + text[2..].find(|c| !is_role(c)).unwrap_or(text.len() - 2);
    let close = &text[length..];
    if length <= MAX_ROLE_BYTES && close.starts_with("|>") {
        Scan::Foreign(length + 2)
    } else if length <= MAX_ROLE_BYTES && "|>".starts_with(close) {
        unsure_or(Scan::Text, end)
    } else {
        mail_autolink(text, end)
    }
}

/// The target of an inline link or image, from `(` on. Parentheses around words are text; around what could be shown as
/// another link when something is taken out of it, they are foreign.
pub(super) fn link(text: &str, end: End) -> Scan<'_> {
    let (to, from, at) = match Destination::read(text, end) {
        Destination::Read { to, from, at } => (to, from, at),
        Destination::Malformed => return foreign_link(text, end),
        Destination::Unsure => return unsure_or(Scan::Foreign(text.len()), end),
    };
    let behind = skip_space(text, at);
    let closed = |at: usize| {
        text[at..]
            .starts_with(')')
            .then_some(Scan::Target { to, length: at + 1 })
    };
    if let Some(target) = closed(behind) {
        return target;
    }
    let is_word = is_word(
        &text[from..at],
        if at < text.len() { End::Text } else { end },
    );
    let Some(next) = text[behind..].chars().next() else {
        let is_text = behind > at && is_word;
        return unsure_or(
            if is_text {
                Scan::Text
            } else {
                Scan::Foreign(text.len())
            },
            end,
        );
    };
    if matches!(next, '"' | '\'' | '(') {
        match Title::read(text, behind, next) {
            Title::Unsure => return unsure_or(Scan::Foreign(text.len()), end),
            Title::Ends(close) if skip_space(text, close) == text.len() => {
                return unsure_or(Scan::Foreign(text.len()), end);
            }
            Title::Ends(close) => {
                if let Some(target) = closed(skip_space(text, close)) {
                    return target;
                }
            }
            Title::None => {}
        }
    } else if is_word && behind > at {
        match stays(&text[behind..], end) {
            Some(true) => return Scan::Text,
            Some(false) => {}
            None => return Scan::Unsure,
        }
    }
    foreign_link(text, end)
}

/// What is no link, up to its closing parenthesis or the paragraph's end.
fn foreign_link(text: &str, end: End) -> Scan<'_> {
    let mut depth = 0_usize;
    let mut escapes = false;
    for (at, c) in text.char_indices() {
        if let Some(end) = paragraph_end(text, at) {
            return Scan::Foreign(end);
        }
        match c {
            _ if escapes => {}
            '(' => depth += 1,
            ')' if depth == 1 => return Scan::Foreign(at + 1),
            ')' => depth -= 1,
            _ => {}
        }
        escapes = c == '\\' && !escapes;
    }
    unsure_or(Scan::Foreign(text.len()), end)
}

/// Whether the first character here will be shown as it is; `None` if that cannot be said yet.
fn stays(text: &str, end: End) -> Option<bool> {
    let first = text.chars().next()?;
    match starts(text, Some(' '), Place::Text, end) {
        Start::Unsure => None,
        Start::No => {
            Some(first.is_alphanumeric() || matches!(first, '*' | '_' | '~' | '-' | '—' | '–'))
        }
        Start::Scheme(_) | Start::Slashes(_) => Some(false),
    }
}

/// Whether what stands in the place of a target will be shown as it is, and so what is behind it keeps it from being one.
fn is_word(target: &str, end: End) -> bool {
    let is_plain = |c: char| is_prose(c) && !matches!(c, '"' | ' ' | '\t');
    stays(target, end) == Some(true) && target.chars().all(is_plain)
}

/// Whether nothing begins with a character that is taken out with what follows it.
fn is_prose(c: char) -> bool {
    c.is_alphanumeric() || " \t\"-_*~+.,;!?'’…–—".contains(c)
}

/// A definition of a reference, from the `:` after its label on: up to the end of the line that its target or its title stands on.
pub(super) fn definition(text: &str, end: End) -> Scan<'_> {
    let line_end = |from: usize| {
        let length = text[from..].find('\n').map(|at| from + at);
        length.or((end != End::Open).then_some(text.len()))
    };
    let (to, from, at) = match Destination::read(text, end) {
        Destination::Read { to: "", at, .. } if !text[..at].ends_with('>') => return Scan::Text,
        Destination::Read { to, from, at } => (to, from, at),
        Destination::Malformed => return line_end(1).map_or(Scan::Unsure, Scan::Foreign),
        Destination::Unsure if end == End::Text => return Scan::Text,
        Destination::Unsure => return unsure_or(Scan::Foreign(text.len()), end),
    };
    let Some(length) = line_end(at) else {
        return Scan::Unsure;
    };
    let line = &text[..length];
    // Unlike in a link, a parenthesis does not end it.
    let more = line[at..]
        .find(|c: char| c.is_ascii_whitespace())
        .unwrap_or(length - at);
    let (to, at) = if more > 0 {
        (&line[from..at + more], at + more)
    } else {
        (to, at)
    };
    let behind = skip_space(line, at);
    if behind < length {
        return match junk(line, behind) {
            None => Scan::Target { to, length },
            Some(junk)
                if is_word(&line[from..at], End::Text)
                    && line[behind..junk].chars().all(is_prose)
                    && stays(&line[junk..], End::Text) == Some(true) =>
            {
                Scan::Text
            }
            Some(_) => Scan::Foreign(length),
        };
    }
    // The title may stand on the next line.
    let next = skip_space(text, length);
    match text[next..].chars().next() {
        None if end == End::Open => Scan::Unsure,
        Some('"' | '\'' | '(') => match line_end(next) {
            None => Scan::Unsure,
            Some(title_end) => {
                let line = &text[..title_end];
                let is_text =
                    junk(line, next).is_some_and(|at| stays(&line[at..], End::Text) == Some(true));
                Scan::Target {
                    to,
                    length: if is_text { length } else { title_end },
                }
            }
        },
        _ => Scan::Target { to, length },
    }
}

/// Where on a line stands what keeps the text from `at` on from being a title.
fn junk(line: &str, at: usize) -> Option<usize> {
    match Title::read(line, at, line[at..].chars().next().unwrap_or(' ')) {
        Title::Ends(close) => Some(skip_space(line, close)).filter(|junk| *junk < line.len()),
        Title::Unsure => Some(line.len()),
        Title::None => Some(at),
    }
}

/// A label with the `:` behind it, from `[` on; the length is up to the `:`.
pub(super) fn label(text: &str, end: End) -> Scan<'_> {
    let mut before = ' ';
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' | '[' => return Scan::Text,
            _ if at >= MAX_LABEL_BYTES => return Scan::Text,
            ']' if before != '\\' => {
                return match text[at + 1..].chars().next() {
                    None => unsure_or(Scan::Text, end),
                    Some(':') => Scan::Target {
                        to: &text[1..at],
                        length: at + 1,
                    },
                    Some(_) => Scan::Text,
                };
            }
            _ => {}
        }
        before = c;
    }
    unsure_or(Scan::Text, end)
}

/// A link's target: where it begins, and where what follows it begins.
enum Destination<'a> {
    Unsure,
    Malformed,
    Read { to: &'a str, from: usize, at: usize },
}

impl<'a> Destination<'a> {
    /// Reads the target behind a text's first character and white space.
    fn read(text: &'a str, end: End) -> Self {
        let from = skip_space(text, 1);
        let rest = &text[from..];
        if let Some(inner) = rest.strip_prefix('<') {
            return match inner.find(['>', '<', '\n']) {
                Some(length) if inner[length..].starts_with('>') => Self::Read {
                    to: &inner[..length],
                    from,
                    at: from + length + 2,
                },
                Some(_) => Self::Malformed,
                None => Self::Unsure,
            };
        }
        let mut depth = 0_usize;
        let mut escapes = false;
        for (length, c) in rest.char_indices() {
            match c {
                _ if c.is_ascii_whitespace() || (c == ')' && depth == 0 && !escapes) => {
                    return Self::Read {
                        to: &rest[..length],
                        from,
                        at: from + length,
                    };
                }
                _ if escapes => {}
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            escapes = c == '\\' && !escapes;
        }
        if end != End::Text || rest.is_empty() {
            return Self::Unsure;
        }
        Self::Read {
            to: rest,
            from,
            at: text.len(),
        }
    }
}

/// A link's title.
enum Title {
    Unsure,
    None,
    /// Where what follows it begins.
    Ends(usize),
}

impl Title {
    fn read(text: &str, from: usize, open: char) -> Self {
        let close = match open {
            '"' | '\'' => open,
            '(' => ')',
            _ => return Self::None,
        };
        let mut escapes = false;
        for (at, c) in text.char_indices().skip_while(|(at, _)| *at <= from) {
            if c == close && !escapes {
                return Self::Ends(at + c.len_utf8());
            }
            if paragraph_end(text, at).is_some() {
                return Self::None;
            }
            escapes = c == '\\' && !escapes;
        }
        Self::Unsure
    }
}

/// Skips spaces and one line end.
fn skip_space(text: &str, at: usize) -> usize {
    let blank = [' ', '\t'];
    let rest = text[at..].trim_start_matches(blank);
    let rest = rest
        .strip_prefix('\n')
        .map_or(rest, |rest| rest.trim_start_matches(blank));
    text.len() - rest.len()
}

/// A character reference that stands for what links, markers and tags are made of, or for a hidden character, from `&` on.
pub(super) fn reference(text: &str, end: End) -> Scan<'_> {
    const NAMES: [&str; 18] = [
        "&colon;",
        "&sol;",
        "&bsol;",
        "&period;",
        "&commat;",
        "&lowbar;",
        "&UnderBar;",
        "&Tab;",
        "&NewLine;",
        "&lbrack;",
        "&lsqb;",
        "&rbrack;",
        "&rsqb;",
        "&lpar;",
        "&rpar;",
        "&excl;",
        "&grave;",
        "&ZeroWidthSpace;",
    ];
    if let Some(name) = NAMES.iter().find(|name| text.starts_with(**name)) {
        return Scan::Foreign(name.len());
    }
    if NAMES.iter().any(|name| name.starts_with(text)) {
        return unsure_or(Scan::Text, end);
    }
    let Some(number) = text.strip_prefix("&#") else {
        return Scan::Text;
    };
    let (digits, radix) = match number.strip_prefix(['x', 'X']) {
        Some(digits) => (digits, 16),
        None => (number, 10),
    };
    let is_end = |(place, c): (usize, char)| place == MAX_REFERENCE_DIGITS || !c.is_digit(radix);
    let length = digits
        .chars()
        .enumerate()
        .position(is_end)
        .unwrap_or(digits.len());
    let (digits, close) = digits.split_at(length);
    if close.is_empty() && end == End::Open {
        return Scan::Unsure;
    }
    let acts =
        |c: char| c.is_ascii_alphanumeric() || ":/\\.-_@[]()!`\n\t".contains(c) || is_hidden(c);
    let code = u32::from_str_radix(digits, radix).ok();
    if digits.is_empty() || !code.and_then(char::from_u32).is_none_or(acts) {
        return Scan::Text;
    }
    Scan::Foreign(text.len() - close.len() + usize::from(close.starts_with(';')))
}
