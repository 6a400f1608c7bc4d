//! Which chunks a request may find.

use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, Match, Range};
use serde::{Deserialize, Serialize};

use crate::chunk::SectionType;

/// Conditions that all must hold; an absent one does not limit.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filters {
    /// The module: its title or its number.
    pub module: Option<TitleOrNumber>,
    /// The chapter: its title or its number.
    pub chapter: Option<TitleOrNumber>,
    /// The lesson: `1.2.3` of module, chapter and lesson.
    pub lesson: Option<String>,
    /// The most equipment the reader has, 1 to 4: chunks that need more are left out.
    pub hardware_tier: Option<i64>,
    /// The teaching layer.
    pub layer: Option<String>,
    /// The proficiency level.
    pub proficiency_level: Option<String>,
    /// Structural, instructional or code-heavy.
    pub section_type: Option<SectionType>,
    /// Whether code stands in it.
    pub has_code: Option<bool>,
    /// Whether a formula stands in it.
    pub has_equations: Option<bool>,
    /// The locale.
    pub locale: Option<String>,
    /// The version.
    pub version: Option<String>,
    /// The source path.
    pub source: Option<String>,
}

/// A title, or a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TitleOrNumber {
    /// A number.
    Number(i64),
    /// A title.
    Title(String),
}

impl Filters {
    /// The filter in Qdrant's terms; every field it names has a payload index. `None` without conditions.
    #[must_use]
    pub(super) fn to_qdrant(&self) -> Option<Filter> {
        let keyword =
            |field: &str, value: &Option<String>| value.as_ref().map(|value| is(field, value));
        let flag =
            |field: &str, value: Option<bool>| value.map(|value| Condition::matches(field, value));
        let place = |title: &str, number: &str, value: &Option<TitleOrNumber>| {
            value.as_ref().map(|value| match value {
                TitleOrNumber::Number(value) => Condition::matches(number, *value),
                TitleOrNumber::Title(value) => is(title, value),
            })
        };
        #[expect(clippy::cast_precision_loss, reason = "tiers are small whole numbers")]
        let tier = self.hardware_tier.map(|most| {
            let range = Range {
                lte: Some(most as f64),
                ..Range::default()
            };
            Condition::range("hardware_tier", range)
        });
        let conditions: Vec<Condition> = [
            place("module", "module_number", &self.module),
            place("chapter", "chapter_number", &self.chapter),
            keyword("lesson_id", &self.lesson),
            tier,
            keyword("layer", &self.layer),
            keyword("proficiency_level", &self.proficiency_level),
            self.section_type
                .map(|kind| is("section_type", kind.name())),
            flag("has_code", self.has_code),
            flag("has_equations", self.has_equations),
            keyword("locale", &self.locale),
            keyword("version", &self.version),
            keyword("source", &self.source),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!conditions.is_empty()).then(|| Filter::must(conditions))
    }
}

/// The value itself. The client's own shorthand searches the words of a value that has spaces.
fn is(field: &str, value: &str) -> Condition {
    FieldCondition {
        key: field.to_owned(),
        r#match: Some(Match {
            match_value: Some(MatchValue::Keyword(value.to_owned())),
        }),
        ..FieldCondition::default()
    }
    .into()
}
