//! Calls a chat model for the questions of sections, within a budget, and waits where the model limits requests.

use std::cell::Cell;
use std::time::Duration;

use bookrag::generate::{
    ChatModel, Finish, MAX_QUESTIONS_TOKENS, Prompt, USUAL_QUESTIONS_TOKENS, fence,
    parse_questions, questions_prompt, tokens_of_prompt,
};
use bookrag::prices::Price;
use bookrag::provider::ProviderError;
use uuid::Uuid;

use super::super::output;
use super::sections::{PageSection, place};

/// The most requests for one section while the model limits requests.
const MAX_LIMITED: u32 = 8;
/// The most requests for one section whose other failures may pass.
const MAX_FAILED: u32 = 3;
/// The wait before the second request; it doubles with each.
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// The longest wait that a provider may ask for.
const MAX_WAIT: Duration = Duration::from_mins(5);
/// Ends the run: the model, the key or the network does not work.
const MAX_FAILED_IN_A_ROW: u32 = 5;

/// The outcome for one section.
pub(super) enum Outcome {
    Written(Vec<String>),
    /// The reason.
    Failed(String),
    /// Not asked, because the run ends.
    Left,
}

/// The calls of one run.
pub(super) struct Calls {
    pub(super) model: ChatModel,
    pub(super) price: Option<Price>,
    /// In millionths of a dollar.
    pub(super) budget: Option<u64>,
    /// What finished calls cost, and running ones probably cost.
    spent: Cell<u64>,
    failed_in_a_row: Cell<u32>,
    end: Cell<Option<&'static str>>,
}

impl Calls {
    pub(super) fn new(model: ChatModel, budget: Option<u64>) -> Self {
        Self {
            price: model.price(),
            model,
            budget,
            spent: Cell::new(0),
            failed_in_a_row: Cell::new(0),
            end: Cell::new(None),
        }
    }

    /// What the calls cost, in millionths of a dollar; `None` if the price is unknown.
    pub(super) fn spent(&self) -> Option<u64> {
        self.price.map(|_| self.spent.get())
    }

    /// Why the run ended before its last section.
    pub(super) fn end(&self) -> Option<&'static str> {
        self.end.get()
    }

    /// Asks for the questions of a section.
    pub(super) async fn ask(&self, section: &PageSection<'_>) -> Outcome {
        let prompt = questions_prompt(&section.section, &fence(Uuid::new_v4()));
        let expected = self.cost(tokens_of_prompt(&prompt), USUAL_QUESTIONS_TOKENS);
        if self.end.get().is_some() {
            return Outcome::Left;
        }
        if self
            .budget
            .is_some_and(|budget| self.spent.get() + expected > budget)
        {
            self.end.set(Some("the budget is spent"));
            return Outcome::Left;
        }
        self.spent.set(self.spent.get() + expected);
        let outcome = self.answered(section, &prompt, expected).await;
        let failed = match outcome {
            Outcome::Failed(_) => self.failed_in_a_row.get() + 1,
            _ => 0,
        };
        self.failed_in_a_row.set(failed);
        if failed >= MAX_FAILED_IN_A_ROW {
            self.end.set(Some("the last sections all failed"));
        }
        outcome
    }

    async fn answered(&self, section: &PageSection<'_>, prompt: &Prompt, expected: u64) -> Outcome {
        let mut attempt = 0;
        loop {
            let answer = self.model.complete(prompt, MAX_QUESTIONS_TOKENS).await;
            attempt += 1;
            let error = match answer {
                Ok((text, ending)) => {
                    if let Some(usage) = ending.usage {
                        let cost = self.cost(usage.input_tokens, usage.output_tokens);
                        self.spent
                            .set((self.spent.get() + cost).saturating_sub(expected));
                    }
                    return questions(&text, ending.finish);
                }
                Err(error) => error,
            };
            match wait(&error, attempt) {
                Some(wait) => {
                    output::status(&format!(
                        "{}: the chat model {error}; waiting {:.0} s",
                        place(&section.document.file.source, &section.section.anchor),
                        wait.as_secs_f32().ceil()
                    ));
                    tokio::time::sleep(wait).await;
                }
                None => {
                    self.spent.set(self.spent.get().saturating_sub(expected));
                    return Outcome::Failed(format!("the chat model {error}"));
                }
            }
        }
    }

    fn cost(&self, input: u64, output: u64) -> u64 {
        self.price.map_or(0, |price| price.micro_usd(input, output))
    }
}

fn questions(text: &str, finish: Finish) -> Outcome {
    if finish == Finish::Filtered {
        return Outcome::Failed("the provider's content filter stopped the model".to_owned());
    }
    let text = match finish {
        // The last line may be half a question.
        Finish::Truncated => text.rsplit_once('\n').map_or("", |(whole, _)| whole),
        _ => text,
    };
    match parse_questions(text) {
        questions if questions.is_empty() => {
            Outcome::Failed("the chat model wrote no line that is a question".to_owned())
        }
        questions => Outcome::Written(questions),
    }
}

/// Returns the wait before the next request; `None` if there is none.
fn wait(error: &ProviderError, attempt: u32) -> Option<Duration> {
    let backoff = FIRST_WAIT * 2u32.pow(attempt - 1);
    match error {
        ProviderError::RateLimited { retry_after } if attempt < MAX_LIMITED => {
            Some(retry_after.unwrap_or(backoff).min(MAX_WAIT))
        }
        ProviderError::RateLimited { .. } => None,
        error if error.may_pass() && attempt < MAX_FAILED => Some(backoff),
        _ => None,
    }
}
