//! Headings written as tags: `<h2 id="x">`, and Docusaurus's `<Heading as="h2" id="x">`.

use crate::dialect::Flavor;
use crate::jsx::Tag;
use crate::lines::escaped;

/// Begins and ends a line that represents a heading written as a tag.
const MARK: char = '\u{E0B6}';

/// Characters not allowed in an anchor: `&` begins a character reference, whose spelling differs in an address.
const NOT_IN_ANCHORS: [char; 2] = ['&', MARK];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum HeadingTag {
    /// `<h2 id="x">`.
    Opens {
        level: u8,
        /// The value of `id`. Docusaurus generates none for such a heading.
        anchor: Option<String>,
    },
    /// `</h2>`.
    Closes,
}

impl HeadingTag {
    pub(super) fn of_tag(tag: &Tag<'_>, flavor: Flavor) -> Option<Self> {
        let component = tag.name == "Heading" && flavor == Flavor::Mdx;
        if tag.closing {
            let closes = component || heading_level(tag.name, flavor).is_some();
            return closes.then_some(Self::Closes);
        }
        let element = if component {
            tag.made_as.as_deref()?
        } else {
            tag.name
        };
        let has_content = !tag.self_closing || tag.children.is_some();
        let level = heading_level(element, flavor).filter(|_| has_content)?;
        // The component ignores the id at level 1.
        let id = tag.id.as_ref().filter(|_| !(component && level == 1));
        Some(Self::Opens {
            level,
            anchor: id.filter(|id| is_linkable(id)).cloned(),
        })
    }

    pub(super) fn line(&self) -> String {
        match self {
            Self::Opens { level, anchor } => {
                let anchor = escaped(anchor.as_deref().unwrap_or_default());
                format!("{MARK}{level}{anchor}{MARK}")
            }
            Self::Closes => format!("{MARK}{MARK}"),
        }
    }

    pub(super) fn of_line(line: &str) -> Option<Self> {
        let inner = line.strip_prefix(MARK)?.strip_suffix(MARK)?;
        let Some(level) = inner.chars().next() else {
            return Some(Self::Closes);
        };
        let level = level.to_digit(7).and_then(|level| u8::try_from(level).ok());
        Some(Self::Opens {
            level: level.filter(|level| *level > 0)?,
            anchor: Some(inner[1..].to_owned()).filter(|anchor| !anchor.is_empty()),
        })
    }
}

fn is_linkable(id: &str) -> bool {
    !id.is_empty() && !id.contains(|c: char| c.is_whitespace() || NOT_IN_ANCHORS.contains(&c))
}

/// Returns the level of a heading element. HTML names are case-insensitive.
fn heading_level(element: &str, flavor: Flavor) -> Option<u8> {
    let (h, level) = element.split_at_checked(1)?;
    let is_h = h == "h" || (h == "H" && flavor == Flavor::Markdown);
    let level = level.parse().ok().filter(|level| (1..=6).contains(level))?;
    (is_h && element.len() == 2).then_some(level)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsx::{parse_tag, tag_start};

    fn of(text: &str, flavor: Flavor) -> Option<HeadingTag> {
        let tag = parse_tag(text, tag_start(text).expect("a tag")).expect("a whole tag");
        HeadingTag::of_tag(&tag, flavor)
    }

    #[test]
    fn headings_of_html_and_of_docusaurus_are_headings() {
        let opens = |level, anchor: &str| {
            let anchor = Some(anchor.to_owned()).filter(|anchor| !anchor.is_empty());
            Some(HeadingTag::Opens { level, anchor })
        };
        for (text, expected) in [
            ("<h1 id='top'>", opens(1, "top")),
            ("<h6>", opens(6, "")),
            ("<h2 id={id}>", opens(2, "")),
            ("<h2 id='a b'>", opens(2, "")),
            ("<h2 id='R&amp;D'>", opens(2, "")),
            ("<Heading as='h3' id='x'>", opens(3, "x")),
            ("<Heading as='h1' id='x'>", opens(1, "")),
            ("</h2>", Some(HeadingTag::Closes)),
            ("</Heading>", Some(HeadingTag::Closes)),
            ("<h2 id='x'/>", None),
            ("<h2 id='x' children='a'/>", opens(2, "x")),
            ("<h0>", None),
            ("<h7>", None),
            ("<h22>", None),
            ("<hr/>", None),
            ("<H2>", None),
            ("<Heading as={Tag} id='x'>", None),
            ("<Heading id='x'>", None),
            ("<summary>", None),
            ("<é/>", None),
        ] {
            assert_eq!(of(text, Flavor::Mdx), expected, "{text}");
        }
        assert_eq!(of("<H2 ID=x>", Flavor::Markdown), opens(2, "x"));
        assert_eq!(of("<Heading as='h2'>", Flavor::Markdown), None);
    }

    #[test]
    fn a_tag_is_read_from_its_line() {
        for text in ["<h2>", "<h3 id='snake_case-é'>", "</h3>"] {
            let tag = of(text, Flavor::Mdx).expect("a heading's tag");
            let line = tag.line().replace('\\', "");
            assert_eq!(HeadingTag::of_line(&line), Some(tag), "{text}");
        }
        assert_eq!(HeadingTag::of_line("text"), None);
    }
}
