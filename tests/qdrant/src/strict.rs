//! Refuses filters on fields without a payload index, like Qdrant Cloud in strict mode.
//!
//! Otherwise a query that works locally could fail in production.

use qdrant_edge::{AnyVariants, Condition, FieldCondition, Filter, JsonPath, Match, ValueVariants};

use super::error::CallError;
use super::schema::{IndexKind, Schema};

/// Checks every condition of a filter, including nested ones.
///
/// # Errors
///
/// `Invalid`, naming the field and the kind of index it needs.
pub(super) fn check_filter(filter: &Filter, schema: &Schema) -> Result<(), CallError> {
    let lists = [&filter.must, &filter.should, &filter.must_not];
    let min_should = filter.min_should.iter().flat_map(|few| &few.conditions);
    (lists.into_iter().flatten().flatten())
        .chain(min_should)
        .try_for_each(|condition| check_condition(condition, schema))
}

fn check_condition(condition: &Condition, schema: &Schema) -> Result<(), CallError> {
    match condition {
        Condition::Field(field) => check_field(field, schema),
        Condition::IsEmpty(field) => check_index(&field.is_empty.key, &[], schema),
        Condition::IsNull(field) => check_index(&field.is_null.key, &[], schema),
        Condition::Filter(filter) => check_filter(filter, schema),
        // Ids and vectors need no payload index; `convert::filter` never creates nested or custom conditions.
        Condition::HasId(_)
        | Condition::HasVector(_)
        | Condition::Nested(_)
        | Condition::CustomIdChecker(_) => Ok(()),
    }
}

fn check_field(field: &FieldCondition, schema: &Schema) -> Result<(), CallError> {
    if let Some(value) = &field.r#match {
        check_index(&field.key, match_kinds(value), schema)?;
    }
    if field.range.is_some() {
        check_index(&field.key, &[IndexKind::Integer, IndexKind::Float], schema)?;
    }
    if field.is_empty.is_some() || field.is_null.is_some() {
        check_index(&field.key, &[], schema)?;
    }
    Ok(())
}

fn match_kinds(value: &Match) -> &'static [IndexKind] {
    match value {
        Match::Value(one) => match one.value {
            ValueVariants::String(_) => &[IndexKind::Keyword],
            ValueVariants::Integer(_) => &[IndexKind::Integer],
            ValueVariants::Bool(_) => &[IndexKind::Bool],
        },
        Match::Any(any) => list_kinds(&any.any),
        Match::Except(except) => list_kinds(&except.except),
        Match::Text(_) | Match::TextAny(_) | Match::Phrase(_) => &[],
    }
}

fn list_kinds(list: &AnyVariants) -> &'static [IndexKind] {
    match list {
        AnyVariants::Strings(_) => &[IndexKind::Keyword],
        AnyVariants::Integers(_) => &[IndexKind::Integer],
    }
}

/// `fitting` are the kinds of index that fit; any kind does if there are none.
fn check_index(key: &JsonPath, fitting: &[IndexKind], schema: &Schema) -> Result<(), CallError> {
    let field = key.to_string();
    let present = schema.indexes.get(&field);
    if present.is_some_and(|kind| fitting.is_empty() || fitting.contains(kind)) {
        return Ok(());
    }
    let kinds = match fitting {
        [] => "keyword, integer, float, bool".to_owned(),
        kinds => kinds
            .iter()
            .map(|kind| kind.name())
            .collect::<Vec<_>>()
            .join(", "),
    };
    Err(CallError::Invalid(format!(
        "Index required but not found for \"{field}\" of one of the following types: [{kinds}]. \
         Help: Create an index for this key or use a different filter."
    )))
}
