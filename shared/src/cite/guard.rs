//! Takes out of an answer what leads the reader, or the reader's browser, anywhere but into the book.

mod address;
mod allowed;
mod scan;
mod shown;

use self::address::{End, Place, Start, has_host, mail_host, starts, trimmed, word_end};
use self::scan::{BOUND, Scan, bounded, definition, label, link, opens_tag, reference, tag};
use self::shown::Shown;
use crate::book::HiddenFilter as Filter;

pub use self::allowed::AllowedLinks;

/// The shortest fence.
const FENCE: usize = 3;
/// What stands for an address on a line that would end a fence without it.
const REMOVED: char = '…';

/// Filters an answer that comes in pieces.
///
/// Out go: links, images, autolinks, definitions and bare addresses that are not allowed; HTML; character references that hide
/// one of these; terminal sequences and invisible characters. Images become links. Code keeps its HTML and its brackets, but
/// no address. What is taken out does not join what stands around it. At most 2,048 bytes are held back; what is not complete
/// by then is dropped, to the end of its word. Filtering what was filtered changes nothing, and neither does how a text is cut.
#[derive(Debug)]
pub struct LinkGuard {
    allowed: AllowedLinks,
    filter: Filter,
    shown: Shown,
    /// What cannot be decided yet.
    held: String,
    /// What may be shown.
    out: String,
    /// Whether something was taken out since the last character shown.
    cut: bool,
    /// Whether the rest of an endless word is being dropped.
    skips: bool,
}

/// What was done with the beginning of a text.
enum Step {
    /// So many bytes were shown or dropped.
    Took(usize),
    /// It needs more text.
    Wait,
}

impl LinkGuard {
    /// A guard that lets these links through.
    #[must_use]
    pub fn new(allowed: AllowedLinks) -> Self {
        Self {
            allowed,
            filter: Filter::default(),
            shown: Shown::default(),
            held: String::new(),
            out: String::new(),
            cut: false,
            skips: false,
        }
    }

    /// Reads the next piece; what may be shown now.
    #[must_use]
    pub fn push(&mut self, text: &str) -> String {
        self.filter.push(text, &mut self.held);
        self.read(End::Open)
    }

    /// Says that a citation marker is about to be shown; what may be shown before it. Whatever was held back is decided, so that the
    /// marker stands where it was written, and a `(` behind it makes a link.
    #[must_use]
    pub fn marker(&mut self) -> String {
        let mut text = self.read(End::Marker);
        self.skips = false;
        if (self.cut && self.shown.is_in_angle())
            || self.shown.ends_in_address()
            || self.shown.last() == Some('!')
        {
            self.shown.push(' ');
            text.push(' ');
        }
        self.cut = false;
        if self.shown.is_line_start() {
            self.shown.leave_fence_if_outdented();
        }
        for c in "[1]".chars() {
            self.shown.push(c);
        }
        text
    }

