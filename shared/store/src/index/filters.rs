//! Filters of a search.

use serde::{Deserialize, Deserializer, Serialize};

use super::ChunkPayload;
use book::chunk::SectionType;
use book::{ContentKind, origin_of_version};

/// Conditions that must all hold. An omitted one does not limit; unknown names are ignored.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct Filters {
    /// The module's title or number.
    pub module: Option<TitleOrNumber>,
    /// The chapter's title or number.
    pub chapter: Option<TitleOrNumber>,
    /// The lesson, as module, chapter and lesson: `1.2.3`.
    pub lesson: Option<String>,
    /// The reader's hardware tier, 1 to 4: chunks that need more are left out.
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 4))]
    pub hardware_tier: Option<i64>,
    /// The teaching layer, as in the front matter of pages: `L1`.
    pub layer: Option<String>,
    /// The proficiency level.
    pub proficiency_level: Option<String>,
    /// Structural, instructional or code-heavy.
    pub section_type: Option<SectionType>,
    /// True for chunks with code.
    pub has_code: Option<bool>,
    /// True for chunks with a formula.
    pub has_equations: Option<bool>,
    /// The locale.
    pub locale: Option<String>,
    /// The version. For a docs instance other than the default, its id comes first: `api@2.0`. Other instances are searched in their default version.
    pub version: Option<String>,
    /// Versions of other docs instances that are searched in addition to `version`.
    #[serde(skip)]
    pub versions_beside: Vec<String>,
    /// The kinds of page to search: docs, blog, standalone pages; one or a list. An empty list means all.
    #[serde(
        deserialize_with = "one_or_more",
        skip_serializing_if = "Vec::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<Kinds>))]
    pub kind: Vec<ContentKind>,
    /// The path of the source file.
    pub source: Option<String>,
}

/// One kind, or a list of kinds.
#[derive(Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(
    untagged,
    expecting = "expected `docs`, `blog` or `page`, or a list of these"
)]
enum Kinds {
    /// A single kind.
    One(ContentKind),
    /// Any of several; any kind if empty.
    Several(Vec<ContentKind>),
}

/// Reads [`Kinds`]; `null` is an empty list.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentKind>, D::Error> {
    Ok(match Option::<Kinds>::deserialize(deserializer)? {
        None => Vec::new(),
        Some(Kinds::One(kind)) => vec![kind],
        Some(Kinds::Several(kinds)) => kinds,
    })
}

/// A title, or a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "expected a title or a whole number")]
pub enum TitleOrNumber {
    /// A number.
    Number(i64),
    /// A title.
    Title(String),
}

/// The payload fields that [`Filters`] compare.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct FilterValues {
    pub(crate) source: String,
    pub(crate) module: String,
    pub(crate) module_number: Option<i64>,
    pub(crate) chapter: String,
    pub(crate) chapter_number: Option<i64>,
    pub(crate) lesson_id: Option<String>,
    pub(crate) section_type: SectionType,
    pub(crate) has_code: bool,
    pub(crate) has_equations: bool,
    pub(crate) hardware_tier: i64,
    pub(crate) layer: String,
    pub(crate) proficiency_level: String,
    pub(crate) locale: Vec<String>,
    pub(crate) version: String,
}

impl From<&ChunkPayload> for FilterValues {
    fn from(payload: &ChunkPayload) -> Self {
        Self {
            source: payload.source.clone(),
            module: payload.module.clone(),
            module_number: payload.module_number,
            chapter: payload.chapter.clone(),
            chapter_number: payload.chapter_number,
            lesson_id: payload.lesson_id.clone(),
            section_type: payload.section_type,
            has_code: payload.has_code,
            has_equations: payload.has_equations,
            hardware_tier: payload.hardware_tier,
            layer: payload.layer.clone(),
            proficiency_level: payload.proficiency_level.clone(),
            locale: payload.locale.clone(),
            version: payload.version.clone(),
        }
    }
}

