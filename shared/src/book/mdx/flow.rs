//! Lines of tags that are blocks of their own: of MDX, and of HTML in plain Markdown.

use super::super::html::html_block;
use super::super::jsx::expression_length;
use super::super::lines::continued_prefix;
use super::{Flavor, LineKind, Preparer};

/// What a block of tags leaves in its place. It is a block in Markdown too, so that the lines around it stay apart, as in
/// MDX: a `---` below it makes no heading, a list above it does not go on below it.
pub(in super::super) const REMOVED_BLOCK: &str = "<!---->";

impl Preparer<'_> {
    /// Whether a line begins a block of MDX: tags, expressions and comments, and nothing after them on the line that the
    /// last of them ends on (micromark-extension-mdx-jsx, `jsx-flow.js`).
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

    /// The bytes of the tag, expression or comment that `rest` starts with.
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

    /// Reads a block of MDX that begins on this line, behind these container marks.
    pub(super) fn flow_line(&mut self, prefix: &str) {
        self.end_paragraph(prefix);
        self.text_line(LineKind::Flow);
        self.after_blank = true;
    }

    /// Ends a block of MDX. Prose that was kept of its last line stands above its mark.
    pub(super) fn end_flow(&mut self) {
        if !self.at_line_start() {
            let prefix = continued_prefix(&self.current);
            self.end_line();
            self.write(&prefix);
        }
        self.write(REMOVED_BLOCK);
    }

    /// Reads a line of a block of HTML in plain Markdown; `false` if it belongs to none.
    pub(super) fn html_line(&mut self, prefix: &str, content: &str) -> bool {
        if self.dialect.flavor == Flavor::Mdx {
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
}
