//! Converts text to token ids: with BERT's `WordPiece`, or XLM-RoBERTa's Unigram.
//!
//! `WordPiece` is built from parts of `rten-text` and agrees with Hugging Face's `tokenizers`. `rten_text::Tokenizer` (0.27) cannot be used: it
//! neither cleans text nor separates Chinese characters, returns pieces of words whose rest is unknown, and panics on short texts of many one-letter
//! pieces (`xqzjw`), because its offsets count the `##`.

use std::collections::HashMap;
use std::ops::Range;

use rten_text::models::{Model, WordPiece, WordPieceOptions};
use rten_text::normalizers::{self, Normalizer};
use rten_text::pre_tokenizers::{self, PreTokenizer};
use serde::Deserialize;

use super::unigram::Unigram;

/// Tokens added to every input: `[CLS]` or `<s>` before it, `[SEP]` or `</s>` after it.
pub(crate) const SPECIAL_TOKENS: usize = 2;

/// Turns text into token ids.
pub(crate) struct Tokenizer {
    pieces: Pieces,
    start: u32,
    end: u32,
    /// By id: the number of letters in a piece with several letters, or of syllables in one of a multilingual vocabulary; 0 for other single letters,
    /// punctuation and special tokens.
    letters: Vec<u8>,
}

enum Pieces {
    Word(Box<Bert>),
    Unigram(Unigram),
}

/// `WordPiece` with BERT's word boundaries.
struct Bert {
    normalizer: normalizers::Bert,
    word_splitter: pre_tokenizers::Bert,
    word_pieces: WordPiece,
    unknown: u32,
}

/// The fields used from `tokenizer.json`; its padding, and truncation to 128 tokens, do not belong to the model.
#[derive(Deserialize)]
struct TokenizerFile {
    model: Vocabulary,
}

#[derive(Deserialize)]
struct Vocabulary {
    vocab: HashMap<String, u32>,
}

impl Vocabulary {
    fn id(&self, token: &str) -> Result<u32, String> {
        let id = self.vocab.get(token).copied();
        id.ok_or_else(|| format!("its vocabulary lacks {token}"))
    }
}

impl Tokenizer {
    /// Reads the vocabulary of a `tokenizer.json`; the error says what is wrong with it.
    pub(super) fn from_json(json: &[u8]) -> Result<Self, String> {
        let file: TokenizerFile =
            serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let vocabulary = file.model;
        let (start, end) = (vocabulary.id("[CLS]")?, vocabulary.id("[SEP]")?);
        let mut letters = vec![0; vocabulary.vocab.len()];
        for (piece, id) in &vocabulary.vocab {
            let letters = letters
                .get_mut(*id as usize)
                .ok_or_else(|| format!("its vocabulary lacks ids below {id}"))?;
            // `[UNK]` and other special tokens contain no letters of a text.
            if !piece.starts_with('[') {
                *letters = letters_of(piece);
            }
        }
        let bert = Bert {
            unknown: vocabulary.id("[UNK]")?,
            normalizer: normalizers::Bert::new(normalizers::BertOptions {
                lowercase: true,
                strip_accents: true,
            }),
            word_splitter: pre_tokenizers::Bert::new(),
            word_pieces: WordPiece::from_vocab(vocabulary.vocab, WordPieceOptions::default()),
        };
        Ok(Self {
            pieces: Pieces::Word(Box::new(bert)),
            start,
            end,
            letters,
        })
    }

    /// Wraps a Unigram vocabulary. Its `special` tokens represent no text, among them the first and the last of an input.
    pub(super) fn unigram(unigram: Unigram, special: &[u32], start: u32, end: u32) -> Self {
        let letters = unigram.pieces().enumerate().map(|(id, piece)| {
            let is_special = special.iter().any(|special| *special as usize == id);
            std::str::from_utf8(piece)
                .ok()
                .filter(|_| !is_special)
                .map_or(0, |piece| letters_of(piece).max(syllables_of(piece)))
        });
        Self {
            letters: letters.collect(),
            pieces: Pieces::Unigram(unigram),
            start,
            end,
        }
    }

    /// True if the model understands `text`: at least half of the letters are in pieces of several letters, or are syllables of a multilingual
    /// vocabulary.
    ///
    /// A script that the vocabulary was not made for has single letters at best. Measured on a sentence in each of 31 languages: bge-small has .55 to
    /// .98 in Latin script and 0 to .22 in others, the multilingual model at least .76 in every script of its vocabulary. One-letter words are
    /// ignored.
    pub(crate) fn reads(&self, text: &str) -> bool {
        let (mut letters, mut known) = (0, 0);
        for word in text.split_whitespace() {
            let of_word = word.chars().filter(|c| c.is_alphabetic()).count();
            if of_word < 2 {
                continue;
            }
            let mut ids = Vec::new();
            self.push_tokens(word, &mut ids);
            let in_pieces = ids.iter().map(|id| usize::from(self.letters[*id as usize]));
            letters += of_word;
            known += in_pieces.sum::<usize>().min(of_word);
        }
        2 * known >= letters
    }

