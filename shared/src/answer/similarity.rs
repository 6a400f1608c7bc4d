//! How well the lines of a section resemble the question, by the token vectors that the index has.

use std::time::Duration;

use tokio::time::timeout;

use crate::embed::{Embedder, MaxSim, WeightedToken};
use crate::generate::Similarities;
use crate::index::{ChunkPayload, IndexError};
use crate::retrieve::{Retriever, ScoredChunk};

/// How long the vector store has to read a section's token vectors.
const TOKENS_DEADLINE: Duration = Duration::from_secs(1);

/// Compares the lines of a section with a question. `parts` are the chunks that the section was joined of. Returns `None` if the
/// index has no token vectors, or the vector store does not answer in time.
pub(super) async fn similarities(
    retriever: &Retriever,
    question: &[WeightedToken],
    parts: &[ScoredChunk],
) -> Option<Similarities> {
    let question = MaxSim::of(question)?;
    let points: Vec<_> = parts.iter().map(|part| part.point_id).collect();
    let collection = &retriever.index.collection;
    let read = retriever.backends.vectors.tokens(collection, &points);
    let read = timeout(TOKENS_DEADLINE, read).await;
    let read =
        read.unwrap_or_else(|_| Err(IndexError::Unavailable("no answer in time".to_owned())));
    let tokens = read
        .inspect_err(
            |error| tracing::warn!(stage = "extract", %error, "words decide what is quoted"),
        )
        .ok()?;
    let mut similarities = Similarities::new(&question.token_weights());
    let embedder = &retriever.backends.embedder;
    for part in parts {
        let tokens = tokens.get(&part.point_id)?;
        let mut at = tokens_of_breadcrumb(embedder, &part.chunk);
        for line in part.chunk.text.lines() {
            let count = embedder.token_words(line).len();
            let of_line = tokens.iter().skip(at).take(count);
            if let Some(found) = question.similarities(of_line) {
                similarities.add(line, found);
            }
            at += count;
        }
    }
    Some(similarities)
}

/// How many tokens of a chunk's breadcrumb stand before those of its text.
fn tokens_of_breadcrumb(embedder: &Embedder, chunk: &ChunkPayload) -> usize {
    let windows = embedder.windows(&chunk.breadcrumb, &chunk.text);
    let head = windows
        .texts
        .first()
        .map_or("", |text| &text[..windows.head]);
    embedder.token_words(head).len()
}
