//! Handles chat template marks in a model's text: hides thoughts, and ends the answer where another turn begins. Pure.

/// The marks around a model's thoughts.
const THOUGHTS: [[&str; 2]; 2] = [["<think>", "</think>"], ["<thinking>", "</thinking>"]];
/// Marks of chat templates that end a turn or begin another.
const ENDS: [&str; 9] = [
    "<|im_end|>",
    "<|im_start|>",
    "<|endoftext|>",
    "<|eot_id|>",
    "<|end|>",
    "<|start_header_id|>",
    "</s>",
    "<end_of_turn>",
    "<start_of_turn>",
];

/// Reads a streamed text. Text that may become a mark is held back.
#[derive(Debug, Default)]
pub(crate) struct ControlTokenFilter {
    held: String,
    /// The mark that ends the current thoughts.
    thoughts: Option<&'static str>,
    ended: bool,
}

impl ControlTokenFilter {
    /// Reads a piece; returns the text that belongs to the answer.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut shown = String::new();
        for c in piece.chars() {
            if self.ended {
                break;
            }
            if c == '<' {
                self.release(&mut shown);
            }
            if c == '<' || !self.held.is_empty() {
                self.held.push(c);
                self.decide(&mut shown);
            } else if self.thoughts.is_none() {
                shown.push(c);
            }
        }
        shown
    }

    /// Returns the text held back at the end.
    pub(crate) fn finish(&mut self) -> String {
        let mut shown = String::new();
        self.release(&mut shown);
        shown
    }

    /// True if another turn has begun.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    fn decide(&mut self, shown: &mut String) {
        let held = self.held.to_ascii_lowercase();
        if let Some(end) = self.thoughts {
            if held == end {
                self.thoughts = None;
                self.held.clear();
            } else if !end.starts_with(&held) {
                self.held.clear();
            }
            return;
        }
        if let Some([_, end]) = THOUGHTS.iter().find(|[begin, _]| *begin == held) {
            self.thoughts = Some(end);
            self.held.clear();
        } else if ENDS.contains(&held.as_str()) {
            self.ended = true;
            self.held.clear();
        } else {
            let mut marks = ENDS.iter().chain(THOUGHTS.iter().map(|[begin, _]| begin));
            if !marks.any(|mark| mark.starts_with(&held)) {
                self.release(shown);
            }
        }
    }

    fn release(&mut self, shown: &mut String) {
        let held = std::mem::take(&mut self.held);
        if self.thoughts.is_none() && !self.ended {
            shown.push_str(&held);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, size: usize) -> String {
        let mut reader = ControlTokenFilter::default();
        let characters: Vec<char> = text.chars().collect();
        let pieces = characters.chunks(size).map(String::from_iter);
        let mut shown: String = pieces.map(|piece| reader.push(&piece)).collect();
        shown.push_str(&reader.finish());
        shown
    }

    #[test]
    fn thoughts_and_other_turns_are_not_shown() {
        for (text, shown) in [
            ("<think>Say [1] < 2.</think>Nodes talk.", "Nodes talk."),
            ("Nodes.<|im_end|>\n<|im_start|>user", "Nodes."),
            ("<Thinking>never ends", ""),
            ("a < b, <T>, <thin> and <", "a < b, <T>, <thin> and <"),
            ("<<think>x</think>>", "<>"),
        ] {
            for size in [1, 2, 100] {
                assert_eq!(read(text, size), shown, "{text}");
            }
        }
    }
}
