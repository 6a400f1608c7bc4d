//! Splits a text into windows of a model's input, each with the breadcrumb before it.
//!
//! Measured on four books: the breadcrumb in every window improves ranking as much as a second ranker.

use std::ops::Range;

use super::Windows;
use text::sentences;

/// The breadcrumb may use a quarter of the input.
const BREADCRUMB_DIVISOR: usize = 4;

/// Where the search for a split within a word starts. Real words have about four characters per token.
const CHARACTERS_A_TOKEN: usize = 4;

/// See [`super::Embedder::windows`]. `count` returns the tokens of a text and `max_tokens` is the limit of a window; neither includes special tokens.
///
/// If a text is split after whitespace or `。！？`, `count` of the whole must not exceed the sum of its parts, and every character must fit into three
/// quarters of `max_tokens`.
pub(super) fn windows(
    breadcrumb: &str,
    text: &str,
    max_tokens: usize,
    count: impl Fn(&str) -> usize,
) -> Windows {
    let breadcrumb = shorten(breadcrumb.trim(), max_tokens / BREADCRUMB_DIVISOR, &count);
    let head = if breadcrumb.is_empty() {
        String::new()
    } else {
        format!("{breadcrumb}\n")
    };
    let mut packer = Packer {
        text,
        budget: max_tokens.saturating_sub(count(&head)),
        count,
        window: 0..0,
        tokens: 0,
        pieces: Vec::new(),
    };
    packer.add(0..text.len(), Unit::Text);
    packer.close();
    if packer.pieces.is_empty() {
        return Windows {
            texts: vec![breadcrumb.to_owned()],
            head: breadcrumb.len(),
        };
    }
    let pieces = packer.pieces.into_iter();
    Windows {
        texts: pieces.map(|piece| format!("{head}{piece}")).collect(),
        head: head.len(),
    }
}

/// Returns an upper bound of the tokens in any byte-pair encoding: two letters or digits per token (real English has four), one per token in runs
/// too long for a word, and one token per byte for all non-ASCII text.
pub(super) fn estimate_tokens(text: &str) -> usize {
    let (mut tokens, mut run) = (0, 0);
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            run += 1;
            continue;
        }
        tokens += run_tokens(run);
        run = 0;
        tokens += match c {
            // A space is part of the token after it.
            ' ' => 0,
            // Includes the next line's indentation, which is one token.
            '\n' => 2,
            _ => c.len_utf8(),
        };
    }
    tokens + run_tokens(run)
}

/// Returns the tokens of a run of letters and digits, from its length in characters.
fn run_tokens(run: usize) -> usize {
    /// In characters. Longer runs are hashes, keys or base64, which encodings hardly compress.
    const LONGEST_WORD: usize = 20;
    if run > LONGEST_WORD {
        run
    } else {
        run.div_ceil(2)
    }
}

/// The units at which a text may be split, from coarse to fine.
#[derive(Clone, Copy)]
enum Unit {
    Text,
    Line,
    Sentence,
    Word,
}

/// Fills windows greedily with the coarsest units that fit.
struct Packer<'t, Count> {
    text: &'t str,
    /// The tokens a window may have besides the breadcrumb.
    budget: usize,
    count: Count,
    /// The open window: its byte range in `text` and its tokens.
    window: Range<usize>,
    tokens: usize,
    /// The closed windows.
    pieces: Vec<&'t str>,
}

impl<Count: Fn(&str) -> usize> Packer<'_, Count> {
    fn add(&mut self, range: Range<usize>, unit: Unit) {
        let part = &self.text[range.clone()];
        let tokens = (self.count)(part);
        if self.tokens + tokens <= self.budget {
            self.window.end = range.end;
            self.tokens += tokens;
            return;
        }
        if tokens <= self.budget {
            self.close();
            self.window = range;
            self.tokens = tokens;
            return;
        }
        let (parts, unit): (Vec<&str>, Unit) = match unit {
            Unit::Text => (part.split_inclusive('\n').collect(), Unit::Line),
            Unit::Line => (sentences(part), Unit::Sentence),
            Unit::Sentence => (
                part.split_inclusive(char::is_whitespace).collect(),
                Unit::Word,
            ),
            Unit::Word => return self.cut(range),
        };
        let mut start = range.start;
        for part in parts {
            let end = start + part.len();
            self.add(start..end, unit);
            start = end;
        }
    }

    /// Splits a word that fits no window between characters. Its last part becomes the open window.
    fn cut(&mut self, word: Range<usize>) {
        let mut start = word.start;
        while start < word.end {
            self.close();
            let rest = &self.text[start..word.end];
            let mut characters = (self.budget * CHARACTERS_A_TOKEN).max(1);
            let (part, tokens) = loop {
                let part = prefix(rest, characters);
                let tokens = (self.count)(part);
                if tokens <= self.budget || characters == 1 {
                    break (part, tokens);
                }
                characters /= 2;
            };
            self.window = start..start + part.len();
            self.tokens = tokens;
            start = self.window.end;
        }
    }

    fn close(&mut self) {
        let piece = self.text[self.window.clone()]
            .trim_end()
            .trim_start_matches(['\n', '\r']);
        if !piece.is_empty() {
            self.pieces.push(piece);
        }
        self.window = self.window.end..self.window.end;
        self.tokens = 0;
    }
}

