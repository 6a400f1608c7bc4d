//! `bookrag export` writes the book as Markdown.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::Workshop;

const SITE: &str = "https://book.example.org/garden-robotics/";

/// A workshop with the folder of a built site.
fn built() -> Workshop {
    let workshop = Workshop::with_broken_page();
    fs::create_dir_all(workshop.path().join("build/docs")).unwrap();
    workshop
}

fn export(workshop: &Workshop, arguments: &[&str]) -> (Option<i32>, Value) {
    let mut all = vec!["export", "book", "--out", "build", "--json"];
    all.extend(arguments);
    let output = workshop.run(&all);
    let report = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        report.unwrap_or_else(|error| panic!("{error}: {output:?}")),
    )
}

/// Collects the texts of a folder's files, by path.
fn texts(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            texts(root, &path, found);
        } else {
            let relative = path.strip_prefix(root).unwrap().to_str().unwrap();
            found.insert(relative.to_owned(), fs::read_to_string(&path).unwrap());
        }
    }
}

fn files(workshop: &Workshop) -> BTreeMap<String, String> {
    let build = workshop.path().join("build");
    let mut found = BTreeMap::new();
    texts(&build, &build, &mut found);
    found
}

fn is(path: &str, extension: &str) -> bool {
    path.rsplit('.').next() == Some(extension)
}

/// Returns the link targets of a text.
fn links(markdown: &str) -> Vec<&str> {
    let parts = markdown.split("](").skip(1);
    parts.filter_map(|rest| rest.split(')').next()).collect()
}

