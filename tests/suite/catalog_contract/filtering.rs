//! Full-text search with filters.

use std::collections::BTreeMap;

use bookrag::book::FacetValue;
use bookrag::catalog::{Catalog, ChunkRow};
use bookrag::chunk::SectionType;
use bookrag::index::{ChunkPayload, FacetFilter, Filters, TitleOrNumber};

use super::Store;
use super::rows::{COMMITTED, chunk, commit, live_index, write};
use super::searching::{ALL, Found, SOURCE, search};

/// Makes every filtered field of a payload differ from that of other chunks.
fn distinguish(payload: &mut ChunkPayload) {
    "Simulation's “worlds”".clone_into(&mut payload.module);
    payload.module_number = Some(2);
    "Gazebo \\ Unity".clone_into(&mut payload.chapter);
    payload.chapter_number = Some(11);
    payload.lesson_id = Some("2.11.1".to_owned());
    payload.section_type = SectionType::CodeHeavy;
    payload.has_code = true;
    payload.has_equations = true;
    payload.hardware_tier = 0;
    "L2".clone_into(&mut payload.layer);
    "B2".clone_into(&mut payload.proficiency_level);
    // The first locale selects the stemmer. It is the same for all payloads, so that their words weigh the same.
    payload.locale = vec!["ur".to_owned(), "de".to_owned()];
    "1.0".clone_into(&mut payload.version);
    "versioned_docs/version-1.0/a b.md".clone_into(&mut payload.source);
    payload.facets = BTreeMap::from([
        (
            "plan".to_owned(),
            FacetValue::Texts(vec!["pro".to_owned(), "team \u{201c}a\u{201d}".to_owned()]),
        ),
        ("release".to_owned(), FacetValue::Number(2.5)),
    ]);
}

/// Filters with one condition each, and one with all conditions; only a payload changed by [`distinguish`] matches.
fn conditions() -> Vec<Filters> {
    let text = |text: &str| Some(text.to_owned());
    let title = |text: &str| Some(TitleOrNumber::Title(text.to_owned()));
    let number = |number: i64| Some(TitleOrNumber::Number(number));
    let all = Filters {
        module: title("Simulation's “worlds”"),
        chapter: number(11),
        lesson: text("2.11.1"),
        hardware_tier: Some(0),
        layer: text("L2"),
        proficiency_level: text("B2"),
        section_type: Some(SectionType::CodeHeavy),
        has_code: Some(true),
        has_equations: Some(true),
        locale: text("ur"),
        version: text("1.0"),
        versions_beside: vec!["api@1.0".to_owned()],
        kind: Vec::new(),
        source: text("versioned_docs/version-1.0/a b.md"),
        facets: BTreeMap::from([
            ("plan".to_owned(), FacetFilter::Text("pro".to_owned())),
            ("release".to_owned(), FacetFilter::Number(2.5)),
        ]),
    };
    let none = Filters::default;
    vec![
        Filters {
            version: text("\0"),
            versions_beside: vec!["api@1.0".to_owned(), "1.0".to_owned()],
            ..none()
        },
        Filters {
            module: all.module.clone(),
            ..none()
        },
        Filters {
            module: number(2),
            ..none()
        },
        Filters {
            chapter: title("Gazebo \\ Unity"),
            ..none()
        },
        Filters {
            chapter: number(11),
            ..none()
        },
        Filters {
            lesson: all.lesson.clone(),
            ..none()
        },
        Filters {
            facets: BTreeMap::from([(
                "plan".to_owned(),
                FacetFilter::Text("team \u{201c}a\u{201d}".to_owned()),
            )]),
            ..none()
        },
        Filters {
            hardware_tier: Some(0),
            ..none()
        },
        Filters {
            layer: all.layer.clone(),
            ..none()
        },
        Filters {
            proficiency_level: all.proficiency_level.clone(),
            ..none()
        },
        Filters {
            section_type: all.section_type,
            ..none()
        },
        Filters {
            has_code: Some(true),
            ..none()
        },
        Filters {
            has_equations: Some(true),
            ..none()
        },
        Filters {
            locale: text("de"),
            ..none()
        },
        Filters {
            locale: text("ur"),
            ..none()
        },
        Filters {
            version: all.version.clone(),
            ..none()
        },
        Filters {
            source: all.source.clone(),
            ..none()
        },
        all,
    ]
}

