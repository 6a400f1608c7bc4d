//! Stops a model that repeats its rules before the reader sees them. Pure.

use std::collections::HashSet;

/// A leak is this many consecutive words of the rules; answers have no reason to contain them.
const LEAK_WORDS: usize = 8;
/// Text is held back from this many consecutive words on. Shorter runs occur in ordinary sentences.
const HELD_WORDS: usize = 4;

/// Searches streamed text for the rules. Holds back up to seven words that match them.
#[derive(Debug)]
pub(crate) struct LeakReader {
    /// Every run of 1 to [`LEAK_WORDS`] words of the rules.
    runs: HashSet<Vec<String>>,
    /// The words of the values that are inserted into the rules. They may be repeated, and do not end a run of the rules' words.
    inserted: HashSet<String>,
    /// The latest consecutive words that match the rules.
    row: Vec<String>,
    /// The text held back, from the first of those words on.
    held: String,
    /// The last word, which may be incomplete.
    word: String,
    leaked: bool,
}

impl LeakReader {
    /// Creates a reader for the rules, given in pieces without the values that are inserted into them.
    pub(crate) fn new(rules: &[impl AsRef<str>], inserted: &[&str]) -> Self {
        let mut runs = HashSet::new();
        for piece in rules {
            let words: Vec<String> = words_of(piece.as_ref()).collect();
            for length in 1..=LEAK_WORDS {
                runs.extend(words.windows(length).map(<[String]>::to_vec));
            }
        }
        Self {
            runs,
            inserted: inserted.iter().flat_map(|value| words_of(value)).collect(),
            row: Vec::new(),
            held: String::new(),
            word: String::new(),
            leaked: false,
        }
    }

    /// Reads a piece; returns the text to show now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
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

    /// Returns the text held back at the end.
    pub(crate) fn finish(&mut self) -> String {
        let mut shown = String::new();
        self.end_word(&mut shown);
        if self.leaked {
            return String::new();
        }
        shown.push_str(&std::mem::take(&mut self.held));
        shown
    }

    /// True if the rules were repeated; the rest of the text is then hidden.
    pub(crate) fn leaked(&self) -> bool {
        self.leaked
    }

    fn end_word(&mut self, shown: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let is_inserted = self.inserted.contains(&word);
        self.row.push(word);
        if is_inserted && self.row.len() > 1 && !self.runs.contains(&self.row) {
            self.row.pop();
        }
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
        let mut reader = LeakReader::new(&[RULES], &["Nodes and Topics"]);
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
    fn an_inserted_value_does_not_interrupt_the_rules() {
        for size in [1, 3, 1_000] {
            let text = "Say only what the passages \"Nodes and Topics\" say. Do not add it.";
            let (shown, leaked) = read(text, size);
            assert!(leaked);
            assert!(!shown.contains("passages"), "{shown}");
        }
    }

    #[test]
    fn other_text_passes_as_it_is() {
        for text in [
            "The passages say that nodes talk. Do not add what is there.",
            "Say only what the passages say about it",
            "Nodes and Topics and what the topics say and nodes do not add",
            "",
        ] {
            assert_eq!(read(text, 2), (text.to_owned(), false));
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_cuts_do_not_matter(words in proptest::collection::vec("say|only|what|the|passages|do|not|nodes|and|x|[ ,]", 0..40), size in 1_usize..9) {
            let text = words.join(" ");
            let (shown, leaked) = read(&text, size);
            prop_assert_eq!((shown.clone(), leaked), read(&text, 1));
            prop_assert!(text.starts_with(&shown));
            prop_assert!(leaked || shown == text);
        }
    }
}
