//! Shares the embeddings of questions among the books of a process, so that a question is embedded once, however many books are asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

use super::Retriever;
use models::embed::{Embedding, Purpose};
use models::provider::ProviderError;

/// The number of questions that are remembered: more than are answered at the same time.
const REMEMBERED: usize = 64;

/// A question, and its embedding once that is computed.
type Remembered = (Key, Arc<OnceCell<Embedding>>);

/// The fingerprint of a model, and a text.
type Key = (String, String);

/// The embeddings of the last questions; clones share them. The default remembers nothing.
#[derive(Debug, Clone, Default)]
pub struct QuestionCache(Option<Arc<Mutex<VecDeque<Remembered>>>>);

impl QuestionCache {
    /// Creates a cache for several books.
    #[must_use]
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns the place for the embedding of a text; `None` if nothing is remembered.
    fn place(&self, key: Key) -> Option<Arc<OnceCell<Embedding>>> {
        let remembered = self.0.as_ref()?;
        let mut remembered = remembered.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, place)) = remembered.iter().find(|(known, _)| *known == key) {
            return Some(Arc::clone(place));
        }
        if remembered.len() == REMEMBERED {
            remembered.pop_front();
        }
        let place = Arc::default();
        remembered.push_back((key, Arc::clone(&place)));
        Some(place)
    }
}

impl Retriever {
    /// Embeds the text of a question, unless another book has just done so.
    pub(super) async fn embedding_of(&self, text: &str) -> Result<Embedding, ProviderError> {
        let backends = &self.backends;
        let fingerprint = backends.embedder.identity().fingerprint.clone();
        match backends.questions.place((fingerprint, text.to_owned())) {
            // A failure is not remembered.
            Some(place) => place
                .get_or_try_init(|| self.embed_text(text))
                .await
                .cloned(),
            None => self.embed_text(text).await,
        }
    }

    async fn embed_text(&self, text: &str) -> Result<Embedding, ProviderError> {
        let texts = [text.to_owned()];
        let embedded = self.backends.embedder.embed(&texts, Purpose::Query).await?;
        Ok(embedded.into_iter().next().unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(text: &str) -> Key {
        ("model".to_owned(), text.to_owned())
    }

    #[test]
    fn equal_questions_share_a_place_until_many_others_were_asked() {
        let cache = QuestionCache::new();
        let first = cache.clone().place(key("frost")).unwrap();
        assert!(Arc::ptr_eq(&first, &cache.place(key("frost")).unwrap()));
        let of_another_model = ("other".to_owned(), "frost".to_owned());
        assert!(!Arc::ptr_eq(
            &first,
            &cache.place(of_another_model).unwrap()
        ));
        for number in 0..REMEMBERED {
            cache.place(key(&number.to_string())).unwrap();
        }
        assert!(!Arc::ptr_eq(&first, &cache.place(key("frost")).unwrap()));
        assert!(QuestionCache::default().place(key("frost")).is_none());
    }
}
