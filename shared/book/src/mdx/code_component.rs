//! Code that a page has as a text: in Docusaurus's component for it, in other elements, and in attributes of components.

use html5gum::Token;

use super::expression::{ShownText, UnknownPart};
use super::{LineKind, Preparer};
use crate::dialect::Flavor;
use crate::escape::{fence_info, fenced};
use crate::imports::shown_text_file;
use crate::jsx::{
    Attribute, AttributeValue, Tag, attributes, expression_length, may_hold_code, parse_tag,
    tag_start, text_of,
};
use crate::lines::{continued_prefix, without_quotes};
use crate::omission::OmissionReason;
use crate::placeholder::Placeholder;
use crate::shortcode::verbatim;
use crate::webpage::tokens;

/// Begin strings in JavaScript.
const QUOTES: [char; 3] = ['`', '"', '\''];

/// The attributes of a `<code>` that name its language with [`LANGUAGE_CLASS`].
const CLASSES: [&str; 2] = ["className", "class"];

const LANGUAGE_CLASS: &str = "language-";

/// The longest name of a language, in bytes. Each code of a component has it.
const MAX_LANGUAGE_BYTES: usize = 100;

/// The source of code in an element.
#[derive(Clone, Copy)]
enum CodeSource<'t> {
    /// An expression whose value is the code, without its braces.
    Expression(&'t str),
    /// The code itself, with character references.
    Text(&'t str),
}

/// The parts of an element with code.
struct CodeElement<'t> {
    /// The language that a tag names; empty if it is unknown.
    language: String,
    code: CodeSource<'t>,
    /// The white space before the code on its line, in bytes, if it begins the line.
    indentation: Option<usize>,
    /// The number of lines before the one on which the code begins.
    lines_before: usize,
    /// The length of the whole element.
    length: usize,
}

