//! Splits texts into sentences.

use unicode_segmentation::UnicodeSegmentation;

/// Marks that end a sentence.
pub const SENTENCE_ENDS: [char; 8] = ['.', '!', '?', '…', '۔', '。', '！', '？'];

/// Marks that end a clause in scripts that put no spaces between words.
pub const CLAUSE_ENDS: [char; 5] = ['，', '、', '；', '：', '၊'];

/// Splits a text after its sentences, which keep the white space behind them.
///
/// The boundaries are those of Unicode Standard Annex 29. One inside a word, as in `index.[md]`, is ignored: a sentence ends only after white space or
/// `。！？`.
#[must_use]
pub fn sentences(text: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    for (at, part) in text.split_sentence_bound_indices() {
        let end = at + part.len();
        if end == text.len() || part.ends_with(can_end_sentence) {
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences
}

fn can_end_sentence(c: char) -> bool {
    c.is_whitespace() || matches!(c, '。' | '！' | '？')
}

/// True if a text introduces what follows it: it ends with a colon, apart from white space.
#[must_use]
pub fn introduces(text: &str) -> bool {
    text.trim_end().ends_with([':', '：'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_in_any_script_but_not_inside_of_words() {
        for (text, expected) in [
            ("", &[][..]),
            ("One two. Three?  Four", &["One two. ", "Three?  ", "Four"]),
            (
                "It takes 3.5 s, see node.js. it goes on",
                &["It takes 3.5 s, see node.js. it goes on"],
            ),
            (
                "Use index.[Md]!x here. Then",
                &["Use index.[Md]!x here. ", "Then"],
            ),
            ("line one\nline two", &["line one\n", "line two"]),
            ("节点。话题！", &["节点。", "话题！"]),
            ("روبوٹ ہے۔ کیا؟ ہاں", &["روبوٹ ہے۔ ", "کیا؟ ", "ہاں"]),
            ("यह है। फिर", &["यह है। ", "फिर"]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }
}
