//! Finds bare addresses in a text.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Regex, RegexBuilder};

/// The kind of text, which decides where an address begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Prose,
    /// In code, `//` begins a comment, `@` a name, and a quote ends an address.
    Code,
}

/// A scheme or `www.` with the text after it, a scheme that needs no host, or slashes before a possible host.
///
/// In prose a quote does not end an address: `https://a.org"@b.org` leads to `b.org`. East Asian characters do, because these scripts have no space
/// between an address and the next word.
static IN_PROSE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?<prefix>[a-z][a-z0-9+.-]*://[/\\]*|(?:https?|ftp):[/\\]+|www\.)[^\s<\u{3000}-\u{ffef}]*
        |(?:javascript|vbscript|mailto):[^\s<>"'`*|)\].,…][^\s<\u{3000}-\u{ffef}]*
        |\bdata:(?:[a-z0-9]+/|[a-z0-9]*[,;][[:alnum:]%<])[^\s<]*
        |(?<slashes>[/\\]{2,})[^\s<\u{3000}-\u{ffef}]*"#,
    )
});
/// Like [`IN_PROSE`], for code.
static IN_CODE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?<prefix>[a-z][a-z0-9+.-]*://[/\\]*|(?:https?|ftp):[/\\]+|www\.)[^\s<>"'`]*
        |(?:javascript|vbscript|mailto):[^\s<>"'`*|)\].,…][^\s<>"'`]*
        |\bdata:(?:[a-z0-9]+/|[a-z0-9]*[,;][[:alnum:]%<])[^\s<>"'`]*
        |(?<slashes>//)[^\s<>"'`]*"#,
    )
});
/// Text that some renderers turn into a mail address.
static MAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r#"(?<local>[^\s()\[\]<>@:…]*[^\s()\[\]<>@:…"'`])["'`]*@(?<host>[^\s<>()\[\],;:!?"'*|\u{3000}-\u{ffef}]+)"#,
    )
});

fn pattern(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .case_insensitive(true)
        .ignore_whitespace(true)
        .build()
        .expect("the pattern is a constant")
}

/// Returns the ranges of addresses with a host in a text, in order and without the punctuation after them.
pub(super) fn addresses(text: &str, kind: TextKind) -> Vec<Range<usize>> {
    if kind == TextKind::Code {
        // After any other character, slashes begin a comment.
        return web(text, &IN_CODE, |before| {
            matches!(before, Some('(' | '=' | '"' | '\''))
        });
    }
    let mut found = web(text, &IN_PROSE, |before| {
        !before.is_some_and(char::is_alphanumeric)
    });
    let mut from = 0;
    let mut mails = Vec::new();
    for range in found.iter().chain([&(text.len()..text.len())]) {
        mails.extend(mail(text, from..range.start));
        from = range.end;
    }
    found.extend(mails);
    found.sort_by_key(|range| range.start);
    found
}

/// Finds addresses other than mail. `may_begin` says which characters may precede an address without a scheme.
fn web(text: &str, pattern: &Regex, may_begin: fn(Option<char>) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(word) = pattern.captures_at(text, from) {
        let range = word.get(0).map_or(from..from, |whole| whole.range());
        let end = range.start + trimmed(&text[range.clone()]).len();
        let prefix = word.name("prefix").or(word.name("slashes"));
        let host = prefix.map(|prefix| text.get(prefix.end()..end).unwrap_or_default());
        let before = text[..range.start].chars().next_back();
        let leads = match (host, word.name("slashes")) {
            (Some(host), Some(_)) => may_begin(before) && has_host(host),
            (Some(host), None) => host.contains(char::is_alphanumeric),
            (None, _) => true,
        };
        if leads {
            from = end;
            found.push(range.start..end);
        } else {
            from = prefix.map_or(range.end, |prefix| prefix.end());
        }
    }
    found
}

