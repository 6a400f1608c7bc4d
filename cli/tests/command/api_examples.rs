//! The examples of docs/api.md, run against a real server.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::Workshop;

/// The address that the page's commands use.
const SHOWN_ADDRESS: &str = "http://127.0.0.1:8080";

/// A command of the page, and the response shown below it.
struct Example {
    command: String,
    language: String,
    response: String,
}

/// Pairs each `bash` fence with the fence after it.
fn examples(page: &str) -> Vec<Example> {
    let mut fences = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            fences.push((language.to_owned(), body.join("\n")));
        }
    }
    let pairs = fences.windows(2).filter(|pair| pair[0].0 == "bash");
    pairs
        .map(|pair| Example {
            command: pair[0].1.clone(),
            language: pair[1].0.clone(),
            response: pair[1].1.clone(),
        })
        .collect()
}

/// Returns true if `actual` is `shown` with any text in place of each `…`.
fn matches_text(shown: &str, actual: &str) -> bool {
    let mut parts = shown.split('…').map(str::trim).collect::<Vec<_>>();
    let first = parts.remove(0);
    let Some(mut rest) = actual.trim().strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else {
            return false;
        };
        rest = after;
    }
    rest.ends_with(last)
}

fn is_uuid(text: &str) -> bool {
    let groups = text.split('-').map(str::len);
    groups.eq([8, 4, 4, 4, 12]) && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

/// Checks that `actual` has all that is `shown`. Numbers may differ, and so may ids: those are collected in `ids`.
fn compare(shown: &Value, actual: &Value, path: &str, ids: &mut HashMap<String, String>) {
    match (shown, actual) {
        (Value::Object(fields), _) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                let field = actual.get(name);
                let field = field.unwrap_or_else(|| panic!("no {path} in {actual}"));
                compare(value, field, &path, ids);
            }
        }
        (Value::Array(items), _) => {
            for (at, item) in items.iter().enumerate() {
                let path = format!("{path}[{at}]");
                let element = actual.get(at);
                let element = element.unwrap_or_else(|| panic!("no {path} in {actual}"));
                compare(item, element, &path, ids);
            }
            let is_same = !items.is_empty() || actual == shown;
            assert!(is_same, "{path} is not empty: {actual}");
        }
        (Value::String(shown), Value::String(actual)) if is_uuid(shown) && is_uuid(actual) => {
            ids.insert(shown.clone(), actual.clone());
        }
        (Value::String(shown), Value::String(actual)) => {
            assert!(matches_text(shown, actual), "{path}: {shown}: {actual}");
        }
        (Value::Number(_), Value::Number(_)) => {}
        _ => assert_eq!(shown, actual, "{path}"),
    }
}

#[test]
fn every_example_of_the_api_page_gives_the_response_that_is_shown() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/api.md");
    let examples = examples(&fs::read_to_string(page).unwrap());
    assert!(examples.len() >= 12, "{} examples", examples.len());

    let workshop = Workshop::indexed();
    let server = workshop.serve_with(&[("BOOKRAG_STORE_CONVERSATIONS", "24")], &[]);
    let mut ids: HashMap<String, String> = HashMap::new();
    for example in examples {
        let mut command = example.command.replace(SHOWN_ADDRESS, &server.url);
        for (shown, actual) in &ids {
            command = command.replace(shown, actual);
        }
        let curl = Command::new("bash").args(["-c", &command]).output();
        let output = curl.unwrap();
        assert!(output.status.success(), "{command}: {output:?}");
        let actual = String::from_utf8(output.stdout).unwrap();
        let shown = example.response.replace(SHOWN_ADDRESS, &server.url);
        if example.language == "json" {
            let shown = serde_json::from_str(&shown).unwrap();
            let actual = serde_json::from_str(&actual).unwrap();
            compare(&shown, &actual, "", &mut ids);
        } else {
            let is_shown = matches_text(&shown, &actual);
            assert!(is_shown, "{command}\n{actual}\nis not\n{shown}");
        }
    }
}

#[test]
fn a_response_that_differs_from_the_shown_one_is_noticed() {
    for (shown, actual) in [
        (r#"{"a": 1}"#, r#"{"b": 1}"#),
        (r#"{"a": "x … z"}"#, r#"{"a": "x y"}"#),
        (r#"{"a": [{"b": true}]}"#, r#"{"a": []}"#),
        (r#"{"a": []}"#, r#"{"a": [1]}"#),
        (r#"{"a": 1}"#, r#"{"a": "1"}"#),
        (r#"{"a": null}"#, r#"{"a": 0}"#),
    ] {
        let read = |text| serde_json::from_str::<Value>(text).unwrap();
        let compared = std::panic::catch_unwind(|| {
            compare(&read(shown), &read(actual), "", &mut HashMap::new());
        });
        assert!(compared.is_err(), "{shown} {actual}");
    }
}
