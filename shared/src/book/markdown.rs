//! From prepared Markdown to the blocks of a page, in reading order, each with its source lines.

use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::mdx::{Flavor, Prepared, REMOVED_MARK, partial_name};
use super::slug::Slugger;

/// One block as a reader sees it: a heading, a paragraph, a list item, a piece of code, a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text without markup. Code and tables hold a line a source line; cells are joined by ` | `.
    pub text: String,
    /// Its source, as written.
    pub markdown: String,
    /// The first line in the file, from 1.
    pub start_line: u32,
    /// The last line in the file.
    pub end_line: u32,
}

/// The kinds of block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockKind {
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its id in the page; a level 1 heading has none.
        anchor: Option<String>,
    },
    /// A paragraph.
    Paragraph,
    /// A list item's text, its mark before it.
    ListItem,
    /// Code, or the source of a diagram.
    Code {
        /// The first word after the fence; empty without one.
        language: String,
        /// The title shown above it.
        title: Option<String>,
    },
    /// A table; the first line is its header.
    Table,
    /// Where a partial is used; its blocks take this one's place.
    Partial,
}

/// Indented code in MDX is text; so deep may such text nest in itself before it is taken as it stands.
const MAX_INDENTED_DEPTH: usize = 8;

/// Parses prepared text. `raw_lines` are the file's lines, for [`Block::markdown`].
pub(super) fn parse_blocks(
    prepared: &Prepared,
    raw_lines: &[&str],
    flavor: Flavor,
    slugger: &mut Slugger,
) -> Vec<Block> {
    let mut reader = Reader {
        raw_lines,
        flavor,
        slugger,
        blocks: Vec::new(),
    };
    reader.read(&prepared.text, &prepared.line_of, 0);
    reader.blocks
}

struct Reader<'a> {
    raw_lines: &'a [&'a str],
    flavor: Flavor,
    slugger: &'a mut Slugger,
    blocks: Vec<Block>,
}

/// What is being read between a start and an end event.
#[derive(Default)]
struct Leaf {
    text: String,
    /// The text that a heading's id is made of.
    slug_text: String,
    /// Byte offsets in the prepared text.
    start: Option<usize>,
    end: usize,
    /// Whether the last piece was plain text: only there may an explicit id stand.
    ends_in_text: bool,
}

impl Leaf {
    fn push(&mut self, text: &str, range: &std::ops::Range<usize>) {
        self.start.get_or_insert(range.start);
        self.end = self.end.max(range.end);
        self.text.push_str(text);
        self.slug_text.push_str(text);
        self.ends_in_text = false;
    }
}

/// A text directive, `:name`: Docusaurus does not count it for a heading's id.
static TEXT_DIRECTIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(^|[^:]):[A-Za-z](?:[A-Za-z0-9_-]*[A-Za-z0-9])?")
        .expect("the pattern is a constant")
});

impl Leaf {
    /// Takes text directives out of the last `length` bytes of the text that an id is made of.
    fn drop_directives(&mut self, length: usize) {
        let at = self.slug_text.len() - length;
        if self.slug_text[at..].contains(':') {
            let kept = TEXT_DIRECTIVE
                .replace_all(&self.slug_text[at..], "$1")
                .into_owned();
            self.slug_text.truncate(at);
            self.slug_text.push_str(&kept);
        }
    }
}

/// An open list: the next number, or `None` for bullets.
type List = Option<u64>;

