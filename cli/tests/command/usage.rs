//! Invalid arguments exit with 2, and a command that does not start changes nothing.

use std::fs;

use serde_json::{Value, json};

use crate::support::Workshop;

#[test]
fn wrong_usage_ends_with_2_with_and_without_a_server() {
    let workshop = Workshop::small();
    workshop.sync();
    let check = || {
        for arguments in [
            &["search", "wheels", "--top-k", "0"][..],
            &["ask", "wheels", "--top-k", "0"],
            &["search", "wheels", "--hardware-tier", "9"],
            &["ask", "wheels", "--hardware-tier", "9"],
            &["search", " "],
            &["ask", ""],
            &["sync", "nowhere"],
            &["doctor", "nowhere"],
            &["chunks", "nowhere"],
            &["serve", "nowhere"],
            &["serve", "book", "--site-url", "/"],
            &["serve", "book", "--site-url", "book.example"],
            &["serve", "book", "--site-url", "https://a@evil.example"],
            &["serve"],
            &[
                "serve",
                "book",
                "--port",
                "8081",
                "--listen",
                "127.0.0.1:8081",
            ],
            &["reset", "nowhere"],
            &["reset", "book"],
            &["serve", "s3://books/robots", "--watch"],
        ] {
            let refused = workshop.run(arguments);
            assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {refused:?}");
        }
    };
    check();
    let _server = workshop.serve(&[]);
    check();
}

#[test]
fn a_site_that_is_not_there_as_it_should_be_ends_with_2_and_the_reason() {
    let config = "module.exports = {presets: ['classic']};";
    for (files, reason) in [
        (
            &[("docusaurus.config.js", config), ("docs/a.txt", "")][..],
            "no page found",
        ),
        (
            &[("docusaurus.config.js", config), ("README.md", "# A")],
            "the docs folder `docs` has no file",
        ),
        (
            &[
                ("docusaurus.config.js", config),
                ("docs/a.md", "# A"),
                ("versions.json", "[\"1.0\"]"),
            ],
            "`versioned_docs/version-1.0` has no file",
        ),
    ] {
        let workshop = Workshop::new();
        fs::remove_dir_all(workshop.site()).unwrap();
        for (path, text) in files {
            fs::create_dir_all(workshop.site().join(path).parent().unwrap()).unwrap();
            workshop.write(path, text);
        }
        for command in ["chunks", "sync", "serve"] {
            let refused = workshop.run(&[command, "book"]);
            assert_eq!(refused.status.code(), Some(2), "{command}: {refused:?}");
            let told = String::from_utf8(refused.stderr).unwrap();
            assert!(told.contains(reason), "{command}: {told}");
        }
    }
}

#[test]
fn a_site_of_another_generator_is_named_and_not_read() {
    for (file, generator) in [
        ("mkdocs.yml", "MkDocs"),
        ("docs/.vitepress/config.mts", "VitePress"),
        (".vitepress/config.js", "VitePress"),
    ] {
        let workshop = Workshop::small();
        fs::remove_file(workshop.site().join("docusaurus.config.js")).unwrap();
        fs::create_dir_all(workshop.site().join(file).parent().unwrap()).unwrap();
        workshop.write(file, "");
        let refused = workshop.run(&["chunks", "book"]);
        assert_eq!(refused.status.code(), Some(1), "{refused:?}");
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(
            told.contains(&format!("{file}, line 1: this is a site of {generator}")),
            "{told}"
        );
        // Files of other generators may stand beside a Docusaurus site, and a bookrag.toml says how to read the folder.
        workshop.write("bookrag.toml", "");
        assert!(workshop.run(&["chunks", "book"]).status.success());
    }
}

