//! Batching: documents that are ingested at the same time share calls of the embedder.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{BoxFuture, Shared};
use tokio::sync::OwnedMutexGuard;

use models::embed::{Embedder, Embedding, Purpose};
use models::provider::ProviderError;

pub(super) const EMBED_BATCH: usize = 128;
/// Attempts per call of the embedder, and the wait before the second one; the wait doubles after each attempt.
const EMBED_ATTEMPTS: u32 = 4;
const EMBED_BACKOFF: Duration = Duration::from_secs(1);
/// The longest wait that a provider may ask for. If it asks for more, the document fails and is retried later.
const MAX_PROVIDER_WAIT: Duration = Duration::from_secs(30);

/// Collects the texts of all documents being ingested; clones share the batches.
///
/// A batch is embedded as soon as it has [`EMBED_BATCH`] texts or every active document waits for it, because then no document
/// is left to add to it. A single document therefore never waits, and no timer is needed. Batches are embedded one at a time.
#[derive(Debug, Clone, Default)]
pub(super) struct Batches {
    state: Arc<Mutex<State>>,
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Held during a commit. Documents of one batch become ready together, and without this lock they would time out waiting for
    /// one of the catalog's few connections.
    commits: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    documents: usize,
    /// The batch that accepts texts.
    open: Option<OpenBatch>,
}

#[derive(Debug)]
struct OpenBatch {
    waiting: usize,
    /// The index of each distinct text in the batch.
    places: HashMap<String, usize>,
    start: oneshot::Sender<Vec<String>>,
    batch: Batch,
}

/// A shared future: it is polled by every document that waits for it, so it continues while at least one of them does.
type Batch = Shared<BoxFuture<'static, Arc<EmbeddedBatch>>>;

#[derive(Debug)]
struct EmbeddedBatch {
    embeddings: Result<Vec<Embedding>, ProviderError>,
    texts: usize,
    time: Duration,
}

#[derive(Debug)]
pub(super) struct EmbeddedTexts {
    /// One per text, in order.
    pub(super) embeddings: Vec<Embedding>,
    /// For each text, true if this document was the first to add it to the batch.
    pub(super) is_first: Vec<bool>,
    /// The document's share of the time spent in the embedder.
    pub(super) time: Duration,
}

/// An active document; dropping this ends its activity.
pub(super) struct AtWork(Batches);

impl Batches {
    /// Registers an active document, which may add texts later.
    pub(super) fn begin(&self) -> AtWork {
        self.lock().documents += 1;
        AtWork(self.clone())
    }

