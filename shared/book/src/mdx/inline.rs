//! Removes tags from a line of text.

use std::collections::BTreeMap;
use std::ops::Range;

use super::marked_tag::marked_prose;
use super::{Dialect, Flavor, HeadingTag, LineKind, Preparer, REMOVED_BLOCK};
use crate::jsx::{Gap, Tag, TagStart, parse_tag, tag_start};
use crate::lines::{continued_prefix, escaped, split_container_prefix, without_quotes};
use crate::omission::{Omission, OmissionReason};
use crate::openapi::Shown;
use crate::placeholder::{Contents, Placeholder};
use crate::shortcode::verbatim;
use crate::spans::{
    autolink_length, code_span_length, link_resource_length, math_length, padded_math, ticks,
};
use text::marks::{HIDDEN_END, HIDDEN_START, REMOVED};

/// If a removed tag contains more pieces of prose than this, its omission lists the whole tag.
const MAX_KEPT: usize = 64;

/// The most lines of a tag inside a quote. Each is copied to remove the quote mark.
const MAX_QUOTED_TAG_LINES: usize = 32;

impl Preparer<'_> {
    /// Copies a line of text without tags and expressions, which may extend over several lines.
    pub(super) fn text_line(&mut self, kind: LineKind) {
        self.kind = kind;
        self.current_line = self.line;
        if kind == LineKind::Html {
            self.container_marks();
        }
        while self.at < self.text.len() {
            self.end_labels();
            let rest = &self.text[self.at..];
            let Some(c) = rest.chars().next() else { break };
            match c {
                '\n' => {
                    self.at += 1;
                    break;
                }
                '<' => self.markup(rest),
                _ if kind == LineKind::Html => {
                    let plain = rest.find(['\n', '<']).unwrap_or(rest.len());
                    self.write_html_text(&rest[..plain]);
                    self.at += plain;
                }
                '\\' => {
                    let escaped = rest.chars().nth(1).filter(|c| *c != '\n');
                    self.copy(1 + escaped.map_or(0, char::len_utf8));
                }
                '`' => {
                    let length = self.search(|| code_span_length(rest));
                    self.copy(length.unwrap_or_else(|| ticks(rest)));
                }
                '$' if !self.dialect.math => self.copy(1),
                '$' if rest.starts_with("$$") => {
                    let length = self.search(|| rest[2..].find("$$").ok_or(rest.len()));
                    self.copy(length.map_or(2, |length| length + 4));
                }
                '$' if kind == LineKind::Heading
                    && let Some(formula) = padded_math(rest) =>
                {
                    self.write(&format!("${}$", formula.trim()));
                    self.at += formula.len() + 2;
                }
                '$' => self.copy(math_length(rest)),
                '{' if self.dialect.flavor == Flavor::Mdx => self.expression(rest),
                ':' => self.colon(rest),
                ']' => self.copy(1 + link_resource_length(&rest[1..])),
                _ => {
                    let plain = rest.find(['\n', '\\', '`', '$', '<', '{', ':', ']']);
                    self.copy(plain.unwrap_or(rest.len()).max(c.len_utf8()));
                }
            }
        }
        if kind == LineKind::Flow {
            self.end_flow();
        }
        self.end_line();
        self.line += 1;
    }

    /// Writes text with all markup escaped.
    pub(super) fn write_literal(&mut self, text: &str) {
        self.write(&escaped(&verbatim(text)));
    }

    /// Searches for the end of a construct, unless the page has used up its budget for failed searches. If there is no end, `find`
    /// returns the number of bytes searched.
    pub(super) fn search<T>(&mut self, find: impl FnOnce() -> Result<T, usize>) -> Option<T> {
        if self.search_budget == 0 {
            return None;
        }
        find()
            .inspect_err(|searched| {
                self.search_budget = self.search_budget.saturating_sub(*searched);
            })
            .ok()
    }

    /// Parses a tag. An unclosed tag uses up the search budget; a `<` that begins none does not.
    pub(super) fn search_tag<'t>(&mut self, rest: &'t str) -> Option<Tag<'t>> {
        let start = tag_start(rest)?;
        let quotes = self.quotes;
        self.search(|| match quotes {
            0 => parse_tag(rest, start).ok_or(rest.len()),
            quotes => parse_quoted_tag(rest, start, quotes),
        })
    }

    pub(super) fn is_heading(&self) -> bool {
        let mut lines = self.text[self.at..].split('\n');
        let (_, content) = split_container_prefix(lines.next().unwrap_or_default());
        let next = split_container_prefix(lines.next().unwrap_or_default())
            .1
            .trim();
        let setext = !next.is_empty()
            && (next.bytes().all(|b| b == b'=') || next.bytes().all(|b| b == b'-'));
        content.trim_start().starts_with('#') || setext
    }

    pub(super) fn write(&mut self, text: &str) {
        if self.first.is_none() {
            self.first = text.chars().find(|c| !c.is_whitespace());
        }
        let text = self.write_mark_before(text);
        self.current.push_str(text);
    }

    pub(super) fn copy(&mut self, length: usize) {
        let text = self.text;
        for (index, piece) in text[self.at..self.at + length].split('\n').enumerate() {
            if index > 0 {
                self.end_line();
                self.line += 1;
                self.current_line = self.line;
            }
            self.write(piece);
        }
        self.at += length;
    }

    /// Records the next `length` bytes as omitted, except for the parts in `kept`.
    pub(super) fn omit(&mut self, length: usize, reason: OmissionReason, kept: &[String]) {
        let mut text = self.text[self.at..self.at + length].to_owned();
        let lines = text.bytes().filter(|byte| *byte == b'\n').count();
        if kept.len() <= MAX_KEPT {
            for kept in kept {
                text = text.replacen(kept.as_str(), " ", 1);
            }
        }
        self.out.omissions.push(Omission {
            start_line: self.line,
            end_line: self.line + u32::try_from(lines).unwrap_or(u32::MAX),
            reason,
            text,
        });
    }

    pub(super) fn skip(&mut self, length: usize, reason: OmissionReason, kept: &[String]) {
        self.omit(length, reason, kept);
        let skipped = &self.text.as_bytes()[self.at..self.at + length];
        let newlines = skipped.iter().filter(|byte| **byte == b'\n').count();
        self.line += u32::try_from(newlines).unwrap_or(u32::MAX);
        self.at += length;
        if self.first.is_none() {
            self.current_line = self.line;
        }
        // In a heading such spaces count for its id.
        if self.kind != LineKind::Heading && self.at_line_start() {
            self.skip_spaces();
        }
    }

    /// True if the output line contains only container marks.
    pub(super) fn at_line_start(&self) -> bool {
        self.first.is_none() || split_container_prefix(&self.current).1.is_empty()
    }

    /// Skips spaces after removed syntax at the start of a line, which would indent the following text.
    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start_matches([' ', '\t']).len();
    }

    /// Copies the container marks before a line of HTML, where indentation alone does not make code.
    fn container_marks(&mut self) {
        let (prefix, _) = split_container_prefix(&self.text[self.at..]);
        if prefix.trim().is_empty() {
            self.skip_spaces();
        } else {
            self.copy(prefix.len());
        }
    }

    pub(super) fn end_line(&mut self) {
        let line = std::mem::take(&mut self.current);
        self.first = None;
        self.out.push(&line, self.current_line);
    }

    fn markup(&mut self, rest: &str) {
        if let Some(comment) = rest.strip_prefix("<!--") {
            self.comment(comment);
        } else if let Some(mut tag) = self.search_tag(rest) {
            let source = &rest[..tag.length];
            self.label_component(&mut tag, source);
            if self.is_in_line() {
                tag.prose.append(&mut tag.code);
            }
            if self.unseen_element(&tag, rest) {
                return;
            }
            if self.kind == LineKind::Heading && !self.partials.contains_key(tag.name) {
                self.tag_in_heading(&tag);
            } else {
                self.tag(&tag, rest);
            }
        } else if let Some(length) = autolink_length(rest) {
            self.copy(length);
        } else {
            self.push_escaped("<");
        }
    }

    /// Removes a comment, whose text begins `comment`. At the end of a heading it may set the heading's id.
    fn comment(&mut self, comment: &str) {
        let Some(length) = self.search(|| comment.find("-->").ok_or(comment.len())) else {
            self.push_escaped("<");
            return;
        };
        self.skip(length + "<!---->".len(), OmissionReason::Comment, &[]);
        if self.kind != LineKind::Heading {
            return;
        }
        let id = comment[..length].trim().split(char::is_whitespace).next();
        let id = id.filter(|id| id.starts_with('#') && self.dialect.comment_ids);
        let after = self.text[self.at..].trim_start_matches([' ', '\t']);
        let is_last = after.is_empty() || after.starts_with('\n');
        match id.filter(|_| is_last) {
            Some(id) => self.write(&escaped(&format!(" {{{id}}}"))),
            None => self.mark_removed(),
        }
    }

    fn tag_in_heading(&mut self, tag: &Tag<'_>) {
        self.skip(tag.length, OmissionReason::Tag, &tag.prose);
        self.mark_removed();
        if tag.name == "br" {
            self.write(&format!("{HIDDEN_START} {HIDDEN_END}"));
        }
        if !tag.prose.is_empty() {
            let prose = tag.prose.join(" ").replace([HIDDEN_START, HIDDEN_END], "");
            self.write(&format!(
                "{HIDDEN_START}{}{HIDDEN_END}",
                escaped(&verbatim(&prose))
            ));
        }
    }

    fn mark_removed(&mut self) {
        self.write(REMOVED.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn push_escaped(&mut self, text: &str) {
        self.write("\\");
        self.copy(text.len());
    }

    fn tag(&mut self, tag: &Tag<'_>, rest: &str) {
        if let Some(shown) = self.shown_by_component(tag, &rest[..tag.length]) {
            let reason = if shown.is_whole {
                OmissionReason::Tag
            } else {
                OmissionReason::Component
            };
            self.skip(tag.length, reason, &[]);
            self.own_lines(&shown.lines, None);
            return;
        }
        if self.code_component(tag, rest)
            || self.code_attributes(tag, &rest[..tag.length])
            || self.details(tag, rest)
        {
            return;
        }
        if let Some(placeholder) = self.placeholder(tag, &rest[..tag.length]) {
            let kept = match placeholder {
                // A partial decides which of its properties it shows, and they are not followed into it.
                Placeholder::Partial(_) => &[],
                Placeholder::Contents(_) => tag.prose.as_slice(),
            };
            self.skip(tag.length, OmissionReason::Tag, kept);
            self.own_line(&placeholder.line());
            return;
        }
        if self.panel(tag) {
            return;
        }
        let start = self.at;
        let component = self.empty_component(tag, rest);
        match component {
            Some(length) => self.skip(length, OmissionReason::Component, &[]),
            None => self.skip(tag.length, OmissionReason::Tag, &tag.prose),
        }
        let gap = self.gap_of(tag, start..start + component.unwrap_or(tag.length));
        let in_table = self.first == Some('|');
        let heading = HeadingTag::of_tag(tag, self.dialect.flavor).filter(|_| !in_table);
        match heading {
            Some(heading) => self.write_heading(tag, &heading),
            None => self.write_prose(tag, gap, in_table),
        }
        self.escape_mark_after_tag();
    }

    fn placeholder(&self, tag: &Tag<'_>, source: &str) -> Option<Placeholder> {
        if tag.closing {
            return None;
        }
        if self.partials.contains_key(tag.name) {
            return Some(Placeholder::Partial(tag.name.to_owned()));
        }
        (tag.name == "TOCInline").then(|| Placeholder::Contents(Contents::of_tag(source)))
    }

    fn write_heading(&mut self, tag: &Tag<'_>, heading: &HeadingTag) {
        self.own_line(&heading.line());
        if let (HeadingTag::Opens { .. }, Some(children)) = (heading, &tag.children) {
            self.own_line(&escaped(&verbatim(children)));
            if tag.self_closing {
                self.own_line(&HeadingTag::Closes.line());
            }
        }
    }

    /// Returns the length of a component that has no text on the page, `<X />` or `<X></X>`.
    fn empty_component(&self, tag: &Tag<'_>, rest: &str) -> Option<usize> {
        let is_component = self.dialect.flavor == Flavor::Mdx
            && !tag.closing
            && tag.prose.is_empty()
            && tag.name.starts_with(char::is_uppercase);
        if !is_component || tag.self_closing {
            return is_component.then_some(tag.length);
        }
        // Its attributes show something, such as a heading. In a generated page the plugin's components are written this way.
        let shows_attributes =
            tag.children.is_some() || tag.made_as.is_some() || tag.target.is_some();
        if shows_attributes || self.generated.is_some() {
            return None;
        }
        let content = rest[tag.length..].trim_start();
        let after = content
            .strip_prefix("</")?
            .strip_prefix(tag.name)?
            .strip_prefix('>')?;
        Some(rest.len() - after.len())
    }

    /// Returns the gap that a tag leaves at its place in the text. A component within a line leaves none, as on the page: `re<Term>assign</Term>ment`.
    /// Between two tags it leaves a space, because each may be a block: `<Step>One</Step><Step>Two</Step>`.
    fn gap_of(&self, tag: &Tag<'_>, place: Range<usize>) -> Gap {
        let is_beside_tag =
            self.text[..place.start].ends_with('>') || self.text[place.end..].starts_with('<');
        let is_component = tag.name.starts_with(char::is_uppercase);
        if is_component && tag.prose.is_empty() && !is_beside_tag {
            Gap::None
        } else {
            tag.gap()
        }
    }

    /// Writes the text of a tag's attributes, with the gap that the tag leaves.
    fn write_prose(&mut self, tag: &Tag<'_>, gap: Gap, in_table: bool) {
        self.link_tag(tag);
        let prose = marked_prose(tag, verbatim(&tag.prose.join(" ")).into_owned());
        let alone = self.at_line_start();
        match gap {
            Gap::None => self.write(&prose),
            Gap::Block if !alone && !in_table => self.own_line(&prose),
            _ if alone && !prose.is_empty() && tag.name != "img" => self.own_line(&prose),
            Gap::Block | Gap::Space => {
                if !alone {
                    self.write(" ");
                }
                self.write(&prose);
                if !prose.is_empty() {
                    self.write(" ");
                }
            }
        }
    }

    /// Escapes block syntax right after a tag, where MDX reads text: no heading in `<div>## x</div>`, no underline of the previous line in
    /// `<td>-</td>`.
    pub(super) fn escape_mark_after_tag(&mut self) {
        let rest = &self.text[self.at..];
        let mark = rest.trim_start_matches(' ');
        let is_mark = mark.starts_with(['#', '>', '=', '-'])
            || ["+ ", "* "].iter().any(|item| mark.starts_with(item));
        let digits = mark.bytes().take_while(u8::is_ascii_digit).count();
        let after_digits = &mark[digits..];
        let is_number =
            digits > 0 && (after_digits.starts_with(". ") || after_digits.starts_with(") "));
        if (is_mark || is_number) && self.at_line_start() {
            self.at += rest.len() - mark.len();
            self.copy(digits);
            self.push_escaped(&mark[digits..=digits]);
        }
    }

    fn shown_by_component(&mut self, tag: &Tag<'_>, source: &str) -> Option<Shown> {
        const DESCRIPTIONS: Dialect<'static> = Dialect {
            flavor: Flavor::Markdown,
            math: false,
            comment_ids: false,
            emoji: true,
            admonitions: None,
            magic_comments: None,
        };
        let mut generated = self.generated.take()?;
        let mut budget = self.search_budget;
        let shown = generated.shown(tag, source, &mut |description| {
            let partials = BTreeMap::new();
            let inner = Preparer {
                search_budget: budget,
                ..Preparer::new(description, DESCRIPTIONS, &partials)
            };
            let prepared = inner.run();
            budget = prepared.search_budget;
            prepared.out.text
        });
        self.search_budget = budget;
        self.generated = Some(generated);
        shown
    }

    /// Writes `text` as a block of its own, between blank lines.
    pub(super) fn own_line(&mut self, text: &str) {
        let lines = Some(text.to_owned()).filter(|text| !text.is_empty());
        self.own_lines(lines.as_slice(), None);
    }

    /// Writes lines as a block of their own. `first` is the source line of the first one; without it, all have the current line.
    pub(super) fn own_lines(&mut self, lines: &[String], first: Option<u32>) {
        let prefix = continued_prefix(&self.current);
        let line = self.line;
        if self.first.is_none() {
            self.current.clear();
        } else {
            // An item that begins with a blank line would end there.
            if self.at_line_start() {
                self.write(REMOVED_BLOCK);
            }
            self.end_line();
        }
        self.out.push(&prefix, line);
        for (number, text) in (0..).zip(lines) {
            let line = first.map_or(line, |first| first + number);
            self.out.push(&format!("{prefix}{text}"), line);
        }
        if !lines.is_empty() {
            self.out.push(&prefix, line);
        }
        self.write(&prefix);
        self.current_line = line;
        self.skip_spaces();
    }
}

/// Parses a tag inside this many quotes, ignoring their marks on its later lines.
///
/// # Errors
/// The number of bytes searched if the tag never ends.
fn parse_quoted_tag<'a>(text: &str, start: TagStart<'a>, quotes: usize) -> Result<Tag<'a>, usize> {
    if let Some(tag) = parse_tag(text, start)
        && !text[..tag.length].contains('\n')
    {
        return Ok(tag);
    }
    let mut unquoted = String::new();
    let mut marks = Vec::new();
    for (number, line) in text.split('\n').take(MAX_QUOTED_TAG_LINES).enumerate() {
        let quotes = if number == 0 { 0 } else { quotes };
        let Some(rest) = without_quotes(line, quotes) else {
            break;
        };
        marks.push(line.len() - rest.len());
        unquoted.push_str(rest);
        unquoted.push('\n');
    }
    let mut tag = parse_tag(&unquoted, start).ok_or(text.len())?;
    let last_line = unquoted[..tag.length].matches('\n').count();
    tag.length += marks[..=last_line].iter().sum::<usize>();
    Ok(tag)
}
