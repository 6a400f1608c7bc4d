//! The order of search results: nearest by vector, best by words.

use book::chunk::SectionType;
use store::index::{Filters, IndexError, TitleOrNumber, VectorQuery};
use uuid::Uuid;

use super::book::{ALL, Book, Chunk, DIMENSIONS, chunk, dot, file, ids, vector};

const PAGE: &str = "docs/a.md";
const NEAREST: usize = 10;

/// The rounding error of vectors scaled to unit length.
const TOLERANCE: f32 = 1e-5;

fn near(left: f32, right: f32) -> bool {
    (left - right).abs() < TOLERANCE
}

/// Returns a word that only this number's chunk has. It has no digits, because words with digits are also found by their parts.
fn word(number: usize) -> String {
    let letter = |digit: u8| char::from(b"abcdefghij"[usize::from(digit - b'0')]);
    let letters: String = number.to_string().bytes().map(letter).collect();
    format!("zu{letters}x")
}

/// Returns chunks with different vectors and a unique word each.
fn many(count: usize) -> Vec<Chunk> {
    (0..count)
        .map(|number| {
            chunk(
                number,
                &format!("Every robot has a part called {}.", word(number)),
            )
        })
        .collect()
}

#[tokio::test]
async fn the_nearest_are_those_that_comparing_all_finds() {
    let (book, _folder) = Book::create().await;
    let chunks = many(250);
    book.publish(PAGE, &chunks).await;
    for query in (10_000..10_005).map(vector) {
        let mut best: Vec<f32> = chunks
            .iter()
            .map(|chunk| dot(&chunk.vector, &query))
            .collect();
        best.sort_by(|left, right| right.total_cmp(left));
        // The length of the question's vector must not matter.
        let long: Vec<f32> = query.iter().map(|value| value * 30.0).collect();
        let found = book.search("", &long, &Filters::default(), NEAREST).await;
        assert_eq!(found.len(), NEAREST);
        for (point, best) in found.iter().zip(best) {
            let own = chunks.iter().find(|chunk| chunk.point_id == point.point_id);
            assert!(near(point.score, dot(&own.unwrap().vector, &query)));
            assert!(near(point.score, best));
        }
    }
}

#[tokio::test]
async fn a_search_joins_both_rankings_and_orders_them_by_cosine() {
    let (book, _folder) = Book::create().await;
    let chunks = many(50);
    book.publish(PAGE, &chunks).await;
    let query = vector(3);
    let by_cosine = book.nearest(&query, ALL).await;
    assert_eq!(by_cosine.len(), chunks.len());
    // The farthest chunk has the word.
    let last = by_cosine[49];
    let number = chunks
        .iter()
        .position(|chunk| chunk.point_id == last)
        .unwrap();
    let found = book
        .search(&word(number), &query, &Filters::default(), 5)
        .await;
    let expected: Vec<Uuid> = by_cosine[..5].iter().copied().chain([last]).collect();
    let points: Vec<Uuid> = found.iter().map(|point| point.point_id).collect();
    assert_eq!(points, expected);
    let farthest = found.last().unwrap().score;
    assert!(near(farthest, dot(&chunks[number].vector, &query)));
    // A chunk found by both rankers is returned once.
    let found = book.search(&word(3), &query, &Filters::default(), 5).await;
    assert_eq!(found.len(), 5);
}

#[tokio::test]
async fn rare_words_weigh_more_and_endings_do_not_matter() {
    let (book, _folder) = Book::create().await;
    let texts = [
        "A topic carries messages.",
        "A topic needs names.",
        "Quaternions describe rotations.",
    ];
    let chunks = texts.map(|text| chunk(0, text));
    let all = ids(&chunks);
    book.publish(PAGE, &chunks).await;
    let found = book.by_words("the topics of a quaternion").await;
    assert_eq!((found.len(), found[0]), (3, all[2]));
    assert_eq!(book.by_words("carrying TOPICS").await, all[..2]);
    assert_eq!(book.by_words("rotation").await, all[2..]);
    for nothing in [
        "zymurgy",
        "the of and",
        "",
        " \n",
        "?!",
        "🤖",
        "\"",
        "a NEAR(b)",
        "\0",
    ] {
        assert!(book.by_words(nothing).await.is_empty(), "{nothing}");
    }
}

#[tokio::test]
async fn of_two_chunks_with_a_word_the_shorter_or_the_fuller_comes_first() {
    let (book, _folder) = Book::create().await;
    let texts = [
        "A gripper of steel that holds bolts, nuts, gears, wires, belts and tubes.",
        "A gripper is the hand of a robot.",
        "Grippers hold what grippers held.",
    ];
    let chunks = texts.map(|text| chunk(0, text));
    let all = ids(&chunks);
    book.publish(PAGE, &chunks).await;
    assert_eq!(book.by_words("gripper").await, [all[2], all[1], all[0]]);
}

