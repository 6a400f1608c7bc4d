//! Secrets beside a site, and pages that would show them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::Workshop;

const CONFIG: &str =
    "module.exports = {title: 'T', baseUrl: '/', presets: [['classic', {docs: {}}]]};";

/// Files below the folder of the workshop, each with a secret. The site is in `home/work/repository/site`.
const SECRETS: [&str; 9] = [
    "home/work/repository/site/.env",
    "home/work/repository/site/node_modules/x/.npmrc",
    "home/work/repository/.env",
    "home/work/repository/.config/tool.md",
    "home/work/repository/key.pem",
    "home/work/neighbour/.env",
    "home/work/neighbour/docs/a.md",
    "home/.aws/credentials",
    "home/notes.txt",
];

const SITE: &str = "home/work/repository/site";

/// The specifiers of imports as text, and with `MD:` as Markdown.
const IMPORTS: [&str; 20] = [
    "!!raw-loader!../.env",
    "!!raw-loader!../../.env",
    "../.env?raw",
    "!!raw-loader!@site/.env",
    "!!raw-loader!@site/../.git/config",
    "!!raw-loader!../../.git/config",
    "!!raw-loader!../node_modules/x/.npmrc",
    "!!raw-loader!../../key.pem",
    "!!raw-loader!../../../neighbour/.env",
    "!!raw-loader!../../../../.aws/credentials",
    "!!raw-loader!../../../../notes.txt",
    "!!raw-loader!/etc/passwd",
    "/etc/passwd?raw",
    "!!raw-loader!./env.md",
    "!!raw-loader!./up/.env",
    "MD:../../.config/tool.md",
    "MD:../../../neighbour/docs/a.md",
    "MD:@site/../../neighbour/docs/a.md",
    "MD:./up/../.config/tool.md",
    "MD:./env.md",
];

fn write(workshop: &Workshop, path: &str, text: &str) {
    let path = workshop.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git(folder: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .status();
    assert!(done.unwrap().success(), "{arguments:?}");
}

/// A site with a page for each import.
fn workshop() -> Workshop {
    let workshop = Workshop::small();
    for (number, path) in SECRETS.iter().enumerate() {
        write(
            &workshop,
            path,
            &format!("# Key\n\nThe access key is SECRET{number}.\n"),
        );
    }
    let page = |name: &str, text: &str| write(&workshop, &format!("{SITE}/docs/{name}"), text);
    write(&workshop, &format!("{SITE}/docusaurus.config.js"), CONFIG);
    write(&workshop, &format!("{SITE}/code.py"), "print('shown')\n");
    page(
        "code.mdx",
        "import Code from '!!raw-loader!../code.py'\n\n# Code\n\n<pre>{Code}</pre>\n",
    );
    for (number, import) in IMPORTS.iter().enumerate() {
        let (specifier, shown) = match import.strip_prefix("MD:") {
            Some(specifier) => (specifier, "<X/>"),
            None => (*import, "<pre>{X}</pre>"),
        };
        page(
            &format!("p{number:02}.mdx"),
            &format!(
                "import X from '{specifier}';\n\n# Page {number}\n\nThe access key is this one:\n\n{shown}\n"
            ),
        );
    }
    let docs = workshop.path().join(SITE).join("docs");
    symlink("../.env", docs.join("env.md")).unwrap();
    symlink("../..", docs.join("up")).unwrap();
    workshop
}

/// Checks what all commands show of the site.
fn check(workshop: &Workshop, untracked_text_is_shown: bool) {
    let chunks = workshop.run(&["chunks", SITE, "--json"]);
    let told = String::from_utf8([chunks.stdout, chunks.stderr].concat()).unwrap();
    assert!(
        !told.contains("SECRET") && !told.contains("root:x:0"),
        "{told}"
    );
    assert!(!told.contains("repositoryformatversion"), "{told}");
    let report = workshop.json(&["sync", SITE]);
    let warnings = report["warnings"].to_string();
    let named = |problem: &str| assert!(warnings.contains(problem), "{problem} in {warnings}");
    named("docs/env.md is not read: `.env` is never read");
    named("docs/p00.mdx: line 7: the imported file .env is not read: `.env` is never read");
    named("docs/p06.mdx: imported files of the package or alias x are not read");
    let answer = workshop.run(&["ask", "What is the access key?"]).stdout;
    let answer = String::from_utf8(answer).unwrap();
    assert!(!answer.contains("SECRET"), "{answer}");
    let doctor = workshop.json(&["doctor", SITE]);
    let shown: Vec<&Value> = doctor["text_files"].as_array().unwrap().iter().collect();
    if untracked_text_is_shown {
        assert_eq!(
            (shown.len(), &shown[0]["what"]),
            (1, &Value::from("code.py"))
        );
        assert_eq!(shown[0]["at"], "docs/code.mdx, line 5");
    } else {
        assert!(shown.is_empty(), "{shown:?}");
        named(
            "docs/code.mdx: line 5: the imported file code.py is not read: git does not track `code.py`",
        );
    }
    let (warnings, unreadable) = (
        doctor["warnings"].to_string(),
        doctor["unreadable"].to_string(),
    );
    assert!(
        warnings.contains("the imported file .env is not read"),
        "{warnings}"
    );
    assert!(unreadable.contains("docs/env.md"), "{unreadable}");
}

#[test]
fn a_site_below_its_repository_shows_no_secret_of_it() {
    let workshop = workshop();
    let repository = workshop.path().join("home/work/repository");
    write(&workshop, "home/work/repository/.gitignore", "*.pem\n");
    git(&repository, &["init", "--quiet"]);
    git(&repository, &["add", "--all"]);
    check(&workshop, true);
}

#[test]
fn pages_that_are_not_added_to_git_are_read_without_the_text_of_other_files() {
    let workshop = workshop();
    let repository = workshop.path().join("home/work/repository");
    git(&repository, &["init", "--quiet"]);
    check(&workshop, false);
}

#[test]
fn a_site_without_a_repository_shows_no_secret_beside_it() {
    check(&workshop(), true);
}

#[test]
fn a_site_that_was_saved_in_a_home_folder_shows_nothing_of_the_home_folder() {
    let workshop = workshop();
    let home = workshop.path().join("home");
    git(&home, &["init", "--quiet"]);
    git(&home, &["add", "--force", ".aws/credentials", "notes.txt"]);
    check(&workshop, true);
}
