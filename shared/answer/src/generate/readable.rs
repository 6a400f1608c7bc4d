//! Writes a passage for a model: as Markdown with few characters besides the text. Pure.
//!
//! Nothing is escaped, because a model's input is not rendered and each backslash is a token.

use std::ops::Range;

use crate::quote::{is_admonition_name, is_short_line};
use book::{Mark, MarkKind, href};

/// Writes a text with its marks as Markdown. The text already has Markdown list items, code blocks and formulas. Adds backticks to inline code,
/// addresses to links, a rule below a table's header, and number signs to headings. A title above code is moved into the fence, and an admonition's
/// name before its text.
#[must_use]
pub fn readable(text: &str, marks: &[Mark]) -> String {
    let marks = marks.iter().filter(|mark| text.get(mark.range()).is_some());
    let marks: Vec<&Mark> = marks.collect();
    let mut edits: Vec<Edit> = Vec::new();
    for (order, mark) in (1..).zip(&marks) {
        let marked = &text[mark.range()];
        let around = match &mark.kind {
            MarkKind::Code => Some(ticks(marked)),
            MarkKind::Link(addresses) => link(addresses),
            MarkKind::Heading => Some(("#### ".to_owned(), String::new())),
            _ => None,
        };
        if let Some((before, after)) = around {
            edits.push(Edit::insert(mark.start, order, before));
            edits.push(Edit::insert(mark.end, -order, after));
        }
        if mark.kind == MarkKind::Table {
            let rule = rule(marked);
            edits.extend(rule.map(|(at, rule)| Edit::insert(mark.start + at, -order, rule)));
        }
    }
    let blocks: Vec<&Mark> = marks.into_iter().filter(|mark| mark.is_block()).collect();
    for pair in blocks.windows(2) {
        edits.extend(label(text, pair[0], pair[1]).into_iter().flatten());
    }
    // At the same position, ends come before beginnings, and inner marks end before outer ones.
    edits.sort_by_key(|edit| (edit.at, edit.order));
    let mut written = String::with_capacity(text.len() + 2 * edits.len());
    let mut from = 0;
    for edit in edits {
        // Removed text gets no insertions.
        if edit.at >= from {
            written.push_str(&text[from..edit.at]);
            written.push_str(&edit.inserted);
            from = edit.at + edit.removed;
        }
    }
    written.push_str(&text[from..]);
    written
}

struct Edit {
    at: usize,
    /// The order of edits at the same byte.
    order: i32,
    /// Bytes to remove.
    removed: usize,
    inserted: String,
}

impl Edit {
    fn insert(at: usize, order: i32, inserted: String) -> Self {
        Self::replace(at..at, order, inserted)
    }

    fn replace(range: Range<usize>, order: i32, inserted: String) -> Self {
        Self {
            at: range.start,
            order,
            removed: range.len(),
            inserted,
        }
    }
}

/// Turns a block into the label of the next one: a code title or an admonition's name. `None` if it is neither.
fn label(text: &str, block: &Mark, next: &Mark) -> Option<[Edit; 2]> {
    let (label, between) = (&text[block.range()], text.get(block.end..next.start)?);
    if block.kind != MarkKind::Paragraph {
        return None;
    }
    match next.kind {
        MarkKind::Fence if between == "\n" && is_short_line(label) => {
            let opening = next.start + text[next.range()].find('\n')?;
            let title = format!(" title=\"{}\"", label.replace('"', ""));
            Some([
                Edit::replace(block.start..next.start, i32::MIN, String::new()),
                Edit::insert(opening, 0, title),
            ])
        }
        MarkKind::Paragraph if is_admonition_name(label) => Some([
            Edit::insert(block.start, i32::MIN, "**".to_owned()),
            Edit::replace(block.end..next.start, 0, ":** ".to_owned()),
        ]),
        _ => None,
    }
}

/// Returns the Markdown before and after a link's text; `None` if the link has no target.
fn link(addresses: &[String]) -> Option<(String, String)> {
    let address = href::of(addresses.first()?)?;
    Some(("[".to_owned(), format!("]({address})")))
}

/// Returns the Markdown before and after inline code.
fn ticks(code: &str) -> (String, String) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    if longest == 0 {
        return ("`".to_owned(), "`".to_owned());
    }
    let ticks = "`".repeat(longest + 1);
    (format!("{ticks} "), format!(" {ticks}"))
}

