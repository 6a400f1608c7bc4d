//! `serve --watch` while the author changes much at once.

use std::fs;

use serde_json::Value;

use crate::support::{Server, Workshop};

const PAGES: usize = 20;

/// A site with a folder of pages, each with its own word.
fn site() -> Workshop {
    let workshop = Workshop::small();
    fs::create_dir(workshop.site().join("docs/guide")).unwrap();
    for page in 0..PAGES {
        let text = format!("# Page {page}\n\nThe valve{page} needs oil.\n");
        workshop.write(&format!("docs/guide/{page}.md"), &text);
    }
    workshop
}

/// Waits until a search for a word finds a page first.
fn wait_until_found(server: &Server, word: &str, source: &str) {
    server.wait_for(&format!("/api/v1/search?q={word}"), |found| {
        found["data"]["results"][0]["source"] == source
    });
}

fn stale(server: &Server) -> Vec<Value> {
    let health: Value = serde_json::from_str(&server.get("/api/v1/health?deep=true").1).unwrap();
    health["data"]["index"]["stale"].as_array().unwrap().clone()
}

#[test]
fn a_renamed_folder_is_followed_even_if_it_is_most_of_the_book() {
    let workshop = site();
    let server = workshop.serve(&["--watch"]);
    let docs = workshop.site().join("docs");
    fs::rename(docs.join("guide"), docs.join("guides")).unwrap();
    wait_until_found(&server, "valve7", "docs/guides/7.md");
    assert_eq!(stale(&server), [""; 0]);
}

#[test]
fn a_folder_that_is_gone_stays_in_the_answers_until_its_deletion_is_allowed() {
    let workshop = site();
    let server = workshop.serve(&["--watch"]);
    fs::remove_dir_all(workshop.site().join("docs/guide")).unwrap();
    for word in ["gasket", "sprocket"] {
        let page = format!("docs/{word}.md");
        workshop.write(&page, &format!("# New\n\nThe {word} is new.\n"));
        wait_until_found(&server, word, &page);
        wait_until_found(&server, "valve7", "docs/guide/7.md");
    }
    assert_eq!(stale(&server).len(), PAGES);
    let report = workshop.json(&["sync", "book", "--allow-mass-deletion"]);
    assert_eq!(report["files_deleted"], PAGES, "{report}");
}
