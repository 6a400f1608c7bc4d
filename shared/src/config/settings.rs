//! Reads and parses single variables, and collects their problems.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::{RangeBounds, RangeInclusive};
use std::str::FromStr;

use secrecy::SecretString;

/// The variables that are set, and the problems found so far.
pub(super) struct Settings<'a> {
    variables: &'a HashMap<String, String>,
    problems: Vec<String>,
}

impl<'a> Settings<'a> {
    pub(super) fn new(variables: &'a HashMap<String, String>) -> Self {
        Self {
            variables,
            problems: Vec::new(),
        }
    }

    /// Returns a variable's text without white space around it; `None` if nothing is left.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        let text = self.variables.get(name)?.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    pub(super) fn text_or(&self, name: &str, default: &str) -> String {
        self.text(name).unwrap_or_else(|| default.to_owned())
    }

    pub(super) fn secret(&self, name: &str) -> Option<SecretString> {
        self.text(name).map(SecretString::from)
    }

    /// Reads a number. If it is invalid or not in `range`, the problem names what is `accepted`.
    pub(super) fn number<T: FromStr + PartialOrd>(
        &mut self,
        name: &str,
        accepted: &str,
        range: impl RangeBounds<T>,
    ) -> Option<T> {
        let value = self.text(name)?;
        let number = value.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            self.report(format!("{name} must be {accepted}, got `{value}`"));
        }
        number
    }

    /// Reads a number that has a least and a greatest value. `kind` is what it counts, such as "a whole number of hours".
    pub(super) fn number_within<T: FromStr + PartialOrd + Display>(
        &mut self,
        name: &str,
        kind: &str,
        range: RangeInclusive<T>,
    ) -> Option<T> {
        let accepted = format!("{kind} from {} to {}", range.start(), range.end());
        self.number(name, &accepted, range)
    }

    /// Reads a variable with two possible values; the first one is the default.
    pub(super) fn choice<T: Copy>(&mut self, name: &str, [default, other]: [(&str, T); 2]) -> T {
        let Some(value) = self.text(name) else {
            return default.1;
        };
        let known = [default, other]
            .into_iter()
            .find(|(name, _)| *name == value);
        if known.is_none() {
            let accepted = format!("{} or {}", other.0, default.0);
            self.report(format!("{name} must be {accepted}, got `{value}`"));
        }
        known.unwrap_or(default).1
    }

    /// Adds a problem.
    pub(super) fn report(&mut self, problem: impl Into<String>) {
        self.problems.push(problem.into());
    }

    /// Returns all problems, in the order of their texts.
    pub(super) fn into_problems(mut self) -> Vec<String> {
        self.problems.sort();
        self.problems
    }
}
