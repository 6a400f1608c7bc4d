//! Compares the lines of a section with the question, using the index's token vectors.

use std::time::Duration;

use tokio::time::timeout;

use crate::quote::Similarities;
use crate::retrieve::{Retriever, ScoredChunk};
use models::embed::{Embedder, MaxSim, TokenVectors, WeightedToken};
use store::index::{ChunkPayload, IndexError};

/// Time limit for reading a section's token vectors.
const TOKENS_DEADLINE: Duration = Duration::from_secs(1);

/// Compares the lines of a section with a question. `parts` are the chunks joined into the section. Returns `None` if the index has no token vectors,
/// or the vector store does not answer in time.
pub(crate) async fn similarities(
    retriever: &Retriever,
    question: &[WeightedToken],
    parts: &[ScoredChunk],
) -> Option<Similarities> {
    let question = MaxSim::new(question)?;
    let points: Vec<_> = parts.iter().map(|part| part.point_id).collect();
    let collection = &retriever.index.collection;
    let read = retriever.backends.vectors.tokens(collection, &points);
    let read = timeout(TOKENS_DEADLINE, read).await;
    let read =
        read.unwrap_or_else(|_| Err(IndexError::Unavailable("no answer in time".to_owned())));
    let tokens = read
        .inspect_err(
            |error| tracing::warn!(stage = "extract", %error, "choosing the quote by words only"),
        )
        .ok()?;
    let mut similarities = Similarities::new(&question.token_weights());
    let embedder = &retriever.backends.embedder;
    for part in parts {
        let tokens = tokens.get(&part.point_id)?;
        add_lines(&mut similarities, &question, embedder, &part.chunk, tokens);
    }
    Some(similarities)
}

/// Adds the lines of a chunk. Its token vectors are those of its breadcrumb, then those of each line.
fn add_lines(
    similarities: &mut Similarities,
    question: &MaxSim,
    embedder: &Embedder,
    chunk: &ChunkPayload,
    tokens: &TokenVectors,
) {
    let mut at = tokens_of_breadcrumb(embedder, chunk);
    for line in chunk.text.lines() {
        let count = embedder.token_words(line).len();
        if let Some(found) = question.similarities(tokens.iter().skip(at).take(count)) {
            similarities.add(line, found);
        }
        at += count;
    }
}

/// Returns the number of breadcrumb tokens before a chunk's text.
fn tokens_of_breadcrumb(embedder: &Embedder, chunk: &ChunkPayload) -> usize {
    let windows = embedder.windows(&chunk.breadcrumb, &chunk.text);
    let head = windows
        .texts
        .first()
        .map_or("", |text| &text[..windows.head]);
    embedder.token_words(head).len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use models::embed::{FakeEmbedder, Purpose};

    #[tokio::test]
    async fn each_line_has_the_similarities_of_its_own_tokens() {
        let payload = include_str!("../generate/prompt/payload.json");
        let mut chunk: ChunkPayload = serde_json::from_str(payload).unwrap();
        chunk.breadcrumb = "Book > Delta".to_owned();
        chunk.text = "Alpha, beta: gamma.\n\n- delta epsilon\n- zeta".to_owned();
        let embedder = Embedder::Fake(FakeEmbedder::new());
        let texts = embedder.windows(&chunk.breadcrumb, &chunk.text).texts;
        let texts = [texts.concat(), "delta".to_owned()];
        let embedded = embedder.embed(&texts, Purpose::Document).await.unwrap();
        let asked = embedded[1].tokens.iter();
        let asked = asked.map(|&vector| WeightedToken {
            vector,
            weight: 2.0,
        });
        let question = MaxSim::new(&asked.collect::<Vec<_>>()).unwrap();
        let mut similarities = Similarities::new(&question.token_weights());
        add_lines(
            &mut similarities,
            &question,
            &embedder,
            &chunk,
            &embedded[0].tokens,
        );
        let mut expected = Similarities::new(&[2.0]);
        expected.add("Alpha, beta: gamma.", vec![0.0]);
        expected.add("- delta epsilon", vec![1.0]);
        expected.add("- zeta", vec![0.0]);
        assert_eq!(similarities, expected);
    }
}
