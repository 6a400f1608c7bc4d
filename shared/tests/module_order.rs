//! A public module of a crate imports only public modules above it in its `lib.rs`; in `book`, this holds for all modules.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::fs;
use std::path::Path;

/// Modules of the functions and the command, which no stage may import.
const AT_THE_EDGE: [&str; 5] = ["config", "context", "books", "telemetry", "lambda"];

#[test]
fn modules_import_only_modules_above_them() {
    let service = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    for library in ["models", "store", "indexer", "answer"] {
        let source = service.join(library).join("src");
        wrong.extend(imports_of_modules_below(&source, &["pub mod "], &[]));
    }
    let book = service.join("book/src");
    wrong.extend(imports_of_modules_below(&book, &["pub mod ", "mod "], &[]));
    let source = service.join("src");
    wrong.extend(imports_of_modules_below(
        &source,
        &["pub mod "],
        &AT_THE_EDGE,
    ));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Checks the modules whose lines in `lib.rs` begin with one of `declarations`.
fn imports_of_modules_below(
    source: &Path,
    declarations: &[&str],
    at_the_edge: &[&str],
) -> Vec<String> {
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let order: Vec<&str> = lib
        .lines()
        .filter_map(|line| {
            let mut names = declarations.iter().filter_map(|it| line.strip_prefix(it));
            names.next()?.strip_suffix(';')
        })
        .collect();
    assert!(order.len() > 2, "{order:?}");
    let mut wrong = Vec::new();
    for (place, module) in order.iter().enumerate() {
        let below = &order[place + 1..];
        for (path, text) in files_of(source, module) {
            for other in below.iter().chain(at_the_edge) {
                let edge = at_the_edge.contains(module) || (other == module);
                let imports = text.contains(&format!("crate::{other}::"))
                    || text.contains(&format!("use super::{other}::"))
                    || text.contains(&format!("crate::{{{other}::"));
                if imports && !edge {
                    wrong.push(format!("{path} imports {other}"));
                }
            }
        }
    }
    wrong
}

fn files_of(source: &Path, module: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut queue = vec![source.join(module), source.join(format!("{module}.rs"))];
    while let Some(path) = queue.pop() {
        if path.is_dir() {
            queue.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        } else if path.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_name().unwrap().to_str().unwrap();
            // Wrappers of the simulation, which use each other, and tests, which may use all modules.
            if name == "faulty.rs" || name.ends_with("tests.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let tests = text.find("#[cfg(test)]\nmod tests {");
            let product = text[..tests.unwrap_or(text.len())].to_owned();
            files.push((path.display().to_string(), product));
        }
    }
    files
}