#[test]
fn a_file_whose_text_a_page_shows_is_read_with_the_page() {
    let workshop = Workshop::small();
    workshop.write("docs/valve.py", "def open_valve():\n    return 'open'\n");
    let page = "import CodeBlock from '@theme/CodeBlock';\nimport source from '!!raw-loader!./valve.py';\n\n# Valve\n\n\
                <CodeBlock language=\"python\">{source}</CodeBlock>\n\nText after.\n";
    workshop.write("docs/valve.mdx", page);
    let chunks = workshop.run(&["chunks", "book", "--jsonl"]).stdout;
    let chunks = String::from_utf8(chunks).unwrap();
    let valve = chunks
        .lines()
        .find(|line| line.contains("valve.mdx"))
        .unwrap();
    let valve: Value = serde_json::from_str(valve).unwrap();
    let text = valve["text"].as_str().unwrap();
    assert!(
        text.contains("def open_valve():\n    return 'open'"),
        "{text}"
    );
    assert!(text.contains("Text after."), "{text}");
    let ledger = workshop.run(&["chunks", "book", "--ledger"]);
    assert!(ledger.status.success(), "{ledger:?}");
}

#[test]
fn a_folder_without_a_configuration_is_reported() {
    let workshop = Workshop::small();
    let config = workshop.site().join("docusaurus.config.js");
    let told = || String::from_utf8(workshop.run(&["sync", "book"]).stderr).unwrap();
    assert!(!told().contains("no docusaurus.config"));
    fs::remove_file(config).unwrap();
    assert!(told().contains("no docusaurus.config file") && told().contains("`docs`"));
}

#[test]
fn a_wrong_address_is_answered_with_a_right_one() {
    let workshop = Workshop::small();
    for (typed, example) in [
        ("18300", "127.0.0.1:18300"),
        ("18300", "--port 18300"),
        ("localhost:8080", "127.0.0.1:8080"),
    ] {
        let refused = workshop.run(&["serve", "book", "--listen", typed]);
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(example), "{example} in {said}");
    }
}

#[test]
fn a_first_file_of_questions_is_written_once_and_asked_when_it_is_complete() {
    let workshop = Workshop::small();
    workshop.write(
        "docs/wheels.md",
        "# Wheels\n\n## Tightening\n\nUse the blue wrench.\n\n### Torque\n\nIt is 2 Nm.\n",
    );
    let init = ["eval", "--init", "questions.jsonl", "--site", "book"];
    assert_eq!(workshop.run(&init).status.code(), Some(0));
    let file = workshop.path().join("questions.jsonl");
    let written = fs::read_to_string(&file).unwrap();
    let first: Value = serde_json::from_str(written.lines().next().unwrap()).unwrap();
    assert_eq!(first["source"], "docs/wheels.md");
    assert_eq!(first["url"], "/docs/wheels");
    let headings = json!([{"id": "tightening", "under": ["torque"]}]);
    assert_eq!(first["headings"], headings);

    let again = workshop.run(&init);
    assert_eq!(again.status.code(), Some(2), "{again:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), written);

    let eval = ["eval", "questions.jsonl", "--site", "book", "--json"];
    let incomplete = workshop.run(&eval);
    assert_eq!(incomplete.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&incomplete.stdout).contains("`q1` is still a TODO"));
    fs::write(&file, written.replace("TODO: ", "")).unwrap();
    assert_eq!(workshop.run(&eval).status.code(), Some(0));
}

#[test]
fn completions_and_manual_pages_name_the_commands() {
    let workshop = Workshop::small();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = workshop.run(&["completions", shell]).stdout;
        let script = String::from_utf8(script).unwrap();
        assert!(script.contains("insights"), "{shell}");
        assert!(!script.contains("bookrag-man"), "{shell}");
    }
    assert_eq!(workshop.run(&["man", "man"]).status.code(), Some(0));
    for (page, part) in [
        ("bookrag.1", "bookrag\\-serve(1)"),
        ("bookrag-serve.1", "BOOKRAG_EMBEDDER"),
    ] {
        let text = fs::read_to_string(workshop.path().join("man").join(page)).unwrap();
        assert!(text.contains(part), "{part} in {text}");
    }
}
