//! Converts filters over ids and payload fields.

use qdrant_client::qdrant::condition::ConditionOneOf;
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{Condition, FieldCondition, Filter, Match, Range};
use qdrant_edge::external::ordered_float::OrderedFloat;
use qdrant_edge::{
    HasIdCondition, HasVectorCondition, IsEmptyCondition, IsNullCondition, JsonPath, MatchExcept,
    MinShould, RangeInterface,
};

use super::point::{field_path, point_ids};
use super::to_usize;
use crate::error::CallError;
use crate::schema::Schema;
use crate::strict;

/// Converts a filter whose fields are all indexed.
pub(crate) fn filter(
    filter: Option<Filter>,
    schema: &Schema,
) -> Result<Option<qdrant_edge::Filter>, CallError> {
    let Some(filter) = filter else {
        return Ok(None);
    };
    let filter = plain_filter(filter)?;
    strict::check_filter(&filter, schema)?;
    Ok(Some(filter))
}

fn plain_filter(filter: Filter) -> Result<qdrant_edge::Filter, CallError> {
    let Filter {
        should,
        must,
        must_not,
        min_should,
    } = filter;
    let min_should = match min_should {
        Some(few) => Some(MinShould {
            conditions: conditions(few.conditions)?.unwrap_or_default(),
            min_count: to_usize("min_count", few.min_count)?,
        }),
        None => None,
    };
    Ok(qdrant_edge::Filter {
        should: conditions(should)?,
        min_should,
        must: conditions(must)?,
        must_not: conditions(must_not)?,
    })
}

fn conditions(list: Vec<Condition>) -> Result<Option<Vec<qdrant_edge::Condition>>, CallError> {
    if list.is_empty() {
        return Ok(None);
    }
    list.into_iter()
        .map(condition)
        .collect::<Result<_, _>>()
        .map(Some)
}

fn condition(condition: Condition) -> Result<qdrant_edge::Condition, CallError> {
    Ok(match condition.condition_one_of {
        Some(ConditionOneOf::Field(field)) => {
            qdrant_edge::Condition::Field(field_condition(field)?)
        }
        Some(ConditionOneOf::IsEmpty(empty)) => {
            qdrant_edge::Condition::IsEmpty(IsEmptyCondition::from(field_path(&empty.key)?))
        }
        Some(ConditionOneOf::IsNull(null)) => {
            qdrant_edge::Condition::IsNull(IsNullCondition::from(field_path(&null.key)?))
        }
        Some(ConditionOneOf::HasId(ids)) => {
            let ids = point_ids(ids.has_id)?;
            qdrant_edge::Condition::HasId(ids.into_iter().collect::<HasIdCondition>())
        }
        Some(ConditionOneOf::HasVector(name)) => {
            qdrant_edge::Condition::HasVector(HasVectorCondition::from(name.has_vector))
        }
        Some(ConditionOneOf::Filter(filter)) => {
            qdrant_edge::Condition::Filter(plain_filter(filter)?)
        }
        Some(ConditionOneOf::Nested(_)) => return Err(unsupported("nested")),
        Some(ConditionOneOf::Slice(_)) => return Err(unsupported("slice")),
        None => return Err(CallError::Invalid("a filter condition is empty".into())),
    })
}

fn field_condition(field: FieldCondition) -> Result<qdrant_edge::FieldCondition, CallError> {
    let FieldCondition {
        key,
        r#match,
        range,
        geo_bounding_box,
        geo_radius,
        values_count,
        geo_polygon,
        datetime_range,
        is_empty,
        is_null,
    } = field;
    CallError::refuse("geo_bounding_box", geo_bounding_box.as_ref())?;
    CallError::refuse("geo_radius", geo_radius.as_ref())?;
    CallError::refuse("geo_polygon", geo_polygon.as_ref())?;
    CallError::refuse("values_count", values_count.as_ref())?;
    CallError::refuse("datetime_range", datetime_range.as_ref())?;
    if r#match.is_none() && range.is_none() && is_empty.is_none() && is_null.is_none() {
        return Err(CallError::Invalid(format!(
            "the condition on `{key}` says nothing"
        )));
    }
    let path: JsonPath = field_path(&key)?;
    Ok(qdrant_edge::FieldCondition {
        key: path,
        r#match: r#match.map(|value| match_value(value, &key)).transpose()?,
        range: range.map(range_of_numbers),
        geo_bounding_box: None,
        geo_radius: None,
        geo_polygon: None,
        values_count: None,
        is_empty,
        is_null,
    })
}

fn match_value(value: Match, key: &str) -> Result<qdrant_edge::Match, CallError> {
    Ok(match value.match_value {
        Some(MatchValue::Keyword(keyword)) => keyword.into(),
        Some(MatchValue::Integer(integer)) => integer.into(),
        Some(MatchValue::Boolean(flag)) => flag.into(),
        Some(MatchValue::Keywords(list)) => list.strings.into(),
        Some(MatchValue::Integers(list)) => list.integers.into(),
        Some(MatchValue::ExceptKeywords(list)) => {
            qdrant_edge::Match::Except(MatchExcept::from(list.strings))
        }
        Some(MatchValue::ExceptIntegers(list)) => {
            qdrant_edge::Match::Except(MatchExcept::from(list.integers))
        }
        Some(MatchValue::Text(_)) => return Err(unsupported("text")),
        Some(MatchValue::TextAny(_)) => return Err(unsupported("text_any")),
        Some(MatchValue::Phrase(_)) => return Err(unsupported("phrase")),
        Some(MatchValue::Prefix(_)) => return Err(unsupported("prefix")),
        Some(MatchValue::Substring(_)) => return Err(unsupported("substring")),
        None => {
            return Err(CallError::Invalid(format!(
                "the match on `{key}` has no value"
            )));
        }
    })
}

fn range_of_numbers(range: Range) -> RangeInterface {
    RangeInterface::Float(qdrant_edge::Range {
        lt: range.lt.map(OrderedFloat),
        gt: range.gt.map(OrderedFloat),
        gte: range.gte.map(OrderedFloat),
        lte: range.lte.map(OrderedFloat),
    })
}

fn unsupported(condition: &str) -> CallError {
    CallError::Unsupported(format!("the filter condition `{condition}`"))
}
