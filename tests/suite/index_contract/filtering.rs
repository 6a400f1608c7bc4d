//! Filters apply to both rankers, on every field.

use std::collections::BTreeMap;

use bookrag::book::FacetValue;
use bookrag::chunk::SectionType;
use bookrag::index::{Filters, NewPoint, TitleOrNumber};
use serde_json::{Value, json};

use super::points::{DIMENSIONS, found, ids, many, point, vector};
use super::{Store, search};

/// The text of all points.
const TEXT: &str = "Robots move.";

macro_rules! only {
    ($field:ident: $value:expr) => {
        Filters {
            $field: Some($value),
            ..Filters::default()
        }
    };
}

fn title(title: &str) -> TitleOrNumber {
    TitleOrNumber::Title(title.to_owned())
}

fn number(number: i64) -> TitleOrNumber {
    TitleOrNumber::Number(number)
}

/// Points that differ only in filtered fields; the last one has no numbers.
fn points() -> [NewPoint; 3] {
    let mut points = [(); 3].map(|()| point(vector(0), TEXT));
    let [first, second, third] = points.each_mut().map(|point| &mut point.payload);

    first.module = "The Robotic Nervous System".into();
    first.module_number = Some(1);
    first.chapter = "Nodes: “topics” & 服务".into();
    first.chapter_number = Some(2);
    first.lesson_id = Some("1.2.3".to_owned());
    first.hardware_tier = 1;
    first.layer = "L1".into();
    first.proficiency_level = "A1".into();
    first.section_type = SectionType::Structural;
    first.has_code = true;
    first.has_equations = false;
    first.locale = vec!["en".to_owned(), "ur".to_owned()];
    first.version = "current".into();
    first.source = "docs/a b.md".into();
    first.facets = facets(&json!({"plan": ["pro", "team up"], "release": 2.5}));

    second.module = "Simulation".into();
    second.module_number = Some(2);
    second.chapter = "Gazebo".into();
    second.chapter_number = Some(11);
    second.lesson_id = Some("2.11.1".to_owned());
    second.hardware_tier = 3;
    second.layer = "L2".into();
    second.proficiency_level = "B2".into();
    second.section_type = SectionType::CodeHeavy;
    second.has_code = false;
    second.has_equations = true;
    second.locale = vec!["de".to_owned()];
    second.version = "1.0".into();
    second.source = "versioned_docs/version-1.0/a b.md".into();
    second.facets = facets(&json!({"plan": ["free"], "release": 3}));

    third.module = "Unknown".into();
    third.module_number = None;
    third.chapter = "Unknown".into();
    third.chapter_number = None;
    third.lesson_id = None;
    third.hardware_tier = 4;
    third.layer = "N/A".into();
    third.proficiency_level = "N/A".into();
    third.section_type = SectionType::Instructional;
    third.has_code = false;
    third.has_equations = false;
    third.locale = Vec::new();
    third.version = "2.0".into();
    third.source = "docs/c.md".into();
    points
}

fn facets(json: &Value) -> BTreeMap<String, FacetValue> {
    serde_json::from_value(json.clone()).unwrap()
}

fn by_facets(json: &Value) -> Filters {
    serde_json::from_value(json!({ "facets": json })).unwrap()
}

/// Filters, and the positions in [`points`] that match them.
fn cases() -> Vec<(Filters, Vec<usize>)> {
    vec![
        (Filters::default(), vec![0, 1, 2]),
        (only!(module: title("The Robotic Nervous System")), vec![0]),
        (only!(module: title("the robotic nervous system")), vec![]),
        (only!(module: title("Unknown")), vec![2]),
        (only!(module: number(2)), vec![1]),
        (only!(module: number(-1)), vec![]),
        (only!(chapter: title("Nodes: “topics” & 服务")), vec![0]),
        (only!(chapter: title("Nodes")), vec![]),
        (only!(chapter: number(11)), vec![1]),
        (only!(chapter: number(1)), vec![]),
        (only!(lesson: "1.2.3".to_owned()), vec![0]),
        (only!(lesson: "1.2".to_owned()), vec![]),
        (only!(hardware_tier: 0), vec![]),
        (only!(hardware_tier: 1), vec![0]),
        (only!(hardware_tier: 2), vec![0]),
        (only!(hardware_tier: 3), vec![0, 1]),
        (only!(hardware_tier: 4), vec![0, 1, 2]),
        (only!(layer: "L2".to_owned()), vec![1]),
        (only!(proficiency_level: "A1".to_owned()), vec![0]),
        (only!(section_type: SectionType::Structural), vec![0]),
        (only!(section_type: SectionType::CodeHeavy), vec![1]),
        (only!(section_type: SectionType::Instructional), vec![2]),
        (only!(has_code: true), vec![0]),
        (only!(has_code: false), vec![1, 2]),
        (only!(has_equations: true), vec![1]),
        (only!(has_equations: false), vec![0, 2]),
        (only!(locale: "en".to_owned()), vec![0]),
        (only!(locale: "ur".to_owned()), vec![0]),
        (only!(locale: "de".to_owned()), vec![1]),
        (only!(locale: "fr".to_owned()), vec![]),
        (only!(version: "1.0".to_owned()), vec![1]),
        (beside("1.0", &["api@1.0", "2.0"]), vec![1, 2]),
        (beside("other", &["current"]), vec![0]),
        (only!(source: "docs/a b.md".to_owned()), vec![0]),
        (only!(source: "docs".to_owned()), vec![]),
        (by_facets(&json!({"plan": "team up"})), vec![0]),
        (by_facets(&json!({"plan": "team"})), vec![]),
        (by_facets(&json!({"plan": "free", "release": 3})), vec![1]),
        (by_facets(&json!({"plan": "pro", "release": 2})), vec![]),
        // A page without a number always fits.
        (by_facets(&json!({"release": 2.5})), vec![0, 2]),
        (by_facets(&json!({"release": 1})), vec![2]),
    ]
}

