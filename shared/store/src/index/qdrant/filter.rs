//! Filters as Qdrant's conditions.

use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, Match, Range, RepeatedStrings};

use crate::index::{Filters, TitleOrNumber};

/// Converts to a Qdrant filter; each of its fields has a payload index. `None` without conditions.
pub(super) fn to_qdrant(filters: &Filters) -> Option<Filter> {
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
    let tier = filters.hardware_tier.map(|most| {
        let range = Range {
            lte: Some(most as f64),
            ..Range::default()
        };
        Condition::range("hardware_tier", range)
    });
    let conditions: Vec<Condition> = [
        place("module", "module_number", &filters.module),
        place("chapter", "chapter_number", &filters.chapter),
        keyword("lesson_id", &filters.lesson),
        tier,
        keyword("layer", &filters.layer),
        keyword("proficiency_level", &filters.proficiency_level),
        filters
            .section_type
            .map(|kind| is("section_type", kind.name())),
        flag("has_code", filters.has_code),
        flag("has_equations", filters.has_equations),
        keyword("locale", &filters.locale),
        filters
            .versions()
            .map(|versions| any_of("version", versions)),
        keyword("source", &filters.source),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!conditions.is_empty()).then(|| Filter::must(conditions))
}

/// Matches any of the values.
fn any_of(field: &str, values: Vec<&str>) -> Condition {
    match values.as_slice() {
        [value] => is(field, value),
        values => matches(
            field,
            MatchValue::Keywords(RepeatedStrings {
                strings: values.iter().map(|&value| value.to_owned()).collect(),
            }),
        ),
    }
}

/// Matches the exact value. The client's own shorthand searches the words of a value with spaces.
fn is(field: &str, value: &str) -> Condition {
    matches(field, MatchValue::Keyword(value.to_owned()))
}

fn matches(field: &str, value: MatchValue) -> Condition {
    FieldCondition {
        key: field.to_owned(),
        r#match: Some(Match {
            match_value: Some(value),
        }),
        ..FieldCondition::default()
    }
    .into()
}
