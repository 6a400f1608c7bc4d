//! Stores readers' ratings.

use tokio_postgres::types::Type;
use uuid::Uuid;

use super::PostgresCatalog;
use crate::catalog::{CatalogError, Feedback, single};

impl PostgresCatalog {
    pub(in crate::catalog) async fn add_feedback(
        &self,
        feedback: &Feedback,
    ) -> Result<bool, CatalogError> {
        // The id is generated here, so that a retry does not insert twice. Only the newest thumb and the newest click on a citation of a message are
        // kept.
        let rows = self
            .query(
                "WITH replaced AS (
                    DELETE FROM feedback WHERE message_id = $2 AND feedback_id <> $1
                        AND (rating = 'citation_clicked') = ($3 = 'citation_clicked')),
                 written AS (
                    INSERT INTO feedback (feedback_id, message_id, rating, comment)
                    SELECT $1, query_id, $3, $4 FROM chat_queries WHERE query_id = $2
                    ON CONFLICT DO NOTHING)
                 SELECT EXISTS (SELECT FROM chat_queries WHERE query_id = $2)",
                &[
                    (&Uuid::new_v4(), Type::UUID),
                    (&feedback.message_id, Type::UUID),
                    (&feedback.rating.name(), Type::TEXT),
                    (&feedback.comment, Type::TEXT),
                ],
            )
            .await?;
        single(rows)
    }
}
