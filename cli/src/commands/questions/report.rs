//! How much of a book has questions, and what is wrong with their files; needs no index.

use std::collections::{BTreeMap, BTreeSet};

use bookrag::book::questions::{
    QUESTIONS_FOLDER, QuestionFile, asked_sections, question_file, source_of_question_file,
};
use bookrag::book::{Document, SiteSettings};
use bookrag::source::{Source, SourceError};
use serde::Serialize;

use super::sections::{State, place, searched, sections_of};
use crate::pages::ReadPages;

/// What the files of questions say about the book's sections.
#[derive(Debug, Default, Serialize)]
pub(crate) struct QuestionReport {
    /// Sections with text of the pages that readers search.
    pub(crate) sections: usize,
    /// Sections among these that have questions.
    pub(crate) with_questions: usize,
    /// Sections whose questions are only in the catalog, where a model wrote them.
    pub(crate) from_catalog: usize,
    /// Files of questions.
    pub(crate) files: usize,
    /// Sections whose text has changed since their questions were written.
    pub(crate) stale: Vec<String>,
    /// Anchors that a file names but its page lacks.
    pub(crate) unknown_sections: Vec<String>,
    /// Files whose page does not exist.
    pub(crate) unknown_pages: Vec<String>,
    /// Lines of the files that are not used, and why.
    pub(crate) problems: Vec<String>,
}

impl QuestionReport {
    /// Compares the files with the pages.
    ///
    /// # Errors
    /// If the site cannot be listed, or a file cannot be read.
    pub(crate) async fn read(
        source: &Source,
        settings: &SiteSettings,
        read: &ReadPages,
    ) -> Result<Self, SourceError> {
        let listing = source.listing().await?;
        let documents = read.documents();
        let pages: BTreeMap<&str, &Document> = documents
            .map(|(page, document)| (page.file.source.as_str(), document))
            .collect();
        let known: BTreeSet<&str> = read
            .pages
            .iter()
            .map(|page| page.file.source.as_str())
            .collect();
        let mut report = Self::default();
        for section in searched(settings, read).flat_map(sections_of) {
            report.sections += usize::from(!section.section.is_empty);
            report.with_questions +=
                usize::from(!section.section.is_empty && section.state != State::Missing);
            let written = section.document.questions.get(&section.section.anchor);
            report.from_catalog += usize::from(written.is_some_and(|it| it.is_from_catalog));
        }
        let folder = format!("{QUESTIONS_FOLDER}/");
        for path in listing
            .paths
            .iter()
            .filter(|path| path.starts_with(&folder))
        {
            let Some(page) = source_of_question_file(path) else {
                continue;
            };
            report.files += 1;
            if !known.contains(page.as_str()) {
                report.unknown_pages.push(path.clone());
            }
            if let (Some(document), Some(bytes)) =
                (pages.get(page.as_str()), source.read(path).await?)
            {
                report.add(document, &bytes);
            }
        }
        Ok(report)
    }

    fn add(&mut self, document: &Document, bytes: &[u8]) {
        let path = question_file(&document.file.source);
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.problems.push(format!("{path}: it is not UTF-8 text"));
            return;
        };
        let sections = asked_sections(document);
        let file = QuestionFile::parse(text);
        for problem in &file.problems {
            self.problems
                .push(format!("{path}, line {}: {}", problem.line, problem.reason));
        }
        for written in &file.sections {
            let at = place(&document.file.source, &written.anchor);
            match sections.iter().find(|it| it.anchor == written.anchor) {
                None => self
                    .unknown_sections
                    .push(format!("{path}, line {}: {at}", written.line)),
                Some(section) => {
                    let hash = written.text_hash.as_ref();
                    if hash.is_some_and(|hash| *hash != section.text_hash) {
                        self.stale.push(at);
                    }
                }
            }
        }
    }
}
