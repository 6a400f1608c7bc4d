//! Checks `docs/promises.md`: each test that it names exists, and its data sheet names each file that opens connections.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

/// A link to a source file whose text is code: the file's path from the repository's root, and the text.
const NAMED: &str = r"\[`([^`]+)`\]\(\.\./([^)#]+\.(?:rs|py|tsx?))\)";
/// The heading of the data sheet's list of hosts.
const HOSTS: &str = "### Hosts that are called";
/// Folders of code that runs outside of tests.
const FOLDERS: [&str; 4] = ["shared", "functions", "cli/src", "widget/src"];
/// Expressions that open a connection in Rust, and in the panel.
const OPENS: &str = r"\bClient::(?:builder|new)\(|aws_config::defaults|\bQdrant::from_url|\.config\.connect\(|\b(?:Tcp|Unix)Stream::connect|\bUdpSocket\b";
const PANEL_OPENS: &str =
    r"\bfetch\(|\bXMLHttpRequest\b|\bWebSocket\b|\bEventSource\b|\bsendBeacon\b";

fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().to_owned()
}

fn promises() -> String {
    fs::read_to_string(repository().join("docs/promises.md")).unwrap()
}

/// Returns whether the file has a test with this name. A function of a contract counts if the module above lists it in `laws!`.
fn has_test(root: &Path, file: &str, name: &str) -> bool {
    let path = root.join(file);
    let Ok(text) = fs::read_to_string(&path) else {
        return false;
    };
    let name = regex::escape(name);
    let pattern = match path.extension().and_then(|extension| extension.to_str()) {
        Some("rs") => {
            format!(r"#\[(?:tokio::)?test[^\n]*\]\s+(?:#\[[^\n]*\]\s+)*(?:async )?fn {name}\(")
        }
        Some("py") => format!(r"(?m)^    def {name}\(self"),
        _ => format!(r"(?m)^\s*test\('{name}',"),
    };
    Regex::new(&pattern).unwrap().is_match(&text) || is_law(&path, &text, &name)
}

fn is_law(path: &Path, text: &str, name: &str) -> bool {
    let contract = path.parent().unwrap().with_extension("rs");
    let laws = fs::read_to_string(contract).unwrap_or_default();
    let defined = Regex::new(&format!(r"pub\(super\) async fn {name}\(")).unwrap();
    let listed = Regex::new(&format!(r"(?s)\nlaws! \{{.*\n        {name}\b")).unwrap();
    defined.is_match(text) && listed.is_match(&laws)
}

#[test]
fn every_test_that_a_promise_names_exists() {
    let root = repository();
    let text = promises();
    let (proofs, _) = text.split_once(HOSTS).unwrap();
    let (_, risks) = text.split_once("## OWASP").unwrap();
    let named = Regex::new(NAMED).unwrap();
    let (mut missing, mut checked) = (BTreeSet::new(), 0);
    for found in named
        .captures_iter(proofs)
        .chain(named.captures_iter(risks))
    {
        checked += 1;
        if !has_test(&root, &found[2], &found[1]) {
            missing.insert(format!("{}: {}", &found[2], &found[1]));
        }
    }
    assert!(checked > 50, "only {checked} names were found");
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn every_promise_has_a_proof() {
    let text = promises();
    let (promised, _) = text.split_once("## Data sheet").unwrap();
    let named = Regex::new(NAMED).unwrap();
    for promise in promised.split("\n**").skip(1) {
        let title = promise.lines().next().unwrap();
        assert!(promise.contains("\n- Covers: "), "{title}");
        let (_, proof) = promise.split_once("\n- Proof: ").expect(title);
        assert!(named.is_match(proof), "{title}");
    }
}

#[test]
fn a_name_without_a_test_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "a.rs",
            "#[tokio::test(flavor = \"x\")]\n#[expect(y)]\nasync fn one() {}\n\nfn helper() {}\n",
        ),
        ("a.py", "class A:\n    def test_one(self):\n        pass\n"),
        ("a.spec.ts", "test('one', async () => {});\n"),
        ("contract.rs", "\nlaws! {\n    part:\n        listed;\n}\n"),
        (
            "contract/part.rs",
            "pub(super) async fn listed(s: S) {}\npub(super) async fn unlisted(s: S) {}\n",
        ),
    ];
    fs::create_dir(folder.path().join("contract")).unwrap();
    for (path, text) in files {
        fs::write(folder.path().join(path), text).unwrap();
    }
    let names = [
        ("a.rs", "one", true),
        ("a.rs", "helper", false),
        ("a.rs", "two", false),
        ("a.py", "test_one", true),
        ("a.py", "test_two", false),
        ("a.spec.ts", "one", true),
        ("a.spec.ts", "on", false),
        ("contract/part.rs", "listed", true),
        ("contract/part.rs", "unlisted", false),
        ("gone.rs", "one", false),
    ];
    for (file, name, expected) in names {
        assert_eq!(
            has_test(folder.path(), file, name),
            expected,
            "{file} {name}"
        );
    }
}

/// Adds the source files below `folder` that are not tests.
fn add_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let is_test = ["tests", "fakes", "benches"].contains(&&*name) || name.ends_with("_tests");
        let extension = path.extension().unwrap_or_default();
        if is_test {
            continue;
        }
        if path.is_dir() {
            add_sources(&path, files);
        } else if extension == "rs" || extension == "ts" || extension == "tsx" {
            files.push(path);
        }
    }
}

/// Returns the code of a file without its tests and comments.
fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn every_file_that_opens_connections_is_in_the_data_sheet() {
    let root = repository();
    let mut files = Vec::new();
    for folder in FOLDERS {
        add_sources(&root.join(folder), &mut files);
    }
    let [opens, panel_opens] = [OPENS, PANEL_OPENS].map(|pattern| Regex::new(pattern).unwrap());
    let opening: BTreeSet<String> = files
        .iter()
        .filter(|file| {
            let is_rust = file.extension().unwrap() == "rs";
            let pattern = if is_rust { &opens } else { &panel_opens };
            pattern.is_match(&code_of(file))
        })
        .map(|file| slashed(file.strip_prefix(&root).unwrap()))
        .collect();
    let text = promises();
    let (_, hosts) = text.split_once(HOSTS).unwrap();
    let (hosts, _) = hosts.split_once("\n## ").unwrap();
    let listed: BTreeSet<String> = Regex::new(NAMED)
        .unwrap()
        .captures_iter(hosts)
        .map(|found| found[2].to_owned())
        .collect();
    assert_eq!(opening, listed);
}

/// Returns a path with slashes, as links have them.
fn slashed(path: &Path) -> String {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    names.collect::<Vec<_>>().join("/")
}
