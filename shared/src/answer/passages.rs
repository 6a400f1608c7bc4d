//! Which passages an answer may draw on.

use std::collections::HashSet;

use crate::generate::Passage;
use crate::retrieve::Candidate;

/// Bytes of all passages that a model is given: about 6,000 tokens of English.
const MAX_BYTES: usize = 24_000;

/// The best sections, numbered in their order: what is quoted from.
pub(super) fn best(candidates: &[Candidate], top_k: usize) -> Vec<Passage<'_>> {
    let best = candidates.iter().take(top_k).zip(1..);
    best.map(|(candidate, n)| Passage { n, candidate })
        .collect()
}

/// The chunks that the best sections stand in, whole, best first: what a model reads. Each section of a chunk is a passage of
/// its own, in the book's order, so that a citation names the heading it is from.
pub(super) fn whole_chunks(candidates: &[Candidate], top_k: usize) -> Vec<Passage<'_>> {
    let mut seen = HashSet::new();
    let mut passages = Vec::new();
    let mut bytes = 0;
    for found in candidates.iter().take(top_k) {
        if !seen.insert(found.point_id) {
            continue;
        }
        let mut sections: Vec<&Candidate> = candidates
            .iter()
            .filter(|other| other.point_id == found.point_id)
            .filter(|section| !section.is_bare_heading())
            .collect();
        sections.sort_by_key(|section| section.leaf);
        for candidate in sections {
            let more = candidate.text().len();
            // The best section is always there.
            if passages.is_empty() || bytes + more <= MAX_BYTES {
                bytes += more;
                passages.push(Passage {
                    n: passages.len() + 1,
                    candidate,
                });
            }
        }
    }
    passages
}
