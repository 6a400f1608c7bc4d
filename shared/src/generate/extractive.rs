//! The extractive answer: the units of the best passages that share most with the question, in the book's own words.

use std::collections::{HashMap, HashSet};

use super::Passage;
use super::sentences::{Unit, UnitKind, units_of};
use crate::retrieve::Candidate;

/// The longest answer, in characters (S0).
const MAX_CHARACTERS: usize = 2_000;
/// Passages an answer draws on.
const MAX_PASSAGES: usize = 3;
/// Units quoted of one passage, and of all; what they introduce comes on top.
const MAX_UNITS_A_PASSAGE: usize = 3;
const MAX_UNITS: usize = 5;
/// A unit is quoted when it scores at least this share of the best one.
const MIN_SHARE: f32 = 0.55;
/// Each passage counts for less than the one before.
const PASSAGE_DISCOUNT: f32 = 0.8;
/// Words of the heading count for every unit below it, by this share.
const HEADING_WEIGHT: f32 = 0.35;
/// Items of a list, and lines of code, that follow a sentence which introduces them.
const MAX_INTRODUCED_ITEMS: usize = 8;
const MAX_CODE_LINES: usize = 30;

/// Words that say nothing about a question's subject.
const STOP_WORDS: [&str; 83] = [
    "a", "about", "an", "and", "any", "are", "as", "at", "be", "book", "by", "can", "could", "did",
    "do", "does", "each", "explain", "for", "from", "get", "give", "had", "has", "have", "how",
    "i", "if", "in", "into", "is", "it", "its", "kind", "like", "make", "many", "may", "me",
    "mean", "much", "must", "my", "need", "of", "on", "one", "or", "our", "please", "say", "says",
    "shall", "should", "so", "some", "tell", "than", "that", "the", "their", "them", "then",
    "there", "these", "they", "this", "to", "up", "us", "use", "used", "was", "we", "were", "what",
    "when", "where", "which", "who", "why", "will", "with",
];

/// The words of a text that matter, stems of them, in order.
fn terms(text: &str) -> Vec<String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !STOP_WORDS.contains(&word.as_str()) && word != "you" && word != "your")
        .map(|word| stem(&word))
        .collect()
}

/// A word without its commonest English endings, so that `calibrating` meets `calibrate`.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 5 {
        return word
            .strip_suffix('s')
            .filter(|stem| stem.len() > 2 && !stem.ends_with('s'))
            .unwrap_or(word)
            .to_owned();
    }
    let endings = [
        "ations", "ation", "ating", "ingly", "ings", "ing", "edly", "ates", "ated", "ate", "ies",
        "ied", "es", "ed", "ly", "s", "e", "y",
    ];
    let stem = endings
        .iter()
        .find_map(|ending| word.strip_suffix(ending).filter(|stem| stem.len() >= 3));
    let stem = stem.unwrap_or(word);
    // `stopped` gives `stopp`.
    let mut chars = stem.chars().rev();
    match (chars.next(), chars.next()) {
        (Some(last), Some(before)) if last == before && !matches!(last, 'l' | 's') => {
            stem[..stem.len() - 1].to_owned()
        }
        _ => stem.to_owned(),
    }
}

struct Scored<'a> {
    n: usize,
    place: usize,
    units: &'a [Unit],
    score: f32,
}

/// Writes the answer in pieces.
pub(super) fn answer(query: &str, passages: &[Passage<'_>]) -> Vec<String> {
    let query_terms: HashSet<String> = terms(query).into_iter().collect();
    let passages = &passages[..passages.len().min(MAX_PASSAGES)];
    let texts: Vec<(usize, Vec<Unit>)> = passages
        .iter()
        .map(|passage| (passage.n, quotable_units(passage.candidate)))
        .collect();
    let weights = weights(&query_terms, &texts);
    let mut scored = Vec::new();
    let mut discount = 1.0;
    for ((n, units), passage) in texts.iter().zip(passages) {
        let heading: HashSet<String> = terms(&heading_of(passage.candidate)).into_iter().collect();
        let of_heading: f32 = heading.iter().filter_map(|term| weights.get(term)).sum();
        for (place, unit) in units.iter().enumerate() {
            let words: HashSet<String> = terms(&unit.text).into_iter().collect();
            let own: f32 = words.iter().filter_map(|term| weights.get(term)).sum();
            // A first sentence says what its section is about; code answers only where prose does not.
            let first = if place == 0 { 0.1 } else { 0.0 };
            let kind = if unit.kind == UnitKind::Code {
                0.5
            } else {
                1.0
            };
            let score = (own + HEADING_WEIGHT * of_heading + first) * kind * discount;
            scored.push(Scored {
                n: *n,
                place,
                units,
                score,
            });
        }
        discount *= PASSAGE_DISCOUNT;
    }
    write(select(scored))
}

/// The units of the leaf that matches best.
fn quotable_units(candidate: &Candidate) -> Vec<Unit> {
    candidate
        .leaf()
        .map(|leaf| units_of(&leaf.text))
        .unwrap_or_default()
}

fn heading_of(candidate: &Candidate) -> String {
    let path = candidate.leaf().map(|leaf| leaf.heading_path.join(" "));
    format!("{} {}", candidate.payload.title, path.unwrap_or_default())
}

/// How much each word of the question says: rare among the units, much.
fn weights(query_terms: &HashSet<String>, texts: &[(usize, Vec<Unit>)]) -> HashMap<String, f32> {
    let mut total = 0.0_f32;
    let mut frequency: HashMap<&str, f32> = HashMap::new();
    for unit in texts.iter().flat_map(|(_, units)| units) {
        total += 1.0;
        let words: HashSet<String> = terms(&unit.text).into_iter().collect();
        for term in query_terms.iter().filter(|term| words.contains(*term)) {
            *frequency.entry(term).or_default() += 1.0;
        }
    }
    query_terms
        .iter()
        .map(|term| {
            let found = frequency.get(term.as_str()).copied().unwrap_or(0.0);
            (
                term.clone(),
                (1.0 + (total - found + 0.5) / (found + 0.5)).ln(),
            )
        })
        .collect()
}

/// The best units, in the order they are read: by passage, then by place.
fn select(mut scored: Vec<Scored<'_>>) -> Vec<Scored<'_>> {
    scored.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then(a.n.cmp(&b.n))
            .then(a.place.cmp(&b.place))
    });
    let best = scored.first().map_or(0.0, |unit| unit.score);
    let mut per_passage: HashMap<usize, usize> = HashMap::new();
    let mut said: HashSet<String> = HashSet::new();
    let mut selected: Vec<Scored<'_>> = scored
        .into_iter()
        .filter(|unit| unit.score >= best * MIN_SHARE)
        .filter(|unit| said.insert(unit.units[unit.place].text.to_lowercase()))
        .filter(|unit| {
            let count = per_passage.entry(unit.n).or_default();
            *count += 1;
            *count <= MAX_UNITS_A_PASSAGE
        })
        .take(MAX_UNITS)
        .collect();
    selected.sort_by_key(|unit| (unit.n, unit.place));
    selected
}

