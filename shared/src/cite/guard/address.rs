//! Addresses that stand bare in a text: where one begins, where it ends, and whether it names a host. Pure functions of what follows.

/// Where an answer's text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Text,
    /// Code: `//` begins a comment there.
    Code,
}

/// What stops the text that is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// More may come.
    Open,
    /// A citation marker follows.
    Marker,
    /// Nothing follows.
    Text,
}

/// Whether an address begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    No,
    /// What is there may become one.
    Unsure,
    /// With a scheme, or `www.`; what stands before its host is so many bytes long.
    Scheme(usize),
    /// Slashes and what may be a host; so many bytes of slashes.
    Slashes(usize),
}

/// Schemes that a slash follows.
const HIERARCHICAL: [&str; 3] = ["http:", "https:", "ftp:"];
/// Schemes that anything follows.
const OPAQUE: [&str; 3] = ["javascript:", "vbscript:", "mailto:"];
/// What cannot follow an opaque scheme at once: `**JavaScript:**` is a label.
const ENDS_LABEL: [char; 11] = ['<', '>', '"', '\'', '`', '*', '|', ')', ']', '.', ','];

enum Match {
    No,
    Partial,
    Full(usize),
}

/// Matches a pattern of ASCII in lower case; Markdown's backslash before punctuation is looked through.
fn match_pattern(text: &str, pattern: &str) -> Match {
    let mut rest = text;
    for expected in pattern.chars() {
        if expected.is_ascii_punctuation() {
            rest = rest.trim_start_matches('\\');
        }
        match rest.chars().next() {
            None => return Match::Partial,
            Some(c) if c.to_ascii_lowercase() == expected => rest = &rest[1..],
            Some(_) => return Match::No,
        }
    }
    Match::Full(text.len() - rest.len())
}

/// Whether an address begins with a text, after the character `before`. Nothing but its end leaves an answer unsure.
pub(super) fn starts(text: &str, before: Option<char>, place: Place, end: End) -> Start {
    let Some(first) = text.chars().next() else {
        return Start::No;
    };
    let start = match first.to_ascii_lowercase() {
        'h' | 'f' | 'j' | 'v' | 'm' => starts_scheme(text),
        'w' => match match_pattern(text, "www.") {
            Match::No => Start::No,
            Match::Partial => Start::Unsure,
            Match::Full(length) => Start::Scheme(length),
        },
        'd' if !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.') => {
            starts_data(text)
        }
        '/' | '\\' if place == Place::Text && !before.is_some_and(char::is_alphanumeric) => {
            match text.len() - text.trim_start_matches(['/', '\\']).len() {
                1 if text.len() == 1 => Start::Unsure,
                1 => Start::No,
                slashes => Start::Slashes(slashes),
            }
        }
        _ => Start::No,
    };
    if start == Start::Unsure && end != End::Open {
        Start::No
    } else {
        start
    }
}

fn starts_scheme(text: &str) -> Start {
    let mut unsure = false;
    for (is_hierarchical, scheme) in HIERARCHICAL
        .iter()
        .map(|scheme| (true, scheme))
        .chain(OPAQUE.iter().map(|scheme| (false, scheme)))
    {
        match match_pattern(text, scheme) {
            Match::No => {}
            Match::Partial => unsure = true,
            Match::Full(length) => match text[length..].chars().next() {
                None => return Start::Unsure,
                Some('/' | '\\') if is_hierarchical => {
                    let host = text[length..].trim_start_matches(['/', '\\']);
                    return Start::Scheme(text.len() - host.len());
                }
                Some(c) if !is_hierarchical && !c.is_whitespace() && !ENDS_LABEL.contains(&c) => {
                    return Start::Scheme(length);
                }
                Some(_) => return Start::No,
            },
        }
    }
    if unsure { Start::Unsure } else { Start::No }
}

/// `data:image/png`, not `data:.2f` nor `data: frames`.
fn starts_data(text: &str) -> Start {
    match match_pattern(text, "data:") {
        Match::No => Start::No,
        Match::Partial => Start::Unsure,
        Match::Full(length) => {
            let rest = &text[length..];
            let kind = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '\\');
            match kind.chars().next() {
                None => Start::Unsure,
                Some('/') if kind.len() < rest.len() => Start::Scheme(length),
                Some(',' | ';') => match kind[1..].chars().next() {
                    None => Start::Unsure,
                    Some(c) if c.is_alphanumeric() || matches!(c, '%' | '<') => {
                        Start::Scheme(length)
                    }
                    Some(_) => Start::No,
                },
                Some(_) => Start::No,
            }
        }
    }
}

/// Where the word ends that an address stands in, within square brackets also before `](`. `None`: not in this text.
///
/// In text a quote does not end it: `https://a.org"@b.org` leads to `b.org`.
pub(super) fn word_end(text: &str, place: Place, in_brackets: bool) -> Option<usize> {
    let ends = |c: char| {
        c.is_whitespace()
            || c == '<'
            || (place == Place::Code && matches!(c, '>' | '"' | '\'' | '`'))
    };
    let end = text.find(ends);
    let label_end = if in_brackets { text.find("](") } else { None };
    match (end, label_end) {
        (Some(end), Some(label_end)) => Some(end.min(label_end)),
        (end, label_end) => end.or(label_end),
    }
}

