//! How near a book is to a question, to choose one of several books.

use super::synonyms::Synonyms;
use super::{Retriever, language_of};
use models::embed::{NEAREST_CHUNKS, mean_of_best};
use store::index::{Filters, VectorQuery};
use text::Words;

/// How near a book is to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Nearness {
    /// The mean of the best cosines of its chunks. Comparable among books with the same model.
    pub mean: f32,
    /// The best cosine of a question that a section answers; `None` if the book has no such questions.
    pub question: Option<f32>,
    /// The mean on the index's own scale ([`store::catalog::Scales::z`]); `None` if the index has not measured it.
    pub z: Option<f32>,
    /// The name and the version of the model.
    pub model: String,
}

impl Retriever {
    /// Returns how near the book is to a question; `None` if the embedder or the vector store fails, or the book has too few chunks.
    pub async fn nearness(&self, question: &str) -> Option<Nearness> {
        let filters = Filters::default();
        let language = language_of(&filters);
        let words = Words::new(language);
        let synonyms = Synonyms::new(question, &self.index.site.synonyms, &words);
        let searched = synonyms.with(question);
        let vector = self.embedding_of(&searched).await.ok()?.vector;
        let query = VectorQuery {
            terms: &[],
            vector: &vector,
            tokens: &[],
            with_questions: self.index.spec.question_vectors.is_some(),
            filters: &filters,
            limit: NEAREST_CHUNKS,
        };
        let (found, off_topic) = tokio::join!(
            self.vectors().search(&self.index.collection, &query),
            self.off_topic_nearness(&vector, None)
        );
        let found = found.ok()?;
        let cosines = found.iter().map(|point| point.score).collect();
        let mean = mean_of_best(cosines, NEAREST_CHUNKS)?;
        let questions = found.iter().filter_map(|point| point.question_score);
        let calibration = self.index.calibration.as_ref();
        let scales = calibration.map(|measured| measured.scales_in(None));
        let spec = &self.index.spec;
        Some(Nearness {
            mean,
            question: questions.reduce(f32::max),
            z: scales.and_then(|scales| scales.z(mean, off_topic)),
            model: format!("{} {}", spec.embedder, spec.embedder_fingerprint),
        })
    }
}