#[tokio::test]
async fn pages_and_questions_are_read_in_the_pages_language() {
    let (book, _folder) = Book::create().await;
    let mut chunks = [chunk(0, "Viele Häuser"), chunk(1, "Many nodes")];
    chunks[0].payload.locale = vec!["de".to_owned()];
    // Also shown under `de`, which has no translation of it.
    chunks[1].payload.locale = vec!["en".to_owned(), "de".to_owned()];
    book.publish(PAGE, &chunks).await;
    let german = Filters {
        locale: Some("de".to_owned()),
        ..Filters::default()
    };
    for (text, expected) in [("Häusern", &chunks[0]), ("node", &chunks[1])] {
        let found = book.search(text, &[], &german, ALL).await;
        let found: Vec<Uuid> = found.iter().map(|point| point.point_id).collect();
        assert_eq!(found, [expected.point_id], "{text}");
    }
}

/// A filter with one condition.
macro_rules! only {
    ($field:ident: $value:expr) => {
        Filters {
            $field: Some($value.into()),
            ..Filters::default()
        }
    };
}

#[tokio::test]
async fn filters_narrow_both_rankings_before_the_limit() {
    let (book, _folder) = Book::create().await;
    let mut chunks = many(50);
    let last = &mut chunks[49];
    last.payload.version = "1.0".into();
    last.payload.module = "Simulation".into();
    last.payload.module_number = Some(2);
    last.payload.locale = vec!["de".to_owned()];
    last.payload.section_type = SectionType::CodeHeavy;
    last.payload.has_code = true;
    last.payload.hardware_tier = 0;
    let expected = last.point_id;
    let opposite: Vec<f32> = last.vector.iter().map(|value| -value).collect();
    book.publish(PAGE, &chunks).await;
    for filters in [
        only!(version: "1.0"),
        only!(module: TitleOrNumber::Title("Simulation".to_owned())),
        only!(module: TitleOrNumber::Number(2)),
        only!(locale: "de"),
        only!(section_type: SectionType::CodeHeavy),
        only!(has_code: true),
        only!(hardware_tier: 0),
    ] {
        for (text, vector) in [("robot", &[][..]), ("", &opposite), ("robot", &opposite)] {
            let found = book.search(text, vector, &filters, 1).await;
            let found: Vec<Uuid> = found.iter().map(|point| point.point_id).collect();
            assert_eq!(found, [expected], "{filters:?}");
        }
    }
    let nobodys = only!(source: "docs/b.md");
    assert_eq!(book.search("robot", &opposite, &nobodys, ALL).await, []);
}

#[tokio::test]
async fn what_cannot_be_searched_is_rejected() {
    let (book, _folder) = Book::create().await;
    let filters = Filters::default();
    for (collection, vector) in [("elsewhere", vector(0)), (&book.row.collection, vec![1.0])] {
        let query = VectorQuery {
            terms: &[],
            vector: &vector,
            tokens: &[],
            with_questions: true,
            filters: &filters,
            limit: 1,
        };
        let answer = book.index.search(collection, &query).await;
        assert!(matches!(answer, Err(IndexError::Rejected(_))), "{answer:?}");
    }
    let points = [
        (Uuid::new_v4(), vector(0).into()),
        (Uuid::new_v4(), vec![1.0; DIMENSIONS + 1].into()),
    ];
    let answer = book
        .index
        .upsert(&book.row.collection, points.to_vec())
        .await;
    assert!(matches!(answer, Err(IndexError::Rejected(_))), "{answer:?}");
    assert_eq!(book.index.count(&book.row.collection).await.unwrap(), 0);
    assert!(
        book.index
            .point_ids_after("elsewhere", None, 1)
            .await
            .is_err()
    );
    assert!(!book.index.has_collection("elsewhere").await.unwrap());
}

#[tokio::test]
async fn indexes_in_one_file_do_not_meet() {
    let (book, folder) = Book::create().await;
    let other = Book::open_index(&file(&folder), "window-500").await;
    let (own, others) = ([chunk(0, "A node.")], [chunk(0, "Another node.")]);
    book.publish(PAGE, &own).await;
    other.publish(PAGE, &others).await;
    for (book, chunks) in [(&book, &own), (&other, &others)] {
        assert_eq!(book.by_words("node").await, ids(chunks));
        assert_eq!(book.nearest(&vector(0), ALL).await, ids(chunks));
    }
}
