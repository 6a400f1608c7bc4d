//! Qdrant, through its gRPC API.

mod convert;
mod filter;
mod version;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use qdrant_client::qdrant::with_vectors_selector::SelectorOptions;
use qdrant_client::qdrant::{
    CountPointsBuilder, CreateAliasBuilder, CreateCollectionBuilder,
    CreateFieldIndexCollectionBuilder, Datatype, DeletePointsBuilder, Distance, FieldType,
    GetPointsBuilder, HnswConfigDiffBuilder, Modifier, MultiVectorComparator,
    MultiVectorConfigBuilder, PointId, PrefetchQueryBuilder, Query, QueryBatchPointsBuilder,
    QueryPointsBuilder, RetrievedPoint, ScrollPointsBuilder, SparseVectorParamsBuilder,
    SparseVectorsConfigBuilder, UpsertPointsBuilder, VectorInput, VectorParamsBuilder,
    VectorsConfigBuilder,
};
use qdrant_client::{Qdrant, QdrantError};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

use super::conditions::{FILTERED_FIELDS, FieldKind};
use super::{ChunkPayload, CollectionLayout, IndexError, NewPoint, ScoredPoint, VectorQuery, bm25};
use models::embed::{Embedding, MaxSim, TOKEN_DIMENSIONS, TokenVectors};

use convert::{
    embedding_of, from_client, payload_of, point_struct, scored, selected, tokens_of, uuid_of,
    weighed_tokens,
};

/// The dense vectors.
const DENSE: &str = "dense";
/// The token vectors, compared by the sum of the question's best dot products.
const TOKENS: &str = "tokens";
/// The vectors of the questions that a chunk answers, compared by the best cosine.
const QUESTIONS: &str = "questions";
/// The BM25 weights of the terms; Qdrant multiplies them by the rarity.
const LEXICAL: &str = "bm25";

/// HNSW edges of a node, and candidates during construction.
const HNSW_M: u64 = 16;
const HNSW_EF_CONSTRUCT: u64 = 100;

/// Points in one request with vectors. With 3,072 dimensions and texts of 8,000 tokens the request is below Qdrant's limit of 32 MiB.
const UPSERT_BATCH: usize = 100;
/// Points in one request that reads or deletes by id.
const ID_BATCH: usize = 1_000;

/// Attempts of a write, or of a read that ingest needs, while the store is unavailable. Points are immutable, so a repeated call changes nothing.
const ATTEMPTS: u32 = 3;
/// The delay before the second attempt; each further delay doubles.
const BACKOFF: Duration = Duration::from_millis(200);

/// A Qdrant server; clones share connections.
#[derive(Clone)]
pub struct QdrantIndex {
    client: Qdrant,
    layout: CollectionLayout,
}

impl std::fmt::Debug for QdrantIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("QdrantIndex")
    }
}

impl QdrantIndex {
    /// Creates a client without sending a request.
    ///
    /// # Errors
    /// [`IndexError::Rejected`] if the URL is invalid.
    pub fn new(
        url: &str,
        api_key: Option<&SecretString>,
        timeout: Duration,
    ) -> Result<Self, IndexError> {
        let mut config = Qdrant::from_url(url)
            .skip_compatibility_check()
            .timeout(timeout)
            .connect_timeout(timeout);
        if let Some(key) = api_key {
            config = config.api_key(key.expose_secret());
        }
        let client = config.build().map_err(from_client)?;
        Ok(Self {
            client,
            layout: CollectionLayout::default(),
        })
    }

    /// Sets how new collections are distributed and compressed.
    pub(super) fn with_layout(self, layout: CollectionLayout) -> Self {
        Self { layout, ..self }
    }

    /// Checks that the server answers.
    pub(super) async fn ping(&self) -> Result<(), IndexError> {
        self.client.health_check().await.map_err(from_client)?;
        Ok(())
    }

    /// Checks that the server's version is supported; [`IndexError::TooOld`] if not.
    pub(super) async fn check_version(&self) -> Result<(), IndexError> {
        let health = retried(|| self.client.health_check()).await?;
        version::check(&health.version)
    }

