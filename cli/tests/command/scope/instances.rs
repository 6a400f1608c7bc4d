//! The version filter of one docs instance does not hide pages of another.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::repeats::write;
use super::{MAX_TOP_K, search};
use crate::support::Workshop;

const SETTINGS: &str = "[docs.api]\ndocs_path = 'api'\nroute_base_path = 'api'\n[docs.community]\ndocs_path = 'community'\n\
    route_base_path = 'community'\n";
const PAGE: &str = "\n\nThe quokka valve of the sprinkler hisses when it is opened.\n";

/// Returns the folders of the found pages about valves.
fn folders(results: &[Value]) -> BTreeSet<&str> {
    let sources = results
        .iter()
        .map(|result| result["source"].as_str().unwrap());
    sources
        .filter_map(|source| source.strip_suffix("/valve.md"))
        .collect()
}

#[test]
fn a_reader_of_one_instances_version_finds_the_others_in_their_default_versions() {
    let workshop = Workshop::indexed();
    let site = workshop.site();
    write(&site, "bookrag.toml", SETTINGS);
    write(&site, "versions.json", r#"["9.0"]"#);
    write(&site, "api_versions.json", r#"["2.0", "1.0"]"#);
    let [next, newest, api_next, api, old_api, community] = [
        "docs",
        "versioned_docs/version-9.0",
        "api",
        "api_versioned_docs/version-2.0",
        "api_versioned_docs/version-1.0",
        "community",
    ];
    for folder in [next, newest, api_next, api, old_api, community] {
        let page = format!("{folder}/valve.md");
        write(&site, &page, &format!("# Valves in {folder}{PAGE}"));
    }
    let server = workshop.serve(&[]);
    let page = |path: &str| json!({ "page_url": format!("/garden-robotics/{path}") });
    let version = |name: &str| json!({ "filters": { "version": name } });
    for (place, expected) in [
        (json!({}), [newest, api, community]),
        (page("docs/valve"), [newest, api, community]),
        (page("docs/next/valve"), [next, api, community]),
        (page("api/valve"), [newest, api, community]),
        (page("api/1.0/valve"), [newest, old_api, community]),
        (page("api/next/valve"), [newest, api_next, community]),
        (page("community/valve"), [newest, api, community]),
        (version("api@1.0"), [newest, old_api, community]),
        (version("current"), [next, api, community]),
    ] {
        let mut request = place.clone();
        request["query"] = json!("quokka valve");
        request["top_k"] = json!(MAX_TOP_K);
        let results = search(&server, &request);
        assert_eq!(folders(&results), expected.into(), "{place}");
    }
    let request = json!({ "query": "quokka valve", "filters": { "version": "api@3.0" } });
    let (status, refused) = server.post("/api/v1/search", &request);
    assert_eq!(status, 400, "{refused}");
    let message = refused["error"]["message"].as_str().unwrap();
    assert!(message.contains("`api@1.0`, `api@2.0`"), "{message}");
}
