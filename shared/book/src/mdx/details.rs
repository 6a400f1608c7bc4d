//! `<details>`: its summary is the label of the content below it, like that of a tab.

use std::collections::BTreeMap;

use super::tabs::PanelLine;
use super::{Preparer, REMOVED_BLOCK};
use crate::jsx::Tag;
use crate::omission::{Omission, OmissionReason};
use text::marks::PANEL;

const SUMMARY_END: &str = "</summary>";

/// The longest summary that is a label, in bytes of its source.
const MAX_SUMMARY_BYTES: usize = 2_048;

/// The lines of a summary, without tags.
struct Label {
    /// The text of each line, with its line in the source of the summary, from 0.
    lines: Vec<(u32, String)>,
    omissions: Vec<Omission>,
}

impl Preparer<'_> {
    /// Reads the tags of `<details>` and `<summary>`. Returns false for other ones, and for those that leave nothing in the text.
    pub(super) fn details(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        match (tag.name, tag.closing) {
            ("details", false) if !tag.self_closing => {
                self.open_details.push(false);
                false
            }
            ("details", true) => {
                let has_label = self.open_details.pop().unwrap_or(false);
                if has_label {
                    self.skip(tag.length, OmissionReason::Tag, &[]);
                    self.own_line(&PanelLine::end());
                    self.escape_mark_after_tag();
                }
                has_label
            }
            ("summary", false) if !tag.self_closing => self.summary(tag, rest),
            _ => false,
        }
    }

    /// Writes a summary as the label of its details. Returns false for one that holds blocks, such as headings.
    fn summary(&mut self, tag: &Tag<'_>, rest: &str) -> bool {
        let is_in_table = self.first == Some('|');
        if is_in_table || self.open_details.last() != Some(&false) {
            return false;
        }
        let content = &rest[tag.length..];
        let window = &content[..content.floor_char_boundary(MAX_SUMMARY_BYTES)];
        let Some(inner) = window.find(SUMMARY_END).map(|end| &content[..end]) else {
            return false;
        };
        let Some(label) = self.label(inner) else {
            return false;
        };
        if let Some(open) = self.open_details.last_mut() {
            *open = true;
        }
        self.omit(tag.length, OmissionReason::Tag, &tag.prose);
        let first = self.line + newlines(&rest[..tag.length]);
        let omissions = label.omissions.into_iter().map(|omission| Omission {
            start_line: omission.start_line + first,
            end_line: omission.end_line + first,
            ..omission
        });
        self.out.omissions.extend(omissions);
        self.at += tag.length + inner.len();
        self.line = first + newlines(inner);
        self.skip(SUMMARY_END.len(), OmissionReason::Tag, &[]);
        let first = label.lines.first().map(|(line, _)| first + line);
        self.own_lines(&PanelLine::summary(label.lines), first);
        self.escape_mark_after_tag();
        true
    }

    /// Removes the tags and expressions of a summary. `None` if it is empty or holds blocks.
    fn label(&mut self, summary: &str) -> Option<Label> {
        if self.quotes > 0 && summary.contains('\n') {
            return None;
        }
        let text = summary.trim_start();
        let before = &summary[..summary.len() - text.len()];
        let partials = BTreeMap::new();
        let inner = Preparer {
            search_budget: self.search_budget,
            constants: std::mem::take(&mut self.constants),
            constant_bytes: self.constant_bytes,
            html: self.html,
            line: newlines(before),
            ..Preparer::new(text, self.dialect, &partials)
        };
        let inner = inner.run();
        self.search_budget = inner.search_budget;
        self.constants = inner.constants;
        self.constant_bytes = inner.constant_bytes;
        let lines = inner.out.line_of.into_iter().zip(inner.out.text.lines());
        let lines: Vec<(u32, &str)> = lines.map(|(line, text)| (line, text.trim())).collect();
        let from = lines.iter().position(|(_, text)| !is_blank(text))?;
        let to = lines.iter().rposition(|(_, text)| !is_blank(text))?;
        let lines = &lines[from..=to];
        if lines.iter().any(|(_, text)| is_blank(text)) {
            return None;
        }
        let lines = lines.iter().map(|(line, text)| (*line, (*text).to_owned()));
        Some(Label {
            lines: lines.collect(),
            omissions: inner.out.omissions,
        })
    }
}

