//! Points to store.

use bookrag::book::MarkKind;
use bookrag::chunk::SectionType;
use bookrag::embed::{Embedding, TOKEN_DIMENSIONS, TokenVector, TokenVectors, rounded};
use bookrag::index::{ChunkPayload, NewPoint, ScoredPoint};
use uuid::Uuid;

/// Dimensions of [`vector`].
pub(super) const DIMENSIONS: usize = 16;

/// Points have fewer tokens than this; one in this many has none.
const TOKENS: usize = 4;

/// The title in every breadcrumb.
pub(super) const TITLE: &str = "Thymeleaf";
/// The middle of a byte's range.
const MIDDLE: f32 = 127.5;
/// Stores normalise vectors again, in 32 bits.
const TOLERANCE: f32 = 1e-5;

/// Returns a deterministic unit vector for a number. Different numbers give different directions.
pub(super) fn vector(number: usize) -> Vec<f32> {
    let bytes = Uuid::new_v5(&Uuid::NAMESPACE_OID, &number.to_le_bytes()).into_bytes();
    let vector = bytes.map(|byte| f32::from(byte) - MIDDLE);
    let length = dot(&vector, &vector).sqrt();
    vector.iter().map(|value| value / length).collect()
}

pub(super) fn dot(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

pub(super) fn near(left: f32, right: f32) -> bool {
    (left - right).abs() < TOLERANCE
}

/// Compares vectors element by element.
#[track_caller]
pub(super) fn assert_vector(stored: &[f32], expected: &[f32]) {
    assert_eq!(stored.len(), expected.len());
    let same = stored.iter().zip(expected).all(|(a, b)| near(*a, *b));
    assert!(same, "{stored:?} is not {expected:?}");
}

/// Compares a stored point with the upserted one.
#[track_caller]
pub(super) fn assert_embedding(stored: &Embedding, expected: &Embedding) {
    assert_vector(&stored.vector, &expected.vector);
    assert_eq!(stored.tokens, expected.tokens);
    assert_eq!(stored.questions.len(), expected.questions.len());
    for (stored, expected) in stored.questions.iter().zip(&expected.questions) {
        assert_vector(stored, expected);
    }
}

/// Returns a deterministic token vector for a number.
pub(super) fn token(number: usize) -> TokenVector {
    let parts = (0..TOKEN_DIMENSIONS / DIMENSIONS).flat_map(|part| vector(1_000 * number + part));
    let mut token = [0.0; TOKEN_DIMENSIONS];
    for (place, value) in token.iter_mut().zip(parts) {
        *place = value;
    }
    rounded(&token)
}

/// Adds this many token vectors, derived from the number, to a point.
pub(super) fn with_tokens(mut point: NewPoint, number: usize, count: usize) -> NewPoint {
    let tokens = (0..count).map(|place| token(100 * number + place));
    point.embedding.tokens = TokenVectors::new(tokens);
    point
}

pub(super) fn ids<'a>(points: impl IntoIterator<Item = &'a NewPoint>) -> Vec<Uuid> {
    points.into_iter().map(|point| point.point_id).collect()
}

pub(super) fn found(points: &[ScoredPoint]) -> Vec<Uuid> {
    points.iter().map(|point| point.point_id).collect()
}

/// Points with different vectors and words ([`word`]), some of them with tokens.
pub(super) fn many(count: usize) -> Vec<NewPoint> {
    (0..count)
        .map(|number| {
            let text = format!("Every robot has a part called {}.", word(number));
            with_tokens(point(vector(number), &text), number, number % TOKENS)
        })
        .collect()
}

/// Returns a word that only the point with this number has.
pub(super) fn word(number: usize) -> String {
    // A word of letters and digits would also be found by its parts.
    let digits = number.to_string().into_bytes().into_iter();
    let letters = digits.map(|digit| char::from(b"bcdfghjklm"[usize::from(digit - b'0')]));
    letters.fold("zq".to_owned(), |word, letter| word + &letter.to_string())
}

/// A point with this text, and a payload with a value in every field.
pub(super) fn point(vector: Vec<f32>, text: &str) -> NewPoint {
    NewPoint {
        point_id: Uuid::new_v4(),
        payload: payload(text),
        embedding: vector.into(),
    }
}

fn payload(text: &str) -> ChunkPayload {
    ChunkPayload {
        chunk_id: Uuid::new_v4(),
        document_id: Uuid::max(),
        text: text.to_owned(),
        marks: vec![(MarkKind::Paragraph, 0, text.len()).into()],
        breadcrumb: format!("{TITLE} › “Nodes” — 节点"),
        links: vec!["https://example.org/a?b=1&c=ü".to_owned()],
        source: "docs/a b/nodes.md".to_owned(),
        url: "/book/docs/nodes?x=1&y=ü".to_owned(),
        module: "The Robotic Nervous System".to_owned(),
        module_number: Some(1),
        chapter: "Unknown".to_owned(),
        chapter_number: None,
        lesson: "N/A".to_owned(),
        lesson_number: Some(-3),
        lesson_id: None,
        title: String::new(),
        section: Some("Nodes".to_owned()),
        section_id: None,
        heading_path: vec!["Book".to_owned(), "Nodes".to_owned()],
        section_type: SectionType::CodeHeavy,
        chunk_index: 0,
        chunk_count: 1_000_000,
        start_line: 1,
        end_line: u32::MAX,
        page: 1,
        token_count: 12,
        word_count: 7,
        has_code: true,
        has_equations: false,
        hardware_tier: 2,
        layer: "L1".to_owned(),
        proficiency_level: "B2".to_owned(),
        keywords: Vec::new(),
        search_words: String::new(),
        questions: Vec::new(),
        locale: vec!["en".to_owned(), "ur".to_owned()],
        fallback_urls: vec!["/book/ur/docs/nodes".to_owned()],
        version: "current".to_owned(),
        date: None,
        facets: std::collections::BTreeMap::new(),
        unlisted: false,
        created_at: "2026-01-31T12:00:00Z".to_owned(),
    }
}
