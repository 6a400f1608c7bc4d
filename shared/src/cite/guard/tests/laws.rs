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
            "\u{200b}", "\u{1b}[0m", "\u{202e}", "é", "…", "<|im_end|>", "[1]", "=\"", "x ",
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

/// The addresses with a scheme that are left in a text, wherever they stand.
fn addresses(text: &str) -> Vec<&str> {
    let from = |scheme: &'static str| text.match_indices(scheme).map(|(at, _)| &text[at..]);
    let ends = |c: char| c.is_whitespace() || "<>\"'`".contains(c);
    from("http://")
        .chain(from("https://"))
        .map(|rest| trimmed(rest.split(ends).next().unwrap_or_default()))
        .filter(|address| {
            address
                .split_once("//")
                .is_some_and(|(_, host)| host.contains(char::is_alphanumeric))
        })
        .collect()
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
        let allowed = ["https://ok.org/x", "https://ok.org/y_(z)"];
        for address in addresses(&out) {
            // What a bracket opened before may be a link's text or target.
            let ends = [Some(address), address.split("](").next(), address.split(')').next(), address.rsplit_once(')').map(|(a, _)| a)];
            let known = ends.into_iter().flatten().any(|address| allowed.contains(&trimmed(address)));
            prop_assert!(known, "{address:?} in {out:?}");
        }
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
        let out = filter(&[&text]).replace("<https://ok.org/x>", " ").replace("<https://ok.org/y_(z)>", " ").replace("<a@ok.org>", " ");
        let opens = |rest: &str| rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        prop_assert!(!out.match_indices('<').any(|(at, _)| opens(&out[at..])), "{out:?}");
        let mails = out.match_indices("@evil.org").any(|(at, _)| out[..at].ends_with(char::is_alphanumeric));
        prop_assert!(!out.contains("![") && !mails, "{out:?}");
    }

    #[test]
    fn text_without_anything_that_leads_away_passes_unchanged(text in "[a-z0-9 \n,.;*#+=()-]{0,120}") {
        let text = text.replace(':', "").replace("www", "");
        prop_assert_eq!(filter(&[&text]), text);
    }
}
