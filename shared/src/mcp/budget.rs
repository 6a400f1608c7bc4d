//! Cuts results to a number of tokens. Pure.

use serde::Serialize;

use answer::error::Error;
use book::chunk::count_tokens;

/// Approximate bytes of the longest token; longer line beginnings are not counted at all.
const LONGEST_TOKEN: usize = 16;

/// Fewer tokens than an item of a list has.
const TOKENS_OF_AN_ITEM: usize = 10;

/// The most tokens of one result, as cl100k counts its JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(usize);

impl Default for Budget {
    /// Returns the default: a quarter of Claude Code's limit for a tool result, which is enough for ten sections.
    fn default() -> Self {
        Self(6_000)
    }
}

impl Budget {
    /// The smallest budget: one section with its titles and addresses.
    const LEAST: usize = 1_000;
    const MOST: usize = 100_000;

    /// Creates the budget that a user chose.
    ///
    /// # Errors
    /// `Invalid` if it is out of range.
    pub fn of_tokens(tokens: usize) -> Result<Self, Error> {
        if (Self::LEAST..=Self::MOST).contains(&tokens) {
            return Ok(Self(tokens));
        }
        let (least, most) = (Self::LEAST, Self::MOST);
        let message = format!("max_tokens must be {least} to {most}, got {tokens}");
        Err(Error::field("max_tokens", message))
    }

    /// Returns a number of items that is more than fits: the names of their fields alone have more tokens.
    pub(super) fn most_items(self) -> usize {
        self.0 / TOKENS_OF_AN_ITEM
    }

    /// True if a result fits.
    pub(super) fn holds(self, result: &impl Serialize) -> bool {
        tokens_of(result) <= self.0
    }

    /// Returns how many of the first items fit into a result.
    pub(super) fn fill<Item: Serialize, Output: Serialize>(
        self,
        items: &[Item],
        result_of: impl Fn(usize) -> Output,
    ) -> usize {
        let mut room = self.0.saturating_sub(tokens_of(&result_of(0)));
        let fitting = items.iter().take_while(|item| {
            let tokens = tokens_of(item);
            let fits = tokens <= room;
            room = room.saturating_sub(tokens);
            fits
        });
        let mut count = fitting.count();
        // Separators between items count as well.
        while count > 0 && !self.holds(&result_of(count)) {
            count -= 1;
        }
        count
    }

    /// Returns how many bytes from the start of a text fit into a result, in whole lines if one fits.
    pub(super) fn cut<Output: Serialize>(
        self,
        text: &str,
        result_of: impl Fn(&str) -> Output,
    ) -> usize {
        let mut room = self.0.saturating_sub(tokens_of(&result_of("")));
        loop {
            let end = beginning(text, room);
            let tokens = tokens_of(&result_of(&text[..end]));
            if end == 0 || tokens <= self.0 {
                return end;
            }
            room = room.saturating_sub(tokens - self.0);
        }
    }
}

/// Returns the length of the longest prefix with at most this many tokens as a JSON string, counting each line separately.
fn beginning(text: &str, tokens: usize) -> usize {
    let (mut end, mut left) = (0, tokens);
    for line in text.split_inclusive('\n') {
        let length = tokens_of(&line);
        if length > left {
            break;
        }
        left -= length;
        end += line.len();
    }
    if end > 0 || tokens == 0 {
        return end;
    }
    let mut end = text.floor_char_boundary(tokens.saturating_mul(LONGEST_TOKEN));
    while tokens_of(&&text[..end]) > tokens {
        end = text.floor_char_boundary(end * 3 / 4);
    }
    end
}

fn tokens_of(value: &impl Serialize) -> usize {
    let json = serde_json::to_string(value).expect("texts and numbers are JSON");
    count_tokens(&json)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn what_is_cut_has_room_and_is_not_wasteful(
            text in "([a-z]{1,9} |[é語🤖\"\\\\]{1,4}|\n){0,3000}",
            tokens in 100_usize..3_000,
        ) {
            let budget = Budget(tokens);
            let end = budget.cut(&text, str::to_owned);
            prop_assert!(budget.holds(&&text[..end]));
            let rest = &text[end..];
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            // One more line would exceed the budget, or none is left.
            let is_short = tokens_of(&&text[..end]) * 3 < tokens && tokens_of(&line) * 3 < tokens;
            prop_assert!(rest.is_empty() || !is_short, "{end} of {}", text.len());
        }

        #[test]
        fn as_many_items_are_listed_as_there_is_room_for(
            items in prop::collection::vec("[a-z \"]{0,40}", 0..300),
            tokens in 20_usize..2_000,
        ) {
            let budget = Budget(tokens);
            let count = budget.fill(&items, |count| items[..count].to_vec());
            prop_assert!(budget.holds(&items[..count].to_vec()));
            prop_assert!(count == items.len() || tokens_of(&items[..count].to_vec()) + 60 > tokens / 2);
        }
    }

    #[test]
    fn a_line_of_a_mebibyte_is_cut() {
        let line = "word ".repeat(1 << 18);
        let end = Budget(1_000).cut(&line, str::to_owned);
        assert!((500..6_000).contains(&end), "{end}");
    }

    #[test]
    fn a_budget_out_of_range_is_refused_with_the_range() {
        for tokens in [0, 999, 100_001] {
            let error = Budget::of_tokens(tokens).unwrap_err();
            assert_eq!(error.field, Some("max_tokens"));
            assert!(error.message.contains("1000 to 100000"), "{error}");
        }
        assert_eq!(Budget::of_tokens(1_000).unwrap(), Budget(1_000));
    }
}
