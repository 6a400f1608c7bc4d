//! What `serve` and `sync` tell the person who waits for them.

use std::io::{BufRead, BufReader, Lines};
use std::net::TcpListener;
use std::process::{ChildStdout, Command, Stdio};

use crate::client::client;
use crate::support::Workshop;

#[test]
fn the_address_is_told_before_the_book_is_indexed() {
    let workshop = Workshop::small();
    let mut child = workshop
        .command(&["serve", "book", "--listen", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .skip_while(|line| !line.contains("http://127.0.0.1:"));
    let told = [lines.next().unwrap(), lines.next().unwrap()];
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(told[0].starts_with("Garden is at http://"), "{told:?}");
    assert!(told[1].starts_with("indexing Garden"), "{told:?}");
}

#[test]
fn a_change_of_a_watched_folder_is_told_in_one_line_with_the_page() {
    let workshop = Workshop::small();
    let mut child = workshop
        .command(&["serve", "book", "--port", "0", "--watch"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let next = |lines: &mut Lines<BufReader<ChildStdout>>| lines.next().unwrap().unwrap();
    while !next(&mut lines).starts_with("ask at ") {}
    workshop.write("docs/wheels.md", "# Wheels\n\nUse the red wrench.\n");
    let changed = next(&mut lines);
    workshop.write("docs/wheels.md", "---\ntitle: [\n---\n\nUse it.\n");
    let broken = next(&mut lines);
    std::fs::remove_file(workshop.site().join("docs/probe.md")).unwrap();
    let deleted = next(&mut lines);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(changed.starts_with("updated docs/wheels.md ("), "{changed}");
    assert!(broken.starts_with("  skipped docs/wheels.md: "), "{broken}");
    assert!(deleted.starts_with("updated docs/probe.md ("), "{deleted}");
}

#[test]
fn a_config_that_computes_too_much_leaves_the_index_answering() {
    let workshop = Workshop::small();
    let mut child = workshop
        .command(&["serve", "book", "--port", "0", "--watch"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut problems = BufReader::new(child.stderr.take().unwrap())
        .lines()
        .map_while(Result::ok)
        .filter(|line| line.contains("docusaurus.config.js"));
    let address = lines.find_map(|line| {
        let line = line.unwrap();
        line.strip_prefix("ask at ").map(str::to_owned)
    });
    let address = address.unwrap();
    let address = address.split_whitespace().next().unwrap();
    let nested = format!("{}1{}", "d(".repeat(9), ")".repeat(9));
    let config = format!(
        "const d = x => [x, x, x, x, x, x, x, x, x, x];\nmodule.exports = {{title: 'Garden', baseUrl: '/', customFields: {{a: {nested}}}}};"
    );
    workshop.write("docusaurus.config.js", &config);
    let problem = problems.next().unwrap();
    let address = address.trim_end_matches('/');
    let found = client()
        .get(format!("{address}/api/v1/search?q=probe"))
        .send()
        .unwrap()
        .text()
        .unwrap();
    workshop.write("docs/wheels.md", "# Wheels\n\nUse the red wrench.\n");
    workshop.write(
        "docusaurus.config.js",
        "module.exports = {title: 'Garden', baseUrl: '/'};",
    );
    let changed = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        problem.contains("docusaurus.config.js, line 1: the config computes too much"),
        "{problem}"
    );
    assert!(found.contains("docs/probe.md"), "{found}");
    assert!(changed.starts_with("updated docs/wheels.md ("), "{changed}");
}

#[test]
fn a_question_whose_filters_leave_nothing_is_refused() {
    let workshop = Workshop::small();
    for name in ["docs/probe.md", "docs/wheels.md"] {
        let text = "---\nhardware_tier: 4\n---\n\n# Wheels\n\nUse the blue wrench.\n";
        workshop.write(name, text);
    }
    workshop.sync();
    let refused = workshop.json(&["ask", "which wrench?", "--hardware-tier", "1"]);
    assert_eq!(refused["data"]["citations"], serde_json::json!([]));
    let told = refused["data"]["answer"].as_str().unwrap();
    assert_eq!(told, "This documentation does not cover that.");
}

#[test]
fn a_search_as_json_tells_what_decides_whether_the_question_is_answered() {
    let workshop = Workshop::small();
    workshop.sync();
    let signals = |question: &str| {
        let found = workshop.json(&["search", question]);
        let signals = found["meta"]["signals"].clone();
        assert!(signals["cosine"].is_number(), "{found}");
        signals
    };
    let covered = signals("blue wrench");
    let other = signals("Where is Kafka-9.4 installed?");
    let coverage = |signals: &serde_json::Value| signals["coverage"].as_f64().unwrap();
    assert!(coverage(&covered) > coverage(&other), "{covered} {other}");
}

#[cfg(unix)]
#[test]
fn who_stops_a_run_hears_that_the_next_one_continues() {
    let embedder = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", embedder.local_addr().unwrap());
    for (arguments, exit) in [
        (&["serve", "book", "--port", "0"][..], 0),
        (&["sync", "book"], 1),
    ] {
        let workshop = Workshop::small();
        let mut command = workshop.command(arguments);
        command.envs([("BOOKRAG_EMBEDDER", "openai"), ("OPENAI_BASE_URL", &url)]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // The embedder never answers, so the run lasts until it is stopped.
        let (_connection, _) = embedder.accept().unwrap();
        let process = child.id().to_string();
        let told = Command::new("kill").args(["-INT", &process]).status();
        assert!(told.unwrap().success());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(said.contains("the next run continues there"), "{said}");
        assert_eq!(ended.status.code(), Some(exit), "{arguments:?}");
    }
}
