//! Recognises the syntax of a single line of MDX: container marks, fences, directives, imports.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

/// The most bytes of container marks; what follows is text.
const MAX_PREFIX_BYTES: usize = 256;

impl Fence {
    pub(super) fn closing(self) -> String {
        self.mark.to_string().repeat(self.length)
    }
}

/// Splits a line into its container marks (`> `, `- `, `1. `, indentation) and the content.
pub(super) fn split_container_prefix(line: &str) -> (&str, &str) {
    let bytes = line.as_bytes();
    let bytes = &bytes[..bytes.len().min(MAX_PREFIX_BYTES)];
    let mut at = 0;
    loop {
        let start = at;
        while matches!(bytes.get(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        match bytes.get(at) {
            Some(b'>') => at += 1,
            Some(b'-' | b'*' | b'+') if matches!(bytes.get(at + 1), Some(b' ' | b'\t')) => at += 2,
            Some(digit) if digit.is_ascii_digit() => {
                let digits = bytes[at..]
                    .iter()
                    .take_while(|b| b.is_ascii_digit())
                    .count();
                let marked = matches!(bytes.get(at + digits), Some(b'.' | b')'))
                    && bytes.get(at + digits + 1) == Some(&b' ');
                if !marked {
                    return line.split_at(at);
                }
                at += digits + 2;
            }
            _ => return line.split_at(at),
        }
        if at == start {
            return line.split_at(at);
        }
    }
}

pub(super) fn opens_fence(content: &str) -> Option<(Fence, &str)> {
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = content.chars().take_while(|c| *c == mark).count();
    let info = content[length..].trim();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((Fence { mark, length }, info))
}

pub(super) fn closes(fence: Fence, content: &str) -> bool {
    let content = content.trim();
    content.len() >= fence.length && content.chars().all(|c| c == fence.mark)
}

/// True if a line is a heading: up to six `#`, followed by a space or nothing.
pub(super) fn is_heading(content: &str) -> bool {
    let rest = content.trim_start_matches('#');
    let level = content.len() - rest.len();
    (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Returns the container marks of the lines that continue this one: list items become indentation.
pub(super) fn continued_prefix(line: &str) -> String {
    split_container_prefix(line)
        .0
        .replace(|mark| !matches!(mark, '>' | '\t'), " ")
}

pub(super) fn quotes_in(prefix: &str) -> usize {
    prefix.bytes().filter(|byte| *byte == b'>').count()
}

/// Removes the first `quotes` quote marks of a line; `None` if it has fewer.
pub(super) fn without_quotes(line: &str, quotes: usize) -> Option<&str> {
    (0..quotes).try_fold(line, |rest, _| {
        rest.trim_start_matches([' ', '\t']).strip_prefix('>')
    })
}

pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(if c == '\n' { ' ' } else { c });
    }
    escaped
}

pub(super) fn is_esm(line: &str) -> bool {
    ["import ", "import{", "export "]
        .iter()
        .any(|word| line.starts_with(word))
}

/// Converts a directive's line to text, and returns the remainder that this text lacks. `:::tip Title` becomes `Tip: Title`; the
/// closing `:::` becomes empty.
pub(super) fn directive(content: &str) -> Option<(String, &str)> {
    let rest = content.strip_prefix(":::")?.trim_start_matches(':');
    let name_end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '-'))
        .unwrap_or(rest.len());
    let (name, rest) = rest.split_at(name_end);
    let title = rest.trim();
    let (title, attributes) = match title
        .strip_prefix('[')
        .and_then(|rest| rest.rsplit_once(']'))
    {
        Some((title, attributes)) => (title, attributes),
        None => {
            let (title, attributes) = title.split_at(title.find('{').unwrap_or(title.len()));
            (title.trim(), attributes)
        }
    };
    if name.is_empty() {
        return title.is_empty().then(|| (String::new(), attributes));
    }
    let mut first = name.chars();
    let kind: String = first
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(first)
        .collect();
    // The attribute wins (theme-common 3.10, `admonitionUtils`).
    let title = title_attribute(attributes).unwrap_or(title);
    let shown = if title.is_empty() {
        kind
    } else {
        format!("{kind}: {title}")
    };
    Some((shown, attributes))
}

/// True for a directive whose title follows its name without brackets: `:::tip Title`. Docusaurus adds the brackets before it parses a page.
pub(super) fn has_bare_title(content: &str) -> bool {
    let rest = content.trim_start_matches(':');
    let title = rest.trim_start_matches(|c: char| c.is_alphanumeric() || c == '-');
    !title.trim().is_empty() && !title.trim_start().starts_with(['[', '{'])
}

/// Returns the `title` of `{title="…" .wide}`.
fn title_attribute(attributes: &str) -> Option<&str> {
    let (before, after) = attributes.split_once("title=")?;
    if !before.ends_with([' ', '{']) {
        return None;
    }
    let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (title, _) = after[1..].split_once(quote)?;
    Some(title.trim())
}
