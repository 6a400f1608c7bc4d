//! The contexts of a deployment's functions.

use super::{
    Context, READER_STATEMENT_TIMEOUT, StartError, embedder, log_start, postgres_catalog, reranker,
    vector_index,
};
use crate::config::{BookSettings, Config};
use answer::retrieve::{Backends, OffTopicCache, QuestionCache};

impl Context {
    /// Creates a function's backends from its configuration, without sending requests.
    ///
    /// # Errors
    /// If something configured cannot be created.
    pub async fn hosted(config: &Config) -> Result<Self, StartError> {
        let url = config
            .qdrant_url
            .as_deref()
            .ok_or(StartError::MissingSetting("QDRANT_URL"))?;
        let database = config
            .database_url
            .as_ref()
            .ok_or(StartError::MissingSetting("DATABASE_URL"))?;
        let backends = Backends {
            embedder: embedder(config, log_start).await?,
            reranker: reranker(config, log_start).await?,
            vectors: vector_index(config, url)?,
            catalog: postgres_catalog(config, database, READER_STATEMENT_TIMEOUT)?,
            off_topic: OffTopicCache::default(),
            questions: QuestionCache::default(),
        };
        Self::new(config, backends)
    }

    /// Creates the backends of the books of a deployment that has several, without sending requests. They share the models and the client of the
    /// vector store.
    ///
    /// # Errors
    /// If something configured cannot be created.
    pub async fn hosted_books(config: &Config) -> Result<Vec<(BookSettings, Self)>, StartError> {
        let shared = Self::hosted(config).await?.backends;
        let questions = QuestionCache::new();
        let books = config.books.iter().map(|book| {
            let config = config.of_book(book);
            let database = config
                .database_url
                .as_ref()
                .ok_or(StartError::MissingSetting("DATABASE_URL"))?;
            let backends = Backends {
                catalog: postgres_catalog(&config, database, READER_STATEMENT_TIMEOUT)?,
                off_topic: OffTopicCache::default(),
                questions: questions.clone(),
                ..shared.clone()
            };
            let context = Self::new(&config, backends)?;
            if book.is_private && context.authorizer.is_none() {
                return Err(StartError::Auth(format!(
                    "the book `{}` is private, so a sign-in is needed: BOOKRAG_AUTH_SECRET, BOOKRAG_AUTH_PUBLIC_KEY or BOOKRAG_AUTH_JWKS_URL",
                    book.id
                )));
            }
            Ok((book.clone(), context))
        });
        books.collect()
    }
}
