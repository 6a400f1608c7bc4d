//! What an answer has shown so far, as far as it decides how a renderer reads what comes next.
//!
//! Markdown's blocks are followed closely enough that what counts as code here is code for every renderer. Where that is in
//! doubt it is not code, so what is taken out of text is taken out of it too.

/// Deeper lists are not followed: fences in them are text.
const MAX_DEPTH: usize = 16;
/// A line that is indented further than its container by this many columns is no fence.
const CODE_INDENT: usize = 4;
/// The longest number of a list item.
const MAX_ITEM_DIGITS: usize = 9;
/// The longest local part of a mail address.
const MAX_LOCAL_BYTES: usize = 64;

/// The state after the characters shown.
#[derive(Debug, Default)]
pub(super) struct Shown {
    last: Option<char>,
    line: Line,
    items: Vec<Item>,
    fence: Option<Fence>,
    /// The fence that this line opens. What else stands on it is text: without a line end, some make no fence of it.
    opening: Option<Fence>,
    code: Trust,
    label: Label,
    /// What may have begun emphasis in this paragraph, or struck something out.
    marks: String,
    /// Square brackets that are open on this line.
    brackets: usize,
    /// Whether the last closing one was opened before.
    matched: bool,
    /// The end of the last word, as far as it may be the local part of a mail address.
    word: String,
    /// Whether the last word holds an address that was let through.
    address: bool,
    /// Whether it holds a `<`.
    angle: bool,
}

/// Whether backticks and fences make code.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Trust {
    #[default]
    Sure,
    /// Backticks do not until the paragraph ends.
    DoubtfulParagraph,
    /// Nothing does any more.
    Lost,
}

/// A line up to its first word.
#[derive(Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is one fact about a line; none excludes another"
)]
struct Line {
    column: usize,
    lead: Lead,
    /// Whether something but white space stands on it.
    written: bool,
    /// Whether something but list markers and quote signs does.
    begun: bool,
    /// Whether the line before was written on.
    follows: bool,
    /// Where a list marker ended whose content is still to come.
    marker_end: Option<(usize, Order)>,
    /// Whether this line ended an ordered list's item.
    after_ordered: bool,
    /// Whether it may close the fence it stands in: nothing but the fence's characters so far.
    closes: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Lead {
    #[default]
    Indent,
    Bullet,
    Digits {
        count: usize,
        is_one: bool,
    },
    /// `1.`, before its space.
    Numbered {
        is_one: bool,
    },
    Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Bulleted,
    Numbered,
}

#[derive(Debug, Clone, Copy)]
struct Item {
    /// The column at which its content begins.
    offset: usize,
    order: Order,
}

#[derive(Debug, Clone, Copy)]
struct Fence {
    mark: char,
    length: usize,
    column: usize,
}

/// A label at the beginning of a line: `[label]`, which `:` makes a definition.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Label {
    #[default]
    None,
    Open,
    Closed,
}

impl Shown {
    pub(super) fn last(&self) -> Option<char> {
        self.last
    }

    /// Whether only white space and list markers stand on this line.
    pub(super) fn is_line_start(&self) -> bool {
        self.line.lead == Lead::Indent
    }

    /// Whether a `[` would open a label.
    pub(super) fn may_open_label(&self) -> bool {
        !self.line.begun
    }

    pub(super) fn is_in_label(&self) -> bool {
        self.label == Label::Open
    }

    pub(super) fn has_label(&self) -> bool {
        self.label == Label::Closed
    }

    /// Whether a `](` would end a link's text for every renderer.
    pub(super) fn is_in_link_text(&self) -> bool {
        self.brackets > 0 && self.trusts_backticks()
    }

    /// Whether it does, after a `]`.
    pub(super) fn ends_link_text(&self) -> bool {
        self.matched && self.last == Some(']') && self.trusts_backticks()
    }

    pub(super) fn brackets(&self) -> usize {
        self.brackets
    }

    /// After a code span: its brackets open no link's text.
    pub(super) fn end_code(&mut self, brackets: usize) {
        self.brackets = brackets;
        self.matched = false;
    }

