//! A built site is a book, and stands in for sources that cannot be read.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::Workshop;

fn write(folder: &Path, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn page(title: &str, head: &str, text: &str) -> String {
    format!(
        "<!doctype html><html lang=en><head><title>{title}</title>{head}</head><body><nav>Menu</nav><main><h1>{title}</h1><p>{text}</p>\
         <h2 id=more>More</h2><p>Of {title}.</p></main><footer>End</footer></body></html>"
    )
}

/// Writes a built site with two pages, a redirect, and a page for missing addresses.
fn build(folder: &Path) {
    let canonical = "<link rel=canonical href=https://example.org/garden/>";
    let redirect = "<meta http-equiv=refresh content='0; url=wheels.html'>";
    write(
        folder,
        &[
            (
                "index.html",
                &page(
                    "Garden",
                    canonical,
                    "The soil moisture probe needs calibration.",
                ),
            ),
            (
                "docs/wheels.html",
                &page("Wheels", "", "Tighten the wheels with the blue wrench."),
            ),
            ("docs/old.html", &page("Old", redirect, "Moved.")),
            ("404.html", &page("Not found", "", "There is nothing here.")),
        ],
    );
}

fn lines(bytes: &[u8]) -> Vec<Value> {
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn a_built_site_is_served_from_its_html_and_nothing_is_written_into_it() {
    let workshop = Workshop::small();
    fs::remove_dir_all(workshop.site()).unwrap();
    build(&workshop.site());
    let chunks = workshop.run(&["chunks", "book", "--jsonl"]);
    let told = String::from_utf8(chunks.stderr).unwrap();
    assert!(
        told.contains("skipped docs/old.html: it is a redirect"),
        "{told}"
    );
    let urls: Vec<_> = lines(&chunks.stdout)
        .iter()
        .map(|chunk| chunk["url"].clone())
        .collect();
    assert_eq!(
        urls,
        [
            "/garden/docs/wheels.html",
            "/garden/docs/wheels.html#more",
            "/garden/",
            "/garden/#more"
        ]
    );

    let sync = workshop.run(&["sync", "book"]);
    let told = String::from_utf8(sync.stderr).unwrap();
    assert!(
        sync.status.success() && told.contains("is a built site"),
        "{told}"
    );
    assert!(!workshop.stores().exists());
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.html");
    let shown = workshop.run(&["search", "blue wrench"]);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("docs/wheels.html\n"), "{shown}");

    let doctor = workshop.run(&["doctor", "book", "--json"]);
    assert!(doctor.status.success());
    let diagnosis: Value = serde_json::from_slice(&doctor.stdout).unwrap();
    assert_eq!(
        (&diagnosis["pages"], &diagnosis["left_out"][0]["at"]),
        (&2.into(), &"docs/old.html".into())
    );
}

#[test]
fn a_build_stands_in_for_sources_whose_config_stops_their_reading() {
    let workshop = Workshop::small();
    let stopped = workshop.run(&["chunks", "book", "--jsonl"]);
    assert!(stopped.status.success());
    let config = "module.exports = {presets: [['classic', {docs: {exclude: patterns()}}]]};";
    workshop.write("docusaurus.config.js", config);
    let stopped = workshop.run(&["sync", "book"]);
    assert_eq!(stopped.status.code(), Some(1), "no build is known");

    build(&workshop.site().join("public"));
    workshop.write("bookrag.toml", "build = 'public'");
    for build in [&[][..], &["--build", "book/public"]] {
        let sync = workshop.run(&[&["sync", "book"], build].concat());
        let told = String::from_utf8(sync.stderr).unwrap();
        assert!(sync.status.success(), "{told}");
        assert!(
            told.contains("docusaurus.config.js, line 1") && told.contains("public"),
            "{told}"
        );
    }
    assert_eq!(workshop.found("blue wrench").0[0], "docs/wheels.html");
    for command in ["chunks", "doctor"] {
        let told = workshop.run(&[command, "book"]).stderr;
        let told = String::from_utf8(told).unwrap();
        assert!(
            told.contains("docusaurus.config.js, line 1"),
            "{command}: {told}"
        );
    }
    // A mistake in bookrag.toml is the user's own, and is told.
    workshop.write("bookrag.toml", "build = 'public'\nexclude = 1");
    let stopped = workshop.run(&["sync", "book", "--build", "book/public"]);
    let told = String::from_utf8(stopped.stderr).unwrap();
    assert!(
        !stopped.status.success() && told.contains("bookrag.toml, line 2"),
        "{told}"
    );
}

/// Runs git in the folder of a site.
pub(crate) fn git(workshop: &Workshop, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]);
    let output = command
        .args(arguments)
        .current_dir(workshop.site())
        .output();
    assert!(output.unwrap().status.success(), "{arguments:?}");
}

