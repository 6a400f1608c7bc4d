//! Expressions in a line of MDX.

use std::collections::BTreeMap;

use super::{LineKind, Preparer};
use crate::imports::shown_text_file;
use crate::jsx::{Part, expression_length, only_string, string_parts};
use crate::lines::{continued_prefix, escaped};
use crate::omission::OmissionReason;
use crate::placeholder::Placeholder;
use crate::shortcode::verbatim;
use text::marks::{HIDDEN_END, HIDDEN_START, ID_ONLY_END, ID_ONLY_START};

/// The values that are known without running a page, by the expressions that show them: `release`, `frontMatter.title`.
pub(in super::super) type Constants = BTreeMap<String, String>;

/// The text of an expression.
#[derive(Default)]
pub(super) struct ShownText {
    pub(super) text: String,
    /// The parts of the text that the expression itself contains.
    pub(super) written: Vec<String>,
}

/// What stands for a part of a template whose value is unknown.
#[derive(Clone, Copy)]
pub(super) enum UnknownPart {
    Nothing,
    /// Its source, `${name}`.
    Source,
}

impl Preparer<'_> {
    /// Keeps the known text of an expression, and removes any other one.
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
        let shown = self.shown_text(literal, UnknownPart::Nothing);
        let shown = shown.unwrap_or_default();
        let (first, end) = (self.line, self.at + length);
        self.skip(length, reason_of(literal), &shown.written);
        if !shown.text.is_empty() {
            // Spaces after shown text are part of the line.
            self.at = end;
        }
        self.write_lines(&shown.text, first);
    }

    /// Writes the text of an expression that began on line `first`, each of its lines on its own.
    fn write_lines(&mut self, text: &str, first: u32) {
        let lines = (self.line - first) as usize + 1;
        let has_lines = lines > 1 && text.split('\n').count() == lines;
        if !has_lines || self.is_in_line() {
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

    /// Returns the text of a string, a template, a number or a constant; `None` for other expressions.
    pub(super) fn shown_text(
        &mut self,
        expression: &str,
        unknown: UnknownPart,
    ) -> Option<ShownText> {
        let Some(parts) = string_parts(expression) else {
            let text = self.value_of(expression)?;
            let is_written = text == expression.trim();
            return Some(ShownText {
                written: is_written.then(|| text.clone()).into_iter().collect(),
                text,
            });
        };
        let mut shown = ShownText::default();
        for part in parts {
            match part {
                Part::Text(text) => {
                    shown.text.push_str(&text);
                    shown.written.push(text);
                }
                Part::Expression(inner) => match (self.value_of(inner), unknown) {
                    (Some(value), _) => shown.text.push_str(&value),
                    (None, UnknownPart::Nothing) => {}
                    (None, UnknownPart::Source) => shown.text.push_str(&format!("${{{inner}}}")),
                },
            }
        }
        Some(shown)
    }

    /// Returns the value of a constant, a number or a string.
    fn value_of(&mut self, expression: &str) -> Option<String> {
        let expression = expression.trim();
        let is_number =
            !expression.is_empty() && expression.bytes().all(|byte| byte.is_ascii_digit());
        if is_number {
            return Some(expression.to_owned());
        }
        let Some(constant) = self.constants.get(expression) else {
            return only_string(expression);
        };
        self.constant_bytes = self.constant_bytes.checked_sub(constant.len())?;
        Some(constant.clone())
    }

    /// Writes the text of an expression in a heading, and its source, which counts for the id in place of the text. Returns false for an expression of
    /// several lines.
    fn expression_in_heading(&mut self, source: &str) -> bool {
        if source.contains('\n') {
            return false;
        }
        let inner = &source[1..source.len() - 1];
        if inner.starts_with('#') {
            // Docusaurus parses directives in an id, too, so keep it as text.
            self.write(&format!("\\{{\\{inner}\\}}"));
            self.at += source.len();
            return true;
        }
        let shown = self.shown_text(inner, UnknownPart::Nothing);
        let shown = shown.unwrap_or_default();
        self.omit(source.len(), reason_of(inner.trim()), &shown.written);
        self.at += source.len();
        self.write_id_only(source);
        if !shown.text.is_empty() {
            let text = escaped(&verbatim(&shown.text));
            self.write(&format!("{HIDDEN_START}{text}{HIDDEN_END}"));
        }
        true
    }

    /// Writes text in a heading that counts for its id but is not shown.
    pub(super) fn write_id_only(&mut self, text: &str) {
        self.write(&format!("{ID_ONLY_START}{}{ID_ONLY_END}", escaped(text)));
    }
}

fn reason_of(expression: &str) -> OmissionReason {
    if expression.starts_with("/*") {
        OmissionReason::Comment
    } else {
        OmissionReason::Expression
    }
}
