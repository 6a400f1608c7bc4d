//! From prepared Markdown to the blocks of a page, in reading order, each with its source lines.

mod heading_id;
mod heading_tags;
mod leaf;
mod source_lines;

use std::ops::Range;
use std::sync::LazyLock;

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use regex::Regex;

use super::block::{Block, BlockKind, Mark, MarkKind};
use super::mdx::{Dialect, Flavor, HeadingTag, MATH_INFO, Prepared, REMOVED_BLOCK};
use super::omission::{Omission, OmissionReason};
use super::placeholder::Placeholder;
use super::slug::Slugger;

use heading_id::{HIDDEN_FROM_ID, drop_directives, explicit_id, shown};
use heading_tags::OpenHeading;
use leaf::Leaf;
use source_lines::{LineIndex, SourceLines};

/// Indented code in MDX is text; so deep may such text nest in itself before it is taken as it stands.
const MAX_INDENTED_DEPTH: usize = 8;

/// Longer ids are left out: nobody links to a heading of a page's length, and each chunk below it would carry it.
const MAX_ANCHOR_BYTES: usize = 2_048;

/// A line of code that only tells Docusaurus which lines to highlight; it is not shown.
static HIGHLIGHT_MARK: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?m)^[ \t]*(?://|#|--|%|;|/\*|\{/\*|<!--)[ \t]*highlight-(?:next-line|start|end)[ \t]*(?:\*/\}?|-->)?[ \t]*(?:\n|\z)",
    )
    .expect("the pattern is a constant")
});

/// Lists nested deeper are indented no further.
const MAX_LIST_INDENT: usize = 16;

/// What a page or partial holds, in order.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) blocks: Vec<Block>,
    /// Where others' blocks belong: before the block at this place.
    pub(super) placeholders: Vec<(usize, Placeholder, SourceLines)>,
    /// What the Markdown holds and no block does.
    pub(super) omissions: Vec<Omission>,
    /// Whether the first heading is one of level 1, before any thematic break: Docusaurus then adds no title.
    pub(super) begins_with_title: bool,
}

/// Parses prepared text. `raw_lines` are the file's lines, for [`Block::markdown`].
pub(super) fn parse_blocks(
    prepared: &Prepared,
    raw_lines: &[&str],
    dialect: Dialect,
    slugger: &mut Slugger,
) -> Parsed {
    let mut reader = Reader {
        raw_lines,
        dialect,
        slugger,
        title_is_over: false,
        open_heading: None,
        parsed: Parsed::default(),
    };
    reader.read(&prepared.text, &prepared.line_of, 0);
    reader.parsed
}

struct Reader<'a> {
    raw_lines: &'a [&'a str],
    dialect: Dialect,
    slugger: &'a mut Slugger,
    /// Whether a heading or thematic break was passed: no title can follow.
    title_is_over: bool,
    /// The heading written as tags that has not ended.
    open_heading: Option<OpenHeading>,
    parsed: Parsed,
}

/// An open list: the next number, or `None` for bullets.
type List = Option<u64>;

/// One pass over a text: of the page, or of text in it that looked like code.
struct Pass<'a> {
    text: &'a str,
    lines: LineIndex<'a>,
    depth: usize,
    leaf: Leaf,
    lists: Vec<List>,
    /// The mark of the item that has no text yet.
    marker: String,
    /// Where that item begins.
    marker_at: usize,
    /// What follows the ticks of the open fence.
    info: Option<String>,
    /// Where the last cell of the open row ends.
    cell_end: usize,
    /// Where the text of each open link or picture ends.
    links: Vec<usize>,
}

