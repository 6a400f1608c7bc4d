//! Statistics of readers' questions.

use std::time::Duration;

use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::PostgresCatalog;
use super::pool::single;
use super::values::unsigned;
use crate::catalog::insights::PLACES;
use crate::catalog::{
    AskedQuestion, CatalogError, CommentInsight, DayInsight, Insights, LessonInsight, OpenQuestion,
    microseconds,
};

const ALL: &str = "true";
/// Questions without any related section in the book.
const NOT_COVERED: &str = "status = 'success' AND NOT answered AND NOT uncertain";
/// Questions that the book may not answer.
const UNCERTAIN: &str = "status = 'success' AND uncertain";
/// Answers that a reader did not find helpful.
const DISLIKED: &str =
    "EXISTS (SELECT FROM feedback WHERE message_id = query_id AND rating = 'down')";

/// Questions that were answered, but not in a way that a reader found helpful.
fn unhelpful() -> String {
    format!("status = 'success' AND answered AND NOT uncertain AND {DISLIKED}")
}

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
        })
    }

    pub(in crate::catalog) async fn asked_questions(
        &self,
        since: Duration,
        limit: u32,
    ) -> Result<Vec<AskedQuestion>, CatalogError> {
        let statement =
            "SELECT max(question COLLATE \"C\") AS question, count(*) AS count FROM chat_queries
             WHERE created_at >= now() - $1 * interval '1 microsecond' AND status = 'success'
                AND question IS NOT NULL
             GROUP BY question_hash ORDER BY count DESC, question_hash COLLATE \"C\" LIMIT $2";
        let (since, limit) = (microseconds(since), i64::from(limit));
        let parameters = [(&since as _, Type::INT8), (&limit as _, Type::INT8)];
        let rows = self.pool.query(statement, &parameters).await?;
        rows.iter()
            .map(|row| {
                Ok(AskedQuestion {
                    question: row.try_get("question")?,
                    count: unsigned(row, "count")?,
                })
            })
            .collect()
    }

    async fn days(&self, since: i64) -> Result<Vec<DayInsight>, CatalogError> {
        let statement = format!(
                "SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, count(*) AS questions,
                    count(*) FILTER (WHERE {NOT_COVERED}) AS not_covered,
                count(*) FILTER (WHERE {UNCERTAIN}) AS uncertain,
                    count(*) FILTER (WHERE degraded) AS degraded,
                    count(*) FILTER (WHERE status = 'incomplete') AS incomplete,
                    count(saved_micro_usd) AS cached,
                    sum(tokens)::bigint AS tokens, sum(cost_micro_usd)::bigint AS cost_micro_usd,
                    coalesce(sum(saved_micro_usd), 0)::bigint AS saved_micro_usd
                 FROM chat_queries WHERE created_at >= now() - $1 * interval '1 microsecond'
                 GROUP BY day ORDER BY day"
        );
        let rows = self.pool.query(&statement, &[(&since, Type::INT8)]).await?;
        rows.iter().map(day).collect()
    }

    /// The most frequent questions that match the condition.
    async fn questions(&self, since: i64, of: &str) -> Result<Vec<OpenQuestion>, CatalogError> {
        let statement = format!(
            "SELECT question_hash, max(question COLLATE \"C\") AS question, count(*) AS count
             FROM chat_queries
             WHERE created_at >= now() - $1 * interval '1 microsecond' AND {of}
             GROUP BY question_hash ORDER BY count DESC, question_hash COLLATE \"C\" LIMIT $2"
        );
        let rows = self
            .pool
            .query(
                &statement,
                &[(&since, Type::INT8), (&i64::from(PLACES), Type::INT8)],
            )
            .await?;
        rows.iter().map(question).collect()
    }

    /// The lessons cited most by answers that match the condition.
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
        let rows = self
            .pool
            .query(
                &statement,
                &[(&since, Type::INT8), (&i64::from(PLACES), Type::INT8)],
            )
            .await?;
        rows.iter().map(lesson).collect()
    }

    /// The numbers of answers that readers found helpful, and did not.
    async fn ratings(&self, since: i64) -> Result<(u64, u64), CatalogError> {
        let statement = "SELECT count(*) FILTER (WHERE rating = 'up') AS helpful,
                count(*) FILTER (WHERE rating = 'down') AS not_helpful
             FROM feedback JOIN chat_queries ON message_id = query_id
             WHERE chat_queries.created_at >= now() - $1 * interval '1 microsecond'";
        let rows = self.pool.query(statement, &[(&since, Type::INT8)]).await?;
        let row = single(&rows)?;
        Ok((unsigned(row, "helpful")?, unsigned(row, "not_helpful")?))
    }

    /// The newest comments.
    async fn comments(&self, since: i64) -> Result<Vec<CommentInsight>, CatalogError> {
        let statement =
            "SELECT to_char(feedback.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, question, comment,
                rating = 'up' AS helpful
             FROM feedback JOIN chat_queries ON message_id = query_id
             WHERE chat_queries.created_at >= now() - $1 * interval '1 microsecond' AND comment IS NOT NULL
                AND rating IN ('up', 'down')
             ORDER BY feedback.created_at DESC, feedback_id LIMIT $2";
        let rows = self
            .pool
            .query(
                statement,
                &[(&since, Type::INT8), (&i64::from(PLACES), Type::INT8)],
            )
            .await?;
        rows.iter().map(comment).collect()
    }
}

fn comment(row: &Row) -> Result<CommentInsight, CatalogError> {
    Ok(CommentInsight {
        day: row.try_get("day")?,
        question: row.try_get("question")?,
        comment: row.try_get("comment")?,
        helpful: row.try_get("helpful")?,
    })
}

fn day(row: &Row) -> Result<DayInsight, CatalogError> {
    Ok(DayInsight {
        day: row.try_get("day")?,
        questions: unsigned(row, "questions")?,
        not_covered: unsigned(row, "not_covered")?,
        uncertain: unsigned(row, "uncertain")?,
        degraded: unsigned(row, "degraded")?,
        incomplete: unsigned(row, "incomplete")?,
        tokens: unsigned(row, "tokens")?,
        cost_micro_usd: unsigned(row, "cost_micro_usd")?,
        cached: unsigned(row, "cached")?,
        saved_micro_usd: unsigned(row, "saved_micro_usd")?,
    })
}

fn question(row: &Row) -> Result<OpenQuestion, CatalogError> {
    Ok(OpenQuestion {
        question_hash: row.try_get("question_hash")?,
        question: row.try_get("question")?,
        count: unsigned(row, "count")?,
    })
}

fn lesson(row: &Row) -> Result<LessonInsight, CatalogError> {
    Ok(LessonInsight {
        title: row.try_get("title")?,
        url: row.try_get("url")?,
        count: unsigned(row, "count")?,
    })
}
