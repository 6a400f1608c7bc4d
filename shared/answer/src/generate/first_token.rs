//! Asks a model, and waits for it to begin its answer.

use std::time::Duration;

use futures::{StreamExt, stream};
use tokio::time::{Instant, sleep, timeout_at};
use tracing::Span;
use tracing::field::Empty;

use crate::degradation::Degradation;
use crate::generate::{AnswerRequest, answer_prompt, latest};
use crate::retrieve::open_page::path_of;
use crate::{Prepared, fence};
use models::chat::{ChatModel, Ending, Finish, Functions, Piece, Pieces, Prompt, Usage};
use models::provider::ProviderError;
use store::budget::{Reserved, Spent, estimated};
use store::catalog::Account;
use text::invisible::visible;

/// The total time limit for retrying a busy model, and the first delay if the model names none; each further delay doubles. After the time limit, the
/// answer is quoted from the book.
const BUSY_DEADLINE: Duration = Duration::from_secs(3);
const BUSY_WAIT: Duration = Duration::from_secs(1);

/// A model that has begun to write.
pub(crate) struct PendingGeneration {
    pub(crate) model: ChatModel,
    pub(crate) prompt: Prompt,
    pub(crate) reserved: Reserved,
    /// When the answer must be complete.
    pub(crate) deadline: Instant,
    pub(crate) first: Piece,
    pub(crate) pieces: Pieces,
}

/// The reason why a model wrote nothing, and the tokens to pay for anyway.
struct GenerationError {
    why: Degradation,
    usage: Option<Usage>,
}

/// Returns the degradation for an ending that cut the answer off; `None` if the answer is complete.
pub(crate) fn degradation_of(finish: Finish) -> Option<Degradation> {
    match finish {
        Finish::Complete => None,
        Finish::Truncated => Some(Degradation::Truncated),
        Finish::Filtered => Some(Degradation::ContentFilter),
    }
}

impl Prepared {
    /// Returns the prompt for an answer.
    pub(crate) fn prompt(&self) -> Prompt {
        let rules = &self.answerer.rules;
        let passages = self.readable();
        let prompt = answer_prompt(
            &AnswerRequest {
                book: &self.book,
                refusal: self.refusal_sentence(),
                passages: &passages,
                history: latest(&self.history, rules.model.history_bytes()),
                selected_text: self.question.selected_text.as_deref(),
                context: self.question.context.as_deref(),
                page: self.question.page_url.as_deref().map(path_of),
                version: self.version.as_deref(),
                question: &self.question.query,
                lookups: self.max_lookups(),
            },
            &fence(self.message_id),
        );
        // Text that is invisible to readers is hidden from the model too.
        Prompt {
            user: visible(&prompt.user),
            ..prompt
        }
    }

    /// Asks a model and waits for its first text. A busy model is retried while there is time. An error is the reason to answer without the model.
    pub(crate) async fn ask(
        &self,
        model: ChatModel,
        prompt: Prompt,
        deadline: Instant,
    ) -> Result<PendingGeneration, (Degradation, Spent)> {
        let rules = &self.answerer.rules;
        let (most, budget) = (rules.max_answer_tokens, rules.daily_budget_micro_usd);
        let account = Account::Answers;
        let reserved = Reserved::take(self.catalog(), account, &model, &prompt, most, budget).await;
        let reserved = reserved.ok_or((Degradation::Budget, Spent::default()))?;
        let first = deadline.min(Instant::now() + rules.model.first_text);
        let span = tracing::info_span!(target: "spans", "model", otel.status_code = Empty);
        match first_piece(&model, &prompt, most, first).await {
            Ok((first, pieces)) => Ok(PendingGeneration {
                model,
                prompt,
                reserved,
                deadline,
                first,
                pieces: in_span(pieces, span),
            }),
            Err(GenerationError { why, usage }) => {
                span.record("otel.status_code", "ERROR");
                drop(span);
                let mut spent = Spent::default();
                if let Some(usage) = usage {
                    spent.add(&model, usage);
                }
                reserved.settle(self.catalog(), spent.micro_usd).await;
                Err((why, spent))
            }
        }
    }
}

