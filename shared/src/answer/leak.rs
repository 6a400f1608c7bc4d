//! A model that repeats its rules, stopped before they are seen. Pure.

use std::collections::HashSet;

/// So many words in a row that stand so in the rules are a leak; an answer has no reason for them.
const LEAK_WORDS: usize = 8;
/// From so many words in a row on, what may become a leak is held back. Fewer stand in many sentences.
const HELD_WORDS: usize = 4;

/// Looks at a text that comes in pieces. Words that follow one another as in the rules are held back, seven at most.
#[derive(Debug)]
pub(super) struct LeakReader {
    /// Every run of 1 to [`LEAK_WORDS`] words of the rules.
    runs: HashSet<Vec<String>>,
    /// The last words in a row that stand so in the rules.
    row: Vec<String>,
    /// Text that was not shown, from the first of those words on.
    held: String,
    /// The word that may go on.
    word: String,
    leaked: bool,
}

impl LeakReader {
    /// A reader that knows the rules, which come in pieces.
    pub(super) fn new<'a>(rules: impl IntoIterator<Item = &'a str>) -> Self {
        let mut runs = HashSet::new();
        for piece in rules {
            let words: Vec<String> = words_of(piece).collect();
            for length in 1..=LEAK_WORDS {
                runs.extend(words.windows(length).map(<[String]>::to_vec));
            }
        }
        Self {
            runs,
            row: Vec::new(),
            held: String::new(),
            word: String::new(),
            leaked: false,
        }
    }

    /// What of the text is to be shown now.
    pub(super) fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for c in piece.chars() {
            if self.leaked {
                return shown;
            }
            if c.is_alphanumeric() {
                self.word.extend(c.to_lowercase());
                self.held.push(c);
                continue;
            }
            self.end_word(&mut shown);
            self.held.push(c);
        }
        if !self.leaked && self.row.len() < HELD_WORDS {
            shown.push_str(&std::mem::take(&mut self.held));
        }
        shown
    }

    /// What was held back when the text ended.
    pub(super) fn finish(&mut self) -> String {
        let mut shown = String::new();
        self.end_word(&mut shown);
        if self.leaked {
            return String::new();
        }
        shown.push_str(&std::mem::take(&mut self.held));
        shown
    }

    /// Whether the rules were repeated; the rest of the text is not shown.
    pub(super) fn leaked(&self) -> bool {
        self.leaked
    }

    fn end_word(&mut self, shown: &mut String) {
        if self.word.is_empty() {
            return;
        }
        self.row.push(std::mem::take(&mut self.word));
        while !self.runs.contains(&self.row) {
            self.row.remove(0);
            if self.row.is_empty() {
                break;
            }
        }
        if self.row.len() >= LEAK_WORDS {
            self.leaked = true;
            self.held.clear();
        } else if self.row.len() < HELD_WORDS {
            shown.push_str(&std::mem::take(&mut self.held));
        }
    }
}

fn words_of(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RULES: &str = "Say only what the passages say. Do not add what you know from elsewhere, and do not guess.";

    fn read(text: &str, size: usize) -> (String, bool) {
        let mut reader = LeakReader::new([RULES]);
        let characters: Vec<char> = text.chars().collect();
        let pieces = characters.chunks(size).map(String::from_iter);
        let mut shown: String = pieces.map(|piece| reader.push(&piece)).collect();
        shown.push_str(&reader.finish());
        (shown, reader.leaked())
    }

    #[test]
    fn rules_are_not_repeated() {
        for size in [1, 3, 1_000] {
            let text = "My rules: Say only what THE passages say; do not add what you know.";
            let (shown, leaked) = read(text, size);
            assert!(leaked);
            assert!(
                !shown.to_lowercase().contains("say only what the passages"),
                "{shown}"
            );
        }
    }

    #[test]
    fn other_text_passes_as_it_is() {
        for text in [
            "The passages say that nodes talk. Do not add what is there.",
            "Say only what the passages say about it",
            "",
        ] {
            assert_eq!(read(text, 2), (text.to_owned(), false));
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_cuts_do_not_matter(words in proptest::collection::vec("say|only|what|the|passages|do|not|x|[ ,]", 0..40), size in 1_usize..9) {
            let text = words.join(" ");
            let (shown, leaked) = read(&text, size);
            prop_assert_eq!((shown.clone(), leaked), read(&text, 1));
            prop_assert!(text.starts_with(&shown));
            prop_assert!(leaked || shown == text);
        }
    }
}
