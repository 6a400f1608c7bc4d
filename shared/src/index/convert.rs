//! Between our types and Qdrant's.

use std::collections::HashMap;

use qdrant_client::qdrant::{
    Document, NamedVectors, PointId, PointStruct, ScoredPoint, Value, Vector, VectorsOutput,
    VectorsSelector, point_id, vector_output,
};
use qdrant_client::{Payload, QdrantError};
use uuid::Uuid;

use super::{
    BM25_AVERAGE_WORDS, BM25_B, BM25_K, BM25_LANGUAGE, BM25_MODEL, DENSE, Hit, Hits, IndexError,
    LEXICAL, NewPoint,
};

pub(super) fn point_struct(point: NewPoint) -> Result<PointStruct, IndexError> {
    let payload = serde_json::to_value(&point.payload)
        .ok()
        .and_then(|value| Payload::try_from(value).ok())
        .ok_or_else(|| IndexError::Malformed("a payload that is no object".to_owned()))?;
    let vectors = NamedVectors::default()
        .add_vector(DENSE, Vector::from(point.vectors))
        .add_vector(LEXICAL, Vector::from(bm25_document(&point.lexical_text)));
    Ok(PointStruct::new(
        point.point_id.to_string(),
        vectors,
        payload,
    ))
}

pub(super) fn bm25_document(text: &str) -> Document {
    let options = HashMap::from([
        ("k".to_owned(), Value::from(BM25_K)),
        ("b".to_owned(), Value::from(BM25_B)),
        ("avg_len".to_owned(), Value::from(BM25_AVERAGE_WORDS)),
        ("language".to_owned(), Value::from(BM25_LANGUAGE)),
    ]);
    Document {
        text: text.to_owned(),
        model: BM25_MODEL.to_owned(),
        options,
    }
}

pub(super) fn dense_only() -> VectorsSelector {
    VectorsSelector {
        names: vec![DENSE.to_owned()],
    }
}

/// Reads points. One that cannot be read, of another release or damaged, is left out.
///
/// # Errors
/// When none can be read: then something else must answer.
pub(super) fn hits(points: Vec<ScoredPoint>) -> Result<Hits, IndexError> {
    let mut hits = Hits::default();
    let mut failure = None;
    for point in points {
        match hit(point) {
            Ok(hit) => hits.read.push(hit),
            Err(error) => {
                hits.unreadable += 1;
                failure = Some(error);
            }
        }
    }
    match failure {
        Some(error) if hits.read.is_empty() => return Err(error),
        Some(error) => {
            let unreadable = hits.unreadable;
            tracing::warn!(stage = "index", %error, unreadable, "points are left out");
        }
        None => {}
    }
    Ok(hits)
}

fn hit(point: ScoredPoint) -> Result<Hit, IndexError> {
    let payload: HashMap<String, Value> = point.payload;
    let payload = serde_json::Value::from(Payload::from(payload));
    let payload = serde_json::from_value(payload)
        .map_err(|error| IndexError::Malformed(format!("a payload without its fields: {error}")))?;
    Ok(Hit {
        point_id: uuid_of(point.id)?,
        score: point.score,
        payload,
        vectors: rows_of(point.vectors),
    })
}

pub(super) fn uuid_of(id: Option<PointId>) -> Result<Uuid, IndexError> {
    match id.and_then(|id| id.point_id_options) {
        Some(point_id::PointIdOptions::Uuid(text)) => Uuid::parse_str(&text)
            .map_err(|_| IndexError::Malformed("a point id that is no UUID".to_owned())),
        _ => Err(IndexError::Malformed("a point without a UUID".to_owned())),
    }
}

pub(super) fn rows_of(vectors: Option<VectorsOutput>) -> Vec<Vec<f32>> {
    let vector = vectors.and_then(|vectors| vectors.get_vector_by_name(DENSE));
    match vector {
        Some(vector_output::Vector::MultiDense(rows)) => {
            rows.vectors.into_iter().map(|row| row.data).collect()
        }
        Some(vector_output::Vector::Dense(row)) => vec![row.data],
        _ => Vec::new(),
    }
}

pub(super) fn from_client(error: QdrantError) -> IndexError {
    use tonic::Code;
    match &error {
        QdrantError::ResponseError { status } => {
            let message = status.message().to_owned();
            match status.code() {
                Code::ResourceExhausted => IndexError::StorageFull(message),
                Code::Unavailable
                | Code::DeadlineExceeded
                | Code::Cancelled
                | Code::Aborted
                | Code::Internal
                | Code::Unknown => IndexError::Unavailable(message),
                _ => IndexError::Rejected(message),
            }
        }
        QdrantError::ResourceExhaustedError { .. } => IndexError::Unavailable(error.to_string()),
        QdrantError::Io(_) => IndexError::Unavailable(error.to_string()),
        _ => IndexError::Rejected(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::index::bm25_settings;

    fn stored(payload: Json) -> ScoredPoint {
        ScoredPoint {
            id: Some("6f0a1c52-6a8e-4a3e-9d57-0d6f5d1f6c11".into()),
            payload: Payload::try_from(payload).unwrap().into(),
            score: 0.5,
            ..ScoredPoint::default()
        }
    }

    #[test]
    fn an_unreadable_point_is_left_out_and_counted() {
        let fixture = include_str!("../../fixtures/payloads/0.1.0.json");
        let readable: Json = serde_json::from_str(fixture).unwrap();
        let mut damaged = readable.clone();
        damaged.as_object_mut().unwrap().remove("url");
        let points = [json!({}), readable.clone(), damaged, readable];
        let hits = hits(points.map(stored).to_vec()).unwrap();
        assert_eq!((hits.read.len(), hits.unreadable), (2, 2));
        assert_eq!(hits.read[0].payload.title, "Nodes");
    }

    #[test]
    fn where_no_point_can_be_read_the_search_fails() {
        assert!(hits(vec![stored(json!({}))]).is_err());
        assert!(hits(Vec::new()).unwrap().is_empty());
    }

    /// The text is part of the identity of indexes that are stored.
    #[test]
    fn the_bm25_settings_are_told_as_they_always_were() {
        let text = "k=1.2 b=0.75 avg_len=256 language=english";
        assert_eq!(bm25_settings(), text);
    }
}
