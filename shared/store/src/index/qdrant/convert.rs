//! Converts between this project's types and Qdrant's.

use std::collections::HashMap;

use qdrant_client::qdrant::{
    NamedVectors, PointId, PointStruct, ScoredPoint, Value, Vector, VectorsOutput, VectorsSelector,
    point_id, vector_output,
};
use qdrant_client::{Payload, QdrantError};
use uuid::Uuid;

use super::{DENSE, LEXICAL, QUESTIONS, TOKENS};
use crate::index::bm25;
use crate::index::{ChunkPayload, IndexError, NewPoint};
use models::embed::{Embedding, TOKEN_DIMENSIONS, TokenVectors, WeightedToken, rounded, widened};

pub(super) fn point_struct(point: &NewPoint) -> Result<PointStruct, IndexError> {
    let payload = serde_json::to_value(&point.payload)
        .ok()
        .and_then(|value| Payload::try_from(value).ok())
        .ok_or_else(|| IndexError::Malformed("a payload that is not an object".to_owned()))?;
    let Embedding {
        vector,
        tokens,
        questions,
    } = &point.embedding;
    let (dimensions, weights) = bm25::document_vector(&bm25::document_terms(&point.payload));
    let mut vectors = NamedVectors::default()
        .add_vector(DENSE, Vector::from(vector.clone()))
        .add_vector(LEXICAL, Vector::new_sparse(dimensions, weights));
    if !tokens.is_empty() {
        let rows: Vec<Vec<f32>> = tokens.iter().map(|row| widened(row).to_vec()).collect();
        vectors = vectors.add_vector(TOKENS, Vector::new_multi(rows));
    }
    if !questions.is_empty() {
        vectors = vectors.add_vector(QUESTIONS, Vector::new_multi(questions.clone()));
    }
    Ok(PointStruct::new(
        point.point_id.to_string(),
        vectors,
        payload,
    ))
}

/// Selects the vectors of one name.
pub(super) fn selected(name: &str) -> VectorsSelector {
    VectorsSelector {
        names: vec![name.to_owned()],
    }
}

/// Returns a question's token vectors, each multiplied by its weight, so that the sum of the best dot products is weighted.
pub(super) fn weighed_tokens(tokens: &[WeightedToken]) -> Vec<Vec<f32>> {
    tokens
        .iter()
        .filter(|token| token.weight > 0.0)
        .map(|token| {
            let vector = widened(&token.vector).map(|value| value * token.weight);
            vector.to_vec()
        })
        .collect()
}

/// Reads a payload.
///
/// # Errors
/// `Malformed` if it is damaged or another release's.
pub(super) fn payload_of(payload: HashMap<String, Value>) -> Result<ChunkPayload, IndexError> {
    let payload = serde_json::Value::from(Payload::from(payload));
    serde_json::from_value(payload)
        .map_err(|error| IndexError::Malformed(format!("a payload without its fields: {error}")))
}

pub(super) fn scored(point: ScoredPoint) -> Result<super::ScoredPoint, IndexError> {
    Ok(super::ScoredPoint {
        point_id: uuid_of(point.id)?,
        score: point.score,
        token_score: None,
        question_score: None,
    })
}

pub(super) fn uuid_of(id: Option<PointId>) -> Result<Uuid, IndexError> {
    match id.and_then(|id| id.point_id_options) {
        Some(point_id::PointIdOptions::Uuid(text)) => Uuid::parse_str(&text)
            .map_err(|_| IndexError::Malformed("a point id that is not a UUID".to_owned())),
        _ => Err(IndexError::Malformed("a point without a UUID".to_owned())),
    }
}

/// Returns the vectors of a point; missing ones are empty.
pub(super) fn embedding_of(vectors: VectorsOutput) -> Embedding {
    Embedding {
        tokens: tokens_of(&vectors),
        questions: questions_of(&vectors),
        vector: match vectors.get_vector_by_name(DENSE) {
            Some(vector_output::Vector::Dense(vector)) => vector.data,
            _ => Vec::new(),
        },
    }
}

/// Returns the vectors of a point's questions.
fn questions_of(vectors: &VectorsOutput) -> Vec<Vec<f32>> {
    match vectors.get_vector_by_name(QUESTIONS) {
        Some(vector_output::Vector::MultiDense(rows)) => {
            rows.vectors.into_iter().map(|row| row.data).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the token vectors of a point, without those of another length.
pub(super) fn tokens_of(vectors: &VectorsOutput) -> TokenVectors {
    let Some(vector_output::Vector::MultiDense(rows)) = vectors.get_vector_by_name(TOKENS) else {
        return TokenVectors::default();
    };
    let rows = rows
        .vectors
        .iter()
        .filter_map(|row| <&[f32; TOKEN_DIMENSIONS]>::try_from(&*row.data).ok());
    TokenVectors::new(rows.map(rounded))
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
