//! JSX and HTML tags and `{expressions}`, as far as reading a page requires.

mod strings;
mod target;

use strings::string_literals;
use target::address_in;

pub(super) use strings::{Part, expression_length, only_string, string_parts};
pub(super) use target::Target;

/// A tag: `<Name attributes>`, `</Name>` or `<Name/>`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    pub(super) length: usize,
    /// The name; empty for a fragment.
    pub(super) name: &'a str,
    /// True for `</…>`.
    pub(super) closing: bool,
    /// True for `<…/>`.
    pub(super) self_closing: bool,
    /// The prose in its attributes, in order.
    pub(super) prose: Vec<String>,
    /// The texts of several lines in its attributes, which may be code, with single spaces.
    pub(super) code: Vec<String>,
    /// The value of `id`, if it is a string.
    pub(super) id: Option<String>,
    /// The value of `as`, if it is a string: the element that the component renders.
    pub(super) made_as: Option<String>,
    /// The address that it links to or shows as a picture, if known.
    pub(super) target: Option<Target>,
    /// The value of `children`, if it is a string: the content.
    pub(super) children: Option<String>,
}

/// An attribute, or a spread (`{...rest}`), which has an empty name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attribute<'a> {
    pub(super) name: &'a str,
    pub(super) value: AttributeValue<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttributeValue<'a> {
    Absent,
    Quoted(&'a str),
    /// Without quotes, as HTML allows.
    Bare(&'a str),
    Expression(&'a str),
}

/// Attributes whose text is visible in every component.
const PROSE_ATTRIBUTES: [&str; 17] = [
    "title",
    "label",
    "summary",
    "alt",
    "question",
    "questions",
    "answer",
    "answers",
    "options",
    "explanation",
    "hint",
    "caption",
    "description",
    "heading",
    "text",
    "header",
    "tooltip",
];
/// Attributes whose text is never visible, even if it resembles prose.
const HIDDEN_ATTRIBUTES: [&str; 16] = [
    "className",
    "class",
    "style",
    "id",
    "src",
    "href",
    "to",
    "key",
    "value",
    "width",
    "height",
    "rel",
    "target",
    "type",
    "queryString",
    "groupId",
];

/// Components of Docusaurus that show the text of no attribute: labels of tabs are at their panels, and the others have tooltips and notes for
/// translators.
const WITHOUT_PROSE: [&str; 3] = ["Tabs", "Link", "Translate"];

/// Inline tags, whose removal leaves no gap.
const INLINE_TAGS: [&str; 24] = [
    "a", "abbr", "b", "big", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q",
    "s", "samp", "small", "span", "strong", "sub", "sup", "u", "var", "Link",
];

/// The gap left by a removed tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// None: `H<sub>2</sub>O`.
    None,
    /// A space: for an inline component or a line break.
    Space,
    /// A boundary between blocks.
    Block,
}

impl Tag<'_> {
    pub(super) fn gap(&self) -> Gap {
        let is_fragment = self.name.is_empty();
        if is_fragment || INLINE_TAGS.contains(&self.name) {
            Gap::None
        } else if matches!(self.name, "br" | "img" | "wbr" | "input" | "button")
            || self.name.starts_with(char::is_uppercase)
            || matches!(self.name, "td" | "th")
        {
            Gap::Space
        } else {
            Gap::Block
        }
    }
}

/// The beginning of a tag: `<Name` or `</Name`, and a character that may follow a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct TagStart<'a> {
    name: &'a str,
    closing: bool,
    name_end: usize,
}

impl<'a> TagStart<'a> {
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    pub(super) fn closes(&self) -> bool {
        self.closing
    }
}

