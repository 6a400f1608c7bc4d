//! A Unigram tokenizer: splits a word into the pieces with the highest sum of scores.
//!
//! Follows Hugging Face's `tokenizers` (0.23) for XLM-RoBERTa's vocabulary. That crate takes 300 MB and four seconds to load its 250,000 pieces; here
//! they take 6 MB.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization as _;

/// Represents the space before a word.
const SPACE: char = '\u{2581}';

/// The difference between the lowest score and an unknown character's (`kUnkPenalty` of `SentencePiece`).
const UNKNOWN_PENALTY: f64 = 10.0;

pub(super) struct Unigram {
    /// All pieces concatenated, in the order of their ids.
    text: Vec<u8>,
    /// The end of each piece in `text`, by id.
    ends: Vec<u32>,
    /// The logarithm of each piece's probability, by id.
    scores: Vec<f32>,
    /// Ids in the byte order of their pieces, without special tokens.
    sorted: Vec<u32>,
    unknown: u32,
    unknown_score: f64,
}

/// The best split of a word up to one of its bytes.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    /// Where the last piece starts.
    start: usize,
    id: u32,
}

impl Unigram {
    /// Creates a tokenizer from pieces in id order; `special` ones represent no text.
    pub(super) fn new<'a>(
        pieces: impl Iterator<Item = &'a [u8]>,
        scores: Vec<f32>,
        special: &[u32],
        unknown: u32,
    ) -> Self {
        let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(scores.len()));
        for piece in pieces {
            text.extend_from_slice(piece);
            ends.push(u32::try_from(text.len()).expect("a vocabulary has less than 4 GB"));
        }
        let lowest = scores.iter().copied().fold(0.0, f32::min);
        let mut unigram = Self {
            text,
            sorted: Vec::new(),
            scores,
            unknown,
            unknown_score: f64::from(lowest) - UNKNOWN_PENALTY,
            ends,
        };
        let mut sorted: Vec<u32> = (0..).take(unigram.ends.len()).collect();
        sorted.retain(|id| !special.contains(id));
        sorted.sort_unstable_by_key(|id| unigram.piece(*id));
        unigram.sorted = sorted;
        unigram
    }

    /// Returns the bytes of each piece, by id.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        (0..).take(self.ends.len()).map(|id| self.piece(id))
    }

    fn piece(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = id.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start as usize..self.ends[id] as usize]
    }

    /// Appends the ids of `text`.
    pub(super) fn push_tokens(&self, text: &str, ids: &mut Vec<u32>) {
        let normalized: String = text.chars().filter_map(visible).nfkc().collect();
        let words = normalized.split(|c: char| c.is_whitespace() || c == SPACE);
        let mut spaced = String::new();
        for word in words.filter(|word| !word.is_empty()) {
            spaced.clear();
            spaced.push(SPACE);
            spaced.push_str(word);
            self.push_word(&spaced, ids);
        }
    }

    /// Returns the word of each token as a byte range of `text`: from the first letter or digit between two spaces to the last. `None` for tokens
    /// without one.
    pub(super) fn words(&self, text: &str) -> Vec<Option<Range<usize>>> {
        let (mut words, mut ids) = (Vec::new(), Vec::new());
        let mut start = 0;
        for part in text.split_inclusive(is_space) {
            ids.clear();
            self.push_tokens(part, &mut ids);
            let word = alphanumeric(part).map(|word| start + word.start..start + word.end);
            words.extend(
                ids.iter()
                    .map(|id| word.clone().filter(|_| self.is_word(*id))),
            );
            start += part.len();
        }
        words
    }

    /// True for unknown text and for pieces with a letter or digit.
    fn is_word(&self, id: u32) -> bool {
        let piece = std::str::from_utf8(self.piece(id));
        id == self.unknown || piece.is_ok_and(|piece| piece.contains(char::is_alphanumeric))
    }

    /// Appends the ids of one word. Adjacent unknown characters share one id.
    fn push_word(&self, word: &str, ids: &mut Vec<u32>) {
        let best = self.best_splits(word);
        let first = ids.len();
        let mut end = word.len();
        while let Some(piece) = best[end] {
            if piece.id != self.unknown || ids[first..].last() != Some(&self.unknown) {
                ids.push(piece.id);
            }
            end = piece.start;
        }
        ids[first..].reverse();
    }

    /// Returns the best split of the word up to each of its bytes, found with the Viterbi algorithm.
    fn best_splits(&self, word: &str) -> Vec<Option<Best>> {
        let mut best = vec![None; word.len() + 1];
        for (start, c) in word.char_indices() {
            let before = best[start].map_or(0.0, |best: Best| best.score);
            let mut knows_character = false;
            for id in self.prefixes(&word.as_bytes()[start..]) {
                let length = self.piece(id).len();
                knows_character |= length == c.len_utf8();
                let score = before + f64::from(self.scores[id as usize]);
                Best { score, start, id }.replace_worse(&mut best[start + length]);
            }
            if !knows_character {
                let score = before + self.unknown_score;
                let id = self.unknown;
                Best { score, start, id }.replace_worse(&mut best[start + c.len_utf8()]);
            }
        }
        best
    }

    /// Returns the pieces that `text` begins with, shortest first.
    fn prefixes(&self, text: &[u8]) -> impl Iterator<Item = u32> {
        let mut range = 0..self.sorted.len();
        text.iter()
            .enumerate()
            .map_while(move |(depth, byte)| {
                range = self.narrowed(range.clone(), depth, *byte);
                let first = *self.sorted.get(range.start)?;
                (!range.is_empty()).then_some((first, depth + 1))
            })
            .filter(|(id, length)| self.piece(*id).len() == *length)
            .map(|(id, _)| id)
    }

    /// Narrows pieces that share `depth` bytes to those with `byte` next.
    fn narrowed(&self, range: Range<usize>, depth: usize, byte: u8) -> Range<usize> {
        let pieces = &self.sorted[range.clone()];
        let start = pieces.partition_point(|id| self.byte(*id, depth) < Some(byte));
        let count = pieces[start..].partition_point(|id| self.byte(*id, depth) == Some(byte));
        range.start + start..range.start + start + count
    }

    /// Returns the byte of a piece at `depth`; `None` if the piece is shorter.
    fn byte(&self, id: u32, depth: usize) -> Option<u8> {
        self.piece(id).get(depth).copied()
    }
}

