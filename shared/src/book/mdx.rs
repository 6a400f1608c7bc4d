//! From MDX to the plain Markdown in it: imports, tags and expressions go, their prose stays.
//!
//! Every line that comes out knows the line it came from.

use std::collections::BTreeMap;

use super::jsx::{Gap, Tag, expression_length, parse_tag, string_literals};
use super::lines::{Fence, closes, directive, is_esm, opens_fence, split_container_prefix};

/// Plain Markdown, each line with its line in the page.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The lines, each ending in `\n`.
    pub(super) text: String,
    /// For each line of `text`, its line in the page, from 1.
    pub(super) line_of: Vec<u32>,
}

impl Prepared {
    fn push(&mut self, line: &str, source_line: u32) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
        self.line_of.push(source_line);
    }
}

/// How a page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// MDX: tags and expressions are JSX, indentation makes no code.
    Mdx,
    /// Markdown with HTML.
    Markdown,
}

/// Bytes that may be searched for ends that are not there. A hostile page of open brackets costs no more than this;
/// past it, brackets are text.
const SEARCH_BUDGET: usize = 64 * 1024 * 1024;

/// Stands on a line of its own where a partial is used; no page holds this private character by accident.
const PARTIAL_MARK: char = '\u{E0B1}';

/// Stands in a heading where a tag or comment was: the spaces beside it count for the heading's id.
pub(super) const REMOVED_MARK: char = '\u{E0B2}';

/// The component name of an inlined partial, when the paragraph stands for one.
pub(super) fn partial_name(paragraph: &str) -> Option<&str> {
    paragraph
        .strip_prefix(PARTIAL_MARK)?
        .strip_suffix(PARTIAL_MARK)
}

/// The Markdown files that a page imports: component name → path as written.
pub(super) fn imported_partials(body: &str) -> BTreeMap<String, String> {
    let mut partials = BTreeMap::new();
    for line in body.lines().filter(|line| line.starts_with("import ")) {
        let Some((names, path)) = line["import ".len()..].rsplit_once(" from ") else {
            continue;
        };
        let path = path.trim().trim_end_matches(';').trim_matches(['"', '\'']);
        let markdown = [".md", ".mdx"]
            .iter()
            .any(|extension| path.ends_with(extension));
        let name = names.trim();
        if markdown && name.chars().all(char::is_alphanumeric) {
            partials.insert(name.to_owned(), path.to_owned());
        }
    }
    partials
}

/// Prepares the body of a page whose first line is line `first_line` of its file.
pub(super) fn prepare(
    body: &str,
    first_line: u32,
    flavor: Flavor,
    partials: &BTreeMap<String, String>,
) -> Prepared {
    let mut preparer = Preparer {
        text: body,
        at: 0,
        line: first_line,
        flavor,
        partials,
        out: Prepared::default(),
        current: String::new(),
        current_line: first_line,
        after_blank: true,
        unwrapped: None,
        search_budget: SEARCH_BUDGET,
    };
    while preparer.at < body.len() {
        preparer.line();
    }
    preparer.out
}

struct Preparer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    flavor: Flavor,
    partials: &'a BTreeMap<String, String>,
    out: Prepared,
    /// The output line being written, and the source line it began on.
    current: String,
    current_line: u32,
    /// Whether the line before was blank: only then may an import begin.
    after_blank: bool,
    /// The open `mdx-code-block` fence, whose content is read as text.
    unwrapped: Option<Fence>,
    search_budget: usize,
}

