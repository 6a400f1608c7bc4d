//! Filters as Qdrant's conditions.

use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{
    Condition, FieldCondition, FieldType, Filter, Match, Range, RepeatedStrings,
};
use serde_json::Value;

use crate::index::conditions::FieldKind;
use crate::index::{Filters, Test};

impl From<FieldKind> for FieldType {
    fn from(kind: FieldKind) -> Self {
        match kind {
            FieldKind::Keyword => Self::Keyword,
            FieldKind::Integer => Self::Integer,
            FieldKind::Float => Self::Float,
            FieldKind::Flag => Self::Bool,
        }
    }
}

/// Converts to a Qdrant filter; each of its fields has a payload index. `None` without conditions.
pub(super) fn to_qdrant(filters: &Filters) -> Option<Filter> {
    let conditions: Vec<Condition> = filters
        .conditions()
        .into_iter()
        .map(|condition| to_condition(&condition.field, condition.test))
        .collect();
    (!conditions.is_empty()).then(|| Filter::must(conditions))
}

fn to_condition(field: &str, test: Test) -> Condition {
    match test {
        Test::Is(Value::Bool(flag)) => Condition::matches(field, flag),
        Test::Is(Value::Number(number)) => {
            Condition::matches(field, number.as_i64().unwrap_or_default())
        }
        Test::Is(Value::String(text)) | Test::Contains(text) => is(field, text),
        Test::Is(other) => is(field, other.to_string()),
        Test::IsOneOf(mut texts) if texts.len() == 1 => is(field, texts.remove(0)),
        Test::IsOneOf(strings) => matches(field, MatchValue::Keywords(RepeatedStrings { strings })),
        Test::AtMost(most) => {
            let range = Range {
                lte: Some(most),
                ..Range::default()
            };
            Filter::should([Condition::range(field, range), Condition::is_empty(field)]).into()
        }
    }
}

/// Matches the exact value. The client's own shorthand searches the words of a value with spaces.
fn is(field: &str, value: String) -> Condition {
    matches(field, MatchValue::Keyword(value))
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