    /// What was held back when the text ended.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.read(End::Text)
    }

    fn read(&mut self, end: End) -> String {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while !rest.is_empty() {
            match self.step(rest, end) {
                Step::Took(length) => rest = &rest[length..],
                Step::Wait => break,
            }
        }
        rest.clone_into(&mut self.held);
        std::mem::take(&mut self.out)
    }

    fn step(&mut self, rest: &str, end: End) -> Step {
        if self.skips {
            let word = word_end(rest, Place::Code, false);
            self.skips = word.is_none();
            return self.omit(word.unwrap_or(rest.len()));
        }
        let first = rest.chars().next().unwrap_or(' ');
        if self.shown.is_line_start() && !first.is_ascii_whitespace() {
            self.shown.leave_fence_if_outdented();
        }
        if self.shown.is_in_fence() {
            return self.step_in_fence(rest, first, end);
        }
        self.shown.mark(first);
        match first {
            '`' => self.backticks(rest, end),
            '~' if self.shown.is_line_start() => self.tildes(rest, end),
            '<' => self.angle(rest, end),
            '!' => self.exclamation(rest, end),
            '[' if self.shown.may_open_label() => self.label(rest, end),
            ':' if self.shown.has_label() => self.definition(rest, end),
            '(' if self.shown.last() == Some(']') => self.parenthesis(rest, end),
            '&' => self.take(reference(rest, end), '&'),
            '@' if self.shown.ends_local() => self.mail(rest, end),
            _ => self.address(rest, first, Place::Text, end),
        }
    }

    /// Does what a scan says: shows the first character of text, drops what is foreign.
    fn take(&mut self, scan: Scan<'_>, first: char) -> Step {
        match scan {
            Scan::Unsure => Step::Wait,
            Scan::Text | Scan::Target { .. } => self.show_one(first),
            Scan::Foreign(length) => self.omit_foreign(length),
        }
    }

    /// What is as long as one looks may go on: it goes to the end of its word.
    fn omit_foreign(&mut self, length: usize) -> Step {
        self.skips = length + char::MAX_LEN_UTF8 > BOUND;
        self.omit(length)
    }

    fn omit(&mut self, length: usize) -> Step {
        self.cut |= length > 0;
        Step::Took(length)
    }

    fn show_one(&mut self, c: char) -> Step {
        self.show(c);
        Step::Took(c.len_utf8())
    }

    fn show_all(&mut self, text: &str) -> Step {
        text.chars().for_each(|c| self.show(c));
        Step::Took(text.len())
    }

    fn show(&mut self, c: char) {
        if self.before(c) == Some(' ') && self.shown.last() != Some(' ') {
            self.shown.push(' ');
            self.out.push(' ');
        }
        self.cut = false;
        self.shown.push(c);
        self.out.push(c);
    }

    /// Puts a space between an address and what some renderers read as part of it.
    fn part_address(&mut self) {
        self.cut |= self.shown.ends_in_address();
    }

    /// What stands before a character: a space where something was taken out and its neighbours would make something new.
    fn before(&self, c: char) -> Option<char> {
        let last = self.shown.last();
        let prolongs = self.shown.ends_in_address() && !c.is_ascii_whitespace();
        let closes = self.shown.is_in_angle() && !c.is_ascii_whitespace();
        let is_new = prolongs || closes || last.is_some_and(|last| joins(last, c));
        // White space beyond ASCII ends an address for some renderers only.
        if (self.cut && is_new) || (prolongs && c.is_whitespace()) {
            return Some(' ');
        }
        last
    }

    fn step_in_fence(&mut self, rest: &str, first: char, end: End) -> Step {
        let Some(length) = self.shown.closing_run(first) else {
            return self.address(rest, first, Place::Code, end);
        };
        let run = run_length(rest, first);
        let line = rest[run..].split('\n').next().unwrap_or_default();
        let is_blank = line.trim_matches([' ', '\t']).is_empty();
        if is_blank && run + line.len() == rest.len() && rest.len() <= BOUND && end == End::Open {
            return Step::Wait;
        }
        let is_last = run + line.len() == rest.len() && end == End::Marker;
        if run >= length && is_blank && !is_last && run + line.len() <= BOUND {
            self.shown.close_fence();
            if line.contains('\t') {
                // No end of a fence for some.
                self.shown.distrust();
            }
        }
        self.show_all(&rest[..run])
    }

    fn tildes(&mut self, rest: &str, end: End) -> Step {
        let run = run_length(rest, '~');
        if run == rest.len() && end == End::Open {
            return Step::Wait;
        }
        if run >= FENCE {
            self.shown.open_fence('~', run);
        }
        self.show_all(&rest[..run])
    }

    /// A fence, code, or backticks that are text.
    fn backticks(&mut self, rest: &str, end: End) -> Step {
        self.part_address();
        let (text, end) = window(rest, end);
        let run = run_length(text, '`');
        let line = text[run..].split('\n').next().unwrap_or_default();
        let has_ended = run + line.len() < text.len() || end == End::Text;
        let may_be_fence = run >= FENCE && self.shown.is_line_start();
        let trusted =
            self.shown.trusts_backticks() && !matches!(self.shown.last(), Some('\\' | '~'));
        let code = closing_run(line, run)
            .filter(|at| at + run < line.len() || has_ended || end == End::Marker)
            .map(|at| &line[..at]);
        let needs_line = may_be_fence || (trusted && code.is_none());
        if end == End::Open
            && text.len() == rest.len()
            && !has_ended
            && (needs_line || run == text.len())
        {
            return Step::Wait;
        }
        if may_be_fence && has_ended && !line.contains('`') {
            self.shown.open_fence('`', run);
            return self.show_all(&text[..run]);
        }
        // In a table, `|` ends the cell before the code ends; a label ends at `]` even in code. For some, what is
        // struck out ends in code, and emphasis in code of more than one backtick.
        let splits = |code: &str| {
            code.contains('|')
                || (self.shown.is_in_label() && code.contains(']'))
                || code.contains(|c| self.shown.has_mark(c) && (c == '~' || run > 1))
        };
        if let Some(code) = code.filter(|code| trusted && !splits(code)) {
            self.show_all(&text[..run]);
            self.code(code);
            self.show_all(&text[..run]);
            return Step::Took(run + code.len() + run);
        }
        if may_be_fence {
            self.shown.distrust();
        }
        self.shown.doubt_paragraph();
        self.show_all(&text[..run])
    }

    fn code(&mut self, code: &str) {
        let brackets = self.shown.brackets();
        let mut rest = code;
        while let Some(first) = rest.chars().next() {
            match self.address(rest, first, Place::Code, End::Text) {
                Step::Took(length) => rest = &rest[length..],
                Step::Wait => break,
            }
        }
        self.shown.end_code(brackets);
    }

    /// An autolink, a tag, or the sign for less.
    fn angle(&mut self, rest: &str, end: End) -> Step {
        self.part_address();
        match rest[1..].chars().next() {
            None if end == End::Open => return Step::Wait,
            _ => {}
        }
        // `<www.a.org>` is text.
        let is_www = |to: &str| {
            to.get(..4)
                .is_some_and(|start| start.eq_ignore_ascii_case("www."))
        };
        match bounded(tag, rest, end) {
            Scan::Target { to, length } if self.allowed.has_address(to) && !is_www(to) => {
                self.show_all(&rest[..length])
            }
            Scan::Target { length, .. } => self.omit(length),
            Scan::Text if !rest[1..].starts_with(opens_tag) => self.show_one('<'),
            Scan::Text => {
                // With a space behind it, it opens a tag for no parser.
                self.show('<');
                self.show(' ');
                Step::Took(1)
            }
            scan => self.take(scan, '<'),
        }
    }

    /// An image is fetched without a click: it becomes a link.
    fn exclamation(&mut self, rest: &str, end: End) -> Step {
        match rest[1..].chars().next() {
            None if end == End::Open => Step::Wait,
            Some('[') => self.omit(1),
            _ => self.show_one('!'),
        }
    }

    /// A definition goes with its label, where the label is known to be one in time.
    fn label(&mut self, rest: &str, end: End) -> Step {
        let length = match label(rest, end) {
            Scan::Target { length, .. } => length,
            scan => return self.take(scan, '['),
        };
        match bounded(definition, &rest[length..], end) {
            Scan::Unsure => Step::Wait,
            Scan::Foreign(behind) => {
                self.omit_foreign(behind);
                Step::Took(length + behind)
            }
            Scan::Target { to, length: behind } if !self.allowed.has_target(to) => {
                self.omit(length + behind)
            }
            Scan::Text | Scan::Target { .. } => self.show_one('['),
        }
    }

    /// A definition whose label was shown.
    fn definition(&mut self, rest: &str, end: End) -> Step {
        match bounded(definition, rest, end) {
            Scan::Target { to, length } if self.allowed.has_target(to) => {
                self.show_all(&format!(": {to}"));
                self.shown.end_address();
                // Its title goes, but for one on a line of its own, which is text as well.
                let behind = rest.find(to).map_or(length, |at| at + to.len());
                let line_end = rest[behind..length].find('\n');
                Step::Took(line_end.map_or(length, |at| behind + at))
            }
            Scan::Target { length, .. } => self.omit(length),
            scan => self.take(scan, ':'),
        }
    }

    /// The target of a link whose text was shown.
    fn parenthesis(&mut self, rest: &str, end: End) -> Step {
        match bounded(link, rest, end) {
            // Where it is no link for every renderer, what follows would belong to a bare address.
            Scan::Target { to, length }
                if self.allowed.has_target(to) && self.shown.ends_link_text() =>
            {
                self.shown.end_link();
                let plain = |c: char| c.is_alphanumeric() || " ,-–'\"".contains(c);
                let title = &rest[1 + to.len()..length - 1];
                if rest[1..].starts_with(to) && title.chars().all(plain) {
                    return self.show_all(&rest[..length]);
                }
                self.show_all(&format!("({to})"));
                Step::Took(length)
            }
            Scan::Target { length, .. } => self.omit(length),
            scan => self.take(scan, '('),
        }
    }

    /// A mail address whose local part was shown.
    fn mail(&mut self, rest: &str, end: End) -> Step {
        let (text, end) = window(rest, end);
        let Some((length, longest)) = mail_host(text, end) else {
            return self.wait_or_skip(rest, text);
        };
        let word = self.shown.word();
        let address = format!("{word}@{}", &text[1..=length]);
        let is_mail = length > 0 && word.contains(char::is_alphanumeric);
        if is_mail && !self.allowed.has_address(trimmed(&address)) {
            return self.omit(1 + length);
        }
        if length > 0 && !is_mail {
            // `=@a.bc` is an address for some renderers, and `**@a.bc**` may be a decorator.
            self.show(' ');
        }
        let step = self.show_all(if is_mail { &text[..=length] } else { "@" });
        self.shown.end_address();
        self.cut = is_mail && longest > length;
        step
    }

    /// An address without brackets, or any other character.
    fn address(&mut self, rest: &str, first: char, place: Place, end: End) -> Step {
        let (text, end) = window(rest, end);
        let (prefix, is_scheme) = match starts(text, self.before(first), place, end) {
            Start::No => return self.show_one(first),
            Start::Unsure => return self.wait_or_skip(rest, text),
            Start::Scheme(prefix) => (prefix, true),
            Start::Slashes(prefix) => (prefix, false),
        };
        let in_brackets = place == Place::Text && self.shown.is_in_link_text();
        let ends = word_end(text, place, in_brackets).or((end != End::Open).then_some(text.len()));
        let Some(length) = ends else {
            return self.wait_or_skip(rest, text);
        };
        let word = &text[..length];
        let address = trimmed(word);
        let host = address.get(prefix..).unwrap_or_default();
        let leads = if is_scheme {
            host.contains(char::is_alphanumeric)
        } else {
            has_host(host)
        };
        let shown = if leads { address } else { &word[..prefix] };
        if leads && !self.allowed.has_address(address) {
            if self.shown.may_close_fence() {
                self.show(REMOVED);
            }
            return self.omit(address.len());
        }
        let step = self.show_all(shown);
        self.shown.end_address();
        step
    }

    /// Waits for the end of a word, or gives up on an endless one.
    fn wait_or_skip(&mut self, rest: &str, text: &str) -> Step {
        if text.len() == rest.len() {
            return Step::Wait;
        }
        self.skips = true;
        self.omit(text.len())
    }
}

