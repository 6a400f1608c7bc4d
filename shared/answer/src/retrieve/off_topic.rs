//! Compares a question with the off-topic questions of its index.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::Retriever;
use models::embed::OffTopic;
use store::catalog::CatalogError;

/// Time limit for reading the vectors of the off-topic questions.
const DEADLINE: Duration = Duration::from_secs(1);

/// An index, and the number of chunks at its calibration.
type Calibrated = (i64, u64);

/// The vectors of an index's off-topic questions.
type Read = (Calibrated, Arc<OffTopic>);

/// The vectors of off-topic questions that were read last; clones share them.
#[derive(Debug, Clone, Default)]
pub struct OffTopicCache(Arc<Mutex<Option<Read>>>);

impl Retriever {
    /// Returns how near a question is to the off-topic questions in the language of its locale; `None` without a calibration, or if the catalog does
    /// not answer in time.
    pub(super) async fn off_topic_nearness(
        &self,
        vector: &[f32],
        locale: Option<&str>,
    ) -> Option<f32> {
        let calibration = self.index.calibration.as_ref()?;
        if vector.is_empty() {
            return None;
        }
        let of = (self.index.index_id, calibration.chunks);
        let cache = &self.backends.off_topic.0;
        let known = cache.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let off_topic = match known {
            Some((known, off_topic)) if known == of => off_topic,
            _ => {
                let read = tokio::time::timeout(DEADLINE, self.catalog().off_topic_vectors(of.0));
                let bytes = read
                    .await
                    .unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
                    .inspect_err(|error| tracing::warn!(stage = "retrieve", %error, "cannot read the off-topic questions"))
                    .ok()??;
                let off_topic = Arc::new(OffTopic::from_bytes(&bytes, vector.len()));
                let read = Some((of, Arc::clone(&off_topic)));
                *cache.lock().unwrap_or_else(PoisonError::into_inner) = read;
                off_topic
            }
        };
        let (first, end) = calibration.scales_in(locale).questions;
        off_topic.nearness(vector, |question| (first..end).contains(&question))
    }
}
