//! Measurements as JSON lines in the log. Some of their fields are metrics in `CloudWatch`'s embedded metric format.
//!
//! `infra/metrics.md` describes each metric. A test checks that this list, the description, the dashboard and the alarms agree.

mod list;

use std::collections::BTreeMap;
use std::io::Write;

use jiff::Timestamp;
use serde_json::{Map, Number, Value, json};

pub use list::{Metric, Unit};

/// The only dimension of the metrics: the function's name.
pub const DIMENSION: &str = "function";
/// The most values of a metric that `CloudWatch` accepts in one line.
const MAX_VALUES: usize = 100;

/// Where a deployment's metrics go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetricsOptions {
    /// Distinguishes the deployments in one account.
    pub namespace: String,
    /// True if `CloudWatch` is to keep each metric, false for only those that alarms look at ([`Metric::is_watched`]).
    pub all: bool,
}

/// The metrics of one invocation.
#[derive(Debug, Clone)]
pub struct Metrics {
    options: MetricsOptions,
    function: &'static str,
    request_id: Option<String>,
    values: BTreeMap<Metric, Vec<Number>>,
}

impl Metrics {
    /// Creates empty metrics for a function.
    #[must_use]
    pub fn new(options: &MetricsOptions, function: &'static str) -> Self {
        Self {
            options: options.clone(),
            function,
            request_id: None,
            values: BTreeMap::new(),
        }
    }

    /// Adds the request's id, to find its other log lines. It is not a dimension.
    #[must_use]
    pub fn of_request(mut self, id: &str) -> Self {
        self.request_id = Some(id.to_owned());
        self
    }

    /// Adds to a count.
    pub fn count(&mut self, metric: Metric, more: usize) {
        let values = self.values.entry(metric).or_default();
        let so_far = values.first().and_then(Number::as_u64).unwrap_or_default();
        *values = vec![Number::from(so_far + more as u64)];
    }

    /// Adds a value. Values after the hundredth, and values that are not finite, are dropped.
    pub fn note(&mut self, metric: Metric, value: f64) {
        let values = self.values.entry(metric).or_default();
        if values.len() < MAX_VALUES {
            values.extend(Number::from_f64(value));
        }
    }

    /// Adds a value unless the metric has one.
    pub fn first(&mut self, metric: Metric, value: f64) {
        if !self.values.contains_key(&metric) {
            self.note(metric, value);
        }
    }

    /// Adds 1 or 0, so that the average is a rate.
    pub fn rate(&mut self, metric: Metric, is_so: bool) {
        self.values
            .insert(metric, vec![Number::from(u8::from(is_so))]);
    }

    /// Writes the metrics to standard output, which Lambda forwards to `CloudWatch`. Writes nothing if there are none.
    pub fn emit(&self) {
        if self.values.is_empty() {
            return;
        }
        let mut line = self.line(Timestamp::now()).to_string();
        line.push('\n');
        // If standard output is closed, the error cannot be reported.
        let _ = std::io::stdout().write_all(line.as_bytes());
    }

    fn line(&self, now: Timestamp) -> Value {
        let metrics = self
            .values
            .keys()
            .filter(|metric| self.options.all || metric.is_watched(self.function))
            .map(|metric| json!({ "Name": metric.name(), "Unit": metric.unit().name() }));
        let metrics: Vec<Value> = metrics.collect();
        let mut line = Map::new();
        // `CloudWatch` rejects a list of no metrics.
        if !metrics.is_empty() {
            line.insert(
                "_aws".to_owned(),
                json!({
                    "Timestamp": now.as_millisecond(),
                    "CloudWatchMetrics": [{
                        "Namespace": self.options.namespace,
                        "Dimensions": [[DIMENSION]],
                        "Metrics": metrics,
                    }],
                }),
            );
        }
        line.insert(DIMENSION.to_owned(), json!(self.function));
        if let Some(id) = &self.request_id {
            line.insert("requestId".to_owned(), json!(id));
        }
        for (metric, values) in &self.values {
            let value = match values.as_slice() {
                [value] => json!(value),
                values => json!(values),
            };
            line.insert(metric.name().to_owned(), value);
        }
        Value::Object(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metrics(all: bool) -> Metrics {
        let namespace = "bookrag/docs".to_owned();
        Metrics::new(&MetricsOptions { namespace, all }, "ingest")
    }

    #[test]
    fn only_watched_metrics_are_kept_unless_all_are_wanted() {
        let names = |metrics: &Metrics| -> Vec<String> {
            let line = metrics.line(Timestamp::now());
            let listed = line["_aws"]["CloudWatchMetrics"][0]["Metrics"].as_array();
            let names = listed.into_iter().flatten();
            names
                .map(|metric| metric["Name"].as_str().unwrap().to_owned())
                .collect()
        };
        for (all, kept) in [
            (false, &["documents_skipped"][..]),
            (true, &["documents_indexed", "documents_skipped"]),
        ] {
            let mut metrics = metrics(all);
            metrics.count(Metric::DocumentsSkipped, 1);
            metrics.count(Metric::DocumentsIndexed, 2);
            assert_eq!(names(&metrics), kept);
            assert_eq!(metrics.line(Timestamp::now())["documents_indexed"], 2);
        }
        let mut unwatched = metrics(false);
        unwatched.count(Metric::DocumentsIndexed, 1);
        let line = unwatched.line(Timestamp::now());
        assert_eq!(
            line,
            json!({ "function": "ingest", "documents_indexed": 1 })
        );
    }

    #[test]
    fn at_most_nine_metrics_are_watched() {
        let functions = ["query", "search", "health", "ingest"];
        let mut watched = 0;
        for metric in Metric::ALL {
            for function in functions.iter().filter(|name| metric.is_watched(name)) {
                assert!(metric.functions().contains(function), "{metric:?}");
                watched += 1;
            }
        }
        assert_eq!(watched, 9);
    }

    #[test]
    fn a_line_names_each_metric_with_its_unit_and_values() {
        let mut metrics = metrics(true);
        metrics.count(Metric::DocumentsIndexed, 1);
        metrics.count(Metric::DocumentsIndexed, 2);
        metrics.note(Metric::IngestLag, 40.0);
        metrics.note(Metric::IngestLag, 50.5);
        let line = metrics.line(Timestamp::from_millisecond(1_700_000_000_000).unwrap());
        let expected = json!({
            "_aws": {
                "Timestamp": 1_700_000_000_000_u64,
                "CloudWatchMetrics": [{
                    "Namespace": "bookrag/docs",
                    "Dimensions": [["function"]],
                    "Metrics": [
                        { "Name": "ingest_lag_ms", "Unit": "Milliseconds" },
                        { "Name": "documents_indexed", "Unit": "Count" },
                    ],
                }],
            },
            "function": "ingest",
            "documents_indexed": 3,
            "ingest_lag_ms": [40.0, 50.5],
        });
        assert_eq!(line, expected);
    }

    #[test]
    fn one_line_holds_a_hundred_values_of_a_metric() {
        let mut metrics = metrics(true);
        for _ in 0..200 {
            metrics.note(Metric::IngestLag, 1.0);
        }
        let line = metrics.line(Timestamp::now());
        assert_eq!(line["ingest_lag_ms"].as_array().unwrap().len(), MAX_VALUES);
    }
}
