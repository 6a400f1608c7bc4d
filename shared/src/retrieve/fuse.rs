//! Reciprocal rank fusion.

use std::collections::HashMap;

use uuid::Uuid;

/// The constant that damps the first ranks. Source: Cormack et al., SIGIR 2009.
pub const RRF_K: f32 = 60.0;

/// An id with its fused score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fused {
    /// The id.
    pub id: Uuid,
    /// 0 to 1; 1 is first in every list.
    pub score: f32,
}

/// Fuses ranked lists by reciprocal rank fusion: score(d) = Σ 1 / (k + rank(d)), ranks from 1, scaled so that an id
/// which is first in every list has 1.
///
/// Lists are best first; an id may occur in several lists but once in each. Returns at most `top_k`, best first; ties
/// go to the smaller id, so results repeat. Source: Cormack et al., SIGIR 2009 (k = 60).
#[must_use]
pub fn fuse(lists: &[Vec<Uuid>], top_k: usize) -> Vec<Fused> {
    let mut scores: HashMap<Uuid, f32> = HashMap::new();
    for list in lists {
        let mut rank = 0.0;
        for id in list {
            rank += 1.0;
            *scores.entry(*id).or_default() += 1.0 / (RRF_K + rank);
        }
    }
    let mut lists_with_first = 0.0;
    for _ in lists {
        lists_with_first += 1.0 / (RRF_K + 1.0);
    }
    let mut fused: Vec<Fused> = scores
        .into_iter()
        .map(|(id, score)| Fused {
            id,
            score: score / lists_with_first,
        })
        .collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
    fused.truncate(top_k);
    fused
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    #[test]
    fn first_in_every_list_scores_one_and_ties_go_to_the_smaller_id() {
        let fused = fuse(&[vec![id(1), id(3)], vec![id(1), id(2)]], 10);
        let ids: Vec<_> = fused.iter().map(|fused| fused.id).collect();
        assert_eq!(ids, [id(1), id(2), id(3)]);
        assert!((fused[0].score - 1.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn every_id_is_there_once_best_first(a in proptest::collection::hash_set(0u128..40, 0..20), b in proptest::collection::hash_set(0u128..40, 0..20)) {
            let lists = [a.iter().copied().map(id).collect::<Vec<_>>(), b.iter().copied().map(id).collect()];
            let fused = fuse(&lists, 100);
            prop_assert_eq!(fused.len(), a.union(&b).count());
            prop_assert!(fused.windows(2).all(|pair| pair[0].score >= pair[1].score));
            prop_assert!(fused.iter().all(|fused| fused.score > 0.0 && fused.score <= 1.000_001));
        }
    }
}
