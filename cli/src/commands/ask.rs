//! `bookrag ask`: answers a question and lists the sources.

use std::io::IsTerminal;

use bookrag::answer::{Outcome, Question};
use bookrag::api::{ChatData, ChatRequest, Envelope, Meta};
use bookrag::config::Config;
use bookrag::error::Error;
use uuid::Uuid;

use super::terminal::{self, Styles};
use super::{CommandError, Exit, Output, QuestionArguments, output};
use crate::local::{BookFolder, LocalBook};

pub(super) async fn run(
    config: &Config,
    arguments: &QuestionArguments,
    output: Output,
) -> Result<Exit, CommandError> {
    let request: ChatRequest = serde_json::from_value(arguments.request())
        .map_err(|error| CommandError::Usage(error.to_string()))?;
    let question = Question::try_from(request)?;
    let folder = BookFolder::find(config, arguments.site.as_deref())?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    let envelope = answer(&book, question).await?;
    let outcome = envelope.data.as_ref().map(|data| data.view.outcome);
    if output == Output::Json {
        output::json(&envelope);
    } else if let Some(data) = &envelope.data {
        print(data);
        if let Some(language) = &data.view.book_language {
            output::status(&format!("note: the book's language is `{language}`"));
        }
        if !envelope.meta.degraded.is_empty() {
            let names = envelope.meta.degraded.iter().map(|what| what.name());
            let names = names.collect::<Vec<_>>().join(", ");
            output::status(&format!("note: not all was there: {names}"));
        }
    }
    Ok(match outcome {
        Some(Outcome::Answered | Outcome::SmallTalk) => Exit::Done,
        Some(Outcome::Uncertain | Outcome::NotCovered) | None => Exit::NotCovered,
    })
}

async fn answer(book: &LocalBook, question: Question) -> Result<Envelope<ChatData>, CommandError> {
    let index = book.context.live_index().await?;
    let answerer = book.context.answerer(&index)?;
    let prepared = answerer.prepare(question, None).await;
    let answer = prepared.map_err(Error::from)?.whole().await?;
    Ok(Envelope {
        success: true,
        data: Some(ChatData::new(&answer, None)),
        error: None,
        meta: Meta::of_answer(&answer, Uuid::new_v4().to_string()),
    })
}

fn print(data: &ChatData) {
    let has_styles = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let styles = if has_styles {
        Styles::Ansi
    } else {
        Styles::None
    };
    output::line(&terminal::shown(&data.answer, styles));
    if !data.view.citations.is_empty() {
        output::line("");
    }
    for citation in &data.view.citations {
        output::line(&format!(
            "[{}] {}\n    {}\n    {}",
            citation.n,
            output::place(&citation.title, &citation.section),
            citation.url,
            output::lines_in_file(&citation.source, citation.start_line, citation.end_line)
        ));
    }
    if !data.view.suggestions.is_empty() {
        let is_answered = data.view.outcome == Outcome::Answered;
        output::line(if is_answered {
            "\nSee also:"
        } else {
            "\nClosest sections:"
        });
    }
    for suggestion in &data.view.suggestions {
        output::line(&format!("  {}\n    {}", suggestion.title, suggestion.url));
        if let Some(text) = &suggestion.text {
            output::line(&format!("    {text}"));
        }
    }
    if !data.view.follow_ups.is_empty() {
        output::line("\nYou might ask:");
    }
    for question in &data.view.follow_ups {
        output::line(&format!("  {question}"));
    }
}
