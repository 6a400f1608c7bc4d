//! Statistics of readers' questions.

use std::time::Duration;

use rusqlite::Transaction;

use super::values::{ago, rows};
use super::{DatabaseError, SqliteCatalog};
use crate::catalog::insights::{
    ALL, DISLIKED, NOT_COVERED, PLACES, UNCERTAIN, figures_of_a_day, unhelpful,
};
use crate::catalog::row::FromRow;
use crate::catalog::{
    CatalogError, CommentInsight, DayInsight, Insights, LessonInsight, OpenQuestion,
};

impl SqliteCatalog {
    pub(in crate::catalog) async fn insights(
        &self,
        since: Duration,
    ) -> Result<Insights, CatalogError> {
        self.run(move |connection| {
            let since = ago(since);
            let transaction = connection.transaction()?;
            let (helpful, not_helpful) = ratings(&transaction, since)?;
            Ok(Insights {
                helpful,
                not_helpful,
                comments: comments(&transaction, since)?,
                days: days(&transaction, since)?,
                not_covered: questions(&transaction, since, NOT_COVERED)?,
                uncertain: questions(&transaction, since, UNCERTAIN)?,
                unhelpful: questions(&transaction, since, &unhelpful())?,
                most_cited: lessons(&transaction, since, ALL)?,
                most_disliked: lessons(&transaction, since, DISLIKED)?,
                ..Insights::default()
            })
        })
        .await
    }
}

fn days(transaction: &Transaction, since: i64) -> Result<Vec<DayInsight>, DatabaseError> {
    let statement = format!(
        "SELECT date(created_at / 1000000, 'unixepoch') AS day, {}
         FROM chat_queries WHERE created_at >= ?1 GROUP BY day ORDER BY day",
        figures_of_a_day(),
    );
    rows(transaction, &statement, [since])
}

/// Returns the most frequent questions that match the condition.
fn questions(
    transaction: &Transaction,
    since: i64,
    of: &str,
) -> Result<Vec<OpenQuestion>, DatabaseError> {
    let statement = format!(
        "SELECT question_hash, max(question) AS question, count(*) AS count FROM chat_queries
         WHERE created_at >= ?1 AND {of}
         GROUP BY question_hash ORDER BY count DESC, question_hash LIMIT ?2"
    );
    rows(transaction, &statement, (since, PLACES))
}

/// Returns the lessons cited most by answers that match the condition.
fn lessons(
    transaction: &Transaction,
    since: i64,
    of: &str,
) -> Result<Vec<LessonInsight>, DatabaseError> {
    let statement = format!(
        "SELECT title, url, count(DISTINCT query_id) AS count
         FROM chat_queries JOIN json_each(cited_chunk_ids) AS cited
            JOIN document_chunks ON chunk_id = cited.value JOIN documents USING (index_id, document_id)
         WHERE chat_queries.created_at >= ?1 AND {of}
            AND index_id = (SELECT index_id FROM indexes WHERE state = 'live')
         GROUP BY document_id, title, url ORDER BY count DESC, title, url LIMIT ?2"
    );
    rows(transaction, &statement, (since, PLACES))
}

/// Returns the number of answers that readers found helpful, and of those that they did not.
fn ratings(transaction: &Transaction, since: i64) -> Result<(u64, u64), DatabaseError> {
    let statement = "SELECT count(*) FILTER (WHERE rating = 'up') AS helpful,
            count(*) FILTER (WHERE rating = 'down') AS not_helpful
         FROM feedback JOIN chat_queries ON message_id = query_id WHERE chat_queries.created_at >= ?1";
    Ok(transaction.query_row(statement, [since], |row| <(u64, u64)>::from_row(row))?)
}

/// Returns the newest comments.
fn comments(transaction: &Transaction, since: i64) -> Result<Vec<CommentInsight>, DatabaseError> {
    let statement = "SELECT date(feedback.created_at / 1000000, 'unixepoch') AS day, question, comment, rating = 'up' AS helpful
         FROM feedback JOIN chat_queries ON message_id = query_id
         WHERE chat_queries.created_at >= ?1 AND comment IS NOT NULL AND rating IN ('up', 'down')
         ORDER BY feedback.created_at DESC, feedback_id LIMIT ?2";
    rows(transaction, statement, (since, PLACES))
}
