//! The parts of an HTML page that say what it is: its head, and the element that holds its content.

mod head;
mod root;

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};

pub(super) use head::Head;
pub(super) use root::Root;

/// Elements that have neither content nor an end tag.
const VOID: [&[u8]; 13] = [
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta",
    b"source", b"track", b"wbr",
];

/// A start tag with the offsets of its source.
pub(super) type Start = StartTag<usize>;

/// The tokens of a page, with the offsets of their sources.
pub(super) type Tokens<'a> = Tokenizer<html5gum::StringReader<'a>, DefaultEmitter<usize>>;

/// Returns the tokens of a page.
pub(super) fn tokens(html: &str) -> Tokens<'_> {
    let mut emitter = DefaultEmitter::new_with_span();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter)
}

/// Elements whose text a page never shows.
const UNSEEN: [&[u8]; 3] = [b"title", b"script", b"style"];

/// True if a page has words, wherever they are.
pub(super) fn has_words(html: &str) -> bool {
    let mut is_unseen = false;
    tokens(html).any(|Ok(token)| match token {
        Token::StartTag(tag) => {
            is_unseen = UNSEEN.contains(&tag.name.as_slice());
            false
        }
        Token::EndTag(_) => {
            is_unseen = false;
            false
        }
        Token::String(text) => {
            !is_unseen && String::from_utf8_lossy(&text).contains(char::is_alphanumeric)
        }
        _ => false,
    })
}

/// Returns the value of an attribute.
pub(super) fn attribute(tag: &Start, name: &str) -> Option<String> {
    let value: &HtmlString = tag.attributes.get(name.as_bytes())?;
    Some(String::from_utf8_lossy(value).into_owned())
}

/// True if an attribute that holds a list of words, such as `class`, has this one.
pub(super) fn has_word(tag: &Start, name: &str, word: &str) -> bool {
    let words = attribute(tag, name).unwrap_or_default();
    words
        .split_ascii_whitespace()
        .any(|own| own.eq_ignore_ascii_case(word))
}

/// Returns the level of a heading's tag, from 1.
pub(super) fn heading_level(name: &[u8]) -> Option<u8> {
    match name {
        [b'h', level @ b'1'..=b'6'] => Some(level - b'0'),
        _ => None,
    }
}

/// True for an element without content, which has no end tag.
pub(super) fn is_empty(tag: &Start) -> bool {
    let name = tag.name.as_slice();
    VOID.contains(&name) || (name == b"svg" && tag.self_closing)
}