/// Parses the beginning of the tag at the start of `text`. `None` if there is none; `<https://…>` is a link.
pub(super) fn tag_start(text: &str) -> Option<TagStart<'_>> {
    let bytes = text.as_bytes();
    if bytes.first() != Some(&b'<') {
        return None;
    }
    let closing = bytes.get(1) == Some(&b'/');
    let name_start = 1 + usize::from(closing);
    let name_end = name_start
        + text[name_start..]
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '$')))?;
    let name = &text[name_start..name_end];
    let starts_well = name.is_empty() || name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let ends_well = match bytes.get(name_end) {
        Some(b'>') => true,
        Some(b'/' | b'{' | b' ' | b'\t' | b'\n') => !name.is_empty(),
        _ => false,
    };
    (starts_well && ends_well && !name.ends_with(':')).then_some(TagStart {
        name,
        closing,
        name_end,
    })
}

/// Parses the tag at the start of `text`. `None` if there is none or it never ends.
pub(super) fn parse_tag<'a>(text: &str, start: TagStart<'a>) -> Option<Tag<'a>> {
    let bytes = text.as_bytes();
    let TagStart {
        name,
        closing,
        name_end,
    } = start;
    let mut tag = Tag {
        length: 0,
        name,
        closing,
        self_closing: false,
        prose: Vec::new(),
        code: Vec::new(),
        id: None,
        made_as: None,
        target: None,
        children: None,
    };
    let mut at = name_end;
    loop {
        at += text[at..].len() - text[at..].trim_start().len();
        match *bytes.get(at)? {
            b'>' => {
                tag.length = at + 1;
                return Some(tag);
            }
            b'/' => {
                tag.self_closing = true;
                at += 1;
            }
            _ => {
                let (attribute, end) = parse_attribute(text, at)?;
                keep_attribute(&mut tag, attribute);
                at = end;
            }
        }
    }
}

pub(super) fn attributes(tag: &str) -> Vec<Attribute<'_>> {
    let mut attributes = Vec::new();
    let mut at = tag_start(tag).map_or(tag.len(), |start| start.name_end);
    loop {
        at += tag[at..].len() - tag[at..].trim_start().len();
        match tag.as_bytes().get(at) {
            None | Some(b'>') => return attributes,
            Some(b'/') => at += 1,
            Some(_) => {
                let Some((attribute, end)) = parse_attribute(tag, at) else {
                    return attributes;
                };
                attributes.push(attribute);
                at = end;
            }
        }
    }
}

/// Parses the attribute or spread at `at`. Also returns its end.
fn parse_attribute(text: &str, at: usize) -> Option<(Attribute<'_>, usize)> {
    if text.as_bytes()[at] == b'{' {
        let (value, end) = parse_expression(text, at)?;
        return Some((Attribute { name: "", value }, end));
    }
    let name_length = text[at..].find(|c: char| {
        c.is_whitespace() || matches!(c, '=' | '>' | '/' | '{' | '}' | '<' | '"' | '\'' | '`')
    })?;
    if name_length == 0 {
        return None;
    }
    let name = &text[at..at + name_length];
    let mut end = at + name_length;
    let after_space = end + (text[end..].len() - text[end..].trim_start().len());
    if text.as_bytes().get(after_space) != Some(&b'=') {
        let value = AttributeValue::Absent;
        return Some((Attribute { name, value }, end));
    }
    end = after_space + 1;
    end += text[end..].len() - text[end..].trim_start().len();
    let (value, end) = match *text.as_bytes().get(end)? {
        quote @ (b'"' | b'\'') => {
            let length = text[end + 1..].find(char::from(quote))?;
            let value = &text[end + 1..end + 1 + length];
            (AttributeValue::Quoted(value), end + length + 2)
        }
        b'{' => parse_expression(text, end)?,
        _ => {
            let length = text[end..].find(|c: char| c.is_whitespace() || c == '>')?;
            let value = &text[end..end + length];
            (AttributeValue::Bare(value), end + length)
        }
    };
    Some((Attribute { name, value }, end))
}

/// Parses the braces at `at`. Also returns their end.
fn parse_expression(text: &str, at: usize) -> Option<(AttributeValue<'_>, usize)> {
    let length = expression_length(&text[at..])?;
    let inner = &text[at + 1..at + length - 1];
    Some((AttributeValue::Expression(inner), at + length))
}