/// A word without the punctuation that ends it and is not the address's own, closing parentheses without an opening one included.
pub(super) fn trimmed(word: &str) -> &str {
    let mut address = word;
    while let Some(last) = address.chars().next_back() {
        let is_excess = match last {
            ')' => address.matches(')').count() > address.matches('(').count(),
            _ if last.is_ascii() => ".,;:!?*_~|]}>\"'`".contains(last),
            _ => !last.is_alphanumeric(),
        };
        if !is_excess {
            break;
        }
        address = &address[..address.len() - last.len_utf8()];
    }
    address
}

/// Whether what follows slashes begins with a host, or does behind a user's name: names between dots of which one behind the first
/// is more than a letter.
pub(super) fn has_host(rest: &str) -> bool {
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    authority.split('@').any(|part| {
        let host = part.split(':').next().unwrap_or_default();
        let mut labels = host
            .split(['.', '。', '．'])
            .filter(|label| !label.is_empty())
            .skip(1);
        labels.any(|label| label.len() > 1 || label.starts_with(|c: char| c.is_ascii_digit()))
            || (part.starts_with('[') && part.contains(':'))
    })
}

/// The host after the `@` that a text begins with: its length, 0 if there is none, and how far some renderers read on; `None` if
/// it may go on.
pub(super) fn mail_host(text: &str, end: End) -> Option<(usize, usize)> {
    let rest = &text[1..];
    let in_host = |c: char| {
        c.is_alphanumeric() || ".-_\\+=$~^|`".contains(c) || !(c.is_ascii() || c.is_whitespace())
    };
    let length = match rest.find(|c| !in_host(c)) {
        Some(length) => length,
        None if end == End::Open => return None,
        None => rest.len(),
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '\\');
    let plain = rest[..length].find(|c| !is_plain(c)).unwrap_or(length);
    let lengths = [plain, length].map(|length| trimmed(&rest[..length]).len());
    let has_labels = |length: &usize| {
        let labels = rest[..*length].split(['.', '\\']);
        labels.filter(|label| !label.is_empty()).count() > 1
    };
    Some((
        lengths.into_iter().find(has_labels).unwrap_or(0),
        lengths[1],
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_words() {
        let cases = [
            ("http://a.b", Start::Scheme(7)),
            ("HTTPS:\\\\a", Start::Scheme(8)),
            ("http\\:\\/\\/a", Start::Scheme(10)),
            ("http:/a", Start::Scheme(6)),
            ("javascript:x", Start::Scheme(11)),
            ("JavaScript:**", Start::No),
            ("JavaScript: x", Start::No),
            ("data:text/html,x", Start::Scheme(5)),
            ("data:,x", Start::Scheme(5)),
            ("data:.2f}", Start::No),
            ("data:,}", Start::No),
            ("data: x", Start::No),
            ("www.a", Start::Scheme(4)),
            ("www\\.a", Start::Scheme(5)),
            ("www.", Start::Scheme(4)),
            ("//a.bc", Start::Slashes(2)),
            ("/\\a", Start::Slashes(2)),
            ("// a", Start::Slashes(2)),
            ("/a", Start::No),
            ("\\alpha", Start::No),
            ("htt", Start::Unsure),
            ("http", Start::Unsure),
            ("http:", Start::Unsure),
            ("mailto", Start::Unsure),
            ("/", Start::Unsure),
            ("hello", Start::No),
            ("", Start::No),
        ];
        for (text, expected) in cases {
            assert_eq!(
                starts(text, None, Place::Text, End::Open),
                expected,
                "{text:?}"
            );
        }
        assert_eq!(starts("htt", None, Place::Text, End::Text), Start::No);
        assert_eq!(
            starts("data:text/x", Some('.'), Place::Code, End::Open),
            Start::No
        );
        assert_eq!(starts("//a.bc", None, Place::Code, End::Open), Start::No);
    }

    #[test]
    fn a_word_ends_before_its_punctuation() {
        let cases = [
            ("http://a/b).", "http://a/b"),
            ("http://a/b_(c)**,", "http://a/b_(c)"),
            ("http://a/…", "http://a/"),
            ("http://a/?", "http://a/"),
            ("http://a/\">,'`", "http://a/"),
        ];
        for (word, expected) in cases {
            assert_eq!(trimmed(word), expected);
        }
        assert_eq!(word_end("http://a](b) c", Place::Text, true), Some(8));
        assert_eq!(word_end("http://a](b) c", Place::Text, false), Some(12));
        assert_eq!(word_end("http://a\"@b c", Place::Text, false), Some(11));
        assert_eq!(word_end("http://a\"@b c", Place::Code, false), Some(8));
        assert_eq!(word_end("http://a", Place::Text, false), None);
    }

    #[test]
    fn hosts_are_told_from_comments() {
        assert!(
            [
                "a.bc/x",
                "u@a.bc:1",
                "a.bc:1@u",
                "1.2.3.4",
                "[::1]/x",
                "evil。example",
                "€.a+b.cd",
                "'*.a.bc#d@e",
                "a.bcde.f"
            ]
            .into_iter()
            .all(has_host)
        );
        assert!(
            ![
                "a",
                "a.b",
                "e.g.",
                "TODO:x.yz",
                "my_robot/a.dae",
                "@ts-ignore"
            ]
            .into_iter()
            .any(has_host)
        );
        assert_eq!(mail_host("@a.bc, x", End::Open), Some((4, 4)));
        assert_eq!(mail_host("@a.bc", End::Open), None);
        assert_eq!(mail_host("@a_b.c+de", End::Text), Some((5, 8)));
        assert_eq!(mail_host("@a.bc。de。", End::Text), Some((4, 9)));
        assert_eq!(mail_host("@€.bc", End::Text), Some((6, 6)));
        assert_eq!(mail_host("@param x", End::Open), Some((0, 5)));
    }
}
