//! Whether a passage says what a sentence says, as far as words and numbers tell. Pure.

use std::collections::HashSet;

use crate::retrieve::Words;

/// The least share of a sentence's words that its passages have. A sentence of other words may still be borne out: this finds
/// those that came from nowhere, not those that were twisted.
const MIN_SHARE: f32 = 0.5;

/// What of a sentence its passages have.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Support {
    /// The share of its words, stop words aside, 0 to 1.
    pub share: f32,
    /// Whether all of its numbers are there.
    pub numbers: bool,
}

impl Support {
    /// Whether that is enough.
    #[must_use]
    pub fn is_supported(self) -> bool {
        self.share >= MIN_SHARE && self.numbers
    }
}

/// Compares a sentence with the text of the passages it cites, their headings included.
#[must_use]
pub fn supports(passages: &str, sentence: &str, words: &Words) -> Support {
    let held: HashSet<String> = words.terms(passages).into_iter().collect();
    let said: HashSet<String> = words.terms(sentence).into_iter().collect();
    let found = said.intersection(&held).count();
    #[expect(clippy::cast_precision_loss, reason = "a sentence has few words")]
    let share = match said.len() {
        0 => 1.0,
        all => found as f32 / all as f32,
    };
    let held: HashSet<String> = numbers(passages).collect();
    Support {
        share,
        numbers: numbers(sentence).all(|number| held.contains(&number)),
    }
}

/// The numbers of a text, `1,000` as `1000` and `2.50` as `2.5`.
fn numbers(text: &str) -> impl Iterator<Item = String> {
    let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
    let runs = text.split(move |c: char| !is_part(c));
    runs.filter_map(|run| {
        let run = run.trim_matches(['.', ',']);
        let number = run.replace(',', "");
        let (whole, part) = number.split_once('.').unwrap_or((&number, ""));
        let whole = whole.trim_start_matches('0');
        let part = part.trim_end_matches('0');
        match (run.is_empty(), part.is_empty()) {
            (true, _) => None,
            (false, true) => Some(whole.to_owned()),
            (false, false) => Some(format!("{whole}.{part}")),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::retrieve::Language;

    fn supported(passage: &str, sentence: &str) -> bool {
        supports(passage, sentence, &Words::of(Language::ENGLISH)).is_supported()
    }

    #[test]
    fn a_sentence_is_borne_out_by_its_words_and_numbers() {
        let passage = "The robot weighs 1,250 g and drives 2.50 m in ten seconds.";
        assert!(supported(passage, "It weighs 1250 g."));
        assert!(supported(passage, "The robot drives 2.5 m in ten seconds."));
        assert!(!supported(passage, "The robot weighs 1300 g."));
        assert!(!supported(passage, "Karpov won the chess match."));
        assert!(supported(passage, "It is so."));
    }
}
