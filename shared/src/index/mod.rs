//! Port: vectors and payloads in Qdrant. The embedded engine of a laptop speaks the same protocol.

mod convert;
mod filters;
mod payload;
#[cfg(test)]
mod fake;

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use qdrant_client::qdrant::{
    CreateAliasBuilder, CreateCollectionBuilder, CreateFieldIndexCollectionBuilder,
    DeletePointsBuilder, Distance, FieldType, GetPointsBuilder, HnswConfigDiffBuilder, Modifier,
    MultiVectorComparator, MultiVectorConfigBuilder, PointId, Query, QueryPointsBuilder,
    RetrievedPoint, ScrollPointsBuilder, SparseVectorParamsBuilder, SparseVectorsConfigBuilder,
    UpsertPointsBuilder, VectorInput, VectorParamsBuilder, VectorsConfigBuilder,
};
use qdrant_client::{Qdrant, QdrantError};
use secrecy::{ExposeSecret, SecretString};
use uuid::Uuid;

#[cfg(test)]
pub(crate) use fake::FakeIndex;
pub use filters::{Filters, TitleOrNumber};
pub use payload::{ChunkPayload, LeafPayload};

use convert::{bm25_document, dense_only, from_client, hits, point_struct, rows_of, uuid_of};

/// The dense vectors: one row for each window of each leaf, compared by their best row.
const DENSE: &str = "dense";
/// The BM25 weights, made by Qdrant of the leaves' text.
const LEXICAL: &str = "bm25";
const BM25_MODEL: &str = "qdrant/bm25";

/// Term frequency saturation and length normalisation of BM25, the usual values (Robertson and Zaragoza, 2009).
const BM25_K: f64 = 1.2;
const BM25_B: f64 = 0.75;
/// Words of an average chunk, against which BM25 weighs lengths.
const BM25_AVERAGE_WORDS: f64 = 256.0;

/// The language whose stems and stop words BM25 knows.
const BM25_LANGUAGE: &str = "english";

/// The BM25 settings as part of an index's identity.
#[must_use]
pub fn bm25_settings() -> String {
    format!("k={BM25_K} b={BM25_B} avg_len={BM25_AVERAGE_WORDS} language={BM25_LANGUAGE}")
}

/// HNSW edges a node, and candidates while building.
const HNSW_M: u64 = 16;
const HNSW_EF_CONSTRUCT: u64 = 100;

/// Points in one request: S0's batch; fewer when they have many rows.
const UPSERT_BATCH: usize = 100;
/// Numbers of dense rows in one request, 4 MiB: far below the 32 MiB that Qdrant takes.
const UPSERT_NUMBERS: usize = 1 << 20;
/// Points in one request that reads or deletes by id.
const ID_BATCH: usize = 1_000;

/// How often a write, or a read that ingest needs, is tried when the store is unavailable: points are immutable, so doing
/// one of these twice changes nothing.
const ATTEMPTS: u32 = 3;
/// The wait before the second attempt; twice as long before each other one.
const BACKOFF: Duration = Duration::from_millis(200);

/// Ids in one answer when all are listed.
const SCROLL_PAGE: u32 = 5_000;

/// Fields that filters may name, with the index Qdrant keeps for each.
const FIELD_INDEXES: [(&str, FieldType); 15] = [
    ("document_id", FieldType::Keyword),
    ("source", FieldType::Keyword),
    ("module", FieldType::Keyword),
    ("module_number", FieldType::Integer),
    ("chapter", FieldType::Keyword),
    ("chapter_number", FieldType::Integer),
    ("lesson_id", FieldType::Keyword),
    ("section_type", FieldType::Keyword),
    ("has_code", FieldType::Bool),
    ("has_equations", FieldType::Bool),
    ("hardware_tier", FieldType::Integer),
    ("layer", FieldType::Keyword),
    ("proficiency_level", FieldType::Keyword),
    ("locale", FieldType::Keyword),
    ("version", FieldType::Keyword),
];

/// The vector store.
#[derive(Clone)]
pub struct VectorIndex {
    client: Qdrant,
    #[cfg(test)]
    fake: Option<FakeIndex>,
}

impl std::fmt::Debug for VectorIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("VectorIndex")
    }
}

/// What can go wrong, by what a caller can do.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Out of reach or over its time: may pass.
    #[error("the vector store is unavailable: {0}")]
    Unavailable(String),
    /// No room for more points.
    #[error("the vector store is full: {0}")]
    StorageFull(String),
    /// It refused the request: a bug or a wrong configuration.
    #[error("the vector store refused: {0}")]
    Rejected(String),
    /// Its answer could not be read.
    #[error("the vector store answered with {0}")]
    Malformed(String),
}