impl Reader<'_> {
    fn read(&mut self, text: &str, line_of: &[u32], depth: usize) {
        let lines = LineIndex::new(text, line_of);
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            | Options::ENABLE_MATH;
        let mut leaf = Leaf::default();
        let mut lists: Vec<List> = Vec::new();
        let mut marker = String::new();
        let mut info = None;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::List(first)) => {
                    self.end_text(&mut leaf, &mut marker, &lines);
                    lists.push(first);
                }
                Event::End(TagEnd::List(_)) => {
                    lists.pop();
                }
                Event::Start(Tag::Item) => marker = item_marker(&mut lists),
                Event::End(TagEnd::Item) => {
                    self.end_text(&mut leaf, &mut marker, &lines);
                    marker.clear();
                }
                Event::TaskListMarker(done) => {
                    leaf.push(if done { "[x] " } else { "[ ] " }, &range);
                }
                Event::Start(Tag::Heading { .. } | Tag::Table(_)) => {
                    self.end_text(&mut leaf, &mut marker, &lines);
                    leaf.start = Some(range.start);
                }
                Event::End(TagEnd::Heading(level)) => {
                    leaf.end = range.end;
                    self.heading(std::mem::take(&mut leaf), level, &lines);
                }
                Event::End(TagEnd::TableCell) => leaf.text.push_str(" | "),
                Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                    leaf.text.truncate(leaf.text.trim_end_matches(" | ").len());
                    leaf.text.push('\n');
                }
                Event::End(TagEnd::Table) => {
                    leaf.end = range.end;
                    let table = std::mem::take(&mut leaf);
                    self.push(
                        BlockKind::Table,
                        table.text.trim_end().to_owned(),
                        &lines.of(&table),
                    );
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    self.end_text(&mut leaf, &mut marker, &lines);
                    leaf.start = Some(range.start);
                    info = match kind {
                        CodeBlockKind::Fenced(info) => Some(info.into_string()),
                        CodeBlockKind::Indented => None,
                    };
                }
                Event::End(TagEnd::CodeBlock) => {
                    leaf.end = range.end;
                    self.code(std::mem::take(&mut leaf), info.take(), &lines, depth);
                }
                Event::Start(Tag::HtmlBlock | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_))
                | Event::End(
                    TagEnd::Paragraph
                    | TagEnd::HtmlBlock
                    | TagEnd::BlockQuote(_)
                    | TagEnd::FootnoteDefinition,
                ) => self.end_text(&mut leaf, &mut marker, &lines),
                Event::Text(content) => {
                    leaf.push(&content, &range);
                    leaf.drop_directives(content.len());
                    leaf.ends_in_text = true;
                }
                Event::Code(content) | Event::Html(content) | Event::InlineHtml(content) => {
                    leaf.push(&content, &range);
                }
                Event::InlineMath(tex) => leaf.push(&format!("${tex}$"), &range),
                Event::DisplayMath(tex) => leaf.push(&format!("$${tex}$$"), &range),
                Event::SoftBreak => {
                    leaf.text.push(' ');
                    leaf.slug_text.push('\n');
                }
                Event::HardBreak => leaf.text.push('\n'),
                _ => {}
            }
        }
        self.end_text(&mut leaf, &mut marker, &lines);
    }

    /// Ends a run of text: a paragraph, or a list item's when a mark is waiting.
    fn end_text(&mut self, leaf: &mut Leaf, marker: &mut String, lines: &LineIndex<'_>) {
        let leaf = std::mem::take(leaf);
        let text = leaf.text.trim();
        if text.is_empty() {
            return;
        }
        let lines = lines.of(&leaf);
        if partial_name(text).is_some() {
            self.push(BlockKind::Partial, text.to_owned(), &lines);
        } else if marker.is_empty() {
            self.push(BlockKind::Paragraph, text.to_owned(), &lines);
        } else {
            self.push(BlockKind::ListItem, format!("{marker}{text}"), &lines);
            marker.clear();
        }
    }

    fn heading(&mut self, leaf: Leaf, level: HeadingLevel, lines: &LineIndex<'_>) {
        let explicit = if leaf.ends_in_text {
            explicit_id(&leaf.slug_text)
        } else {
            None
        };
        let anchor = match explicit {
            Some(id) => id.to_owned(),
            // A level 1 heading has no id, but uses up its slug.
            None => self.slugger.slug(&leaf.slug_text),
        };
        let text = explicit.map_or(leaf.text.as_str(), |_| {
            let at = leaf.text.rfind('{').unwrap_or(leaf.text.len());
            &leaf.text[..at]
        });
        let kind = BlockKind::Heading {
            level: level as u8,
            anchor: (level != HeadingLevel::H1 && !anchor.is_empty()).then_some(anchor),
        };
        let text = text.replace(REMOVED_MARK, "");
        self.push(kind, text.trim().to_owned(), &lines.of(&leaf));
    }

    /// Ends a code block; indented text is code in Markdown only.
    fn code(&mut self, leaf: Leaf, info: Option<String>, lines: &LineIndex<'_>, depth: usize) {
        let is_text = info.is_none() && self.flavor == Flavor::Mdx && depth < MAX_INDENTED_DEPTH;
        let range = lines.of(&leaf);
        if !is_text {
            let info = info.unwrap_or_default();
            let kind = BlockKind::Code {
                language: first_word(&info),
                title: fence_title(&info),
            };
            let code = leaf.text.trim_end_matches('\n').to_owned();
            self.push(kind, code, &range);
            return;
        }
        let indent = |line: &str| line.len() - line.trim_start().len();
        let common = leaf
            .text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(indent)
            .min()
            .unwrap_or(0);
        let mut text = String::new();
        let mut line_of = Vec::new();
        for (line, number) in leaf.text.lines().zip(range.start..) {
            text.push_str(line.get(common..).unwrap_or_default());
            text.push('\n');
            line_of.push(number.min(range.end));
        }
        self.read(&text, &line_of, depth + 1);
    }

    fn push(&mut self, kind: BlockKind, text: String, lines: &SourceLines) {
        let from = (lines.start as usize).saturating_sub(1);
        let to = (lines.end as usize).clamp(from, self.raw_lines.len());
        self.blocks.push(Block {
            kind,
            text,
            markdown: self.raw_lines.get(from..to).unwrap_or_default().join("\n"),
            start_line: lines.start,
            end_line: lines.end,
        });
    }
}

