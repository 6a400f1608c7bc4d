//! Groups questions that ask for the same.

use std::collections::BTreeMap;

use super::Retrieved;

/// The number of nearest sections that are compared.
const SECTIONS: usize = 10;
/// The exponent of a section's score: the first sections say more than the later ones.
const STEEPNESS: i32 = 4;

/// The least similarity of two questions in a group, chosen on 638 questions about six sites, 250 of them of real users. Leaving out any one
/// site hardly changes the result, and neither does another embedder (`tests/benches/groups.rs`).
pub const SAME_NEED: f32 = 0.65;

/// What a question asks for: its vector, and the sections that are nearest to it.
#[derive(Debug, Clone, Default)]
pub struct Meaning {
    vector: Vec<f32>,
    /// The weights of the sections, by page and anchor; the sum of their squares is 1.
    sections: BTreeMap<(String, Option<String>), f32>,
}

impl Meaning {
    /// Takes the meaning of a question from its search.
    #[must_use]
    pub fn new(retrieved: &Retrieved) -> Self {
        let mut sections: BTreeMap<_, f32> = BTreeMap::new();
        for found in retrieved.candidates.iter().take(SECTIONS) {
            let section = (found.chunk.source.clone(), found.chunk.section_id.clone());
            let weight = found.scores.score.max(0.0).powi(STEEPNESS);
            let best = sections.entry(section).or_default();
            *best = best.max(weight);
        }
        let squares: f32 = sections.values().map(|weight| weight * weight).sum();
        let length = squares.sqrt().max(f32::MIN_POSITIVE);
        for weight in sections.values_mut() {
            *weight /= length;
        }
        Self {
            vector: retrieved.query_vector.clone(),
            sections,
        }
    }

    /// Returns how much two questions ask for the same: the share of their sections that they have in common, 0 to 1, and the cosine of the questions
    /// on a scale where 0 is `unrelated`, the cosine of questions that have nothing in common, and 1 that of equal ones.
    #[must_use]
    pub fn similarity(&self, other: &Self, unrelated: f32) -> f32 {
        let common = self.sections.iter().filter_map(|(section, weight)| {
            let others = other.sections.get(section)?;
            Some(weight * others)
        });
        let vectors = self.vector.iter().zip(&other.vector);
        let cosine: f32 = vectors.map(|(a, b)| a * b).sum();
        let scaled = (cosine - unrelated) / (1.0 - unrelated).max(f32::EPSILON);
        common.sum::<f32>() + scaled
    }
}

/// Groups questions that ask for the same: any two of a group have a similarity of at least `least`. The most similar groups are joined first (complete
/// linkage). Returns the places of each group's questions, the one that is most similar to the others first.
#[must_use]
pub fn groups_of(questions: &[Meaning], unrelated: f32, least: f32) -> Vec<Vec<usize>> {
    let similarities: Vec<Vec<f32>> = questions
        .iter()
        .map(|one| {
            questions
                .iter()
                .map(|other| one.similarity(other, unrelated))
                .collect()
        })
        .collect();
    let mut groups: Vec<Vec<usize>> = (0..questions.len()).map(|place| vec![place]).collect();
    while let Some((into, from)) = most_similar(&groups, &similarities, least) {
        let joined = groups.remove(from);
        groups[into].extend(joined);
    }
    for group in &mut groups {
        let members = group.clone();
        group.sort_by(|&one, &other| {
            centrality(&similarities[other], &members)
                .total_cmp(&centrality(&similarities[one], &members))
        });
    }
    groups
}

/// Returns the two groups whose least similar questions are most similar; `None` if all groups are too far apart.
fn most_similar(
    groups: &[Vec<usize>],
    similarities: &[Vec<f32>],
    least: f32,
) -> Option<(usize, usize)> {
    let mut best = None;
    let mut highest = least;
    for (from, others) in groups.iter().enumerate() {
        for (into, group) in groups[..from].iter().enumerate() {
            let pairs = group
                .iter()
                .flat_map(|&one| others.iter().map(move |&other| similarities[one][other]));
            let similarity = pairs.fold(f32::INFINITY, f32::min);
            if similarity > highest || (best.is_none() && similarity >= least) {
                highest = similarity;
                best = Some((into, from));
            }
        }
    }
    best
}

fn centrality(similarities: &[f32], members: &[usize]) -> f32 {
    members.iter().map(|&member| similarities[member]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A question with a vector at an angle in degrees and the weights of its sections.
    fn meaning(degrees: f32, sections: &[(&str, f32)]) -> Meaning {
        let (y, x) = degrees.to_radians().sin_cos();
        let sections = sections.iter();
        Meaning {
            vector: vec![x, y],
            sections: sections
                .map(|(source, weight)| (((*source).to_owned(), None), *weight))
                .collect(),
        }
    }

    #[test]
    fn questions_in_other_words_about_one_section_are_a_group() {
        let questions = [
            meaning(0.0, &[("mower.md", 0.8), ("blades.md", 0.6)]),
            meaning(-60.0, &[("probe.md", 1.0)]),
            meaning(65.0, &[("mower.md", 0.8), ("wheels.md", 0.6)]),
            meaning(30.0, &[("mower.md", 1.0)]),
        ];
        assert_eq!(
            groups_of(&questions, 0.4, SAME_NEED),
            [vec![3, 0, 2], vec![1]]
        );
        assert_eq!(groups_of(&questions, 0.4, 2.0).len(), questions.len());
        assert!(groups_of(&[], 0.4, SAME_NEED).is_empty());
    }

    #[test]
    fn all_questions_of_a_group_are_similar_to_each_other() {
        let chain: Vec<Meaning> = (0..8_u8)
            .map(|step| meaning(30.0 * f32::from(step), &[]))
            .collect();
        let groups = groups_of(&chain, 0.0, SAME_NEED);
        let mut places: Vec<usize> = groups.concat();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..chain.len()), "{groups:?}");
        for group in &groups {
            for (one, other) in group
                .iter()
                .flat_map(|one| group.iter().map(move |it| (one, it)))
            {
                let similarity = chain[*one].similarity(&chain[*other], 0.0);
                assert!(similarity >= SAME_NEED, "{groups:?}");
            }
        }
    }

    #[test]
    fn equal_questions_are_most_similar_and_unrelated_ones_not() {
        let one = meaning(10.0, &[("mower.md", 1.0)]);
        assert!((one.similarity(&one, 0.6) - 2.0).abs() < 1e-4);
        let other = meaning(100.0, &[("probe.md", 1.0)]);
        assert!(one.similarity(&other, 0.0).abs() < 1e-4);
        let unread = Meaning::default();
        assert!(unread.similarity(&unread, 0.6) < SAME_NEED);
    }
}
