//! The scope of answers: selected text, filters, one version of the book.

mod selection;
mod structure;
mod repeats;
mod facets;
mod instances;
mod kinds;

use serde_json::Value;

use crate::support::Server;

const PUMP: &str = "docs/module-1-foundations/chapter-2-actuation/02-lesson-pump-and-valve.mdx";
const BATTERY: &str = "docs/module-2-autonomy/03-chapter-3-power/01-lesson-battery-budget.md";
const DOCK: &str = "docs/module-2-autonomy/03-chapter-3-power/02-lesson-solar-dock.mdx";
const PLANNER: &str = "docs/module-2-autonomy/04-chapter-4-navigation/02-lesson-round-planner.mdx";
const ERROR_CODES: &str = "docs/appendix/index.md";
const LETTER: &str = "docs/letter-to-the-reader.md";

/// The most results of a search.
const MAX_TOP_K: usize = 20;

fn search(server: &Server, request: &Value) -> Vec<Value> {
    let (status, found) = server.post("/api/v1/search", request);
    assert_eq!(status, 200, "{found}");
    found["data"]["results"].as_array().unwrap().clone()
}
