//! Lines of tags that form blocks: in MDX, and HTML in plain Markdown.

use std::sync::LazyLock;

use regex::Regex;

use super::{LineKind, Preparer};
use crate::dialect::Flavor;
use crate::html::html_block;
use crate::jsx::expression_length;
use crate::lines::continued_prefix;

/// Replaces a removed block of tags. It is a block in Markdown as well, so the lines around it stay separate as in MDX: a `---`
/// below it is not an underline, and a list above it ends.
pub(in super::super) const REMOVED_BLOCK: &str = "<!---->";

/// A character reference: `&amp;`, `&#35;`.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new("&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][0-9A-Za-z]{1,31});")
        .expect("the pattern is a constant")
});

impl Preparer<'_> {
    /// True if a line begins a block of MDX: only tags, expressions and comments, and nothing after the last of them on its line
    /// (micromark-extension-mdx-jsx, `jsx-flow.js`).
    pub(super) fn begins_flow(&mut self, content: &str) -> bool {
        if self.dialect.flavor != Flavor::Mdx || !content.starts_with(['<', '{']) {
            return false;
        }
        let text = self.text;
        let mut at = self.at + self.rest_of_line().len() - content.len();
        loop {
            let Some(length) = self.flow_length(&text[at..]) else {
                return false;
            };
            at += length;
            at += text[at..].len() - text[at..].trim_start_matches([' ', '\t']).len();
            match text.as_bytes().get(at) {
                None | Some(b'\n') => return true,
                Some(b'<' | b'{') => {}
                Some(_) => return false,
            }
        }
    }

    fn flow_length(&mut self, rest: &str) -> Option<usize> {
        if let Some(comment) = rest.strip_prefix("<!--") {
            let end = self.search(|| comment.find("-->").ok_or(comment.len()));
            return end.map(|end| end + "<!---->".len());
        }
        if rest.starts_with('{') {
            return self.search(|| expression_length(rest).ok_or(rest.len()));
        }
        self.search_tag(rest).map(|tag| tag.length)
    }

    /// Reads a block of MDX that begins on this line, after these container marks.
    pub(super) fn flow_line(&mut self, prefix: &str) {
        self.end_paragraph(prefix);
        self.text_line(LineKind::Flow);
        self.after_blank = true;
    }

    /// Ends a block of MDX. Prose kept from its last line precedes the placeholder.
    pub(super) fn end_flow(&mut self) {
        if !self.at_line_start() {
            let prefix = continued_prefix(&self.current);
            self.end_line();
            self.write(&prefix);
        }
        self.write(REMOVED_BLOCK);
    }

    /// Reads a line of an HTML block in plain Markdown; `false` if the line is not in one.
    pub(super) fn html_line(&mut self, prefix: &str, content: &str) -> bool {
        if self.dialect.flavor == Flavor::Mdx {
            return false;
        }
        if self.ends_container(content) {
            self.html = None;
            return false;
        }
        if content.trim().is_empty() {
            self.html = self.html.filter(|block| block.end.is_some());
        }
        if self.html.is_none() {
            let begun = html_block(content);
            self.html = begun.filter(|block| block.interrupts || self.after_blank);
            if self.html.is_some() {
                self.end_paragraph(prefix);
            }
        }
        let Some(block) = self.html else {
            return false;
        };
        self.after_blank = false;
        let from = self.at;
        self.text_line(LineKind::Html);
        let read = &self.text[from..self.at];
        if block.end.is_some_and(|end| read.contains(end)) {
            self.html = None;
            self.end_paragraph(prefix);
        }
        true
    }

    /// Writes text of HTML: all markup is escaped, except for character references.
    pub(super) fn write_html_text(&mut self, text: &str) {
        let mut written = 0;
        for reference in REFERENCE.find_iter(text) {
            self.write_literal(&text[written..reference.start()]);
            self.write(reference.as_str());
            written = reference.end();
        }
        self.write_literal(&text[written..]);
    }
}