/// Writes the selected units, each cited; what a sentence introduces with a colon follows it.
fn write(selected: Vec<Scored<'_>>) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut written = 0;
    let mut done: HashSet<(usize, usize)> = HashSet::new();
    let mut previous: Option<(usize, usize, UnitKind)> = None;
    for scored in selected {
        let mut places = vec![scored.place];
        places.extend(introduced(scored.units, scored.place));
        for place in places {
            if !done.insert((scored.n, place)) {
                continue;
            }
            let unit = &scored.units[place];
            let separator = match previous {
                None => "",
                Some((n, paragraph, UnitKind::Sentence))
                    if n == scored.n
                        && paragraph == unit.paragraph
                        && unit.kind == UnitKind::Sentence =>
                {
                    " "
                }
                Some((n, _, kind))
                    if n == scored.n
                        && kind == unit.kind
                        && kind != UnitKind::Sentence
                        && kind != UnitKind::Code =>
                {
                    "\n"
                }
                Some(_) => "\n\n",
            };
            let piece = match unit.kind {
                UnitKind::Code => format!("{separator}{}\n[{}]", unit.text, scored.n),
                UnitKind::TableRow => format!("{separator}- {} [{}]", unit.text, scored.n),
                _ => format!("{separator}{} [{}]", unit.text, scored.n),
            };
            let length = piece.chars().count();
            if written + length > MAX_CHARACTERS {
                if pieces.is_empty() {
                    let cut: String = unit.text.chars().take(MAX_CHARACTERS - 16).collect();
                    pieces.push(format!("{cut}… [{}]", scored.n));
                }
                return pieces;
            }
            written += length;
            previous = Some((scored.n, unit.paragraph, unit.kind));
            pieces.push(piece);
        }
    }
    pieces
}

/// The places of the list or code that a unit introduces with a colon.
fn introduced(units: &[Unit], place: usize) -> Vec<usize> {
    if !units[place].text.trim_end().ends_with(':') {
        return Vec::new();
    }
    let Some(next) = units.get(place + 1) else {
        return Vec::new();
    };
    match next.kind {
        UnitKind::Code if next.text.lines().count() <= MAX_CODE_LINES => vec![place + 1],
        UnitKind::Code | UnitKind::Sentence => Vec::new(),
        kind => (place + 1..units.len())
            .take_while(|at| units[*at].kind == kind)
            .take(MAX_INTRODUCED_ITEMS)
            .collect(),
    }
}

/// The share of the question's words that the candidates' texts and headings hold, 0 to 1; 1 for a question of stop words.
#[must_use]
pub fn coverage(query: &str, candidates: &[Candidate]) -> f32 {
    let wanted: HashSet<String> = terms(query).into_iter().collect();
    if wanted.is_empty() {
        return 1.0;
    }
    let mut best = 0.0_f32;
    for candidate in candidates {
        let mut held: HashSet<String> = terms(&candidate.payload.text).into_iter().collect();
        held.extend(terms(&heading_of(candidate)));
        let found = wanted.iter().filter(|term| held.contains(*term)).count();
        #[expect(clippy::cast_precision_loss, reason = "a question has few words")]
        let share = found as f32 / wanted.len() as f32;
        best = best.max(share);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_meet_across_endings() {
        for group in [
            ["calibrate", "calibrating", "calibration"],
            ["node", "nodes", "node"],
            ["stop", "stopped", "stopping"],
        ] {
            let stems: HashSet<_> = group.iter().map(|word| stem(word)).collect();
            assert_eq!(stems.len(), 1, "{group:?} {stems:?}");
        }
    }
}
