//! Addresses in text, which GitHub Flavored Markdown shows as links.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::leaf::Leaf;
use crate::block::{Mark, MarkKind};

static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)(?:https?://|www\.)[^\s<]+").expect("the pattern is a constant")
});
/// Marks at the end of an address that belong to the text around it.
const TRAILING: [char; 11] = ['?', '!', '.', ',', ':', ';', '*', '_', '~', '\'', '"'];

impl Leaf {
    /// Marks addresses as links, outside of code, formulas, pictures and other links.
    pub(super) fn with_address_links(mut self) -> Self {
        let links: Vec<Mark> = ADDRESS
            .find_iter(&self.text)
            .filter(|found| begins_address(&self.text[..found.start()]))
            .map(|found| found.start()..found.start() + address_length(found.as_str()))
            .filter(|range| has_domain(&self.text[range.clone()]) && self.is_plain(range))
            .map(|range| self.link_to_itself(range))
            .collect();
        self.marks.extend(links);
        self.marks.sort_by_key(|mark| mark.start);
        self
    }

    fn is_plain(&self, stretch: &Range<usize>) -> bool {
        use MarkKind::{Code, Formula, Link, Picture};
        self.marks.iter().all(|mark| {
            let is_apart = mark.end <= stretch.start || stretch.end <= mark.start;
            is_apart || !matches!(mark.kind, Code | Formula | Link(_) | Picture(_))
        })
    }

    fn link_to_itself(&self, stretch: Range<usize>) -> Mark {
        let shown = &self.text[stretch.clone()];
        let address = if shown.starts_with(['h', 'H']) {
            shown.to_owned()
        } else {
            format!("http://{shown}")
        };
        Mark {
            kind: MarkKind::Link(vec![address]),
            start: stretch.start,
            end: stretch.end,
        }
    }
}

/// True if an address may begin after a text.
fn begins_address(before: &str) -> bool {
    let last = before.chars().next_back();
    last.is_none_or(|c| c.is_whitespace() || "*_~(".contains(c))
}

/// Returns the length without the marks after it, and without parentheses that it does not open.
fn address_length(found: &str) -> usize {
    let mut address = found;
    loop {
        let trimmed = address.trim_end_matches(TRAILING);
        let count = |c: char| trimmed.matches(c).count();
        let next = match trimmed.strip_suffix(')') {
            Some(rest) if count(')') > count('(') => rest,
            _ => trimmed,
        };
        if next.len() == address.len() {
            return next.len();
        }
        address = next;
    }
}

/// True if the host has a period between names.
fn has_domain(address: &str) -> bool {
    let host = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = host.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let mut names = host.split('.');
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_alphanumeric() || "-_".contains(c))
    };
    host.contains('.') && names.all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str, marks: Vec<Mark>) -> Vec<(String, String)> {
        let mut leaf = Leaf::default();
        (leaf.text, leaf.marks) = (text.to_owned(), marks);
        let leaf = leaf.with_address_links();
        let links = leaf.marks.iter().filter_map(|mark| match &mark.kind {
            MarkKind::Link(to) => Some((leaf.text[mark.range()].to_owned(), to[0].clone())),
            _ => None,
        });
        links.collect()
    }

    #[test]
    fn addresses_are_links_as_on_github() {
        for (text, expected) in [
            ("See https://a.example/x.", Some("https://a.example/x")),
            ("(https://a.example/x_(y))", Some("https://a.example/x_(y)")),
            (
                "Is it www.a.example/?q=1&p=2?!",
                Some("www.a.example/?q=1&p=2"),
            ),
            ("ahttps://a.example", None),
            ("http://localhost:3000", None),
            ("https://", None),
            ("https://a..b", None),
            ("a | HTTPS://a.example | b", Some("HTTPS://a.example")),
        ] {
            let found = links(text, Vec::new());
            let shown: Vec<&str> = found.iter().map(|(shown, _)| shown.as_str()).collect();
            assert_eq!(shown, Vec::from_iter(expected), "{text}");
        }
        let found = links("www.a.example", Vec::new());
        assert_eq!(found[0].1, "http://www.a.example");
    }

    #[test]
    fn an_address_in_code_or_in_a_link_is_none_of_its_own() {
        let text = "https://a.example";
        let code = Mark {
            kind: MarkKind::Code,
            start: 0,
            end: text.len(),
        };
        assert_eq!(links(text, vec![code.clone()]), []);
        let kind = MarkKind::Link(vec!["https://b.example".to_owned()]);
        let found = links(text, vec![Mark { kind, ..code }]);
        assert_eq!(found, [(text.to_owned(), "https://b.example".to_owned())]);
    }
}
