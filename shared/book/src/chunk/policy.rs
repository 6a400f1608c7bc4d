//! Chunk sizes.

use std::str::FromStr;

/// The rules for splitting a document. All sizes are cl100k tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkPolicy {
    /// The name by which users choose the policy.
    pub name: &'static str,
    /// Sections longer than this are split.
    pub split_above_tokens: usize,
    /// The target size of the parts of a split section.
    pub target_tokens: usize,
    /// The largest overlap of neighbouring parts, in whole blocks.
    pub overlap_tokens: usize,
    /// Sections shorter than this are embedded with module and chapter.
    pub enrich_below_tokens: usize,
    /// Chunks longer than this are flagged.
    pub flag_above_tokens: usize,
}

/// Code blocks and tables longer than this are split between lines.
pub(super) const MAX_BLOCK_TOKENS: usize = 2_000;

impl ChunkPolicy {
    /// The default: sections up to 700 tokens stay whole; longer ones are split into parts of about 450.
    pub const ADAPTIVE: Self = Self {
        flag_above_tokens: 800,
        ..Self::new("adaptive", 700, 450, 100, 200)
    };
    /// At most 512 tokens with an overlap of 50.
    pub const PARAGRAPH_512: Self = Self::new("paragraph-512", 512, 512, 50, 100);
    /// Windows of 400 to 600 tokens.
    pub const WINDOW_500: Self = Self::new("window-500", 600, 500, 50, 200);
    /// 200 to 400 words, at about 4 tokens per 3 words.
    pub const WORDS_300: Self = Self::new("words-300", 533, 400, 0, 200);
    /// Sections of 500 to 1,000 tokens with an overlap of a tenth.
    pub const HEADING_1000: Self = Self::new("heading-1000", 1_000, 750, 75, 200);

    /// All policies, the default first.
    pub const ALL: [Self; 5] = [
        Self::ADAPTIVE,
        Self::PARAGRAPH_512,
        Self::WINDOW_500,
        Self::WORDS_300,
        Self::HEADING_1000,
    ];

    const fn new(
        name: &'static str,
        split_above_tokens: usize,
        target_tokens: usize,
        overlap_tokens: usize,
        enrich_below_tokens: usize,
    ) -> Self {
        Self {
            name,
            split_above_tokens,
            target_tokens,
            overlap_tokens,
            enrich_below_tokens,
            flag_above_tokens: split_above_tokens,
        }
    }
}

/// The fraction of an embedder's input for a chunk's text; the rest is for its breadcrumb.
const TEXT_SHARE: (usize, usize) = (3, 4);

impl ChunkPolicy {
    /// Returns the policy for an embedder whose input is limited to `max_tokens`. Chunks then fit the input, and the overlap keeps
    /// its proportion.
    #[must_use]
    pub fn for_input(self, max_tokens: usize) -> Self {
        let (part, whole) = TEXT_SHARE;
        let fits = max_tokens * part / whole;
        if self.split_above_tokens <= fits {
            return self;
        }
        Self {
            split_above_tokens: fits,
            target_tokens: self.target_tokens.min(fits),
            overlap_tokens: self.overlap_tokens * fits / self.split_above_tokens,
            ..self
        }
    }

    /// Returns the policy's identity: its name and each number that affects chunks or embedded text, such as `adaptive split=700
    /// target=450 overlap=100 enrich=200 cut=2000`. It is part of an index's identity, so other numbers mean another index. The flag
    /// for long chunks is omitted, because it does not change chunks.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self {
            name,
            split_above_tokens,
            target_tokens,
            overlap_tokens,
            enrich_below_tokens,
            flag_above_tokens: _,
        } = self;
        format!(
            "{name} split={split_above_tokens} target={target_tokens} overlap={overlap_tokens} \
             enrich={enrich_below_tokens} cut={MAX_BLOCK_TOKENS}"
        )
    }
}

impl FromStr for ChunkPolicy {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|policy| policy.name == name)
            .ok_or_else(|| {
                let names: Vec<_> = Self::ALL.iter().map(|policy| policy.name).collect();
                format!(
                    "`{name}` is not a chunk policy; the policies are {}",
                    names.join(", ")
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_identity_of_a_policy_is_its_name_and_the_numbers_that_decide_chunks() {
        assert_eq!(
            ChunkPolicy::ADAPTIVE.identity(),
            "adaptive split=700 target=450 overlap=100 enrich=200 cut=2000"
        );
        let numbers: [fn(&mut ChunkPolicy); 4] = [
            |policy| policy.split_above_tokens += 1,
            |policy| policy.target_tokens += 1,
            |policy| policy.overlap_tokens += 1,
            |policy| policy.enrich_below_tokens += 1,
        ];
        for change in numbers {
            let mut changed = ChunkPolicy::ADAPTIVE;
            change(&mut changed);
            assert_ne!(changed.identity(), ChunkPolicy::ADAPTIVE.identity());
        }
        let flagged = ChunkPolicy {
            flag_above_tokens: 1,
            ..ChunkPolicy::ADAPTIVE
        };
        assert_eq!(flagged.identity(), ChunkPolicy::ADAPTIVE.identity());
    }
}
