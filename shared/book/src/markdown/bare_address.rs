//! Addresses in text, which Docusaurus shows as links (`micromark-extension-gfm-autolink-literal` 2.1).

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::emoji::is_text_within;
use super::leaf::Leaf;
use crate::block::{Mark, MarkKind};

/// The beginning of an address.
static BEGINNING: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)https?://|www\.").expect("the pattern is a constant"));

/// Marks that belong to the text around an address if nothing but such marks follows.
const TRAILING: [char; 13] = [
    '!', '"', '\'', ')', '*', ',', '.', ':', ';', '?', ']', '_', '~',
];

/// The longest name of a host, in bytes. Bounds the time for a hostile page.
const MAX_HOST_BYTES: usize = 253;

impl Leaf {
    /// Marks addresses as links, outside of code, formulas, pictures and other links. E-mail addresses are no links, because readers cannot follow them.
    pub(super) fn with_address_links(mut self) -> Self {
        let addresses = addresses_in(&self.text);
        if addresses.is_empty() {
            return self;
        }
        self.marks.sort_by_key(|mark| mark.start);
        let mut marks = self.marks.iter().peekable();
        // The marks that have begun and may not have ended.
        let mut open: Vec<&Mark> = Vec::new();
        let mut links = Vec::new();
        for address in addresses {
            while let Some(mark) = marks.next_if(|mark| mark.start < address.end) {
                open.push(mark);
            }
            open.retain(|mark| mark.end > address.start);
            if open.iter().all(|mark| may_hold_link(mark, &address)) {
                links.push(link_to_itself(&self.text, address));
            }
        }
        self.marks.extend(links);
        self.marks.sort_by_key(|mark| mark.start);
        self
    }
}

/// True if an address may be a link in a mark that it overlaps. Emphasis that begins or ends within an address has taken characters from it.
fn may_hold_link(mark: &Mark, address: &Range<usize>) -> bool {
    !matches!(mark.kind, MarkKind::Link(_)) && is_text_within(mark, address)
}

fn link_to_itself(text: &str, address: Range<usize>) -> Mark {
    let shown = &text[address.clone()];
    let target = if shown.starts_with(['h', 'H']) {
        shown.to_owned()
    } else {
        format!("http://{shown}")
    };
    Mark {
        kind: MarkKind::Link(vec![target]),
        start: address.start,
        end: address.end,
    }
}

/// A stretch of text up to white space or a tag.
#[derive(Default)]
struct Word {
    /// The end without the marks that belong to the text around it.
    trimmed: usize,
    end: usize,
}

impl Word {
    fn new(text: &str, start: usize) -> Self {
        let rest = &text[start..];
        let length = rest.find(|c: char| c.is_whitespace() || c == '<');
        let word = &rest[..length.unwrap_or(rest.len())];
        Self {
            trimmed: start + word.trim_end_matches(TRAILING).len(),
            end: start + word.len(),
        }
    }
}

/// Returns the addresses in a text, in order.
fn addresses_in(text: &str) -> Vec<Range<usize>> {
    let mut addresses = Vec::new();
    let mut word = Word::default();
    let mut from = 0;
    while let Some(beginning) = BEGINNING.find_at(text, from) {
        from = beginning.end();
        if !may_begin(beginning.as_str(), &text[..beginning.start()]) {
            continue;
        }
        // A word is measured once, however many addresses may begin in it.
        if word.end <= beginning.start() {
            word = Word::new(text, beginning.start());
        }
        // The name of a host has at least one character after `www.`, which is a part of it.
        if word.trimmed <= beginning.end() {
            continue;
        }
        let is_www = beginning.as_str().ends_with('.');
        let host = if is_www { beginning.start() } else { from };
        let Some(length) = host_length(&text[host..word.trimmed]) else {
            continue;
        };
        let path = &text[host + length..word.trimmed];
        from = word.trimmed + closing_length(path, &text[word.trimmed..word.end]);
        addresses.push(beginning.start()..from);
    }
    addresses
}

/// True if an address may begin so after a text.
fn may_begin(beginning: &str, before: &str) -> bool {
    let last = before.chars().next_back();
    if beginning.ends_with('.') {
        last.is_none_or(|c| c.is_whitespace() || "(*_[]~".contains(c))
    } else {
        last.is_none_or(|c| !c.is_ascii_alphabetic())
    }
}

/// Returns the length of the name of a host at the start of a text; `None` if there is none. Its last two parts have no underscore.
fn host_length(text: &str) -> Option<usize> {
    let longest = &text[..text.floor_char_boundary(MAX_HOST_BYTES + 1)];
    let end = longest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '.' | '_')));
    let host = &longest[..end.unwrap_or(longest.len())];
    let is_host = host.len() <= MAX_HOST_BYTES
        && host.starts_with(char::is_alphanumeric)
        && !host.rsplit('.').take(2).any(|part| part.contains('_'));
    is_host.then_some(host.len())
}

