//! Selects the text of a heading that determines its id.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use crate::dialect::Flavor;
use crate::directive::name_in;
use text::marks::{HIDDEN_END, HIDDEN_START, ID_ONLY_END, ID_ONLY_START, REMOVED};

/// Text that does not count for a heading's id, such as the attributes of tags, and the marks around text that counts for nothing else.
pub(super) static HIDDEN_FROM_ID: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        "{HIDDEN_START}[^{HIDDEN_END}]*{HIDDEN_END}|[{ID_ONLY_START}{ID_ONLY_END}]"
    ))
});

/// Text that only counts for an id.
pub(super) static ID_ONLY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        "{ID_ONLY_START}[^{ID_ONLY_END}]*(?:{ID_ONLY_END}|$)"
    ))
});

/// What is written for ids alone.
pub(super) static NOT_SHOWN: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        "{}|[{REMOVED}{HIDDEN_START}{HIDDEN_END}]",
        ID_ONLY.as_str()
    ))
});

fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the pattern is a constant")
}

pub(super) fn shown(text: &str) -> Cow<'_, str> {
    NOT_SHOWN.replace_all(text, "")
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
            let name = name_in(&text[colon + 1..]);
            // `:name:` is not a directive.
            name.filter(|name| {
                let rest = text[colon + 1 + name.len()..].chars();
                !matches!(rest.chain(after.chars()).next(), Some(':' | '_' | '-'))
            })
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
