//! Elements that browsers do not show.

use super::{LineKind, Preparer};
use crate::dialect::Flavor;
use crate::jsx::{Attribute, AttributeValue, Tag, attributes, parse_tag, tag_start};
use crate::omission::OmissionReason;
use crate::spans::{code_span_length, ticks};

/// Elements whose content is not shown: metadata, scripts, and what browsers show only if they lack the element.
const UNSEEN_ELEMENTS: [&str; 11] = [
    "style", "script", "head", "Head", "template", "noscript", "iframe", "object", "audio",
    "video", "canvas",
];

/// Elements that show something from elsewhere.
const EMBEDS: [&str; 5] = ["iframe", "object", "audio", "video", "canvas"];

/// The most bytes of details that are searched for embedded elements.
const MAX_EMBED_BYTES: usize = 4_096;

/// The most bytes of failed searches for the ends of code in one element.
const MAX_FAILED_BYTES: usize = 1024 * 1024;

impl Preparer<'_> {
    /// Skips an element that is not shown. Returns false for other tags. In a heading its words count for the id.
    pub(super) fn unseen_element(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        let is_unseen = self.is_unseen(tag);
        if !is_unseen && !is_hidden(tag, &rest[..tag.length]) && !self.is_embed(tag, rest) {
            return false;
        }
        let length = if is_unseen {
            let end = format!("</{}>", tag.name);
            let found = self.search(|| rest.find(&end).ok_or(rest.len()));
            found.map(|at| at + end.len())
        } else if tag.self_closing {
            None
        } else {
            self.search(|| element_length(rest, tag))
        };
        let length = length.unwrap_or(tag.length);
        self.skip(length, OmissionReason::UnseenElement, &[]);
        if self.kind == LineKind::Heading {
            self.write_id_only(&without_tags(&rest[..length]));
        }
        true
    }

    /// True for `<details>` with nothing but embedded elements.
    fn is_embed(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        if tag.name != "details" || tag.closing {
            return false;
        }
        let window = &rest[..rest.floor_char_boundary(MAX_EMBED_BYTES)];
        let length = EMBEDS
            .iter()
            .any(|name| window.contains(name))
            .then(|| self.search(|| element_length(window, tag)))
            .flatten();
        length.is_some_and(|length| self.only_embeds(&window[tag.length..length]))
    }

    /// True for the start of an element whose content is not shown. A `head` in the text of a Markdown page is a tag that browsers ignore.
    fn is_unseen(&self, tag: &Tag<'_>) -> bool {
        let is_ignored = tag.name == "head" && self.dialect.flavor == Flavor::Markdown;
        UNSEEN_ELEMENTS.contains(&tag.name) && !tag.closing && !tag.self_closing && !is_ignored
    }

    /// True for the content of details that is only a video or another embedded element besides a summary, perhaps with a link to where it is from.
    fn only_embeds(&self, mut content: &str) -> bool {
        let mut embeds = false;
        while let Some(at) = content.find('<') {
            let (text, element) = content.split_at(at);
            let tag = tag_start(element).and_then(|start| parse_tag(element, start));
            let Some(tag) = tag.filter(|tag| tag.prose.is_empty() && tag.code.is_empty()) else {
                return false;
            };
            if text.contains(char::is_alphanumeric) || self.partials.contains_key(tag.name) {
                return false;
            }
            let is_embed = EMBEDS.contains(&tag.name);
            let is_skipped = is_embed || matches!(tag.name, "a" | "summary");
            let end = format!("</{}>", tag.name);
            let end = element.find(&end).map(|at| at + end.len());
            let end = end.filter(|_| is_skipped && !tag.closing && !tag.self_closing);
            embeds |= is_embed;
            content = &element[end.unwrap_or(tag.length)..];
        }
        embeds && !content.contains(char::is_alphanumeric)
    }
}

/// True for an element that its own attributes hide: `hidden`, or a style without display. The panels of tabs are hidden until they are chosen.
fn is_hidden(tag: &Tag<'_>, source: &str) -> bool {
    // A component may use its properties otherwise.
    let is_element = tag.name.starts_with(|c: char| c.is_lowercase()) && !tag.closing;
    is_element
        && !source.contains("tabpanel")
        && (source.contains("hidden") || source.contains("display"))
        && attributes(source).iter().any(hides)
}

fn hides(attribute: &Attribute<'_>) -> bool {
    let value = match attribute.value {
        AttributeValue::Absent => "",
        AttributeValue::Quoted(value)
        | AttributeValue::Bare(value)
        | AttributeValue::Expression(value) => value.trim(),
    };
    let is_computed = matches!(attribute.value, AttributeValue::Expression(_));
    if attribute.name.eq_ignore_ascii_case("hidden") {
        return !is_computed || value == "true";
    }
    // `display: none`, or `{{display: 'none'}}`.
    let style: String = value
        .split(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`'))
        .collect();
    attribute.name.eq_ignore_ascii_case("style") && style.contains("display:none")
}

/// Returns the length of the element that a tag begins, to the end of its end tag.
///
/// # Errors
/// The number of bytes searched if the element never ends.
fn element_length(text: &str, tag: &Tag<'_>) -> Result<usize, usize> {
    let mut open = 1_usize;
    let mut at = tag.length;
    let mut failed = 0;
    while let Some(found) = text[at..].find(['<', '`']) {
        at += found;
        let rest = &text[at..];
        if rest.starts_with('`') {
            let code = code_length(rest);
            failed += code.err().unwrap_or_default();
            if failed > MAX_FAILED_BYTES {
                break;
            }
            at += code.unwrap_or_else(|_| ticks(rest));
            continue;
        }
        let start = tag_start(rest).filter(|start| start.name() == tag.name);
        let Some(next) = start.and_then(|start| parse_tag(rest, start)) else {
            at += 1;
            continue;
        };
        at += next.length;
        if next.closing {
            open -= 1;
        } else if !next.self_closing {
            open += 1;
        }
        if open == 0 {
            return Ok(at);
        }
    }
    Err(text.len())
}

/// Returns the length of the code that backticks begin, in a line or in a fence.
///
/// # Errors
/// The number of bytes searched if it never ends.
fn code_length(text: &str) -> Result<usize, usize> {
    let opening = ticks(text);
    if opening < "```".len() {
        return code_span_length(text);
    }
    let rest = &text[opening..];
    let end = rest.find(&text[..opening]).ok_or(rest.len())?;
    Ok(opening + end + ticks(&rest[end..]))
}

fn without_tags(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        plain.push_str(&rest[..at]);
        let tag = tag_start(&rest[at..]).and_then(|start| parse_tag(&rest[at..], start));
        rest = &rest[at + tag.map_or(1, |tag| tag.length)..];
    }
    plain + rest
}