impl Best {
    fn replace_worse(self, best: &mut Option<Self>) {
        if best.is_none_or(|best| self.score > best.score) {
            *best = Some(self);
        }
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || c == SPACE || visible(c) == Some(' ')
}

/// Returns the range from the first letter or digit to the last.
fn alphanumeric(text: &str) -> Option<Range<usize>> {
    let (last, character) = text.char_indices().rfind(|(_, c)| c.is_alphanumeric())?;
    let first = text.find(char::is_alphanumeric)?;
    Some(first..last + character.len_utf8())
}

/// Returns `None` for control characters, and a space for whitespace and zero-width marks, following the `Nmt` normaliser of `tokenizers` that
/// prepared the vocabulary's training text.
fn visible(c: char) -> Option<char> {
    match c {
        '\u{1}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}' => None,
        '\t'
        | '\n'
        | '\u{c}'
        | '\r'
        | '\u{1680}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'
        | '\u{2029}'
        | '\u{feff}'
        | '\u{fffd}' => Some(' '),
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Unigram {
        let pieces = ["<s>", "<unk>", "▁", "▁a", "b", "ab", "▁ab", "é", "abc"];
        let scores = vec![0.0, 0.0, -2.0, -2.0, -1.0, -2.5, -4.0, -3.0, -9.0];
        let pieces = pieces.iter().map(|piece| piece.as_bytes());
        Unigram::new(pieces, scores, &[0, 1], 1)
    }

    fn ids(text: &str) -> Vec<u32> {
        let mut ids = Vec::new();
        tiny().push_tokens(text, &mut ids);
        ids
    }

    #[test]
    fn each_token_has_the_word_that_it_is_of() {
        let text = " ab\u{a0}(bab),\u{200d}… é\u{301}x";
        let words = tiny().words(text).into_iter();
        let words: Vec<Option<&str>> = words.map(|word| word.map(|word| &text[word])).collect();
        assert_eq!(words.len(), ids(text).len());
        let mut distinct = words.clone();
        distinct.dedup();
        let (ab, bab, last) = (Some("ab"), Some("bab"), Some("é\u{301}x"));
        assert_eq!(distinct, [ab, None, bab, None, last], "{words:?}");
    }

    #[test]
    fn the_pieces_with_the_highest_sum_of_scores_are_chosen() {
        assert_eq!(ids("ab"), [3, 4], "-3 is more than -4 and -4.5");
        assert_eq!(ids("bab"), [2, 4, 5]);
    }

    #[test]
    fn neighbouring_unknown_characters_are_one_token() {
        assert_eq!(ids("bxyb x"), [2, 4, 1, 4, 2, 1]);
    }

    #[test]
    fn letters_are_composed_and_invisible_characters_separate_words() {
        assert_eq!(ids("e\u{301}"), [2, 7]);
        assert_eq!(ids(" a\u{200d}\u{feff}a\u{1}b\n"), [3, 3, 4]);
        assert_eq!(ids("\u{2581}"), [0_u32; 0]);
    }

    #[test]
    fn special_tokens_are_plain_text() {
        assert_eq!(ids("<s>"), [2, 1]);
    }
}
