//! The public list prices of hosted models.

/// A model's price, in US dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Price {
    /// The price of tokens read.
    pub input: f64,
    /// The price of tokens written; 0 for models that write none.
    pub output: f64,
}

/// Provider's host, model, input, output, from the providers' public price lists. Dated versions of a model (`gpt-4.1-mini-2025-04-14`) have its
/// price.
const PRICES: [(&str, &str, f64, f64); 22] = [
    ("api.openai.com", "text-embedding-3-small", 0.02, 0.0),
    ("api.openai.com", "text-embedding-3-large", 0.13, 0.0),
    ("api.openai.com", "text-embedding-ada-002", 0.10, 0.0),
    ("api.openai.com", "gpt-4-turbo", 10.0, 30.0),
    ("api.openai.com", "gpt-4o", 2.50, 10.0),
    ("api.openai.com", "gpt-4o-mini", 0.15, 0.60),
    ("api.openai.com", "gpt-4.1", 2.0, 8.0),
    ("api.openai.com", "gpt-4.1-mini", 0.40, 1.60),
    ("api.openai.com", "gpt-4.1-nano", 0.10, 0.40),
    ("api.openai.com", "gpt-5", 1.25, 10.0),
    ("api.openai.com", "gpt-5-mini", 0.25, 2.0),
    ("api.openai.com", "gpt-5-nano", 0.05, 0.40),
    ("api.cohere.com", "embed-english-v3.0", 0.10, 0.0),
    ("api.cohere.com", "embed-english-light-v3.0", 0.10, 0.0),
    ("api.cohere.com", "embed-multilingual-v3.0", 0.10, 0.0),
    ("api.cohere.com", "embed-multilingual-light-v3.0", 0.10, 0.0),
    ("api.cohere.com", "embed-v4.0", 0.12, 0.0),
    ("api.cohere.com", "command-a-03-2025", 2.50, 10.0),
    ("api.cohere.com", "command-r-plus-08-2024", 2.50, 10.0),
    ("api.cohere.com", "command-r-08-2024", 0.15, 0.60),
    ("api.cohere.com", "command-r7b-12-2024", 0.0375, 0.15),
    ("api.cohere.com", "command-light", 0.30, 0.60),
];

const MICRO: f64 = 1e6;

impl Price {
    /// Returns the price of a model at a host; `None` if it is unknown, as for self-hosted models.
    #[must_use]
    pub fn listed(host: &str, model: &str) -> Option<Self> {
        PRICES
            .iter()
            .find(|(at, name, ..)| *at == host && is_version(model, name))
            .map(|&(_, _, input, output)| Self { input, output })
    }

    /// Returns the price of a model at a base URL; `None` if it is unknown.
    #[must_use]
    pub fn at(base_url: &str, model: &str) -> Option<Self> {
        let url = reqwest::Url::parse(base_url).ok()?;
        Self::listed(url.host_str()?, model)
    }

    /// Returns the cost of tokens in millionths of a dollar, rounded up.
    #[must_use]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "tokens are far below 2^52, and prices are not negative"
    )]
    pub fn micro_usd(self, input_tokens: u64, output_tokens: u64) -> u64 {
        // Dollars for a million tokens equal millionths of a dollar for one token.
        (self.input * input_tokens as f64 + self.output * output_tokens as f64).ceil() as u64
    }
}

/// Converts millionths of a dollar to dollars.
#[must_use]
#[expect(
    clippy::cast_precision_loss,
    reason = "sums are far below 2^52 millionths"
)]
pub fn dollars(micro_usd: u64) -> f64 {
    micro_usd as f64 / MICRO
}

/// True if a model is the one with this name, or a dated version of it.
fn is_version(model: &str, name: &str) -> bool {
    match model.strip_prefix(name).map(|rest| rest.strip_prefix('-')) {
        Some(Some(date)) => date.chars().all(|c| c.is_ascii_digit() || c == '-'),
        Some(None) => model == name,
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_dated_version_costs_what_it_does_and_others_are_unknown() {
        let input = |host, model| Price::listed(host, model).map(|price| price.input);
        let openai = "api.openai.com";
        assert_eq!(input(openai, "gpt-4.1-mini-2025-04-14"), Some(0.40));
        assert_eq!(input(openai, "gpt-4.1"), Some(2.0));
        assert_eq!(input(openai, "gpt-4.1-maxi"), None);
        assert_eq!(input("localhost", "gpt-4.1"), None);
    }

    #[test]
    fn costs_are_rounded_up() {
        let price = Price::listed("api.openai.com", "gpt-4.1-mini").unwrap();
        assert_eq!(price.micro_usd(1_000, 100), 400 + 160);
        assert_eq!(price.micro_usd(1, 0), 1);
        assert!((dollars(560) - 0.00056).abs() < 1e-12);
    }
}
