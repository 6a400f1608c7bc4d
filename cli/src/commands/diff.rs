//! `bookrag diff`: compares the answers before and after a change of the book.

mod range;
mod questions;
mod answer;
mod anchors;
mod state;
mod report;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use bookrag::config::Config;
use bookrag::source::{FolderSource, GitSource, Source, merge_base};
use clap::Args;

use super::{CommandError, Exit, Output, output};
use crate::site::Site;

use anchors::vanished;
use questions::ComparedQuestion;
use range::{Base, Range};
use report::{Comparison, Revision, UnreadPages, Warning};
use state::{State, States};

/// The name of the working tree in reports.
const WORKING_TREE: &str = "the working tree";

#[derive(Debug, Args)]
pub(super) struct DiffArguments {
    /// The states to compare: `BASE..HEAD` for two commits, `BASE...HEAD` to begin where HEAD branched off. Without HEAD, the
    /// working tree.
    #[arg(default_value = "HEAD")]
    range: Range,
    /// The questions, one per line, as text or in the format of `bookrag eval`. By default, the questions that readers asked, if
    /// their text is stored.
    #[arg(long)]
    questions: Option<PathBuf>,
    /// The site's folder, in a git repository. By default, the current folder.
    #[arg(long)]
    site: Option<PathBuf>,
    /// Print Markdown, for a comment on a pull request.
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

pub(super) async fn run(
    config: &Config,
    arguments: &DiffArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let site = Site::read(arguments.site.as_deref().unwrap_or(Path::new(".")))?;
    let folder = site.folder().ok_or_else(|| {
        let message = "`bookrag diff` needs a folder in a git repository, not a bucket";
        CommandError::Usage(message.to_owned())
    })?;
    let questions = match &arguments.questions {
        Some(file) => ComparedQuestion::read(file, &site.name())?,
        None => ComparedQuestion::by_readers(config, &site).await?,
    };
    let (base, head) = sources(folder, &arguments.range).await?;
    let states = States::open(config, &site, output::status).await?;
    let before = states.take(base, &questions).await?;
    let after = states.take(head, &questions).await?;
    let comparison = compare(&arguments.range, &questions, &before, &after);
    if output == Output::Json {
        output::json(&comparison);
    } else if arguments.markdown {
        output::text(&comparison.markdown());
    } else {
        output::text(&comparison.text());
    }
    Ok(if comparison.lost() > 0 {
        Exit::Failed
    } else if before.is_partial || after.is_partial {
        Exit::Partial
    } else {
        Exit::Done
    })
}

async fn sources(folder: &Path, range: &Range) -> Result<(Source, Source), CommandError> {
    let head = range.head.as_deref();
    let base = match &range.base {
        Base::Revision(base) => GitSource::open(folder, base).await?,
        Base::MergeBase(base) => {
            let common = merge_base(folder, base, head.unwrap_or("HEAD")).await?;
            GitSource::open(folder, &common).await?
        }
    };
    let head = match head {
        Some(head) => Source::Git(GitSource::open(folder, head).await?),
        None => Source::Folder(FolderSource::open(folder)?),
    };
    Ok((Source::Git(base), head))
}

fn compare(
    range: &Range,
    questions: &[ComparedQuestion],
    before: &State,
    after: &State,
) -> Comparison {
    let base = match &range.base {
        Base::Revision(base) | Base::MergeBase(base) => base,
    };
    let answers = before.answers.iter().zip(&after.answers);
    Comparison::new(
        Revision {
            name: base.clone(),
            commit: before.commit.clone(),
        },
        Revision {
            name: range.head.as_deref().unwrap_or(WORKING_TREE).to_owned(),
            commit: after.commit.clone(),
        },
        questions.iter().zip(answers),
        vanished(questions, &before.answers, &before.anchors, &after.anchors),
        UnreadPages {
            before: unread_only_in(before, after),
            after: unread_only_in(after, before),
        },
    )
}

/// Returns the pages that cannot be read in one state and can in the other.
fn unread_only_in(state: &State, other: &State) -> Vec<Warning> {
    let unread = state.unread.iter();
    unread
        .filter(|(source, _)| !other.unread.contains_key(*source))
        .map(|(source, reason)| Warning {
            source: source.clone(),
            reason: reason.clone(),
        })
        .collect()
}
