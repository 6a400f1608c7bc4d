//! Selects the text of a heading that determines its id.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::dialect::Flavor;
use text::marks::{HIDDEN_END, HIDDEN_START, REMOVED};

/// Text that does not count for a heading's id: the attributes of tags.
pub(super) static HIDDEN_FROM_ID: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!("{HIDDEN_START}[^{HIDDEN_END}]*{HIDDEN_END}"))
        .expect("the pattern is a constant")
});

/// Marks that only affect ids.
pub(super) const ID_MARKS: [char; 3] = [REMOVED, HIDDEN_START, HIDDEN_END];

pub(super) fn shown(text: &str) -> Cow<'_, str> {
    if text.contains(ID_MARKS) {
        text.replace(ID_MARKS, "").into()
    } else {
        text.into()
    }
}

/// Returns an explicit id at the end of a heading: `{#id}`, in MDX also `{/* #id */}`.
pub(super) fn explicit_id(text: &str, flavor: Flavor) -> Option<&str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == REMOVED);
    let (_, inner) = text.strip_suffix('}')?.rsplit_once('{')?;
    let comment = inner
        .strip_prefix("/*")
        .and_then(|inner| inner.strip_suffix("*/"));
    let id = match comment {
        Some(_) if flavor == Flavor::Markdown => None,
        Some(comment) => {
            let id = comment.trim().strip_prefix('#')?;
            id.split(char::is_whitespace).next()
        }
        None => Some(inner.strip_prefix('#')?.trim()),
    };
    id.filter(|id| !id.is_empty())
}

/// Removes text directives (`:name`) from the last `length` bytes of an id's text, because Docusaurus ignores them. `escaped` is
/// true if a backslash precedes those bytes; `after` is the text that follows them.
pub(super) fn drop_directives(slug_text: &mut String, length: usize, escaped: bool, after: &str) {
    let text = slug_text.split_off(slug_text.len() - length);
    let mut from = 0;
    while let Some(colon) = text[from..].find(':').map(|found| from + found) {
        let before = text[..colon].chars().next_back();
        let before = before.or_else(|| slug_text.chars().next_back());
        let taken = if before == Some(':') || (escaped && colon == 0) {
            None
        } else {
            directive_name(&text[colon + 1..], after)
        };
        slug_text.push_str(&text[from..colon]);
        match taken {
            Some(name) => from = colon + 1 + name.len(),
            None => {
                slug_text.push(':');
                from = colon + 1;
            }
        }
    }
    slug_text.push_str(&text[from..]);
}

/// Returns the name of the text directive whose colon precedes `text`. Names consist of letters, digits, `-` and `_` and do not end
/// in `-` or `_`. `:name:` is not a directive.
fn directive_name<'a>(text: &'a str, after: &str) -> Option<&'a str> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_')))
        .unwrap_or(text.len());
    let name = &text[..end];
    let next = text[end..].chars().next().or_else(|| after.chars().next());
    let named = name.starts_with(|c: char| c.is_ascii_alphabetic());
    (named && !name.ends_with(['-', '_']) && !matches!(next, Some(':' | '_' | '-'))).then_some(name)
}
