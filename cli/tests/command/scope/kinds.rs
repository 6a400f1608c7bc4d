//! Docs, posts and pages are found together, are labelled, and can be searched separately.

use serde_json::{Value, json};

use super::repeats::write;
use super::{MAX_TOP_K, search};
use crate::support::Workshop;

const SETTINGS: &str = "[blog.default]\npath = 'blog'\n[pages.default]\npath = 'src/pages'\n";
const TEXT: &str = "The quokka valve of the sprinkler hisses when it is opened.\n";

/// Returns the origin of each result whose text is [`TEXT`].
fn origins(results: &[Value]) -> Vec<[Value; 3]> {
    let is_valve = |result: &&Value| result["preview"].as_str().unwrap().contains("quokka");
    let results = results.iter().filter(is_valve);
    results
        .map(|result| ["kind", "instance", "date"].map(|field| result[field].clone()))
        .collect()
}

#[test]
fn each_result_and_citation_names_its_origin() {
    let workshop = Workshop::indexed();
    let site = workshop.site();
    write(&site, "bookrag.toml", SETTINGS);
    let text = format!("## Valves\n\n{TEXT}");
    for page in [
        "docs/valve.md",
        "blog/2023-04-05-valve.md",
        "src/pages/valve.md",
    ] {
        write(&site, page, &text);
    }
    let news = "Since this spring gardeners in the north may replace it without tools.\n";
    write(&site, "blog/2024-05-03-valve.md", &(text + news));
    let server = workshop.serve(&[]);
    let found = |query: &str, filters: &Value| {
        let request = json!({ "query": query, "filters": filters, "top_k": MAX_TOP_K });
        origins(&search(&server, &request))
    };
    let docs = [json!("docs"), json!("default"), Value::Null];
    let new = [json!("blog"), json!("default"), json!("2024-05-03")];
    let page = [json!("page"), json!("default"), Value::Null];

    let all = found("quokka valve", &json!({}));
    assert_eq!(all.len(), 4, "{all:?}");
    // Posts rank behind documentation that says the same.
    assert!([&docs, &page].contains(&&all[0]), "{all:?}");
    assert!([&docs, &page].contains(&&all[1]), "{all:?}");
    assert!(all[2..].contains(&new), "{all:?}");
    let of = |kind: Value| found("quokka valve", &json!({ "kind": kind }));
    assert_eq!(of(json!("docs")), std::slice::from_ref(&docs));
    assert_eq!(of(json!(["docs", "page"])).len(), 2);
    assert_eq!(of(json!("blog")).len(), 2);

    let (status, found) = server.get("/api/v1/search?q=quokka+valve&kind=page");
    assert_eq!(status, 200, "{found}");
    let found: Value = serde_json::from_str(&found).unwrap();
    let results = found["data"]["results"].as_array().unwrap();
    assert_eq!(origins(results), [page]);
    let (status, refused) = server.get("/api/v1/search?q=quokka&kind=poem");
    assert_eq!(status, 400, "{refused}");

    let request =
        json!({ "query": "Which valve hisses when it is opened?", "filters": { "kind": "blog" } });
    let (status, answer) = server.post("/api/v1/chat", &request);
    assert_eq!(status, 200, "{answer}");
    let citation = &answer["data"]["citations"][0];
    assert_eq!(citation["kind"], "blog", "{answer}");
    assert!(citation["date"].is_string(), "{answer}");
}
