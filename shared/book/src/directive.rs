//! Directives, as Docusaurus's parser reads them (micromark-extension-directive 3.0): `:::name`, `::name` and `:name[label]{attributes}`.

use std::sync::LazyLock;

use regex::Regex;

use crate::dialect::Dialect;

/// The longest label or attributes of a directive in a text, in bytes; a longer one is text.
const MAX_BYTES: usize = 1_000;

/// The most nested brackets in a label.
const MAX_BRACKETS: usize = 32;

/// Attributes in braces: `{#id .class name="value"}`.
static ATTRIBUTES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r##"^\{(?:\s*(?:[#.][^"#'.<=>`}\s][^"'#.<=>`}\s]*|[A-Za-z:_][A-Za-z0-9:._-]*(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^"'<=>`}\s]+))?))*\s*\}"##,
    )
    .expect("the pattern is a constant")
});

/// A directive. Its parts follow each other: colons, name, label, attributes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Directive<'a> {
    /// The colons and the name, with the bracket before the label.
    pub(super) opening: &'a str,
    pub(super) name: &'a str,
    /// The text in brackets; empty without any.
    pub(super) label: &'a str,
    /// What follows the label: a bracket and the attributes in braces.
    pub(super) closing: &'a str,
    pub(super) has_attributes: bool,
}

impl<'a> Directive<'a> {
    /// Reads the directive within a text at the start of `text`. `None` for `:name` alone, which is shown as it is written.
    pub(super) fn in_text(text: &'a str) -> Option<Self> {
        Self::at_start(text, 1).filter(|it| !it.label.is_empty() || it.has_attributes)
    }

    /// Reads the directive that a line consists of, which begins a container (`:::name`) or has no content (`::name`).
    pub(super) fn of_line(line: &'a str) -> Option<Self> {
        let colons = line.bytes().take_while(|byte| *byte == b':').count();
        let directive = Self::at_start(line, colons).filter(|_| colons >= 2)?;
        line[directive.length()..]
            .trim()
            .is_empty()
            .then_some(directive)
    }

    pub(super) fn begins_container(&self) -> bool {
        self.opening.starts_with(":::")
    }

    /// Reads a directive with this number of colons.
    fn at_start(text: &'a str, colons: usize) -> Option<Self> {
        let name = name_in(text.get(colons..)?)?;
        let mut at = colons + name.len();
        let label = label_in(&text[at..]);
        let bracket = label.map_or(0, |_| "[".len());
        at += bracket;
        let (opening, rest) = text.split_at(at);
        let (label, after) = rest.split_at(label.map_or(0, str::len));
        let attributes = attributes_in(&after[bracket..]);
        Some(Self {
            opening,
            name,
            label,
            closing: &after[..bracket + attributes.len()],
            has_attributes: attributes
                .contains(|c: char| !matches!(c, '{' | '}') && !c.is_whitespace()),
        })
    }

    fn length(&self) -> usize {
        self.opening.len() + self.label.len() + self.closing.len()
    }
}

/// Returns the name at the start of a text: ASCII letters, digits, `-` and `_`, of which it begins with a letter and ends in a letter or digit.
pub(super) fn name_in(text: &str) -> Option<&str> {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let end = text.find(|c| !is_of_name(c)).unwrap_or(text.len());
    let name = &text[..end];
    let is_name =
        name.starts_with(|c: char| c.is_ascii_alphabetic()) && !name.ends_with(['-', '_']);
    is_name.then_some(name)
}

/// Returns the text between the brackets at the start of a text, in which brackets are balanced or escaped.
fn label_in(text: &str) -> Option<&str> {
    let inner = beginning_of(text).strip_prefix('[')?;
    let mut open = 0;
    let mut is_escaped = false;
    for (at, byte) in inner.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'[' if open == MAX_BRACKETS => return None,
            b'[' => open += 1,
            b']' if open == 0 => return Some(&inner[..at]),
            b']' => open -= 1,
            b'\n'
                if inner[at + 1..]
                    .trim_start_matches([' ', '\t'])
                    .starts_with('\n') =>
            {
                return None;
            }
            _ => {}
        }
    }
    None
}

/// Returns the attributes at the start of a text with their braces; empty if there are none.
fn attributes_in(text: &str) -> &str {
    let attributes = ATTRIBUTES
        .find(beginning_of(text))
        .map(|found| found.as_str());
    let attributes = attributes.filter(|attributes| !attributes.contains("\n\n"));
    attributes.unwrap_or_default()
}

fn beginning_of(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_BYTES)]
}

/// Returns the name and title of the admonition that a line begins, `Tip: Title` for `:::tip Title`, and the rest of the line, which these lack.
pub(super) fn admonition<'a>(line: &'a str, dialect: Dialect<'_>) -> Option<(String, &'a str)> {
    let rest = line.strip_prefix(":::")?.trim_start_matches(':');
    let name = name_in(rest).filter(|name| dialect.is_admonition(name))?;
    let title = rest[name.len()..].trim();
    let label = title
        .strip_prefix('[')
        .and_then(|rest| rest.rsplit_once(']'));
    let (title, attributes) = match label {
        Some(parts) => parts,
        None => {
            let (title, attributes) = title.split_at(title.find('{').unwrap_or(title.len()));
            (title.trim(), attributes)
        }
    };
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
pub(super) fn has_bare_title(line: &str) -> bool {
    let rest = line.trim_start_matches(':');
    let title = name_in(rest).map_or(rest, |name| &rest[name.len()..]);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(directive: Option<Directive<'_>>) -> Option<(&str, &str, &str)> {
        directive.map(|it| (it.opening, it.label, it.closing))
    }

    #[test]
    fn a_directive_in_a_text_has_a_label_or_attributes() {
        for (text, expected) in [
            (":kbd[Ctrl] and", Some((":kbd[", "Ctrl", "]"))),
            (":a[b [c] \\] d]{.x}", Some((":a[", "b [c] \\] d", "]{.x}"))),
            (":a[b\nc]", Some((":a[", "b\nc", "]"))),
            (
                ":icon{name=\"gear\" #id}",
                Some((":icon", "", "{name=\"gear\" #id}")),
            ),
            (":a[b]{c + d}", Some((":a[", "b", "]"))),
            (":a[b]:", Some((":a[", "b", "]"))),
            (":a{b + c}", None),
            (":name", None),
            (":name[]{}", None),
            (":gear:", None),
            (":30[x]", None),
            (":a-[x]", None),
            (":a[b", None),
            (":a[b\n\nc]", None),
            (": a[b]", None),
        ] {
            assert_eq!(parts(Directive::in_text(text)), expected, "{text}");
        }
    }

    #[test]
    fn a_directive_of_a_line_is_alone_on_it() {
        for (line, expected) in [
            ("::br", Some(("::br", "", ""))),
            (":::flex", Some((":::flex", "", ""))),
            (
                "::::box[Two *words*]{.x} ",
                Some(("::::box[", "Two *words*", "]{.x}")),
            ),
            (":::flex Title", None),
            ("::br text", None),
            (":a[b]", None),
            (":::", None),
            ("::: flex", None),
        ] {
            assert_eq!(parts(Directive::of_line(line)), expected, "{line}");
        }
    }
}
