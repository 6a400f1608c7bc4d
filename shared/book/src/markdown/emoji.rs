//! Shortcodes of emojis.

use std::ops::Range;

use emojis::Emoji;

use super::leaf::Leaf;
use crate::block::{Mark, MarkKind};
use crate::shortcode::SHORTCODE;

impl Leaf {
    /// Replaces the shortcodes in its text by their emojis, and returns them. The text of a heading's id keeps them, as in Docusaurus.
    pub(super) fn replace_shortcodes(&mut self) -> String {
        let mut replaced: Vec<(Range<usize>, &'static Emoji)> = Vec::new();
        let mut marks = self.marks.iter().peekable();
        // The marks that have begun and may not have ended; few, because marks of one class do not nest.
        let mut open: Vec<&Mark> = Vec::new();
        let mut from = 0;
        while let Some(found) = SHORTCODE.find_at(&self.text, from) {
            let emoji = emojis::get_by_shortcode(found.as_str().trim_matches(':'));
            while let Some(mark) = marks.next_if(|mark| mark.start < found.end()) {
                open.push(mark);
            }
            open.retain(|mark| mark.end > found.start());
            let is_text = open.iter().all(|mark| is_text_within(mark, &found.range()));
            if let Some(emoji) = emoji.filter(|_| is_text) {
                replaced.push((found.range(), emoji));
                from = found.end();
            } else {
                // The last colon may begin a shortcode.
                from = found.start() + 1;
            }
        }
        let codes: Vec<&str> = replaced
            .iter()
            .map(|(code, _)| &self.text[code.clone()])
            .collect();
        let codes = codes.join(" ");
        self.replace(
            replaced
                .iter()
                .map(|(code, emoji)| (code.clone(), emoji.as_str())),
        );
        codes
    }
}

/// True if a stretch is text of the mark: within it, and neither code, nor a formula, nor what replaces a picture.
pub(super) fn is_text_within(mark: &Mark, stretch: &Range<usize>) -> bool {
    use MarkKind::{Code, Formula, Picture};
    let is_verbatim = matches!(mark.kind, Code | Formula | Picture(_));
    !is_verbatim && mark.start <= stretch.start && stretch.end <= mark.end
}
