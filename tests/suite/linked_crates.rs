//! The crates that a function's binary links: each one adds to the cold start and the supply chain.

use bookrag_tests::functions::cargo;

/// Returns the names of the crates that a function links.
fn linked(function: &str) -> Vec<String> {
    let output = cargo()
        .args(["tree", "--locked", "-e", "normal", "--prefix", "none", "-p"])
        .arg(function)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo tree: {errors}");
    let tree = String::from_utf8(output.stdout).unwrap();
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    let names: Vec<String> = names.map(str::to_owned).collect();
    assert!(names.iter().any(|name| name == "bookrag"), "{names:?}");
    names
}

fn assert_without(function: &str, absent: &[&str]) {
    let linked = linked(function);
    let found: Vec<_> = absent
        .iter()
        .filter(|absent| linked.iter().any(|name| name == *absent))
        .collect();
    assert!(found.is_empty(), "{function} links {found:?}");
}

const MODEL_RUNTIME_AND_SQLITE: [&str; 4] = ["rten", "rusqlite", "qdrant-edge", "bookrag-cli"];

#[test]
fn nothing_links_what_is_for_tests() {
    for program in ["query", "search", "health", "ingest", "bookrag-cli"] {
        assert_without(program, &["fakes"]);
    }
}

#[test]
fn query_links_neither_model_runtime_nor_sqlite() {
    assert_without("query", &MODEL_RUNTIME_AND_SQLITE);
    assert_without("query", &["aws-sdk-s3"]);
}

#[test]
fn search_and_ingest_link_neither_model_runtime_nor_sqlite() {
    assert_without("search", &MODEL_RUNTIME_AND_SQLITE);
    assert_without("ingest", &MODEL_RUNTIME_AND_SQLITE);
    assert_without("search", &["aws-sdk-s3"]);
}

#[test]
fn health_links_no_s3() {
    assert_without("health", &MODEL_RUNTIME_AND_SQLITE);
    assert_without("health", &["aws-sdk-s3"]);
}

#[test]
fn the_command_links_no_vector_store() {
    assert_without("bookrag-cli", &["qdrant-edge"]);
}

/// Its first random number takes 30 ms, and it needs a C compiler for the target.
#[test]
fn no_function_links_aws_lc() {
    for function in ["query", "search", "health", "ingest"] {
        assert_without(function, &["aws-lc-rs", "aws-lc-sys"]);
    }
}
