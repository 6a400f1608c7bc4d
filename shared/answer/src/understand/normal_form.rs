//! The form in which equal questions are equal texts. Pure.

/// Trailing signs that do not distinguish questions.
const ENDS: [char; 7] = ['?', '!', '.', '…', '？', '！', '。'];

/// Returns the normal form of a question; see [`Question::normalised`](crate::Question::normalised).
pub(crate) fn normalised(question: &str) -> String {
    let words = question.split_whitespace().map(|word| {
        let is_option = word
            .trim_start_matches(['`', '"', '\'', '('])
            .starts_with('-');
        if is_option {
            word.to_owned()
        } else {
            word.to_lowercase().replace('’', "'")
        }
    });
    let joined = words.collect::<Vec<_>>().join(" ");
    joined
        .trim_end_matches(|c: char| ENDS.contains(&c) || c == ' ')
        .to_owned()
}