/// Returns the stream, which ends the span.
fn in_span(mut pieces: Pieces, span: Span) -> Pieces {
    stream::poll_fn(move |context| {
        let _entered = span.enter();
        pieces.poll_next_unpin(context)
    })
    .boxed()
}

/// Waits for a model's first text or calls, and returns them with the remaining stream.
///
/// White space does not count as text; thoughts that the model writes do.
async fn first_piece(
    model: &ChatModel,
    prompt: &Prompt,
    max_tokens: u32,
    deadline: Instant,
) -> Result<(Piece, Pieces), GenerationError> {
    let busy_deadline = deadline.min(Instant::now() + BUSY_DEADLINE);
    let mut wait = BUSY_WAIT;
    loop {
        let opening = opened(model, prompt, max_tokens);
        let error = match timeout_at(deadline, opening).await {
            Ok(Ok(Opened::Begun(first, pieces))) => return Ok((first, pieces)),
            Ok(Ok(Opened::Blank(ending))) => {
                tracing::warn!(stage = "generate", finish = ?ending.finish, "the model wrote nothing");
                let usage = ending.usage.unwrap_or_else(|| estimated(prompt, 0));
                return Err(GenerationError {
                    why: degradation_of(ending.finish).unwrap_or(Degradation::Generator),
                    usage: Some(usage),
                });
            }
            Ok(Err(error)) => error,
            Err(_) => ProviderError::Timeout,
        };
        let usage = match error {
            ProviderError::RateLimited { retry_after } => {
                let pause = retry_after.unwrap_or(wait);
                if pause <= busy_deadline.saturating_duration_since(Instant::now()) {
                    sleep(pause).await;
                    wait *= 2;
                    continue;
                }
                tracing::warn!(
                    stage = "generate",
                    "the model is busy, answering with a quote"
                );
                None
            }
            ProviderError::Unauthorized(_) | ProviderError::Rejected(_) => {
                // The key, model or account is wrong, so an operator must act.
                tracing::error!(stage = "generate", error = %format_args!("the chat model {error}"), "answering with a quote");
                None
            }
            ProviderError::Timeout
            | ProviderError::Unavailable(_)
            | ProviderError::Malformed(_) => {
                tracing::warn!(stage = "generate", error = %format_args!("the chat model {error}"), "answering with a quote");
                // The provider may have processed the prompt, and then charges for it.
                Some(estimated(prompt, 0))
            }
        };
        return Err(GenerationError {
            why: Degradation::Generator,
            usage,
        });
    }
}

enum Opened {
    /// The first text or the calls, and the remaining stream.
    Begun(Piece, Pieces),
    /// The answer ended without text.
    Blank(Ending),
}

async fn opened(
    model: &ChatModel,
    prompt: &Prompt,
    max_tokens: u32,
) -> Result<Opened, ProviderError> {
    let mut pieces = stream(model, prompt, max_tokens).await?;
    let mut text = String::new();
    loop {
        match pieces.next().await.unwrap_or(Err(ProviderError::Timeout))? {
            Piece::Text(more) => text.push_str(&more),
            calls @ Piece::Calls(_) => return Ok(Opened::Begun(calls, pieces)),
            Piece::End(ending) => return Ok(Opened::Blank(ending)),
        }
        if !text.trim().is_empty() {
            return Ok(Opened::Begun(Piece::Text(text), pieces));
        }
    }
}

/// Sends the prompt; without functions if the model rejects it with them.
async fn stream(
    model: &ChatModel,
    prompt: &Prompt,
    max_tokens: u32,
) -> Result<Pieces, ProviderError> {
    let functions = &prompt.functions;
    match model.stream(prompt, max_tokens).await {
        Err(error @ ProviderError::Rejected(_))
            if functions.left > 0 && functions.rounds.is_empty() =>
        {
            tracing::warn!(
                stage = "generate",
                %error,
                "asking again without functions; BOOKRAG_LOOKUPS=0 does so at once"
            );
            let without = Prompt {
                functions: Functions::default(),
                ..prompt.clone()
            };
            model.stream(&without, max_tokens).await
        }
        pieces => pieces,
    }
}
