//! Has missing questions written while `serve` runs.

use std::convert::Infallible;
use std::time::Duration;

use bookrag::ingest::IngestError;
use bookrag::prices::dollars;
use bookrag::question_writer::QuestionWriter;
use tokio::time::timeout;

use super::output;
use super::questions::counted;
use crate::server::Server;

/// The longest time between two runs: a budget is for a day, and a model that failed may be back.
const WRITE_EVERY: Duration = Duration::from_hours(1);

/// Has questions written after each run that indexed pages, and hourly. Never returns; dropping it stops the model.
pub(super) async fn write_questions(server: &Server, writer: Option<QuestionWriter>) -> Infallible {
    let Some(mut writer) = writer else {
        return std::future::pending().await;
    };
    server.indexed.notified().await;
    // The number of sections that the last run left, so that each change is reported once.
    let mut left = 0;
    loop {
        if let Err(error) = write(server, &mut writer, &mut left).await {
            output::status(&format!("questions are written later: {error}"));
        }
        let _ = timeout(WRITE_EVERY, server.indexed.notified()).await;
    }
}

async fn write(
    server: &Server,
    writer: &mut QuestionWriter,
    left: &mut usize,
) -> Result<(), IngestError> {
    let ingest = server.ingest.lock().await.clone();
    let plan = writer.plan(&ingest, None).await?;
    if plan.is_empty() {
        return Ok(());
    }
    let sections = plan.sections;
    let is_told = sections == *left;
    if !is_told {
        let limit = writer.budget().map_or(String::new(), |budget| {
            format!(", for at most ${:.2} a day", dollars(budget))
        });
        output::status(&format!(
            "{} writes questions for {} without any{limit}; BOOKRAG_QUESTIONS_BUDGET=0 turns it off",
            writer.name(),
            counted(sections, "section")
        ));
    }
    let done = writer.write(&server.ingest, plan).await?;
    *left = sections.saturating_sub(done.sections);
    if !is_told || done.sections > 0 {
        let end = done.end.map_or(String::new(), |end| format!("; {end}"));
        output::status(&format!(
            "questions are written for {}, {} failed{end}",
            counted(done.sections, "section"),
            done.failed
        ));
    }
    Ok(())
}