impl Preparer<'_> {
    /// Prepares one line, or the lines of a construct that begins on it.
    fn line(&mut self) {
        let line = self.rest_of_line();
        let (prefix, content) = split_container_prefix(line);
        if let Some(fence) = self.unwrapped
            && closes(fence, content)
        {
            self.unwrapped = None;
            self.skip_line("");
        } else if let Some((fence, info)) = opens_fence(content) {
            if info == "mdx-code-block" {
                self.unwrapped = Some(fence);
                self.skip_line("");
            } else {
                self.copy_fence(fence);
            }
        } else if self.flavor == Flavor::Mdx && self.after_blank && is_esm(line) {
            self.skip_esm();
        } else if let Some(title) = directive(content) {
            let prefix = prefix.to_owned();
            self.skip_line(&prefix);
            if !title.is_empty() {
                let line = self.line - 1;
                self.out.push(&format!("{prefix}{title}"), line);
                self.out.push(&prefix, line);
            }
        } else {
            self.after_blank = content.trim().is_empty();
            self.text_line();
        }
    }

    fn rest_of_line(&self) -> &str {
        self.text[self.at..].split('\n').next().unwrap_or_default()
    }

    /// Goes past the current line and puts `replacement` in its place.
    fn skip_line(&mut self, replacement: &str) {
        self.at = (self.at + self.rest_of_line().len() + 1).min(self.text.len());
        self.out.push(replacement, self.line);
        self.line += 1;
        self.after_blank = true;
    }

    fn copy_line(&mut self) {
        let line = self.rest_of_line().to_owned();
        self.skip_line(&line);
    }

    fn copy_fence(&mut self, fence: Fence) {
        self.copy_line();
        while self.at < self.text.len() {
            let content = split_container_prefix(self.rest_of_line()).1;
            let last = closes(fence, content);
            self.copy_line();
            if last {
                return;
            }
        }
    }

    /// Skips an `import`/`export` block: up to a blank line outside all brackets.
    fn skip_esm(&mut self) {
        let mut depth = 0_i32;
        while self.at < self.text.len() {
            let line = self.rest_of_line();
            if depth <= 0 && line.trim().is_empty() {
                break;
            }
            for byte in line.bytes() {
                match byte {
                    b'{' | b'[' | b'(' => depth += 1,
                    b'}' | b']' | b')' => depth -= 1,
                    _ => {}
                }
            }
            self.skip_line("");
        }
    }

    /// Copies a line of text without its tags and expressions; those may take it over several lines.
    fn text_line(&mut self) {
        let heading = self.is_heading();
        self.current_line = self.line;
        while self.at < self.text.len() {
            let rest = &self.text[self.at..];
            let Some(c) = rest.chars().next() else { break };
            match c {
                '\n' => {
                    self.at += 1;
                    break;
                }
                '\\' => {
                    let escaped = rest.chars().nth(1).filter(|c| *c != '\n');
                    self.copy(1 + escaped.map_or(0, char::len_utf8));
                }
                '`' => {
                    let paragraph = rest.split("\n\n").next().unwrap_or_default();
                    let length = self.search(paragraph, code_span_length);
                    self.copy(length.unwrap_or_else(|| ticks(rest)));
                }
                '$' if rest.starts_with("$$") => {
                    let length = self.search(&rest[2..], |formula| formula.find("$$"));
                    self.copy(length.map_or(2, |length| length + 4));
                }
                '$' => self.copy(math_length(rest)),
                '<' => self.markup(rest, heading),
                '{' if self.flavor == Flavor::Mdx => self.expression(rest, heading),
                c => self.copy(c.len_utf8()),
            }
        }
        self.end_line();
        self.line += 1;
    }

    /// Looks for the end of a construct, as long as the page has not wasted too many bytes on such searches.
    fn search<'t, T>(
        &mut self,
        text: &'t str,
        find: impl FnOnce(&'t str) -> Option<T>,
    ) -> Option<T> {
        if self.search_budget == 0 {
            return None;
        }
        let found = find(text);
        if found.is_none() {
            self.search_budget = self.search_budget.saturating_sub(text.len());
        }
        found
    }

    /// A tag that never ends costs a search; a `<` that begins none does not.
    fn search_tag<'t>(&mut self, rest: &'t str) -> Option<Tag<'t>> {
        let begins =
            rest[1..].starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '>' | '_'));
        if begins {
            self.search(rest, parse_tag)
        } else {
            None
        }
    }

    fn is_heading(&self) -> bool {
        let (_, content) = split_container_prefix(self.rest_of_line());
        let next = self.text[self.at..].split('\n').nth(1).unwrap_or_default();
        let next = split_container_prefix(next).1.trim();
        let setext = !next.is_empty()
            && (next.bytes().all(|b| b == b'=') || next.bytes().all(|b| b == b'-'));
        content.trim_start().starts_with('#') || setext
    }

    /// Copies `length` bytes as they are, lines included.
    fn copy(&mut self, length: usize) {
        let text = self.text;
        for (index, piece) in text[self.at..self.at + length].split('\n').enumerate() {
            if index > 0 {
                self.end_line();
                self.line += 1;
                self.current_line = self.line;
            }
            self.current.push_str(piece);
        }
        self.at += length;
    }

    /// Goes past `length` bytes without copying them.
    fn skip(&mut self, length: usize) {
        let skipped = &self.text.as_bytes()[self.at..self.at + length];
        let newlines = skipped.split(|byte| *byte == b'\n').count() - 1;
        self.line += u32::try_from(newlines).unwrap_or(u32::MAX);
        self.at += length;
        if self.current.trim().is_empty() {
            self.current_line = self.line;
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.current);
        self.out.push(&line, self.current_line);
    }

    /// A `<`: a comment, a tag, a link, or the character itself.
    fn markup(&mut self, rest: &str, heading: bool) {
        if let Some(comment) = rest.strip_prefix("<!--") {
            match self.search(comment, |comment| comment.find("-->")) {
                Some(length) => {
                    self.skip(length + "<!---->".len());
                    if heading {
                        self.current.push(REMOVED_MARK);
                    }
                }
                None => self.push_escaped("<"),
            }
        } else if let Some(tag) = self.search_tag(rest) {
            if heading && tag.prose.is_empty() && !self.partials.contains_key(tag.name) {
                self.skip(tag.length);
                self.current.push(REMOVED_MARK);
            } else {
                self.tag(&tag, rest);
            }
        } else {
            match rest.find(['>', '\n', ' ']) {
                Some(end) if rest[end..].starts_with('>') && rest[..end].contains([':', '@']) => {
                    self.copy(end + 1);
                }
                _ => self.push_escaped("<"),
            }
        }
    }

    fn push_escaped(&mut self, text: &str) {
        self.current.push('\\');
        self.copy(text.len());
    }

    fn tag(&mut self, tag: &Tag<'_>, rest: &str) {
        let mut length = tag.length;
        if matches!(tag.name, "style" | "script") && !tag.closing && !tag.self_closing {
            let end = format!("</{}>", tag.name);
            length = rest.find(&end).map_or(length, |at| at + end.len());
        }
        self.skip(length);
        if self.partials.contains_key(tag.name) && !tag.closing {
            self.own_line(&format!("{PARTIAL_MARK}{}{PARTIAL_MARK}", tag.name));
            return;
        }
        let prose = tag.prose.join(" ");
        let in_table = self.current.trim_start().starts_with('|');
        let alone = split_container_prefix(&self.current).1.trim().is_empty();
        match tag.gap() {
            Gap::None => self.current.push_str(&prose),
            Gap::Block if !alone && !in_table => self.own_line(&prose),
            _ if alone && !prose.is_empty() && tag.name != "img" => self.own_line(&prose),
            Gap::Block | Gap::Space => {
                if !alone {
                    self.current.push(' ');
                }
                self.current.push_str(&prose);
                if !prose.is_empty() {
                    self.current.push(' ');
                }
            }
        }
    }

    /// Ends the current line and puts `text` between blank lines, so that it is a block of its own.
    fn own_line(&mut self, text: &str) {
        let prefix = split_container_prefix(&self.current)
            .0
            .replace(['-', '*', '+'], " ");
        let line = self.line;
        if self.current.trim().is_empty() {
            self.current.clear();
        } else {
            self.end_line();
        }
        self.out.push(&prefix, line);
        if !text.is_empty() {
            self.out.push(&format!("{prefix}{text}"), line);
            self.out.push(&prefix, line);
        }
        self.current.push_str(&prefix);
        self.current_line = line;
    }

    /// An expression: a string's text stays, everything else goes. In a heading its source counts for the id.
    fn expression(&mut self, rest: &str, heading: bool) {
        let Some(length) = self.search(rest, expression_length) else {
            self.push_escaped("{");
            return;
        };
        let inner = &rest[1..length - 1];
        if heading && !rest[..length].contains('\n') {
            for c in rest[..length].chars() {
                if c.is_ascii_punctuation() {
                    self.current.push('\\');
                }
                self.current.push(c);
            }
            self.at += length;
            return;
        }
        let literal = inner.trim();
        let is_string = literal.len() >= 2
            && literal.starts_with(['"', '\'', '`'])
            && literal.chars().next() == literal.chars().last();
        let literals = if is_string {
            string_literals(literal)
        } else {
            Vec::new()
        };
        self.skip(length);
        if let [only] = literals.as_slice() {
            self.current.push_str(only);
        }
    }
}

/// How many backticks `text` starts with.
fn ticks(text: &str) -> usize {
    text.bytes().take_while(|b| *b == b'`').count()
}

/// The bytes of the code span that a paragraph's rest starts with. `None` when nothing closes it.
fn code_span_length(text: &str) -> Option<usize> {
    let ticks = ticks(text);
    let mut at = ticks;
    while let Some(found) = text[at..].find('`') {
        let run = text[at + found..]
            .bytes()
            .take_while(|b| *b == b'`')
            .count();
        at += found + run;
        if run == ticks {
            return Some(at);
        }
    }
    None
}

/// The bytes of the formula within a line that `text` starts with, or of its `$` when it is money.
fn math_length(text: &str) -> usize {
    let line = text[1..].split('\n').next().unwrap_or_default();
    let formula = line.split('$').next().unwrap_or_default();
    let closed = formula.len() < line.len();
    let tight = !formula.starts_with(' ') && !formula.ends_with(' ') && !formula.is_empty();
    if closed && tight {
        formula.len() + 2
    } else {
        1
    }
}

#[cfg(test)]
#[path = "mdx_tests.rs"]
mod tests;
