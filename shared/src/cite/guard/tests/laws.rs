use proptest::prelude::*;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::*;

/// Pieces of links, markup, code and addresses, mixed so that any of them may stand in any other.
fn fragments() -> impl Strategy<Value = Vec<String>> {
    let fragment = prop_oneof![
        4 => "[a-z0-9 \n\t\\[\\]()<>`~!:/\\\\.@&#;|\"'=*_-]",
        4 => prop::sample::select(vec![
            "](", "[x](", "![", "]: ", "\n[x]: ", ")", "<b>", "</b>", "<a href=", "<!--", "-->", "<", ">", "\n\n", "\n", "`", "``", "```",
            "\n```", "\n```\n", "\n~~~\n", "- ", "\n1. ", "\n    ", "   ", "> ", "| ", "http", "s://", "://", "//", "https://evil.org/x", "http://evil.org",
            "https://ok.org/x", "https://ok.org/y_(z)", "/docs/a", "./a.md", "#c", "/evil", "evil.org", "www.", "www.evil.org", "javascript:",
            "data:", "text/html", "mailto:", "a@ok.org", "b@evil.org", "@", "&#58;", "&colon;", "&#x", "\\", "\"t\"", "see above", "word", ".",
            "\u{200b}", "\u{1b}[0m", "\u{202e}", "é", "…", "<|im_end|>", "[1]", "=\"", "x ", "https://ok.org", "\u{a0}", "€", ">", "\"@", "_b.evil.org",
            "&#95;", "&lowbar;",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(fragment, 0..30)
}

/// Such pieces with citation markers between them.
fn cited_fragments() -> impl Strategy<Value = Vec<String>> {
    (fragments(), prop::collection::vec(0..30_usize, 0..3)).prop_map(|(mut pieces, places)| {
        for place in places {
            pieces.insert(place.min(pieces.len()), "⟦1⟧".to_owned());
        }
        pieces
    })
}

/// The addresses that are left in a text, wherever they stand, and are not allowed; a word ends at one of `ends`.
fn not_allowed(text: &str, ends: impl Fn(char) -> bool) -> Vec<&str> {
    let allowed = [
        "https://ok.org",
        "https://ok.org/x",
        "https://ok.org/y_(z)",
        "https://ok.org/it's",
    ];
    // What a bracket opened before may be a link's text or target.
    let is_allowed = |address: &&str| {
        [
            Some(*address),
            address.split("](").next(),
            address.split(')').next(),
            address.rsplit_once(')').map(|(start, _)| start),
        ]
        .into_iter()
        .flatten()
        .any(|address| allowed.contains(&trimmed(address)))
    };
    let leads =
        |prefix: &str, address: &str| address[prefix.len()..].contains(char::is_alphanumeric);
    text.split(ends)
        .flat_map(|word| {
            ["http://", "https://", "www."]
                .into_iter()
                .flat_map(move |prefix| {
                    word.match_indices(prefix)
                        .map(move |(at, _)| (prefix, &word[at..]))
                })
        })
        .filter(|(prefix, address)| leads(prefix, address))
        .map(|(_, address)| address)
        .filter(|address| !is_allowed(address))
        .collect()
}

/// A text without the autolinks that are allowed.
fn without_autolinks(text: &str) -> String {
    [
        "https://ok.org",
        "https://ok.org/x",
        "https://ok.org/y_(z)",
        "a@ok.org",
    ]
    .iter()
    .fold(text.to_owned(), |text, to| {
        text.replace(&format!("<{to}>"), " ")
    })
}

/// What a `CommonMark` parser makes of a text that leads away: HTML, images, and links that are not allowed.
fn leads_away(text: &str) -> Vec<String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_MATH;
    let allowed = guard().allowed;
    let event = |event| match event {
        Event::Html(html) | Event::InlineHtml(html) => Some(html.to_string()),
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        Event::Start(Tag::Link {
            dest_url,
            link_type,
            ..
        }) => {
            let allows = match link_type {
                LinkType::Email | LinkType::Autolink => allowed.has_address(&dest_url),
                _ => allowed.has_target(&dest_url),
            };
            (!allows).then(|| dest_url.to_string())
        }
        _ => None,
    };
    Parser::new_ext(text, options).filter_map(event).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn how_a_text_is_cut_changes_nothing(pieces in fragments()) {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let whole = pieces.concat();
        let expected = filter(&[&whole]);
        prop_assert_eq!(&filter(&pieces), &expected);
        let characters: Vec<String> = whole.chars().map(String::from).collect();
        let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
        prop_assert_eq!(filter(&characters), expected);
    }

    #[test]
    fn how_a_text_with_markers_is_cut_changes_nothing(pieces in cited_fragments()) {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(filter(&pieces), filter(&[&pieces.concat()]));
    }

    #[test]
    fn filtering_twice_changes_nothing(pieces in fragments()) {
        let once = filter(&[&pieces.concat()]);
        prop_assert_eq!(filter(&[&once]), once);
    }

    #[test]
    fn no_address_is_left_that_is_not_allowed(pieces in cited_fragments()) {
        let out = filter(&[&pieces.concat()]);
        let found = not_allowed(&out, |c| c.is_whitespace() || "<>\"'`".contains(c));
        prop_assert!(found.is_empty(), "{found:?} in {out:?}");
        prop_assert!(!out.contains("javascript:a"), "{out:?}");
    }

    #[test]
    fn a_parser_finds_nothing_in_it_that_leads_away(pieces in cited_fragments()) {
        let out = filter(&[&pieces.concat()]);
        let found = leads_away(&out);
        prop_assert!(found.is_empty(), "{found:?} in {out:?}");
    }

    #[test]
    fn no_tag_is_left_outside_code(pieces in cited_fragments()) {
        let text = pieces.concat().replace(['`', '~'], "");
        let out = without_autolinks(&filter(&[&text]));
        let opens = |rest: &str| rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        prop_assert!(!out.match_indices('<').any(|(at, _)| opens(&out[at..])), "{out:?}");
        let mails = out.match_indices("@evil.org").any(|(at, _)| out[..at].ends_with(char::is_alphanumeric));
        prop_assert!(!out.contains("![") && !mails, "{out:?}");
    }

    #[test]
    fn no_renderer_finds_an_address_in_the_words_that_are_left(pieces in cited_fragments()) {
        let text = pieces.concat().replace(['`', '~'], "");
        let out = without_autolinks(&filter(&[&text]));
        let found = not_allowed(&out, |c| c.is_ascii_whitespace() || c == '<');
        prop_assert!(found.is_empty(), "{found:?} in {out:?}");
        for (at, _) in out.match_indices('@') {
            let host = out[at + 1..].split(|c: char| !(c.is_alphanumeric() || "._-".contains(c))).next().unwrap_or_default();
            let may_lead = trimmed(host).trim_start_matches('.').contains('.') && out[..at].ends_with(|c: char| c.is_alphanumeric() || "\\\"'=&*_.+-".contains(c));
            prop_assert!(!may_lead || out[..at].ends_with('a') && trimmed(host) == "ok.org", "{host:?} in {out:?}");
        }
    }

    #[test]
    fn text_without_anything_that_leads_away_passes_unchanged(text in "[a-z0-9 \n,.;*#+=()-]{0,120}") {
        let text = text.replace(':', "").replace("www", "");
        prop_assert_eq!(filter(&[&text]), text);
    }
}
