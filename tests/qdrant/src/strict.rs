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
        Condition::IsEmpty(field) => check_index(&field.is_empty.key, None, schema),
        Condition::IsNull(field) => check_index(&field.is_null.key, None, schema),
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
        check_index(&field.key, match_kind(value), schema)?;
    }
    if field.range.is_some() {
        check_index(&field.key, Some(IndexKind::Integer), schema)?;
    }
    if field.is_empty.is_some() || field.is_null.is_some() {
        check_index(&field.key, None, schema)?;
    }
    Ok(())
}

fn match_kind(value: &Match) -> Option<IndexKind> {
    match value {
        Match::Value(one) => Some(match one.value {
            ValueVariants::String(_) => IndexKind::Keyword,
            ValueVariants::Integer(_) => IndexKind::Integer,
            ValueVariants::Bool(_) => IndexKind::Bool,
        }),
        Match::Any(any) => Some(list_kind(&any.any)),
        Match::Except(except) => Some(list_kind(&except.except)),
        Match::Text(_) | Match::TextAny(_) | Match::Phrase(_) => None,
    }
}

fn list_kind(list: &AnyVariants) -> IndexKind {
    match list {
        AnyVariants::Strings(_) => IndexKind::Keyword,
        AnyVariants::Integers(_) => IndexKind::Integer,
    }
}

/// `needed` is the kind of index; `None` accepts any.
fn check_index(
    key: &JsonPath,
    needed: Option<IndexKind>,
    schema: &Schema,
) -> Result<(), CallError> {
    let field = key.to_string();
    let present = schema.indexes.get(&field).copied();
    if present.is_some_and(|kind| needed.is_none_or(|needed| kind == needed)) {
        return Ok(());
    }
    let kinds = needed.map_or("keyword, integer, bool", IndexKind::name);
    Err(CallError::Invalid(format!(
        "Index required but not found for \"{field}\" of one of the following types: [{kinds}]. \
         Help: Create an index for this key or use a different filter."
    )))
}
