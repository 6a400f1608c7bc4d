//! Lines that represent content from other files or other parts of the page.

/// Surrounds a placeholder on a line of its own.
const MARK: char = '\u{E0B1}';

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
        let number_after = |name: &str| -> Option<usize> {
            let rest = tag.split_once(name)?.1;
            let rest = rest.trim_start_matches([' ', '=', '{', '"', '\'', '(']);
            let end = rest
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(rest.len());
            rest[..end].parse().ok()
        };
        let level = |name: &str, default: u8| {
            number_after(name)
                .and_then(|level| u8::try_from(level).ok())
                .unwrap_or(default)
        };
        Self {
            skip: number_after(".slice").unwrap_or(0),
            min_level: level("minHeadingLevel", 2),
            max_level: level("maxHeadingLevel", 3),
        }
    }
}

impl Placeholder {
    pub(super) fn line(&self) -> String {
        match self {
            Self::Partial(name) => format!("{MARK}{name}{MARK}"),
            Self::Contents(contents) => format!(
                "{MARK}/{}/{}/{}{MARK}",
                contents.skip, contents.min_level, contents.max_level
            ),
        }
    }

    pub(super) fn of_line(line: &str) -> Option<Self> {
        let inner = line.strip_prefix(MARK)?.strip_suffix(MARK)?;
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
