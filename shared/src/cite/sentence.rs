//! The sentence that a marker stands for, in a text that comes in pieces. Pure.

/// The longest sentence that is kept, in bytes: of a longer one, its end.
const MAX_BYTES: usize = 2_000;

/// Follows a text and knows the sentence it is in, or if that has not begun, the one that has just ended: markers stand before
/// a full stop as well as behind it. A line ends a sentence too: an item of a list, a row of a table.
#[derive(Debug, Default)]
pub struct SentenceTracker {
    last: String,
    current: String,
    /// Whether the current one has its full stop.
    stopped: bool,
}

impl SentenceTracker {
    /// Reads the next piece, without markers.
    pub fn push(&mut self, text: &str) {
        for c in text.chars() {
            let ends = c == '\n' || (self.stopped && c.is_whitespace());
            if ends {
                self.end();
                continue;
            }
            self.stopped = matches!(c, '.' | '!' | '?' | '۔' | '。' | '！' | '？')
                || (self.stopped && matches!(c, '"' | '”' | '’' | ')' | ']'));
            if self.current.len() >= MAX_BYTES {
                let cut = self.current.char_indices().nth(1);
                self.current.drain(..cut.map_or(0, |(at, _)| at));
            }
            self.current.push(c);
        }
    }

    /// The sentence that a marker at this place is for.
    #[must_use]
    pub fn sentence(&self) -> &str {
        let current = self.current.trim();
        if current.chars().any(char::is_alphanumeric) {
            current
        } else {
            self.last.trim()
        }
    }

    fn end(&mut self) {
        if self.current.chars().any(char::is_alphanumeric) {
            self.last = std::mem::take(&mut self.current);
        }
        self.current.clear();
        self.stopped = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> String {
        let mut tracker = SentenceTracker::default();
        for c in text.chars() {
            tracker.push(&c.to_string());
        }
        tracker.sentence().to_owned()
    }

    #[test]
    fn a_marker_is_for_the_sentence_before_it() {
        assert_eq!(after("Nodes talk. Topics carry"), "Topics carry");
        assert_eq!(after("Nodes talk. Topics carry. "), "Topics carry.");
        assert_eq!(after("It takes 3.5 s"), "It takes 3.5 s");
        assert_eq!(after("- first\n- second "), "- second");
        assert_eq!(after("He said “stop.” Then"), "Then");
        assert_eq!(after(""), "");
        assert!(after(&"x".repeat(9_000)).len() <= MAX_BYTES + 1);
    }
}