    /// Returns the ids of `text` between the special tokens, `max_tokens` at most including these.
    ///
    /// `[MASK]` and the like are plain text, unlike in `tokenizers`, because a book is data.
    pub(crate) fn encode(&self, text: &str, max_tokens: usize) -> Vec<u32> {
        let mut ids = vec![self.start];
        self.push_tokens(text, &mut ids);
        ids.truncate(max_tokens - 1);
        ids.push(self.end);
        ids
    }

    /// Returns the ids of a pair with `[CLS]` before it and `[SEP]` after each text, and for each id whether it belongs to the first (0) or the
    /// second text (1). The first text is cut to `first` tokens, the second so that the total is at most `max_tokens`.
    pub(crate) fn encode_pair(
        &self,
        text: &str,
        pair: &str,
        first: usize,
        max_tokens: usize,
    ) -> (Vec<u32>, Vec<i32>) {
        let mut ids = vec![self.start];
        self.push_tokens(text, &mut ids);
        ids.truncate(first + 1);
        ids.push(self.end);
        let of_first = ids.len();
        self.push_tokens(pair, &mut ids);
        ids.truncate(max_tokens - 1);
        ids.push(self.end);
        let types = (0..ids.len()).map(|place| i32::from(place >= of_first));
        let types = types.collect();
        (ids, types)
    }

    /// Returns the number of tokens in `text`, without special ones.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut ids = Vec::new();
        self.push_tokens(text, &mut ids);
        ids.len()
    }

    /// Returns the word of each token as a byte range of `text`: letters and digits without a space between, and for `WordPiece` without punctuation.
    /// `None` for tokens of other characters.
    pub(crate) fn words(&self, text: &str) -> Vec<Option<Range<usize>>> {
        match &self.pieces {
            Pieces::Word(bert) => bert.words(text),
            Pieces::Unigram(unigram) => unigram.words(text),
        }
    }

    fn push_tokens(&self, text: &str, ids: &mut Vec<u32>) {
        match &self.pieces {
            Pieces::Word(bert) => bert.push_tokens(text, ids),
            Pieces::Unigram(unigram) => unigram.push_tokens(text, ids),
        }
    }
}

impl Bert {
    fn words(&self, text: &str) -> Vec<Option<Range<usize>>> {
        let mut ids = Vec::new();
        let mut words = Vec::new();
        let (normalized, places) = self.normalize(text);
        let mut at = 0;
        for word in self.split(&normalized) {
            self.push_word(word, &mut ids);
            let place = word.contains(char::is_alphanumeric).then(|| {
                let last = places[at + word.len() - 1];
                let end = text[last..].chars().next().map_or(0, char::len_utf8);
                places[at]..last + end
            });
            words.resize(ids.len(), place);
            at += word.len();
        }
        words
    }

    fn push_tokens(&self, text: &str, ids: &mut Vec<u32>) {
        let (normalized, _) = self.normalize(text);
        for word in self.split(&normalized) {
            self.push_word(word, ids);
        }
    }

    /// Returns the normalised text, and for each of its bytes the start of the original character in `text`.
    fn normalize(&self, text: &str) -> (String, Vec<usize>) {
        let (cleaned, places) = clean(text);
        let (normalized, mut offsets) = self
            .normalizer
            .normalize(&cleaned)
            .expect("BERT's normalizer uses no regular expression, its only error");
        for offset in &mut offsets {
            *offset = places[*offset];
        }
        (normalized, offsets)
    }

    /// Splits a normalised text into words, spaces and punctuation characters.
    fn split<'t>(&self, normalized: &'t str) -> Vec<&'t str> {
        self.word_splitter
            .pre_tokenize(normalized)
            .expect("BERT's word splitter uses no regular expression, its only error")
    }

    fn push_word(&self, word: &str, ids: &mut Vec<u32>) {
        let word_start = ids.len();
        self.word_pieces
            .encode_with_offsets(word, &mut |_, id| ids.push(id))
            .expect("the vocabulary has [UNK], seen when it was read");
        // A word with an unknown part is unknown as a whole.
        if ids[word_start..].last() == Some(&self.unknown) {
            ids.truncate(word_start);
            ids.push(self.unknown);
        }
    }
}

/// Returns the number of letters of the scripts in which one letter is a word or a syllable: Chinese characters, kana, hangul.
fn syllables_of(piece: &str) -> u8 {
    let syllables = piece.chars().filter(|c| {
        matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
    });
    u8::try_from(syllables.count()).unwrap_or(u8::MAX)
}

