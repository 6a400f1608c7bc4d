//! What readers' questions say about the book.

use serde::Serialize;

/// How many places the lists have.
pub(super) const PLACES: u32 = 20;

/// What was asked in a time, and how it went. Lists hold the 20 with the highest counts, those of equal counts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Insights {
    /// The days on which something was asked, in order.
    pub days: Vec<DayInsight>,
    /// Questions that the book has nothing near.
    pub not_covered: Vec<OpenQuestion>,
    /// Questions that the book may not answer, as their answers said.
    pub uncertain: Vec<OpenQuestion>,
    /// Lessons of the live index, by the answers that cite them as they are now.
    pub most_cited: Vec<LessonInsight>,
    /// The same, by those of the answers that a reader did not find helpful.
    pub most_disliked: Vec<LessonInsight>,
}

/// A day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DayInsight {
    /// The date in UTC, ISO 8601.
    pub day: String,
    /// Questions, however they ended.
    pub questions: u64,
    /// Those that the book has nothing near.
    pub not_covered: u64,
    /// Those that the book may not answer, as their answers said.
    pub uncertain: u64,
    /// Those answered without something that did not work.
    pub degraded: u64,
    /// Those without an end: the reader left.
    pub incomplete: u64,
    /// The tokens that models read and wrote.
    pub tokens: u64,
    /// What they cost, in millionths of a dollar.
    pub cost_micro_usd: u64,
    /// Questions that a model's former answer was given to again.
    pub cached: u64,
    /// What those answers had cost, in millionths of a dollar.
    pub saved_micro_usd: u64,
}

/// A question that the book does not answer, or may not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OpenQuestion {
    /// Its HMAC.
    pub question_hash: String,
    /// Its text, where one was kept.
    pub question: Option<String>,
    /// How often it was asked.
    pub count: u64,
}

/// A question whose text is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedQuestion {
    /// Its text.
    pub question: String,
    /// How often it was asked.
    pub count: u64,
}

/// A lesson.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LessonInsight {
    /// The page's title.
    pub title: String,
    /// Its URL.
    pub url: String,
    /// How many answers.
    pub count: u64,
}