/// Returns the number of parentheses at the start of `after` that close some of the path before it.
fn closing_length(path: &str, after: &str) -> usize {
    let opened = path.matches('(').count();
    let closed = path.matches(')').count();
    let closing = after.bytes().take_while(|byte| *byte == b')').count();
    closing.min(opened.saturating_sub(closed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, marks: Vec<Mark>) -> Leaf {
        let mut leaf = Leaf::default();
        (leaf.text, leaf.marks) = (text.to_owned(), marks);
        leaf.with_address_links()
    }

    /// Returns the shown text and the target of each link in a text with marks.
    fn links(text: &str, marks: Vec<Mark>) -> Vec<(String, String)> {
        let leaf = read(text, marks);
        let links = leaf.marks.iter().filter_map(|mark| match &mark.kind {
            MarkKind::Link(to) => Some((leaf.text[mark.range()].to_owned(), to[0].clone())),
            _ => None,
        });
        links.collect()
    }

    fn shown(text: &str) -> Vec<String> {
        let links = links(text, Vec::new()).into_iter();
        links.map(|(shown, _)| shown).collect()
    }

    #[test]
    fn an_address_ends_before_the_marks_of_the_text_around_it() {
        for (text, expected) in [
            ("See https://a.example/x.", "https://a.example/x"),
            ("(https://a.example/x_(y))", "https://a.example/x_(y)"),
            ("(https://a.example/x).", "https://a.example/x"),
            ("https://a.example/((x))).", "https://a.example/((x))"),
            ("https://a.example/(x)y)", "https://a.example/(x)y"),
            ("https://a.example/a)b", "https://a.example/a)b"),
            ("[https://a.example/x]", "https://a.example/x"),
            ("\"https://a.example\",", "https://a.example"),
            ("https://a.example/?q=1&p=2?!", "https://a.example/?q=1&p=2"),
            ("https://a.example/x_~*':;", "https://a.example/x"),
            ("https://a.example/a,b;c", "https://a.example/a,b;c"),
            (
                "https://a.example/.well-known",
                "https://a.example/.well-known",
            ),
            ("https://a.example#b<br", "https://a.example#b"),
            ("https://a.example\u{a0}b", "https://a.example"),
            ("https://点看.example/字。字", "https://点看.example/字。字"),
            ("a | HTTPS://A.example | b", "HTTPS://A.example"),
            ("http://localhost:3000/", "http://localhost:3000/"),
            ("https://a_b.c.example", "https://a_b.c.example"),
            ("1https://a.example", "https://a.example"),
            ("www.a.example.", "www.a.example"),
            ("[www.a.example/(b)]", "www.a.example/(b)"),
            ("https://a_b https://c.example", "https://c.example"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
    }

    #[test]
    fn a_text_without_the_name_of_a_host_is_no_address() {
        for text in [
            "ahttps://a.example",
            "awww.a.example",
            "/www.a.example",
            "https://",
            "https://.a",
            "https://...",
            "https://a_b.example",
            "https://b.a_example",
            "www.",
            "www. a",
            "www...",
            "www.a_b",
            &format!("https://{}", "a".repeat(MAX_HOST_BYTES + 1)),
            "ftp://a.example",
            "a.b@c.example",
            "a@www.b.example",
            "mailto:a@b.example",
        ] {
            assert!(shown(text).is_empty(), "{text}: {:?}", shown(text));
        }
    }

    #[test]
    fn an_address_without_a_protocol_is_reached_by_http() {
        let expected = (
            "WWW.a.example".to_owned(),
            "http://WWW.a.example".to_owned(),
        );
        assert_eq!(links("WWW.a.example", Vec::new()), [expected]);
    }

    #[test]
    fn an_address_is_a_link_in_emphasis_only() {
        let text = "See https://a.example/b now";
        let (start, end) = (4, text.len() - 4);
        let own = vec![(text[start..end].to_owned(), text[start..end].to_owned())];
        for (kind, start, end, expected) in [
            (MarkKind::Strong, start, end, own.clone()),
            (MarkKind::Emphasis, 0, text.len(), own.clone()),
            (MarkKind::Code, 0, start, own.clone()),
            (MarkKind::Code, end, text.len(), own),
            (MarkKind::Code, start, end, vec![]),
            (MarkKind::Formula, 0, text.len(), vec![]),
            (MarkKind::Picture("c".to_owned()), start, start + 1, vec![]),
            // The stars were a part of the address: `https://a.example/*b* now`.
            (MarkKind::Emphasis, end - 1, end, vec![]),
            (MarkKind::Strong, end - 1, text.len(), vec![]),
        ] {
            let mark = Mark { kind, start, end };
            assert_eq!(links(text, vec![mark.clone()]), expected, "{mark:?}");
        }
        let kind = MarkKind::Link(vec!["https://b.example".to_owned()]);
        let mark = Mark {
            kind,
            start: 0,
            end: text.len(),
        };
        let expected = (text.to_owned(), "https://b.example".to_owned());
        assert_eq!(links(text, vec![mark]), [expected]);
    }

    #[test]
    fn marks_are_in_the_order_in_which_they_begin() {
        let marks = [(MarkKind::Code, 20, 21), (MarkKind::Strong, 0, 19)];
        let leaf = read("https://a.example b c", marks.map(Mark::from).into());
        let places = leaf.marks.iter().map(|mark| (mark.start, mark.end));
        assert_eq!(places.collect::<Vec<_>>(), [(0, 19), (0, 17), (20, 21)]);
    }

    #[test]
    fn the_time_for_a_hostile_text_is_linear() {
        // Quadratic time would be hours.
        const BYTES: usize = 1_000_000;
        for part in [
            ")",
            "?)",
            "(",
            "https://",
            "1https://a_b",
            "_www.",
            "www.a ",
            "a.",
            ".",
        ] {
            let text = format!("https://a.example/{}", part.repeat(BYTES / part.len()));
            let marks = (0..text.len() / 16).map(|at| (MarkKind::Emphasis, 16 * at, 16 * at + 1));
            let marks: Vec<Mark> = marks.map(Mark::from).collect();
            let before = marks.len();
            let after = read(&text, marks).marks.len();
            assert_eq!(after > before, part == "www.a ", "{part}");
        }
    }
}
