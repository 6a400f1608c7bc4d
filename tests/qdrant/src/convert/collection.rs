//! The creation of collections and of payload indexes.

use std::collections::{BTreeMap, HashMap};

use qdrant_client::qdrant::payload_index_params::IndexParams;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CreateCollection, CreateFieldIndexCollection, Datatype, Distance, FieldType, HnswConfigDiff,
    Modifier, MultiVectorComparator, ShardingMethod, SparseVectorParams, StrictModeConfig,
    VectorParams,
};
use qdrant_edge::{
    EdgeConfig, EdgeSparseVectorParams, EdgeVectorParams, HnswIndexConfig, VectorStorageDatatype,
    WalOptions,
};

use super::to_usize;
use crate::error::CallError;
use crate::schema::{IndexKind, Schema};

/// The largest vector that Qdrant's server accepts.
const MAX_VECTOR_SIZE: u64 = 65_536;

/// The size of a write-ahead log segment, which even an empty collection occupies; Qdrant's default is 32 MiB.
/// A larger operation gets a larger segment.
const WAL_SEGMENT_BYTES: usize = 4 * 1024 * 1024;

/// Converts a request to create a collection to a schema.
pub(crate) fn schema(request: CreateCollection) -> Result<Schema, CallError> {
    CallError::refuse("quantization_config", request.quantization_config.as_ref())?;
    if let Some(method) = request.sharding_method
        && method != ShardingMethod::Auto as i32
    {
        return Err(CallError::Unsupported("custom sharding".into()));
    }
    if let Some(strict) = request.strict_mode_config {
        check_strict_mode(&strict)?;
    }
    let dense = match request.vectors_config.and_then(|vectors| vectors.config) {
        Some(Config::Params(one)) => HashMap::from([(String::new(), one)]),
        Some(Config::ParamsMap(named)) => named.map,
        None => HashMap::new(),
    };
    let sparse = (request.sparse_vectors_config).map_or_else(HashMap::new, |sparse| sparse.map);
    Ok(Schema {
        vectors: EdgeConfig {
            vectors: (dense.into_iter())
                .map(|(name, params)| Ok((name, dense_params(params)?)))
                .collect::<Result<_, CallError>>()?,
            sparse_vectors: (sparse.into_iter())
                .map(|(name, params)| Ok((name, sparse_params(params)?)))
                .collect::<Result<_, CallError>>()?,
            hnsw_config: hnsw(request.hnsw_config)?.unwrap_or_default(),
            wal_options: Some(WalOptions {
                segment_capacity: WAL_SEGMENT_BYTES,
                ..WalOptions::default()
            }),
            ..EdgeConfig::default()
        },
        indexes: BTreeMap::new(),
    })
}

/// Refuses every limit but those on unindexed filters, which the engine always applies.
fn check_strict_mode(strict: &StrictModeConfig) -> Result<(), CallError> {
    let filters_only = StrictModeConfig {
        enabled: strict.enabled,
        unindexed_filtering_retrieve: strict.unindexed_filtering_retrieve,
        unindexed_filtering_update: strict.unindexed_filtering_update,
        ..StrictModeConfig::default()
    };
    if *strict == filters_only {
        return Ok(());
    }
    Err(CallError::Unsupported(
        "limits in `strict_mode_config`, only `unindexed_filtering_…`".into(),
    ))
}

fn dense_params(params: VectorParams) -> Result<EdgeVectorParams, CallError> {
    CallError::refuse("quantization_config", params.quantization_config.as_ref())?;
    if !(1..=MAX_VECTOR_SIZE).contains(&params.size) {
        return Err(CallError::Invalid(format!(
            "vector size is {}, must be 1 to {MAX_VECTOR_SIZE}",
            params.size
        )));
    }
    let distance = match Distance::try_from(params.distance) {
        Ok(Distance::Cosine) => qdrant_edge::Distance::Cosine,
        Ok(Distance::Euclid) => qdrant_edge::Distance::Euclid,
        Ok(Distance::Dot) => qdrant_edge::Distance::Dot,
        Ok(Distance::Manhattan) => qdrant_edge::Distance::Manhattan,
        Ok(Distance::UnknownDistance) | Err(_) => {
            return Err(CallError::Invalid("vector distance is unknown".into()));
        }
    };
    let multivector_config = match params.multivector_config {
        Some(multi) if multi.comparator == MultiVectorComparator::MaxSim as i32 => {
            Some(qdrant_edge::MultiVectorConfig::default())
        }
        Some(_) => {
            return Err(CallError::Invalid(
                "multivector comparator is unknown".into(),
            ));
        }
        None => None,
    };
    Ok(EdgeVectorParams {
        size: to_usize("size", params.size)?,
        distance,
        on_disk: None,
        multivector_config,
        datatype: datatype(params.datatype)?,
        quantization_config: None,
        hnsw_config: hnsw(params.hnsw_config)?,
    })
}