/// As much of a text as is looked at, and what stops it.
fn window(text: &str, end: End) -> (&str, End) {
    if text.len() <= BOUND {
        return (text, end);
    }
    (&text[..text.floor_char_boundary(BOUND)], End::Open)
}

/// Whether two characters that something stood between would make something that was not there: an address, a marker, a tag, a
/// fence or an image.
fn joins(last: char, next: char) -> bool {
    let in_address = |c: char| {
        c.is_alphanumeric() || matches!(c, ':' | '/' | '\\' | '.' | '@' | '&' | '#' | ';')
    };
    match (last, next) {
        ('`', '`') | ('~', '~') | ('!', '[') => true,
        (':' | '/' | '\\', _) => !next.is_whitespace(),
        (',', _) => next.is_alphanumeric(),
        ('[', _) => next.is_numeric(),
        (_, ']') => last.is_numeric(),
        _ => in_address(last) && in_address(next),
    }
}

fn run_length(text: &str, mark: char) -> usize {
    text.len() - text.trim_start_matches(mark).len()
}

/// The place in a line of the next run of backticks that is so long.
fn closing_run(line: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = line[at..].find('`') {
        let run = run_length(&line[at + next..], '`');
        if run == length {
            return Some(at + next);
        }
        at += next + run;
    }
    None
}

#[cfg(test)]
mod tests;
