//! Parses a table and writes it again.

use pulldown_cmark::{Alignment, Event, Options, Parser, Tag, TagEnd};

use super::inline::Inline;
use crate::cite::allowed::AllowedLinks;
use book::LinePosition;

/// Parses a table and writes it again; `None` if the text is not a table.
pub(super) fn table(text: &str, allowed: &AllowedLinks) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_MATH;
    let mut events = Parser::new_ext(text, options).into_offset_iter();
    let Some((Event::Start(Tag::Table(alignments)), range)) = events.next() else {
        return None;
    };
    if range.end < text.trim_end().len() {
        return None;
    }
    let mut lines = Vec::new();
    let mut cells = String::new();
    while let Some((event, _)) = events.next() {
        match event {
            Event::Start(Tag::TableCell) => {
                let inner = events
                    .by_ref()
                    .map(|(event, range)| (as_text(event), range));
                let inner = inner.take_while(|(event, _)| *event != Event::End(TagEnd::TableCell));
                let cell = Inline::of_events(inner, text, allowed).written(LinePosition::Inside);
                cells.extend([" ", &in_cell(&cell), " |"]);
            }
            Event::End(TagEnd::TableHead | TagEnd::TableRow) => {
                lines.push(format!("|{}", std::mem::take(&mut cells)));
                if lines.len() == 1 {
                    lines.push(rule(&alignments));
                }
            }
            _ => {}
        }
    }
    Some(lines.join("\n"))
}

/// Turns code with an escaped pipe into text, because renderers disagree about it.
fn as_text(event: Event<'_>) -> Event<'_> {
    match event {
        Event::Code(code) if code.contains('|') && code.contains('\\') => Event::Text(code),
        event => event,
    }
}

/// Keeps a cell on one line and escapes its pipes.
fn in_cell(markdown: &str) -> String {
    let line = markdown.replace("\\\n", " ").replace('\n', " ");
    line.trim().replace('|', "\\|")
}

fn rule(alignments: &[Alignment]) -> String {
    let cells = alignments.iter().map(|alignment| match alignment {
        Alignment::None => " --- |",
        Alignment::Left => " :-- |",
        Alignment::Center => " :-: |",
        Alignment::Right => " --: |",
    });
    format!("|{}", cells.collect::<String>())
}