/// Commits thirty chunks that rank above a [`distinguish`]ed one, and returns the latter.
pub(super) async fn write_distinguished(catalog: &Catalog, index_id: i64) -> Found {
    let mut chunks: Vec<ChunkRow> = (0..30)
        .map(|position| chunk(SOURCE, position, "a node, a node and a node"))
        .collect();
    chunks.push(chunk(SOURCE, 30, "a node"));
    let mut commit = commit(index_id, SOURCE, 0, &chunks);
    let last = commit.chunks.as_mut().and_then(|chunks| chunks.last_mut());
    let last = last.unwrap();
    distinguish(&mut last.payload);
    let expected = (last.row.point_id, last.payload.clone());
    assert_eq!(write(catalog, &commit).await, COMMITTED);
    expected
}

pub(super) async fn filters_are_applied_before_the_limit(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let expected = write_distinguished(catalog, index_id).await;
    for filters in conditions() {
        for limit in [1, ALL] {
            let found = search(catalog, index_id, "node", &filters, limit).await;
            assert_eq!(found, std::slice::from_ref(&expected), "{filters:?}");
        }
    }
    let tier = Filters {
        hardware_tier: Some(1),
        ..Filters::default()
    };
    let found = search(catalog, index_id, "node", &tier, ALL).await;
    assert_eq!(found.len(), 31);
    assert_eq!(found.last(), Some(&expected));
}

pub(super) async fn all_conditions_of_a_filter_must_hold(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    write_distinguished(catalog, index_id).await;
    let all = conditions().pop().unwrap();
    let other = || Some("simulation's “worlds”".to_owned());
    for but_one in [
        Filters {
            module: other().map(TitleOrNumber::Title),
            ..all.clone()
        },
        Filters {
            chapter: Some(TitleOrNumber::Number(1)),
            ..all.clone()
        },
        Filters {
            lesson: other(),
            ..all.clone()
        },
        Filters {
            hardware_tier: Some(-1),
            ..all.clone()
        },
        Filters {
            facets: BTreeMap::from([("release".to_owned(), FacetFilter::Number(2.0))]),
            ..all.clone()
        },
        Filters {
            facets: BTreeMap::from([("plan".to_owned(), FacetFilter::Text("p\0".to_owned()))]),
            ..all.clone()
        },
        Filters {
            section_type: Some(SectionType::Structural),
            ..all.clone()
        },
        Filters {
            has_code: Some(false),
            ..all.clone()
        },
        Filters {
            locale: Some("en".to_owned()),
            ..all.clone()
        },
        Filters {
            locale: Some("u".to_owned()),
            ..all.clone()
        },
        Filters {
            version: Some("1".to_owned()),
            ..all.clone()
        },
        Filters {
            source: Some("\0".to_owned()),
            ..all.clone()
        },
    ] {
        let found = search(catalog, index_id, "node", &but_one, ALL).await;
        assert_eq!(found, [], "{but_one:?}");
    }
}

pub(super) async fn a_facet_whose_kind_changed_is_compared_until_pages_are_read_again(
    store: Store,
) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    write_distinguished(catalog, index_id).await;
    for (name, value, expected) in [
        // Texts are not compared with a number, so all chunks are found.
        ("plan", FacetFilter::Number(1.0), 31),
        // A number equals no text.
        ("release", FacetFilter::Text("2.5".to_owned()), 0),
    ] {
        let filters = Filters {
            facets: BTreeMap::from([(name.to_owned(), value)]),
            ..Filters::default()
        };
        let found = search(catalog, index_id, "node", &filters, ALL).await;
        assert_eq!(found.len(), expected, "{filters:?}");
    }
}
