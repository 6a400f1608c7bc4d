//! Lengths of inline spans: code, formulas, addresses. All functions take linear time.

/// The longest address between `<` and `>`; longer ones are text.
const MAX_AUTOLINK_BYTES: usize = 4_096;

/// The most nested parentheses in a link's destination, as in pulldown-cmark.
const MAX_PARENTHESES: usize = 32;

/// White space around the parts of a link.
const WHITE_SPACE: [char; 3] = [' ', '\t', '\n'];

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

/// Returns the length of the destination and title of a link, with their parentheses, at the start of `text`; 0 if they are not there.
pub(super) fn link_resource_length(text: &str) -> usize {
    let Some(inner) = text.strip_prefix('(') else {
        return 0;
    };
    let rest = inner.trim_start_matches(WHITE_SPACE);
    let rest = after_destination(rest).unwrap_or(rest);
    let rest = after_title(rest)
        .unwrap_or(rest)
        .trim_start_matches(WHITE_SPACE);
    let Some(after) = rest.strip_prefix(')') else {
        return 0;
    };
    let resource = &text[..text.len() - after.len()];
    // A blank line ends a paragraph.
    if has_blank_line(resource) {
        return 0;
    }
    resource.len()
}

fn has_blank_line(text: &str) -> bool {
    let mut lines = text.lines().skip(1);
    lines.any(|line| line.trim().is_empty())
}

/// True if a line defines the target of links with a label: `[label]: destination "title"`.
pub(super) fn is_definition(line: &str) -> bool {
    let label = line
        .strip_prefix('[')
        .filter(|label| !label.starts_with('^'));
    let Some((label, rest)) = label.and_then(|rest| rest.split_once("]:")) else {
        return false;
    };
    let rest = rest.trim_start_matches(WHITE_SPACE);
    let rest = after_destination(rest).map(|rest| after_title(rest).unwrap_or(rest));
    let is_label = !label.trim().is_empty() && !label.contains(['[', ']']);
    is_label && rest.is_some_and(|rest| rest.trim().is_empty())
}

/// Returns what follows the destination of a link at the start of a text; `None` if there is none.
fn after_destination(text: &str) -> Option<&str> {
    let is_enclosed = text.starts_with('<');
    let mut open = 0;
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(usize::from(is_enclosed)) {
        match c {
            '\n' if is_enclosed => return None,
            _ if is_escaped && c.is_ascii_punctuation() => is_escaped = false,
            '\\' => is_escaped = true,
            '>' if is_enclosed => return Some(&text[at + 1..]),
            '<' if is_enclosed => return None,
            _ if is_enclosed => is_escaped = false,
            '(' if open == MAX_PARENTHESES => return None,
            '(' => open += 1,
            ')' if open > 0 => open -= 1,
            ')' => return (at > 0).then_some(&text[at..]),
            _ if c.is_ascii_control() || c == ' ' => {
                return (at > 0 && open == 0).then_some(&text[at..]);
            }
            _ => is_escaped = false,
        }
    }
    (!is_enclosed && open == 0 && !text.is_empty()).then_some("")
}

/// Returns what follows the white space and the title of a link at the start of a text; `None` if there is none.
fn after_title(text: &str) -> Option<&str> {
    let title = text.trim_start_matches(WHITE_SPACE);
    let first = title.chars().next().filter(|_| title.len() < text.len())?;
    let last = match first {
        '"' | '\'' => first,
        '(' => ')',
        _ => return None,
    };
    let mut is_escaped = false;
    for (at, c) in title.char_indices().skip(1) {
        match c {
            '\n' if title[at + 1..]
                .trim_start_matches([' ', '\t'])
                .starts_with('\n') =>
            {
                return None;
            }
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if c == last => return Some(&title[at + 1..]),
            '(' if first == '(' => return None,
            _ => {}
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use pulldown_cmark::{Event, Parser, Tag, TagEnd};

    use super::*;

    /// The length of the only link in a text that begins with it, as the parser of Markdown reads it.
    fn parsed_length(text: &str) -> usize {
        let events = Parser::new(text).into_offset_iter();
        let mut links = events.filter(|(event, _)| matches!(event, Event::End(TagEnd::Link)));
        links
            .next()
            .map_or(0, |(_, range)| if range.start == 0 { range.end } else { 0 })
    }

    fn defines(text: &str) -> bool {
        let page = format!("{text}\n\n[a]");
        let mut events = Parser::new(&page);
        let is_link = events.any(|event| matches!(event, Event::Start(Tag::Link { .. })));
        is_link && Parser::new(text).next().is_none()
    }

    proptest! {
        #[test]
        fn a_links_destination_ends_where_markdown_ends_it(
            parts in prop::collection::vec(
                prop::sample::select(vec!["(", ")", "<", ">", " ", "\"", "'", "\\", "a", "{b}", "&amp;", "é", "\n", "%20"]),
                0..12,
            ),
        ) {
            let resource = format!("({})", parts.concat());
            // A line may begin a block, and only the resource is of interest.
            prop_assume!(!resource.contains("\n>") && !resource.contains("\n "));
            let length = link_resource_length(&resource);
            let expected = parsed_length(&format!("[a]{resource}")).saturating_sub("[a]".len());
            prop_assert_eq!(length, expected, "{:?}", resource);
        }

        #[test]
        fn a_definition_is_one_of_markdown(
            parts in prop::collection::vec(
                prop::sample::select(vec!["(", ")", "<", ">", " ", "\"", "'", "\\", "b", "{c}", "é"]),
                0..10,
            ),
        ) {
            let line = format!("[a]:{}", parts.concat());
            prop_assert_eq!(is_definition(&line), defines(&line), "{:?}", line);
        }
    }
}
