//! Blocks of code, and text that is indented like code.

use super::{BlockReader, Pass};
use crate::block::{BlockKind, Mark, MarkKind};
use crate::compiled_files::split_files;
use crate::dialect::Flavor;
use crate::magic_comments::split_magic_comments;
use crate::omission::OmissionReason;
use crate::twoslash::{split_twoslash, uses_twoslash};
use text::marks::MATH_INFO;

/// The deepest nesting of indented text that is parsed. In MDX, indentation makes no code.
const MAX_INDENTED_DEPTH: usize = 8;

impl BlockReader<'_> {
    /// Ends a code block. Indented text is code in Markdown only.
    pub(super) fn code(&mut self, pass: &mut Pass<'_>) {
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
        let language = first_word(&info);
        let (shown, mut hidden) = split_magic_comments(code, &info, self.dialect);
        let (mut shown, files) = split_files(&language, shown);
        hidden.extend(files);
        if uses_twoslash(&info) {
            let (rest, notations) = split_twoslash(shown);
            shown = rest;
            hidden.extend(notations);
        }
        if !hidden.is_empty() {
            self.leave_out(OmissionReason::HighlightMark, hidden.join("\n"), lines);
        }
        let kind = BlockKind::Code {
            language,
            title: fence_title(&info),
        };
        self.leave_out(OmissionReason::FenceInfo, info, lines);
        let shown = shown.join("\n");
        self.push(kind, shown.trim_end_matches('\n').to_owned(), lines);
    }
}

/// Removes the common indentation of text that looked like code. Returns the text with the file's line number of each of its lines;
/// `lines` are the numbers before.
fn unindented(text: &str, lines: &[u32]) -> (String, Vec<u32>) {
    let common = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
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

fn first_word(info: &str) -> String {
    let word = info.split([' ', '{', ',', '\t']).next().unwrap_or_default();
    word.to_owned()
}

/// Returns the title in a fence's info string: `js title="jest.config.js"`.
fn fence_title(info: &str) -> Option<String> {
    let rest = info.split_once("title=")?.1;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let title = rest[1..].split(quote).next()?;
    (!title.is_empty()).then(|| title.to_owned())
}
