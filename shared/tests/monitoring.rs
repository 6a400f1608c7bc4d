//! The metrics in the code, the dashboard, the alarms and `infra/metrics.md` agree.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use bookrag::metrics::{DIMENSION, Metric};
use serde_json::Value;

/// A metric and its function.
type Series = (String, String);

fn read(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra");
    fs::read_to_string(folder.join(name)).unwrap()
}

fn emitted() -> BTreeSet<Series> {
    let series = Metric::ALL.iter().flat_map(|metric| {
        let functions = metric.functions().iter();
        functions.map(|function| (metric.name().to_owned(), (*function).to_owned()))
    });
    series.collect()
}

/// The metrics that `CloudWatch` keeps in a deployment of any size.
fn watched() -> BTreeSet<Series> {
    let is_watched = |(name, function): &Series| {
        let metric = Metric::ALL.iter().find(|metric| metric.name() == name);
        metric.unwrap().is_watched(function)
    };
    emitted().into_iter().filter(is_watched).collect()
}

fn resources() -> BTreeMap<String, Value> {
    let template: Value = serde_saphyr::from_str(&read("monitoring.yaml")).unwrap();
    let resources = template["Resources"].as_object().unwrap().clone();
    resources.into_iter().collect()
}

fn of_type(kind: &str) -> Vec<(String, Value)> {
    let resources = resources().into_iter();
    let of_type: Vec<_> = resources
        .filter(|(_, resource)| resource["Type"] == kind)
        .map(|(name, resource)| (name, resource["Properties"].clone()))
        .collect();
    assert!(!of_type.is_empty(), "{kind}");
    of_type
}

/// Collects every object in a value.
fn objects<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            found.push(value);
            fields.values().for_each(|field| objects(field, found));
        }
        Value::Array(items) => items.iter().for_each(|item| objects(item, found)),
        _ => {}
    }
}

/// Returns this project's metrics that an alarm uses.
fn series_of_alarm(alarm: &Value) -> BTreeSet<Series> {
    let mut all = Vec::new();
    objects(alarm, &mut all);
    let ours = all
        .into_iter()
        .filter(|metric| metric["Namespace"]["Ref"] == "Namespace");
    let series = ours.map(|metric| {
        let name = metric["MetricName"].as_str().unwrap();
        let dimensions = metric["Dimensions"].as_array().unwrap();
        assert_eq!(dimensions.len(), 1, "{name}");
        assert_eq!(dimensions[0]["Name"], DIMENSION, "{name}");
        let function = dimensions[0]["Value"].as_str().unwrap();
        (name.to_owned(), function.to_owned())
    });
    series.collect()
}

fn widgets_of_dashboard() -> Vec<Value> {
    let (_, dashboard) = of_type("AWS::CloudWatch::Dashboard").remove(0);
    let body = dashboard["DashboardBody"]["Fn::Sub"][0].as_str().unwrap();
    // The only substitutions outside of strings.
    let body = body.replace("${DailySpendUsd}", "1");
    let body = body.replace("${ConcurrencyAlarm}", "1");
    let body = body.replace("${CheckAlarms}${AccessAlarm}${DetailedAlarms}", "");
    let body: Value = serde_json::from_str(&body).unwrap();
    body["widgets"].as_array().unwrap().clone()
}

/// Returns this project's metrics on the dashboard.
fn series_of_dashboard() -> BTreeSet<Series> {
    let widgets = widgets_of_dashboard();
    let rows = widgets.iter().flat_map(|widget| {
        let rows = widget["properties"]["metrics"].as_array();
        rows.cloned().unwrap_or_default()
    });
    let ours = rows.filter(|row| row[0] == "${Namespace}");
    let series = ours.map(|row| {
        assert_eq!(row[2], DIMENSION, "{row}");
        let text = |place: usize| row[place].as_str().unwrap().to_owned();
        (text(1), text(3))
    });
    series.collect()
}

/// A row of the table in `metrics.md`.
struct Told {
    unit: String,
    functions: BTreeSet<String>,
    alarms: BTreeSet<String>,
}

