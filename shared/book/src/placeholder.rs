//! Lines that represent content from other files or other parts of the page.

use std::str::FromStr;

use text::marks::PLACEHOLDER;

/// The content that a line represents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// The blocks of an imported partial, by component name.
    Partial(String),
    /// `<TOCInline>`: a list of the page's headings.
    Contents(Contents),
}

/// The headings that a `<TOCInline>` lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Contents {
    /// The number of leading headings to skip (`toc.slice(1)`).
    pub(super) skip: usize,
    pub(super) min_level: u8,
    pub(super) max_level: u8,
}

impl Contents {
    /// Parses the attributes of a `<TOCInline>` tag; Docusaurus's default is levels 2 and 3.
    pub(super) fn of_tag(tag: &str) -> Self {
        Self {
            skip: number_after(tag, ".slice").unwrap_or(0),
            min_level: number_after(tag, "minHeadingLevel").unwrap_or(2),
            max_level: number_after(tag, "maxHeadingLevel").unwrap_or(3),
        }
    }
}

fn number_after<T: FromStr>(tag: &str, name: &str) -> Option<T> {
    let (_, rest) = tag.split_once(name)?;
    let rest = rest.trim_start_matches([' ', '=', '{', '"', '\'', '(']);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

impl Placeholder {
    pub(super) fn line(&self) -> String {
        match self {
            Self::Partial(name) => format!("{PLACEHOLDER}{name}{PLACEHOLDER}"),
            Self::Contents(contents) => format!(
                "{PLACEHOLDER}/{}/{}/{}{PLACEHOLDER}",
                contents.skip, contents.min_level, contents.max_level
            ),
        }
    }

    pub(super) fn of_line(line: &str) -> Option<Self> {
        let inner = line.strip_prefix(PLACEHOLDER)?.strip_suffix(PLACEHOLDER)?;
        let Some(numbers) = inner.strip_prefix('/') else {
            return Some(Self::Partial(inner.to_owned()));
        };
        let mut numbers = numbers.split('/');
        Some(Self::Contents(Contents {
            skip: numbers.next()?.parse().ok()?,
            min_level: numbers.next()?.parse().ok()?,
            max_level: numbers.next()?.parse().ok()?,
        }))
    }
}
