//! A built site is a book, and stands in for sources that cannot be read.

use std::fs;
use std::path::Path;

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
