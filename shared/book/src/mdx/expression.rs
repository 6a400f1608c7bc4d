//! Expressions in a line of MDX.

use super::{LineKind, Preparer};
use crate::imports::shown_text_file;
use crate::jsx::{expression_length, only_string};
use crate::lines::continued_prefix;
use crate::omission::OmissionReason;
use crate::placeholder::Placeholder;

impl Preparer<'_> {
    /// Keeps the text of an expression that is a string, and removes any other one.
    pub(super) fn expression(&mut self, rest: &str) {
        let Some(length) = self.search(|| expression_length(rest).ok_or(rest.len())) else {
            self.push_escaped("{");
            return;
        };
        if self.kind == LineKind::Heading && self.expression_in_heading(&rest[..length]) {
            return;
        }
        let literal = rest[1..length - 1].trim();
        let text = shown_text_file(literal);
        if self.partials.contains_key(&text) {
            self.skip(length, OmissionReason::Expression, &[]);
            self.own_line(&Placeholder::Partial(text).line());
            return;
        }
        let is_number = !literal.is_empty() && literal.bytes().all(|byte| byte.is_ascii_digit());
        let kept = only_string(literal).or_else(|| is_number.then(|| literal.to_owned()));
        let constant = self.constants.get(literal).cloned();
        let reason = if literal.starts_with("/*") {
            OmissionReason::Comment
        } else {
            OmissionReason::Expression
        };
        let first = self.line;
        self.skip(length, reason, kept.as_slice());
        if let Some(text) = kept.or(constant) {
            self.write_lines(&text, first);
        }
    }

    /// Writes the text of an expression that began on line `first`, each of its lines on its own.
    fn write_lines(&mut self, text: &str, first: u32) {
        let lines = (self.line - first) as usize + 1;
        let has_lines = lines > 1 && text.split('\n').count() == lines;
        let is_in_line = self.kind == LineKind::Heading || self.first == Some('|');
        if !has_lines || is_in_line {
            self.write_literal(text);
            return;
        }
        let prefix = continued_prefix(&self.current);
        if self.at_line_start() {
            self.current_line = first;
        }
        for (number, line) in (first..).zip(text.split('\n')) {
            if line.trim().is_empty() {
                continue;
            }
            if number > first {
                self.end_line();
                self.write(&prefix);
                self.current_line = number;
            }
            self.write_literal(line.trim());
        }
    }

    /// Keeps the source of an expression in a heading, since it counts for the id. Returns false for one of several lines.
    fn expression_in_heading(&mut self, source: &str) -> bool {
        if source.contains('\n') {
            return false;
        }
        let inner = &source[1..source.len() - 1];
        if inner.starts_with('#') {
            // Docusaurus parses directives in an id, too, so keep it as text.
            self.write(&format!("\\{{\\{inner}\\}}"));
        } else {
            self.write_literal(source);
        }
        self.at += source.len();
        true
    }
}
