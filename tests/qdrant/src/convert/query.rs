//! Converts queries: nearest neighbours in one vector space, among all points or among prefetched ones.

use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::{PrefetchQuery, Query, QueryPoints, SearchParams};
use qdrant_edge::external::ordered_float::OrderedFloat;
use qdrant_edge::{
    NamedQuery, Prefetch, QueryEnum, QueryRequest, ScoringQuery, WithPayloadInterface,
};

use super::filter::filter;
use super::point::{with_payload, with_vectors};
use super::to_usize;
use super::vector::query_vector;
use crate::error::CallError;
use crate::schema::Schema;

/// Qdrant's default number of points per query.
const DEFAULT_LIMIT: u64 = 10;

/// The engine allocates room for `offset + limit` points per query.
const MAX_LIMIT: usize = 100_000;

/// Converts a query and checks it against the collection.
pub(crate) fn query_request(
    points: QueryPoints,
    schema: &Schema,
) -> Result<QueryRequest, CallError> {
    CallError::refuse("shard_key_selector", points.shard_key_selector.as_ref())?;
    CallError::refuse("lookup_from", points.lookup_from.as_ref())?;
    let prefetches = prefetches(points.prefetch, schema)?;
    let query = scoring_query(points.query, points.using, schema)?;
    check_merge(query.as_ref(), &prefetches)?;
    let limit = limit(points.limit)?;
    let offset = to_usize("offset", points.offset.unwrap_or(0))?;
    if limit.saturating_add(offset) > MAX_LIMIT {
        return Err(CallError::Invalid(format!(
            "`limit` and `offset` are {limit} and {offset}, together at most {MAX_LIMIT}"
        )));
    }
    Ok(QueryRequest {
        prefetches,
        query,
        filter: filter(points.filter, schema)?,
        score_threshold: points.score_threshold.map(OrderedFloat),
        limit,
        offset,
        params: search_params(points.params)?,
        with_vector: with_vectors(points.with_vectors, schema)?,
        with_payload: with_payload(points.with_payload)?
            .unwrap_or(WithPayloadInterface::Bool(false)),
    })
}

/// Checks a page size or a number of results, 1 or more.
pub(crate) fn limit(limit: Option<u64>) -> Result<usize, CallError> {
    match to_usize("limit", limit.unwrap_or(DEFAULT_LIMIT))? {
        0 => Err(CallError::Invalid("`limit` is 0, must be 1 or more".into())),
        limit if limit > MAX_LIMIT => Err(CallError::Invalid(format!(
            "`limit` is {limit}, at most {MAX_LIMIT}"
        ))),
        limit => Ok(limit),
    }
}

fn prefetches(list: Vec<PrefetchQuery>, schema: &Schema) -> Result<Vec<Prefetch>, CallError> {
    list.into_iter()
        .map(|one| {
            CallError::refuse("lookup_from", one.lookup_from.as_ref())?;
            let inner = prefetches(one.prefetch, schema)?;
            let query = scoring_query(one.query, one.using, schema)?;
            check_merge(query.as_ref(), &inner)?;
            Ok(Prefetch {
                prefetches: inner,
                query,
                limit: limit(one.limit)?,
                params: search_params(one.params)?,
                filter: filter(one.filter, schema)?,
                score_threshold: one.score_threshold.map(OrderedFloat),
            })
        })
        .collect()
}

fn scoring_query(
    query: Option<Query>,
    using: Option<String>,
    schema: &Schema,
) -> Result<Option<ScoringQuery>, CallError> {
    let using = using.unwrap_or_default();
    let unsupported = |name: &str| CallError::Unsupported(format!("the query `{name}`"));
    Ok(Some(match query.and_then(|query| query.variant) {
        None => return Ok(None),
        Some(Variant::Nearest(input)) => {
            let vector = query_vector(input, &using, schema)?;
            ScoringQuery::Vector(QueryEnum::Nearest(NamedQuery::new(vector, using)))
        }
        Some(Variant::Fusion(_) | Variant::Rrf(_)) => return Err(unsupported("fusion")),
        Some(Variant::Recommend(_)) => return Err(unsupported("recommend")),
        Some(Variant::Discover(_)) => return Err(unsupported("discover")),
        Some(Variant::Context(_)) => return Err(unsupported("context")),
        Some(Variant::OrderBy(_)) => return Err(unsupported("order_by")),
        Some(Variant::Sample(_)) => return Err(unsupported("sample")),
        Some(Variant::Formula(_)) => return Err(unsupported("formula")),
        Some(Variant::NearestWithMmr(_)) => return Err(unsupported("nearest_with_mmr")),
        Some(Variant::RelevanceFeedback(_)) => return Err(unsupported("relevance_feedback")),
        Some(Variant::Text(_)) => return Err(unsupported("text")),
    }))
}

/// Refuses prefetches without a query that ranks them.
fn check_merge(query: Option<&ScoringQuery>, prefetches: &[Prefetch]) -> Result<(), CallError> {
    if query.is_some() || prefetches.is_empty() {
        return Ok(());
    }
    Err(CallError::Invalid(
        "A query is needed to merge the prefetches. Can't have prefetches without defining a query."
            .into(),
    ))
}

fn search_params(
    params: Option<SearchParams>,
) -> Result<Option<qdrant_edge::SearchParams>, CallError> {
    let Some(params) = params else {
        return Ok(None);
    };
    CallError::refuse("params.quantization", params.quantization.as_ref())?;
    CallError::refuse("params.acorn", params.acorn.as_ref())?;
    CallError::refuse("params.idf", params.idf.as_ref())?;
    Ok(Some(qdrant_edge::SearchParams {
        hnsw_ef: (params.hnsw_ef)
            .map(|ef| to_usize("hnsw_ef", ef))
            .transpose()?,
        exact: params.exact.unwrap_or(false),
        indexed_only: params.indexed_only.unwrap_or(false),
        ..qdrant_edge::SearchParams::default()
    }))
}
