//! Calls a chat model for the questions of sections, within a budget.

use std::cell::Cell;

use bookrag::chat::{ChatModel, fence};
use bookrag::prices::Price;
use bookrag::question_writer::{
    USUAL_QUESTIONS_TOKENS, ask_for_questions, questions_prompt, tokens_of_prompt,
};
use uuid::Uuid;

use super::super::output;
use super::sections::{PageSection, place};

/// The number of failures in a row that end the run: the model, the key or the network does not work.
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
    /// The budget in millionths of a dollar; `None` for no limit.
    pub(super) budget: Option<u64>,
    /// The cost of the finished calls and the expected cost of the running ones, in millionths of a dollar.
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

    /// Returns the cost of the calls in millionths of a dollar; `None` if the price is unknown.
    pub(super) fn spent(&self) -> Option<u64> {
        self.price.map(|_| self.spent.get())
    }

    /// Returns why the run ended before its last section; `None` if it did not.
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
        let asked = ask_for_questions(&self.model, &prompt, |error, wait| {
            output::status(&format!(
                "{}: the chat model {error}; waiting {:.0} s",
                place(&section.document.file.source, &section.section.anchor),
                wait.as_secs_f32().ceil()
            ));
        });
        let asked = asked.await;
        if let Some(usage) = asked.usage {
            let cost = self.cost(usage.input_tokens, usage.output_tokens);
            self.spent
                .set((self.spent.get() + cost).saturating_sub(expected));
        }
        let outcome = match asked.questions {
            Ok(questions) => Outcome::Written(questions),
            Err(failure) => Outcome::Failed(failure.to_string()),
        };
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

    fn cost(&self, input: u64, output: u64) -> u64 {
        self.price.map_or(0, |price| price.micro_usd(input, output))
    }
}
