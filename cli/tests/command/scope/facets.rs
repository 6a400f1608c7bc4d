//! Facets that a site declares for its pages.

use serde_json::{Value, json};

use super::search;
use crate::support::Workshop;

const TOML: &str = "[facets]\nplan = \"text\"\nrelease = \"at most\"\n";
const FREE: &str = "docs/free.md";
const TEAM: &str = "docs/team.md";
const PLAIN: &str = "docs/plain.md";

/// A site of three pages about quotas, of which one has no facets.
fn site() -> Workshop {
    let workshop = Workshop::small();
    workshop.write("bookrag.toml", TOML);
    for (path, front_matter) in [
        (FREE, "plan: free\nrelease: 1"),
        (TEAM, "plan: [team, pro]\nrelease: 3"),
        (PLAIN, "description: No plan"),
    ] {
        let text = format!(
            "---\n{front_matter}\n---\n\n# Quotas\n\nA quota limits the requests of a day.\n"
        );
        workshop.write(path, &text);
    }
    workshop
}

fn sources(results: &[Value]) -> Vec<&str> {
    let mut sources: Vec<&str> = results
        .iter()
        .filter_map(|result| result["source"].as_str())
        .filter(|source| [FREE, TEAM, PLAIN].contains(source))
        .collect();
    sources.sort_unstable();
    sources
}

#[test]
fn searches_and_answers_are_limited_to_pages_with_the_declared_values() {
    let workshop = site();
    let server = workshop.serve(&[]);
    for (facets, expected) in [
        (json!({"plan": "pro"}), &[TEAM][..]),
        (json!({"plan": "free"}), &[FREE]),
        (json!({"release": 2}), &[FREE, PLAIN]),
        (json!({"plan": "team", "release": "3"}), &[TEAM]),
        (json!({}), &[FREE, PLAIN, TEAM]),
    ] {
        let request = json!({"query": "quota of requests", "filters": {"facets": facets}});
        assert_eq!(sources(&search(&server, &request)), expected, "{facets}");
    }
    let (_, by_url) = server.get("/api/v1/search?q=quota&facets=plan:pro,release:3");
    let by_url: Value = serde_json::from_str(&by_url).unwrap();
    assert_eq!(
        sources(by_url["data"]["results"].as_array().unwrap()),
        [TEAM]
    );
    let (status, by_url) =
        server.get("/api/v1/ask?q=What+limits+the+requests+of+a+day%3F&facets=plan:pro");
    assert!(status == 200 && by_url.contains("/team"), "{by_url}");
    assert!(!by_url.contains("/free"), "{by_url}");
    let (status, by_url) = server.get("/api/v1/ask?q=quota&facets=plan");
    assert!(
        status == 400 && by_url.contains("plan:pro,language:go"),
        "{by_url}"
    );
    let question = json!({"query": "What limits the requests of a day?", "filters": {"facets": {"plan": "pro"}}});
    let (status, answer) = server.post("/api/v1/chat", &question);
    assert_eq!(status, 200, "{answer}");
    assert_eq!(answer["data"]["citations"][0]["source"], TEAM, "{answer}");

    for (facets, told) in [
        (
            json!({"plan": "gold"}),
            "got `gold`; the book has `free`, `pro`, `team`",
        ),
        (
            json!({"colour": "red"}),
            "got `colour`; the book has `plan`, `release`",
        ),
    ] {
        let request = json!({"query": "quota", "filters": {"facets": facets}});
        let (status, answer) = server.post("/api/v1/search", &request);
        assert_eq!(status, 400, "{answer}");
        assert_eq!(answer["error"]["field"], "filters.facets");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.ends_with(told), "{message}");
    }
}

#[test]
fn the_command_takes_facets_and_names_a_wrong_declaration() {
    let workshop = site();
    workshop.sync();
    let found = workshop.json(&[
        "search",
        "quota",
        "--facet",
        "plan=pro",
        "--facet",
        "release=3",
    ]);
    assert_eq!(
        sources(found["data"]["results"].as_array().unwrap()),
        [TEAM]
    );
    workshop.write("bookrag.toml", "[facets]\n'a plan' = 'text'\n");
    let output = workshop.run(&["sync", "book"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && told.contains("got `a plan`"),
        "{told}"
    );
}
