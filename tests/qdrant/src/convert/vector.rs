//! Converts vectors between the forms of clients and of the engine.

use std::collections::HashMap;

use qdrant_client::qdrant::{
    DenseVector, MultiDenseVector, NamedVectors, NamedVectorsOutput, SparseVector, Vector,
    VectorInput, VectorOutput, Vectors, VectorsOutput, vector, vector_input, vector_output,
    vectors, vectors_output,
};
use qdrant_edge::{VectorInternal, VectorStructInternal};

use crate::error::CallError;
use crate::schema::Schema;

/// The name of the default vector.
const UNNAMED: &str = "";

/// Converts the vectors of a new point, by name, and checks them against the collection.
pub(crate) fn stored_vectors(
    vectors: Option<Vectors>,
    schema: &Schema,
) -> Result<HashMap<String, VectorInternal>, CallError> {
    let named = match vectors.and_then(|vectors| vectors.vectors_options) {
        Some(vectors::VectorsOptions::Vector(vector)) => {
            HashMap::from([(UNNAMED.to_owned(), vector)])
        }
        Some(vectors::VectorsOptions::Vectors(NamedVectors { vectors })) => vectors,
        None => return Err(CallError::Invalid("a point has no vectors".into())),
    };
    (named.into_iter())
        .map(|(name, vector)| {
            let vector = schema.check_vector(&name, stored_vector(vector)?)?;
            Ok((name, vector))
        })
        .collect()
}

/// Converts the vector of a query and checks it against its vector space.
pub(crate) fn query_vector(
    input: VectorInput,
    using: &str,
    schema: &Schema,
) -> Result<VectorInternal, CallError> {
    use vector_input::Variant;
    let vector = match input.variant {
        Some(Variant::Dense(dense)) => VectorInternal::Dense(dense.data),
        Some(Variant::Sparse(sparse)) => sparse_vector(sparse.indices, sparse.values)?,
        Some(Variant::MultiDense(multi)) => multi_vector(multi)?,
        Some(Variant::Id(_)) => return Err(CallError::Unsupported("a query by point id".into())),
        Some(Variant::Document(_) | Variant::Image(_) | Variant::Object(_)) => {
            return Err(inference());
        }
        None => return Err(CallError::Invalid("the query has no vector".into())),
    };
    schema.check_vector(using, vector)
}

fn stored_vector(vector: Vector) -> Result<VectorInternal, CallError> {
    match vector.vector {
        Some(vector::Vector::Dense(dense)) => Ok(VectorInternal::Dense(dense.data)),
        Some(vector::Vector::Sparse(sparse)) => sparse_vector(sparse.indices, sparse.values),
        Some(vector::Vector::MultiDense(multi)) => multi_vector(multi),
        Some(
            vector::Vector::Document(_) | vector::Vector::Image(_) | vector::Vector::Object(_),
        ) => Err(inference()),
        None => Err(CallError::Unsupported(
            "vectors of clients before 1.16".into(),
        )),
    }
}

fn sparse_vector(indices: Vec<u32>, values: Vec<f32>) -> Result<VectorInternal, CallError> {
    qdrant_edge::SparseVector::new(indices, values)
        .map(VectorInternal::Sparse)
        .map_err(|error| CallError::Invalid(format!("sparse vector: {error}")))
}

fn multi_vector(multi: MultiDenseVector) -> Result<VectorInternal, CallError> {
    let rows: Vec<Vec<f32>> = multi.vectors.into_iter().map(|row| row.data).collect();
    Ok(qdrant_edge::Vector::new_multi(rows)?.into())
}

fn inference() -> CallError {
    CallError::Unsupported("inference".into())
}

/// Converts the vectors of a found point.
pub(crate) fn found_vectors(vectors: VectorStructInternal) -> VectorsOutput {
    use vectors_output::VectorsOptions;
    let options = match vectors {
        VectorStructInternal::Single(row) => {
            VectorsOptions::Vector(found_vector(VectorInternal::Dense(row)))
        }
        VectorStructInternal::MultiDense(rows) => {
            VectorsOptions::Vector(found_vector(VectorInternal::MultiDense(rows)))
        }
        VectorStructInternal::Named(named) => VectorsOptions::Vectors(NamedVectorsOutput {
            vectors: (named.into_iter())
                .map(|(name, vector)| (name, found_vector(vector)))
                .collect(),
        }),
    };
    VectorsOutput {
        vectors_options: Some(options),
    }
}

fn found_vector(vector: VectorInternal) -> VectorOutput {
    let vector = match vector {
        VectorInternal::Dense(data) => vector_output::Vector::Dense(DenseVector { data }),
        VectorInternal::Sparse(sparse) => vector_output::Vector::Sparse(SparseVector {
            values: sparse.values,
            indices: sparse.indices,
        }),
        VectorInternal::MultiDense(rows) => vector_output::Vector::MultiDense(MultiDenseVector {
            vectors: (rows.into_multi_vectors().into_iter())
                .map(|data| DenseVector { data })
                .collect(),
        }),
    };
    VectorOutput {
        vector: Some(vector),
        ..VectorOutput::default()
    }
}
