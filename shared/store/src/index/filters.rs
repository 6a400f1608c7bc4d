//! Filters of a search, as in requests.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::ChunkPayload;
use book::chunk::SectionType;
use book::{ContentKind, FacetKind, FacetValue, Facets, origin_of_version};

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
    /// The facets that the site declares, by name.
    #[serde(
        deserialize_with = "null_or_value",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<BTreeMap<String, FacetFilter>>))]
    pub facets: BTreeMap<String, FacetFilter>,
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

/// Reads a value; `null` is the default one.
fn null_or_value<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
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

/// The value of a facet to search for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(untagged, expecting = "expected a text, a number, or true or false")]
pub enum FacetFilter {
    /// The most that pages may need, of a facet declared as `at most`.
    Number(f64),
    /// `true` or `false`, compared as text.
    Flag(bool),
    /// A value that pages have.
    Text(String),
}

impl std::fmt::Display for FacetFilter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Flag(flag) => flag.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl Filters {
    /// Returns the filters that a chunk fulfils, each with the chunk's own value.
    #[must_use]
    pub fn fulfilled_by(payload: ChunkPayload, by: PlacedBy) -> Self {
        let place = |title, number: Option<i64>| match by {
            PlacedBy::Title => Some(TitleOrNumber::Title(title)),
            PlacedBy::Number => number.map(TitleOrNumber::Number),
        };
        Self {
            module: place(payload.module, payload.module_number),
            chapter: place(payload.chapter, payload.chapter_number),
            lesson: payload.lesson_id,
            hardware_tier: Some(payload.hardware_tier),
            layer: Some(payload.layer),
            proficiency_level: Some(payload.proficiency_level),
            section_type: Some(payload.section_type),
            has_code: Some(payload.has_code),
            has_equations: Some(payload.has_equations),
            locale: payload.locale.into_iter().next(),
            version: Some(payload.version),
            versions_beside: Vec::new(),
            kind: Vec::new(),
            source: Some(payload.source),
            facets: payload
                .facets
                .into_iter()
                .filter_map(fulfilled_facet)
                .collect(),
        }
    }

    /// Returns the filters with the facets that a site declares, their values converted to the type in which they are compared. Other facets are left
    /// out.
    #[must_use]
    pub fn with_declared_facets(mut self, declared: &Facets) -> Self {
        self.facets.retain(|name, _| declared.contains_key(name));
        for (name, value) in &mut self.facets {
            *value = match (&declared[name], &value) {
                (FacetKind::AtMost, FacetFilter::Text(text)) => match text.trim().parse::<f64>() {
                    Ok(number) if number.is_finite() => FacetFilter::Number(number),
                    // A text that no page has: the error for unknown values names it.
                    _ => continue,
                },
                (FacetKind::Text, other) => FacetFilter::Text(other.to_string()),
                (FacetKind::AtMost, _) => continue,
            };
        }
        self
    }

    /// Returns the admitted versions; `None` if all are.
    #[must_use]
    pub fn versions(&self) -> Option<Vec<String>> {
        let version = self.version.iter();
        let versions = version.chain(&self.versions_beside).cloned().collect();
        self.version.is_some().then_some(versions)
    }

    /// True if the filters admit the kind of page that a stored version belongs to. Stores know only versions, so a kind is searched by the versions
    /// of its plugin instances.
    #[must_use]
    pub fn admits_kind_of(&self, version: &str) -> bool {
        self.kind.is_empty() || self.kind.contains(&origin_of_version(version).0)
    }
}

/// Whether [`Filters::fulfilled_by`] names module and chapter by title or by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlacedBy {
    /// By their titles.
    Title,
    /// By their numbers.
    Number,
}

fn fulfilled_facet((name, value): (String, FacetValue)) -> Option<(String, FacetFilter)> {
    let filter = match value {
        FacetValue::Number(number) => FacetFilter::Number(number),
        FacetValue::Texts(texts) => FacetFilter::Text(texts.into_iter().next()?),
    };
    Some((name, filter))
}

#[cfg(test)]
mod tests;