/// Returns the number of letters in a piece with several letters, else 0.
fn letters_of(piece: &str) -> u8 {
    let letters = piece.chars().filter(|c| c.is_alphabetic()).count();
    u8::try_from(letters).unwrap_or(u8::MAX) * u8::from(letters > 1)
}

/// Removes invisible characters, turns all whitespace into spaces and separates Chinese characters. Also returns, for each byte of the result, the
/// start of the original character.
fn clean(text: &str) -> (String, Vec<usize>) {
    let mut cleaned = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    for (place, c) in text.char_indices() {
        if c.is_whitespace() {
            cleaned.push(' ');
        } else if is_chinese(c) {
            cleaned.extend([' ', c, ' ']);
        } else if !(c == '\u{fffd}' || c.is_control() || is_format_or_private(c)) {
            cleaned.push(c);
        }
        places.resize(cleaned.len(), place);
    }
    (cleaned, places)
}

/// True for a character of the blocks that BERT splits into single characters (`_is_chinese_char` in its `tokenization.py`).
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}'
        | '\u{2a700}'..='\u{2b73f}' | '\u{2b740}'..='\u{2b81f}' | '\u{2b820}'..='\u{2ceaf}'
        | '\u{f900}'..='\u{faff}' | '\u{2f800}'..='\u{2fa1f}')
}

/// True for the Unicode categories Cf and Co: soft hyphens, zero-width joiners, text direction, private use.
fn is_format_or_private(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{8e2}' | '\u{180e}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0001}'
        | '\u{e0020}'..='\u{e007f}' | '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiny() -> Tokenizer {
        let vocabulary = [
            "[UNK]", "[CLS]", "[SEP]", "x", "##y", "##z", "机", "naive", ".",
        ];
        let vocab: HashMap<_, _> = vocabulary.into_iter().zip(0_u32..).collect();
        let json =
            serde_json::json!({"model": {"vocab": vocab}, "truncation": {"max_length": 128}});
        Tokenizer::from_json(json.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn words_are_cut_into_known_pieces() {
        assert_eq!(tiny().encode("xyz x.", 9), [1, 3, 4, 5, 3, 8, 2]);
        assert_eq!(tiny().encode("Naïve 机机", 9), [1, 7, 6, 6, 2]);
        assert_eq!(tiny().encode("x\u{ad}y\u{200d}", 9), [1, 3, 4, 2]);
    }

    #[test]
    fn a_word_with_an_unknown_part_is_one_unknown_token() {
        assert_eq!(tiny().encode("xyq x", 9), [1, 0, 3, 2]);
        assert_eq!(tiny().encode(&"xy".repeat(60), 9), [1, 0, 2]);
    }

    #[test]
    fn each_token_has_the_word_that_it_is_of() {
        let text = "xyz. Naïve\u{ad}\u{a0}机 x";
        let words = tiny().words(text).into_iter();
        let words: Vec<Option<&str>> = words.map(|word| word.map(|word| &text[word])).collect();
        let naive = "Naïve";
        let xyz = Some("xyz");
        let expected = [xyz, xyz, xyz, None, Some(naive), Some("机"), Some("x")];
        assert_eq!(words, expected);
        assert_eq!(tiny().count(text), expected.len());
    }

    #[test]
    fn one_letter_pieces_do_not_panic() {
        assert_eq!(tiny().count("xyzyzyzyz"), 9);
    }

    #[test]
    fn of_a_pair_the_second_is_cut_and_marked() {
        let (ids, types) = tiny().encode_pair("x x x", "x . x x", 2, 7);
        assert_eq!(ids, [1, 3, 3, 2, 3, 8, 2]);
        assert_eq!(types, [0, 0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn long_input_keeps_both_special_tokens() {
        assert_eq!(tiny().encode("x x x x", 4), [1, 3, 3, 2]);
        assert_eq!(tiny().encode("", 4), [1, 2]);
    }

    #[test]
    fn a_vocabulary_without_special_tokens_is_refused() {
        let error = Tokenizer::from_json(br#"{"model":{"vocab":{"[CLS]":1}}}"#).err();
        assert_eq!(error.unwrap(), "its vocabulary lacks [SEP]");
    }

    #[test]
    fn a_text_is_read_if_most_letters_are_in_longer_pieces() {
        let tokenizer = tiny();
        assert!(
            tokenizer.reads("naive naive xy 42 机 x"),
            "10 of 12 letters"
        );
        assert!(!tokenizer.reads("naive xyzyzy"), "single letters");
        assert!(!tokenizer.reads("naive unknown"), "an unknown word");
        assert!(!tokenizer.reads("机机机"));
        assert!(tokenizer.reads("x 42 机"), "no word of several letters");
    }
}