    /// After a link, the brackets around it make none.
    pub(super) fn end_link(&mut self) {
        self.brackets = 0;
    }

    /// The last word, as far as it may be the local part of a mail address.
    pub(super) fn word(&self) -> &str {
        &self.word
    }

    /// Whether a renderer may take what was shown last for the local part of a mail address.
    pub(super) fn ends_local(&self) -> bool {
        let is_local =
            |c: char| c.is_alphanumeric() || (c.is_ascii_punctuation() && !"()[]<>@".contains(c));
        self.last.is_some_and(is_local)
    }

    /// Whether what is shown next may be read as part of an address that was let through.
    pub(super) fn ends_in_address(&self) -> bool {
        self.address
    }

    pub(super) fn is_in_angle(&self) -> bool {
        self.angle
    }

    pub(super) fn end_address(&mut self) {
        self.address = true;
    }

    pub(super) fn trusts_backticks(&self) -> bool {
        self.code == Trust::Sure
    }

    /// Notes a mark of emphasis in text.
    pub(super) fn mark(&mut self, c: char) {
        if matches!(c, '~' | '*' | '_') && !self.has_mark(c) {
            self.marks.push(c);
        }
    }

    pub(super) fn has_mark(&self, c: char) -> bool {
        self.marks.contains(c)
    }

    /// Backticks make no code until the paragraph ends.
    pub(super) fn doubt_paragraph(&mut self) {
        if self.code == Trust::Sure {
            self.code = Trust::DoubtfulParagraph;
        }
    }

    /// Nothing is code from here on.
    pub(super) fn distrust(&mut self) {
        self.code = Trust::Lost;
        self.fence = None;
        self.opening = None;
    }

    pub(super) fn is_in_fence(&self) -> bool {
        self.fence.is_some()
    }

    /// Whether the open fence's line could pass for its end if nothing more were shown on it.
    pub(super) fn may_close_fence(&self) -> bool {
        self.line.closes
    }

    /// Opens a fence at the beginning of the line, if it is one for every renderer.
    pub(super) fn open_fence(&mut self, mark: char, length: usize) {
        self.settle();
        let container = self.items.last().map_or(0, |item| item.offset);
        let fits = self.line.column < container + CODE_INDENT;
        if self.code == Trust::Lost || !fits {
            self.distrust();
            return;
        }
        self.opening = Some(Fence {
            mark,
            length,
            column: self.line.column,
        });
    }

    /// Leaves a fence whose line begins before the fence did: the list it stood in may have ended.
    pub(super) fn leave_fence_if_outdented(&mut self) {
        if self
            .fence
            .is_some_and(|fence| self.line.column < fence.column)
        {
            self.distrust();
        }
    }

    /// The length of a run that would close the fence here, of its character.
    pub(super) fn closing_run(&self, mark: char) -> Option<usize> {
        let fence = self.fence.filter(|fence| fence.mark == mark)?;
        let near = self.line.column < fence.column + CODE_INDENT;
        (self.is_line_start() && near).then_some(fence.length)
    }

    pub(super) fn close_fence(&mut self) {
        let sure = |fence: Fence| fence.column == 0 || self.line.column <= fence.column;
        match self.fence.take() {
            Some(fence) if sure(fence) => {}
            _ => self.distrust(),
        }
    }

    /// Shows a character.
    pub(super) fn push(&mut self, c: char) {
        self.read_label(c);
        match c {
            '[' | ']' if self.last == Some('\\') || self.fence.is_some() => self.matched = false,
            '[' => self.brackets += 1,
            ']' => {
                self.matched = self.brackets > 0;
                self.brackets = self.brackets.saturating_sub(1);
            }
            '|' | '\n' => self.brackets = 0,
            _ => {}
        }
        if c.is_alphanumeric() || matches!(c, '.' | '_' | '+' | '-' | '%') {
            if self.word.len() < MAX_LOCAL_BYTES {
                self.word.push(c);
            }
        } else {
            self.word.clear();
        }
        self.angle = c == '<' || (self.angle && c != '>' && !c.is_ascii_whitespace());
        if c.is_ascii_whitespace() {
            self.address = false;
        }
        if c == '\n' {
            self.end_line();
        } else if c.is_ascii_whitespace() && self.line.lead == Lead::Indent {
            self.indent(c);
        } else {
            self.read_lead(c);
        }
        self.last = Some(c);
    }

