//! Ids for `fetch`: addresses of pages and sections, UUIDs of chunks, and continuations of cut texts. Pure.

use std::fmt;

use percent_encoding::percent_decode_str;
use uuid::Uuid;

/// The scheme of a resource's URI, before the page's path.
pub(super) const RESOURCE_SCHEME: &str = "book://";
/// Separates an id from the offset of its continuation.
const CONTINUATION: char = '~';
/// Characters of an id that an error repeats.
const SHOWN_CHARACTERS: usize = 120;

/// The id of a page, a section or a chunk, or of the rest of its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Id {
    /// The page, section or chunk.
    pub(super) place: Place,
    /// The offset of the continuation: bytes of a text, or entries of a list.
    pub(super) from: usize,
}

/// A place in the book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A page, by its path from the site's root.
    Page(String),
    /// A section, by its page's path and its anchor.
    Section(String, String),
    /// A chunk, by the id in citations.
    Chunk(Uuid),
}

impl Id {
    /// Parses an id. Full URLs and resource URIs identify the page or section at their path.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        let (text, from) = continued(text).unwrap_or((text, 0));
        let text = text.trim();
        if let Ok(chunk) = text.parse() {
            let place = Place::Chunk(chunk);
            return Self { place, from };
        }
        let place = Place::at(text);
        Self { place, from }
    }

    /// Returns the id of the continuation at an offset.
    pub(super) fn at(&self, from: usize) -> String {
        let place = self.place.clone();
        Self { place, from }.to_string()
    }

    /// Returns the id with its path and anchor percent-decoded; `None` if that changes nothing or is not a text without control characters.
    pub(super) fn decoded(&self) -> Option<Self> {
        let place = match &self.place {
            Place::Page(path) => Place::Page(percent_decoded(path)?),
            Place::Section(path, anchor) => {
                Place::Section(percent_decoded(path)?, percent_decoded(anchor)?)
            }
            Place::Chunk(_) => return None,
        };
        let decoded = Self { place, ..*self };
        let is_text = !decoded.to_string().contains(char::is_control);
        (is_text && decoded != *self).then_some(decoded)
    }

    /// Returns the id for an error message, shortened.
    pub(super) fn shown(&self) -> String {
        let shown = self.to_string();
        match shown.char_indices().nth(SHOWN_CHARACTERS) {
            Some((end, _)) => format!("{}…", &shown[..end]),
            None => shown,
        }
    }
}

impl Place {
    /// Reads an address: a path of the site, an address in full or a resource's URI, with or without an anchor.
    pub(super) fn at(address: &str) -> Self {
        let path = match address.split_once("://") {
            Some((_, rest)) if !address.starts_with('/') => {
                rest.find('/').map_or("/", |at| &rest[at..])
            }
            _ => address,
        };
        let (path, anchor) = path.split_once('#').unwrap_or((path, ""));
        let path = path.split('?').next().unwrap_or_default();
        let path = format!("/{}", path.trim().trim_start_matches('/'));
        match anchor.trim() {
            "" => Self::Page(path),
            anchor => Self::Section(path, anchor.to_owned()),
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match &self.place {
            Place::Page(path) => path.clone(),
            Place::Section(path, anchor) => format!("{path}#{anchor}"),
            Place::Chunk(chunk) => chunk.to_string(),
        };
        f.write_str(&place)?;
        // An address may end like a continuation.
        if self.from > 0 || continued(&place).is_some() {
            write!(f, "{CONTINUATION}{}", self.from)?;
        }
        Ok(())
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

/// Splits an id from its continuation; `None` if it has none.
fn continued(text: &str) -> Option<(&str, usize)> {
    let (id, from) = text.rsplit_once(CONTINUATION)?;
    let is_number = from.bytes().all(|byte| byte.is_ascii_digit());
    let from = from.parse().ok().filter(|_| is_number)?;
    Some((id, from))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_place_has_one_id_however_it_is_addressed() {
        for (text, id) in [
            ("/docs/frost", "/docs/frost"),
            ("docs/frost", "/docs/frost"),
            (
                " https://book.example/docs/frost?a=1#signs ",
                "/docs/frost#signs",
            ),
            ("book:///docs/frost~12", "/docs/frost~12"),
            ("https://book.example", "/"),
            ("/docs/frost#", "/docs/frost"),
            ("/~user/docs", "/~user/docs"),
            ("/docs~0", "/docs"),
            (
                "67E55044-10B1-426F-9247-BB680E5FE0C8~7",
                "67e55044-10b1-426f-9247-bb680e5fe0c8~7",
            ),
        ] {
            assert_eq!(Id::parse(text).to_string(), id, "{text}");
        }
    }

    #[test]
    fn an_address_is_decoded_if_that_is_a_text() {
        for (text, decoded) in [
            (
                "/docs/%C3%9Cn%C3%AF#%C3%A9t%C3%A9~3",
                Some("/docs/Ünï#été~3"),
            ),
            ("/docs/what%3F%23", Some("/docs/what?#")),
            ("/docs/100%2525", Some("/docs/100%25")),
            ("/docs/100%", None),
            ("/docs/%FF", None),
            ("/docs/%00", None),
            ("67e55044-10b1-426f-9247-bb680e5fe0c8", None),
        ] {
            let id = Id::parse(text).decoded().map(|id| id.to_string());
            assert_eq!(id.as_deref(), decoded, "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_id_that_is_written_is_read_again(text in "\\PC{0,60}") {
            let id = Id::parse(&text);
            prop_assert_eq!(Id::parse(&id.to_string()), id.clone());
            prop_assert_eq!(Id::parse(&id.at(5)).place, id.place);
        }
    }
}
