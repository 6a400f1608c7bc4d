//! Detects a model's own refusal in its first words. Pure.

/// Searches the beginning of a streamed text for a refusal. Text that may become one is held back, at most as much as the refusal is long.
#[derive(Debug)]
pub(crate) struct RefusalDetector {
    /// The refusing sentences, normalised.
    refusals: Vec<String>,
    held: String,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Undecided,
    Answer,
    Refusal,
}

impl RefusalDetector {
    pub(crate) fn new<'a>(refusals: impl IntoIterator<Item = &'a str>) -> Self {
        let refusals = refusals.into_iter().map(normalised);
        Self {
            refusals: refusals.filter(|refusal| !refusal.is_empty()).collect(),
            held: String::new(),
            state: State::Undecided,
        }
    }

    /// Reads a piece; returns the text to show now.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        if self.state != State::Undecided {
            return piece.to_owned();
        }
        self.held.push_str(piece);
        let said = normalised(&self.held);
        // The last word is complete only when another character follows it.
        let is_complete = !self.held.ends_with(char::is_alphanumeric);
        let refuses = self.refusals.iter().any(|refusal| {
            said.strip_prefix(refusal.as_str())
                .is_some_and(|rest| rest.starts_with(' ') || (rest.is_empty() && is_complete))
        });
        if refuses {
            self.state = State::Refusal;
            return String::new();
        }
        if self
            .refusals
            .iter()
            .any(|refusal| refusal.starts_with(&said))
        {
            return String::new();
        }
        self.state = State::Answer;
        std::mem::take(&mut self.held)
    }

    /// True if the text refuses; anything after the refusal is hidden.
    pub(crate) fn refused(&self) -> bool {
        self.state == State::Refusal
    }

    /// Returns the text held back at the end.
    pub(crate) fn finish(&mut self) -> String {
        let said = normalised(&self.held);
        if self.state == State::Undecided && self.refusals.contains(&said) {
            self.state = State::Refusal;
            return String::new();
        }
        if self.state == State::Undecided {
            self.state = State::Answer;
        }
        std::mem::take(&mut self.held)
    }
}

/// Returns letters and digits in lower case with single spaces, because models change quotation marks and full stops.
fn normalised(text: &str) -> String {
    let mut words = String::new();
    let letters = text.chars().filter(|c| !matches!(c, '\'' | '’' | '`'));
    for c in letters {
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        } else if !words.is_empty() && !words.ends_with(' ') {
            words.push(' ');
        }
    }
    // The sentence's last mark is not part of it.
    words.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REFUSAL: &str = "I don't have information on that in the docs.";

    fn read(pieces: &[&str]) -> (String, bool) {
        let mut reader = RefusalDetector::new([REFUSAL]);
        let mut shown: String = pieces.iter().map(|piece| reader.push(piece)).collect();
        if !reader.refused() {
            shown.push_str(&reader.finish());
        }
        let refused = reader.refused();
        (if refused { String::new() } else { shown }, refused)
    }

    #[test]
    fn a_refusal_is_known_however_it_is_cut_and_quoted() {
        for pieces in [
            &["I don't have information on that in the docs."][..],
            &[
                "",
                "\"I don",
                "’t have  information on",
                " that in the do",
                "cs",
            ],
            &["I DON'T have information on that in the docs! But I know that nodes [1]"],
        ] {
            assert_eq!(read(pieces), (String::new(), true), "{pieces:?}");
        }
    }

    #[test]
    fn a_short_refusal_is_no_beginning_of_a_word() {
        let refused = |text: &str| {
            let mut reader = RefusalDetector::new(["No.", "…"]);
            for c in text.chars() {
                reader.push(&c.to_string());
            }
            reader.finish();
            reader.refused()
        };
        assert!(refused("No.") && refused("no") && refused("No, the book does not say."));
        assert!(!refused("Nodes talk.") && !refused("Yes.") && !refused(""));
    }

    #[test]
    fn an_answer_comes_whole() {
        for pieces in [
            &["I don't have", " to tell you that nodes talk [1]."][..],
            &["N", "odes."],
            &["I don't have information"],
        ] {
            assert_eq!(read(pieces), (pieces.concat(), false), "{pieces:?}");
        }
    }
}