impl Reader<'_> {
    fn read(&mut self, text: &str, line_of: &[u32], depth: usize) {
        let mut options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS;
        options.set(Options::ENABLE_MATH, self.dialect.math);
        let parser = Parser::new_ext(text, options);
        let mut pass = Pass {
            text,
            lines: LineIndex::new(text, line_of),
            depth,
            leaf: Leaf::default(),
            lists: Vec::new(),
            marker: String::new(),
            marker_at: 0,
            info: None,
            cell_end: 0,
            links: Vec::new(),
        };
        // They come in no order.
        let definitions = parser.reference_definitions().iter();
        let mut spans: Vec<_> = definitions.map(|(_, found)| found.span.clone()).collect();
        spans.sort_by_key(|span| span.start);
        for span in spans {
            self.omit(&pass, &span, OmissionReason::LinkTarget);
        }
        for (event, range) in parser.into_offset_iter() {
            match event {
                Event::Start(tag) => self.start(&mut pass, tag, &range),
                Event::End(tag) => self.end(&mut pass, tag, &range),
                inline => {
                    self.inline(&mut pass, inline, &range);
                    if let Some(text_end) = pass.links.last_mut() {
                        *text_end = range.end;
                    }
                }
            }
        }
        self.end_text(&mut pass);
    }

    fn start(&mut self, pass: &mut Pass<'_>, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Link { .. } | Tag::Image { .. } => {
                pass.links.push(range.start);
                pass.leaf.open(tag);
            }
            Tag::Strong | Tag::Emphasis => pass.leaf.open(tag),
            Tag::List(first) => {
                self.end_text(pass);
                pass.lists.push(first);
            }
            Tag::Item => {
                self.drop_marker(pass);
                pass.marker = item_marker(&mut pass.lists);
                pass.marker_at = range.start;
                let item = &pass.text[range.clone()];
                let digits = item.bytes().take_while(u8::is_ascii_digit).count();
                if !pass.marker.trim_start().starts_with(&item[..digits]) {
                    let number = range.start..range.start + digits;
                    self.omit(pass, &number, OmissionReason::ListNumber);
                }
            }
            Tag::Heading { .. } | Tag::Table(_) => self.start_block(pass, range),
            Tag::CodeBlock(kind) => {
                self.start_block(pass, range);
                pass.info = match kind {
                    CodeBlockKind::Fenced(info) => Some(info.into_string()),
                    CodeBlockKind::Indented => None,
                };
            }
            Tag::FootnoteDefinition(label) => {
                self.end_text(pass);
                let label = range.start..range.start + "[^".len() + label.len();
                self.omit(pass, &label, OmissionReason::FootnoteLabel);
            }
            Tag::HtmlBlock | Tag::BlockQuote(_) => self.end_text(pass),
            _ => {}
        }
    }

    fn end(&mut self, pass: &mut Pass<'_>, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Link | TagEnd::Image => {
                let text_end = pass.links.pop().unwrap_or(range.start);
                self.omit(pass, &(text_end..range.end), OmissionReason::LinkTarget);
                if let Some(outer) = pass.links.last_mut() {
                    *outer = range.end;
                }
                pass.leaf.close();
            }
            TagEnd::Strong | TagEnd::Emphasis => pass.leaf.close(),
            TagEnd::List(_) => {
                pass.lists.pop();
            }
            TagEnd::Item => {
                self.end_text(pass);
                self.drop_marker(pass);
            }
            TagEnd::Heading(level) => {
                pass.leaf.end = range.end;
                self.heading(pass, level);
            }
            TagEnd::TableCell => {
                pass.leaf.end_cell();
                pass.cell_end = range.end;
            }
            TagEnd::TableHead | TagEnd::TableRow => {
                let beyond = pass.cell_end..range.end;
                self.omit(pass, &beyond, OmissionReason::ExcessCell);
                let row = &mut pass.leaf.text;
                row.truncate(row.trim_end_matches(" | ").len());
                row.push('\n');
            }
            TagEnd::Table => {
                pass.leaf.end = range.end;
                let table = std::mem::take(&mut pass.leaf);
                let text = table.text.trim_end().to_owned();
                let lines = pass.lines.of(table.range());
                self.push_marked(BlockKind::Table, text, table.marks, lines);
            }
            TagEnd::CodeBlock => {
                pass.leaf.end = range.end;
                self.code(pass);
            }
            TagEnd::Paragraph
            | TagEnd::HtmlBlock
            | TagEnd::BlockQuote(_)
            | TagEnd::FootnoteDefinition => self.end_text(pass),
            _ => {}
        }
    }

    fn inline(&mut self, pass: &mut Pass<'_>, event: Event<'_>, range: &Range<usize>) {
        let leaf = &mut pass.leaf;
        match event {
            Event::Text(content) => {
                let length = leaf.push(&content, range);
                let escaped = pass.text[..range.start].ends_with('\\');
                let after = &pass.text[range.end..];
                drop_directives(&mut leaf.slug_text, length, escaped, after);
                if pass.text.get(range.clone()) != Some(&*content) {
                    self.omit(pass, range, OmissionReason::CharacterReference);
                }
            }
            Event::Html(mark) | Event::InlineHtml(mark) if mark.trim_end() == REMOVED_BLOCK => {}
            Event::Code(content) => leaf.push_marked(MarkKind::Code, &content, range),
            Event::Html(content) | Event::InlineHtml(content) => {
                leaf.push(&content, range);
            }
            Event::InlineMath(tex) => {
                leaf.push_marked(MarkKind::Formula, &format!("${tex}$"), range);
            }
            Event::DisplayMath(tex) => {
                leaf.push_marked(MarkKind::Formula, &format!("$${tex}$$"), range);
            }
            Event::TaskListMarker(done) => {
                leaf.push(if done { "[x] " } else { "[ ] " }, range);
            }
            Event::FootnoteReference(_) => self.omit(pass, range, OmissionReason::FootnoteLabel),
            Event::SoftBreak => {
                leaf.text.push(' ');
                leaf.slug_text.push('\n');
            }
            Event::HardBreak => leaf.text.push('\n'),
            Event::Rule => self.title_is_over = true,
            _ => {}
        }
    }

    /// A heading, table or fence begins. One that begins an item stands without the item's mark.
    fn start_block(&mut self, pass: &mut Pass<'_>, range: &Range<usize>) {
        self.end_text(pass);
        self.drop_marker(pass);
        pass.leaf.start = Some(range.start);
    }

    /// The mark that waits goes: its item has no text of its own.
    fn drop_marker(&mut self, pass: &mut Pass<'_>) {
        let marker = std::mem::take(&mut pass.marker);
        if marker.contains(char::is_alphanumeric) {
            let line = pass.lines.line(pass.marker_at);
            self.parsed.omissions.push(Omission {
                start_line: line,
                end_line: line,
                reason: OmissionReason::ListNumber,
                text: marker.trim().to_owned(),
            });
        }
    }

    /// Ends a run of text: a paragraph, or a list item's when a mark is waiting.
    fn end_text(&mut self, pass: &mut Pass<'_>) {
        let leaf = std::mem::take(&mut pass.leaf).shown();
        let text = leaf.text.trim();
        if text.is_empty() {
            return;
        }
        let lines = pass.lines.of(leaf.range());
        let before = leaf.text.len() - leaf.text.trim_start().len();
        let kept = before..before + text.len();
        let marks = leaf.marks.iter().filter_map(|mark| mark.within(&kept));
        if let Some(tag) = HeadingTag::of_line(text) {
            self.drop_marker(pass);
            self.heading_tag(tag, lines);
        } else if let Some(placeholder) = Placeholder::of_line(text) {
            let at = self.parsed.blocks.len();
            self.parsed.placeholders.push((at, placeholder, lines));
        } else if pass.marker.is_empty() {
            self.push_marked(
                BlockKind::Paragraph,
                text.to_owned(),
                marks.collect(),
                lines,
            );
        } else {
            let marker = std::mem::take(&mut pass.marker);
            // A block of tags may stand between an item's mark and its text.
            let start = lines.start.min(pass.lines.line(pass.marker_at));
            let lines = SourceLines { start, ..lines };
            let marks = marks.map(|mark| mark.after(marker.len())).collect();
            self.push_marked(BlockKind::ListItem, format!("{marker}{text}"), marks, lines);
        }
    }

    fn heading(&mut self, pass: &mut Pass<'_>, level: HeadingLevel) {
        let leaf = std::mem::take(&mut pass.leaf);
        let lines = pass.lines.of(leaf.range());
        let is_title = level == HeadingLevel::H1 && !self.title_is_over;
        self.parsed.begins_with_title |= is_title;
        self.title_is_over = true;
        let slug_text = HIDDEN_FROM_ID.replace_all(&leaf.slug_text, "");
        let explicit = explicit_id(&slug_text, self.dialect.flavor);
        let anchor = match explicit {
            Some(id) => id.to_owned(),
            None if is_title => self.slugger.title_slug(&slug_text),
            // A level 1 heading has no id, but uses up its slug.
            None => self.slugger.slug(&slug_text),
        };
        let anchor = linkable(anchor).filter(|_| level != HeadingLevel::H1);
        let mut text = leaf.text.as_str();
        // An id with a directive in it (`{#a:b}`) is taken, and shown all the same.
        let visible = HIDDEN_FROM_ID.replace_all(text, "");
        if explicit.is_some() && explicit_id(&visible, self.dialect.flavor) == explicit {
            let (before, id) = text.split_at(text.rfind('{').unwrap_or(text.len()));
            text = before;
            self.parsed.omissions.push(Omission {
                start_line: lines.start,
                end_line: lines.end,
                reason: OmissionReason::HeadingId,
                text: id.to_owned(),
            });
        }
        let kind = BlockKind::Heading {
            level: level as u8,
            anchor,
            listed: true,
        };
        self.push(kind, shown(text).trim().to_owned(), lines);
    }

    /// Ends a code block; indented text is code in Markdown only.
    fn code(&mut self, pass: &mut Pass<'_>) {
        let leaf = std::mem::take(&mut pass.leaf);
        let lines = pass.lines.of(leaf.range());
        let mdx = self.dialect.flavor == Flavor::Mdx;
        let info = match pass.info.take() {
            None if mdx && pass.depth < MAX_INDENTED_DEPTH => {
                let (text, line_of) = unindented(&leaf.text, pass.lines.from(leaf.range().start));
                self.read(&text, &line_of, pass.depth + 1);
                return;
            }
            info => info.unwrap_or_default(),
        };
        let code = leaf.text.trim_end_matches('\n');
        if let Some(rest) = info.strip_prefix(MATH_INFO) {
            let formula = format!("$${rest}\n{code}\n$$");
            let whole = Mark::from((MarkKind::Formula, 0, formula.len()));
            self.push_marked(BlockKind::Paragraph, formula, vec![whole], lines);
            return;
        }
        let kind = BlockKind::Code {
            language: first_word(&info),
            title: fence_title(&info),
        };
        let left_out = |reason, text: String| Omission {
            start_line: lines.start,
            end_line: lines.end,
            reason,
            text,
        };
        let marks: Vec<&str> = HIGHLIGHT_MARK
            .find_iter(code)
            .map(|mark| mark.as_str())
            .collect();
        if !marks.is_empty() {
            let marks = left_out(OmissionReason::HighlightMark, marks.concat());
            self.parsed.omissions.push(marks);
        }
        let info = left_out(OmissionReason::FenceInfo, info);
        self.parsed.omissions.push(info);
        let shown = HIGHLIGHT_MARK.replace_all(code, "");
        self.push(kind, shown.trim_end_matches('\n').to_owned(), lines);
    }

    fn push(&mut self, kind: BlockKind, text: String, lines: SourceLines) {
        self.push_marked(kind, text, Vec::new(), lines);
    }

    fn push_marked(&mut self, kind: BlockKind, text: String, marks: Vec<Mark>, lines: SourceLines) {
        let from = (lines.start as usize).saturating_sub(1);
        let to = (lines.end as usize).clamp(from, self.raw_lines.len());
        // The source of the second block of a line cannot be told from the first one's.
        let last = self.parsed.blocks.last();
        let markdown = if last.is_some_and(|block| block.end_line >= lines.start) {
            text.clone()
        } else {
            self.raw_lines.get(from..to).unwrap_or_default().join("\n")
        };
        self.parsed.blocks.push(Block {
            kind,
            text,
            marks,
            markdown,
            start_line: lines.start,
            end_line: lines.end,
        });
    }

    /// Says that a piece of the prepared text is in no block.
    fn omit(&mut self, pass: &Pass<'_>, range: &Range<usize>, reason: OmissionReason) {
        let left_out = pass.text.get(range.clone()).unwrap_or_default();
        if left_out.contains(char::is_alphanumeric) {
            self.parsed.omissions.push(Omission {
                start_line: pass.lines.line(range.start),
                end_line: pass.lines.line(range.end - 1),
                reason,
                text: left_out.to_owned(),
            });
        }
    }
}

/// An id that others may link to.
fn linkable(anchor: String) -> Option<String> {
    Some(anchor).filter(|anchor| !anchor.is_empty() && anchor.len() <= MAX_ANCHOR_BYTES)
}

/// Text that looked like code, less the indentation that its lines share, each with its line in the file. `lines` are those
/// of the text's lines.
fn unindented(text: &str, lines: &[u32]) -> (String, Vec<u32>) {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let filled = text.lines().filter(|line| !line.trim().is_empty());
    let common = filled.map(indent).min().unwrap_or(0);
    let mut unindented = String::with_capacity(text.len());
    let mut line_of = Vec::new();
    let last = lines.last().copied().unwrap_or(1);
    let numbers = lines.iter().copied().chain(std::iter::repeat(last));
    for (line, number) in text.lines().zip(numbers) {
        unindented.push_str(line.get(common..).unwrap_or_default());
        unindented.push('\n');
        line_of.push(number);
    }
    (unindented, line_of)
}

/// The mark before an item: its number or a dash, indented by the lists around it.
fn item_marker(lists: &mut [List]) -> String {
    let depth = lists.len().saturating_sub(1);
    let indent = "  ".repeat(depth.min(MAX_LIST_INDENT));
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

#[cfg(test)]
mod tests;
