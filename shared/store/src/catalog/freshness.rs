//! How fresh an index is.

use serde::{Deserialize, Serialize};

use super::IndexRow;

/// The digits of a commit that are shown, as many as git shows.
const COMMIT_DIGITS: usize = 7;

/// Returns the short form of a commit's hash.
#[must_use]
pub fn short_commit(hash: &str) -> String {
    hash.chars().take(COMMIT_DIGITS).collect()
}

/// When an index was made, and from which commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Freshness {
    /// The later of two times, RFC 3339: the last change of a page in the index, and the last comparison with all files of the book that left nothing
    /// to change.
    #[cfg_attr(feature = "openapi", schema(format = DateTime))]
    pub updated_at: String,
    /// The beginning of the hash of the commit that the book's repository was at during that comparison. `null` if it is unknown, or a page has
    /// changed since.
    pub commit: Option<String>,
}

impl IndexRow {
    /// Returns when the index was made, and from which commit; `None` before its first page.
    #[must_use]
    pub fn freshness(&self) -> Option<Freshness> {
        let updated_at = self.changed_at.max(self.compared_at)?;
        let is_compared = self.compared_at == Some(updated_at);
        let commit = self.commit_hash.as_deref().filter(|_| is_compared);
        Some(Freshness {
            updated_at: updated_at.to_string(),
            commit: commit.map(short_commit),
        })
    }
}
