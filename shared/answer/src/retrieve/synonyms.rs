//! Applies the book's synonyms: a chunk with a synonym of a question's word counts as having that word.

use super::lexical::ChunkTerms;
use text::{DocumentFrequencies, TermNumbers, Words, split};

/// The synonyms of a question's words.
#[derive(Debug, Default)]
pub(super) struct Synonyms<'s>(Vec<Synonym<'s>>);

/// A word or phrase of a question, with the other entries of its synonym set.
#[derive(Debug)]
struct Synonym<'s> {
    asked: &'s str,
    others: Vec<&'s str>,
}

impl<'s> Synonyms<'s> {
    /// Finds the synonyms of a question in the book's sets.
    pub(super) fn new(question: &str, sets: &'s [Vec<String>], words: &Words) -> Self {
        if sets.is_empty() {
            return Self::default();
        }
        let question = words.terms(question);
        let found = sets.iter().flat_map(|set| {
            let (asked, others): (Vec<&str>, Vec<&str>) = set
                .iter()
                .map(String::as_str)
                .partition(|word| count(&question, &words.terms(word)) > 0);
            asked.into_iter().map(move |asked| Synonym {
                asked,
                others: others.clone(),
            })
        });
        Self(found.filter(|synonym| !synonym.others.is_empty()).collect())
    }

    fn others(&self) -> impl Iterator<Item = &'s str> {
        self.0
            .iter()
            .flat_map(|synonym| synonym.others.iter().copied())
    }

    /// Appends synonyms to the question for embedding and searching.
    ///
    /// A word of each of 144 questions about seven books was replaced by an unknown word, with the original as its synonym. The right page is then
    /// first in .63 and .90 of them (four books, three others); if only the question itself is embedded in .58 and .87, and without synonyms in .55
    /// and .80.
    pub(super) fn with(&self, question: &str) -> String {
        let texts: Vec<&str> = std::iter::once(question).chain(self.others()).collect();
        texts.join(" ")
    }

    /// Gives each word of the question the document frequency of its most common synonym, if that is higher.
    pub(super) fn count(&self, frequencies: &mut DocumentFrequencies, words: &Words) {
        for synonym in &self.0 {
            let counts = synonym.others.iter().filter_map(|other| {
                let counts = split(other).map(|word| frequencies.with.get(&word.to_lowercase()));
                // A chunk with all words has the rarest one, so this is an upper bound.
                counts.flatten().min().copied()
            });
            let most = counts.max().unwrap_or(0);
            let asked = words.terms(synonym.asked);
            for (word, with) in &mut frequencies.with {
                if words.term(word).is_some_and(|term| asked.contains(&term)) {
                    *with = most.max(*with);
                }
            }
        }
    }

    /// Adds the question's words to each text that has their synonyms, as many times.
    pub(super) fn add(&self, texts: &mut [ChunkTerms], numbers: &mut TermNumbers<'_>) {
        for Synonym { asked, others } in &self.0 {
            // If no text has a word, it has no number.
            let others: Vec<Vec<u32>> = others
                .iter()
                .filter_map(|other| numbers.known(other))
                .collect();
            let counts: Vec<usize> = texts
                .iter()
                .map(|text| others.iter().map(|other| count(&text.all, other)).sum())
                .collect();
            if counts.iter().all(|count| *count == 0) {
                continue;
            }
            let asked_terms = numbers.read(asked);
            for (text, count) in texts.iter_mut().zip(counts) {
                text.all.extend(asked_terms.repeat(count));
            }
        }
    }
}

/// Returns how often `looked_for` occurs in `text`; 0 if it is empty.
fn count<T: PartialEq>(text: &[T], looked_for: &[T]) -> usize {
    if looked_for.is_empty() {
        return 0;
    }
    let windows = text.windows(looked_for.len());
    windows.filter(|window| *window == looked_for).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use text::Language;

    fn sets() -> Vec<Vec<String>> {
        let sets = [
            "CI, continuous integration",
            "k8s, Kubernetes, kube",
            "the, it",
        ];
        let set = |set: &str| set.split(", ").map(str::to_owned).collect();
        sets.map(set).into()
    }

    fn terms(numbers: &mut TermNumbers<'_>, text: &str) -> ChunkTerms {
        ChunkTerms {
            all: numbers.read(text),
            filed: 0,
        }
    }

    #[test]
    fn a_question_is_searched_for_with_the_others_of_each_set() {
        let (sets, words) = (sets(), Words::new(Language::ENGLISH));
        let searched = |question: &str| Synonyms::new(question, &sets, &words).with(question);
        assert_eq!(
            searched("run it in ci?"),
            "run it in ci? continuous integration"
        );
        assert_eq!(searched("Kubernetes on k8s"), "Kubernetes on k8s kube kube");
        assert_eq!(
            searched("continuous integrations"),
            "continuous integrations CI"
        );
        for other in ["integration that is continuous", "the city", ""] {
            assert_eq!(searched(other), other);
        }
    }

    #[test]
    fn a_text_with_a_synonym_is_read_as_if_it_had_the_word() {
        let (sets, words) = (sets(), Words::new(Language::ENGLISH));
        let mut numbers = TermNumbers::new(&words);
        let mut texts = [
            "Continuous integration, and continuous integration",
            "integration",
            "a kube",
        ]
        .map(|text| terms(&mut numbers, text));
        let before = texts.clone();
        Synonyms::new("CI", &sets, &words).add(&mut texts, &mut numbers);
        let ci = numbers.known("CI").unwrap();
        assert_eq!(count(&texts[0].all, &ci), 2);
        assert_eq!(texts[1..], before[1..]);
        // A word that no text has stays unknown, so that its spelling is corrected.
        let mut none = [terms(&mut numbers, "quark")];
        Synonyms::new("Kubernetes", &sets[..2], &words).add(&mut none, &mut numbers);
        assert!(!numbers.knows("Kubernetes"));
    }

    #[test]
    fn a_word_is_as_common_as_its_commonest_synonym() {
        let (sets, words) = (sets(), Words::new(Language::ENGLISH));
        let counted = [
            ("ci", 0),
            ("continuous", 7),
            ("integration", 4),
            ("node", 2),
        ];
        let mut frequencies = DocumentFrequencies {
            chunks: 10,
            with: counted.map(|(word, with)| (word.to_owned(), with)).into(),
        };
        Synonyms::new("CI for a node", &sets, &words).count(&mut frequencies, &words);
        assert_eq!((frequencies.with["ci"], frequencies.with["node"]), (4, 2));
    }
}
