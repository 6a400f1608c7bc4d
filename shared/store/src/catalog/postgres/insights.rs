//! Statistics of readers' questions.

use std::time::Duration;

use tokio_postgres::types::Type;

use super::PostgresCatalog;
use crate::catalog::insights::{
    ALL, DISLIKED, NOT_COVERED, PLACES, UNCERTAIN, figures_of_a_day, unhelpful,
};
use crate::catalog::{
    CatalogError, CommentInsight, DayInsight, Insights, LessonInsight, OpenQuestion, microseconds,
    single,
};

impl PostgresCatalog {
    pub(in crate::catalog) async fn insights(
        &self,
        since: Duration,
    ) -> Result<Insights, CatalogError> {
        let since = microseconds(since);
        let (helpful, not_helpful) = self.ratings(since).await?;
        Ok(Insights {
            helpful,
            not_helpful,
            comments: self.comments(since).await?,
            days: self.days(since).await?,
            not_covered: self.questions(since, NOT_COVERED).await?,
            uncertain: self.questions(since, UNCERTAIN).await?,
            unhelpful: self.questions(since, &unhelpful()).await?,
            most_cited: self.lessons(since, ALL).await?,
            most_disliked: self.lessons(since, DISLIKED).await?,
            ..Insights::default()
        })
    }

    async fn days(&self, since: i64) -> Result<Vec<DayInsight>, CatalogError> {
        let statement = format!(
            "SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, {}
             FROM chat_queries WHERE created_at >= now() - $1 * interval '1 microsecond'
             GROUP BY day ORDER BY day",
            figures_of_a_day(),
        );
        self.query(&statement, &[(&since, Type::INT8)]).await
    }

    /// Returns the most frequent questions that match the condition.
    async fn questions(&self, since: i64, of: &str) -> Result<Vec<OpenQuestion>, CatalogError> {
        let statement = format!(
            "SELECT question_hash, max(question COLLATE \"C\") AS question, count(*) AS count
             FROM chat_queries
             WHERE created_at >= now() - $1 * interval '1 microsecond' AND {of}
             GROUP BY question_hash ORDER BY count DESC, question_hash COLLATE \"C\" LIMIT $2"
        );
        self.query(
            &statement,
            &[(&since, Type::INT8), (&i64::from(PLACES), Type::INT8)],
        )
        .await
    }

    /// Returns the lessons cited most by answers that match the condition.
    async fn lessons(&self, since: i64, of: &str) -> Result<Vec<LessonInsight>, CatalogError> {
        let statement = format!(
            "SELECT title, url, count(DISTINCT query_id) AS count
             FROM chat_queries CROSS JOIN unnest(cited_chunk_ids) AS cited (chunk_id)
                JOIN document_chunks USING (chunk_id) JOIN documents USING (index_id, document_id)
             WHERE chat_queries.created_at >= now() - $1 * interval '1 microsecond' AND {of}
                AND index_id = (SELECT index_id FROM indexes WHERE state = 'live')
             GROUP BY document_id, title, url
             ORDER BY count DESC, title COLLATE \"C\", url COLLATE \"C\" LIMIT $2"
        );
        self.query(
            &statement,
            &[(&since, Type::INT8), (&i64::from(PLACES), Type::INT8)],
        )
        .await
    }

    /// Returns the number of answers that readers found helpful, and of those that they did not.
    async fn ratings(&self, since: i64) -> Result<(u64, u64), CatalogError> {
        let statement = "SELECT count(*) FILTER (WHERE rating = 'up') AS helpful,
                count(*) FILTER (WHERE rating = 'down') AS not_helpful
             FROM feedback JOIN chat_queries ON message_id = query_id
             WHERE chat_queries.created_at >= now() - $1 * interval '1 microsecond'";
        single(self.query(statement, &[(&since, Type::INT8)]).await?)
    }

    /// Returns the newest comments.
    async fn comments(&self, since: i64) -> Result<Vec<CommentInsight>, CatalogError> {
        let statement =
            "SELECT to_char(feedback.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, question, comment,
                rating = 'up' AS helpful
             FROM feedback JOIN chat_queries ON message_id = query_id
             WHERE chat_queries.created_at >= now() - $1 * interval '1 microsecond' AND comment IS NOT NULL
                AND rating IN ('up', 'down')
             ORDER BY feedback.created_at DESC, feedback_id LIMIT $2";
        self.query(
            statement,
            &[(&since, Type::INT8), (&i64::from(PLACES), Type::INT8)],
        )
        .await
    }
}
