use std::sync::Arc;

use super::*;
use crate::cite::citation;
use crate::context::passages::tests::chunk;

/// Returns a section of a page with these questions.
fn section(page: &str, position: i32, questions: &[&str]) -> ScoredChunk {
    let anchor = format!("s{position}");
    let mut section = chunk(position, &["Page", &anchor], (0, 1), "Text.");
    let payload = Arc::make_mut(&mut section.chunk);
    payload.document_id = Uuid::new_v5(&Uuid::NAMESPACE_URL, page.as_bytes());
    payload.url = format!("/{page}");
    payload.section_id = Some(anchor);
    payload.questions = questions.iter().map(|&it| it.to_owned()).collect();
    section
}

fn joined(section: ScoredChunk) -> JoinedChunk {
    JoinedChunk {
        point_id: section.point_id,
        position: section.position.unwrap(),
        payload: Arc::unwrap_or_clone(section.chunk),
        committed_at: jiff::Timestamp::UNIX_EPOCH,
    }
}

fn questions(proposals: Vec<Proposal>) -> Vec<String> {
    let proposals = proposals.into_iter();
    proposals.map(|proposal| proposal.question).collect()
}

#[test]
fn a_page_proposes_a_short_question_of_each_section_before_second_and_long_ones() {
    let long = "l".repeat(SHORT_CHARACTERS + 1);
    let page = [
        joined(section("a", 1, &[&long, "Two?"])),
        joined(section("a", 2, &["Three?", "Four?"])),
    ];
    let proposed = questions(on_page(&page, None));
    assert_eq!(proposed, ["Three?", "Two?", "Four?", &long]);
    let [_, second, ..] = &on_page(&page, None)[..] else {
        panic!("four questions");
    };
    assert_eq!((&*second.url, &*second.section), ("/a#s1", "s1"));
}

#[test]
fn the_first_pages_propose_one_question_each_before_their_second_ones() {
    let long = "l".repeat(SHORT_CHARACTERS + 1);
    let pages = [
        vec![joined(section("a", 1, &["A?", "Same?"]))],
        vec![
            joined(section("b", 1, &["B?"])),
            joined(section("b", 2, &["same"])),
        ],
        vec![joined(section("c", 1, &[&long, "C?"]))],
        Vec::new(),
    ];
    let proposed = across_pages(&pages, None);
    let expected = ["A?", "B?", "C?", "Same?", &long];
    assert_eq!(questions(distinct(proposed.clone(), 9)), expected);
    assert_eq!(questions(distinct(proposed, 2)), expected[..2]);
}

#[test]
fn follow_ups_are_of_the_sections_nearest_to_the_best_citation_then_of_the_suggestions() {
    let sections = [
        section("a", 1, &["One?"]),
        section("a", 2, &["Two?"]),
        section("a", 3, &["Three?", "Four?"]),
        section("a", 4, &["Four?", "Five?"]),
        section("b", 1, &["Six?"]),
        section("b", 2, &["Seven?"]),
    ];
    let next = |cited: &[usize], suggested: &[usize], asked: &[&str]| {
        let citations = cited.iter().zip(1..);
        let citations: Vec<Citation> = citations
            .map(|(&at, n)| citation(n, &sections[at], None))
            .collect();
        let suggestions = suggested.iter().map(|&at| Suggestion {
            title: String::new(),
            url: sections[at].url(None),
            text: None,
        });
        let seen = Seen {
            asked: asked.to_vec(),
            citations: &citations,
            suggestions: &suggestions.collect::<Vec<_>>(),
            locale: None,
        };
        follow_ups(&seen, &sections.iter().collect::<Vec<_>>())
    };
    // The next section comes before the previous one, without the cited section's own question.
    assert_eq!(next(&[2], &[], &[]), ["Five?", "Two?"]);
    assert_eq!(next(&[2], &[], &["five", "TWO?"]), ["One?"]);
    assert_eq!(next(&[4], &[1, 2], &[]), ["Seven?", "Two?"]);
    assert_eq!(next(&[0, 1, 2, 3], &[5], &[]), ["Seven?"]);
    assert_eq!(next(&[], &[5], &[]), ["Seven?"]);
    assert_eq!(next(&[], &[], &[]), [""; 0]);
}

#[test]
fn a_section_that_no_list_shows_proposes_nothing_after_an_answer() {
    let cited = section("a", 1, &["One?"]);
    let mut unlisted = section("a", 2, &["Two?"]);
    Arc::make_mut(&mut unlisted.chunk).unlisted = true;
    let citations = [citation(1, &cited, None)];
    let seen = Seen {
        asked: Vec::new(),
        citations: &citations,
        suggestions: &[],
        locale: None,
    };
    assert_eq!(follow_ups(&seen, &[&cited, &unlisted]), [""; 0]);
}