/// Returns the rule below a table's header and its position; `None` if there is only a header.
fn rule(table: &str) -> Option<(usize, String)> {
    let (header, _) = table.split_once('\n')?;
    let columns = header.split(" | ").count();
    let cells = vec!["---"; columns];
    // With a single column, the rule would turn the line above into a heading.
    let edge = if columns == 1 { "|" } else { "" };
    let rule = format!("\n{edge}{}{edge}", cells.join(" | "));
    Some((header.len(), rule))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(text: &str, kind: MarkKind, marked: &str) -> Mark {
        let start = text.find(marked).unwrap();
        (kind, start, start + marked.len()).into()
    }

    #[test]
    fn a_model_reads_code_tables_and_headings_as_markdown() {
        let text = "Set testEnvironment to `jsdom` here.\n\nOption | Default\nbail | 0\nci | isCI\n\nNote\n\nBeware.\n\n```js\na[1]\n```";
        let marks = [
            mark(
                text,
                MarkKind::Paragraph,
                "Set testEnvironment to `jsdom` here.",
            ),
            mark(text, MarkKind::Code, "testEnvironment"),
            mark(text, MarkKind::Code, "`jsdom`"),
            mark(
                text,
                MarkKind::Table,
                "Option | Default\nbail | 0\nci | isCI",
            ),
            mark(text, MarkKind::Code, "isCI"),
            mark(text, MarkKind::Heading, "Note"),
            mark(text, MarkKind::Fence, "```js\na[1]\n```"),
        ];
        assert_eq!(
            readable(text, &marks),
            "Set `testEnvironment` to `` `jsdom` `` here.\n\nOption | Default\n--- | ---\nbail | 0\nci | `isCI`\n\n#### Note\n\nBeware.\n\n```js\na[1]\n```"
        );
    }

    #[test]
    fn a_model_reads_labels_with_what_they_belong_to() {
        let text = "Note\n\nBeware.\n\nin `a.js`\n```js\nx\n```\n\nTip: Speed\n\n- one\n\nThen run\n\n```\ny\n```";
        let marks = [
            mark(text, MarkKind::Paragraph, "Note"),
            mark(text, MarkKind::Paragraph, "Beware."),
            mark(text, MarkKind::Paragraph, "in `a.js`"),
            mark(text, MarkKind::Code, "`a.js`"),
            mark(text, MarkKind::Fence, "```js\nx\n```"),
            mark(text, MarkKind::Paragraph, "Tip: Speed"),
            mark(text, MarkKind::ListItem, "- one"),
            mark(text, MarkKind::Paragraph, "Then run"),
            mark(text, MarkKind::Fence, "```\ny\n```"),
        ];
        assert_eq!(
            readable(text, &marks),
            "**Note:** Beware.\n\n```js title=\"in `a.js`\"\nx\n```\n\nTip: Speed\n\n- one\n\nThen run\n\n```\ny\n```"
        );
    }

    #[test]
    fn a_model_reads_where_links_lead() {
        let text = "See Node and jsdom, or nothing.\n\nName\n`x`";
        let link =
            |marked, address: &str| mark(text, MarkKind::Link(vec![address.to_owned()]), marked);
        let marks = [
            link("Node and jsdom", "/docs/(node)#x"),
            mark(text, MarkKind::Code, "jsdom"),
            link(",", "docs/not-found.md"),
            mark(text, MarkKind::Link(Vec::new()), "nothing"),
            mark(text, MarkKind::Table, "Name\n`x`"),
            link("Name", "https://a.example/b"),
            mark(text, MarkKind::Code, "Name"),
        ];
        assert_eq!(
            readable(text, &marks),
            "See [Node and `jsdom`](/docs/%28node%29#x), or nothing.\n\n[`Name`](https://a.example/b)\n|---|\n`x`"
        );
    }

    #[test]
    fn nothing_of_a_text_is_lost_or_changed() {
        let text = "* a_b [1] <x> é\n\nOne\nTwo";
        assert_eq!(readable(text, &[]), text);
        let marks = [
            mark(text, MarkKind::Table, "One\nTwo"),
            // Marks out of range, and inside a character.
            (MarkKind::Code, 90, 99).into(),
            (MarkKind::Code, 15, 16).into(),
        ];
        assert_eq!(readable(text, &marks), "* a_b [1] <x> é\n\nOne\n|---|\nTwo");
    }
}
