//! The format of a file of questions.
//!
//! ```text
//! // Written by a model on 2026-11-27; edit as you like.
//!
//! # 3f9a1c04d2e8
//! What is the robot for?
//!
//! // Power › Charging
//! #charging 77b0c1d2e3f4
//! robot does not charge in its dock
//! Which voltage does the charger have?
//! ```
//!
//! A line `#anchor` begins a section; a hash of the section's text may follow. Each other line is a question. Lines that begin with `//` are
//! comments. A question that begins with `#` or `//` is written after `- `.

use std::fmt::Write;

use sha2::{Digest, Sha256};

use crate::fingerprint::hex;
use text::invisible::visible;

/// The most characters of a question.
pub const MAX_QUESTION_CHARACTERS: usize = 300;
/// The most questions of a section.
pub const MAX_SECTION_QUESTIONS: usize = 20;

/// Begins the comment that names the writer of a section's questions.
const BY: &str = "written by ";
/// Digits of the hash of the questions as written, by which those that a person edited are told apart.
const HASH_DIGITS: usize = 8;

/// A file of questions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuestionFile {
    /// The comments before the first section, without `//`.
    pub comments: Vec<String>,
    /// The sections, in the file's order.
    pub sections: Vec<Written>,
    /// The lines that are left out.
    pub problems: Vec<Problem>,
}

/// The questions of a section, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// The anchor of the heading; empty for the page's beginning.
    pub anchor: String,
    /// The hash of the section's text for which the questions were written; `None` if the file has none.
    pub text_hash: Option<String>,
    /// The comments above and below the line with the anchor, without `//`.
    pub comments: Vec<String>,
    /// The questions, without repetitions.
    pub questions: Vec<String>,
    /// The line with the anchor, from 1; 0 for a section that is not written yet.
    pub line: u32,
}

/// A line that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: u32,
    /// What is wrong, and what is accepted.
    pub reason: String,
}

impl QuestionFile {
    /// Parses a file. Lines that cannot be used are listed as problems, and the others are kept.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut file = Self::default();
        let mut comments = Vec::new();
        for (line, number) in text.lines().zip(1..) {
            let line = visible(line);
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if let Some(comment) = line.strip_prefix("//") {
                comments.push(comment.trim().to_owned());
            } else if let Some(anchor) = line.strip_prefix('#') {
                if file.sections.is_empty() {
                    file.comments = heading_comments(&mut comments);
                }
                let section = section_of_line(anchor, number, std::mem::take(&mut comments));
                file.sections.push(section);
            } else {
                let question = line.strip_prefix("- ").unwrap_or(line).trim();
                file.add(question, number, &mut comments);
            }
        }
        match file.sections.last_mut() {
            Some(last) => last.comments.extend(comments),
            None => file.comments.extend(comments),
        }
        file.join_repeated();
        file
    }

    /// Adds a question to the last section.
    fn add(&mut self, question: &str, line: u32, comments: &mut Vec<String>) {
        let Some(section) = self.sections.last_mut() else {
            self.problem(
                line,
                "this question stands before the first line `#anchor`, so it belongs to no section"
                    .to_owned(),
            );
            return;
        };
        section.comments.append(comments);
        if let Err(reason) = section.add(question) {
            self.problem(line, reason);
        }
    }

    fn problem(&mut self, line: u32, reason: String) {
        self.problems.push(Problem { line, reason });
    }

    /// Joins sections that the file has twice.
    fn join_repeated(&mut self) {
        let mut joined: Vec<Written> = Vec::with_capacity(self.sections.len());
        for section in std::mem::take(&mut self.sections) {
            let same = joined
                .iter_mut()
                .find(|other| other.anchor == section.anchor);
            let Some(same) = same else {
                joined.push(section);
                continue;
            };
            same.comments.extend(section.comments);
            same.text_hash = section.text_hash.or(same.text_hash.take());
            for question in section.questions {
                if let Err(reason) = same.add(&question) {
                    self.problems.push(Problem {
                        line: section.line,
                        reason,
                    });
                }
            }
        }
        self.sections = joined;
    }

    /// Returns the questions of a section, which is added at the end if the file does not have it.
    pub fn section_mut(&mut self, anchor: &str) -> &mut Written {
        let known = self
            .sections
            .iter()
            .position(|section| section.anchor == anchor);
        let at = known.unwrap_or_else(|| {
            self.sections.push(Written {
                anchor: anchor.to_owned(),
                ..Written::default()
            });
            self.sections.len() - 1
        });
        &mut self.sections[at]
    }

    /// Returns the file's text. Lines that [`Self::parse`] left out are lost.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for comment in &self.comments {
            line(&mut text, "// ", comment);
        }
        for section in &self.sections {
            if !text.is_empty() {
                text.push('\n');
            }
            for comment in &section.comments {
                line(&mut text, "// ", comment);
            }
            let hash = section.text_hash.as_deref().unwrap_or_default();
            line(&mut text, "#", &format!("{} {hash}", section.anchor));
            for question in &section.questions {
                let is_marked = question.starts_with('#')
                    || question.starts_with("//")
                    || question.starts_with("- ");
                line(&mut text, if is_marked { "- " } else { "" }, question);
            }
        }
        text
    }
}

