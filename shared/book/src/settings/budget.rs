//! What the evaluation of a config may cost.
//!
//! A short config can describe a value of any size: a function that repeats its argument ten times, called nine times, makes a thousand million
//! values. Everything that is evaluated, copied or joined is therefore paid for before it is made, so one limit bounds both memory and time.

use std::cell::Cell;

use oxc_span::Span;

use super::value::{ConfigMap, ConfigValue};

/// The costs that one config may have, in bytes. A config with 20,000 redirects, as large as is parsed, has 27 million.
pub(super) const MAX_COST: usize = 32 * 1024 * 1024;

/// The cost of an evaluated expression, or of a value: twice its size, since a list may have room for twice its items.
pub(super) const VALUE_COST: usize = 128;

/// The cost of an object without its fields: the smallest node of its tree has room for eleven. All other fields have one value, which is small.
pub(super) const MAP_COST: usize = 1024;

/// The cost of a field of an object, in addition to those of its value and of the text of its key.
pub(super) const KEY_COST: usize = 64;

/// The cost of a value that is one of several alternatives, in copies of it.
pub(super) const ALTERNATIVE_COPIES: usize = 3;

/// The deepest nesting of a value. Values are copied, compared and freed by recursion.
const MAX_NESTING: usize = 128;

/// The error that the config costs more than is left, at this offset in its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exceeded {
    pub(super) at: usize,
}

/// A result that was paid for.
pub(super) type Paid<T> = Result<T, Exceeded>;

/// The costs that a config may still have.
pub(super) struct Budget {
    left: Cell<usize>,
}

impl Budget {
    pub(super) fn new() -> Self {
        Self {
            left: Cell::new(MAX_COST),
        }
    }

    /// Pays for something before it is made.
    ///
    /// # Errors
    /// If too little is left.
    pub(super) fn pay(&self, cost: usize, at: Span) -> Paid<()> {
        let left = self.left.get().checked_sub(cost);
        self.left.set(left.unwrap_or_default());
        left.map(drop).ok_or(Exceeded {
            at: at.start as usize,
        })
    }

    /// Pays for the keys that a change of an object keeps as its path.
    ///
    /// # Errors
    /// If too little is left, or the keys are more than a value may be nested.
    pub(super) fn pay_for_path(&self, path: &[String], at: Span) -> Paid<()> {
        let nesting = if path.len() > MAX_NESTING {
            MAX_COST
        } else {
            0
        };
        let keys = path.iter().map(|key| VALUE_COST + key.len());
        self.pay(keys.sum::<usize>() + nesting, at)
    }

    /// Pays for copies of a value.
    ///
    /// # Errors
    /// If too little is left, or the value is nested too deep.
    pub(super) fn pay_for(&self, copies: usize, value: &ConfigValue, at: Span) -> Paid<()> {
        self.pay(copies * cost_of(value, 0), at)
    }

    /// Pays for copies of an object.
    ///
    /// # Errors
    /// If too little is left, or the object is nested too deep.
    pub(super) fn pay_for_map(&self, copies: usize, map: &ConfigMap, at: Span) -> Paid<()> {
        self.pay(copies * cost_of_map(map, 0), at)
    }

    /// Checks how deep a value is nested.
    ///
    /// # Errors
    /// If a value is nested too deep.
    pub(super) fn check_nesting(value: &ConfigValue, at: Span) -> Paid<()> {
        if cost_of(value, 0) > MAX_COST {
            return Err(Exceeded {
                at: at.start as usize,
            });
        }
        Ok(())
    }

    /// Returns the costs so far.
    #[cfg(test)]
    pub(super) fn paid(&self) -> usize {
        MAX_COST - self.left.get()
    }
}

/// Returns the cost of a copy of a value, which is more than any budget if the value is nested too deep.
pub(super) fn cost_of(value: &ConfigValue, depth: usize) -> usize {
    if depth > MAX_NESTING {
        return MAX_COST + 1;
    }
    match value {
        ConfigValue::Text(text) | ConfigValue::SitePath(text) => VALUE_COST + text.len(),
        ConfigValue::List(items) => VALUE_COST + sum_of(items, depth),
        ConfigValue::Map(map) => cost_of_map(map, depth),
        ConfigValue::OneOf(alternatives) => {
            let fields = cost_of(alternatives.computed(), depth + 1);
            VALUE_COST + sum_of(value.alternatives(), depth) + fields
        }
        _ => VALUE_COST,
    }
}

fn cost_of_map(map: &ConfigMap, depth: usize) -> usize {
    let keys = map.fields().map(|(key, _)| KEY_COST + key.len());
    let fields = sum_of(map.fields().map(|(_, field)| field), depth);
    MAP_COST + keys.sum::<usize>() + fields
}

/// Adds the costs of the parts of a value at this depth. Each is at most the budget plus one, and all parts are in memory, so the sum does not
/// overflow.
fn sum_of<'v>(parts: impl IntoIterator<Item = &'v ConfigValue>, depth: usize) -> usize {
    parts.into_iter().map(|part| cost_of(part, depth + 1)).sum()
}
