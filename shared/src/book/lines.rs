//! What a single line of MDX is: the marks of its containers, a fence, a directive, an import.

/// An open code fence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fence {
    mark: char,
    length: usize,
}

/// Splits a line in its container marks (`> `, `- `, `1. `, indentation) and the content.
pub(super) fn split_container_prefix(line: &str) -> (&str, &str) {
    let bytes = line.as_bytes();
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

/// The fence a line opens, and its info string.
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

pub(super) fn is_esm(line: &str) -> bool {
    ["import ", "import{", "export "]
        .iter()
        .any(|word| line.starts_with(word))
}

/// The line that stands for a directive mark: `:::tip Title` gives `Tip: Title`, the closing `:::` nothing.
pub(super) fn directive(content: &str) -> Option<String> {
    let rest = content.strip_prefix(":::")?.trim_start_matches(':');
    let name_end = rest
        .find(|c: char| !(c.is_alphanumeric() || c == '-'))
        .unwrap_or(rest.len());
    let (name, rest) = rest.split_at(name_end);
    let title = rest.trim();
    let title = match title
        .strip_prefix('[')
        .and_then(|rest| rest.rsplit_once(']'))
    {
        Some((title, _)) => title,
        None => title.split('{').next().unwrap_or_default().trim(),
    };
    if name.is_empty() {
        return title.is_empty().then(String::new);
    }
    let mut first = name.chars();
    let kind: String = first
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(first)
        .collect();
    Some(if title.is_empty() {
        kind
    } else {
        format!("{kind}: {title}")
    })
}