/// A version, and versions of other docs instances.
fn beside(version: &str, others: &[&str]) -> Filters {
    Filters {
        version: Some(version.to_owned()),
        versions_beside: others.iter().map(|&other| other.to_owned()).collect(),
        ..Filters::default()
    }
}

pub(super) fn one_of_each() -> Vec<Filters> {
    cases().into_iter().map(|(filters, _)| filters).collect()
}

/// Returns the positions of the points found by meaning, by words, and by both, which must agree.
async fn left_by(store: &Store, points: &[NewPoint], filters: &Filters) -> Vec<usize> {
    let vector = vector(0);
    let mut left: Vec<Vec<usize>> = Vec::new();
    for question in [("", &*vector), (TEXT, &[]), (TEXT, &*vector)] {
        let points_found = search(&store.index, &store.collection, question, filters, 9).await;
        let found = found(&points_found.unwrap());
        let is_found = |place: &usize| found.contains(&points[*place].point_id);
        left.push((0..points.len()).filter(is_found).collect());
    }
    assert!(
        left.iter().all(|one| *one == left[0]),
        "{filters:?}: {left:?}"
    );
    left.swap_remove(0)
}

pub(super) async fn every_filter_narrows_both_rankers(store: Store) {
    let points = points();
    store.ensure(DIMENSIONS).await;
    store.publish(points.to_vec()).await;
    for (filters, expected) in cases() {
        let left = left_by(&store, &points, &filters).await;
        assert_eq!(left, expected, "{filters:?}");
    }
}

pub(super) async fn all_conditions_of_a_filter_must_hold(store: Store) {
    let points = points();
    store.ensure(DIMENSIONS).await;
    store.publish(points.to_vec()).await;
    let all = Filters {
        module: Some(number(1)),
        chapter: Some(number(2)),
        lesson: Some("1.2.3".to_owned()),
        hardware_tier: Some(2),
        layer: Some("L1".to_owned()),
        proficiency_level: Some("A1".to_owned()),
        section_type: Some(SectionType::Structural),
        has_code: Some(true),
        has_equations: Some(false),
        locale: Some("ur".to_owned()),
        version: Some("current".to_owned()),
        versions_beside: vec!["api@1.0".to_owned()],
        kind: Vec::new(),
        source: Some("docs/a b.md".to_owned()),
        facets: by_facets(&json!({"plan": "pro", "release": 3})).facets,
    };
    assert_eq!(left_by(&store, &points, &all).await, [0]);
    let other = || Some("other".to_owned());
    for but_one in [
        Filters {
            module: Some(number(2)),
            ..all.clone()
        },
        Filters {
            hardware_tier: Some(0),
            ..all.clone()
        },
        Filters {
            has_code: Some(false),
            ..all.clone()
        },
        Filters {
            locale: other(),
            ..all.clone()
        },
        Filters {
            source: other(),
            ..all.clone()
        },
    ] {
        let left = left_by(&store, &points, &but_one).await;
        assert!(left.is_empty(), "{but_one:?}");
    }
}

pub(super) async fn a_filter_is_applied_before_the_limit(store: Store) {
    let (index, name) = (&store.index, &store.collection);
    let mut points = many(50);
    let last = &mut points[49];
    last.payload.version = "old".into();
    last.embedding.vector = vector(0).iter().map(|value| -value).collect();
    let expected = ids(&points[49..]);
    store.ensure(DIMENSIONS).await;
    index.upsert(name, points).await.unwrap();
    let old = only!(version: "old".to_owned());
    let vector = vector(0);
    for question in [("", &*vector), ("robots", &[]), ("robots", &*vector)] {
        let points = search(index, name, question, &old, 1).await.unwrap();
        assert_eq!(found(&points), expected, "{question:?}");
    }
}
