//! The cost of a model's calls, and the daily budgets.

use std::time::Duration;

use models::chat::{ChatModel, Prompt, Usage};

use crate::catalog::{Account, Catalog, CatalogError};

/// The fewest bytes of a token, so that estimates err on the high side. Used for reservations, and for servers that report no usage.
const BYTES_PER_TOKEN: usize = 3;

/// Time limit for the catalog.
const DEADLINE: Duration = Duration::from_secs(2);

/// Tokens and costs of an answer's calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Tokens read and written.
    pub tokens: u64,
    /// Their cost in millionths of a dollar.
    pub micro_usd: u64,
}

impl Spent {
    /// Adds a call.
    pub fn add(&mut self, model: &ChatModel, usage: Usage) {
        self.tokens += usage.input_tokens + usage.output_tokens;
        self.micro_usd += cost(model, usage);
    }

    /// Adds the tokens and costs of other calls.
    pub fn include(&mut self, other: Self) {
        self.tokens += other.tokens;
        self.micro_usd += other.micro_usd;
    }
}

/// Limits the time that an answer waits for accounting.
async fn in_time<T>(
    call: impl Future<Output = Result<T, CatalogError>>,
) -> Result<T, CatalogError> {
    let outcome = tokio::time::timeout(DEADLINE, call).await;
    outcome.unwrap_or_else(|_| Err(CatalogError::Unavailable("no answer in time".to_owned())))
}

/// Returns the cost in millionths of a dollar; 0 if the price is unknown.
#[must_use]
pub fn cost(model: &ChatModel, usage: Usage) -> u64 {
    let price = model.price();
    price.map_or(0, |price| {
        price.micro_usd(usage.input_tokens, usage.output_tokens)
    })
}

/// Estimates the tokens of a prompt and of `written` bytes of text.
#[must_use]
pub fn estimated(prompt: &Prompt, written: usize) -> Usage {
    Usage {
        input_tokens: tokens(prompt.bytes()),
        output_tokens: tokens(written),
    }
}

fn tokens(bytes: usize) -> u64 {
    (bytes / BYTES_PER_TOKEN + 1) as u64
}

/// A reservation from the daily budget, made before a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserved {
    account: Account,
    micro_usd: u64,
}

impl Reserved {
    /// Reserves the maximum cost of a call. Returns `None` if the remaining budget is too small, or unknown: no call is made whose cost would not be
    /// counted.
    pub async fn take(
        catalog: &Catalog,
        account: Account,
        model: &ChatModel,
        prompt: &Prompt,
        max_answer_tokens: u32,
        budget: Option<u64>,
    ) -> Option<Self> {
        let nothing = Self {
            account,
            micro_usd: 0,
        };
        let Some(budget) = budget else {
            return Some(nothing);
        };
        let most = Usage {
            output_tokens: u64::from(max_answer_tokens),
            ..estimated(prompt, 0)
        };
        let micro_usd = cost(model, most);
        if micro_usd == 0 {
            return Some(nothing);
        }
        let reserved = catalog.reserve_spend(account, micro_usd, budget);
        match in_time(reserved).await {
            Ok(true) => Some(Self { account, micro_usd }),
            Ok(false) => {
                tracing::warn!(stage = "budget", ?account, "the day's budget is spent");
                None
            }
            Err(error) => {
                tracing::warn!(stage = "budget", %error, "cannot read the day's budget");
                None
            }
        }
    }

    /// Returns the unspent rest to the budget.
    pub async fn settle(self, catalog: &Catalog, spent_micro_usd: u64) {
        if self.micro_usd == 0 {
            return;
        }
        let settled = catalog.settle_spend(self.account, self.micro_usd, spent_micro_usd);
        if let Err(error) = in_time(settled).await {
            tracing::warn!(stage = "budget", %error, "counting the reserved amount as spent");
        }
    }
}
