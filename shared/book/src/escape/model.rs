//! Operations on the pieces of a model's Markdown, which is parsed and written again.

use super::{LinePosition, MarkdownPiece, Pieces, Wrap, Writer, formula};
use text::invisible::visible;

impl Pieces {
    /// Adds pieces, inside a link or emphasis if given.
    pub fn push_wrapped(&mut self, wrap: Option<Wrap>, pieces: Pieces) {
        match wrap {
            Some(wrap) => self.0.push(MarkdownPiece::Wrapped(wrap, pieces)),
            None => pieces
                .0
                .into_iter()
                .for_each(|piece| self.push_piece(piece)),
        }
    }

    /// Adds inline code without merging it with preceding code.
    pub fn push_other_code(&mut self, code: &str) {
        if matches!(self.0.last(), Some(MarkdownPiece::Code(_))) {
            self.push_text(" ");
        }
        self.push_code(code);
    }

    /// True if there is nothing but a formula.
    #[must_use]
    pub fn is_formula(&self) -> bool {
        matches!(&*self.0, [MarkdownPiece::Formula(_)])
    }

    /// Writes the pieces as Markdown, starting at `place` in a line.
    #[must_use]
    pub fn written(self, place: LinePosition) -> String {
        let pieces = self.settled().0;
        if let ([MarkdownPiece::Formula(alone)], LinePosition::Start) = (&*pieces, place) {
            return formula::block(alone);
        }
        let mut writer = Writer {
            place,
            ..Writer::default()
        };
        writer.write(&pieces);
        writer.markdown.trim_ascii_end().to_owned()
    }
}

/// Writes a heading's text so that its end does not close the heading.
#[must_use]
pub fn heading_text(markdown: &str) -> String {
    match markdown.chars().last() {
        // A final `#` ends the heading, and some renderers read a final `}` as its attributes. A lone `#` is already escaped.
        Some(last @ ('#' | '}')) if markdown != "\\#" => {
            let before = &markdown[..markdown.len() - 1];
            format!("{before}&#{};", u32::from(last))
        }
        _ => markdown.to_owned(),
    }
}

/// Returns the info string of a code block; without the parts that could be read as something else.
#[must_use]
pub fn fence_info(language: &str, title: &str) -> String {
    let is_known = language
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "+-_#.".contains(c));
    let language = if is_known { language } else { "" };
    // These characters have a meaning in an info string.
    let title = visible(title).replace(['`', '"', '\\', '&', '\n'], "");
    if language.is_empty() || title.is_empty() {
        language.to_owned()
    } else {
        format!("{language} title=\"{title}\"")
    }
}
