//! Has missing questions written with the time that an invocation has left.

use std::collections::BTreeSet;
use std::time::Duration;

use bookrag::ingest::{Ingest, IngestError, OpenMode};
use bookrag::question_writer::{Done, QuestionWriter};
use tokio::sync::Mutex;

use crate::converge::Converging;
use crate::{Deadline, Function};

/// The most time for the pages of an event, because other events wait meanwhile. A reconcile goes on with the rest.
const MOST_FOR_EVENTS: Duration = Duration::from_mins(1);

impl Function {
    /// Writes the questions of the pages that an invocation has brought up to date. Failures are logged: the pages are committed.
    pub(crate) async fn write_questions_of(&self, converging: &Converging, deadline: Deadline) {
        if converging.done.is_empty() {
            return;
        }
        let only = Some(&converging.done);
        self.write_questions(&converging.ingest, only, Some(MOST_FOR_EVENTS), deadline)
            .await;
    }

    /// Writes the questions of the whole book.
    pub(crate) async fn write_all_questions(&self, deadline: Deadline) {
        if self.writer.is_none() {
            return;
        }
        match self.open(OpenMode::Write).await {
            Ok(ingest) => self.write_questions(&ingest, None, None, deadline).await,
            Err(error) => {
                tracing::warn!(stage = "questions", %error, "questions are written later");
            }
        }
    }

    async fn write_questions(
        &self,
        ingest: &Ingest,
        only: Option<&BTreeSet<String>>,
        most: Option<Duration>,
        deadline: Deadline,
    ) {
        let Some(writer) = &self.writer else {
            return;
        };
        let mut writer = writer.lock().await;
        // Boxed, because the type of the handler's future would nest too deep for the compiler.
        let work = Box::pin(write(&mut writer, ingest, only));
        match deadline.spare(most, work).await {
            None => tracing::info!(
                stage = "questions",
                "the time is over; a reconcile continues"
            ),
            Some(Ok(done)) => {
                tracing::info!(
                    stage = "questions",
                    sections = done.sections,
                    failed = done.failed,
                    end = done.end,
                    "questions are written"
                );
            }
            Some(Err(error)) => {
                tracing::warn!(stage = "questions", %error, "questions are written later");
            }
        }
    }
}

async fn write(
    writer: &mut QuestionWriter,
    ingest: &Ingest,
    only: Option<&BTreeSet<String>>,
) -> Result<Done, IngestError> {
    let plan = writer.plan(ingest, only).await?;
    writer.write(&Mutex::new(ingest.clone()), plan).await
}
