//! Calibration: cosines differ between models and books, so each index measures them with questions that it should not answer.

use futures::{Stream, StreamExt, TryStreamExt, stream};

use super::batches::embed_all;
use super::{Ingest, IngestError};
use book::chunk::count_tokens;
use models::embed::{NEAREST_CHUNKS, OffTopic, Purpose, mean_of_best};
use store::catalog::{Calibration, IndexState, Scale};
use store::index::{Filters, IndexError, ScoredPoint, VectorQuery};

/// Questions that no documentation answers, one a line; half are general knowledge, half are about other software.
const OFF_TOPIC: &str = include_str!("off_topic_questions.txt");
const SEARCHES: usize = 4;

impl Ingest {
    /// Calibrates this index if it is the live one, has enough chunks, and has never been calibrated or has grown by half since. Returns the number
    /// of embedded tokens.
    pub async fn calibrate(&self) -> Result<u64, IngestError> {
        let index_id = self.index_row.index_id;
        let indexes = self.catalog.indexes().await?;
        let Some(index) = indexes
            .iter()
            .find(|index| index.index_id == index_id && index.state == IndexState::Live)
        else {
            return Ok(0);
        };
        let chunks = self.catalog.stats(index_id).await?.chunks;
        if chunks < NEAREST_CHUNKS as u64
            || index.calibration.is_some_and(|it| !it.is_outgrown(chunks))
        {
            return Ok(0);
        }
        let questions: Vec<String> = OFF_TOPIC.lines().map(str::to_owned).collect();
        let embedded = embed_all(&self.embedder, &questions, Purpose::Query).await?;
        let vectors: Vec<Vec<f32>> = embedded.into_iter().map(|text| text.vector).collect();
        let off_topic = OffTopic::new(&vectors);
        let to_others = vectors
            .iter()
            .zip(0..)
            .filter_map(|(vector, at)| off_topic.nearness(vector, Some(at)));
        let calibration = Calibration {
            book: Scale::from_values(self.nearness(&vectors).await?),
            off_topic: Scale::from_values(to_others.collect()),
            chunks,
        };
        self.catalog
            .set_calibration(index_id, calibration, off_topic.to_bytes())
            .await?;
        Ok(questions.iter().map(|text| count_tokens(text) as u64).sum())
    }

    /// Returns how near each question comes to the book.
    async fn nearness(
        &self,
        vectors: &[Vec<f32>],
    ) -> Result<Vec<f32>, IndexError> {
        let filters = self.default_filters();
        let found: Vec<Vec<ScoredPoint>> = self
            .nearest(vectors, &filters)
            .try_collect()
            .await?;
        let nearness = found.iter().filter_map(|points| {
            let cosines = points.iter().map(|point| point.score).collect();
            mean_of_best(cosines, NEAREST_CHUNKS)
        });
        Ok(nearness.collect())
    }

    /// Returns the nearest points of each question.
    fn nearest<'a>(
        &'a self,
        vectors: &'a [Vec<f32>],
        filters: &'a Filters,
    ) -> impl Stream<Item = Result<Vec<ScoredPoint>, IndexError>> + Send + 'a {
        let collection = &self.index_row.collection;
        let searches = vectors.iter().map(move |vector| async move {
            let query = VectorQuery {
                terms: &[],
                vector,
                tokens: &[],
                with_questions: false,
                filters,
                limit: NEAREST_CHUNKS,
            };
            self.index.search(collection, &query).await
        });
        stream::iter(searches).buffered(SEARCHES)
    }

    /// Returns the filters of a reader who chooses neither locale nor version.
    fn default_filters(&self) -> Filters {
        let site = &self.index_row.site;
        Filters {
            locale: non_empty(&site.default_locale),
            versions_beside: site
                .other_instances
                .iter()
                .map(|docs| docs.default_version.clone())
                .collect(),
            version: non_empty(&site.docs.default_version),
            ..Filters::default()
        }
    }
}

fn non_empty(name: &str) -> Option<String> {
    (!name.is_empty()).then(|| name.to_owned())
}

#[cfg(all(test, feature = "embedded"))]
mod tests;
