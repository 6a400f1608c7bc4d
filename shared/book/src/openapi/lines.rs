//! The Markdown that components show, line by line.

use super::Shown;
use super::json::Json;
use crate::heading_tag::HeadingTag;
use crate::lines::{Fence, closes, continued_prefix, escaped, opens_fence, split_container_prefix};

/// Lines of Markdown with a limit in bytes.
pub(super) struct Lines<'a> {
    made: Vec<String>,
    /// False if the lines omit something that the page shows.
    pub(super) is_whole: bool,
    bytes_left: usize,
    plain: &'a mut dyn FnMut(&str) -> String,
}

impl<'a> Lines<'a> {
    /// Creates an empty text. `plain` removes the tags from Markdown.
    pub(super) fn new(bytes_left: usize, plain: &'a mut dyn FnMut(&str) -> String) -> Self {
        Self {
            made: Vec::new(),
            is_whole: true,
            bytes_left,
            plain,
        }
    }

    pub(super) fn finish(self) -> (Shown, usize) {
        let shown = Shown {
            lines: self.made,
            is_whole: self.is_whole,
        };
        (shown, self.bytes_left)
    }

    /// True once the page has reached its limit.
    pub(super) fn is_full(&self) -> bool {
        self.bytes_left == 0
    }

    fn push(&mut self, line: String) {
        match self.bytes_left.checked_sub(line.len() + "\n".len()) {
            Some(left) => {
                self.bytes_left = left;
                self.made.push(line);
            }
            None => {
                self.bytes_left = 0;
                self.is_whole = false;
            }
        }
    }

    pub(super) fn paragraph(&mut self, line: String) {
        if self.made.last().is_some_and(|last| !last.is_empty()) {
            self.push(String::new());
        }
        self.push(line);
        self.push(String::new());
    }

    /// Adds a heading. It is written as a tag, because the theme does not derive ids from the text.
    pub(super) fn heading(&mut self, level: u8, anchor: Option<String>, text: &str) {
        self.paragraph(HeadingTag::Opens { level, anchor }.line());
        self.paragraph(escaped(text));
        self.paragraph(HeadingTag::Closes.line());
    }

    /// Adds a method and a path. For a webhook, the theme shows the method `event` and no path.
    pub(super) fn endpoint(&mut self, method: &str, path: &str) {
        let endpoint = match method {
            "event" => "Webhook".to_owned(),
            method => code(&format!("{} {path}", method.to_uppercase())),
        };
        self.paragraph(endpoint);
    }

    pub(super) fn status(&mut self, status: &str, description: &str) {
        let (first, rest) = self.described(description);
        let colon = if first.is_empty() { "" } else { ": " };
        self.paragraph(format!("**{}**{colon}{first}", escaped(status)));
        self.indented(0, rest);
    }

    /// Adds a Markdown description, indented by `depth` levels.
    pub(super) fn markdown(&mut self, depth: usize, text: &str) {
        let (first, rest) = self.described(text);
        if !first.is_empty() {
            self.indented(depth, vec![first]);
        }
        self.indented(depth, rest);
    }

    /// Adds a list item: sentences including the first paragraph of the description, and below them the rest of the description.
    pub(super) fn item(
        &mut self,
        depth: usize,
        before: Vec<String>,
        description: Option<&str>,
        after: Vec<String>,
    ) {
        let (first, rest) = self.described(description.unwrap_or_default());
        let indent = "  ".repeat(depth);
        if rest.is_empty() {
            let all = join_sentences(before.into_iter().chain([first]).chain(after));
            self.push(format!("{indent}- {all}"));
            return;
        }
        let head = join_sentences(before.into_iter().chain([first]));
        self.paragraph(format!("{indent}- {head}"));
        self.indented(depth + 1, rest);
        let after = join_sentences(after.into_iter());
        if !after.is_empty() {
            self.indented(depth + 1, vec![after]);
        }
    }

    pub(super) fn code(&mut self, language: &str, text: &str) {
        let fence = "`".repeat(longest_ticks(text).max(2) + 1);
        let language = language.replace(|c: char| !c.is_alphanumeric(), "");
        self.push(format!("{fence}{language}"));
        for line in text.lines() {
            self.push(line.to_owned());
        }
        self.paragraph(fence);
    }

    fn indented(&mut self, depth: usize, lines: Vec<String>) {
        let indent = "  ".repeat(depth);
        let has_lines = !lines.is_empty();
        for line in lines {
            let indent = if line.is_empty() { "" } else { &indent };
            self.push(format!("{indent}{line}"));
        }
        if has_lines {
            self.push(String::new());
        }
    }

    /// Splits a description into its first paragraph, on one line, and the other lines. Headings become text, since the theme gives them
    /// no ids.
    fn described(&mut self, text: &str) -> (String, Vec<String>) {
        if text.is_empty() || self.is_full() {
            return (String::new(), Vec::new());
        }
        let plain = (self.plain)(text);
        let mut lines = without_headings(&plain).into_iter().peekable();
        while lines.next_if(|line| line.trim().is_empty()).is_some() {}
        let mut first: Vec<String> = Vec::new();
        while let Some(line) = lines.next_if(|line| is_prose(line)) {
            first.push(line.trim().to_owned());
        }
        while lines.next_if(|line| line.trim().is_empty()).is_some() {}
        let mut rest: Vec<String> = lines.collect();
        while rest.pop_if(|line| line.trim().is_empty()).is_some() {}
        (first.join(" "), rest)
    }
}

fn is_prose(line: &str) -> bool {
    let (prefix, content) = split_container_prefix(line);
    prefix.is_empty()
        && !content.trim().is_empty()
        && !content.starts_with('|')
        && opens_fence(content).is_none()
}

/// Returns the lines of a text, with headings as text and the last fence closed.
fn without_headings(text: &str) -> Vec<String> {
    let mut fence: Option<(Fence, String)> = None;
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let (prefix, content) = split_container_prefix(line);
        if let Some((open, _)) = &fence {
            let open = *open;
            fence = fence.filter(|_| !closes(open, content));
            lines.push(line.to_owned());
            continue;
        }
        fence = opens_fence(content).map(|(fence, _)| (fence, continued_prefix(prefix)));
        let underline = content.trim();
        let underlines = ['=', '-']
            .iter()
            .any(|mark| underline.chars().all(|c| c == *mark));
        lines.push(match content.strip_prefix('#') {
            Some(_) => format!("{prefix}\\{content}"),
            None if underlines => String::new(),
            None => line.to_owned(),
        });
    }
    lines.extend(fence.map(|(open, prefix)| format!("{prefix}{}", open.closing())));
    lines
}

/// Joins sentences, and adds missing full stops.
fn join_sentences(all: impl Iterator<Item = String>) -> String {
    let mut text = String::new();
    for sentence in all.filter(|sentence| !sentence.is_empty()) {
        if !text.is_empty() {
            let ended = text.ends_with(['.', '!', '?', ':', '。']);
            text.push_str(if ended { " " } else { ". " });
        }
        text.push_str(&sentence);
    }
    text
}

/// Formats text as inline code, with enough backticks.
pub(super) fn code(text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let ticks = "`".repeat(longest_ticks(text) + 1);
    let text = text.replace('\n', " ");
    format!("{ticks} {text} {ticks}")
}

fn longest_ticks(text: &str) -> usize {
    let runs = text.split(|c: char| c != '`');
    runs.map(str::len).max().unwrap_or_default()
}

/// Formats a scalar value as inline code; empty for other values.
pub(super) fn value(json: &Json) -> String {
    json.scalar().map(|text| code(&text)).unwrap_or_default()
}
