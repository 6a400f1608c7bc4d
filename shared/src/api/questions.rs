//! The request for questions that a reader may ask.

use serde::{Deserialize, Serialize};

use super::chat::optional_text;
use answer::Proposal;
use answer::error::Error;
use store::index::Filters;

/// The default and the maximum number of questions.
const DEFAULT_LIMIT: usize = 4;
const MAX_LIMIT: usize = 10;

/// A request for questions, as the query of a URL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct QuestionsRequest {
    /// The URL or path of the page the reader is on, whose questions come first. It selects the locale and version.
    pub page_url: Option<String>,
    /// Limits the questions to this locale.
    pub locale: Option<String>,
    /// Limits the questions to this version.
    pub version: Option<String>,
    /// The number of questions, 1 to 10.
    pub limit: Option<String>,
}

/// A validated request for questions.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedQuestions {
    /// The page the reader is on.
    pub page_url: Option<String>,
    /// Limits on the pages.
    pub filters: Filters,
    /// The most questions.
    pub limit: usize,
}

impl QuestionsRequest {
    /// Validates the number of questions and the page.
    ///
    /// # Errors
    /// `Invalid` with the field and its limit.
    pub fn check(self) -> Result<WantedQuestions, Error> {
        let limit = match self.limit.as_deref() {
            None => Some(DEFAULT_LIMIT),
            Some(limit) => limit.parse().ok(),
        };
        let limit = limit.filter(|limit| (1..=MAX_LIMIT).contains(limit));
        let limit = limit.ok_or_else(|| {
            let message = format!("limit must be a whole number from 1 to {MAX_LIMIT}");
            Error::field("limit", message)
        })?;
        Ok(WantedQuestions {
            page_url: optional_text("page_url", self.page_url)?,
            filters: Filters {
                locale: optional_text("locale", self.locale)?,
                version: optional_text("version", self.version)?,
                ..Filters::default()
            },
            limit,
        })
    }
}

/// Questions that the book answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct QuestionsData {
    /// The questions; empty if the book has no files of questions.
    pub questions: Vec<Proposal>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_to_ten_questions_are_given_and_four_unless_a_number_is_asked_for() {
        let checked = |limit: Option<&str>| {
            let request = QuestionsRequest {
                limit: limit.map(str::to_owned),
                ..QuestionsRequest::default()
            };
            request.check().map(|wanted| wanted.limit)
        };
        for (limit, expected) in [(None, 4), (Some("1"), 1), (Some("10"), 10)] {
            assert_eq!(checked(limit).unwrap(), expected);
        }
        for limit in ["0", "11", "-1", "1.5", "", "many"] {
            assert_eq!(checked(Some(limit)).unwrap_err().field, Some("limit"));
        }
    }
}
