//! Describes a collection, as `get_collection_info` returns it.

use std::collections::HashMap;

use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{
    CollectionConfig, CollectionInfo, CollectionParams, CollectionStatus, Datatype, Distance,
    HnswConfigDiff, Modifier, MultiVectorComparator, MultiVectorConfig, OptimizerStatus,
    PayloadSchemaInfo, PayloadSchemaType, SparseVectorConfig, SparseVectorParams, StrictModeConfig,
    VectorParams, VectorParamsMap, VectorsConfig,
};
use qdrant_edge::{
    EdgeConfig, EdgeVectorParams, HnswIndexConfig, ShardInfo, VectorStorageDatatype,
};

use super::to_u64;
use crate::schema::{IndexKind, Schema};

/// Describes a collection. It is always green, since there is no background optimizer.
pub(crate) fn info(schema: &Schema, shard: &ShardInfo) -> CollectionInfo {
    let vectors = &schema.vectors;
    let indexed_points: HashMap<String, usize> = (shard.payload_schema.iter())
        .map(|(path, index)| (path.to_string(), index.points))
        .collect();
    CollectionInfo {
        status: CollectionStatus::Green.into(),
        optimizer_status: Some(OptimizerStatus {
            ok: true,
            error: String::new(),
        }),
        segments_count: to_u64(shard.segments_count),
        config: Some(CollectionConfig {
            params: Some(CollectionParams {
                shard_number: 1,
                vectors_config: Some(dense_info(vectors)),
                sparse_vectors_config: Some(sparse_info(vectors)),
                replication_factor: Some(1),
                write_consistency_factor: Some(1),
                ..CollectionParams::default()
            }),
            hnsw_config: Some(hnsw_info(&vectors.hnsw_config)),
            strict_mode_config: Some(StrictModeConfig {
                enabled: Some(true),
                unindexed_filtering_retrieve: Some(false),
                unindexed_filtering_update: Some(false),
                ..StrictModeConfig::default()
            }),
            ..CollectionConfig::default()
        }),
        payload_schema: (schema.indexes.iter())
            .map(|(path, kind)| {
                let points = indexed_points.get(path).copied().unwrap_or(0);
                (path.clone(), index_info(*kind, points))
            })
            .collect(),
        points_count: Some(to_u64(shard.points_count)),
        indexed_vectors_count: Some(to_u64(shard.indexed_vectors_count)),
        ..CollectionInfo::default()
    }
}

fn dense_info(vectors: &EdgeConfig) -> VectorsConfig {
    let mut map: HashMap<String, VectorParams> = (vectors.vectors.iter())
        .map(|(name, params)| (name.clone(), vector_info(params)))
        .collect();
    let config = match map.remove("") {
        Some(unnamed) if map.is_empty() => Config::Params(unnamed),
        Some(unnamed) => {
            map.insert(String::new(), unnamed);
            Config::ParamsMap(VectorParamsMap { map })
        }
        None => Config::ParamsMap(VectorParamsMap { map }),
    };
    VectorsConfig {
        config: Some(config),
    }
}

fn vector_info(params: &EdgeVectorParams) -> VectorParams {
    let distance = match params.distance {
        qdrant_edge::Distance::Cosine => Distance::Cosine,
        qdrant_edge::Distance::Euclid => Distance::Euclid,
        qdrant_edge::Distance::Dot => Distance::Dot,
        qdrant_edge::Distance::Manhattan => Distance::Manhattan,
    };
    VectorParams {
        size: to_u64(params.size),
        distance: distance.into(),
        hnsw_config: params.hnsw_config.as_ref().map(hnsw_info),
        datatype: params.datatype.map(datatype_info),
        multivector_config: params.multivector_config.map(|_| MultiVectorConfig {
            comparator: MultiVectorComparator::MaxSim.into(),
        }),
        ..VectorParams::default()
    }
}

fn sparse_info(vectors: &EdgeConfig) -> SparseVectorConfig {
    let map = (vectors.sparse_vectors.iter())
        .map(|(name, params)| {
            let modifier = params.modifier.as_ref().map(|modifier| match modifier {
                qdrant_edge::Modifier::None => Modifier::None.into(),
                qdrant_edge::Modifier::Idf => Modifier::Idf.into(),
            });
            let params = SparseVectorParams {
                modifier,
                ..SparseVectorParams::default()
            };
            (name.clone(), params)
        })
        .collect();
    SparseVectorConfig { map }
}

fn datatype_info(datatype: VectorStorageDatatype) -> i32 {
    match datatype {
        VectorStorageDatatype::Float32 => Datatype::Float32.into(),
        VectorStorageDatatype::Float16 => Datatype::Float16.into(),
        VectorStorageDatatype::Uint8 => Datatype::Uint8.into(),
        VectorStorageDatatype::Turbo4 => Datatype::Turbo4.into(),
    }
}

fn hnsw_info(hnsw: &HnswIndexConfig) -> HnswConfigDiff {
    HnswConfigDiff {
        m: Some(to_u64(hnsw.m)),
        ef_construct: Some(to_u64(hnsw.ef_construct)),
        full_scan_threshold: Some(to_u64(hnsw.full_scan_threshold)),
        max_indexing_threads: Some(to_u64(hnsw.max_indexing_threads)),
        payload_m: hnsw.payload_m.map(to_u64),
        ..HnswConfigDiff::default()
    }
}

fn index_info(kind: IndexKind, points: usize) -> PayloadSchemaInfo {
    let data_type = match kind {
        IndexKind::Keyword => PayloadSchemaType::Keyword,
        IndexKind::Integer => PayloadSchemaType::Integer,
        IndexKind::Float => PayloadSchemaType::Float,
        IndexKind::Bool => PayloadSchemaType::Bool,
    };
    PayloadSchemaInfo {
        data_type: data_type.into(),
        params: None,
        points: Some(to_u64(points)),
    }
}
