//! Reads and writes a site's files of questions.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use bookrag::book::questions::{QuestionFile, question_file};

use super::super::CommandError;
use crate::site::Site;

/// Ends the name of a file while it is written. It is the same in each run, so that what an interrupted run leaves is replaced by the next.
const UNFINISHED: &str = ".new";

/// The site's folder, in which the files of questions are.
#[derive(Debug)]
pub(super) struct QuestionFolder {
    site: PathBuf,
}

impl QuestionFolder {
    /// Opens the folder of a site.
    ///
    /// # Errors
    /// If the site is in a bucket.
    pub(super) fn open(site: &Site) -> Result<Self, CommandError> {
        match site.folder() {
            Some(folder) => Ok(Self {
                site: folder.to_owned(),
            }),
            None => Err(CommandError::Usage(
                "the files of questions are written into a site's folder, and this site is in a bucket; write them in the folder that is \
                 uploaded to it"
                    .to_owned(),
            )),
        }
    }

    /// Reads a page's file; empty if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or has lines that writing it would lose.
    pub(super) fn read(&self, source: &str) -> Result<QuestionFile, CommandError> {
        let path = question_file(source);
        let bytes = match fs::read(self.site.join(&path)) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(QuestionFile::default()),
            Err(error) => {
                let message = format!("{path}: cannot be read: {error}");
                return Err(CommandError::Message(message));
            }
        };
        let text = String::from_utf8(bytes).map_err(|_| {
            let message = format!("{path}: it is not UTF-8 text; save it as UTF-8 first");
            CommandError::Message(message)
        })?;
        let file = QuestionFile::parse(&text);
        match file.problems.first() {
            None => Ok(file),
            Some(problem) => Err(CommandError::Message(format!(
                "{path}, line {}: {}. The file is not changed, because this line would be lost; correct it first",
                problem.line, problem.reason
            ))),
        }
    }

    /// Replaces a page's file in one step, so that a reader sees the old one or the new one.
    ///
    /// # Errors
    /// If it cannot be written, or its folder is a link out of the site.
    pub(super) fn write(&self, source: &str, file: &QuestionFile) -> Result<(), CommandError> {
        let path = question_file(source);
        self.write_to(&self.site.join(&path), &file.text())
            .map_err(|error| CommandError::Message(format!("{path} cannot be written: {error}")))
    }

    fn write_to(&self, target: &Path, text: &str) -> io::Result<()> {
        let folder = target.parent().unwrap_or(&self.site);
        self.create(folder)?;
        let mut name = target.file_name().unwrap_or_default().to_owned();
        name.push(UNFINISHED);
        let unfinished = target.with_file_name(name);
        // A link would lead the text elsewhere.
        match fs::remove_file(&unfinished) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(&unfinished)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&unfinished, target)
    }

    /// Creates a folder in the site. A link on the way must not lead out of the site: a checked out repository may contain any.
    fn create(&self, folder: &Path) -> io::Result<()> {
        let site = self.site.canonicalize()?;
        let existing = folder.ancestors().find(|folder| folder.exists());
        let is_inside = match existing {
            Some(existing) => existing.canonicalize()?.starts_with(&site),
            None => false,
        };
        if !is_inside {
            return Err(io::Error::other("its folder is a link out of the site"));
        }
        fs::create_dir_all(folder)
    }
}