impl Preparer<'_> {
    /// Writes the code in ``<CodeBlock language="sh">{`…`}</CodeBlock>``, `<CodeBlock>…</CodeBlock>` or ``<pre><code>{`…`}</code></pre>`` as a fence.
    /// Returns false for other tags, for code whose value is unknown, for code in a table or heading, and for several lines in a quote, which have the
    /// marks of the quote.
    pub(super) fn code_component(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        if self.is_in_line() {
            return false;
        }
        let Some(element) = self.code_element(tag, rest) else {
            return false;
        };
        let is_quoted = self.quotes > 0 && rest[..element.length].contains('\n');
        let shown = match element.code {
            CodeSource::Expression(expression) => self.shown_text(expression, UnknownPart::Source),
            CodeSource::Text(text) => Some(ShownText {
                text: decoded(text),
                written: vec![text.to_owned()],
            }),
        };
        let Some(shown) = shown.filter(|shown| !(is_quoted || shown.text.trim().is_empty())) else {
            return false;
        };
        let (lines, first) = self.fence(&element, &shown.text, &tag.prose.join(" "));
        let kept = tag.prose.iter().cloned();
        let kept: Vec<String> = kept.chain(written_lines(&shown.written)).collect();
        self.skip(element.length, OmissionReason::Tag, &kept);
        self.own_lines(&lines, first);
        true
    }

    /// Writes the texts of several lines that a component has as attributes (`code={example}`) as fences, and files that it shows as text. Returns false
    /// if it has none, and for partials, which decide what they show.
    pub(super) fn code_attributes(&mut self, tag: &Tag<'_>, source: &str) -> bool {
        let is_component = tag.name.starts_with(char::is_uppercase) && !tag.closing;
        let is_partial = self.partials.contains_key(tag.name);
        if self.dialect.flavor != Flavor::Mdx || !is_component || is_partial || self.is_in_line() {
            return false;
        }
        let mut shown = Vec::new();
        let mut kept = tag.prose.clone();
        let given = attributes(source);
        let language = language_of(&given);
        let (mut at, mut lines_before) = (0, 0);
        for attribute in given {
            let AttributeValue::Expression(expression) = attribute.value else {
                continue;
            };
            // Each search begins where the one before it ended.
            let start = at + source[at..].find(expression).unwrap_or_default();
            lines_before += source[at..start].matches('\n').count();
            let lines_to_here = lines_before;
            lines_before += expression.matches('\n').count();
            at = start + expression.len();
            let file = shown_text_file(expression.trim());
            if self.partials.contains_key(&file) {
                shown.push((vec![Placeholder::Partial(file).line()], None));
                continue;
            }
            if !may_hold_code(attribute.name) {
                continue;
            }
            let code = self.shown_text(expression, UnknownPart::Source);
            let Some(code) = code.filter(|code| code.text.trim().contains('\n')) else {
                continue;
            };
            let element = CodeElement {
                language: language.clone(),
                code: CodeSource::Expression(expression),
                indentation: None,
                lines_before: lines_to_here,
                length: source.len(),
            };
            shown.push(self.fence(&element, &code.text, ""));
            kept.extend(written_lines(&code.written));
        }
        if shown.is_empty() {
            return false;
        }
        self.skip(tag.length, OmissionReason::Tag, &kept);
        self.own_line(&verbatim(&tag.prose.join(" ")));
        for (lines, first) in shown {
            self.own_lines(&lines, first);
        }
        true
    }

    /// True in a heading or a table, which hold no blocks.
    pub(super) fn is_in_line(&self) -> bool {
        self.kind == LineKind::Heading || self.first == Some('|')
    }

    /// Returns the lines of a fence for the code of an element, and the source line of the first if the code is written in the element.
    fn fence(
        &self,
        element: &CodeElement<'_>,
        code: &str,
        title: &str,
    ) -> (Vec<String>, Option<u32>) {
        let prefix = continued_prefix(&self.current).len();
        let lines = code.trim_matches('\n').lines();
        let indentation = match element.code {
            CodeSource::Expression(name) if !name.contains(QUOTES) => 0,
            // A list item around the code also indents the line on which the expression begins.
            CodeSource::Expression(_) => prefix.min(element.indentation.unwrap_or(prefix)),
            CodeSource::Text(_) => {
                let shown = lines.clone().filter(|line| !line.trim().is_empty());
                shown.map(spaces).min().unwrap_or_default()
            }
        };
        let code: Vec<&str> = lines
            .map(|line| without_quotes(line, self.quotes).unwrap_or(line))
            .map(|line| without_indentation(line, indentation))
            .collect();
        let first = self.first_line_of_code(element, &code.join("\n"));
        (fenced_lines(&code, &element.language, title), first)
    }

    /// Parses the element that a tag begins. `None` if it holds anything but one expression, or text without tags.
    fn code_element<'t>(&mut self, tag: &Tag<'_>, rest: &'t str) -> Option<CodeElement<'t>> {
        let mut opening = &rest[..tag.length];
        let mut content = without_spaces(&rest[tag.length..]);
        let is_block = matches!(tag.name, "CodeBlock" | "pre");
        let is_code = is_block || names_language(opening);
        if !is_code || tag.closing || tag.self_closing {
            return None;
        }
        let mut names = vec![tag.name];
        let inner = tag_start(content).filter(|inner| inner.name() == "code" && !inner.closes());
        if tag.name == "pre"
            && let Some(inner) = inner
        {
            let code = self.search(|| parse_tag(content, inner).ok_or(content.len()))?;
            opening = &content[..code.length];
            content = without_spaces(&content[code.length..]);
            names.push("code");
        }
        let start = rest.len() - content.len();
        let is_expression = content.starts_with('{') && self.dialect.flavor == Flavor::Mdx;
        let (code, start, length) = if is_expression {
            let length = self.search(|| expression_length(content).ok_or(content.len()))?;
            (
                CodeSource::Expression(&content[1..length - 1]),
                start,
                length,
            )
        } else {
            let marks: &[char] = match self.dialect.flavor {
                Flavor::Mdx => &['<', '{', '`'],
                Flavor::Markdown => &['<'],
            };
            let length = self.search(|| content.find(marks).ok_or(content.len()))?;
            let before = &rest[..start];
            let indented = before.trim_end_matches(' ');
            let from = if indented.ends_with('\n') {
                indented.len()
            } else {
                start
            };
            let text = rest[from..start + length].trim_end();
            let is_text = is_block && !text.is_empty();
            (is_text.then_some(CodeSource::Text(text))?, from, length)
        };
        let mut after = &content[length..];
        for name in names.iter().rev() {
            let end = without_spaces(after).strip_prefix("</")?;
            after = end.strip_prefix(name)?.strip_prefix('>')?;
        }
        Some(CodeElement {
            language: language_of(&attributes(opening)),
            code,
            indentation: indentation_at_end(&rest[..start]),
            lines_before: rest[..start].matches('\n').count(),
            length: rest.len() - after.len(),
        })
    }

    /// Returns the source line of the fence, which is on the line before the code; `None` if the lines of the code are not those of its source.
    fn first_line_of_code(&self, element: &CodeElement<'_>, code: &str) -> Option<u32> {
        let (CodeSource::Expression(source) | CodeSource::Text(source)) = element.code;
        if source.matches('\n').count() < code.matches('\n').count() {
            return None;
        }
        let quote = match element.code {
            CodeSource::Expression(_) => source.find(QUOTES).map_or(0, |at| at + 1),
            CodeSource::Text(_) => 0,
        };
        let content = &source[quote..];
        let leading = content.len() - content.trim_start_matches('\n').len();
        let newlines = element.lines_before + source[..quote].matches('\n').count() + leading;
        let line = self.line + u32::try_from(newlines).unwrap_or_default();
        Some(line.saturating_sub(1))
    }
}