fn mail(text: &str, stretch: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = stretch.start;
    while let Some(word) = MAIL.captures_at(&text[..stretch.end], from) {
        let (local, host) = (word.name("local"), word.name("host"));
        let (Some(local), Some(host)) = (local, host) else {
            break;
        };
        let name = trimmed(host.as_str());
        from = host.start();
        if has_domain(name) {
            from += name.len();
            found.push(local.start() + odd_start(local.as_str())..from);
        }
    }
    found
}

/// Returns how many bytes at the beginning of a local part only some renderers accept as part of the address.
fn odd_start(local: &str) -> usize {
    let start = local
        .trim_end_matches(|c: char| c.is_alphanumeric() || "._+-".contains(c))
        .len();
    if start < local.len() { start } else { 0 }
}

/// Removes trailing punctuation that is not part of an address, including unmatched closing parentheses.
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

/// True if the text after slashes begins with a host, possibly after a user name. A host has dots, and one of its names after the first has more than
/// one letter.
fn has_host(rest: &str) -> bool {
    let authority = rest.split(['/', '\\', '?', '#']).next().unwrap_or_default();
    authority.split('@').any(|part| {
        let host = part.split(':').next().unwrap_or_default();
        let mut labels = host.split('.').filter(|label| !label.is_empty()).skip(1);
        labels.any(|label| label.len() > 1 || label.starts_with(|c: char| c.is_ascii_digit()))
            || (part.starts_with('[') && part.contains(':'))
    })
}

/// True if the text after `@` is a host: it has a name after a dot.
fn has_domain(host: &str) -> bool {
    let mut names = host.split(['.', '\\']).skip(1);
    names.any(|name| name.contains(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, kind: TextKind) -> Vec<&str> {
        let found = addresses(text, kind);
        found.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn what_leads_away_is_found_whole() {
        for (text, expected) in [
            (
                "See https://a.b/x, (HTTP://c.d).",
                vec!["https://a.b/x", "HTTP://c.d"],
            ),
            (
                "https://a/b_(c)**, https://a/…",
                vec!["https://a/b_(c)", "https://a/"],
            ),
            (
                r"https:\\a.b http:/a.b x://a.b",
                vec![r"https:\\a.b", "http:/a.b", "x://a.b"],
            ),
            (
                "www.a.b a_www.c.d xwww.e.f",
                vec!["www.a.b", "www.c.d", "www.e.f"],
            ),
            (
                "//a.bc /\\a.bc //u@a.bc //1.2.3.4 //[::1]/x",
                vec!["//a.bc", "/\\a.bc", "//u@a.bc", "//1.2.3.4", "//[::1]/x"],
            ),
            (
                "javascript:a(1) data:text/x,y mailto:x",
                vec!["javascript:a(1)", "data:text/x,y", "mailto:x"],
            ),
            (
                "x@a.bc, support=@a.bc x\"@a_b.cd",
                vec!["x@a.bc", "support=@a.bc", "x\"@a_b.cd"],
            ),
            (
                "https://a.b\"@c.d https://x@y",
                vec!["https://a.b\"@c.d", "https://x@y"],
            ),
            ("看https://a.b/x。更多", vec!["https://a.b/x"]),
        ] {
            assert_eq!(found(text, TextKind::Prose), expected, "{text}");
        }
        assert_eq!(
            found("curl 'https://a.b/x' | sh", TextKind::Code),
            ["https://a.b/x"]
        );
    }

    #[test]
    fn what_only_resembles_an_address_is_none() {
        for text in [
            "http:// a http://) // b //c and//or.d www. w //ts-ignore /opt/ros //a.b //e.g.",
            "**JavaScript:** {msg.data:.2f} data: x, data:,} JavaScript: x",
            "@app.route (@pytest.fixture) [@a.bc] \"@types/node\" '@site/docs' a@b x @ y.z HEAD@{1} user@host:~/x.sh",
            "docs/intro.md node.js 10.0.0.0/24 ros2_www __init__ a.www",
        ] {
            assert_eq!(found(text, TextKind::Prose), Vec::<&str>::new(), "{text}");
        }
        let code = "@app.route(\"/x\")\nx = a@b.c //a.bc";
        assert_eq!(found(code, TextKind::Code), Vec::<&str>::new());
    }
}
