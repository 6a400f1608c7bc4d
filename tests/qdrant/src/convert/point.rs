//! Converts points: ids, payloads, the selection of fields to return, and found points.

use std::collections::HashMap;

use qdrant_client::qdrant::{
    PointId, RetrievedPoint, ScoredPoint, Value, WithPayloadSelector, WithVectorsSelector,
    point_id, with_payload_selector, with_vectors_selector,
};
use qdrant_edge::{JsonPath, Payload, PayloadSelector, WithPayloadInterface, WithVector};
use uuid::Uuid;

use super::vector::found_vectors;
use crate::error::CallError;
use crate::schema::Schema;

pub(crate) fn point_id(id: Option<PointId>) -> Result<qdrant_edge::PointId, CallError> {
    match id.and_then(|id| id.point_id_options) {
        Some(point_id::PointIdOptions::Num(number)) => Ok(qdrant_edge::PointId::NumId(number)),
        Some(point_id::PointIdOptions::Uuid(text)) => Uuid::parse_str(&text)
            .map(qdrant_edge::PointId::Uuid)
            .map_err(|_| CallError::Invalid(format!("Unable to parse UUID: {text}"))),
        None => Err(CallError::Invalid("a point has no id".into())),
    }
}

pub(crate) fn point_ids(ids: Vec<PointId>) -> Result<Vec<qdrant_edge::PointId>, CallError> {
    ids.into_iter().map(|id| point_id(Some(id))).collect()
}

/// Converts an id to its message.
pub(crate) fn found_id(id: qdrant_edge::PointId) -> PointId {
    match id {
        qdrant_edge::PointId::NumId(number) => PointId::from(number),
        qdrant_edge::PointId::Uuid(uuid) => PointId::from(uuid.to_string()),
    }
}

/// Converts a payload value to JSON.
pub(crate) fn to_json(value: &Value) -> Result<serde_json::Value, CallError> {
    serde_json::to_value(value).map_err(|error| CallError::Invalid(format!("payload: {error}")))
}

/// Converts a payload to a JSON object.
pub(crate) fn payload(
    fields: HashMap<String, Value>,
) -> Result<serde_json::Map<String, serde_json::Value>, CallError> {
    (fields.into_iter())
        .map(|(name, value)| Ok((name, to_json(&value)?)))
        .collect()
}

/// Converts a payload to its message.
pub(crate) fn found_payload(
    fields: serde_json::Map<String, serde_json::Value>,
) -> HashMap<String, Value> {
    (fields.into_iter())
        .map(|(name, value)| (name, Value::from(value)))
        .collect()
}

/// Parses the path of a payload field.
pub(crate) fn field_path(field: &str) -> Result<JsonPath, CallError> {
    (field.parse()).map_err(|()| CallError::Invalid(format!("`{field}` is not a field's path")))
}

/// Returns which parts of the payload to return; `None` if the client did not say.
pub(crate) fn with_payload(
    selector: Option<WithPayloadSelector>,
) -> Result<Option<WithPayloadInterface>, CallError> {
    use with_payload_selector::SelectorOptions;
    let paths = |fields: Vec<String>| -> Result<Vec<JsonPath>, CallError> {
        fields.iter().map(|field| field_path(field)).collect()
    };
    Ok(
        match selector.and_then(|selector| selector.selector_options) {
            Some(SelectorOptions::Enable(enable)) => Some(WithPayloadInterface::Bool(enable)),
            Some(SelectorOptions::Include(include)) => Some(WithPayloadInterface::Selector(
                PayloadSelector::new_include(paths(include.fields)?),
            )),
            Some(SelectorOptions::Exclude(exclude)) => Some(WithPayloadInterface::Selector(
                PayloadSelector::new_exclude(paths(exclude.fields)?),
            )),
            None => None,
        },
    )
}

/// Returns which vectors to return; none unless the client asks.
pub(crate) fn with_vectors(
    selector: Option<WithVectorsSelector>,
    schema: &Schema,
) -> Result<WithVector, CallError> {
    use with_vectors_selector::SelectorOptions;
    Ok(
        match selector.and_then(|selector| selector.selector_options) {
            Some(SelectorOptions::Enable(enable)) => WithVector::Bool(enable),
            Some(SelectorOptions::Include(include)) => {
                for name in &include.names {
                    schema.check_vector_name(name)?;
                }
                WithVector::Selector(include.names)
            }
            None => WithVector::Bool(false),
        },
    )
}

pub(crate) fn retrieved_point(record: qdrant_edge::Record) -> RetrievedPoint {
    RetrievedPoint {
        id: Some(found_id(record.id)),
        payload: record_payload(record.payload),
        vectors: record.vector.map(found_vectors),
        ..RetrievedPoint::default()
    }
}

pub(crate) fn scored_point(point: qdrant_edge::ScoredPoint) -> ScoredPoint {
    ScoredPoint {
        id: Some(found_id(point.id)),
        payload: record_payload(point.payload),
        score: point.score,
        version: point.version,
        vectors: point.vector.map(found_vectors),
        ..ScoredPoint::default()
    }
}

fn record_payload(payload: Option<Payload>) -> HashMap<String, Value> {
    payload.map_or_else(HashMap::new, |Payload(fields)| found_payload(fields))
}