/// Returns the text after white space, and after the expressions by which formatters keep it (`{' '}`).
fn without_spaces(text: &str) -> &str {
    let mut text = text.trim_start();
    while let Some(rest) = ["{' '}", "{\" \"}"]
        .iter()
        .find_map(|it| text.strip_prefix(it))
    {
        text = rest.trim_start();
    }
    text
}

/// True if a class of an element names a language.
fn names_language(opening: &str) -> bool {
    language_of_classes(&attributes(opening)).is_some()
}

/// Returns the lines of a fence.
fn fenced_lines(code: &[&str], language: &str, title: &str) -> Vec<String> {
    // A title needs a language before it.
    let language = if fence_info(language, title).is_empty() && !title.is_empty() {
        "text"
    } else {
        language
    };
    let fence = fenced(&code.join("\n"), language, title);
    fence.lines().map(str::to_owned).collect()
}

/// Returns the language that the attributes of a tag name; empty if it is unknown.
fn language_of(given: &[Attribute<'_>]) -> String {
    let language = text_of(given, "language").or_else(|| language_of_classes(given));
    let language = language.filter(|name| name.len() <= MAX_LANGUAGE_BYTES);
    language.unwrap_or_default()
}

/// Returns the language that a class names: `className="language-js"`.
fn language_of_classes(given: &[Attribute<'_>]) -> Option<String> {
    let mut classes = CLASSES.iter().filter_map(|name| text_of(given, name));
    classes.find_map(|classes| {
        let mut classes = classes.split_whitespace();
        let language = classes.find_map(|class| class.strip_prefix(LANGUAGE_CLASS));
        language.map(str::to_owned)
    })
}

/// Removes at most so many spaces at the beginning of a line.
fn without_indentation(line: &str, most: usize) -> &str {
    &line[spaces(line).min(most)..]
}

/// Returns the length of the last line of a text if it is only white space.
fn indentation_at_end(text: &str) -> Option<usize> {
    let line = text.trim_end_matches([' ', '\t']);
    line.ends_with('\n').then_some(text.len() - line.len())
}

fn spaces(line: &str) -> usize {
    line.bytes().take_while(|byte| *byte == b' ').count()
}

/// Returns the lines of texts that a tag contains, as an omission of the tag leaves them out.
fn written_lines(written: &[String]) -> impl Iterator<Item = String> {
    let lines = written.iter().flat_map(|text| text.lines()).map(str::trim);
    lines.filter(|line| !line.is_empty()).map(str::to_owned)
}

/// Returns the text that a browser shows for one with character references.
fn decoded(text: &str) -> String {
    let mut shown = Vec::new();
    for Ok(token) in tokens(text) {
        if let Token::String(part) = token {
            shown.extend_from_slice(&part);
        }
    }
    String::from_utf8_lossy(&shown).into_owned()
}