impl Filters {
    /// Returns the admitted versions; `None` if all are.
    pub fn versions(&self) -> Option<Vec<&str>> {
        let version = self.version.as_deref()?;
        let beside = self.versions_beside.iter().map(String::as_str);
        Some(std::iter::once(version).chain(beside).collect())
    }

    /// True if the filters admit the kind of page that a stored version belongs to. Stores know only versions, so a kind is searched by the versions
    /// of its plugin instances.
    #[must_use]
    pub fn admits_kind_of(&self, version: &str) -> bool {
        self.kind.is_empty() || self.kind.contains(&origin_of_version(version).0)
    }

    /// True if the filters admit a chunk with these values. A hosted store applies the same conditions itself.
    #[must_use]
    pub fn admits(&self, values: &FilterValues) -> bool {
        let Self {
            module,
            chapter,
            lesson,
            hardware_tier,
            layer,
            proficiency_level,
            section_type,
            has_code,
            has_equations,
            locale,
            version: _,
            versions_beside: _,
            kind: _,
            source,
        } = self;
        module
            .as_ref()
            .is_none_or(|module| module.matches(&values.module, values.module_number))
            && chapter
                .as_ref()
                .is_none_or(|chapter| chapter.matches(&values.chapter, values.chapter_number))
            && (lesson.is_none() || *lesson == values.lesson_id)
            && hardware_tier.is_none_or(|most| values.hardware_tier <= most)
            && layer.as_ref().is_none_or(|layer| *layer == values.layer)
            && proficiency_level
                .as_ref()
                .is_none_or(|level| *level == values.proficiency_level)
            && section_type.is_none_or(|kind| values.section_type == kind)
            && has_code.is_none_or(|wanted| values.has_code == wanted)
            && has_equations.is_none_or(|wanted| values.has_equations == wanted)
            && locale
                .as_ref()
                .is_none_or(|locale| values.locale.contains(locale))
            && self
                .versions()
                .is_none_or(|versions| versions.contains(&values.version.as_str()))
            && source
                .as_ref()
                .is_none_or(|source| *source == values.source)
    }
}

impl TitleOrNumber {
    fn matches(&self, title: &str, number: Option<i64>) -> bool {
        match self {
            Self::Number(wanted) => number == Some(*wanted),
            Self::Title(wanted) => wanted == title,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PAYLOAD: &str = r#"{
        "chunk_id": "00000000-0000-0000-0000-000000000000", "document_id": "00000000-0000-0000-0000-000000000000",
        "text": "", "source": "docs/a b.md", "url": "/a", "module": "Simulation", "module_number": 2,
        "chapter": "Gazebo: “worlds”", "chapter_number": 11, "lesson": "N/A", "lesson_number": null,
        "lesson_id": "2.11.1", "title": "", "section": null, "section_id": null, "heading_path": [],
        "section_type": "code-heavy", "chunk_index": 0, "chunk_count": 1, "start_line": 1, "end_line": 2, "page": 1,
        "token_count": 9, "word_count": 9, "has_code": true, "has_equations": false, "hardware_tier": 2, "layer": "L2",
        "proficiency_level": "B2", "keywords": [], "locale": ["en", "ur"], "fallback_urls": ["/ur/a"],
        "version": "current", "unlisted": false, "created_at": ""
    }"#;

    /// Returns a chunk, and another that differs in all filtered fields and has neither numbers nor locales.
    fn payloads() -> [ChunkPayload; 2] {
        let first: ChunkPayload = serde_json::from_str(PAYLOAD).unwrap();
        let second = ChunkPayload {
            source: "docs/b.md".to_owned(),
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
        ] {
            assert!(
                serde_json::from_value::<Filters>(wrong.clone()).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn without_conditions_every_chunk_is_admitted() {
        assert_eq!(admitted(json!({})), [true, true]);
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
}
