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

/// A chunk whose payload was stored as this text; `None` if this program cannot read it, as another release's or a damaged
/// one: that ends no search.
pub(super) fn found_chunk(point_id: Uuid, payload: &str) -> Option<FoundChunk> {
    match serde_json::from_str(payload) {
        Ok(payload) => Some(FoundChunk { point_id, payload }),
        Err(error) => {
            tracing::warn!(stage = "catalog", %error, point.id = %point_id, "a chunk is left out");
            None
        }
    }
}

/// Normalises the words to look for, each given by the beginnings of its forms: lower case, split at other characters than
/// letters and digits, equal words once.
pub(super) fn beginnings(looked_for: &[Vec<String>]) -> Vec<Vec<String>> {
    let beginnings = |forms: &Vec<String>| -> BTreeSet<String> {
        let forms = forms.iter().map(|form| form.to_lowercase());
        forms
            .flat_map(|form| words(&form).map(str::to_owned).collect::<Vec<_>>())
            .collect()
    };
    let looked_for: BTreeSet<BTreeSet<String>> = looked_for.iter().map(beginnings).collect();
    let looked_for = looked_for.into_iter().filter(|forms| !forms.is_empty());
    looked_for
        .map(|forms| forms.into_iter().collect())
        .collect()
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
        let found = beginnings(&terms.map(|term| vec![term.to_owned()]));
        let expected: [&[&str]; 4] = [&["create", "node"], &["it", "s"], &["node"], &["节点"]];
        assert_eq!(found, expected);
    }

    #[test]
    fn the_forms_of_a_word_are_one_word() {
        let forms = ["Battery", "batteri", "battery"].map(str::to_owned);
        assert_eq!(beginnings(&[forms.to_vec()]), [["batteri", "battery"]]);
    }
}