/// The mark before an item: its number or a dash, indented by the lists around it.
fn item_marker(lists: &mut [List]) -> String {
    let indent = "  ".repeat(lists.len().saturating_sub(1));
    match lists.last_mut() {
        Some(Some(number)) => {
            let marker = format!("{indent}{number}. ");
            *number += 1;
            marker
        }
        _ => format!("{indent}- "),
    }
}

fn first_word(info: &str) -> String {
    let word = info.split([' ', '{', ',', '\t']).next().unwrap_or_default();
    word.to_owned()
}

/// The title in a fence's info: `js title="jest.config.js"`.
fn fence_title(info: &str) -> Option<String> {
    let rest = info.split_once("title=")?.1;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let title = rest[1..].split(quote).next()?;
    (!title.is_empty()).then(|| title.to_owned())
}

impl Block {
    /// The text with the title that is shown above code.
    #[must_use]
    pub fn shown_text(&self) -> std::borrow::Cow<'_, str> {
        match &self.kind {
            BlockKind::Code {
                title: Some(title), ..
            } => format!("{title}\n{}", self.text).into(),
            _ => self.text.as_str().into(),
        }
    }
}

/// The id that an author wrote at the end of a heading: `{#id}` or `{/* #id */}`.
fn explicit_id(text: &str) -> Option<&str> {
    let (_, inner) = text.trim_end().strip_suffix('}')?.rsplit_once('{')?;
    let comment = inner
        .strip_prefix("/*")
        .and_then(|inner| inner.strip_suffix("*/"));
    let id = comment.map_or(inner, str::trim).strip_prefix('#')?;
    (!id.is_empty() && !id.contains(char::is_whitespace)).then_some(id)
}

/// The source lines of a block.
struct SourceLines {
    start: u32,
    end: u32,
}

/// Finds the source line of a byte offset in prepared text.
struct LineIndex<'a> {
    text: &'a str,
    starts: Vec<usize>,
    line_of: &'a [u32],
}

impl<'a> LineIndex<'a> {
    fn new(text: &'a str, line_of: &'a [u32]) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self {
            text,
            starts,
            line_of,
        }
    }

    fn line(&self, offset: usize) -> u32 {
        let index = self.starts.partition_point(|start| *start <= offset) - 1;
        let last = self.line_of.last().copied().unwrap_or(1);
        self.line_of.get(index).copied().unwrap_or(last)
    }

    fn of(&self, leaf: &Leaf) -> SourceLines {
        let start = leaf.start.unwrap_or(leaf.end);
        let content = self.text.get(start..leaf.end).unwrap_or_default();
        let last = start + content.trim_end().len().saturating_sub(1);
        let start = self.line(start);
        SourceLines {
            start,
            end: self.line(last).max(start),
        }
    }
}

#[cfg(test)]
#[path = "markdown_tests.rs"]
mod tests;
