//! Filters as Qdrant's conditions.

use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, Match, Range, RepeatedStrings};

use crate::index::{Filters, TitleOrNumber};

/// Converts to a Qdrant filter; each of its fields has a payload index. `None` without conditions.
pub(super) fn to_qdrant(filters: &Filters) -> Option<Filter> {
    #[expect(clippy::cast_precision_loss, reason = "tiers are small whole numbers")]
    let tier = filters.hardware_tier.map(|most| {
        let range = Range {
            lte: Some(most as f64),
            ..Range::default()
        };
        Condition::range("hardware_tier", range)
    });
    let conditions: Vec<Condition> = [
        place("module", "module_number", filters.module.as_ref()),
        place("chapter", "chapter_number", filters.chapter.as_ref()),
        keyword("lesson_id", filters.lesson.as_ref()),
        tier,
        keyword("layer", filters.layer.as_ref()),
        keyword("proficiency_level", filters.proficiency_level.as_ref()),
        filters
            .section_type
            .map(|kind| is("section_type", kind.name())),
        filters
            .has_code
            .map(|has_code| Condition::matches("has_code", has_code)),
        filters
            .has_equations
            .map(|has_equations| Condition::matches("has_equations", has_equations)),
        keyword("locale", filters.locale.as_ref()),
        filters
            .versions()
            .map(|versions| any_of("version", versions)),
        keyword("source", filters.source.as_ref()),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!conditions.is_empty()).then(|| Filter::must(conditions))
}

/// Matches a title, or a number in another field.
fn place(title: &str, number: &str, value: Option<&TitleOrNumber>) -> Option<Condition> {
    Some(match value? {
        TitleOrNumber::Number(value) => Condition::matches(number, *value),
        TitleOrNumber::Title(value) => is(title, value),
    })
}

fn keyword(field: &str, value: Option<&String>) -> Option<Condition> {
    value.map(|value| is(field, value))
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
