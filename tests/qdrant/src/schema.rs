//! A collection's schema: its vectors and payload indexes.

use std::collections::BTreeMap;

use qdrant_edge::{EdgeConfig, VectorInternal};

use super::error::CallError;

#[derive(Debug, Clone)]
pub(super) struct Schema {
    /// Named vectors, with their storage and distance.
    pub(super) vectors: EdgeConfig,
    /// Indexed payload fields, by JSON path.
    pub(super) indexes: BTreeMap<String, IndexKind>,
}

/// The value type of a payload index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IndexKind {
    Keyword,
    Integer,
    Float,
    Bool,
}

impl IndexKind {
    /// Returns Qdrant's name of the type.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Keyword => "keyword",
            Self::Integer => "integer",
            Self::Float => "float",
            Self::Bool => "bool",
        }
    }
}

impl Schema {
    /// Checks a vector against its vector space. As in Qdrant, a single vector for a multivector space becomes a
    /// multivector of one.
    ///
    /// # Errors
    ///
    /// `Invalid` if there is no such space, or the vector has another size or kind, is empty, or is not finite.
    pub(super) fn check_vector(
        &self,
        name: &str,
        vector: VectorInternal,
    ) -> Result<VectorInternal, CallError> {
        if let Some(space) = self.vectors.vectors.get(name) {
            let rows = match vector {
                VectorInternal::Dense(row) => vec![row],
                VectorInternal::MultiDense(_) if space.multivector_config.is_none() => {
                    return Err(mismatch(name, "one dense vector", "a multivector"));
                }
                VectorInternal::MultiDense(rows) => rows.into_multi_vectors(),
                VectorInternal::Sparse(_) => {
                    return Err(mismatch(name, "a dense vector", "a sparse vector"));
                }
            };
            check_rows(name, space.size, &rows)?;
            if space.multivector_config.is_some() {
                return Ok(qdrant_edge::Vector::new_multi(rows)?.into());
            }
            return Ok(VectorInternal::Dense(rows.into_iter().flatten().collect()));
        }
        if self.vectors.sparse_vectors.contains_key(name) {
            return match vector {
                VectorInternal::Sparse(sparse) => {
                    check_finite(name, &sparse.values)?;
                    Ok(VectorInternal::Sparse(sparse))
                }
                VectorInternal::Dense(_) | VectorInternal::MultiDense(_) => {
                    Err(mismatch(name, "a sparse vector", "a dense vector"))
                }
            };
        }
        Err(self.unknown_vector(name))
    }

    pub(super) fn check_vector_name(&self, name: &str) -> Result<(), CallError> {
        let known = self.vectors.vectors.contains_key(name)
            || self.vectors.sparse_vectors.contains_key(name);
        if known {
            Ok(())
        } else {
            Err(self.unknown_vector(name))
        }
    }

    fn unknown_vector(&self, name: &str) -> CallError {
        let mut known: Vec<_> = (self.vectors.vectors.keys())
            .chain(self.vectors.sparse_vectors.keys())
            .map(|name| format!("`{name}`"))
            .collect();
        known.sort();
        CallError::Invalid(format!(
            "Not existing vector name error: `{name}`, the collection has {}",
            known.join(", ")
        ))
    }
}

fn check_rows(name: &str, size: usize, rows: &[Vec<f32>]) -> Result<(), CallError> {
    if rows.is_empty() {
        return Err(CallError::Invalid(format!(
            "vector `{name}` is a multivector without vectors"
        )));
    }
    for row in rows {
        if row.len() != size {
            return Err(CallError::Invalid(format!(
                "Vector dimension error: vector `{name}`: expected dim: {size}, got {}",
                row.len()
            )));
        }
        check_finite(name, row)?;
    }
    Ok(())
}

fn check_finite(name: &str, values: &[f32]) -> Result<(), CallError> {
    if values.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        Err(CallError::Invalid(format!(
            "vector `{name}` has a value that is not finite"
        )))
    }
}

fn mismatch(name: &str, expected: &str, received: &str) -> CallError {
    CallError::Invalid(format!(
        "Conversion error: vector `{name}` expects {expected}, got {received}"
    ))
}
