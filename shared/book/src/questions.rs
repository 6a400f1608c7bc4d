//! The questions that a page's sections answer, written in a file of the site beside its docs.
//!
//! A page's questions are in one file, so that a change of a page and of its questions are reviewed together, and two pages never conflict in a
//! merge.

mod file;
mod sections;

use crate::block::Block;
use crate::decoding::decode;
use crate::inputs::{Inputs, content_of};
use crate::pages::{PageFile, default_source, is_original, translated_source};
use crate::settings::{CURRENT_VERSION, ContentKind, SiteSettings};

pub use crate::document::{PageQuestions, SectionQuestions};
pub use file::{MAX_QUESTION_CHARACTERS, MAX_SECTION_QUESTIONS, QuestionFile, Written};
pub use sections::{AskedSection, asked_sections, is_asked};

/// The folder of the files, in the site's folder. Docusaurus reads nothing there.
pub const QUESTIONS_FOLDER: &str = "bookrag.questions";
/// Stands for the catalog in the paths of questions that a model wrote: a page's inputs name them like files, and no source has files there.
const WRITTEN_FOLDER: &str = "bookrag.written";
/// Ends the name of a file, after the page's whole name. It is not `.md`, because a site may read all Markdown in its folder as docs.
const EXTENSION: &str = ".txt";
/// Stands for `..` in the path of a page that lies beside the site's folder, because the questions lie in it.
const PARENT: &str = "_parent";

/// Returns the path of the file with a page's questions: `bookrag.questions/docs/a.md.txt` for `docs/a.md`.
#[must_use]
pub fn question_file(source: &str) -> String {
    file_in(QUESTIONS_FOLDER, source)
}

/// Returns the source of the page whose questions are in a file; `None` for any other file.
#[must_use]
pub fn source_of_question_file(path: &str) -> Option<String> {
    source_in_folder(QUESTIONS_FOLDER, path)
}

/// Returns the path that stands for a page's questions in the catalog: `bookrag.written/docs/a.md.txt` for `docs/a.md`.
#[must_use]
pub fn written_file(source: &str) -> String {
    file_in(WRITTEN_FOLDER, source)
}

/// True if a path stands for questions in the catalog, so that no source is asked for it.
#[must_use]
pub fn is_written_file(path: &str) -> bool {
    source_in_folder(WRITTEN_FOLDER, path).is_some()
}

fn file_in(folder: &str, source: &str) -> String {
    let parts = source.split('/');
    let parts = parts.map(|part| if part == ".." { PARENT } else { part });
    let place: Vec<&str> = parts.collect();
    format!("{folder}/{}{EXTENSION}", place.join("/"))
}

fn source_in_folder(folder: &str, path: &str) -> Option<String> {
    let place = path.strip_prefix(folder)?.strip_prefix('/')?;
    let mut rest = place.strip_suffix(EXTENSION)?;
    let mut source = String::new();
    while let Some(below) = rest
        .strip_prefix(PARENT)
        .and_then(|below| below.strip_prefix('/'))
    {
        source.push_str("../");
        rest = below;
    }
    Some(source + rest)
}

/// Returns the pages whose questions a page may have: itself, and for a page of another version that of the current docs.
#[must_use]
pub fn question_sources(settings: &SiteSettings, page: &PageFile) -> Vec<String> {
    let own = page.source.clone();
    let docs = settings.instance(&page.instance);
    if page.version == CURRENT_VERSION || docs.is_built || docs.kind != ContentKind::Docs {
        return vec![own];
    }
    let current = PageFile {
        version: CURRENT_VERSION.to_owned(),
        ..page.clone()
    };
    let source = if is_original(settings, page) {
        default_source(settings, &current)
    } else {
        translated_source(settings, &current, &page.locale)
    };
    vec![own, source]
}

/// Returns the files that may have questions of a page, and the paths that stand for those in the catalog.
pub(super) fn question_files(settings: &SiteSettings, page: &PageFile) -> Vec<String> {
    let sources = question_sources(settings, page);
    let files = sources.iter().map(|source| question_file(source));
    let written = sources.iter().map(|source| written_file(source));
    files.chain(written).collect()
}

/// Reads the questions of a page's sections. Those of the current docs also belong to sections of other versions with the same anchor and text, and
/// a section has those of the catalog only if no file has any. Problems of the page's own file are added to `warnings`.
pub(super) fn page_questions(
    settings: &SiteSettings,
    page: &PageFile,
    blocks: &[Block],
    inputs: &Inputs,
    warnings: &mut Vec<String>,
) -> PageQuestions {
    let sources = question_sources(settings, page);
    let own_path = question_file(&sources[0]);
    let own = content_of(inputs, &own_path);
    // Later ones replace earlier ones.
    let mut others: Vec<(&[u8], bool)> = Vec::new();
    for source in sources.iter().rev() {
        let file = content_of(inputs, &written_file(source));
        others.extend(file.map(|bytes| (bytes, true)));
    }
    for source in &sources[1..] {
        let file = content_of(inputs, &question_file(source));
        others.extend(file.map(|bytes| (bytes, false)));
    }
    if own.is_none() && others.is_empty() {
        return PageQuestions::new();
    }
    let hashes = sections::text_hashes(blocks);
    let mut questions = PageQuestions::new();
    for (bytes, is_from_catalog) in others {
        // Problems of another page's file are reported with that page.
        for written in read_leniently(bytes) {
            let is_same = hashes.get(&written.anchor) == written.text_hash.as_ref();
            if is_same && !written.questions.is_empty() {
                let section = SectionQuestions {
                    questions: written.questions,
                    is_stale: false,
                    is_from_catalog,
                };
                questions.insert(written.anchor, section);
            }
        }
    }
    let Some(own) = own else { return questions };
    let file = match decode(own) {
        Ok(text) => QuestionFile::parse(&text),
        Err(reason) => {
            warnings.push(format!("{own_path}: its questions are not read: {reason}"));
            return questions;
        }
    };
    for problem in &file.problems {
        let (line, reason) = (problem.line, &problem.reason);
        warnings.push(format!("{own_path}, line {line}: {reason}"));
    }
    for written in file.sections {
        let (anchor, line) = (&written.anchor, written.line);
        let Some(hash) = hashes.get(anchor) else {
            warnings.push(format!(
                "{own_path}, line {line}: the page has no section `#{anchor}`; its questions are left out"
            ));
            continue;
        };
        let is_stale = written.text_hash.is_some_and(|written| written != *hash);
        if is_stale {
            warnings.push(format!(
                "{own_path}, line {line}: the text of `#{anchor}` has changed since its questions were written; they are still used"
            ));
        }
        if !written.questions.is_empty() {
            let section = SectionQuestions {
                questions: written.questions,
                is_stale,
                is_from_catalog: false,
            };
            questions.insert(written.anchor, section);
        }
    }
    questions
}

/// Returns the sections of a file that can be read; none of an unreadable one.
fn read_leniently(bytes: &[u8]) -> Vec<Written> {
    decode(bytes).map_or_else(|_| Vec::new(), |text| QuestionFile::parse(&text).sections)
}

#[cfg(test)]
mod tests;