    /// Creates a collection and its field indexes if they do not exist.
    pub(super) async fn ensure_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        if !self.has_collection(collection).await? {
            self.create_collection(collection, dimensions).await?;
        }
        // Its creator may have died before creating all field indexes.
        let fields = FILTERED_FIELDS.map(|(field, kind)| (field.to_owned(), kind));
        self.ensure_fields(collection, fields.into_iter()).await
    }

    /// Creates the field indexes that do not exist.
    pub(super) async fn ensure_fields(
        &self,
        collection: &str,
        fields: impl Iterator<Item = (String, FieldKind)>,
    ) -> Result<(), IndexError> {
        let mut fields = fields.peekable();
        if fields.peek().is_none() {
            return Ok(());
        }
        let info = retried(|| self.client.collection_info(collection)).await?;
        let indexed = info.result.unwrap_or_default().payload_schema;
        for (field, kind) in fields {
            if !indexed.contains_key(&field) {
                let kind = FieldType::from(kind);
                let create =
                    CreateFieldIndexCollectionBuilder::new(collection, field, kind).wait(true);
                retried(|| self.client.create_field_index(create.clone())).await?;
            }
        }
        Ok(())
    }

    async fn create_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        let mut dense = VectorsConfigBuilder::default();
        dense.add_named_vector_params(
            DENSE,
            VectorParamsBuilder::new(dimensions as u64, Distance::Cosine),
        );
        // Token vectors are compared only for points that the rankers found, so they need no graph.
        dense.add_named_vector_params(
            TOKENS,
            VectorParamsBuilder::new(TOKEN_DIMENSIONS as u64, Distance::Dot)
                .multivector_config(MultiVectorConfigBuilder::new(MultiVectorComparator::MaxSim))
                .datatype(Datatype::Float16)
                .hnsw_config(HnswConfigDiffBuilder::default().m(0))
                .on_disk(true),
        );
        dense.add_named_vector_params(
            QUESTIONS,
            VectorParamsBuilder::new(dimensions as u64, Distance::Cosine)
                .multivector_config(MultiVectorConfigBuilder::new(MultiVectorComparator::MaxSim)),
        );
        let mut lexical = SparseVectorsConfigBuilder::default();
        lexical.add_named_vector_params(
            LEXICAL,
            SparseVectorParamsBuilder::default().modifier(Modifier::Idf),
        );
        let hnsw = HnswConfigDiffBuilder::default()
            .m(HNSW_M)
            .ef_construct(HNSW_EF_CONSTRUCT);
        let create = CreateCollectionBuilder::new(collection)
            .vectors_config(dense)
            .sparse_vectors_config(lexical)
            .hnsw_config(hnsw);
        let create = self.layout.of(create);
        match retried(|| self.client.create_collection(create.clone())).await {
            Ok(_) => Ok(()),
            // Another writer was first, or the response to this call was lost.
            Err(_)
                if self
                    .client
                    .collection_exists(collection)
                    .await
                    .unwrap_or(false) =>
            {
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Stores points and waits until they are stored.
    pub(super) async fn upsert(
        &self,
        collection: &str,
        points: Vec<NewPoint>,
    ) -> Result<(), IndexError> {
        for batch in points.chunks(UPSERT_BATCH) {
            let batch = batch
                .iter()
                .map(point_struct)
                .collect::<Result<Vec<_>, _>>()?;
            let upsert = UpsertPointsBuilder::new(collection, batch).wait(true);
            retried(|| self.client.upsert_points(upsert.clone())).await?;
        }
        Ok(())
    }

    /// Deletes points and waits until they are deleted. Missing points are not an error.
    pub(super) async fn delete(&self, collection: &str, points: &[Uuid]) -> Result<(), IndexError> {
        for batch in points.chunks(ID_BATCH) {
            let ids: Vec<PointId> = batch.iter().map(|id| id.to_string().into()).collect();
            let delete = DeletePointsBuilder::new(collection).points(ids).wait(true);
            retried(|| self.client.delete_points(delete.clone())).await?;
        }
        Ok(())
    }

    /// Returns the vectors of points, of their tokens and of their questions, by point; missing points are left out.
    pub(super) async fn vectors(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Embedding>, IndexError> {
        // All vectors are requested without names, because a collection of a former release has no token vectors and rejects their name.
        self.with_vectors(collection, points, true)
            .await?
            .into_iter()
            .map(|point| {
                let embedding = embedding_of(point.vectors.unwrap_or_default());
                Ok((uuid_of(point.id)?, embedding))
            })
            .collect()
    }

    /// Returns the token vectors of points, by point; points without any are left out.
    pub(super) async fn tokens(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, TokenVectors>, IndexError> {
        let found = self.with_vectors(collection, points, selected(TOKENS));
        let mut tokens = HashMap::new();
        for RetrievedPoint { id, vectors, .. } in found.await? {
            let of_point = tokens_of(&vectors.unwrap_or_default());
            if !of_point.is_empty() {
                tokens.insert(uuid_of(id)?, of_point);
            }
        }
        Ok(tokens)
    }

    /// Reads points with some of their vectors.
    async fn with_vectors(
        &self,
        collection: &str,
        points: &[Uuid],
        vectors: impl Into<SelectorOptions> + Clone,
    ) -> Result<Vec<RetrievedPoint>, IndexError> {
        let mut found = Vec::new();
        for batch in points.chunks(UPSERT_BATCH) {
            let ids: Vec<PointId> = batch.iter().map(|id| id.to_string().into()).collect();
            let get = GetPointsBuilder::new(collection, ids)
                .with_payload(false)
                .with_vectors(vectors.clone());
            let answer = retried(|| self.client.get_points(get.clone())).await?;
            found.extend(answer.result);
        }
        Ok(found)
    }

    /// Returns the ids of a collection's points that follow `after`, the first `limit` in the order of ids.
    pub(super) async fn point_ids_after(
        &self,
        collection: &str,
        after: Option<Uuid>,
        limit: usize,
    ) -> Result<BTreeSet<Uuid>, IndexError> {
        let mut request = ScrollPointsBuilder::new(collection)
            .limit(u32::try_from(limit).unwrap_or(u32::MAX))
            .with_payload(false)
            .with_vectors(false);
        if let Some(after) = after {
            // The page begins with the point of this id.
            let next = Uuid::from_u128(after.as_u128().saturating_add(1));
            request = request.offset(PointId::from(next.to_string()));
        }
        let page = retried(|| self.client.scroll(request.clone())).await?;
        let ids = page.result.into_iter().map(|point| uuid_of(point.id));
        ids.collect()
    }

    /// True if a collection of this name exists.
    pub(super) async fn has_collection(&self, collection: &str) -> Result<bool, IndexError> {
        retried(|| self.client.collection_exists(collection)).await
    }

    /// Drops a collection. A missing one is not an error.
    pub(super) async fn drop_collection(&self, collection: &str) -> Result<(), IndexError> {
        if self.has_collection(collection).await? {
            retried(|| self.client.delete_collection(collection)).await?;
        }
        Ok(())
    }

    /// Points `alias` to the collection, replacing its former target.
    pub(super) async fn point_alias(
        &self,
        alias: &str,
        collection: &str,
    ) -> Result<(), IndexError> {
        let create = CreateAliasBuilder::new(collection, alias);
        retried(|| self.client.create_alias(create.clone())).await?;
        Ok(())
    }

    /// Returns the number of points in a collection.
    pub(super) async fn count(&self, collection: &str) -> Result<u64, IndexError> {
        let count = CountPointsBuilder::new(collection).exact(true);
        let answer = self.client.count(count).await.map_err(from_client)?;
        Ok(answer.result.map_or(0, |result| result.count))
    }

    /// Returns the payloads of points, by point. Points that are missing, or whose payload this program cannot read, are left out.
    pub(super) async fn payloads(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, ChunkPayload>, IndexError> {
        let ids: Vec<PointId> = points.iter().map(|id| id.to_string().into()).collect();
        let get = GetPointsBuilder::new(collection, ids)
            .with_payload(true)
            .with_vectors(false);
        let answer = self.client.get_points(get).await.map_err(from_client)?;
        let mut found = HashMap::new();
        for RetrievedPoint { id, payload, .. } in answer.result {
            let id = uuid_of(id)?;
            match payload_of(payload) {
                Ok(payload) => {
                    found.insert(id, payload);
                }
                Err(error) => {
                    tracing::warn!(stage = "index", %error, point.id = %id, "leaving out a point that cannot be read");
                }
            }
        }
        Ok(found)
    }

    /// See [`super::VectorIndex::search`]. One request fetches the best points of each ranker, and scores their union by cosine, nearest question and
    /// tokens. Without a vector, it uses BM25 alone.
    pub(super) async fn search(
        &self,
        collection: &str,
        query: &VectorQuery<'_>,
    ) -> Result<Vec<ScoredPoint>, IndexError> {
        let limit = query.limit as u64;
        let filter = filter::to_qdrant(query.filters);
        let (dimensions, weights) = bm25::question_vector(query.terms);
        let words = Query::new_nearest(VectorInput::new_sparse(dimensions, weights));
        let request = QueryPointsBuilder::new(collection)
            .with_payload(false)
            .with_vectors(false);
        if query.vector.is_empty() {
            let mut request = request.query(words).using(LEXICAL).limit(limit);
            if let Some(filter) = filter {
                request = request.filter(filter);
            }
            let answer = self.client.query(request).await.map_err(from_client)?;
            return answer.result.into_iter().map(scored).collect();
        }
        let nearest = Query::new_nearest(VectorInput::from(query.vector.to_vec()));
        let mut rankers = vec![(nearest.clone(), DENSE), (words, LEXICAL)];
        if query.with_questions {
            rankers.push((nearest.clone(), QUESTIONS));
        }
        let mut union = request.limit(rankers.len() as u64 * limit);
        for (ranker, using) in rankers {
            let mut best = PrefetchQueryBuilder::default()
                .query(ranker)
                .using(using)
                .limit(limit);
            if let Some(filter) = &filter {
                best = best.filter(filter.clone());
            }
            union = union.add_prefetch(best);
        }
        let question = MaxSim::new(query.tokens);
        let dense = union.clone().query(nearest.clone()).using(DENSE);
        let mut requests = vec![dense.build()];
        if query.with_questions {
            requests.push(union.clone().query(nearest).using(QUESTIONS).build());
        }
        if question.is_some() {
            let tokens = Query::new_nearest(VectorInput::from(weighed_tokens(query.tokens)));
            requests.push(union.query(tokens).using(TOKENS).build());
        }
        let batch = QueryBatchPointsBuilder::new(collection, requests);
        let answer = self.client.query_batch(batch).await.map_err(from_client)?;
        let mut answers = answer.result.into_iter().map(|answer| answer.result);
        let mut points = answers
            .next()
            .unwrap_or_default()
            .into_iter()
            .map(scored)
            .collect::<Result<Vec<_>, _>>()?;
        let by_questions = if query.with_questions {
            scores_of(answers.next())?
        } else {
            HashMap::new()
        };
        let weights = question.map_or(1.0, |question| question.weights());
        let sums = scores_of(answers.next())?;
        for point in &mut points {
            point.question_score = by_questions.get(&point.point_id).copied();
            point.token_score = sums.get(&point.point_id).map(|sum| sum / weights);
        }
        Ok(points)
    }
}

/// Returns the scores of an answer's points; none without an answer.
fn scores_of(
    answer: Option<Vec<qdrant_client::qdrant::ScoredPoint>>,
) -> Result<HashMap<Uuid, f32>, IndexError> {
    let mut scores = HashMap::new();
    for point in answer.unwrap_or_default() {
        scores.insert(uuid_of(point.id)?, point.score);
    }
    Ok(scores)
}

/// Makes an idempotent call, with retries while the store is unavailable.
async fn retried<T, C>(call: impl Fn() -> C) -> Result<T, IndexError>
where
    C: Future<Output = Result<T, QdrantError>>,
{
    let mut wait = BACKOFF;
    for _ in 1..ATTEMPTS {
        match call().await.map_err(from_client) {
            Err(IndexError::Unavailable(reason)) => {
                tracing::warn!(stage = "index", error = reason, "repeating the call");
            }
            answer => return answer,
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
    call().await.map_err(from_client)
}