/// Stores the parts of an attribute that a page's text or links need.
fn keep_attribute(tag: &mut Tag<'_>, attribute: Attribute<'_>) {
    let name = attribute.name;
    match attribute.value {
        AttributeValue::Absent => {}
        AttributeValue::Bare(value) => keep_value(tag, name, value),
        AttributeValue::Quoted(value) => {
            tag.prose.extend(shown_text(tag, name, value));
            keep_value(tag, name, value);
        }
        // Strings in a spread have no attribute name that tells whether they are visible.
        AttributeValue::Expression(_) if name.is_empty() => {}
        AttributeValue::Expression(expression) => {
            let texts = string_literals(expression);
            let shown = texts.iter().filter_map(|text| shown_text(tag, name, text));
            let shown: Vec<String> = shown.collect();
            if is_code(name, expression) {
                tag.code.extend(shown);
            } else {
                tag.prose.extend(shown);
            }
            if let Some(value) = only_string(expression) {
                keep_value(tag, name, &value);
            } else if let Some(address) = address_in(expression) {
                keep_target(tag, name, address);
            }
        }
    }
}

/// True for an attribute of a component that may hold code, such as `code` and `source`.
pub(super) fn may_hold_code(name: &str) -> bool {
    let is_prose = PROSE_ATTRIBUTES.contains(&name);
    let is_hidden = name.is_empty() || name.contains('-') || HIDDEN_ATTRIBUTES.contains(&name);
    !is_prose && !is_hidden
}

/// True for an attribute whose text has several lines: ``code={`…`}``.
fn is_code(name: &str, expression: &str) -> bool {
    may_hold_code(name)
        && string_parts(expression).is_some_and(|parts| {
            let texts: Vec<String> = parts.into_iter().map(Part::text).collect();
            texts.concat().trim().contains('\n')
        })
}

/// Stores the value of an attribute that concerns ids, content or links.
fn keep_value(tag: &mut Tag<'_>, name: &str, value: &str) {
    if name.eq_ignore_ascii_case("id") {
        tag.id = Some(value.to_owned());
    } else if name == "as" {
        tag.made_as = Some(value.to_owned());
    } else if name == "children" {
        tag.children = Some(value.to_owned());
    } else {
        keep_target(tag, name, value.to_owned());
    }
}

fn keep_target(tag: &mut Tag<'_>, name: &str, address: String) {
    if let Some(target) = Target::of_attribute(tag.name, name, address) {
        tag.target = Some(target);
    }
}

/// True if readers see the text of an attribute.
fn shows_attribute(element: &str, name: &str, value: &str) -> bool {
    if !element.starts_with(char::is_uppercase) {
        // `alt` replaces a picture; `title` is only a tooltip.
        return element == "img" && name == "alt";
    }
    // Names for screen readers and scripts have a hyphen: `aria-label`, `data-x`.
    let may_be_seen = !HIDDEN_ATTRIBUTES.contains(&name) && !name.contains('-');
    let reads_as_prose = value.contains(' ') && value.contains(char::is_alphabetic);
    !WITHOUT_PROSE.contains(&element)
        && (PROSE_ATTRIBUTES.contains(&name) || (may_be_seen && reads_as_prose))
}

/// Returns the text of an attribute as readers see it, with single spaces; `None` if they do not.
fn shown_text(tag: &Tag<'_>, name: &str, value: &str) -> Option<String> {
    let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_shown = shows_attribute(tag.name, name, &value) && !value.is_empty();
    is_shown.then_some(value)
}

/// Returns the text of an attribute; `None` if it is missing, empty or computed.
pub(super) fn text_of(given: &[Attribute<'_>], name: &str) -> Option<String> {
    let attribute = given.iter().find(|attribute| attribute.name == name)?;
    let text = match attribute.value {
        AttributeValue::Quoted(text) | AttributeValue::Bare(text) => text.to_owned(),
        AttributeValue::Expression(expression) => serde_json::from_str(expression.trim())
            .ok()
            .or_else(|| only_string(expression))?,
        AttributeValue::Absent => return None,
    };
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests;
