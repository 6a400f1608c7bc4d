//! A site whose docs are beside its folder, as in many repositories: `docs/` beside `book/`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Server, Workshop};

const CONFIG: &str = "module.exports = {title: 'Garden', baseUrl: '/', presets: [['classic', {docs: {path: '../docs', routeBasePath: '/'}}]]};";

fn workshop() -> Workshop {
    let workshop = Workshop::small();
    fs::rename(workshop.site().join("docs"), workshop.path().join("docs")).unwrap();
    workshop.write("docusaurus.config.js", CONFIG);
    workshop
}

fn write(workshop: &Workshop, path: &str, text: &str) {
    let path = workshop.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns the source and URL of the first chunk.
fn first_chunk(output: &Output) -> (String, String) {
    let line = output.stdout.split(|byte| *byte == b'\n').next().unwrap();
    let chunk: Value =
        serde_json::from_slice(line).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    let field = |name: &str| chunk[name].as_str().unwrap().to_owned();
    (field("source"), field("url"))
}

fn wait_until_found(server: &Server, query: &str, words: &str) {
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let (_, found) = server.post("/api/v1/search", &json!({ "query": query }));
        let first = &found["data"]["results"][0];
        if first["source"] == "../docs/wheels.md" && first["preview"].to_string().contains(words) {
            return;
        }
        assert!(Instant::now() < deadline, "{words} is not found: {found}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn pages_beside_the_site_and_what_they_import_are_followed() {
    let workshop = workshop();
    write(&workshop, "shared/_wrench.mdx", "Use the green wrench.\n");
    let page = |text: &str| write(&workshop, "docs/wheels.md", text);
    page(
        "import Wrench from '../shared/_wrench.mdx'\n\n# Wheels\n\nTighten the wheels.\n\n<Wrench/>\n",
    );
    let server = workshop.serve(&["--watch"]);
    wait_until_found(&server, "which wrench for the wheels?", "green wrench");
    write(&workshop, "shared/_wrench.mdx", "Use the violet wrench.\n");
    wait_until_found(&server, "which wrench for the wheels?", "violet wrench");
    page("# Wheels\n\nTighten the wheels with the golden wrench.\n");
    wait_until_found(&server, "which wrench for the wheels?", "golden wrench");
    // The config may name another folder while it is served.
    fs::rename(workshop.path().join("docs"), workshop.path().join("guide")).unwrap();
    workshop.write(
        "docusaurus.config.js",
        &CONFIG.replace("../docs", "../guide"),
    );
    let deadline = Instant::now() + Duration::from_mins(1);
    while workshop.found("wheels").0.first() != Some(&json!("../guide/wheels.md")) {
        assert!(Instant::now() < deadline, "{:?}", workshop.found("wheels"));
        std::thread::sleep(Duration::from_millis(100));
    }
    write(
        &workshop,
        "guide/frost.md",
        "# Frost\n\nThe frost shield unrolls at minus 7 degrees.\n",
    );
    while workshop.found("frost shield").0.first() != Some(&json!("../guide/frost.md")) {
        assert!(
            Instant::now() < deadline,
            "{:?}",
            workshop.found("frost shield")
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_root_of_a_repository_stands_for_its_only_site() {
    let workshop = workshop();
    let expected = ("../docs/probe.md".to_owned(), "/probe".to_owned());
    let of_site = workshop.run(&["chunks", "book", "--jsonl"]);
    assert_eq!(first_chunk(&of_site), expected);
    assert!(!told(&of_site).contains("the site of"), "{of_site:?}");
    let of_root = workshop.run(&["chunks", ".", "--jsonl"]);
    assert_eq!(first_chunk(&of_root), expected);
    let site = workshop.site().canonicalize().unwrap();
    assert!(
        told(&of_root).contains(&format!("the site of . is in {}", site.display())),
        "{of_root:?}"
    );
    write(&workshop, "other/docusaurus.config.js", CONFIG);
    for command in ["chunks", "sync", "serve"] {
        let several = workshop.run(&[command, "."]);
        assert_eq!(several.status.code(), Some(2), "{several:?}");
        let (first, second) = (site.display().to_string(), site.with_file_name("other"));
        let named = format!("{first}, {}", second.display());
        assert!(told(&several).contains(&named), "{several:?}");
    }
}

#[test]
fn the_files_of_a_book_are_listed_in_the_order_of_a_copy() {
    let workshop = workshop();
    let page = "import W from '../shared/_wrench.mdx'\nimport G from './_gone.mdx'\n\n# Wheels\n\n<W/> <G/>\n";
    write(&workshop, "docs/wheels.md", page);
    write(&workshop, "shared/_wrench.mdx", "The green wrench.\n");
    write(&workshop, "shared/_other.mdx", "No page uses it.\n");
    let expected = [
        "docusaurus.config.js",
        "../shared/_wrench.mdx",
        "../docs/probe.md",
        "../docs/wheels.md",
    ];
    for (arguments, end) in [(&[][..], "\n"), (&["--null"][..], "\0")] {
        let listed = workshop.run(&[&["files", "book"][..], arguments].concat());
        assert_eq!(listed.status.code(), Some(0), "{listed:?}");
        let text = String::from_utf8(listed.stdout.clone()).unwrap();
        let paths: Vec<&str> = text.split_terminator(end).collect();
        assert_eq!(paths, expected);
        let gone = "../docs/_gone.mdx: ../docs/wheels.md imports it, and it does not exist";
        assert!(told(&listed).contains(gone), "{listed:?}");
    }
    let listed = workshop.run(&["files", "book", "--json"]);
    let text = String::from_utf8(listed.stdout).unwrap();
    let second: Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second["kind"], "input");
    assert_eq!(second["key"], "shared/_wrench.mdx");
    let file = fs::read_to_string(second["file"].as_str().unwrap()).unwrap();
    assert_eq!(file, "The green wrench.\n");
    let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!(first["key"], "book/docusaurus.config.js");

    fs::remove_dir_all(workshop.path().join("docs")).unwrap();
    let nothing = workshop.run(&["files", "book"]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
}

#[test]
fn a_folder_of_docs_is_told_the_site_that_it_belongs_to() {
    let workshop = workshop();
    let synced = workshop.run(&["sync", "docs"]);
    assert_eq!(synced.status.code(), Some(0), "{synced:?}");
    let site = workshop.site().canonicalize().unwrap();
    let named = format!("pages of the site in {}", site.display());
    assert!(told(&synced).contains(&named), "{synced:?}");
    write(&workshop, "notes/a.md", "# A\n\nA note.\n");
    let other = workshop.run(&["sync", "notes"]);
    assert!(
        told(&other).contains("no docusaurus.config")
            && !told(&other).contains("pages of the site"),
        "{other:?}"
    );
}

#[test]
fn a_folder_of_docs_that_does_not_exist_is_named() {
    let workshop = workshop();
    workshop.write("bookrag.toml", "docs_path = '../guide'");
    write(
        &workshop,
        "book/blog/2024-05-03-a.md",
        "# A post\n\nIts text.\n",
    );
    for command in ["chunks", "sync", "doctor"] {
        let missing = workshop.run(&[command, "book"]);
        assert_ne!(missing.status.code(), Some(0), "{command}: {missing:?}");
        let named = "the docs folder `../guide` has no file";
        // The doctor's report is its output.
        let said = told(&missing) + &String::from_utf8_lossy(&missing.stdout);
        assert!(said.contains(named), "{command}: {missing:?}");
    }
}

#[test]
fn an_export_does_not_write_among_pages_beside_the_site() {
    let workshop = workshop();
    let refused = workshop.run(&["export", "book", "--out", "docs"]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(
        told(&refused).contains("the site's own pages"),
        "{refused:?}"
    );
    write(&workshop, "build/index.html", "<p>");
    let exported = workshop.run(&["export", "book", "--out", "build"]);
    assert_eq!(exported.status.code(), Some(0), "{exported:?}");
    assert!(
        workshop.path().join("build/wheels.md").is_file(),
        "{exported:?}"
    );
}

#[test]
fn a_change_of_a_page_beside_the_site_is_compared() {
    let workshop = workshop();
    let git = |arguments: &[&str]| {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]);
        let output = command
            .args(arguments)
            .current_dir(workshop.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    git(&["init", "--quiet", "-b", "main"]);
    git(&["add", "book", "docs"]);
    git(&["commit", "--quiet", "-m", "first"]);
    write(&workshop, "questions.txt", "How do I tighten the wheels?\n");
    fs::remove_file(workshop.path().join("docs/wheels.md")).unwrap();
    let arguments = [
        "diff",
        "--site",
        "book",
        "--questions",
        "questions.txt",
        "--json",
    ];
    let mut command = workshop.command(&arguments);
    let lost = command
        .env("BOOKRAG_DATA", workshop.data())
        .output()
        .unwrap();
    assert_eq!(lost.status.code(), Some(1), "{lost:?}");
    let lost: Value = serde_json::from_slice(&lost.stdout).unwrap();
    assert_eq!(lost["changes"][0]["change"], "no_longer_answered", "{lost}");
    assert_eq!(lost["vanished"][0]["url"], "/wheels", "{lost}");
    assert!(!Path::new(&workshop.stores()).exists());
}
