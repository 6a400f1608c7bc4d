//! Checks that `bookrag` accepts every command shown in the documents.

use std::fs;
use std::path::{Path, PathBuf};

use bookrag_cli::Arguments;
use clap::CommandFactory;
use clap::error::ErrorKind;

const DOCUMENTS: [&str; 6] = [
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs",
    "infra",
    "widget/README.md",
];
/// Words that end a command in a shell.
const ENDS: [&str; 6] = ["#", ">", "|", "&&", "||", "&"];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn markdown_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).unwrap().map(|entry| entry.unwrap());
    let files = entries.map(|entry| entry.path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect()
}

/// Splits a line into the words of a `bookrag` command like a shell; `None` if it is another command, or a pattern such as
/// `bookrag mcp [SITE]` or `bookrag ask …`.
fn arguments(line: &str) -> Option<Vec<String>> {
    let line = line.trim().trim_start_matches("$ ");
    let mut words = vec![String::new()];
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '"' || c == '\'' => quote = Some(c),
            None if c == ' ' => words.push(String::new()),
            _ => words.last_mut()?.push(c),
        }
    }
    let is_variable = |word: &String| {
        let name = word.split_once('=').map(|(name, _)| name);
        name.is_some_and(|name| name.chars().all(|c| c.is_ascii_uppercase() || c == '_'))
    };
    let mut words: Vec<String> = words.into_iter().skip_while(is_variable).collect();
    if words.starts_with(&["cargo", "run", "--"].map(str::to_owned)) {
        words.splice(..3, ["bookrag".to_owned()]);
    }
    let is_pattern = line.contains(['[', '…']);
    if words.first()? != "bookrag" || words.len() < 2 || is_pattern {
        return None;
    }
    let command = words.into_iter().filter(|word| !word.is_empty());
    Some(
        command
            .take_while(|word| !ENDS.contains(&word.as_str()))
            .collect(),
    )
}

/// Returns the lines of code blocks, and inline code.
fn code(page: &str) -> Vec<&str> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            found.push(line);
        } else {
            found.extend(line.split('`').skip(1).step_by(2));
        }
    }
    found
}

/// True if the error has a harmless cause: the name of a command alone (`bookrag sync`), or a placeholder (`--policy NAME`).
fn is_no_mistake(arguments: &[String], error: ErrorKind) -> bool {
    let is_placeholder = |word: &String| word.chars().all(|c| c.is_ascii_uppercase());
    match error {
        ErrorKind::MissingRequiredArgument => arguments.len() == 2,
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            arguments.iter().any(is_placeholder)
        }
        _ => false,
    }
}

#[test]
fn every_command_in_the_documents_is_one_that_bookrag_takes() {
    let mut checked = 0;
    let mut refused = Vec::new();
    for file in DOCUMENTS
        .iter()
        .flat_map(|path| markdown_files(&repository().join(path)))
    {
        let page = fs::read_to_string(&file).unwrap();
        for line in code(&page) {
            let Some(arguments) = arguments(line) else {
                continue;
            };
            checked += 1;
            let parsed = Arguments::command().try_get_matches_from(&arguments);
            if let Err(error) = parsed
                && !is_no_mistake(&arguments, error.kind())
            {
                refused.push(format!("{}: {line}: {error}", file.display()));
            }
        }
    }
    assert!(checked > 60, "only {checked} commands were found");
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn a_command_is_found_among_variables_and_comments() {
    for (line, words) in [
        ("bookrag ask \"how do I?\" --site . # why", Some(5)),
        ("BOOKRAG_GENERATOR=openai bookrag serve SITE", Some(3)),
        ("cargo run -- doctor ../my-site", Some(3)),
        (
            "bookrag eval q.jsonl --site . --json > baseline.json",
            Some(6),
        ),
        ("bookrag mcp [SITE]", None),
        ("claude mcp add book -- bookrag mcp SITE", None),
        ("bookrag", None),
    ] {
        assert_eq!(arguments(line).map(|words| words.len()), words, "{line}");
    }
    let parsed = Arguments::command().try_get_matches_from(["bookrag", "syncc", "SITE"]);
    assert!(parsed.is_err());
}
