use serde_json::json;

use super::*;
use crate::index::FilterValues;
use crate::index::stored::without_text;

const PAYLOAD: &str = r#"{
    "chunk_id": "00000000-0000-0000-0000-000000000000", "document_id": "00000000-0000-0000-0000-000000000000",
    "text": "", "source": "docs/a b.md", "url": "/a", "module": "Simulation", "module_number": 2,
    "chapter": "Gazebo: “worlds”", "chapter_number": 11, "lesson": "N/A", "lesson_number": null,
    "lesson_id": "2.11.1", "title": "", "section": null, "section_id": null, "heading_path": [],
    "section_type": "code-heavy", "chunk_index": 0, "chunk_count": 1, "start_line": 1, "end_line": 2, "page": 1,
    "token_count": 9, "word_count": 9, "has_code": true, "has_equations": false, "hardware_tier": 2, "layer": "L2",
    "proficiency_level": "B2", "keywords": [], "locale": ["en", "ur"], "fallback_urls": ["/ur/a"],
    "version": "current", "unlisted": false, "facets": {"plan": ["pro", "team"], "release": 2.5}, "created_at": ""
}"#;

/// Returns a chunk, and another that differs in all filtered fields and has neither numbers nor locales.
fn payloads() -> [ChunkPayload; 2] {
    let first: ChunkPayload = serde_json::from_str(PAYLOAD).unwrap();
    let second = ChunkPayload {
        source: "docs/b.md".to_owned(),
        facets: BTreeMap::from([(
            "plan".to_owned(),
            FacetValue::Texts(vec!["free".to_owned()]),
        )]),
        module: "Unknown".to_owned(),
        module_number: None,
        chapter: "Unknown".to_owned(),
        chapter_number: None,
        lesson_id: None,
        section_type: SectionType::Structural,
        has_code: false,
        has_equations: true,
        hardware_tier: 3,
        layer: "N/A".to_owned(),
        proficiency_level: "N/A".to_owned(),
        locale: Vec::new(),
        version: "1.0".to_owned(),
        ..first.clone()
    };
    [first, second]
}

/// Returns whether a filter, in the JSON of requests, admits each of [`payloads`].
fn admitted(filters: serde_json::Value) -> [bool; 2] {
    let filters: Filters = serde_json::from_value(filters).unwrap();
    payloads().map(|payload| filters.admits(&FilterValues::from(&payload)))
}

