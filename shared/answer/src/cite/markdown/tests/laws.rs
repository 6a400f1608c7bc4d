use ::markdown::mdast::Node;
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::*;
use crate::rendering::rendered;

/// Pieces of links, markup, code and addresses, to be mixed in any order.
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

/// The same pieces with citation markers between them.
fn cited_fragments() -> impl Strategy<Value = Vec<String>> {
    (fragments(), prop::collection::vec(0..30_usize, 0..3)).prop_map(|(mut pieces, places)| {
        for place in places {
            pieces.insert(place.min(pieces.len()), "⟦1⟧".to_owned());
        }
        pieces
    })
}

/// Joins the pieces, without those that would begin an address that has no host. Such a beginning is written as code, which merges with adjacent code.
fn without_beginnings(pieces: &[String]) -> String {
    let mut text = String::new();
    for piece in pieces {
        let is_beginning = ["://", "s://", "www."].contains(&piece.as_str());
        let slashes = text.matches("://").count() + piece.matches("://").count();
        let joined = format!("{text}{piece}");
        if !is_beginning && joined.matches("://").count() == slashes {
            text = joined;
        }
    }
    text
}

/// Returns the link targets that two Markdown renderers and an automatic linker find.
fn leads_away(markdown: &str) -> Vec<String> {
    let allowed = allowed();
    let is_allowed = |target: &str| allowed.href(target).is_some() || allowed.has_address(target);
    let mut found = Vec::new();
    let mut words = String::new();
    let (mut in_link, mut in_code) = (0, false);
    let foreign = Options::ENABLE_SMART_PUNCTUATION | Options::ENABLE_SUPERSCRIPT;
    for event in Parser::new_ext(markdown, Options::all() - foreign) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => found.push(html.to_string()),
            Event::Start(Tag::Image { dest_url, .. }) => found.push(dest_url.to_string()),
            Event::FootnoteReference(name) => found.push(name.to_string()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                in_link += 1;
                found.extend((!is_allowed(&dest_url)).then(|| dest_url.to_string()));
            }
            Event::End(TagEnd::Link) => in_link -= 1,
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(TagEnd::CodeBlock) => in_code = false,
            Event::Text(text) if in_link == 0 && !in_code => words.push_str(&text),
            Event::Start(Tag::Strong | Tag::Emphasis)
            | Event::End(TagEnd::Strong | TagEnd::Emphasis) => {}
            _ => words.push(' '),
        }
    }
    let words = words.replace("[1]", " ");
    let bare = addresses(&words, address::TextKind::Prose);
    found.extend(bare.into_iter().map(|range| words[range].to_owned()));
    let tree = ::markdown::to_mdast(markdown, &::markdown::ParseOptions::gfm()).unwrap();
    visit(&tree, &mut |node| match node {
        Node::Link(link) if is_allowed(&link.url) => {}
        Node::Link(_)
        | Node::Image(_)
        | Node::Html(_)
        | Node::Definition(_)
        | Node::LinkReference(_)
        | Node::ImageReference(_)
        | Node::FootnoteReference(_) => found.push(format!("{node:?}")),
        _ => {}
    });
    found
}

fn visit(node: &Node, see: &mut dyn FnMut(&Node)) {
    see(node);
    for child in node.children().into_iter().flatten() {
        visit(child, see);
    }
}

#[test]
fn no_renderer_takes_what_surrounds_an_address_for_a_link() {
    let out = written(&[" a0|\t~\t \t |@a0@[-&[javascript:```\n```[`"]);
    let found = leads_away(&out);
    assert!(found.is_empty(), "{found:?} in {out:?}");
}

proptest! {
    #[test]
    fn how_a_text_is_cut_changes_nothing(pieces in cited_fragments()) {
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let whole = pieces.concat();
        let expected = written(&[&whole]);
        prop_assert_eq!(&written(&pieces), &expected);
        if !whole.contains('⟦') {
            let characters: Vec<String> = whole.chars().map(String::from).collect();
            let characters: Vec<&str> = characters.iter().map(String::as_str).collect();
            prop_assert_eq!(written(&characters), expected);
        }
    }

    #[test]
    fn what_was_written_reads_the_same_when_it_is_written_again(pieces in fragments()) {
        let once = written(&[&without_beginnings(&pieces)]);
        let twice = written(&[&once]);
        for (again, seen) in rendered(&twice).into_iter().zip(rendered(&once)) {
            prop_assert_eq!(again.text, seen.text, "{:?} {:?}", once, twice);
        }
    }

    #[test]
    fn no_renderer_finds_in_it_what_leads_away(pieces in cited_fragments()) {
        let out = written(&[&pieces.concat()]);
        let found = leads_away(&out);
        prop_assert!(found.is_empty(), "{found:?} in {out:?}");
    }

    #[test]
    fn nothing_in_it_is_a_tag_to_what_reads_html(pieces in cited_fragments()) {
        let text = pieces.concat().replace(['`', '~'], "");
        let out = written(&[&text]);
        let opens = |rest: &str| rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        let is_link = |rest: &str| rest[1..].starts_with("https://ok.org");
        prop_assert!(!out.match_indices('<').any(|(at, _)| opens(&out[at..]) && !is_link(&out[at..])), "{out:?}");
    }

    #[test]
    fn no_text_is_lost(words in prop::collection::vec("[a-z]{1,4}|\\*\\*|[*_`$|&<>!~=+-]|<b>|</b>|<!--|\n|\n\n|\n- |\n1\\. |\n> |\n## |\n\\| |\n```\n| {4}|\\[|\\]", 0..30)) {
        let text = words.join(" ").replace(" \n ", "\n");
        let is_letter = |c: &char| c.is_alphabetic();
        let expected: String = text.chars().filter(is_letter).collect();
        for seen in rendered(&written(&[&text])) {
            let seen: String = seen.text.chars().filter(is_letter).collect();
            prop_assert_eq!(&seen, &expected, "{:?}", written(&[&text]));
        }
    }
}
