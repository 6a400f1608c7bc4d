//! Calibration: cosines differ between models and books, so each index measures them with questions that it should or should not answer.

use std::collections::{HashMap, HashSet};

use futures::{Stream, StreamExt, TryStreamExt, stream};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::batches::embed_all;
use super::{Ingest, IngestError};
use crate::catalog::{Calibration, IndexState};
use crate::chunk::count_tokens;
use crate::embed::Purpose;
use crate::index::{Filters, IndexError, ScoredPoint, VectorQuery};

/// Questions that no documentation answers, one a line; half are general knowledge, half are about other software.
const OFF_TOPIC: &str = include_str!("off_topic_questions.txt");
const MAX_HEADINGS: usize = 60;
/// The fewest headings that give a meaningful mean. With fewer, only words decide whether the book answers.
const MIN_HEADINGS: usize = 10;
/// Chunks retrieved per heading. Those under the heading itself are ignored, so this must exceed their usual number.
const NEAREST: usize = 20;
const SEARCHES: usize = 4;

impl Ingest {
    /// Calibrates this index if it is the live one and has never been calibrated or has grown by half since. Returns the number of
    /// embedded tokens.
    pub async fn calibrate(&self) -> Result<u64, IngestError> {
        let index_id = self.index_row.index_id;
        let indexes = self.catalog.indexes().await?;
        let mut indexes = indexes.into_iter();
        let index = indexes.find(|index| index.index_id == index_id);
        let Some(index) = index.filter(|index| index.state == IndexState::Live) else {
            return Ok(0);
        };
        let chunks = self.catalog.stats(index_id).await?.chunks;
        if index.calibration.is_some_and(|it| !it.is_outgrown(chunks)) {
            return Ok(0);
        }
        let headings = self.own_headings().await?;
        if headings.len() < MIN_HEADINGS {
            return Ok(0);
        }
        let off_topic: Vec<String> = OFF_TOPIC.lines().map(str::to_owned).collect();
        let texts = [headings.as_slice(), &off_topic].concat();
        let embedded = embed_all(&self.embedder, &texts, Purpose::Query).await?;
        let vectors: Vec<Vec<f32>> = embedded.into_iter().map(|text| text.vector).collect();
        let (of_headings, of_off_topic) = vectors.split_at(headings.len());
        let calibration = Calibration {
            off_topic: self.off_topic_mean(&off_topic, of_off_topic).await?,
            own: self.own_mean(&headings, of_headings).await?,
            chunks,
        };
        self.catalog.set_calibration(index_id, calibration).await?;
        Ok(texts.iter().map(|text| count_tokens(text) as u64).sum())
    }

    /// Returns headings of the default locale and versions. Ordering by hash spreads the selection over the book and makes it
    /// repeatable.
    async fn own_headings(&self) -> Result<Vec<String>, IngestError> {
        let index = &self.index_row;
        let site = &index.site;
        let mut headings = Vec::new();
        for docs in site.instances() {
            let version = &docs.default_version;
            let of_docs = self
                .catalog
                .headings(index.index_id, &site.default_locale, version);
            headings.extend(of_docs.await?);
        }
        headings.sort_by_cached_key(|heading| Sha256::digest(heading));
        headings.dedup();
        headings.truncate(MAX_HEADINGS);
        Ok(headings)
    }

    async fn off_topic_mean(
        &self,
        questions: &[String],
        vectors: &[Vec<f32>],
    ) -> Result<f32, IngestError> {
        let filters = self.default_filters();
        let found = self.nearest(questions, vectors, &filters, 1);
        let found: Vec<Vec<ScoredPoint>> = found.try_collect().await?;
        Ok(mean_of_best(
            found
                .iter()
                .map(|points| points.iter().map(|point| point.score)),
        ))
    }

    /// The mean of each heading's best cosine with a chunk under another heading.
    async fn own_mean(
        &self,
        headings: &[String],
        vectors: &[Vec<f32>],
    ) -> Result<f32, IngestError> {
        let filters = self.default_filters();
        let found = self.nearest(headings, vectors, &filters, NEAREST);
        let found: Vec<Vec<ScoredPoint>> = found.try_collect().await?;
        let points: HashSet<Uuid> = found.iter().flatten().map(|point| point.point_id).collect();
        let points = Vec::from_iter(points);
        let chunks = self.catalog.join(self.index_row.index_id, &points).await?;
        let sections: HashMap<Uuid, Option<String>> = chunks
            .into_iter()
            .map(|chunk| (chunk.point_id, chunk.payload.section))
            .collect();
        let sections = &sections;
        let of_others = found.iter().zip(headings).map(|(points, heading)| {
            let is_other = move |point: &&ScoredPoint| {
                let section = sections.get(&point.point_id);
                section.is_some_and(|section| section.as_ref() != Some(heading))
            };
            points.iter().filter(is_other).map(|point| point.score)
        });
        Ok(mean_of_best(of_others))
    }

    /// The filters of a reader who chooses neither locale nor version.
    fn default_filters(&self) -> Filters {
        let site = &self.index_row.site;
        let known = |name: &str| Some(name.to_owned()).filter(|name| !name.is_empty());
        Filters {
            locale: known(&site.default_locale),
            versions_beside: site
                .other_instances
                .iter()
                .map(|docs| docs.default_version.clone())
                .collect(),
            version: known(&site.docs.default_version),
            ..Filters::default()
        }
    }

    /// Returns the nearest points of each question, in the order of the questions.
    fn nearest<'a>(
        &'a self,
        questions: &'a [String],
        vectors: &'a [Vec<f32>],
        filters: &'a Filters,
        limit: usize,
    ) -> impl Stream<Item = Result<Vec<ScoredPoint>, IndexError>> + Send + 'a {
        let collection = &self.index_row.collection;
        let searches = questions.iter().zip(vectors);
        let searches = searches.map(move |(text, vector)| async move {
            let query = VectorQuery {
                text,
                vector,
                tokens: &[],
                filters,
                limit,
            };
            self.index.search(collection, &query).await
        });
        stream::iter(searches).buffered(SEARCHES)
    }
}

/// The mean of each search's best score; searches without results are ignored.
fn mean_of_best(searches: impl Iterator<Item = impl Iterator<Item = f32>>) -> f32 {
    let (mut sum, mut count) = (0.0, 0.0);
    for scores in searches {
        if let Some(best) = scores.reduce(f32::max) {
            sum += best;
            count += 1.0;
        }
    }
    if count > 0.0 { sum / count } else { 0.0 }
}

#[cfg(all(test, feature = "embedded"))]
mod tests;
