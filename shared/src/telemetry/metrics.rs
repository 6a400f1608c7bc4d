//! Metrics in `CloudWatch`'s embedded metric format: one JSON line, from which `CloudWatch` makes metrics by itself.

use std::collections::BTreeMap;
use std::io::Write;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// Where `CloudWatch` keeps the metrics.
const NAMESPACE: &str = "bookrag";
/// The dimension of all metrics: which function they are of.
const DIMENSION: &str = "function";
/// Values of one metric that one line may hold; `CloudWatch` takes no more.
const MAX_VALUES: usize = 100;

/// What a metric counts in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Things.
    Count,
    /// Thousandths of a second.
    Milliseconds,
}

impl Unit {
    /// The name that `CloudWatch` gives it.
    fn name(self) -> &'static str {
        match self {
            Self::Count => "Count",
            Self::Milliseconds => "Milliseconds",
        }
    }
}

/// The metrics of one invocation.
#[derive(Debug, Clone)]
pub struct Metrics {
    function: &'static str,
    values: BTreeMap<&'static str, (Unit, Vec<u64>)>,
}

impl Metrics {
    /// Those of a function, none yet.
    #[must_use]
    pub fn of(function: &'static str) -> Self {
        Self {
            function,
            values: BTreeMap::new(),
        }
    }

    /// Adds to a count.
    pub fn count(&mut self, name: &'static str, more: usize) {
        let (_, values) = self.values.entry(name).or_insert((Unit::Count, vec![0]));
        values[0] += more as u64;
    }

    /// Notes how long something took, in milliseconds.
    pub fn took(&mut self, name: &'static str, milliseconds: u64) {
        let (_, values) = self
            .values
            .entry(name)
            .or_insert((Unit::Milliseconds, Vec::new()));
        if values.len() < MAX_VALUES {
            values.push(milliseconds);
        }
    }

    /// Writes them to standard output, which Lambda takes to `CloudWatch`. Without any metric nothing is written.
    pub fn emit(&self) {
        if self.values.is_empty() {
            return;
        }
        let mut line = self.line(Timestamp::now()).to_string();
        line.push('\n');
        // There is nowhere to say that standard output is gone.
        let _ = std::io::stdout().write_all(line.as_bytes());
    }

    fn line(&self, now: Timestamp) -> Value {
        let metrics = self
            .values
            .iter()
            .map(|(name, (unit, _))| json!({ "Name": name, "Unit": unit.name() }));
        let mut line = Map::new();
        line.insert(
            "_aws".to_owned(),
            json!({
                "Timestamp": now.as_millisecond(),
                "CloudWatchMetrics": [{
                    "Namespace": NAMESPACE,
                    "Dimensions": [[DIMENSION]],
                    "Metrics": metrics.collect::<Vec<_>>(),
                }],
            }),
        );
        line.insert(DIMENSION.to_owned(), json!(self.function));
        for (name, (_, values)) in &self.values {
            let value = match values.as_slice() {
                [value] => json!(value),
                values => json!(values),
            };
            line.insert((*name).to_owned(), value);
        }
        Value::Object(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_each_metric_with_its_unit_and_values() {
        let mut metrics = Metrics::of("ingest");
        metrics.count("documents_indexed", 1);
        metrics.count("documents_indexed", 2);
        metrics.took("ingest_lag_ms", 40);
        metrics.took("ingest_lag_ms", 50);
        let line = metrics.line(Timestamp::from_millisecond(1_700_000_000_000).unwrap());
        let expected = json!({
            "_aws": {
                "Timestamp": 1_700_000_000_000_u64,
                "CloudWatchMetrics": [{
                    "Namespace": "bookrag",
                    "Dimensions": [["function"]],
                    "Metrics": [
                        { "Name": "documents_indexed", "Unit": "Count" },
                        { "Name": "ingest_lag_ms", "Unit": "Milliseconds" },
                    ],
                }],
            },
            "function": "ingest",
            "documents_indexed": 3,
            "ingest_lag_ms": [40, 50],
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn one_line_holds_a_hundred_values_of_a_metric() {
        let mut metrics = Metrics::of("ingest");
        for lag in 0..200 {
            metrics.took("ingest_lag_ms", lag);
        }
        let line = metrics.line(Timestamp::now());
        assert_eq!(line["ingest_lag_ms"].as_array().unwrap().len(), MAX_VALUES);
    }
}
