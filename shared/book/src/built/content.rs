//! Converts the HTML of a page to blocks.

mod names;
mod part;
mod code;
mod finished;

use std::ops::Range;

use html5gum::Token;

use crate::block::{Block, BlockKind, MarkKind, Nesting, OpenPanels};
use crate::markdown::{item_marker, linkable};
use crate::omission::{Omission, OmissionReason};
use crate::webpage::{Root, Start, attribute, is_empty, tokens};

use super::elements::{Address, Role, is_left_out, language_of, role_of};
use super::file::HtmlFile;
use super::leaf::Leaf;
use super::listing::LineNumber;
use super::math::Math;
use super::tabs::Tabs;
use part::Part;

/// The deepest nesting of elements. Tags nested deeper are ignored, but their text is read, as in browsers. Bounds the time for a hostile page.
const MAX_DEPTH: usize = 256;

/// The text in the HTML of a page.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) blocks: Vec<Block>,
    /// Everything else in the file.
    pub(super) omissions: Vec<Omission>,
}

impl Content {
    pub(super) fn headings(&self) -> usize {
        let headings = self.blocks.iter().filter(|block| block.is_heading());
        headings.count()
    }

    /// True if the blocks have the same texts as those of another page.
    pub(super) fn has_text_of(&self, other: &Self) -> bool {
        let texts = self.blocks.iter().map(|block| &block.text);
        texts.eq(other.blocks.iter().map(|block| &block.text))
    }
}

/// Reads the content of the page at an address, from the element that [`Root`] finds.
pub(super) fn read_content(html: &str, address: Address<'_>) -> Content {
    let mut reader = ContentReader::new(html, address);
    for Ok(token) in tokens(html) {
        reader.token(token);
    }
    reader.end_block();
    Content {
        omissions: reader.file.omissions(),
        ..reader.content
    }
}

/// An open element.
struct Element {
    name: Vec<u8>,
    role: Role,
    is_panel: bool,
    /// The number of blocks before it.
    blocks: usize,
    /// The offset in the code at which an element with the number of a line may begin.
    number: Option<usize>,
}

/// A skipped element, and the number of open elements with its name, to find its end tag.
struct LeftOut {
    name: Vec<u8>,
    open: usize,
}

/// The position relative to the page's content.
#[derive(PartialEq, Eq)]
enum Position {
    Before,
    Within,
    After,
}

/// A name that an open element gives to something in it.
struct Around {
    /// The number of elements around the open element.
    depth: usize,
    name: String,
}

struct ContentReader<'a> {
    file: HtmlFile<'a>,
    address: Address<'a>,
    root: Root,
    place: Position,
    open: Vec<Element>,
    left_out: Option<LeftOut>,
    leaf: Leaf,
    /// The heading, code or table being read. Elements in it do not begin blocks.
    whole: Option<BlockKind>,
    /// True if only elements with lines hold the code being read.
    is_in_lines: bool,
    /// The numbers of lines in the code being read.
    numbers: Vec<LineNumber>,
    /// The source of the last text in the code being read.
    last_code: Range<usize>,
    /// True if the next cell has the numbers of code in the cell after it.
    skips_cell: bool,
    /// The number of cells that have begun in the open row.
    cells: usize,
    lists: Vec<Option<u64>>,
    /// The marker of the list item whose text has not begun.
    marker: String,
    nesting: Nesting,
    tabs: Tabs,
    panels: OpenPanels,
    /// The formula being read.
    math: Option<Math>,
    /// The language that an element around the next code gives.
    language: Option<Around>,
    /// The id of the section whose heading is next.
    section: Option<Around>,
    /// The name that an anchor gives to the heading that is next.
    anchor: Option<String>,
    part: Option<Part>,
    /// The line of the page's text at which the next block begins.
    line: u32,
    content: Content,
}

impl<'a> ContentReader<'a> {
    fn new(html: &'a str, address: Address<'a>) -> Self {
        Self {
            file: HtmlFile::new(html),
            address,
            root: Root::new(html),
            place: Position::Before,
            open: Vec::new(),
            left_out: None,
            leaf: Leaf::default(),
            whole: None,
            is_in_lines: false,
            numbers: Vec::new(),
            last_code: 0..0,
            skips_cell: false,
            cells: 0,
            lists: Vec::new(),
            marker: String::new(),
            nesting: Nesting::default(),
            tabs: Tabs::new(html),
            panels: OpenPanels::default(),
            math: None,
            language: None,
            section: None,
            anchor: None,
            part: None,
            line: 1,
            content: Content::default(),
        }
    }

    fn token(&mut self, token: Token<usize>) {
        match token {
            Token::StartTag(tag) => {
                self.omit_tag(tag.span.start..tag.span.end);
                match self.place {
                    Position::Before => self.look_for_root(tag),
                    Position::Within => self.start(tag),
                    Position::After => {}
                }
            }
            Token::EndTag(tag) => {
                self.omit_tag(tag.span.start..tag.span.end);
                if self.place == Position::Within {
                    self.end(&tag.name, tag.span.start);
                }
            }
            Token::String(text) => {
                let source = text.span.start..text.span.end;
                self.text(&String::from_utf8_lossy(&text), source);
            }
            Token::Comment(comment) => {
                let source = comment.span.start..comment.span.end;
                self.file.omit(OmissionReason::Comment, source);
            }
            Token::Doctype(doctype) => {
                let source = doctype.span.start..doctype.span.end;
                self.file.omit(OmissionReason::BesideContent, source);
            }
            Token::Error(_) => {}
        }
    }