    /// Waits until no other document is being committed. Others wait until the guard is dropped.
    pub(super) async fn commit_turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.commits).lock_owned().await
    }

    /// Embeds a document's texts in one batch with those of other documents. If the provider rejects the batch and part of it came
    /// from other documents, embeds this document's texts alone.
    ///
    /// # Errors
    /// The error of the last attempt, which every document of the batch gets.
    pub(super) async fn embed(
        &self,
        embedder: &Embedder,
        texts: &[String],
    ) -> Result<EmbeddedTexts, ProviderError> {
        if texts.is_empty() {
            return Ok(EmbeddedTexts::default());
        }
        let (waiting, places) = self.join(embedder, texts);
        let embedded = waiting.batch.clone().await;
        drop(waiting);
        let is_first: Vec<bool> = places.iter().map(|(_, is_first)| *is_first).collect();
        let own = is_first.iter().filter(|is_first| **is_first).count();
        let embeddings = match &embedded.embeddings {
            Ok(embeddings) => embeddings,
            Err(error) if error.may_pass() || own == embedded.texts => return Err(error.clone()),
            Err(_) => return self.embed_alone(embedder, texts).await,
        };
        Ok(EmbeddedTexts {
            embeddings: places
                .iter()
                .map(|(at, _)| embeddings[*at].clone())
                .collect(),
            is_first,
            time: share(embedded.time, own, embedded.texts),
        })
    }

    async fn embed_alone(
        &self,
        embedder: &Embedder,
        texts: &[String],
    ) -> Result<EmbeddedTexts, ProviderError> {
        let _turn = self.turn.lock().await;
        let started = Instant::now();
        Ok(EmbeddedTexts {
            embeddings: embed_all(embedder, texts, Purpose::Document).await?,
            is_first: vec![true; texts.len()],
            time: started.elapsed(),
        })
    }

    /// Adds texts to the open batch. Returns each text's index in the batch, and whether it is new there.
    fn join(&self, embedder: &Embedder, texts: &[String]) -> (Waiting, Vec<(usize, bool)>) {
        let mut state = self.lock();
        let open = state.open.get_or_insert_with(|| self.opened(embedder));
        let places = texts.iter().map(|text| open.add(text)).collect();
        open.waiting += 1;
        let batch = open.batch.clone();
        state.start_if_full();
        drop(state);
        let batches = self.clone();
        (Waiting { batches, batch }, places)
    }

    fn opened(&self, embedder: &Embedder) -> OpenBatch {
        let (start, started) = oneshot::channel::<Vec<String>>();
        let (turn, embedder) = (Arc::clone(&self.turn), embedder.clone());
        let work = async move {
            // The sender is dropped if no document waits for the batch any more.
            let texts = started.await.unwrap_or_default();
            let _turn = turn.lock().await;
            let started = Instant::now();
            Arc::new(EmbeddedBatch {
                embeddings: embed_all(&embedder, &texts, Purpose::Document).await,
                texts: texts.len(),
                time: started.elapsed(),
            })
        };
        OpenBatch {
            waiting: 0,
            places: HashMap::new(),
            start,
            batch: work.boxed().shared(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenBatch {
    /// Adds a text. Returns its index in the batch, and whether it is new there.
    fn add(&mut self, text: &str) -> (usize, bool) {
        let next = self.places.len();
        let at = *self.places.entry(text.to_owned()).or_insert(next);
        (at, at == next)
    }
}

impl State {
    fn start_if_full(&mut self) {
        let full = self
            .open
            .take_if(|open| open.places.len() >= EMBED_BATCH || open.waiting >= self.documents);
        if let Some(open) = full {
            let mut texts = vec![String::new(); open.places.len()];
            for (text, at) in open.places {
                texts[at] = text;
            }
            // Sending fails if no document waits any more.
            let _ = open.start.send(texts);
        }
    }
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.documents -= 1;
        state.start_if_full();
    }
}

/// A document that waits for a batch. Dropping it ends the waiting.
struct Waiting {
    batches: Batches,
    batch: Batch,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.batches.lock();
        state.open.take_if(|open| {
            let is_open = open.batch.ptr_eq(&self.batch);
            open.waiting -= usize::from(is_open);
            open.waiting == 0
        });
    }
}

impl Default for EmbeddedTexts {
    fn default() -> Self {
        Self {
            embeddings: Vec::new(),
            is_first: Vec::new(),
            time: Duration::ZERO,
        }
    }
}

/// Returns the share of `time` that `part` out of `whole` items took.
fn share(time: Duration, part: usize, whole: usize) -> Duration {
    let [part, whole] = [part, whole].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    time * part / whole.max(1)
}

/// Embeds texts in full batches, one after the other.
///
/// # Errors
/// The error of the last attempt.
pub(super) async fn embed_all(
    embedder: &Embedder,
    texts: &[String],
    purpose: Purpose,
) -> Result<Vec<Embedding>, ProviderError> {
    let mut embeddings = Vec::with_capacity(texts.len());
    for call in texts.chunks(EMBED_BATCH) {
        embeddings.extend(embed_patiently(embedder, call, purpose).await?);
    }
    Ok(embeddings)
}

/// Embeds texts; retries after a rate limit, a timeout or an outage.
async fn embed_patiently(
    embedder: &Embedder,
    texts: &[String],
    purpose: Purpose,
) -> Result<Vec<Embedding>, ProviderError> {
    let mut backoff = EMBED_BACKOFF;
    for _ in 1..EMBED_ATTEMPTS {
        let error = match embedder.embed(texts, purpose).await {
            Ok(embeddings) => return Ok(embeddings),
            Err(error) => error,
        };
        let wait = match &error {
            ProviderError::RateLimited { retry_after } => retry_after.unwrap_or(backoff),
            ProviderError::Timeout | ProviderError::Unavailable(_) => backoff,
            ProviderError::Unauthorized(_)
            | ProviderError::Rejected(_)
            | ProviderError::Malformed(_) => return Err(error),
        };
        if wait > MAX_PROVIDER_WAIT {
            return Err(error);
        }
        tracing::warn!(stage = "embed", error = %format_args!("the embedder {error}"), "embedding the texts again");
        // A provider may allow an immediate retry.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        backoff *= 2;
    }
    embedder.embed(texts, purpose).await
}

#[cfg(test)]
mod tests;