/// Drops words at the start until the rest fits: the last headings describe the text below them best.
fn shorten<'b>(breadcrumb: &'b str, max_tokens: usize, count: &impl Fn(&str) -> usize) -> &'b str {
    if count(breadcrumb) <= max_tokens {
        return breadcrumb;
    }
    let spaces = breadcrumb.char_indices().rev();
    let word_starts = spaces
        .filter(|(_, c)| c.is_whitespace())
        .map(|(at, c)| at + c.len_utf8());
    let mut kept = breadcrumb.len();
    let mut tokens = 0;
    for start in word_starts.chain([0]) {
        tokens += count(&breadcrumb[start..kept]);
        if tokens > max_tokens {
            break;
        }
        kept = start;
    }
    if kept < breadcrumb.len() {
        return &breadcrumb[kept..];
    }
    let last = breadcrumb
        .rsplit(char::is_whitespace)
        .next()
        .unwrap_or_default();
    let mut characters = max_tokens;
    while characters > 0 && count(prefix(last, characters)) > max_tokens {
        characters /= 2;
    }
    prefix(last, characters)
}

fn prefix(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    end.map_or(text, |(at, _)| &text[..at])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Counts four letters per token, like a model with short pieces.
    fn toy_tokens(text: &str) -> usize {
        let words = text.split_whitespace();
        words.map(|word| word.chars().count().div_ceil(4)).sum()
    }

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    /// Prose, code, long words and scripts without spaces.
    const TEXT: &str = "([a-zA-Z]{1,9}[.,?!]{0,1}[ \n]{1,2}|[0-9a-f]{1,90} |(    )?[{}();_=<>|]{1,5}\n|\\PC{1,12}|[一-十。]{1,9}| |\t|\r\n){0,60}";

    proptest! {
        #[test]
        fn windows_fit_and_keep_every_word_in_order(text in TEXT, breadcrumb in "([A-Z][a-z]{1,9}( > )?){0,9}", max_tokens in 8_usize..60) {
            for count in [toy_tokens, estimate_tokens] {
                let windows = windows(&breadcrumb, &text, max_tokens, count);
                prop_assert!(!windows.texts.is_empty());
                let head = shorten(breadcrumb.trim(), max_tokens / BREADCRUMB_DIVISOR, &count);
                let mut kept = String::new();
                for window in &windows.texts {
                    prop_assert!(count(window) <= max_tokens, "{} tokens in {window:?}", count(window));
                    let (before, piece) = window.split_at(windows.head);
                    prop_assert_eq!(before.trim_end_matches('\n'), head);
                    kept.extend(words(piece));
                    for word in words(piece) {
                        // A word is split only if no window can hold it with the space after it.
                        let budget = max_tokens - count(&format!("{head}\n"));
                        let mut parts = text.split_inclusive(char::is_whitespace);
                        let all_fit = parts.all(|part| count(part) <= budget);
                        let whole = |of: &&str| *of == word || of.contains('。') && of.contains(word);
                        prop_assert!(!all_fit || words(&text).iter().any(whole), "{word}");
                    }
                }
                prop_assert_eq!(kept, words(&text).concat());
            }
        }
    }

    #[test]
    fn cuts_at_lines_then_sentences_then_words() {
        let cut = |text| windows("", text, 4, toy_tokens).texts;
        assert_eq!(cut("one two\nthree\nfour"), ["one two\nthree", "four"]);
        assert_eq!(
            cut("One two. Three 4. Five six ten."),
            ["One two.", "Three 4.", "Five six ten."]
        );
        assert_eq!(cut("a b c d e f"), ["a b c d", "e f"]);
        assert_eq!(
            cut("aaaabbbbccccddddeeee f"),
            ["aaaabbbbccccdddd", "eeee f"]
        );
    }

    #[test]
    fn every_window_starts_with_the_breadcrumb() {
        let text = "a b c d e f g h i j k l\nm n";
        assert_eq!(
            windows("ROS > Nodes", text, 16, toy_tokens).texts,
            ["ROS > Nodes\na b c d e f g h i j k l", "ROS > Nodes\nm n"]
        );
    }

    #[test]
    fn a_breadcrumb_over_a_quarter_loses_its_start() {
        assert_eq!(
            windows("ROS > Nodes", "a b c d e f g", 8, toy_tokens).texts,
            ["Nodes\na b c d e f", "Nodes\ng"]
        );
    }

    #[test]
    fn an_empty_text_gives_the_breadcrumb() {
        assert_eq!(windows("ROS", " \n ", 8, toy_tokens).texts, ["ROS"]);
        assert_eq!(windows("", "", 8, toy_tokens).texts, [""]);
    }

    #[test]
    fn a_breadcrumb_of_one_long_word_is_cut() {
        let windows = windows(&"x".repeat(99), "text", 16, toy_tokens);
        assert_eq!(windows.texts, ["xxxx\ntext"]);
    }

    #[test]
    fn estimates_are_not_below_cl100k() {
        let encoding = tiktoken_rs::cl100k_base_singleton();
        let texts = [
            "The zero-moment point has to stay inside the support polygon.",
            "    for section in document.sections:\n        if section.tokens > 7:\n            yield\n",
            "| LiDAR | 10 Hz | $4,500 |\n|---|---|---|\n",
            "روبوٹ ایک ایسی مشین ہے جو خود بخود کام کر سکتی ہے۔",
            "人形机器人的平衡控制 👩\u{200d}💻 Straße",
            "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
            "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9xqzKJQvvbwZPd",
        ];
        for text in texts {
            let tokens = encoding.encode_ordinary(text).len();
            assert!(estimate_tokens(text) >= tokens, "{tokens} tokens in {text}");
        }
    }
}
