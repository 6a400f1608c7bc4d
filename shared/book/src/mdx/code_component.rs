//! Code that a page has as a string: in Docusaurus's component for it, and in other elements.

use super::Preparer;
use crate::dialect::Flavor;
use crate::escape::{fence_info, fenced};
use crate::jsx::{Tag, attributes, expression_length, only_string, text_of};
use crate::lines::continued_prefix;
use crate::omission::OmissionReason;

/// Begin strings in JavaScript.
const QUOTES: [char; 3] = ['`', '"', '\''];

impl Preparer<'_> {
    /// Writes the code in ``<CodeBlock language="sh">{`…`}</CodeBlock>``, ``<pre>{`…`}</pre>`` or ``<pre><code>{`…`}</code></pre>`` as a fence. Returns
    /// false for other tags, for code that is not a string, and for code in a quote, whose lines have the marks of the quote.
    pub(super) fn code_component(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        let content = without_spaces(&rest[tag.length..]);
        let may_be_code = content.starts_with('{') || tag.name == "pre";
        let opens = may_be_code && !tag.closing && !tag.self_closing;
        let is_mdx = self.dialect.flavor == Flavor::Mdx;
        if !(opens && is_mdx && self.quotes == 0 && self.at_line_start()) {
            return false;
        }
        let own_language = language_of(&rest[..tag.length]);
        if own_language.is_none() && !["CodeBlock", "pre"].contains(&tag.name) {
            return false;
        }
        let inner = self.search_tag(content);
        let inner = inner.filter(|it| it.name == "code" && !it.closing && !it.self_closing);
        let (names, language, content) = match &inner {
            Some(code) => {
                let (start, content) = content.split_at(code.length);
                let language = language_of(start).or(own_language);
                (&["code", tag.name][..], language, without_spaces(content))
            }
            None => (&[tag.name][..], own_language, content),
        };
        if !content.starts_with('{') {
            return false;
        }
        let Some(length) = self.search(|| expression_length(content).ok_or(content.len())) else {
            return false;
        };
        let literal = &content[1..length - 1];
        let Some((code, after)) = only_string(literal)
            .zip(after_ends(&content[length..], names))
            .filter(|(code, _)| !(code.trim().is_empty() || literal.contains("\\n")))
        else {
            return false;
        };
        let before = rest.len() - content.len() + content.find(QUOTES).unwrap_or_default();
        let leading = code.len() - code.trim_start_matches('\n').len();
        let newlines = rest[..before].matches('\n').count() + leading;
        // The fence is on the line before the code.
        let first = (self.line + u32::try_from(newlines).unwrap_or_default()).saturating_sub(1);
        let indentation = continued_prefix(&self.current).len();
        let code: Vec<&str> = code
            .trim_matches('\n')
            .lines()
            .map(|line| without_indentation(line, indentation))
            .collect();
        let lines = fenced_lines(&code, &language.unwrap_or_default(), &tag.prose.join(" "));
        let mut kept = tag.prose.clone();
        kept.extend(code.into_iter().map(str::to_owned));
        self.skip(rest.len() - after.len(), OmissionReason::Tag, &kept);
        self.own_lines(&lines, Some(first));
        true
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

/// Returns the text after the end tags of elements; `None` if something else precedes one of them.
fn after_ends<'t>(text: &'t str, names: &[&str]) -> Option<&'t str> {
    names.iter().try_fold(text, |text, name| {
        without_spaces(text).strip_prefix(&format!("</{name}>"))
    })
}

/// Returns the language of code from its tag: `language="js"` of a `CodeBlock`, or the class `language-js` of any element. `None` without one.
fn language_of(tag: &str) -> Option<String> {
    let given = attributes(tag);
    let class = text_of(&given, "className").or_else(|| text_of(&given, "class"));
    let class = class.unwrap_or_default();
    let mut classes = class.split_ascii_whitespace();
    let language = classes.find_map(|class| class.strip_prefix("language-"));
    let own = || text_of(&given, "language").filter(|_| tag.starts_with("<CodeBlock"));
    language.map(str::to_owned).or_else(own)
}

/// Returns the lines of a fence for code.
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

/// Removes at most so many spaces at the beginning of a line.
fn without_indentation(line: &str, most: usize) -> &str {
    let spaces = line.bytes().take_while(|byte| *byte == b' ').count();
    &line[spaces.min(most)..]
}
