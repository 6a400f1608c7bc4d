//! Parses prepared Markdown into the blocks of a page, in reading order, with their source lines.

mod bare_address;
mod code;
mod emoji;
mod heading_id;
mod heading_tags;
mod leaf;
mod panels;
mod source_lines;

use std::ops::Range;

use pulldown_cmark::{
    BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd,
};

use crate::block::{Block, BlockKind, Mark, MarkKind, Nesting, OpenPanels, is_end_mark};
use crate::dialect::Dialect;
use crate::heading_tag::HeadingTag;
use crate::mdx::{PanelLine, Prepared, REMOVED_BLOCK};
use crate::omission::{Omission, OmissionReason};
use crate::placeholder::Placeholder;
use crate::slug::Slugger;

use heading_id::{HIDDEN_FROM_ID, ID_ONLY, drop_directives, explicit_id, shown};
use heading_tags::OpenHeading;
use leaf::Leaf;
use source_lines::{LineIndex, SourceLines};

pub(super) use panels::in_bold;

/// The longest heading id in bytes; longer ones are dropped. Every chunk below the heading would carry it.
const MAX_ANCHOR_BYTES: usize = 2_048;

const MAX_LIST_INDENT: usize = 16;

#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) blocks: Vec<Block>,
    pub(super) placeholders: Vec<Placed>,
    /// Text that is in no block.
    pub(super) omissions: Vec<Omission>,
    /// True if the first heading has level 1 and precedes any thematic break: Docusaurus then adds no title.
    pub(super) begins_with_title: bool,
}

/// A placeholder for blocks from elsewhere.
#[derive(Debug)]
pub(super) struct Placed {
    /// The index of the block that follows it.
    pub(super) at: usize,
    pub(super) placeholder: Placeholder,
    pub(super) lines: SourceLines,
    pub(super) nesting: Nesting,
    pub(super) panels: Vec<String>,
}

/// Parses prepared text. `raw_lines` are the file's lines, for [`Block::markdown`].
pub(super) fn parse_blocks(
    prepared: &Prepared,
    raw_lines: &[&str],
    dialect: Dialect<'_>,
    slugger: &mut Slugger,
) -> Parsed {
    let mut reader = BlockReader {
        raw_lines,
        dialect,
        slugger,
        title_is_over: false,
        open_heading: None,
        prepared,
        nesting: Nesting::default(),
        panels: OpenPanels::default(),
        parsed: Parsed::default(),
    };
    reader.read(&prepared.text, &prepared.line_of, 0);
    reader.parsed
}

struct BlockReader<'a> {
    raw_lines: &'a [&'a str],
    dialect: Dialect<'a>,
    slugger: &'a mut Slugger,
    /// True after a heading or thematic break: no title can follow.
    title_is_over: bool,
    open_heading: Option<OpenHeading>,
    prepared: &'a Prepared,
    /// The open quotes and items, without admonitions.
    nesting: Nesting,
    panels: OpenPanels,
    parsed: Parsed,
}

/// Returns the name of an alert, which is read like an admonition.
fn name_of(alert: BlockQuoteKind) -> &'static str {
    match alert {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    }
}

/// An open list: the next number, or `None` for bullets.
pub(super) type List = Option<u64>;

/// One pass over a page's text, or over indented text in it.
struct Pass<'a> {
    text: &'a str,
    lines: LineIndex<'a>,
    depth: usize,
    leaf: Leaf,
    lists: Vec<List>,
    /// The marker of an item that has no text yet.
    marker: String,
    marker_at: usize,
    info: Option<String>,
    /// The end of the last cell in the open row.
    cell_end: usize,
    /// The end of the text of each open link or picture.
    links: Vec<usize>,
}