    fn read_label(&mut self, c: char) {
        self.label = match (self.label, c) {
            (Label::None, '[') if !self.line.begun => Label::Open,
            (Label::Open, ']') if self.last != Some('\\') => Label::Closed,
            (Label::Open, '\n') if !self.line.written => Label::None,
            (Label::Open, _) => Label::Open,
            _ => Label::None,
        };
    }

    fn indent(&mut self, c: char) {
        self.line.column = match c {
            '\t' => (self.line.column / CODE_INDENT + 1) * CODE_INDENT,
            _ => self.line.column + 1,
        };
    }

    /// Before the first word of a line, or of a list item: leaves the items that have ended, and enters the one that begins.
    fn settle(&mut self) {
        if let Some((end, order)) = self.line.marker_end.take() {
            let gap = self.line.column.saturating_sub(end);
            let offset = if (1..=CODE_INDENT).contains(&gap) {
                self.line.column
            } else {
                end + 1
            };
            if self.items.len() < MAX_DEPTH {
                self.items.push(Item { offset, order });
            }
            return;
        }
        while let Some(item) = self.items.pop_if(|item| item.offset > self.line.column) {
            self.line.after_ordered = item.order == Order::Numbered;
        }
    }

    fn read_lead(&mut self, c: char) {
        let is_space = c == ' ' || c == '\t';
        self.line.written |= !c.is_ascii_whitespace();
        if self.line.lead == Lead::Indent {
            self.settle();
        }
        let container = self.items.last().map_or(0, |item| item.offset);
        let near = self.line.column < container + CODE_INDENT && self.fence.is_none();
        let fence = self.fence.map(|fence| fence.mark);
        self.line.closes = match self.line.lead {
            Lead::Indent => fence == Some(c),
            _ => self.line.closes && (is_space || fence == Some(c)),
        };
        let number_counts =
            |is_one: bool, line: &Line| is_one || !line.follows || line.after_ordered;
        let lead = match (self.line.lead, c) {
            (Lead::Indent, '-' | '*' | '+') if near => Lead::Bullet,
            (Lead::Indent, '0'..='9') if near => Lead::Digits {
                count: 1,
                is_one: c == '1',
            },
            (Lead::Digits { count, .. }, '0'..='9') if count < MAX_ITEM_DIGITS => Lead::Digits {
                count: count + 1,
                is_one: false,
            },
            (Lead::Digits { is_one, .. }, '.' | ')') => Lead::Numbered { is_one },
            (Lead::Bullet, _) if is_space => {
                self.line.marker_end = Some((self.line.column, Order::Bulleted));
                Lead::Indent
            }
            (Lead::Numbered { is_one }, _) if is_space && number_counts(is_one, &self.line) => {
                self.line.marker_end = Some((self.line.column, Order::Numbered));
                Lead::Indent
            }
            _ => Lead::Text,
        };
        let contains = matches!(c, '>' | '-' | '*' | '+');
        self.line.begun |= lead == Lead::Text && !contains && !c.is_ascii_whitespace();
        self.line.lead = lead;
        self.indent(c);
    }

    fn end_line(&mut self) {
        self.fence = self.opening.take().or(self.fence);
        let empty_item = match self.line.lead {
            Lead::Bullet => Some((self.line.column, Order::Bulleted)),
            Lead::Numbered { .. } => Some((self.line.column, Order::Numbered)),
            _ => self.line.marker_end,
        };
        // An empty item cannot interrupt a paragraph.
        if let Some((end, order)) = empty_item
            && !self.line.follows
            && self.items.len() < MAX_DEPTH
        {
            self.items.push(Item {
                offset: end + 1,
                order,
            });
        }
        if !self.line.written {
            self.marks.clear();
            if self.code == Trust::DoubtfulParagraph {
                self.code = Trust::Sure;
            }
        }
        self.line = Line {
            follows: self.line.written,
            ..Line::default()
        };
    }
}
