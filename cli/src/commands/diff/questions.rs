//! Questions that are asked of both states.

use std::path::Path;
use std::time::Duration;

use bookrag::config::Config;

use super::{CommandError, Site, output};
use crate::evaluation::Question;
use crate::local::{BookFolder, LocalError, open_catalog};

/// Stored questions older than this are ignored.
const LATELY: Duration = Duration::from_hours(24 * 90);
/// The most stored questions to ask, most frequent first.
const MAX_STORED: u32 = 200;
const HOW_TO_GIVE: &str = "Name a file with a question a line: --questions FILE. Or set BOOKRAG_STORE_QUESTIONS=true where readers ask: \
    then the text of their questions is kept, and asked here";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ComparedQuestion {
    pub(super) query: String,
    /// The locale to ask in; `None` for the book's default locale.
    pub(super) locale: Option<String>,
}

impl ComparedQuestion {
    /// Reads questions from a file: JSON in the format of `bookrag eval` if its first line begins with `{`, else text, one per line.
    /// If the file names several books, only the questions of `corpus` are returned.
    pub(super) fn read(file: &Path, corpus: &str) -> Result<Vec<Self>, CommandError> {
        let asked = std::fs::read_to_string(file)
            .map_err(|error| error.to_string())
            .and_then(|text| Self::parse(&text, corpus))
            .map_err(|problem| in_file(file, &problem))?;
        if asked.is_empty() {
            let problem = format!("there are no questions about `{corpus}`");
            return Err(in_file(file, &problem));
        }
        Ok(asked)
    }

    fn parse(text: &str, corpus: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        if !lines
            .clone()
            .next()
            .is_some_and(|line| line.starts_with('{'))
        {
            let asked = lines.map(|line| Self {
                query: line.to_owned(),
                locale: None,
            });
            return Ok(asked.collect());
        }
        let questions = Question::parse_all(text)?.into_iter();
        Ok(questions
            .filter(|question| question.corpus.as_ref().is_none_or(|named| named == corpus))
            .map(|question| Self {
                query: question.query,
                locale: Some(question.locale),
            })
            .collect())
    }

    /// Returns the questions that readers asked recently, from the site's stores.
    pub(super) async fn by_readers(
        config: &Config,
        site: &Site,
    ) -> Result<Vec<Self>, CommandError> {
        let folder = BookFolder::of_site(config, site);
        if config.database_url.is_none() && !folder.has_store() {
            return Err(no_questions("nobody has asked this book anything yet"));
        }
        let catalog = open_catalog(config, || Ok(folder)).await?;
        let stored = catalog.asked_questions(LATELY, MAX_STORED).await;
        let stored = stored.map_err(LocalError::from)?;
        if stored.is_empty() {
            return Err(no_questions("no question with its text is stored"));
        }
        output::status(&format!("{} questions that readers asked", stored.len()));
        let asked = stored.into_iter().map(|stored| Self {
            query: stored.question,
            locale: None,
        });
        Ok(asked.collect())
    }
}

fn in_file(file: &Path, problem: &str) -> CommandError {
    CommandError::Message(format!("{}: {problem}", file.display()))
}

fn no_questions(reason: &str) -> CommandError {
    CommandError::Usage(format!("{reason}. {HOW_TO_GIVE}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_lines_of_text_or_those_of_an_evaluation() {
        let asked = |query: &str, locale: Option<&str>| ComparedQuestion {
            query: query.to_owned(),
            locale: locale.map(str::to_owned),
        };
        let text = "How tight?\n\n  Which bag? \r\n";
        let expected = [asked("How tight?", None), asked("Which bag?", None)];
        assert_eq!(ComparedQuestion::parse(text, "book").unwrap(), expected);
        let json = concat!(
            r#"{"id": "a", "query": "How tight?", "answerable": false}"#,
            "\n",
            r#"{"id": "b", "query": "Welcher Beutel?", "answerable": false, "locale": "de", "corpus": "book"}"#,
            "\n",
            r#"{"id": "c", "query": "Which moon?", "answerable": false, "corpus": "astronomy"}"#,
        );
        let expected = [
            asked("How tight?", Some("en")),
            asked("Welcher Beutel?", Some("de")),
        ];
        assert_eq!(ComparedQuestion::parse(json, "book").unwrap(), expected);
        let broken = ComparedQuestion::parse("{\"id\": 1}", "book").unwrap_err();
        assert!(broken.starts_with("line 1: "), "{broken}");
        assert_eq!(ComparedQuestion::parse(" \n", "book").unwrap(), []);
    }
}