    fn look_for_root(&mut self, tag: Start) {
        let is_root = match self.root {
            Root::At(at) => tag.span.start == at,
            Root::Body => **tag.name == *b"body",
        };
        if is_root {
            self.place = Position::Within;
            self.push(tag, Role::Block);
        }
    }

    fn start(&mut self, tag: Start) {
        let is_empty = is_empty(&tag);
        if let Some(left_out) = &mut self.left_out {
            left_out.open += usize::from(!is_empty && *left_out.name == **tag.name);
            return;
        }
        if let Some(math) = &mut self.math {
            math.start(&tag);
            return;
        }
        self.read_anchor(&tag);
        // The footer of a quote names its author.
        let is_footer = **tag.name == *b"footer" && self.nesting.quotes == 0;
        let is_skipped_cell = **tag.name == *b"td" && std::mem::take(&mut self.skips_cell);
        if is_footer
            || is_skipped_cell
            || self.tabs.is_tab(tag.span.start)
            || is_left_out(&tag)
            || self.is_beside_title(&tag)
        {
            let name = tag.name.to_vec();
            self.left_out = (!is_empty).then_some(LeftOut { name, open: 1 });
            return;
        }
        if is_empty {
            self.empty(&tag);
            return;
        }
        if **tag.name == *b"math" {
            self.math = Some(Math::new(&tag));
            return;
        }
        let role = self.role_in_part(&tag, role_of(&tag, self.address));
        let role = self.role_in_code(&tag, role);
        match self.whole {
            Some(BlockKind::Code { .. }) => return self.start_in_code(&tag, role),
            Some(_) => return self.start_in_whole(&tag, role),
            None => {}
        }
        if role == Role::Item {
            self.end_unclosed_item(tag.span.start);
        }
        self.start_block(tag, role);
    }

    /// Reads an element without content.
    fn empty(&mut self, tag: &Start) {
        let source = tag.span.start..tag.span.end;
        match (tag.name.as_slice(), &self.whole) {
            (b"br", Some(BlockKind::Code { .. })) => self.leaf.push_code("\n", &source),
            (b"br", Some(_)) => self.leaf.space(),
            (b"br", None) => self.leaf.end_line(),
            (b"hr", None) => self.end_block(),
            (b"img", _) => {
                let text = attribute(tag, "alt").unwrap_or_default();
                match self.address.of_picture(tag) {
                    Some(address) => self.leaf.push_picture(&text, address, &source),
                    None => self.leaf.push(&text, &source),
                }
            }
            _ => {}
        }
    }

    /// Begins an element within a heading or a table.
    fn start_in_whole(&mut self, tag: &Start, role: Role) {
        let is_table = self.whole == Some(BlockKind::Table);
        if let Some(label) = self.tabs.label(tag.span.start) {
            self.leaf.space();
            self.leaf.push(label, &(tag.span.start..tag.span.end));
        }
        match role {
            Role::Inline | Role::Mark(_) | Role::Jump { .. } => {}
            Role::Row if is_table => self.end_row(),
            Role::Cell if is_table => {
                if self.cells > 0 {
                    self.leaf.end_cell();
                }
                self.cells += 1;
            }
            _ => self.leaf.space(),
        }
        let role = match role {
            Role::Mark(kind) if is_table => self.open_mark(kind),
            Role::Row if is_table => Role::Row,
            Role::Jump { id, from } => self.open_jump(id, from),
            // Other marks in headings are ignored.
            Role::Inline | Role::Mark(_) => Role::Inline,
            _ => Role::Block,
        };
        self.push(tag.clone(), role);
    }

    fn start_block(&mut self, tag: Start, role: Role) {
        let is_panel = self.begin_panel(&tag);
        if role == Role::Code {
            let depth = self.open.len();
            let own = language_of(&tag).map(|name| Around { depth, name });
            self.language = own.or(self.language.take());
            self.remove_language_label();
        }
        if !matches!(role, Role::Inline | Role::Mark(_) | Role::Jump { .. }) {
            self.end_block();
        }
        let has_room = self.open.len() < MAX_DEPTH;
        let role = match role {
            Role::Heading(_) | Role::Code | Role::Table | Role::List(_) | Role::Item
                if !has_room =>
            {
                Role::Block
            }
            Role::Mark(kind) => self.open_mark(kind),
            Role::Jump { id, from } => self.open_jump(id, from),
            role => role,
        };
        match &role {
            Role::Heading(level) => {
                self.marker.clear();
                let section = self.section.take().map(|section| section.name);
                let anchor = attribute(&tag, "id").or(self.anchor.take()).or(section);
                self.whole = Some(BlockKind::Heading {
                    level: *level,
                    anchor: anchor.and_then(linkable),
                    listed: true,
                });
            }
            Role::Code => {
                self.marker.clear();
                self.whole = Some(BlockKind::Code {
                    language: self.language.take().map_or_else(String::new, |it| it.name),
                    title: None,
                });
            }
            Role::Table => {
                self.marker.clear();
                self.cells = 0;
                self.whole = Some(BlockKind::Table);
            }
            Role::List(first) => self.lists.push(*first),
            Role::Item => {
                self.nesting.items += 1;
                self.marker = item_marker(&mut self.lists);
            }
            Role::Quote => self.nesting.quotes += usize::from(has_room),
            Role::Block => self.begin_around(&tag),
            Role::Row
            | Role::Cell
            | Role::Line
            | Role::Inline
            | Role::Mark(_)
            | Role::Jump { .. } => {}
        }
        self.push(tag, role);
        if let Some(element) = self.open.last_mut() {
            element.is_panel |= is_panel;
        }
    }

