//! Full calls of the embedder: documents that are converged at once share them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::{BoxFuture, Shared};
use tokio::sync::OwnedMutexGuard;

use crate::embed::{Embedder, Embedding, Purpose};
use crate::provider::ProviderError;

/// Texts in one call of the embedder.
pub(super) const EMBED_BATCH: usize = 128;
/// How often the embedder is asked for the same texts, and the wait before the second time; twice as long before each
/// other one.
const EMBED_ATTEMPTS: u32 = 4;
const EMBED_BACKOFF: Duration = Duration::from_secs(1);
/// The longest that a provider is waited for; one that asks for more time fails the document, which comes again.
const MAX_PROVIDER_WAIT: Duration = Duration::from_secs(30);

/// Gathers the texts of the documents that are being converged; clones share the batches.
///
/// A batch is embedded as soon as it has [`EMBED_BATCH`] texts, or every document at work waits for it: then nobody is left who
/// could add to it. So a document that is alone never waits, and there is no timer. Batches are embedded one after the other.
#[derive(Debug, Clone, Default)]
pub(super) struct Batches {
    state: Arc<Mutex<State>>,
    /// Held during a call of the embedder.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// Held during a commit: documents whose vectors came together commit together, and the catalog has few connections, which
    /// they would wait for until they gave up.
    commits: Arc<tokio::sync::Mutex<()>>,
}

#[derive(Debug, Default)]
struct State {
    /// Documents at work, waiting or not.
    documents: usize,
    /// The batch that takes texts now.
    open: Option<OpenBatch>,
}

#[derive(Debug)]
struct OpenBatch {
    /// Documents that wait for it.
    waiting: usize,
    /// Each text once, with its place.
    places: HashMap<String, usize>,
    /// Starts the embedding.
    start: oneshot::Sender<Vec<String>>,
    batch: Batch,
}

/// Driven by every document that waits for it, so it goes on as long as one of them does.
type Batch = Shared<BoxFuture<'static, Arc<EmbeddedBatch>>>;

#[derive(Debug)]
struct EmbeddedBatch {
    /// One for each text.
    embeddings: Result<Vec<Embedding>, ProviderError>,
    texts: usize,
    /// Time in the embedder.
    time: Duration,
}

/// The embeddings of one document's texts.
#[derive(Debug)]
pub(super) struct EmbeddedTexts {
    /// One for each text, in order.
    pub(super) embeddings: Vec<Embedding>,
    /// For each text whether this document had it embedded; another one had if not.
    pub(super) is_first: Vec<bool>,
    /// The document's share of the time in the embedder.
    pub(super) time: Duration,
}

/// A document at work; it counts until this is dropped.
pub(super) struct AtWork(Batches);

impl Batches {
    /// Counts a document whose texts may come.
    pub(super) fn begin(&self) -> AtWork {
        self.lock().documents += 1;
        AtWork(self.clone())
    }

    /// Waits until no other document is being committed, and keeps others waiting until the guard is dropped.
    pub(super) async fn commit_turn(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.commits).lock_owned().await
    }

    /// Embeds a document's texts, in one batch with those of others. If the batch is refused because of some text in it, this
    /// document's texts are embedded without the others'.
    ///
    /// # Errors
    /// What remains after the embedder was asked again, for every document of the batch.
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

    /// Adds texts to the open batch. Returns, for each, its place there and whether it is new in it.
    fn join(&self, embedder: &Embedder, texts: &[String]) -> (Waiting, Vec<(usize, bool)>) {
        let mut state = self.lock();
        let open = state.open.get_or_insert_with(|| self.opened(embedder));
        let place = |text: &String| {
            let next = open.places.len();
            let at = *open.places.entry(text.clone()).or_insert(next);
            (at, at == next)
        };
        let places = texts.iter().map(place).collect();
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
            // A batch that nobody waits for any more is dropped, and with it what would start it.
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

impl State {
    fn start_if_full(&mut self) {
        let documents = self.documents;
        let is_full =
            |open: &mut OpenBatch| open.places.len() >= EMBED_BATCH || open.waiting >= documents;
        if let Some(open) = self.open.take_if(is_full) {
            let mut texts = vec![String::new(); open.places.len()];
            for (text, at) in open.places {
                texts[at] = text;
            }
            // Nobody receives them if nobody waits any more.
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

/// A document that waits for a batch. One that gives up is not waited for.
struct Waiting {
    batches: Batches,
    batch: Batch,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut state = self.batches.lock();
        let is_left = |open: &mut OpenBatch| {
            let is_open = open.batch.ptr_eq(&self.batch);
            open.waiting -= usize::from(is_open);
            open.waiting == 0
        };
        state.open.take_if(is_left);
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

/// The part of a time that `part` of `whole` takes.
fn share(time: Duration, part: usize, whole: usize) -> Duration {
    let [part, whole] = [part, whole].map(|count| u32::try_from(count).unwrap_or(u32::MAX));
    time * part / whole.max(1)
}

/// Embeds texts in full calls, one after the other.
///
/// # Errors
/// What remains after the embedder was asked again.
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

/// Embeds texts, again when the provider asks for patience or did not answer.
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
            ProviderError::Rejected(_) | ProviderError::Malformed(_) => return Err(error),
        };
        if wait > MAX_PROVIDER_WAIT {
            return Err(error);
        }
        tracing::warn!(stage = "embed", error = %format_args!("the embedder {error}"), "the texts are embedded again");
        // A provider may ask for no wait at all.
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        backoff *= 2;
    }
    embedder.embed(texts, purpose).await
}

#[cfg(test)]
mod tests;
