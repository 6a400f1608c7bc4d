//! Stores readers' ratings.

use rusqlite::params;
use uuid::Uuid;

use super::values::now;
use super::{SqliteCatalog, begin_write};
use crate::catalog::{CatalogError, Feedback};

impl SqliteCatalog {
    pub(in crate::catalog) async fn add_feedback(
        &self,
        feedback: &Feedback,
    ) -> Result<bool, CatalogError> {
        let feedback = feedback.clone();
        self.run(move |connection| {
            let transaction = begin_write(connection)?;
            // Only the newest thumb and the newest click on a citation of a message are kept.
            transaction.execute(
                "DELETE FROM feedback WHERE message_id = ?1 AND (rating = 'citation_clicked') = (?2 = 'citation_clicked')",
                params![feedback.message_id.to_string(), feedback.rating.name()],
            )?;
            let written = transaction.execute(
                "INSERT INTO feedback (feedback_id, message_id, rating, comment, created_at)
                 SELECT ?1, query_id, ?3, ?4, ?5 FROM chat_queries WHERE query_id = ?2",
                params![
                    Uuid::new_v4().to_string(),
                    feedback.message_id.to_string(),
                    feedback.rating.name(),
                    feedback.comment,
                    now(),
                ],
            )?;
            transaction.commit()?;
            Ok(written > 0)
        })
        .await
    }
}