    /// Opens a mark. Returns [`Role::Inline`] if there is nothing to mark.
    fn open_mark(&mut self, kind: Option<MarkKind>) -> Role {
        let kind = kind.filter(|_| self.open.len() < MAX_DEPTH);
        match kind.filter(|kind| self.leaf.open(kind.clone())) {
            Some(kind) => Role::Mark(Some(kind)),
            None => Role::Inline,
        }
    }

    fn push(&mut self, tag: Start, role: Role) {
        if self.open.len() < MAX_DEPTH {
            let name = tag.name.0;
            self.open.push(Element {
                name,
                role,
                is_panel: false,
                blocks: self.content.blocks.len(),
                number: None,
            });
        }
    }

    /// Ends a list item that lacks an end tag, at the start of the next one.
    fn end_unclosed_item(&mut self, at: usize) {
        let last = self
            .open
            .iter()
            .rposition(|element| matches!(element.role, Role::Item | Role::List(_)));
        if let Some(last) = last.filter(|last| self.open[*last].role == Role::Item) {
            self.close_down_to(last, at);
        }
    }

    /// Reads an end tag at an offset.
    fn end(&mut self, name: &[u8], at: usize) {
        if let Some(left_out) = &mut self.left_out {
            left_out.open -= usize::from(*left_out.name == *name);
            if left_out.open == 0 {
                self.left_out = None;
            }
            return;
        }
        if let Some(mut math) = self.math.take() {
            if !math.end(name) {
                self.math = Some(math);
                return;
            }
            let (formula, unshown) = math.finish();
            self.leaf.push_formula(&formula, &(math.from..at));
            for source in unshown {
                self.file.omit(OmissionReason::BesideContent, source);
            }
            return;
        }
        let named = self.open.iter().rposition(|element| element.name == name);
        if let Some(named) = named {
            self.close_down_to(named, at);
        }
        if self.open.is_empty() {
            self.place = Position::After;
        }
    }

    /// Closes the elements from the one at `place`, at an offset of the file.
    fn close_down_to(&mut self, place: usize, at: usize) {
        while self.open.len() > place {
            if let Some(element) = self.open.pop() {
                self.end_number(&element);
                self.close(element.role, at);
                if element.is_panel {
                    self.end_block();
                    self.panels.close();
                }
                if element.name == b"summary" {
                    self.label_details(element.blocks);
                }
            }
        }
        self.forget_closed();
    }

    fn close(&mut self, role: Role, at: usize) {
        match role {
            Role::Inline | Role::Cell => {}
            Role::Mark(_) => self.leaf.close(),
            Role::Jump { id, from } => self.close_jump(id, from..at),
            Role::Block | Role::Line if matches!(self.whole, Some(BlockKind::Code { .. })) => {
                self.leaf.end_code_line();
            }
            Role::Row if self.whole == Some(BlockKind::Table) => self.end_row(),
            Role::Block if self.whole.is_some() => self.leaf.space(),
            Role::Heading(_) | Role::Code | Role::Table => {
                self.end_row();
                self.end_block();
                self.whole = None;
                self.is_in_lines = false;
            }
            Role::Block | Role::Row | Role::Line => self.end_block(),
            Role::List(_) => {
                self.end_block();
                self.lists.pop();
            }
            Role::Item => {
                self.end_block();
                self.marker.clear();
                self.nesting.items -= 1;
            }
            Role::Quote => {
                self.end_block();
                self.nesting.quotes -= 1;
            }
        }
    }

    fn text(&mut self, text: &str, source: Range<usize>) {
        if self.place != Position::Within || self.left_out.is_some() {
            self.file.omit(OmissionReason::BesideContent, source);
            return;
        }
        // The source differs from the text, so it contains a character reference.
        if self.file.html.get(source.clone()) != Some(text) {
            self.file
                .omit(OmissionReason::CharacterReference, source.clone());
        }
        self.anchor.take_if(|_| !text.trim_ascii().is_empty());
        if let Some(math) = &mut self.math {
            math.push(text, source);
        } else if matches!(self.whole, Some(BlockKind::Code { .. })) {
            self.code(text, source);
        } else {
            self.leaf.push(text, &source);
        }
    }
}
