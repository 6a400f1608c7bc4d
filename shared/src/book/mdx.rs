//! From MDX to the plain Markdown in it: imports, tags and expressions go, their prose stays.
//!
//! Every line that comes out knows the line it came from.

mod flow;
mod heading_tag;
mod marked_tag;
mod inline;

use std::collections::BTreeMap;

use super::html::HtmlBlock;
use super::lines::{
    Fence, closes, continued_prefix, directive, is_esm, is_heading, opens_fence, quotes_in,
    split_container_prefix,
};
use super::modules::{EsmBlock, esm_blocks};
use super::omission::{Omission, OmissionReason};
use super::openapi::Generated;

pub(super) use flow::REMOVED_BLOCK;
pub(super) use heading_tag::HeadingTag;
pub(super) use marked_tag::{Marked, marked_pieces};

/// Plain Markdown, each line with its line in the page.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// The lines, each ending in `\n`.
    pub(super) text: String,
    /// For each line of `text`, its line in the page, from 1.
    pub(super) line_of: Vec<u32>,
    /// What stands in the page and not in `text`.
    pub(super) omissions: Vec<Omission>,
    /// Lines of the page where an admonition begins or ends, in order, and how many are open from there on.
    admonitions: Vec<(u32, usize)>,
}

impl Prepared {
    /// How many admonitions a line of the page stands in.
    pub(super) fn admonitions_at(&self, line: u32) -> usize {
        let begun = self.admonitions.partition_point(|(from, _)| *from <= line);
        begun
            .checked_sub(1)
            .map_or(0, |last| self.admonitions[last].1)
    }

    fn push(&mut self, line: &str, source_line: u32) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
        self.line_of.push(source_line);
    }
}

/// The languages a page may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavor {
    /// MDX: tags and expressions are JSX, indentation makes no code.
    Mdx,
    /// Markdown with HTML.
    Markdown,
}

/// What the site's settings and plugins make of its Markdown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Dialect {
    pub(super) flavor: Flavor,
    /// Whether `$` marks formulas.
    pub(super) math: bool,
    /// Whether `<!-- #id -->` gives a heading its id.
    pub(super) comment_ids: bool,
}

/// Bytes that may be searched for ends that are not there. A hostile page of open brackets costs no more than this;
/// past it, brackets are text.
const SEARCH_BUDGET: usize = 64 * 1024 * 1024;

/// Stands in a heading where a tag or comment was: the spaces beside it count for the heading's id.
pub(super) const REMOVED_MARK: char = '\u{E0B2}';

/// Stand around text in a heading that does not count for its id.
pub(super) const HIDDEN_START: char = '\u{E0B3}';
pub(super) const HIDDEN_END: char = '\u{E0B4}';

/// The info of a fence that stands for a `$$` block.
pub(super) const MATH_INFO: char = '\u{E0B5}';
/// Opens and closes such a fence.
const MATH_FENCE: &str = "~~~~~~~~";

/// Prepares the body of a page whose first line is line `first_line` of its file. `generated` is what a plugin says of the page that it
/// generated.
pub(super) fn prepare(
    body: &str,
    first_line: u32,
    dialect: Dialect,
    partials: &BTreeMap<String, String>,
    generated: Option<Generated>,
) -> Prepared {
    let preparer = Preparer {
        generated,
        ..Preparer::new(body, first_line, dialect, partials)
    };
    preparer.run().out
}

/// What the text of a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    /// Part of a paragraph, an item or a table.
    Text,
    /// A heading.
    Heading,
    /// A block of MDX: tags, expressions and comments alone.
    Flow,
    /// Part of a block of HTML in plain Markdown, which has no marks but tags.
    Html,
}

struct Preparer<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    dialect: Dialect,
    partials: &'a BTreeMap<String, String>,
    /// The blocks of imports and exports, by their offsets.
    esm: BTreeMap<usize, EsmBlock>,
    out: Prepared,
    /// Of each open admonition, the colons that it began with.
    open_admonitions: Vec<usize>,
    /// The output line being written, and the source line it began on.
    current: String,
    current_line: u32,
    /// Whether no paragraph can go on: only then may an import begin.
    after_blank: bool,
    /// The open `mdx-code-block` fence, whose content is read as text.
    unwrapped: Option<Fence>,
    /// The open block of HTML in plain Markdown.
    html: Option<HtmlBlock>,
    search_budget: usize,
    generated: Option<Generated>,
    /// The first character of `current` that is no space.
    first: Option<char>,
    /// What the line being written is.
    kind: LineKind,
    /// How many quotes the line stands in.
    quotes: usize,
    /// The mark of a link that waits for the text after its tag.
    waiting_mark: String,
    /// True if the mark of a link was written, and not that of its end.
    in_link: bool,
}

impl<'a> Preparer<'a> {
    fn new(
        body: &'a str,
        first_line: u32,
        dialect: Dialect,
        partials: &'a BTreeMap<String, String>,
    ) -> Self {
        Self {
            text: body,
            at: 0,
            line: first_line,
            dialect,
            partials,
            esm: match dialect.flavor {
                Flavor::Mdx => esm_blocks(body),
                Flavor::Markdown => BTreeMap::new(),
            },
            out: Prepared::default(),
            open_admonitions: Vec::new(),
            current: String::new(),
            current_line: first_line,
            after_blank: true,
            unwrapped: None,
            html: None,
            search_budget: SEARCH_BUDGET,
            generated: None,
            first: None,
            kind: LineKind::Text,
            quotes: 0,
            waiting_mark: String::new(),
            in_link: false,
        }
    }