fn is_blank(line: &str) -> bool {
    line.is_empty() || line == REMOVED_BLOCK
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

impl PanelLine {
    /// Returns the lines of a paragraph that stands for a summary.
    fn summary(lines: Vec<(u32, String)>) -> Vec<String> {
        let mut written: Vec<String> = Vec::new();
        for (_, line) in lines {
            match written.last_mut() {
                // A list or a heading would begin there.
                Some(last) if !line.starts_with(char::is_alphabetic) => {
                    last.push(' ');
                    last.push_str(&line);
                }
                _ => written.push(line),
            }
        }
        if let Some(first) = written.first_mut() {
            first.insert_str(0, &format!("{PANEL}{PANEL}"));
        }
        if let Some(last) = written.last_mut() {
            last.push_str(&format!("{PANEL}{PANEL}"));
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use crate::block::{Block, MarkKind};
    use crate::markdown::parse_blocks;
    use crate::mdx::tests::{MARKDOWN, MDX};
    use crate::mdx::{Dialect, PageValues, prepare};
    use crate::omission::OmissionReason;
    use crate::slug::Slugger;

    fn blocks(page: &str, dialect: Dialect<'_>) -> Vec<Block> {
        let partials = std::collections::BTreeMap::new();
        let prepared = prepare(page, 1, dialect, &partials, PageValues::default());
        let lines: Vec<&str> = page.lines().collect();
        parse_blocks(&prepared, &lines, dialect, &mut Slugger::default()).blocks
    }

    /// Returns each block with its labels; a text that is bold as a whole has asterisks.
    fn shown(page: &str, dialect: Dialect<'_>) -> Vec<String> {
        let blocks = blocks(page, dialect).into_iter();
        let shown = blocks.map(|block| {
            let whole = (MarkKind::Strong, 0, block.text.len()).into();
            let marks = if block.marks.contains(&whole) {
                "**"
            } else {
                ""
            };
            format!("{}: {marks}{}", block.panels.join("/"), block.text)
        });
        shown.collect()
    }

    #[test]
    fn a_summary_is_the_label_of_its_details() {
        for page in [
            "<details>\n<summary>May I *run* `it`?</summary>\n\nYes.\n\nTwice.\n\n</details>\n\nAfter",
            "<details><summary>May I run it?</summary>\n\nYes.\n\nTwice.</details>\n\nAfter",
            "<details>\n  <summary className=\"a\">\n    May I <b>run</b>\n    it?\n  </summary>\n\nYes.\n\nTwice.\n\n</details>\nAfter",
        ] {
            for dialect in [MDX, MARKDOWN] {
                let is_literal = dialect.flavor == MARKDOWN.flavor && page.contains('`');
                let question = if is_literal {
                    "May I *run* `it`?"
                } else {
                    "May I run it?"
                };
                let expected = [
                    format!(": **{question}"),
                    format!("{question}: Yes."),
                    format!("{question}: Twice."),
                    ": After".to_owned(),
                ];
                assert_eq!(shown(page, dialect), expected, "{page}");
            }
        }
    }

    #[test]
    fn details_may_be_nested_and_have_no_label() {
        let page = "<details><summary>A</summary>\n\na\n\n<details>\n\nb\n\n<summary>[B](b.md)</summary>\n\nc\n\n</details>\n\nd\n\n</details>\n\n\
            <details>\n\ne\n\n</details>\n\nf";
        let expected = [
            ": **A", "A: a", "A: b", "A: **B", "A/B: c", "A: d", ": e", ": f",
        ];
        assert_eq!(shown(page, MDX), expected);
        for (page, expected) in [
            (
                "<details>\n<summary><h3>A</h3></summary>\n\na\n\n</details>",
                [": A", ": a"],
            ),
            (
                "<summary>A</summary>\n\n<details>\n\na\n\n</details>",
                [": A", ": a"],
            ),
            (
                "<details><summary>\n\nA\n\n</summary>\n\na\n\n</details>",
                [": **A", "A: a"],
            ),
        ] {
            assert_eq!(shown(page, MDX), expected, "{page}");
        }
    }

    #[test]
    fn details_that_only_embed_something_are_not_shown() {
        let page = "<details>\n  <summary>Lesson 3: <b>Soil</b></summary>\n  <br/>\n  <div>\n    <iframe src=\"https://a.example/3\"></iframe>\n  </div>\n  \
            <a className=\"x\" href=\"https://a.example/3\">\n    Hosted on a.example\n  </a>\n</details>\n\nAfter";
        let partials = std::collections::BTreeMap::new();
        for dialect in [MDX, MARKDOWN] {
            assert_eq!(shown(page, dialect), [": After"]);
            let omissions = prepare(page, 1, dialect, &partials, PageValues::default()).omissions;
            assert_eq!(omissions[0].reason, OmissionReason::UnseenElement);
        }
        for text in ["Text", "`code`", "<Quiz text=\"Ask\"/>"] {
            let page = page.replace("<br/>", text);
            let blocks = blocks(&page, MDX);
            assert!(blocks.len() > 2, "{page}: {blocks:?}");
        }
        let link = "<details>\n<summary>Links</summary>\n<a href=\"/b\">B</a>\n</details>";
        assert_eq!(shown(link, MDX), [": **Links", "Links: B"]);
    }
}