impl Written {
    /// Adds a question, unless the section has it already.
    ///
    /// # Errors
    /// The reason, if the question is empty or too long, or the section has too many.
    pub fn add(&mut self, question: &str) -> Result<(), String> {
        let question = visible(question);
        let question = question.split_whitespace().collect::<Vec<_>>().join(" ");
        let characters = question.chars().count();
        if !question.chars().any(char::is_alphanumeric) {
            return Err("a question needs a letter or a digit".to_owned());
        }
        if characters > MAX_QUESTION_CHARACTERS {
            return Err(format!(
                "this question has {characters} characters, and at most {MAX_QUESTION_CHARACTERS} are used; it is left out"
            ));
        }
        if self.questions.contains(&question) {
            return Ok(());
        }
        if self.questions.len() == MAX_SECTION_QUESTIONS {
            return Err(format!(
                "`#{}` has more than {MAX_SECTION_QUESTIONS} questions; this one is left out",
                self.anchor
            ));
        }
        self.questions.push(question);
        Ok(())
    }

    /// Adds a comment that names the model which wrote the questions, with their hash.
    pub fn sign(&mut self, model: &str) {
        let model = visible(model).replace(['\n', '\r'], " ");
        let hash = hash(&self.questions);
        self.comments.push(format!("{BY}{model} [{hash}]"));
    }

    /// Removes the questions that a model wrote, if no person has changed them.
    pub fn remove_those_of_a_model(&mut self) {
        let mark = format!("[{}]", hash(&self.questions));
        let comments = self.comments.len();
        self.comments
            .retain(|comment| !(comment.starts_with(BY) && comment.ends_with(&mark)));
        if self.comments.len() < comments {
            self.questions.clear();
        }
    }
}

fn hash(questions: &[String]) -> String {
    let mut hash = hex(&Sha256::digest(questions.join("\n")));
    hash.truncate(HASH_DIGITS);
    hash
}

/// Reads what follows the `#` of a section's line.
fn section_of_line(rest: &str, line: u32, comments: Vec<String>) -> Written {
    let (anchor, hash) = match rest.split_once(char::is_whitespace) {
        Some((anchor, hash)) => (anchor, hash.trim()),
        None => (rest, ""),
    };
    Written {
        anchor: anchor.to_owned(),
        text_hash: (!hash.is_empty()).then(|| hash.to_owned()),
        comments,
        questions: Vec::new(),
        line,
    }
}

/// Takes the comments above the first section that belong to the whole file: all but the last.
fn heading_comments(comments: &mut Vec<String>) -> Vec<String> {
    let last = comments.len().saturating_sub(1);
    let of_section = comments.split_off(last);
    std::mem::replace(comments, of_section)
}

fn line(text: &mut String, mark: &str, rest: &str) {
    writeln!(text, "{}", format!("{mark}{rest}").trim_end())
        .expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_that_a_person_changed_are_kept() {
        let written = |questions: &[&str]| Written {
            questions: questions.iter().map(|it| (*it).to_owned()).collect(),
            comments: vec!["a note".to_owned()],
            ..Written::default()
        };
        let mut signed = written(&["a", "b"]);
        signed.sign("m\nn");
        assert!(signed.comments[1].starts_with("written by m n ["));
        let mut untouched = signed.clone();
        untouched.remove_those_of_a_model();
        assert_eq!(untouched, written(&[]));
        for edited in [&["a", "B"][..], &["a", "b", "c"], &["a"]] {
            let edited = Written {
                comments: signed.comments.clone(),
                ..written(edited)
            };
            let mut section = edited.clone();
            section.remove_those_of_a_model();
            assert_eq!(section, edited);
        }
    }
}