/// A chunk to store.
#[derive(Debug, Clone)]
pub struct NewPoint {
    /// A fresh id, never used before.
    pub point_id: Uuid,
    /// What search returns.
    pub payload: ChunkPayload,
    /// One unit-length row for each window of each leaf, in order.
    pub vectors: Vec<Vec<f32>>,
    /// The text that BM25 weighs.
    pub lexical_text: String,
}

/// What a search found, best first.
#[derive(Debug, Clone, Default)]
pub struct Hits {
    /// The points that were found and read.
    pub read: Vec<Hit>,
    /// How many more were found whose payload this program cannot read.
    pub unreadable: usize,
}

impl std::ops::Deref for Hits {
    type Target = [Hit];

    fn deref(&self) -> &[Hit] {
        &self.read
    }
}

/// A point that a search found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// The point.
    pub point_id: Uuid,
    /// The cosine of its best row, or its BM25 score.
    pub score: f32,
    /// Its payload.
    pub payload: ChunkPayload,
    /// Its dense rows.
    pub vectors: Vec<Vec<f32>>,
}

impl VectorIndex {
    /// Prepares a client; nothing is sent yet.
    ///
    /// # Errors
    /// [`IndexError::Rejected`] when the URL is none.
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
            #[cfg(test)]
            fake: None,
        })
    }

    /// A fake in memory whose calls are steps of a simulation.
    #[cfg(test)]
    pub(crate) fn fake(fake: FakeIndex) -> Result<Self, IndexError> {
        let unused = Self::new("http://127.0.0.1:1", None, Duration::from_secs(1))?;
        Ok(Self {
            fake: Some(fake),
            ..unused
        })
    }

    /// Asks for an answer.
    pub async fn ping(&self) -> Result<(), IndexError> {
        self.client.health_check().await.map_err(from_client)?;
        Ok(())
    }

    /// Creates a collection and its field indexes if they are not there.
    pub async fn ensure_collection(
        &self,
        collection: &str,
        dimensions: usize,
    ) -> Result<(), IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.ensure_collection(collection).await;
        }
        if !self.has_collection(collection).await? {
            self.create_collection(collection, dimensions).await?;
        }
        // Whoever created it may have died before its last index was there.
        let info = retried(|| self.client.collection_info(collection)).await?;
        let indexed = info.result.unwrap_or_default().payload_schema;
        for (field, kind) in FIELD_INDEXES {
            if !indexed.contains_key(field) {
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
        match retried(|| self.client.create_collection(create.clone())).await {
            Ok(_) => Ok(()),
            // Another writer was first, or the answer to this call was lost.
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

    /// Stores points and waits until they are there.
    pub async fn upsert(&self, collection: &str, points: Vec<NewPoint>) -> Result<(), IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.upsert(collection, points).await;
        }
        let mut points = points.into_iter().peekable();
        while let Some(first) = points.next() {
            let mut numbers = first.numbers();
            let mut batch = vec![point_struct(first)?];
            while batch.len() < UPSERT_BATCH
                && let Some(point) =
                    points.next_if(|point| numbers + point.numbers() <= UPSERT_NUMBERS)
            {
                numbers += point.numbers();
                batch.push(point_struct(point)?);
            }
            let upsert = UpsertPointsBuilder::new(collection, batch).wait(true);
            retried(|| self.client.upsert_points(upsert.clone())).await?;
        }
        Ok(())
    }

    /// Deletes points and waits until they are gone. Points that are not there are no error.
    pub async fn delete(&self, collection: &str, points: &[Uuid]) -> Result<(), IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.delete(collection, points).await;
        }
        for batch in points.chunks(ID_BATCH) {
            let ids: Vec<PointId> = batch.iter().map(|id| id.to_string().into()).collect();
            let delete = DeletePointsBuilder::new(collection).points(ids).wait(true);
            retried(|| self.client.delete_points(delete.clone())).await?;
        }
        Ok(())
    }

    /// The dense rows of points, by point; points that are not there are missing.
    pub async fn vectors(
        &self,
        collection: &str,
        points: &[Uuid],
    ) -> Result<HashMap<Uuid, Vec<Vec<f32>>>, IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.vectors(collection, points).await;
        }
        let mut found = HashMap::new();
        for batch in points.chunks(UPSERT_BATCH) {
            let ids: Vec<PointId> = batch.iter().map(|id| id.to_string().into()).collect();
            let get = GetPointsBuilder::new(collection, ids)
                .with_payload(false)
                .with_vectors(dense_only());
            let answer = retried(|| self.client.get_points(get.clone())).await?;
            for RetrievedPoint { id, vectors, .. } in answer.result {
                found.insert(uuid_of(id)?, rows_of(vectors));
            }
        }
        Ok(found)
    }

    /// The ids of all points of a collection.
    pub async fn point_ids(&self, collection: &str) -> Result<BTreeSet<Uuid>, IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.point_ids(collection).await;
        }
        let mut ids = BTreeSet::new();
        let mut offset: Option<PointId> = None;
        loop {
            let mut request = ScrollPointsBuilder::new(collection)
                .limit(SCROLL_PAGE)
                .with_payload(false)
                .with_vectors(false);
            if let Some(offset) = offset {
                request = request.offset(offset);
            }
            let page = retried(|| self.client.scroll(request.clone())).await?;
            for point in page.result {
                ids.insert(uuid_of(point.id)?);
            }
            offset = page.next_page_offset;
            if offset.is_none() {
                return Ok(ids);
            }
        }
    }

    /// Whether there is a collection of this name.
    pub async fn has_collection(&self, collection: &str) -> Result<bool, IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.has_collection(collection).await;
        }
        retried(|| self.client.collection_exists(collection)).await
    }

    /// Drops a collection. One that is not there is no error.
    pub async fn drop_collection(&self, collection: &str) -> Result<(), IndexError> {
        #[cfg(test)]
        if let Some(fake) = &self.fake {
            return fake.drop_collection(collection).await;
        }
        if self.has_collection(collection).await? {
            retried(|| self.client.delete_collection(collection)).await?;
        }
        Ok(())
    }

    /// Makes `alias` a name of the collection, whatever it was a name of before.
    pub async fn point_alias(&self, alias: &str, collection: &str) -> Result<(), IndexError> {
        #[cfg(test)]
        if self.fake.is_some() {
            return Ok(());
        }
        let create = CreateAliasBuilder::new(collection, alias);
        retried(|| self.client.create_alias(create.clone())).await?;
        Ok(())
    }

    /// How many points a collection holds.
    pub async fn count(&self, collection: &str) -> Result<u64, IndexError> {
        let count = qdrant_client::qdrant::CountPointsBuilder::new(collection).exact(true);
        let answer = self.client.count(count).await.map_err(from_client)?;
        Ok(answer.result.map_or(0, |result| result.count))
    }

    /// The points whose best row is nearest to a vector, by cosine, best first.
    pub async fn search_dense(
        &self,
        collection: &str,
        vector: &[f32],
        filters: &Filters,
        limit: u64,
    ) -> Result<Hits, IndexError> {
        let query = Query::new_nearest(VectorInput::from(vector.to_vec()));
        self.search(collection, query, DENSE, filters, limit).await
    }

    /// The points whose text matches best, by BM25, best first.
    pub async fn search_lexical(
        &self,
        collection: &str,
        text: &str,
        filters: &Filters,
        limit: u64,
    ) -> Result<Hits, IndexError> {
        let query = Query::new_nearest(VectorInput::from(bm25_document(text)));
        self.search(collection, query, LEXICAL, filters, limit)
            .await
    }

    async fn search(
        &self,
        collection: &str,
        query: Query,
        using: &str,
        filters: &Filters,
        limit: u64,
    ) -> Result<Hits, IndexError> {
        let mut request = QueryPointsBuilder::new(collection)
            .query(query)
            .using(using)
            .limit(limit)
            .with_payload(true)
            .with_vectors(dense_only());
        if let Some(filter) = filters.to_qdrant() {
            request = request.filter(filter);
        }
        let answer = self.client.query(request).await.map_err(from_client)?;
        hits(answer.result)
    }
}

impl NewPoint {
    /// How many numbers its dense rows have.
    fn numbers(&self) -> usize {
        self.vectors.iter().map(Vec::len).sum()
    }
}

/// Makes a call that may be made twice, again while the store is unavailable.
async fn retried<T, C>(call: impl Fn() -> C) -> Result<T, IndexError>
where
    C: Future<Output = Result<T, QdrantError>>,
{
    let mut wait = BACKOFF;
    for _ in 1..ATTEMPTS {
        match call().await.map_err(from_client) {
            Err(IndexError::Unavailable(reason)) => {
                tracing::warn!(stage = "index", error = reason, "the call is made again");
            }
            answer => return answer,
        }
        tokio::time::sleep(wait).await;
        wait *= 2;
    }
    call().await.map_err(from_client)
}
