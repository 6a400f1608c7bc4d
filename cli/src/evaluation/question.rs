//! Reads labelled questions from JSON, one per line.

use std::collections::HashMap;

use serde::Deserialize;

/// The corpus of questions that name none.
pub const UNNAMED_CORPUS: &str = "book";

/// The start of a generated query that a person must still replace.
pub const TODO: &str = "TODO";

const DEFAULT_LOCALE: &str = "en";

/// A question and its labels.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Question {
    /// The unique id.
    pub id: String,
    /// The book to ask; `None` if there is only one.
    pub corpus: Option<String>,
    /// The locale it is written in.
    #[serde(default = "default_locale")]
    pub locale: String,
    /// The text of the question.
    pub query: String,
    /// The reader's questions before it in the conversation, oldest first.
    #[serde(default)]
    pub history: Vec<String>,
    /// True if the book answers it; then `source` is set.
    pub answerable: bool,
    /// The file of the page that answers it.
    pub source: Option<String>,
    /// The URL path of that page.
    pub url: Option<String>,
    /// The headings on that page under which the answer is; empty if it may be anywhere on the page.
    #[serde(default)]
    pub headings: Vec<Heading>,
    /// Copies of that page, for example in other versions; they count as hits.
    #[serde(default)]
    pub also_relevant: Vec<Label>,
    /// The texts that a right answer contains. Each is one text, or several separated by `||`, any of which is enough.
    #[serde(default)]
    pub needs: Vec<String>,
}

/// A page that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Label {
    /// Its file.
    pub source: String,
    /// Its URL path.
    pub url: Option<String>,
    /// The headings under which the answer is; empty if it may be anywhere on the page.
    #[serde(default)]
    pub headings: Vec<Heading>,
}

/// A heading with the answer below it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Heading {
    /// Its anchor; `None` if it has none, such as a page's title.
    pub id: Option<String>,
    /// Anchors of the headings nested under it; they count as hits.
    #[serde(default)]
    pub under: Vec<String>,
}

fn default_locale() -> String {
    DEFAULT_LOCALE.to_owned()
}

impl Question {
    /// Reads questions, one per line. Blank lines and unknown fields are ignored.
    ///
    /// # Errors
    ///
    /// Names the line: it is not a question, its id occurs twice, or it is answerable but has no source. Also if there are no
    /// questions.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let mut questions = Vec::new();
        let mut lines_by_id: HashMap<String, usize> = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let question = Self::parse(line).map_err(|what| format!("line {number}: {what}"))?;
            if let Some(first) = lines_by_id.insert(question.id.clone(), number) {
                let id = question.id;
                return Err(format!(
                    "line {number}: the id `{id}` is line {first}'s already"
                ));
            }
            questions.push(question);
        }
        if questions.is_empty() {
            return Err("there are no questions".to_owned());
        }
        Ok(questions)
    }

    fn parse(line: &str) -> Result<Self, String> {
        let question: Self = serde_json::from_str(line).map_err(|error| {
            let text = error.to_string();
            // Each line is parsed alone, so the line number in serde's message is useless.
            let what = text
                .rsplit_once(" at line ")
                .map_or(text.as_str(), |(what, _)| what);
            format!("{what}, at column {}", error.column())
        })?;
        if question.id.trim().is_empty() {
            return Err("the id is empty".to_owned());
        }
        if question.query.trim().is_empty() {
            return Err(format!("`{}` has an empty query", question.id));
        }
        if question.query.starts_with(TODO) {
            return Err(format!(
                "the query of `{}` is still a {TODO}; write the question, or delete the line",
                question.id
            ));
        }
        if question.answerable && question.source.as_deref().unwrap_or_default().is_empty() {
            return Err(format!(
                "`{}` is answerable, but has no source",
                question.id
            ));
        }
        Ok(question)
    }

    /// Returns the corpus, or [`UNNAMED_CORPUS`].
    #[must_use]
    pub fn corpus_name(&self) -> &str {
        self.corpus.as_deref().unwrap_or(UNNAMED_CORPUS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"id": "a", "corpus": "jest", "locale": "de", "query": "q", "style": "how-to",
        "answerable": true, "source": "docs/a.md", "url": "/a", "headings": [{"id": "x", "text": "X", "under": ["y"]}],
        "also_relevant": [{"source": "docs/b.md", "url": "/b", "version": "2", "headings": [{"id": "x"}]}],
        "needs": ["words||terms"]}"#;

    /// Returns a question on one line, as in a file.
    fn whole() -> String {
        WHOLE.replace('\n', " ")
    }

    #[test]
    fn every_field_is_read_and_others_are_ignored() {
        let questions = Question::parse_all(&format!("\n{}\n\n", whole())).unwrap();
        let question = &questions[0];
        assert_eq!(questions.len(), 1);
        assert_eq!(question.corpus_name(), "jest");
        assert_eq!(question.locale, "de");
        assert_eq!(question.source.as_deref(), Some("docs/a.md"));
        assert_eq!(question.headings[0].id.as_deref(), Some("x"));
        assert_eq!(question.headings[0].under, ["y"]);
        assert_eq!(question.also_relevant[0].source, "docs/b.md");
        assert!(question.also_relevant[0].headings[0].under.is_empty());
        assert_eq!(question.needs, ["words||terms"]);
    }

    #[test]
    fn optional_fields_have_defaults() {
        let line =
            r#"{"id": "a", "query": "q", "answerable": false, "source": null, "headings": []}"#;
        let questions = Question::parse_all(line).unwrap();
        assert_eq!(questions[0].corpus_name(), UNNAMED_CORPUS);
        assert_eq!(questions[0].locale, "en");
        assert_eq!(questions[0].source, None);
        assert!(questions[0].also_relevant.is_empty());
        assert!(questions[0].needs.is_empty());
    }

    #[test]
    fn an_error_names_the_line_and_what_is_wrong() {
        let refused = |line: &str| {
            let text = format!("{}\n\n{line}\n", whole());
            Question::parse_all(&text).unwrap_err()
        };
        let missing = refused(r#"{"id": "b", "answerable": false}"#);
        assert!(missing.starts_with("line 3: missing field `query`, at column "));
        let twice = refused(&whole());
        assert_eq!(twice, "line 3: the id `a` is line 1's already");
        for source in ["null", r#""""#] {
            let line =
                format!(r#"{{"id": "b", "query": "q", "answerable": true, "source": {source}}}"#);
            let no_source = "line 3: `b` is answerable, but has no source";
            assert_eq!(refused(&line), no_source);
        }
        let no_id = refused(r#"{"id": "", "query": "q", "answerable": false}"#);
        assert_eq!(no_id, "line 3: the id is empty");
        let no_query = refused(r#"{"id": "b", "query": " ", "answerable": false}"#);
        assert_eq!(no_query, "line 3: `b` has an empty query");
        assert!(refused("{").starts_with("line 3: EOF while parsing"));
    }

    #[test]
    fn a_file_without_questions_is_refused() {
        assert_eq!(
            Question::parse_all("\n \n").unwrap_err(),
            "there are no questions"
        );
    }
}