fn sparse_params(params: SparseVectorParams) -> Result<EdgeSparseVectorParams, CallError> {
    let modifier = match params.modifier.map(Modifier::try_from) {
        None => None,
        Some(Ok(Modifier::None)) => Some(qdrant_edge::Modifier::None),
        Some(Ok(Modifier::Idf)) => Some(qdrant_edge::Modifier::Idf),
        Some(Err(_)) => {
            return Err(CallError::Invalid(
                "sparse vector modifier is unknown".into(),
            ));
        }
    };
    let index = params.index.unwrap_or_default();
    Ok(EdgeSparseVectorParams {
        full_scan_threshold: (index.full_scan_threshold)
            .map(|threshold| to_usize("full_scan_threshold", threshold))
            .transpose()?,
        on_disk: None,
        modifier,
        datatype: datatype(index.datatype)?,
    })
}

fn datatype(datatype: Option<i32>) -> Result<Option<VectorStorageDatatype>, CallError> {
    match datatype.map(Datatype::try_from) {
        None | Some(Ok(Datatype::Default)) => Ok(None),
        Some(Ok(Datatype::Float32)) => Ok(Some(VectorStorageDatatype::Float32)),
        Some(Ok(Datatype::Float16)) => Ok(Some(VectorStorageDatatype::Float16)),
        Some(Ok(other)) => Err(CallError::Unsupported(format!(
            "the datatype {}",
            other.as_str_name()
        ))),
        Some(Err(_)) => Err(CallError::Invalid("vector datatype is unknown".into())),
    }
}

fn hnsw(diff: Option<HnswConfigDiff>) -> Result<Option<HnswIndexConfig>, CallError> {
    let Some(diff) = diff else {
        return Ok(None);
    };
    let or = |name: &str, value: Option<u64>, default: usize| {
        value.map_or(Ok(default), |value| to_usize(name, value))
    };
    let default = HnswIndexConfig::default();
    Ok(Some(HnswIndexConfig {
        m: or("m", diff.m, default.m)?,
        ef_construct: or("ef_construct", diff.ef_construct, default.ef_construct)?,
        full_scan_threshold: or(
            "full_scan_threshold",
            diff.full_scan_threshold,
            default.full_scan_threshold,
        )?,
        max_indexing_threads: or(
            "max_indexing_threads",
            diff.max_indexing_threads,
            default.max_indexing_threads,
        )?,
        payload_m: (diff.payload_m)
            .map(|m| to_usize("payload_m", m))
            .transpose()?,
        ..default
    }))
}

/// Returns the kind of the payload index to create.
pub(crate) fn index_kind(request: &CreateFieldIndexCollection) -> Result<IndexKind, CallError> {
    let params =
        (request.field_index_params.as_ref()).and_then(|params| params.index_params.as_ref());
    match params {
        Some(IndexParams::KeywordIndexParams(keyword)) => {
            CallError::refuse("prefix", keyword.prefix.as_ref())?;
            CallError::refuse("nested", keyword.nested.as_ref())?;
            return Ok(IndexKind::Keyword);
        }
        Some(IndexParams::IntegerIndexParams(integer)) => {
            CallError::refuse("nested", integer.nested.as_ref())?;
            if integer.lookup == Some(false) || integer.range == Some(false) {
                return Err(CallError::Unsupported(
                    "an integer index without lookup or range".into(),
                ));
            }
            return Ok(IndexKind::Integer);
        }
        Some(IndexParams::BoolIndexParams(flag)) => {
            CallError::refuse("nested", flag.nested.as_ref())?;
            return Ok(IndexKind::Bool);
        }
        Some(_) => {
            return Err(CallError::Unsupported(
                "payload indexes other than keyword, integer, float and bool".into(),
            ));
        }
        None => {}
    }
    match request.field_type.map(FieldType::try_from) {
        Some(Ok(FieldType::Keyword)) => Ok(IndexKind::Keyword),
        Some(Ok(FieldType::Integer)) => Ok(IndexKind::Integer),
        Some(Ok(FieldType::Float)) => Ok(IndexKind::Float),
        Some(Ok(FieldType::Bool)) => Ok(IndexKind::Bool),
        Some(Ok(other)) => Err(CallError::Unsupported(format!(
            "payload indexes of {}",
            other.as_str_name()
        ))),
        Some(Err(_)) | None => Err(CallError::Invalid(format!(
            "the index on `{}` has no type",
            request.field_name
        ))),
    }
}