    /// Prepares all lines.
    fn run(mut self) -> Self {
        while self.at < self.text.len() {
            self.line();
        }
        self
    }

    /// Prepares one line, or the lines of a construct that begins on it.
    fn line(&mut self) {
        let line = self.rest_of_line();
        let (prefix, content) = split_container_prefix(line);
        self.quotes = quotes_in(prefix);
        let marked = is_heading(content) || opens_fence(content).is_some();
        if marked && self.interrupts_from_afar(line) {
            self.out.push("", self.line);
        }
        if self.html_line(prefix, content) {
            return;
        }
        if let Some(fence) = self.unwrapped
            && closes(fence, content)
        {
            self.unwrapped = None;
            self.skip_line("");
        } else if let Some((fence, info)) = opens_fence(content) {
            if fence.is_mdx_code_block(info) {
                self.unwrapped = Some(fence);
                self.omit(line.len(), OmissionReason::FenceInfo, &[]);
                self.skip_line("");
            } else {
                self.copy_fence(fence, self.quotes);
            }
        } else if self.dialect.flavor == Flavor::Mdx && self.after_blank && is_esm(line) {
            self.skip_esm();
        } else if let Some(lines) = self.math_block(content) {
            self.copy_math(prefix, content, lines);
        } else if let Some((title, rest)) = directive(content) {
            self.out.omissions.push(Omission {
                start_line: self.line,
                end_line: self.line,
                reason: OmissionReason::Attributes,
                text: rest.to_owned(),
            });
            self.bound_admonition(content, title.is_empty());
            self.skip_line(prefix);
            if !title.is_empty() {
                let line = self.line - 1;
                self.out.push(&format!("{prefix}{title}"), line);
                self.out.push(prefix, line);
            }
        } else if self.begins_flow(content) {
            self.flow_line(prefix);
        } else {
            self.after_blank = content.trim().is_empty();
            let kind = if self.is_heading() {
                LineKind::Heading
            } else {
                LineKind::Text
            };
            self.text_line(kind);
        }
    }

    /// Notes that an admonition begins or ends on this line. One ends at as many colons as it began with, or more.
    fn bound_admonition(&mut self, content: &str, is_end: bool) {
        let colons = content.bytes().take_while(|byte| *byte == b':').count();
        let open = &mut self.open_admonitions;
        if !is_end {
            open.push(colons);
        } else if open.last().is_some_and(|began| *began <= colons) {
            open.pop();
        }
        self.out.admonitions.push((self.line, open.len()));
    }

    /// Whether a heading or fence, indented like code, follows text: in MDX it is one, in Markdown it goes on the text.
    fn interrupts_from_afar(&self, line: &str) -> bool {
        const CODE_INDENT: usize = 4;
        let indented = line.len() - line.trim_start_matches(' ').len() >= CODE_INDENT;
        self.dialect.flavor == Flavor::Mdx && indented && !self.after_blank
    }

    /// The lines of the `$$` block that begins on this line, its marks among them.
    fn math_block(&mut self, content: &str) -> Option<usize> {
        if !self.dialect.math || !content.starts_with("$$") || content[2..].contains('$') {
            return None;
        }
        let rest = &self.text[self.at..];
        self.search(|| {
            let closes = |line: &str| split_container_prefix(line).1.trim() == "$$";
            let end = rest.split('\n').skip(1).position(closes);
            end.map(|lines| lines + 2).ok_or(rest.len())
        })
    }

    /// Copies a `$$` block as a fence, whose content is read as it stands.
    fn copy_math(&mut self, prefix: &str, content: &str, lines: usize) {
        let meta = content[2..].trim();
        self.skip_line(&format!("{prefix}{MATH_FENCE}{MATH_INFO}{meta}"));
        for _ in 2..lines {
            self.copy_line();
        }
        let (prefix, _) = split_container_prefix(self.rest_of_line());
        self.skip_line(&format!("{prefix}{MATH_FENCE}"));
    }

    fn rest_of_line(&self) -> &'a str {
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
        self.skip_line(self.rest_of_line());
    }

    /// Ends a paragraph that goes on, so that the line with these container marks begins a block.
    fn end_paragraph(&mut self, prefix: &str) {
        if !self.after_blank {
            self.out.push(&continued_prefix(prefix), self.line);
            self.after_blank = true;
        }
    }

    /// Copies a fence that stands in this many quotes, up to the line that closes it.
    fn copy_fence(&mut self, fence: Fence, quotes: usize) {
        self.copy_line();
        while self.at < self.text.len() {
            let (prefix, content) = split_container_prefix(self.rest_of_line());
            let marks = prefix.chars().filter(|c| !c.is_whitespace()).count();
            let last = closes(fence, content) && marks == quotes && quotes_in(prefix) == quotes;
            self.copy_line();
            if last {
                return;
            }
        }
    }

    /// Skips an `import`/`export` block up to the blank line that ends it. A block that cannot be parsed ends at the first
    /// blank line outside all brackets.
    fn skip_esm(&mut self) {
        let block = self.esm.get(&self.at).map(|block| block.lines);
        let mut depth = 0_i32;
        let mut lines = 0;
        while self.at < self.text.len() {
            let line = self.rest_of_line();
            let ends = match block {
                Some(all) => lines == all,
                None => depth <= 0 && line.trim().is_empty(),
            };
            if ends {
                break;
            }
            for byte in line.bytes() {
                match byte {
                    b'{' | b'[' | b'(' => depth += 1,
                    b'}' | b']' | b')' => depth -= 1,
                    _ => {}
                }
            }
            lines += 1;
            self.omit(line.len(), OmissionReason::Import, &[]);
            self.skip_line("");
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