impl BlockReader<'_> {
    fn read(&mut self, text: &str, line_of: &[u32], depth: usize) {
        let mut options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS
            // Quotes that begin with `[!NOTE]`.
            | Options::ENABLE_GFM;
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
        // Definitions are unordered.
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
                self.nesting.items += 1;
                pass.marker = item_marker(&mut pass.lists);
                pass.marker_at = range.start;
                let item = pass.text[range.clone()].trim_start();
                let digits = item.bytes().take_while(u8::is_ascii_digit).count();
                if !pass.marker.trim_start().starts_with(&item[..digits]) {
                    let start = range.end - item.len();
                    self.omit(pass, &(start..start + digits), OmissionReason::ListNumber);
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
            Tag::HtmlBlock => self.end_text(pass),
            Tag::BlockQuote(alert) => {
                self.end_text(pass);
                self.nesting.quotes += 1;
                if let Some(alert) = alert {
                    let lines = pass.lines.of(range.start..range.start + 1);
                    self.push(BlockKind::Paragraph, name_of(alert).to_owned(), lines);
                }
            }
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
                self.nesting.items -= 1;
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
                let table = self.take_leaf(pass).shown().with_address_links();
                let text = table.text.trim_end().to_owned();
                let lines = pass.lines.of(table.range());
                self.push_marked(BlockKind::Table, text, table.marks, lines);
            }
            TagEnd::CodeBlock => {
                pass.leaf.end = range.end;
                self.code(pass);
            }
            TagEnd::BlockQuote(_) => {
                self.end_text(pass);
                self.nesting.quotes -= 1;
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::FootnoteDefinition => {
                self.end_text(pass);
            }
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

    /// Begins a heading, table or fence. At the start of a list item, it drops the item's marker.
    fn start_block(&mut self, pass: &mut Pass<'_>, range: &Range<usize>) {
        self.end_text(pass);
        self.drop_marker(pass);
        pass.leaf.start = Some(range.start);
    }

    /// Drops the pending marker of an item without text.
    fn drop_marker(&mut self, pass: &mut Pass<'_>) {
        let marker = std::mem::take(&mut pass.marker);
        if marker.contains(char::is_alphanumeric) {
            let start = pass.lines.line(pass.marker_at);
            let lines = SourceLines { start, end: start };
            self.leave_out(OmissionReason::ListNumber, marker.trim().to_owned(), lines);
        }
    }

    /// Ends a run of text: a paragraph, or a list item's text if a marker is pending.
    fn end_text(&mut self, pass: &mut Pass<'_>) {
        let leaf = self.take_leaf(pass).shown().with_address_links();
        let text = leaf.text.trim();
        if is_end_mark(text) {
            return;
        }
        let lines = pass.lines.of(leaf.range());
        let before = leaf.text.len() - leaf.text.trim_start().len();
        let kept = before..before + text.len();
        let marks = leaf.marks.iter().filter_map(|mark| mark.within(&kept));
        if let Some(tag) = HeadingTag::of_line(text) {
            self.drop_marker(pass);
            self.heading_tag(tag, lines);
        } else if let Some(panel) = PanelLine::parse(text) {
            let marks: Vec<Mark> = marks.collect();
            self.panel(pass, panel, text, &marks, lines);
        } else if let Some(placeholder) = Placeholder::of_line(text) {
            self.parsed.placeholders.push(Placed {
                at: self.parsed.blocks.len(),
                placeholder,
                lines,
                nesting: self.nesting_at(lines),
                panels: self.panels.labels(),
            });
        } else {
            self.push_text(pass, text, marks.collect(), lines);
        }
    }

    /// Returns the text that was read since the last block, with its emojis.
    fn take_leaf(&mut self, pass: &mut Pass<'_>) -> Leaf {
        let mut leaf = std::mem::take(&mut pass.leaf);
        if self.dialect.emoji {
            let codes = leaf.replace_shortcodes();
            if !codes.is_empty() {
                let lines = pass.lines.of(leaf.range());
                self.leave_out(OmissionReason::CharacterReference, codes, lines);
            }
        }
        leaf
    }

    /// Adds a paragraph, or a list item's text if a marker is pending.
    fn push_text(&mut self, pass: &mut Pass<'_>, text: &str, marks: Vec<Mark>, lines: SourceLines) {
        if pass.marker.is_empty() {
            self.push_marked(BlockKind::Paragraph, text.to_owned(), marks, lines);
            return;
        }
        let marker = std::mem::take(&mut pass.marker);
        // A block of tags may separate an item's marker from its text.
        let start = lines.start.min(pass.lines.line(pass.marker_at));
        let lines = SourceLines { start, ..lines };
        let marks = marks.into_iter().map(|mark| mark.after(marker.len()));
        let text = format!("{marker}{text}");
        self.push_marked(BlockKind::ListItem, text, marks.collect(), lines);
    }

    fn heading(&mut self, pass: &mut Pass<'_>, level: HeadingLevel) {
        let leaf = self.take_leaf(pass);
        let lines = pass.lines.of(leaf.range());
        let is_title = level == HeadingLevel::H1 && !self.title_is_over;
        self.parsed.begins_with_title |= is_title;
        self.title_is_over = true;
        let slug_text = HIDDEN_FROM_ID.replace_all(&leaf.slug_text, "");
        let explicit = explicit_id(&slug_text, self.dialect.flavor);
        let anchor = match explicit {
            Some(id) => id.to_owned(),
            None if is_title => self.slugger.title_slug(&slug_text),
            // A level 1 heading has no id, but it reserves its slug.
            None => self.slugger.slug(&slug_text),
        };
        let anchor = linkable(anchor).filter(|_| level != HeadingLevel::H1);
        let whole = ID_ONLY.replace_all(&leaf.text, "");
        let mut text = &*whole;
        // An id that contains a directive (`{#a:b}`) is valid but still shown.
        let visible = HIDDEN_FROM_ID.replace_all(text, "");
        if explicit.is_some() && explicit_id(&visible, self.dialect.flavor) == explicit {
            let (before, id) = text.split_at(text.rfind('{').unwrap_or(text.len()));
            text = before;
            self.leave_out(OmissionReason::HeadingId, id.to_owned(), lines);
        }
        let kind = BlockKind::Heading {
            level: level as u8,
            anchor,
            listed: true,
        };
        self.push(kind, shown(text).trim().to_owned(), lines);
    }

    fn push(&mut self, kind: BlockKind, text: String, lines: SourceLines) {
        self.push_marked(kind, text, Vec::new(), lines);
    }

    fn push_marked(&mut self, kind: BlockKind, text: String, marks: Vec<Mark>, lines: SourceLines) {
        let source_start = lines.start.max(1);
        let from = (lines.start as usize).saturating_sub(1);
        let to = (lines.end as usize).clamp(from, self.raw_lines.len());
        // If two blocks share a line, the source of the second is unknown.
        let last = self.parsed.blocks.last();
        let markdown = if last.is_some_and(|block| block.end_line >= lines.start) {
            text.clone()
        } else {
            let lines = self.raw_lines.get(from..to).unwrap_or_default();
            let removed = &self.prepared.removed_lines;
            let shown = (source_start..).zip(lines);
            let shown = shown.filter(|(line, _)| removed.binary_search(line).is_err());
            let shown: Vec<&str> = shown.map(|(_, text)| *text).collect();
            shown.join("\n")
        };
        self.parsed.blocks.push(Block {
            kind,
            text,
            marks,
            markdown,
            start_line: lines.start,
            end_line: lines.end,
            nesting: self.nesting_at(lines),
            panels: self.panels.labels(),
        });
    }

    fn nesting_at(&self, lines: SourceLines) -> Nesting {
        let mut nesting = self.nesting;
        nesting.admonitions = self.prepared.admonitions_at(lines.start);
        nesting
    }

    /// Records that a range of the prepared text is in no block.
    fn omit(&mut self, pass: &Pass<'_>, range: &Range<usize>, reason: OmissionReason) {
        let left_out = pass.text.get(range.clone()).unwrap_or_default();
        if left_out.contains(char::is_alphanumeric) {
            let lines = SourceLines {
                start: pass.lines.line(range.start),
                end: pass.lines.line(range.end - 1),
            };
            self.leave_out(reason, left_out.to_owned(), lines);
        }
    }

    fn leave_out(&mut self, reason: OmissionReason, text: String, lines: SourceLines) {
        self.parsed.omissions.push(Omission {
            start_line: lines.start,
            end_line: lines.end,
            reason,
            text,
        });
    }
}

pub(super) fn linkable(anchor: String) -> Option<String> {
    Some(anchor).filter(|anchor| !anchor.is_empty() && anchor.len() <= MAX_ANCHOR_BYTES)
}

pub(super) fn item_marker(lists: &mut [List]) -> String {
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

#[cfg(test)]
mod tests;
