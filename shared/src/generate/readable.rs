//! A passage as a model reads it: Markdown with as few characters besides the text as it takes. Pure.
//!
//! Nothing is escaped: what a model reads is not rendered, and each backslash is a token.

use crate::book::{Mark, MarkKind};

/// Writes a text with its marks as Markdown. List items, code blocks and formulas are in the text as Markdown has them; inline code
/// gets its backticks, a table the rule below its header, a heading its number signs.
#[must_use]
pub fn readable(text: &str, marks: &[Mark]) -> String {
    let mut added: Vec<(usize, String)> = Vec::new();
    for mark in marks {
        let Some(marked) = text.get(mark.range()) else {
            continue;
        };
        match mark.kind {
            MarkKind::Code => {
                let (before, after) = ticks(marked);
                added.push((mark.start, before));
                added.push((mark.end, after));
            }
            MarkKind::Heading => added.push((mark.start, "#### ".to_owned())),
            MarkKind::Table => added.extend(rule(marked).map(|(at, rule)| (mark.start + at, rule))),
            _ => {}
        }
    }
    added.sort_by_key(|(at, _)| *at);
    let mut written = String::with_capacity(text.len() + 2 * added.len());
    let mut from = 0;
    for (at, more) in added {
        written.push_str(&text[from..at]);
        written.push_str(&more);
        from = at;
    }
    written.push_str(&text[from..]);
    written
}

/// What stands before and after inline code.
fn ticks(code: &str) -> (String, String) {
    let longest = code.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    if longest == 0 {
        return ("`".to_owned(), "`".to_owned());
    }
    let ticks = "`".repeat(longest + 1);
    (format!("{ticks} "), format!(" {ticks}"))
}

/// The rule below a table's header, and where it stands; `None` if there is only a header.
fn rule(table: &str) -> Option<(usize, String)> {
    let (header, _) = table.split_once('\n')?;
    let columns = header.split(" | ").count();
    let cells = vec!["---"; columns];
    // A rule of one column would make a heading of the line above.
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
    fn nothing_of_a_text_is_lost_or_changed() {
        let text = "* a_b [1] <x> é\n\nOne\nTwo";
        assert_eq!(readable(text, &[]), text);
        let marks = [
            mark(text, MarkKind::Table, "One\nTwo"),
            // Out of range, and within a character.
            (MarkKind::Code, 90, 99).into(),
            (MarkKind::Code, 15, 16).into(),
        ];
        assert_eq!(readable(text, &marks), "* a_b [1] <x> é\n\nOne\n|---|\nTwo");
    }
}
