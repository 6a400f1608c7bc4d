//! Statistics of readers' questions.

use serde::Serialize;

pub(super) const PLACES: u32 = 20;

pub(super) const ALL: &str = "true";
/// Questions without any related section in the book.
pub(super) const NOT_COVERED: &str = "status = 'success' AND NOT answered AND NOT uncertain";
/// Questions that the book may not answer.
pub(super) const UNCERTAIN: &str = "status = 'success' AND uncertain";
/// Answers that a reader did not find helpful.
pub(super) const DISLIKED: &str =
    "EXISTS (SELECT 1 FROM feedback WHERE message_id = query_id AND rating = 'down')";

/// Questions that were answered, but not in a way that a reader found helpful.
pub(super) fn unhelpful() -> String {
    format!("status = 'success' AND answered AND NOT uncertain AND {DISLIKED}")
}

/// Returns the columns of a [`DayInsight`] except the day.
pub(super) fn figures_of_a_day() -> String {
    format!(
        "count(*) AS questions,
            count(*) FILTER (WHERE {NOT_COVERED}) AS not_covered,
            count(*) FILTER (WHERE {UNCERTAIN}) AS uncertain,
            count(*) FILTER (WHERE degraded) AS degraded,
            count(*) FILTER (WHERE status = 'incomplete') AS incomplete,
            count(saved_micro_usd) AS cached,
            CAST(sum(tokens) AS bigint) AS tokens, CAST(sum(cost_micro_usd) AS bigint) AS cost_micro_usd,
            CAST(coalesce(sum(saved_micro_usd), 0) AS bigint) AS saved_micro_usd"
    )
}

/// Questions of a period and their outcomes. Each list of counts holds the 20 highest ones, ties ordered by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Insights {
    /// The days with questions, in order.
    pub days: Vec<DayInsight>,
    /// Questions without any related section in the book.
    pub not_covered: Vec<OpenQuestion>,
    /// Questions whose answer said that the book may not cover them.
    pub uncertain: Vec<OpenQuestion>,
    /// Questions that were answered, but not in a way that a reader found helpful.
    pub unhelpful: Vec<OpenQuestion>,
    /// Lessons of the live index, by the number of answers that cite their current chunks.
    pub most_cited: Vec<LessonInsight>,
    /// Lessons of the live index, by the number of those answers that readers did not find helpful.
    pub most_disliked: Vec<LessonInsight>,
    /// The number of answers that readers found helpful.
    pub helpful: u64,
    /// The number of answers that readers did not find helpful.
    pub not_helpful: u64,
    /// What readers wrote about answers, the newest first.
    pub comments: Vec<CommentInsight>,
    /// What coding agents reported of wrong or missing answers, the newest first.
    pub reports: Vec<ReportInsight>,
}

/// The statistics of one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayInsight {
    /// The date in UTC, ISO 8601.
    pub day: String,
    /// The number of questions, whatever their outcome.
    pub questions: u64,
    /// The number of questions without any related section in the book.
    pub not_covered: u64,
    /// The number of questions whose answer said that the book may not cover them.
    pub uncertain: u64,
    /// The number of questions answered while a dependency was bypassed.
    pub degraded: u64,
    /// The number of questions without a complete answer, because the reader left.
    pub incomplete: u64,
    /// Tokens that models read and wrote.
    pub tokens: u64,
    /// Cost of the models, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// The number of questions answered from the cache.
    pub cached: u64,
    /// The original cost of the cached answers, in millionths of a dollar.
    pub saved_micro_usd: u64,
}

/// A question that the book does not answer, or may not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenQuestion {
    /// HMAC of the question.
    pub question_hash: String,
    /// Text of the question, if it was stored.
    pub question: Option<String>,
    /// How often it was asked.
    pub count: u64,
}

/// A question that was refused, answered in doubt or not answered in a helpful way, and whose text is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GapQuestion {
    /// HMAC of the question.
    pub question_hash: String,
    /// Text of the question.
    pub question: String,
    /// How often it was refused, in doubt or not helpful.
    pub count: u64,
    /// How often it was refused.
    pub not_covered: u64,
    /// How often the answer said that the book may not cover it.
    pub uncertain: u64,
    /// How often a reader did not find the answer helpful.
    pub unhelpful: u64,
    /// The first of these days in UTC, ISO 8601.
    pub first_day: String,
    /// The last of these days.
    pub last_day: String,
}

/// A question whose answer a reader found helpful, with the first section that the answer cites.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpfulAnswer {
    /// Text of the question.
    pub question: String,
    /// The page's source.
    pub source: String,
    /// The anchor of the section's heading; `None` at the beginning of the page.
    pub section_id: Option<String>,
}

/// A question whose text is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestion {
    /// Text of the question.
    pub question: String,
    /// How often it was asked.
    pub count: u64,
}

/// A lesson, and how many answers cite it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LessonInsight {
    /// The page's title.
    pub title: String,
    /// The page's URL.
    pub url: String,
    /// The number of answers.
    pub count: u64,
}

/// What a reader wrote about an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CommentInsight {
    /// The date in UTC, ISO 8601.
    pub day: String,
    /// Text of the question, if it was stored.
    pub question: Option<String>,
    /// The comment.
    pub comment: String,
    /// True if the reader found the answer helpful.
    pub helpful: bool,
}

/// What a coding agent reported of a wrong or missing answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReportInsight {
    /// The date in UTC, ISO 8601.
    pub day: String,
    /// Text of the question, if it was stored.
    pub question: Option<String>,
    /// What is wrong or missing.
    pub problem: String,
    /// The page or section, as the agent named it.
    pub page: Option<String>,
}
