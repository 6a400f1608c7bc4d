//! What filters compare. The stores apply these conditions, each in its own way.

use serde_json::{Map, Value, json};

use super::{ChunkPayload, FacetFilter, Filters, TitleOrNumber};
use book::chunk::SectionType;
use book::{FacetKind, Facets};

/// A condition on one field of the payload. A field of a facet is named with its parent, as in `facets.plan`.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The field of the payload.
    pub field: String,
    /// What must hold for its value.
    pub test: Test,
}

/// What must hold for the value of a field.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is this text, number or truth value.
    Is(Value),
    /// It is one of these texts.
    IsOneOf(Vec<String>),
    /// It is a list with this text.
    Contains(String),
    /// It is at most this number, or missing.
    AtMost(f64),
}

/// The payload fields that filters compare, except those of facets, with the kind of their values.
pub(crate) const FILTERED_FIELDS: [(&str, FieldKind); 15] = [
    ("document_id", FieldKind::Keyword),
    ("source", FieldKind::Keyword),
    ("module", FieldKind::Keyword),
    ("module_number", FieldKind::Integer),
    ("chapter", FieldKind::Keyword),
    ("chapter_number", FieldKind::Integer),
    ("lesson_id", FieldKind::Keyword),
    ("section_type", FieldKind::Keyword),
    ("has_code", FieldKind::Flag),
    ("has_equations", FieldKind::Flag),
    ("hardware_tier", FieldKind::Integer),
    ("layer", FieldKind::Keyword),
    ("proficiency_level", FieldKind::Keyword),
    ("locale", FieldKind::Keyword),
    ("version", FieldKind::Keyword),
];

/// The field of the payload that holds the facets.
pub(crate) const FACETS: &str = "facets";

/// The kind of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// Texts that are compared as a whole.
    Keyword,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Float,
    /// True or false.
    Flag,
}

/// Returns the payload fields of the facets, with the kind of their values.
pub(crate) fn facet_fields(facets: &Facets) -> impl Iterator<Item = (String, FieldKind)> {
    facets.iter().map(|(name, kind)| {
        let kind = match kind {
            FacetKind::Text => FieldKind::Keyword,
            FacetKind::AtMost => FieldKind::Float,
        };
        (facet_field(name), kind)
    })
}

/// Returns the payload field of a facet.
#[must_use]
pub fn facet_field(name: &str) -> String {
    format!("{FACETS}.{name}")
}

/// The values of a payload that filters compare, by field.
#[derive(Debug, Clone, PartialEq)]
pub struct FilterValues(Map<String, Value>);

impl FilterValues {
    /// Keeps the fields that filters compare.
    #[must_use]
    pub fn new(mut fields: Map<String, Value>) -> Self {
        fields.retain(|name, _| {
            name == FACETS || FILTERED_FIELDS.iter().any(|(field, _)| field == name)
        });
        Self(fields)
    }

    fn get(&self, field: &str) -> Option<&Value> {
        match field.split_once('.') {
            Some((parent, name)) => self.0.get(parent)?.get(name),
            None => self.0.get(field),
        }
    }

    /// Returns the locale of the page; `None` if it is unknown.
    #[must_use]
    pub fn locale(&self) -> Option<&str> {
        self.get("locale")?.get(0)?.as_str()
    }
}

impl From<&ChunkPayload> for FilterValues {
    fn from(payload: &ChunkPayload) -> Self {
        let values = json!({
            "document_id": payload.document_id,
            "source": payload.source,
            "module": payload.module,
            "module_number": payload.module_number,
            "chapter": payload.chapter,
            "chapter_number": payload.chapter_number,
            "lesson_id": payload.lesson_id,
            "section_type": payload.section_type,
            "has_code": payload.has_code,
            "has_equations": payload.has_equations,
            "hardware_tier": payload.hardware_tier,
            "layer": payload.layer,
            "proficiency_level": payload.proficiency_level,
            "locale": payload.locale,
            "version": payload.version,
            FACETS: payload.facets,
        });
        let Value::Object(values) = values else {
            unreachable!("it is written as an object");
        };
        Self(values)
    }
}

impl Test {
    fn admits(&self, value: Option<&Value>) -> bool {
        match self {
            Self::Is(wanted) => value == Some(wanted),
            Self::IsOneOf(wanted) => value
                .and_then(Value::as_str)
                .is_some_and(|value| wanted.iter().any(|wanted| wanted == value)),
            Self::Contains(wanted) => value
                .and_then(Value::as_array)
                .is_some_and(|list| list.iter().any(|value| value == wanted)),
            Self::AtMost(most) => value
                .and_then(Value::as_f64)
                .is_none_or(|value| value <= *most),
        }
    }
}

impl Filters {
    /// Returns what each given filter compares. Kinds of pages are compared by their versions, see [`Self::admits_kind_of`].
    #[must_use]
    pub fn conditions(&self) -> Vec<Condition> {
        // Exhaustive, so that a new filter must be applied here.
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
            facets,
        } = self;
        let kind = section_type.map(SectionType::name);
        #[expect(clippy::cast_precision_loss, reason = "tiers are small whole numbers")]
        let tier = hardware_tier.map(|most| most as f64);
        let built_in = [
            place("module", "module_number", module.as_ref()),
            place("chapter", "chapter_number", chapter.as_ref()),
            is("lesson_id", lesson.as_deref()),
            condition("hardware_tier", tier.map(Test::AtMost)),
            is("layer", layer.as_deref()),
            is("proficiency_level", proficiency_level.as_deref()),
            is("section_type", kind),
            is("has_code", *has_code),
            is("has_equations", *has_equations),
            condition("locale", locale.clone().map(Test::Contains)),
            condition("version", self.versions().map(Test::IsOneOf)),
            is("source", source.as_deref()),
        ];
        let facets = facets.iter().map(|(name, value)| Condition {
            field: facet_field(name),
            test: match value {
                FacetFilter::Number(most) => Test::AtMost(*most),
                other => Test::Contains(other.to_string()),
            },
        });
        built_in.into_iter().flatten().chain(facets).collect()
    }

    /// True if the filters admit a chunk with these values. A hosted store applies the same conditions itself.
    #[must_use]
    pub fn admits(&self, values: &FilterValues) -> bool {
        all_hold(&self.conditions(), values)
    }
}

/// True if all conditions hold for the values.
pub(crate) fn all_hold(conditions: &[Condition], values: &FilterValues) -> bool {
    conditions
        .iter()
        .all(|condition| condition.test.admits(values.get(&condition.field)))
}

fn condition(field: &str, test: Option<Test>) -> Option<Condition> {
    test.map(|test| Condition {
        field: field.to_owned(),
        test,
    })
}

fn is(field: &str, value: Option<impl Into<Value>>) -> Option<Condition> {
    condition(field, value.map(|value| Test::Is(value.into())))
}

fn place(title: &str, number: &str, value: Option<&TitleOrNumber>) -> Option<Condition> {
    match value? {
        TitleOrNumber::Number(value) => is(number, Some(*value)),
        TitleOrNumber::Title(value) => is(title, Some(value.as_str())),
    }
}
