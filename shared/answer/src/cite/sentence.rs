//! Splits a streamed text into sentences. Pure.
//!
//! [`text::sentences`] splits whole plain texts. Here the text is Markdown, and a sentence ends as soon as its next character shows it.

use pulldown_cmark::{Event, Parser};
use text::SENTENCE_ENDS;

/// The longest sentence in bytes; only the end of a longer one is kept.
const MAX_BYTES: usize = 2_000;
/// Words with a full stop that does not end the sentence.
const ABBREVIATIONS: [&str; 5] = ["e.g.", "i.e.", "vs.", "cf.", "approx."];
/// Titles of names, whose full stop does not end the sentence. In small letters `ms.` means milliseconds.
const TITLES: [&str; 3] = ["Dr.", "Mr.", "Ms."];

/// Follows a text and collects its current sentence.
#[derive(Debug, Default)]
pub struct SentenceTracker {
    sentence: String,
    /// The character that ended the sentence.
    stop: Option<char>,
}

impl SentenceTracker {
    /// Reads the next character of the text without markers.
    pub fn push(&mut self, c: char) {
        if SENTENCE_ENDS.contains(&c) {
            self.stop = Some(c);
        } else if !(c.is_whitespace() || matches!(c, '"' | '”' | '’' | ')' | ']' | '*' | '_' | '`'))
        {
            self.stop = None;
        }
        if self.sentence.len() >= MAX_BYTES {
            let cut = self.sentence.char_indices().nth(1);
            self.sentence.drain(..cut.map_or(0, |(at, _)| at));
        }
        self.sentence.push(c);
    }

    /// True if the sentence ended before `next`, which follows directly or after white space.
    #[must_use]
    pub fn has_ended_before(&self, next: char, after_space: bool) -> bool {
        let Some(stop) = self.stop else {
            return false;
        };
        let last = self
            .sentence
            .split_whitespace()
            .next_back()
            .unwrap_or_default();
        let is_abbreviation =
            TITLES.contains(&last) || ABBREVIATIONS.contains(&last.to_lowercase().as_str());
        let closes = matches!(next, '”' | '』' | '」' | '）' | '。');
        match stop {
            '。' | '！' | '？' => !closes,
            _ => after_space && !next.is_lowercase() && !is_abbreviation,
        }
    }

    /// Returns the Markdown of the sentence so far.
    #[must_use]
    pub fn sentence(&self) -> &str {
        self.sentence.trim()
    }

    /// Ends the sentence, and returns its Markdown.
    pub fn end(&mut self) -> String {
        self.stop = None;
        std::mem::take(&mut self.sentence).trim().to_owned()
    }
}

/// Returns a sentence's words without Markdown, except code marks.
#[must_use]
pub fn plain_sentence(markdown: &str) -> String {
    let mut plain = String::with_capacity(markdown.len());
    for event in Parser::new(markdown) {
        match event {
            Event::Text(text) => plain.push_str(&text),
            Event::Code(code) => plain.extend(["`", &code, "`"]),
            Event::SoftBreak | Event::HardBreak => plain.push(' '),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text into sentences, one character at a time.
    fn sentences(text: &str) -> Vec<String> {
        let mut tracker = SentenceTracker::default();
        let mut sentences = Vec::new();
        let mut before = ' ';
        for c in text.chars() {
            if !c.is_whitespace() && tracker.has_ended_before(c, before.is_whitespace()) {
                sentences.push(tracker.end());
            }
            tracker.push(c);
            before = c;
        }
        sentences.push(tracker.end());
        sentences
    }

    #[test]
    fn a_sentence_ends_with_its_full_stop() {
        for (text, expected) in [
            (
                "Nodes talk. Topics carry",
                vec!["Nodes talk.", "Topics carry"],
            ),
            (
                "It takes 3.5 s, e.g. Python. Then",
                vec!["It takes 3.5 s, e.g. Python.", "Then"],
            ),
            (
                "Use `a.b`. **Bold.** He said “stop.” Then",
                vec!["Use `a.b`.", "**Bold.**", "He said “stop.”", "Then"],
            ),
            ("See node.js. it goes on", vec!["See node.js. it goes on"]),
            (
                "It takes 5 ms. Ask Ms. Lovelace",
                vec!["It takes 5 ms.", "Ask Ms. Lovelace"],
            ),
            ("节点。话题！", vec!["节点。", "话题！"]),
            ("", vec![""]),
        ] {
            assert_eq!(sentences(text), expected);
        }
        let long = sentences(&"x".repeat(9_000)).remove(0);
        assert!(long.len() <= MAX_BYTES + 1);
    }

    #[test]
    fn a_sentence_is_compared_without_its_markup() {
        let markdown = "Use **`a_b`** of [the &lt;Tabs>](/docs/a) \\[x\\].";
        assert_eq!(plain_sentence(markdown), "Use `a_b` of the <Tabs> [x].");
    }
}
