//! The search by words, for when the vector store is away.

use std::collections::BTreeSet;

use uuid::Uuid;

use crate::index::ChunkPayload;

/// A chunk that has some of the words.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundChunk {
    /// Its point.
    pub point_id: Uuid,
    /// What the point holds.
    pub payload: ChunkPayload,
}

/// The beginnings of words to look for: the terms in lower case, those with other characters than letters and digits in their
/// parts, each once.
pub(super) fn beginnings(terms: &[String]) -> Vec<String> {
    let terms: Vec<String> = terms.iter().map(|term| term.to_lowercase()).collect();
    let words: BTreeSet<&str> = terms.iter().flat_map(|term| words(term)).collect();
    words.into_iter().map(str::to_owned).collect()
}

/// The words of a text: letters and digits.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_but_letters_and_digits_is_looked_for() {
        let terms = [
            "Node",
            "node",
            "create_node",
            "':* | \\'&!()",
            "",
            "🤖",
            "it's",
            "节点",
        ];
        let found = beginnings(&terms.map(str::to_owned));
        assert_eq!(found, ["create", "it", "node", "s", "节点"]);
    }
}
