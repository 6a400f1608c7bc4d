//! Code that a page has as a string: in Docusaurus's component for it, and in other elements.

use super::Preparer;
use super::expression::UnknownPart;
use crate::dialect::Flavor;
use crate::escape::{fence_info, fenced};
use crate::jsx::{
    Attribute, AttributeValue, Tag, attributes, expression_length, parse_tag, tag_start,
};
use crate::lines::continued_prefix;
use crate::omission::OmissionReason;

/// Begin strings in JavaScript.
const QUOTES: [char; 3] = ['`', '"', '\''];

/// The attribute of a `<code>` that names its language with [`LANGUAGE_CLASS`].
const CLASSES: [&str; 2] = ["className", "class"];

const LANGUAGE_CLASS: &str = "language-";

/// The parts of an element with code.
struct CodeElement<'t> {
    /// The tag that may name the language.
    opening: &'t str,
    /// The expression whose value is the code, without its braces.
    expression: &'t str,
    /// The text before the expression.
    before: &'t str,
    /// The length of the whole element.
    length: usize,
}

impl Preparer<'_> {
    /// Writes the code in ``<CodeBlock language="sh">{`…`}</CodeBlock>`` or ``<pre><code>{`…`}</code></pre>`` as a fence. Returns false for other
    /// tags, for code whose value is unknown, for code in a table, and for several lines in a quote, which have the marks of the quote.
    pub(super) fn code_component(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        let is_in_table = self.first == Some('|');
        if is_in_table || self.dialect.flavor != Flavor::Mdx {
            return false;
        }
        let Some(element) = self.code_element(tag, rest) else {
            return false;
        };
        let is_quoted = self.quotes > 0 && rest[..element.length].contains('\n');
        let shown = self.shown_text(element.expression, UnknownPart::Source);
        let Some(shown) = shown.filter(|shown| !(is_quoted || shown.text.trim().is_empty())) else {
            return false;
        };
        // A list item around the code also indents the line on which the expression begins.
        let line = element.before.rsplit('\n').next();
        let line = line.filter(|line| line.trim().is_empty());
        let prefix = continued_prefix(&self.current).len();
        let indentation = line.map_or(prefix, |line| prefix.min(line.len()));
        let code: Vec<&str> = shown
            .text
            .trim_matches('\n')
            .lines()
            .map(|line| without_indentation(line, indentation))
            .collect();
        let first = self.first_line_of_code(&element, &shown.text);
        let lines = fenced_lines(&code, element.opening, &tag.prose.join(" "));
        let mut kept = tag.prose.clone();
        for written in &shown.written {
            let lines = written.lines().map(str::trim);
            kept.extend(lines.filter(|line| !line.is_empty()).map(str::to_owned));
        }
        self.skip(element.length, OmissionReason::Tag, &kept);
        self.own_lines(&lines, first);
        true
    }

    /// Parses the element that a tag begins. `None` if it holds anything but one expression.
    fn code_element<'t>(&mut self, tag: &Tag<'_>, rest: &'t str) -> Option<CodeElement<'t>> {
        let mut opening = &rest[..tag.length];
        let mut content = without_spaces(&rest[tag.length..]);
        let is_code = matches!(tag.name, "CodeBlock" | "pre") || names_language(opening);
        if !is_code || tag.closing || tag.self_closing || !content.starts_with(['{', '<']) {
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
        if !content.starts_with('{') {
            return None;
        }
        let length = self.search(|| expression_length(content).ok_or(content.len()))?;
        let mut after = &content[length..];
        for name in names.iter().rev() {
            let end = without_spaces(after).strip_prefix("</")?;
            after = end.strip_prefix(name)?.strip_prefix('>')?;
        }
        Some(CodeElement {
            opening,
            expression: &content[1..length - 1],
            before: &rest[..rest.len() - content.len()],
            length: rest.len() - after.len(),
        })
    }

    /// Returns the source line of the fence, which is on the line before the code; `None` if the lines of the code are not those of its source.
    fn first_line_of_code(&self, element: &CodeElement<'_>, code: &str) -> Option<u32> {
        let source = element.expression;
        if source.matches('\n').count() < code.matches('\n').count() {
            return None;
        }
        let quote = source.find(QUOTES).unwrap_or_default();
        let leading = code.len() - code.trim_start_matches('\n').len();
        let newlines =
            element.before.matches('\n').count() + source[..quote].matches('\n').count() + leading;
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
    let attributes = attributes(opening);
    let mut classes = attributes
        .iter()
        .filter(|attribute| CLASSES.contains(&attribute.name));
    classes.any(|attribute| language_in(attribute).is_some())
}

/// Returns the lines of a fence for the code in an element, without its language if that is computed.
fn fenced_lines(code: &[&str], opening: &str, title: &str) -> Vec<String> {
    let attributes = attributes(opening);
    let language = attributes.iter().find_map(language_in).unwrap_or_default();
    // A title needs a language before it.
    let language = if fence_info(language, title).is_empty() && !title.is_empty() {
        "text"
    } else {
        language
    };
    let fence = fenced(&code.join("\n"), language, title);
    fence.lines().map(str::to_owned).collect()
}

/// Returns the language that an attribute names: `language="js"`, `className="language-js"`.
fn language_in<'t>(attribute: &Attribute<'t>) -> Option<&'t str> {
    let AttributeValue::Quoted(value) = attribute.value else {
        return None;
    };
    if attribute.name == "language" {
        return Some(value);
    }
    let mut classes = value
        .split_whitespace()
        .filter(|_| CLASSES.contains(&attribute.name));
    classes.find_map(|class| class.strip_prefix(LANGUAGE_CLASS))
}

/// Removes at most so many spaces at the beginning of a line.
fn without_indentation(line: &str, most: usize) -> &str {
    let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
    &line[spaces.min(most)..]
}