#[test]
fn each_page_has_its_markdown_and_each_link_to_one_leads_to_a_file() {
    let workshop = built();
    let (code, report) = export(&workshop, &[]);
    assert_eq!(code, Some(0), "{report}");
    assert_eq!(report["lost"], serde_json::json!([]), "{report}");
    let files = files(&workshop);
    let is_page = |path: &str| is(path, "md") && path != "skill.md";
    let pages: Vec<&String> = files.keys().filter(|path| is_page(path)).collect();
    assert_eq!(report["pages"], pages.len(), "{report}");
    assert!(pages.len() > 10, "{pages:?}");
    let mut checked = 0;
    for (path, text) in &files {
        for link in links(text) {
            let Some(file) = link.strip_prefix(SITE) else {
                assert!(link.contains("://"), "{path}: {link} is no whole address");
                continue;
            };
            let (file, _) = file.split_once('#').unwrap_or((file, ""));
            if is(file, "md") || is(file, "txt") {
                assert!(files.contains_key(file), "{path} leads to {file}");
                checked += 1;
            }
        }
        if is_page(path) {
            let first = text.lines().next().unwrap();
            assert!(
                first.starts_with(&format!("> [llms.txt]({SITE}llms.txt) ")),
                "{first}"
            );
        }
    }
    assert!(checked > 40, "{checked}");
    let index = &files["llms.txt"];
    assert!(index.starts_with("# Garden Robotics\n\n> "), "{index}");
    assert!(
        index.contains("\n## Module 1: Foundations › Chapter 2: Actuation\n\n- ["),
        "{index}"
    );
    let lesson = "docs/module-1-foundations/chapter-2-actuation/pump-and-valve";
    let entry =
        format!("]({SITE}{lesson}.md): How much water a bed needs, and how to give exactly that.");
    assert!(index.contains(&entry), "{index}");
    // Partials are included in place, tabs keep their labels, and formulas are TeX.
    let text = &files[&format!("{lesson}.md")];
    for part in [
        "\nBy Hand\n",
        "```python\nfrom sprig",
        "\\theta_{\\text{target}}",
        "| --- | --- |",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(
        !text.contains("import Safety") && !text.contains("<Safety"),
        "{text}"
    );
    // An unlisted page has a file, but no list names it.
    let unlisted: Vec<_> = pages
        .iter()
        .filter(|path| path.contains("workshop-notes"))
        .collect();
    assert_eq!(unlisted.len(), 1);
    assert!(
        !index.contains("workshop-notes") && !files["llms-full.txt"].contains("workshop-notes.md")
    );
    assert!(
        !files.keys().any(|path| path.contains("frost")),
        "a draft was exported"
    );
}

#[test]
fn the_same_book_makes_the_same_files_and_files_of_others_stay() {
    let workshop = built();
    fs::write(workshop.path().join("build/docs.md"), "the author's").unwrap();
    let (code, report) = export(&workshop, &[]);
    assert_eq!(code, Some(3), "{report}");
    assert_eq!(report["not_overwritten"], serde_json::json!(["docs.md"]));
    let first = files(&workshop);
    assert_eq!(first["docs.md"], "the author's");
    let (_, report) = export(&workshop, &[]);
    assert_eq!(report["written"], 0, "{report}");
    assert_eq!(files(&workshop), first);
    // If a page is deleted, so is its Markdown.
    fs::remove_file(workshop.site().join("docs/letter-to-the-reader.md")).unwrap();
    let (_, report) = export(&workshop, &[]);
    assert_eq!(report["removed"], 1, "{report}");
    assert!(!files(&workshop).contains_key("docs/letter-to-the-reader.md"));
}

#[test]
fn an_export_goes_into_the_folder_of_a_built_site_alone() {
    let workshop = built();
    for out in [
        "none",
        "book",
        "book/docs",
        ".",
        "book/docusaurus.config.js",
    ] {
        let output = workshop.run(&["export", "book", "--out", out]);
        assert_eq!(output.status.code(), Some(2), "{out}: {output:?}");
    }
    let output = workshop.run(&["export", "book", "--out", "build", "--locale", "fr"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn agents_find_a_skill_that_says_how_to_ask() {
    let workshop = Workshop::small();
    fs::create_dir(workshop.path().join("build")).unwrap();
    let config =
        "module.exports = {title: 'Garden', url: 'https://g.example', baseUrl: '/'};".to_owned();
    workshop.write("docusaurus.config.js", &config);
    let (code, report) = export(&workshop, &["--api", "https://api.example/"]);
    assert_eq!(code, Some(0), "{report}");
    let with_api = files(&workshop);
    let skill = &with_api["skill.md"];
    let head = "---\nname: garden\ndescription: \"The documentation of Garden. ";
    assert!(skill.starts_with(head), "{skill}");
    let ask = "GET https://api.example/api/v1/ask?q=QUESTION";
    for text in [skill, &with_api["llms.txt"], &with_api["docs/wheels.md"]] {
        assert!(text.contains(ask), "{text}");
    }
    for text in [skill, &with_api["llms.txt"]] {
        assert!(text.contains("`https://api.example/mcp`"), "{text}");
    }
    let place = ".well-known/agent-skills/garden/SKILL.md";
    assert_eq!(&with_api[place], skill);
    let index: Value =
        serde_json::from_str(&with_api[".well-known/agent-skills/index.json"]).unwrap();
    assert_eq!(index["skills"][0]["url"], format!("/{place}"));
    let digest = index["skills"][0]["digest"].as_str().unwrap();
    assert_eq!(digest.len(), "sha256:".len() + 64, "{digest}");

    workshop.write("docusaurus.config.js", &config.replace("'/'", "'/g/'"));
    let (code, report) = export(&workshop, &[]);
    assert_eq!(code, Some(0), "{report}");
    let below = files(&workshop);
    assert!(!below["skill.md"].contains("/api/v1/ask"));
    assert!(below.keys().all(|path| !path.starts_with(".well-known")));
}

/// A workshop whose site has versions, and a translation of one page.
fn with_versions_and_locales() -> Workshop {
    let workshop = Workshop::small();
    let site = workshop.site();
    for folder in [
        "versioned_docs/version-1.0",
        "versioned_docs/version-2.0",
        "i18n/ur/docusaurus-plugin-content-docs/version-2.0",
    ] {
        fs::create_dir_all(site.join(folder)).unwrap();
    }
    fs::create_dir(workshop.path().join("build")).unwrap();
    workshop.write("versions.json", "[\"2.0\", \"1.0\"]");
    workshop.write(
        "docusaurus.config.js",
        "module.exports = {title: 'Garden', url: 'https://g.example', baseUrl: '/g/', i18n: {defaultLocale: 'en', locales: ['en', 'ur']}};",
    );
    workshop.write("versioned_docs/version-1.0/probe.md", "# Probe 1\n\nOld.\n");
    workshop.write(
        "versioned_docs/version-2.0/probe.md",
        "# Probe 2\n\nSee [the wheels](./wheels.md#fit) and [this](#x).\n\n## X\n\n<Gallery kind=\"probes\" />\n",
    );
    workshop.write(
        "versioned_docs/version-2.0/wheels.md",
        "# Wheels 2\n\n## Fit\n\nTight.\n",
    );
    workshop.write(
        "i18n/ur/docusaurus-plugin-content-docs/version-2.0/probe.md",
        "# پروب\n\nدیکھیں [پہیے](wheels.md)۔\n",
    );
    workshop
}

#[test]
fn versions_and_locales_have_lists_of_their_own() {
    let workshop = with_versions_and_locales();
    let (code, report) = export(&workshop, &[]);
    assert_eq!(code, Some(0), "{report}");
    let files = files(&workshop);
    let names: Vec<&str> = files.keys().map(String::as_str).collect();
    let mut expected: Vec<String> = vec![".bookrag-export".to_owned(), "skill.md".to_owned()];
    for (locale, folder, pages) in [
        ("", "docs/", vec!["probe", "wheels"]),
        ("", "docs/1.0/", vec!["probe"]),
        ("", "docs/next/", vec!["probe", "wheels"]),
        ("ur/", "docs/", vec!["probe", "wheels"]),
        ("ur/", "docs/1.0/", vec!["probe"]),
        ("ur/", "docs/next/", vec!["probe", "wheels"]),
    ] {
        expected.extend(
            pages
                .iter()
                .map(|page| format!("{locale}{folder}{page}.md")),
        );
        let lists = if folder == "docs/" { "" } else { folder };
        expected.extend(["llms.txt", "llms-full.txt"].map(|name| format!("{locale}{lists}{name}")));
    }
    expected.sort();
    assert_eq!(names, expected);
    let index = &files["llms.txt"];
    for list in [
        "docs/next/llms.txt",
        "docs/1.0/llms.txt",
        "ur/llms.txt",
        "llms-full.txt",
    ] {
        assert!(
            index.contains(&format!("](https://g.example/g/{list})")),
            "{index}"
        );
    }
    let probe = &files["docs/probe.md"];
    assert!(
        probe.contains("[the wheels](https://g.example/g/docs/wheels.md#fit)"),
        "{probe}"
    );
    assert!(
        probe.contains("[this](https://g.example/g/docs/probe.md#x)"),
        "{probe}"
    );
    assert!(
        probe.ends_with("computes: `<Gallery kind=\"probes\" />`\n"),
        "{probe}"
    );
    assert_eq!(report["computed"][0]["line"], 7, "{report}");
    let probe = &files["ur/docs/probe.md"];
    assert!(
        probe.contains("(https://g.example/g/ur/docs/wheels.md)"),
        "{probe}"
    );
    let old = &files["docs/1.0/probe.md"];
    assert!(
        old.starts_with("> [llms.txt](https://g.example/g/docs/1.0/llms.txt)"),
        "{old}"
    );

    // A single locale is exported into its own folder.
    fs::create_dir_all(workshop.path().join("build-ur")).unwrap();
    let output = workshop.run(&[
        "export",
        "book",
        "--out",
        "build-ur",
        "--locale",
        "ur",
        "--site-url",
        "https://ur.example",
    ]);
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(workshop.path().join("build-ur/docs/probe.md")).unwrap();
    assert!(
        text.contains("(https://ur.example/g/ur/docs/wheels.md)"),
        "{text}"
    );
}

#[test]
fn a_list_too_long_for_agents_is_split_by_chapter() {
    let workshop = Workshop::small();
    fs::create_dir(workshop.path().join("build")).unwrap();
    let description = "What a reader finds on this page, in a good many words. ".repeat(3);
    for chapter in 0..4 {
        fs::create_dir(workshop.site().join(format!("docs/part-{chapter}"))).unwrap();
        for page in 0..if chapter == 0 { 400 } else { 20 } {
            workshop.write(
                &format!("docs/part-{chapter}/page-{page}.md"),
                &format!("---\ndescription: {description}\n---\n\n# Page {page}\n"),
            );
        }
    }
    let (code, report) = export(&workshop, &["--site-url", "https://g.example"]);
    assert_eq!(code, Some(0), "{report}");
    let files = files(&workshop);
    let lists: Vec<(&String, &String)> = files
        .iter()
        .filter(|(path, _)| is(path, "txt") && !path.contains("full"))
        .collect();
    let names: Vec<&str> = lists.iter().map(|(path, _)| path.as_str()).collect();
    assert!(
        names.len() > 5 && names.contains(&"llms/part-0-2.txt"),
        "{names:?}"
    );
    let mut entries = Vec::new();
    for (path, text) in &lists {
        assert!(text.chars().count() < 50_000, "{path}");
        assert!(
            text.starts_with("# Garden\n\n> ") && text.contains("\n## "),
            "{path}: {text}"
        );
        entries.extend(links(text));
    }
    let is_page = |path: &str| is(path, "md") && !path.starts_with('.') && path != "skill.md";
    for page in files.keys().filter(|path| is_page(path)) {
        assert!(
            entries.contains(&&*format!("https://g.example/{page}")),
            "{page}"
        );
    }
    for name in &names[1..] {
        assert!(
            names[0] == "llms.txt" || files["llms.txt"].contains(name),
            "{name}"
        );
    }
}
