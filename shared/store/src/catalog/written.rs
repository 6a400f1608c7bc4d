//! The questions that a model wrote for the sections of pages.

use std::collections::BTreeMap;
use std::time::Duration;

use super::statement::Parameter::{Ago, Now, Text, Texts};
use super::{Catalog, CatalogError, microseconds, sql};

/// What a chat model is paid for. Each has its own sum and its own budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Account {
    /// Answers to readers.
    Answers,
    /// Writing the questions that sections answer.
    Questions,
}

impl Account {
    /// Returns the table with the account's daily sums.
    pub(super) fn table(self) -> &'static str {
        match self {
            Self::Answers => "spend",
            Self::Questions => "question_spend",
        }
    }
}

impl Catalog {
    /// Returns the questions of a site's pages: the text of a question file for each source path. With `sources`, only those of these pages.
    pub async fn written_questions(
        &self,
        site: &str,
        sources: Option<&[String]>,
    ) -> Result<BTreeMap<String, String>, CatalogError> {
        let files = self
            .rows(sql::WRITTEN_QUESTIONS, &[Text(site), Texts(sources)])
            .await?;
        Ok(files.into_iter().collect())
    }

    /// Replaces the questions of a page, if they are still `former`. Returns whether they were.
    ///
    /// On Postgres, a call that loses its connection is repeated and may then return `false` although it replaced them.
    pub async fn save_written_questions(
        &self,
        site: &str,
        source: &str,
        former: Option<&str>,
        file: &str,
    ) -> Result<bool, CatalogError> {
        let [site, source, file] = [site, source, file].map(Text);
        let saved: Vec<String> = match former {
            None => {
                self.rows(sql::ADD_WRITTEN_QUESTIONS, &[site, source, file, Now])
                    .await?
            }
            Some(former) => {
                let parameters = [site, source, file, Text(former), Now];
                self.rows(sql::REPLACE_WRITTEN_QUESTIONS, &parameters)
                    .await?
            }
        };
        Ok(!saved.is_empty())
    }

    /// Deletes the questions of pages that no index holds and that were deleted at least `age` ago.
    pub async fn forget_written_questions(
        &self,
        site: &str,
        age: Duration,
    ) -> Result<(), CatalogError> {
        let parameters = [Text(site), Ago(microseconds(age))];
        self.change(sql::FORGET_WRITTEN_QUESTIONS, &parameters)
            .await
    }
}
