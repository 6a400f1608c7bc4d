//! A list contains each section once, in one version.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{ERROR_CODES, LETTER, MAX_TOP_K, search};
use crate::support::Workshop;

/// A section long enough to be split into several chunks.
const DIARY: &str = "docs/diary.md";
const DIARY_DAYS: usize = 40;
/// Queries that match many sections, sections shared by two pages, and several chunks of one section.
const QUERIES: [&str; 6] = [
    "watering diary of the tomatoes",
    "common mistakes",
    "accepted result of the procedure",
    "what must I do before I touch the robot?",
    "from distances to a position",
    "SPR-208",
];

pub(super) fn write(site: &Path, page: &str, text: &str) {
    let path = site.join(page);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn diary() -> String {
    let days = (1..=DIARY_DAYS).map(|day| {
        format!(
            "On day {day} the robot watered the tomatoes beside the shed, and row {day} of the beans took {day} \
             millilitres more than it had taken on the day before.\n\n"
        )
    });
    format!("## Watering Diary\n\n{}", days.collect::<String>())
}

#[track_caller]
fn assert_urls_differ(results: &[Value]) {
    let mut seen = HashSet::new();
    for result in results {
        let url = result["url"].as_str().unwrap();
        assert!(seen.insert(url), "{url} is there twice");
    }
}

#[test]
fn no_section_is_found_twice_and_no_version_beside_another() {
    let workshop = Workshop::indexed();
    let site = workshop.site();
    write(&site, DIARY, &diary());
    write(&site, "versions.json", r#"["1.0"]"#);
    for page in [ERROR_CODES, LETTER] {
        let text = fs::read_to_string(site.join(page)).unwrap();
        let older = page.replacen("docs/", "versioned_docs/version-1.0/", 1);
        write(&site, &older, &text);
    }
    let server = workshop.serve(&[]);
    for (place, folder) in [
        (json!({}), "versioned_docs/version-1.0/"),
        (
            json!({"page_url": "/garden-robotics/docs/appendix"}),
            "versioned_docs/version-1.0/",
        ),
        (
            json!({"page_url": "/garden-robotics/docs/next/appendix"}),
            "docs/",
        ),
        (json!({"filters": {"version": "current"}}), "docs/"),
    ] {
        let found = |query: &str| {
            let mut request = place.clone();
            request["query"] = json!(query);
            request["top_k"] = json!(MAX_TOP_K);
            search(&server, &request)
        };
        for query in QUERIES {
            let results = found(query);
            assert!(!results.is_empty(), "{query} {place}");
            assert_urls_differ(&results);
            for result in &results {
                let source = result["source"].as_str().unwrap();
                assert!(source.starts_with(folder), "{query} {place}: {result}");
            }
        }
        // Both versions have this page, and both would rank first.
        let codes = ERROR_CODES.replacen("docs/", folder, 1);
        assert_eq!(found("SPR-208")[0]["source"], codes, "{place}");
    }
    let request = json!({"query": QUERIES[0], "filters": {"version": "current"}});
    let results = search(&server, &request);
    let first = &results[0];
    assert_eq!(first["source"], DIARY);
    assert!(first["chunk_count"].as_u64().unwrap() > 1, "{first}");
}

#[test]
fn two_files_that_claim_one_url_are_found_once() {
    let workshop = Workshop::new();
    let site = workshop.site();
    for module in ["module-1-foundations", "module-2-autonomy"] {
        fs::remove_dir_all(site.join("docs").join(module)).unwrap();
    }
    write(
        &site,
        "docs/twin.md",
        "---\ntitle: A Second Letter\nslug: /letter-to-the-reader\n---\n\nThe first Sprig was built in a bread tin.\n",
    );
    let server = workshop.serve(&[]);
    let query = "where was the first Sprig built?";
    let results = search(&server, &json!({"query": query, "top_k": MAX_TOP_K}));
    let url = results[0]["url"].as_str().unwrap();
    assert!(url.contains("/docs/letter-to-the-reader"), "{results:?}");
    assert_urls_differ(&results);
}
