//! Writes to a collection.

use qdrant_client::qdrant::points_selector::PointsSelectorOneOf;
use qdrant_client::qdrant::{
    CreateFieldIndexCollection, DeletePoints, PointStruct, PointsSelector, UpdateMode, UpsertPoints,
};
use qdrant_edge::{
    CreateIndex, FieldIndexOperations, Filter, JsonPath, PayloadFieldSchema, PayloadSchemaType,
    PointInsertOperations, PointOperations, UpdateOperation, VectorStructInternal, Vectors,
};

use super::Collection;
use crate::convert::collection::index_kind;
use crate::convert::filter::filter;
use crate::convert::point::{field_path, payload, point_id, point_ids};
use crate::convert::vector::stored_vectors;
use crate::error::CallError;
use crate::schema::{IndexKind, Schema};

/// The points that a change affects.
enum Selection {
    Ids(Vec<qdrant_edge::PointId>),
    Filter(Filter),
}

impl Collection {
    /// Inserts points, replacing those with the same ids. Checks all of them before storing the first.
    pub(crate) fn upsert(&self, request: UpsertPoints) -> Result<(), CallError> {
        CallError::refuse("shard_key_selector", request.shard_key_selector.as_ref())?;
        CallError::refuse("update_filter", request.update_filter.as_ref())?;
        if (request.update_mode).is_some_and(|mode| mode != UpdateMode::Upsert as i32) {
            return Err(CallError::Unsupported("the option `update_mode`".into()));
        }
        let schema = self.schema();
        let points = (request.points.into_iter())
            .map(|point| stored_point(point, &schema))
            .collect::<Result<Vec<_>, _>>()?;
        drop(schema);
        if points.is_empty() {
            return Err(CallError::Invalid("there are no points to upsert".into()));
        }
        let points = points.into_iter().map(Into::into).collect();
        self.update(UpdateOperation::PointOperation(
            PointOperations::UpsertPoints(PointInsertOperations::PointsList(points)),
        ))
    }

    /// Deletes points by their ids or by a filter.
    pub(crate) fn delete_points(&self, request: DeletePoints) -> Result<(), CallError> {
        CallError::refuse("shard_key_selector", request.shard_key_selector.as_ref())?;
        let operation = match selection(request.points, &self.schema())? {
            Selection::Ids(ids) => PointOperations::DeletePoints { ids },
            Selection::Filter(filter) => PointOperations::DeletePointsByFilter(filter),
        };
        self.update(UpdateOperation::PointOperation(operation))
    }

    /// Indexes a payload field, so that filters may use it.
    pub(crate) fn create_index(
        &self,
        request: &CreateFieldIndexCollection,
    ) -> Result<(), CallError> {
        let kind = index_kind(request)?;
        let field: JsonPath = field_path(&request.field_name)?;
        let schema = match kind {
            IndexKind::Keyword => PayloadSchemaType::Keyword,
            IndexKind::Integer => PayloadSchemaType::Integer,
            IndexKind::Float => PayloadSchemaType::Float,
            IndexKind::Bool => PayloadSchemaType::Bool,
        };
        self.update(UpdateOperation::FieldIndexOperation(
            FieldIndexOperations::CreateIndex(CreateIndex {
                field_name: field.clone(),
                field_schema: Some(PayloadFieldSchema::FieldType(schema)),
            }),
        ))?;
        self.schema_mut().indexes.insert(field.to_string(), kind);
        Ok(())
    }
}

fn stored_point(
    point: PointStruct,
    schema: &Schema,
) -> Result<qdrant_edge::PointStruct, CallError> {
    let id = point_id(point.id)?;
    let vectors = Vectors(VectorStructInternal::Named(stored_vectors(
        point.vectors,
        schema,
    )?));
    let payload = serde_json::Value::Object(payload(point.payload)?);
    Ok(qdrant_edge::PointStruct::new(id, vectors, payload))
}

fn selection(selector: Option<PointsSelector>, schema: &Schema) -> Result<Selection, CallError> {
    let nothing = || CallError::Invalid("no points are selected".into());
    match selector.and_then(|selector| selector.points_selector_one_of) {
        Some(PointsSelectorOneOf::Points(list)) => Ok(Selection::Ids(point_ids(list.ids)?)),
        Some(PointsSelectorOneOf::Filter(conditions)) => filter(Some(conditions), schema)?
            .map(Selection::Filter)
            .ok_or_else(nothing),
        None => Err(nothing()),
    }
}