#[test]
fn a_build_is_exported_evaluated_and_compared() {
    let workshop = Workshop::small();
    fs::remove_dir_all(workshop.site()).unwrap();
    build(&workshop.site());
    git(&workshop, &["init", "--quiet", "-b", "main"]);
    git(&workshop, &["add", "."]);
    git(&workshop, &["commit", "--quiet", "-m", "a build"]);

    let exported = workshop.run(&["export", "book", "--out", "book"]);
    assert!(exported.status.success(), "{exported:?}");
    let text = fs::read_to_string(workshop.site().join("docs/wheels.html.md")).unwrap();
    assert!(
        text.contains("Tighten the wheels with the blue wrench.\n\n## More\n"),
        "{text}"
    );
    assert!(workshop.site().join("index.md").is_file());
    // What was written is not read as pages.
    assert_eq!(workshop.sync()["files_changed"], 2);

    let question = r#"{"id": "a", "query": "How do I tighten the wheels?", "answerable": true, "source": "docs/wheels.html",
        "url": "/garden/docs/wheels.html"}"#;
    let question = question.replace('\n', "");
    fs::write(workshop.path().join("questions.jsonl"), question).unwrap();
    let evaluated = workshop.run(&["eval", "questions.jsonl", "--site", "book", "--json"]);
    let measured = String::from_utf8(evaluated.stdout).unwrap();
    assert!(evaluated.status.success(), "{measured}");
    let measured: Value = serde_json::from_str(&measured).unwrap();
    assert_eq!(measured["mean"]["page@1"], 1.0, "{measured}");

    write(
        &workshop.site(),
        &[("docs/wheels.html", &page("Wheels", "", "They are round."))],
    );
    fs::write(
        workshop.path().join("questions.txt"),
        "What do I tighten with the blue wrench?\n",
    )
    .unwrap();
    let mut diff = workshop.command(&[
        "diff",
        "--site",
        "book",
        "--questions",
        "questions.txt",
        "--json",
    ]);
    let diff = diff.env("BOOKRAG_DATA", workshop.data()).output().unwrap();
    assert_eq!(diff.status.code(), Some(1), "{diff:?}");
    let diff: Value = serde_json::from_slice(&diff.stdout).unwrap();
    assert_eq!(diff["changes"][0]["change"], "no_longer_answered");
}

#[test]
fn a_page_is_found_cited_and_shown_whatever_its_file_is_called() {
    let workshop = Workshop::small();
    let site = workshop.path().join("odd");
    let front = page("Garden", "", "The soil moisture probe needs calibration.");
    let odd = [
        (
            "C#.html",
            "/C%23.html",
            "The C# client turns the frost shield.",
        ),
        (
            "why?.html",
            "/why%3F.html",
            "The question page explains the purple nozzle.",
        ),
        (
            "100%25.html",
            "/100%2525.html",
            "The percent page explains the golden hose.",
        ),
    ];
    let pages = odd.map(|(name, _, text)| (name, page(name, "", text)));
    write(&site, &[("index.html", &front)]);
    for (name, text) in &pages {
        write(&site, &[(name, text)]);
    }
    let path = site.to_str().unwrap();
    let server = workshop.serve_site(path, &[], &[]);
    let list = server.get("/llms.txt").1;
    for (_, url, text) in odd {
        let query = serde_json::json!({"query": text});
        let found = server.post("/api/v1/search", &query).1;
        let first = found["data"]["results"][0]["url"].as_str().unwrap();
        let cited = first.split('#').next().unwrap();
        assert_eq!(cited, url, "{found}");
        let (status, shown) = server.get(cited);
        assert_eq!(status, 200, "{url}");
        assert!(shown.contains(text), "{shown}");
        let markdown = format!("{url}.md");
        assert!(list.contains(&format!("({markdown})")), "{list}");
        assert!(server.get(&markdown).1.contains(text), "{markdown}");
        let asked = format!("/api/v1/page?url={}", url.replace('%', "%25"));
        assert_eq!(server.get(&asked).0, 200, "{asked}");
    }
}
