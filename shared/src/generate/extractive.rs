//! The extractive answer: the units of the best passages that share most with the question, in the book's own words.

use std::collections::{HashMap, HashSet};

use super::sentences::{Unit, UnitKind, units_of};
use super::{Passage, Quote};
use crate::book::ListMarkers;
use crate::retrieve::{Language, ScoredChunk, Words};

/// Characters quoted of each passage, best first: a section is read on around the unit that answers best.
const PASSAGE_CHARACTERS: [usize; 3] = [800, 450, 250];
/// A passage after the first is quoted when its best unit scores at least this share of the best of all.
const MIN_SHARE: f32 = 0.6;
/// Each passage counts for less than the one before.
const PASSAGE_DISCOUNT: f32 = 0.85;
/// Words of the heading count for every unit below it, by this share.
const HEADING_WEIGHT: f32 = 0.35;
/// Code longer than this is not quoted.
const MAX_CODE_LINES: usize = 30;

/// The words of a text that matter.
fn terms(text: &str) -> Vec<String> {
    Words::of(Language::ENGLISH).terms(text)
}

/// A passage with the scores of its units.
struct Scored {
    n: usize,
    units: Vec<Unit>,
    /// The place of the best unit, and its score.
    best: usize,
    score: f32,
}

/// Writes the answer in pieces: of each passage the part around the unit that answers best, in the order of the book.
pub(super) fn answer(query: &str, passages: &[Passage<'_>]) -> Vec<Quote> {
    let query_terms: HashSet<String> = terms(query).into_iter().collect();
    let passages = &passages[..passages.len().min(PASSAGE_CHARACTERS.len())];
    let texts: Vec<(usize, Vec<Unit>)> = passages
        .iter()
        .map(|passage| (passage.n, quotable_units(passage.candidate)))
        .collect();
    let weights = weights(&query_terms, &texts);
    let mut scored: Vec<Scored> = Vec::new();
    let mut discount = 1.0;
    for ((n, units), passage) in texts.into_iter().zip(passages) {
        let heading: HashSet<String> = terms(&heading_of(passage.candidate)).into_iter().collect();
        let of_heading: f32 = heading.iter().filter_map(|term| weights.get(term)).sum();
        let mut best = (0, f32::NEG_INFINITY);
        for (place, unit) in units.iter().enumerate() {
            let words: HashSet<String> = terms(&unit.text).into_iter().collect();
            let own: f32 = words.iter().filter_map(|term| weights.get(term)).sum();
            let score = (own + HEADING_WEIGHT * of_heading) * discount;
            if score > best.1 {
                best = (place, score);
            }
        }
        discount *= PASSAGE_DISCOUNT;
        if !units.is_empty() {
            scored.push(Scored {
                n,
                units,
                best: best.0,
                score: best.1,
            });
        }
    }
    let top = scored
        .iter()
        .map(|passage| passage.score)
        .fold(0.0, f32::max);
    let mut pieces = Vec::new();
    let mut said: HashSet<String> = HashSet::new();
    for (passage, budget) in scored.iter().zip(PASSAGE_CHARACTERS) {
        if !pieces.is_empty() && passage.score < top * MIN_SHARE {
            continue;
        }
        let places = around(passage, budget);
        let fresh: Vec<&Unit> = places
            .into_iter()
            .map(|place| &passage.units[place])
            .filter(|unit| said.insert(unit.text.to_lowercase()))
            .collect();
        write(&fresh, passage.n, &mut pieces);
    }
    pieces
}

/// The units of the section.
fn quotable_units(candidate: &ScoredChunk) -> Vec<Unit> {
    units_of(&candidate.chunk.text, &candidate.chunk.marks)
}

fn heading_of(candidate: &ScoredChunk) -> String {
    let chunk = &candidate.chunk;
    format!("{} {}", chunk.title, chunk.heading_path.join(" "))
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

/// The places around a passage's best unit that fit the budget: what follows before what precedes, in order.
fn around(passage: &Scored, budget: usize) -> Vec<usize> {
    let size = |place: usize| {
        let unit = &passage.units[place];
        let long = unit.kind == UnitKind::Code && unit.text.lines().count() > MAX_CODE_LINES;
        if long {
            usize::MAX
        } else {
            unit.text.chars().count()
        }
    };
    let mut left = budget.saturating_sub(size(passage.best).min(budget));
    let (mut from, mut to) = (passage.best, passage.best + 1);
    loop {
        if to < passage.units.len() && size(to) <= left {
            left -= size(to);
            to += 1;
        } else if from > 0 && size(from - 1) <= left {
            left -= size(from - 1);
            from -= 1;
        } else {
            break;
        }
    }
    // What the cut left of its context says nothing: a label, a salutation, a sentence that leads to what is not there.
    while from < passage.best && is_fragment(&passage.units[from]) {
        from += 1;
    }
    while to > passage.best + 1
        && (is_fragment(&passage.units[to - 1]) || leads_in(&passage.units[to - 1]))
    {
        to -= 1;
    }
    (from..to).collect()
}

/// Whether a unit leads to the one after it.
fn leads_in(unit: &Unit) -> bool {
    unit.kind == UnitKind::Sentence && unit.text.ends_with([':', '：'])
}

/// Whether a unit is no whole sentence, and no item, row or code either.
fn is_fragment(unit: &Unit) -> bool {
    let ends = [
        '.', '!', '?', ':', ')', '"', '”', '’', '۔', '。', '！', '？', '：', '…',
    ];
    unit.kind == UnitKind::Sentence && !unit.text.ends_with(ends)
}

/// Writes units that follow one another, cited at the end of each paragraph, list and table.
fn write(units: &[&Unit], n: usize, pieces: &mut Vec<Quote>) {
    let mut list = ListMarkers::default();
    for (at, unit) in units.iter().enumerate() {
        let previous = at.checked_sub(1).map(|before| units[before]);
        let separator = match previous {
            None if pieces.is_empty() => "",
            None => "\n\n",
            Some(before) if before.paragraph == unit.paragraph && before.kind == unit.kind => {
                match unit.kind {
                    UnitKind::Sentence => " ",
                    _ => "\n",
                }
            }
            Some(before) if before.kind == unit.kind && unit.kind == UnitKind::ListItem => "\n",
            Some(_) => "\n\n",
        };
        let next = units.get(at + 1);
        let goes_on =
            next.is_some_and(|next| next.kind == unit.kind && next.paragraph == unit.paragraph);
        // Code and formulas belong to the sentence before them, which is cited.
        let stands_alone = matches!(unit.kind, UnitKind::Code | UnitKind::Formula);
        let cited_before = stands_alone && previous.is_some();
        let marker = match unit.kind {
            UnitKind::ListItem => list.place(&unit.marker),
            UnitKind::TableRow => "- ".to_owned(),
            _ => String::new(),
        };
        if unit.kind != UnitKind::ListItem {
            list = ListMarkers::default();
        }
        let markdown = &unit.markdown;
        let cited = !(goes_on || cited_before);
        let before_mark = match unit.kind {
            _ if !cited => "",
            UnitKind::Code | UnitKind::Formula => "\n",
            _ => " ",
        };
        pieces.push(Quote::Text(format!(
            "{separator}{marker}{markdown}{before_mark}"
        )));
        if cited {
            pieces.push(Quote::Citation(n));
        }
    }
}

#[cfg(test)]
mod tests;