fn told() -> BTreeMap<String, Told> {
    let text = read("metrics.md");
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    let told = rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let links = cells.last().unwrap().split('[').skip(1);
        let told = Told {
            unit: cells[1].to_owned(),
            functions: cells[2].split(", ").map(str::to_owned).collect(),
            alarms: links
                .map(|link| link.split(']').next().unwrap().to_owned())
                .collect(),
        };
        (cells[0].trim_matches('`').to_owned(), told)
    });
    told.collect()
}

#[test]
fn there_are_thirty_five_metrics_at_most_each_with_its_own_name() {
    let names: BTreeSet<&str> = Metric::ALL.iter().map(|metric| metric.name()).collect();
    assert_eq!(names.len(), Metric::ALL.len());
    assert!(names.len() <= 35);
}

#[test]
fn the_dashboard_shows_what_is_emitted_and_nothing_else() {
    assert_eq!(series_of_dashboard(), watched());
    let widgets = widgets_of_dashboard();
    let queries = widgets
        .iter()
        .filter_map(|widget| widget["properties"]["query"].as_str());
    let word = |c: char| !(c.is_alphanumeric() || c == '_');
    let words: BTreeSet<&str> = queries.flat_map(|query| query.split(word)).collect();
    let names = Metric::ALL.iter().map(|metric| metric.name());
    let watched: BTreeSet<String> = watched().into_iter().map(|(name, _)| name).collect();
    let hidden: Vec<&str> = names
        .filter(|name| !words.contains(name) && !watched.contains(*name))
        .collect();
    assert!(hidden.is_empty(), "{hidden:?}");
}

#[test]
fn alarms_of_other_sizes_than_detailed_look_at_metrics_that_are_kept() {
    let resources = resources();
    for (alarm, properties) in of_type("AWS::CloudWatch::Alarm") {
        let is_detailed = resources[&alarm]["Condition"] == "Detailed";
        let unkept: Vec<Series> = series_of_alarm(&properties)
            .difference(&watched())
            .cloned()
            .collect();
        assert_eq!(is_detailed, !unkept.is_empty(), "{alarm}: {unkept:?}");
    }
}

#[test]
fn alarms_look_at_what_is_emitted_and_the_text_says_which() {
    let mut by_metric: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (alarm, properties) in of_type("AWS::CloudWatch::Alarm") {
        for series in series_of_alarm(&properties) {
            assert!(emitted().contains(&series), "{alarm}: {series:?}");
            by_metric.entry(series.0).or_default().insert(alarm.clone());
        }
    }
    assert!(by_metric.len() > 5, "{by_metric:?}");
    let resources = resources();
    for (metric, told) in told() {
        let unknown = told
            .alarms
            .iter()
            .find(|alarm| !resources.contains_key(*alarm));
        assert_eq!(unknown, None, "{metric}");
        let alarms = by_metric.remove(&metric).unwrap_or_default();
        let missing: Vec<_> = alarms.difference(&told.alarms).collect();
        assert!(missing.is_empty(), "{metric}: {missing:?}");
    }
    assert!(by_metric.is_empty(), "{by_metric:?}");
}

#[test]
fn the_text_tells_each_metric_with_its_unit_and_its_functions() {
    let mut told = told();
    for metric in Metric::ALL {
        let name = metric.name();
        let line = told.remove(name).unwrap_or_else(|| panic!("no {name}"));
        assert_eq!(line.unit, metric.unit().name(), "{name}");
        let functions: BTreeSet<String> = metric
            .functions()
            .iter()
            .map(|function| (*function).to_owned())
            .collect();
        assert_eq!(line.functions, functions, "{name}");
    }
    assert!(told.is_empty(), "{:?}", told.keys());
}

#[test]
fn each_alarm_leads_to_its_section_of_the_runbook() {
    let runbook = read("runbook.md");
    let anchors: BTreeSet<String> = runbook
        .lines()
        .filter_map(|line| line.strip_prefix('#'))
        .map(|heading| {
            let heading = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.collect::<String>().replace(' ', "-")
        })
        .collect();
    for (alarm, properties) in of_type("AWS::CloudWatch::Alarm") {
        let description = &properties["AlarmDescription"]["Fn::Sub"];
        let (_, anchor) = description.as_str().unwrap().rsplit_once('#').unwrap();
        assert!(anchors.contains(anchor), "{alarm}: #{anchor}");
    }
}
