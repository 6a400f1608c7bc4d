//! Embeds texts one at a time with bge-small, for `tests/bench/embedding.py`.
//!
//! Reads a JSON object with `text` and `is_question` from each line, and answers with the time in nanoseconds and the vector.

use std::io::{BufRead as _, Write as _};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use models::embed::{Embedder, LocalEmbedder, Purpose};
use models::local::{LocalModel, locate};
use serde::Deserialize;

#[derive(Deserialize)]
struct Input {
    text: String,
    is_question: bool,
}

#[tokio::main]
async fn main() {
    let cache = PathBuf::from(std::env::var_os("BOOKRAG_MODEL_CACHE").expect("the models' folder"));
    let files = locate(LocalModel::BgeSmall, None, &cache, |line| {
        eprintln!("{line}");
    });
    let files = files.await.expect("the model's files");
    let embedder = LocalEmbedder::load(&files, Some(NonZeroUsize::MIN)).await;
    let embedder = Embedder::Local(Arc::new(embedder.expect("a valid model")));
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let input: Input = serde_json::from_str(&line.expect("text")).expect("an input");
        let purpose = if input.is_question {
            Purpose::Query
        } else {
            Purpose::Document
        };
        let start = Instant::now();
        let embeddings = embedder.embed(&[input.text], purpose).await;
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).expect("a short time");
        let vector = &embeddings.expect("a vector")[0].vector;
        let answer = serde_json::json!({"nanoseconds": nanoseconds, "vector": vector});
        writeln!(output, "{answer}").expect("a reader");
    }
}