#[test]
fn conditions_of_other_names_are_ignored_and_of_other_types_refused() {
    assert_eq!(
        admitted(json!({"colour": "red", "module": 2})),
        [true, false]
    );
    for wrong in [
        json!({"module": true}),
        json!({"chapter": 1.5}),
        json!({"chapter": ["1"]}),
        json!({"locale": 1}),
        json!({"has_code": "yes"}),
        json!({"section_type": "poem"}),
        json!({"hardware_tier": "2"}),
        json!({"facets": {"plan": ["pro"]}}),
        json!({"facets": "pro"}),
    ] {
        assert!(
            serde_json::from_value::<Filters>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}

#[test]
fn the_values_of_a_payload_are_those_of_its_stored_fields() {
    for payload in payloads() {
        let stored = FilterValues::new(without_text(&payload));
        assert_eq!(FilterValues::from(&payload), stored);
    }
}

#[test]
fn without_conditions_every_chunk_is_admitted() {
    assert_eq!(admitted(json!({})), [true, true]);
    assert_eq!(admitted(json!({"facets": null})), [true, true]);
}

#[test]
fn a_condition_admits_what_has_the_value_itself() {
    for (one, other, neither) in [
        (
            json!({"module": "Simulation"}),
            json!({"module": "Unknown"}),
            json!({"module": "simulation"}),
        ),
        (
            json!({"module": 2}),
            json!({"hardware_tier": 3, "module": "Unknown"}),
            json!({"module": 11}),
        ),
        (
            json!({"chapter": "Gazebo: “worlds”"}),
            json!({"chapter": "Unknown"}),
            json!({"chapter": "Gazebo"}),
        ),
        (
            json!({"chapter": 11}),
            json!({"chapter": "Unknown"}),
            json!({"chapter": 2}),
        ),
        (
            json!({"lesson": "2.11.1"}),
            json!({"source": "docs/b.md"}),
            json!({"lesson": "2.11"}),
        ),
        (
            json!({"layer": "L2"}),
            json!({"layer": "N/A"}),
            json!({"layer": ""}),
        ),
        (
            json!({"proficiency_level": "B2"}),
            json!({"proficiency_level": "N/A"}),
            json!({"proficiency_level": "B"}),
        ),
        (
            json!({"section_type": "code-heavy"}),
            json!({"section_type": "structural"}),
            json!({"section_type": "instructional"}),
        ),
        (
            json!({"has_code": true}),
            json!({"has_code": false}),
            json!({"has_code": true, "has_equations": true}),
        ),
        (
            json!({"has_equations": false}),
            json!({"has_equations": true}),
            json!({"has_code": false, "has_equations": false}),
        ),
        (
            json!({"version": "current"}),
            json!({"version": "1.0"}),
            json!({"version": "1"}),
        ),
        (
            json!({"source": "docs/a b.md"}),
            json!({"source": "docs/b.md"}),
            json!({"source": "docs"}),
        ),
    ] {
        assert_eq!(admitted(one.clone()), [true, false], "{one}");
        assert_eq!(admitted(other.clone()), [false, true], "{other}");
        assert_eq!(admitted(neither.clone()), [false, false], "{neither}");
    }
}

#[test]
fn versions_of_other_docs_are_admitted_beside_a_version() {
    let admitted = |version: Option<&str>, beside: &[&str]| {
        let filters = Filters {
            version: version.map(str::to_owned),
            versions_beside: beside.iter().map(|&name| name.to_owned()).collect(),
            ..Filters::default()
        };
        payloads().map(|payload| filters.admits(&FilterValues::from(&payload)))
    };
    assert_eq!(admitted(Some("current"), &["api@2.0"]), [true, false]);
    assert_eq!(admitted(Some("api@2.0"), &["1.0"]), [false, true]);
    assert_eq!(admitted(Some("current"), &["1.0"]), [true, true]);
    // Without a version all are admitted.
    assert_eq!(admitted(None, &["1.0"]), [true, true]);
}

#[test]
fn a_kind_admits_what_its_version_is_of() {
    let versions = [
        "current",
        "api@2.0",
        "blog/news@current",
        "pages/default@current",
    ];
    let found = |filters: serde_json::Value| {
        let filters: Filters = serde_json::from_value(filters).unwrap();
        versions.map(|version| filters.admits_kind_of(version))
    };
    for (kinds, expected) in [
        (json!("docs"), [true, true, false, false]),
        (json!("blog"), [false, false, true, false]),
        (json!(["blog", "page"]), [false, false, true, true]),
        (json!([]), [true; 4]),
        (json!(null), [true; 4]),
    ] {
        assert_eq!(found(json!({"kind": kinds})), expected, "{kinds}");
    }
    for wrong in [json!("poem"), json!(["docs", 1]), json!(7)] {
        let filters = json!({"kind": wrong});
        assert!(
            serde_json::from_value::<Filters>(filters).is_err(),
            "{wrong}"
        );
    }
    // Requests are stored and hashed as JSON.
    assert_eq!(
        serde_json::to_value(Filters::default())
            .unwrap()
            .get("kind"),
        None
    );
}

#[test]
fn one_of_a_chunks_locales_is_enough() {
    for locale in ["en", "ur"] {
        assert_eq!(
            admitted(json!({"locale": locale})),
            [true, false],
            "{locale}"
        );
    }
    assert_eq!(admitted(json!({"locale": "de"})), [false, false]);
}

#[test]
fn a_tier_admits_what_needs_no_more() {
    let expected = [
        (1, [false, false]),
        (2, [true, false]),
        (3, [true, true]),
        (4, [true, true]),
    ];
    for (tier, expected) in expected {
        assert_eq!(admitted(json!({"hardware_tier": tier})), expected, "{tier}");
    }
}

#[test]
fn facets_are_compared_as_the_site_declares_them() {
    let declared = Facets::from([
        ("plan".to_owned(), FacetKind::Text),
        ("release".to_owned(), FacetKind::AtMost),
    ]);
    for (facets, expected) in [
        (json!({"plan": "pro"}), [true, false]),
        (json!({"plan": "free"}), [false, true]),
        (json!({"plan": "pr"}), [false, false]),
        // A page without a number always fits.
        (json!({"release": 2}), [false, true]),
        (json!({"release": "2.5"}), [true, true]),
        (json!({"release": "high"}), [false, false]),
        (json!({"release": "inf"}), [false, false]),
        (json!({"release": "1e999"}), [false, false]),
        (json!({"release": "NaN"}), [false, false]),
        (json!({"plan": "team", "release": 3}), [true, false]),
        // Not declared, so it does not limit.
        (json!({"colour": "red"}), [true, true]),
    ] {
        let filters: Filters = serde_json::from_value(json!({"facets": facets})).unwrap();
        let filters = filters.with_declared_facets(&declared);
        let admitted = payloads().map(|payload| filters.admits(&FilterValues::from(&payload)));
        assert_eq!(admitted, expected, "{facets}");
    }
    let [first, second] = payloads();
    for payload in [first, second] {
        let values = FilterValues::from(&payload);
        for by in [PlacedBy::Title, PlacedBy::Number] {
            assert!(Filters::fulfilled_by(payload.clone(), by).admits(&values));
        }
    }
}

#[test]
fn all_conditions_must_hold() {
    let all = json!({
        "module": 2, "chapter": 11, "lesson": "2.11.1", "hardware_tier": 2, "layer": "L2", "proficiency_level": "B2",
        "section_type": "code-heavy", "has_code": true, "has_equations": false, "locale": "ur", "version": "current",
        "source": "docs/a b.md",
    });
    assert_eq!(admitted(all.clone()), [true, false]);
    let other = json!({
        "module": 1, "chapter": 1, "lesson": "1", "hardware_tier": 1, "layer": "-", "proficiency_level": "-",
        "section_type": "structural", "has_code": false, "has_equations": true, "locale": "-", "version": "-",
        "source": "-",
    });
    for (field, value) in other.as_object().unwrap() {
        let mut but_one = all.clone();
        but_one[field] = value.clone();
        assert_eq!(admitted(but_one), [false, false], "{field}");
    }
}
