//! Checks the repository's documents: links between them resolve, the README is short, each setting and each route of the
//! API is described, and named source files exist. Web addresses are not fetched.
#![expect(clippy::unwrap_used, reason = "a failed step fails its test")]

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use bookrag::book::slug;
use bookrag::config::Variable;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use regex::Regex;

/// The most lines of the README, so that newcomers read all of it. Details belong in `docs/`.
const README_MAX_LINES: usize = 120;

/// The link and the anchor of an HTML tag.
static HTML_LINK: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\b(?:href|src)="([^"]*)""#).unwrap());
static HTML_ANCHOR: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r#"\b(?:id|name)="([^"]*)""#).unwrap());
/// A setting's name, between one character on each side.
const SETTING: &str = r"((?:BOOKRAG|OPENAI|COHERE|QDRANT|DATABASE)_[A-Z_]*[A-Z])";

/// The name of a source file, with or without its folders.
static SOURCE_FILE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[A-Za-z_][\w./-]*\.(?:rs|py|sh|mjs|ts)$").unwrap());

/// A Markdown file as GitHub shows it.
struct Document {
    links: Vec<String>,
    code: Vec<String>,
    anchors: BTreeSet<String>,
}

impl Document {
    fn parse(text: &str) -> Self {
        let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
        let mut document = Self {
            links: Vec::new(),
            code: Vec::new(),
            anchors: BTreeSet::new(),
        };
        let mut headings: HashMap<String, usize> = HashMap::new();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, options) {
            if let Event::Code(code) = &event {
                document.code.push(code.to_string());
            }
            match event {
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.links.push(dest_url.into_string());
                }
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => {
                    let anchor = slug(&heading.take().unwrap_or_default());
                    let repeated = headings.entry(anchor.clone());
                    let repeated = repeated.and_modify(|times| *times += 1).or_default();
                    document.anchors.insert(match *repeated {
                        0 => anchor,
                        times => format!("{anchor}-{times}"),
                    });
                }
                Event::Text(text) | Event::Code(text) => {
                    if let Some(heading) = &mut heading {
                        heading.push_str(&text);
                    }
                }
                Event::Html(html) | Event::InlineHtml(html) => {
                    let found = |pattern: &Regex| -> Vec<String> {
                        let all = pattern.captures_iter(&html);
                        all.map(|found| found[1].to_owned()).collect()
                    };
                    document.links.extend(found(&HTML_LINK));
                    document.anchors.extend(found(&HTML_ANCHOR));
                }
                _ => {}
            }
        }
        document
    }
}

/// Returns the Markdown files below `folder`, without pages of Docusaurus sites, which resolve their own links.
fn markdown_files(folder: &Path) -> Vec<PathBuf> {
    let entries: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let is_site = entries
        .iter()
        .any(|path| name(path).starts_with("docusaurus.config."));
    let mut files = Vec::new();
    for path in entries {
        let name = name(&path);
        let made = name == "target" || name == "node_modules";
        let hidden = name.starts_with('.') && name != ".github";
        if path.is_dir() && !made && !hidden && !is_site {
            files.extend(markdown_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

/// Returns the target path of a link in `document`; `None` if it is outside `root`.
fn target(root: &Path, document: &Path, link: &str) -> Option<PathBuf> {
    let mut target = document.parent()?.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                target.pop();
            }
            Component::Normal(name) => target.push(name),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    target.starts_with(root).then_some(target)
}

/// Returns the problem of a link in the file `from`.
fn problem(root: &Path, from: &Path, link: &str) -> Option<&'static str> {
    if link.starts_with("https://") || link.starts_with("http://") || link.starts_with("mailto:") {
        return None;
    }
    if link.starts_with(['/', '~', '\\']) || link.contains(':') {
        return Some("a path of one machine");
    }
    let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => from.to_owned(),
        path => match target(root, from, path) {
            Some(target) => target,
            None => return Some("outside the repository"),
        },
    };
    if !target.exists() {
        return Some("no such file");
    }
    if anchor.is_empty() {
        return None;
    }
    let text = fs::read_to_string(&target).unwrap_or_default();
    let leads = Document::parse(&text).anchors.contains(anchor);
    (!leads).then_some("no such anchor")
}

/// Returns each broken link as `FILE: LINK: PROBLEM`, and the number of links checked.
fn broken_links(root: &Path) -> (BTreeSet<String>, usize) {
    let (mut broken, mut checked) = (BTreeSet::new(), 0);
    for file in markdown_files(root) {
        let document = Document::parse(&fs::read_to_string(&file).unwrap());
        let shown = file.strip_prefix(root).unwrap().display();
        for link in document.links {
            checked += 1;
            if let Some(problem) = problem(root, &file, &link) {
                broken.insert(format!("{shown}: {link}: {problem}"));
            }
        }
    }
    (broken, checked)
}

fn repository() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap().to_owned()
}

#[test]
fn every_link_leads_somewhere() {
    let (broken, checked) = broken_links(&repository());
    assert!(checked > 100, "only {checked} links were found");
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write(
        "README.md",
        "# Here\n\n[ok](#here) [ok](docs/a.md) [ok](docs/) [ok](docs/a.md#two-words-1) [ok](docs/a.md#named)\n\
         [ok](https://example.org/gone) `[code](gone.md)`\n\n\
         [](#there) [](gone.md) ![](gone.png) [](docs/a.md#two-words-2) [](docs#a) [](../outside.md)\n\
         [](/srv/a.md) [](~/a.md) [](file:///srv/a.md) [](C:\\a.md)\n\n<img src=\"gone.svg\">\n",
    );
    write(
        "docs/a.md",
        "# Two words\n\n## Two `words`\n\n<a id=\"named\"></a>\n\n[ok](../README.md#here) [](README.md)\n",
    );
    write("site/docusaurus.config.js", "");
    write("site/README.md", "[](gone.md)\n");
    write("site/docs/page.md", "[Docusaurus's own](/gone)\n");
    let (broken, _) = broken_links(folder.path());
    let broken: Vec<&str> = broken.iter().map(String::as_str).collect();
    assert_eq!(
        broken,
        [
            "README.md: #there: no such anchor",
            "README.md: ../outside.md: outside the repository",
            "README.md: /srv/a.md: a path of one machine",
            "README.md: C:\\a.md: a path of one machine",
            "README.md: docs#a: no such anchor",
            "README.md: docs/a.md#two-words-2: no such anchor",
            "README.md: file:///srv/a.md: a path of one machine",
            "README.md: gone.md: no such file",
            "README.md: gone.png: no such file",
            "README.md: gone.svg: no such file",
            "README.md: ~/a.md: a path of one machine",
            "docs/a.md: README.md: no such file",
            "site/README.md: gone.md: no such file",
        ]
    );
}

#[test]
fn the_readme_is_short_and_every_page_of_docs_is_reached_from_it() {
    let root = repository();
    let readme = root.join("README.md");
    let lines = fs::read_to_string(&readme).unwrap().lines().count();
    assert!(lines <= README_MAX_LINES, "the README has {lines} lines");
    let (mut reached, mut queue) = (BTreeSet::from([readme.clone()]), vec![readme]);
    while let Some(page) = queue.pop() {
        let links = Document::parse(&fs::read_to_string(&page).unwrap()).links;
        let paths = links.iter().filter_map(|link| link.split('#').next());
        for linked in paths.filter_map(|path| target(&root, &page, path)) {
            let is_page = linked
                .extension()
                .is_some_and(|extension| extension == "md");
            if is_page && linked.is_file() && reached.insert(linked.clone()) {
                queue.push(linked);
            }
        }
    }
    let pages = markdown_files(&root.join("docs")).into_iter();
    let unreached: Vec<PathBuf> = pages.filter(|page| !reached.contains(page)).collect();
    assert!(
        unreached.is_empty(),
        "no link from the README reaches {unreached:?}"
    );
}

#[test]
fn every_setting_that_is_read_is_described_and_every_described_one_is_read() {
    let pattern = Regex::new(&format!("\"{SETTING}\"")).unwrap();
    let root = repository().join("shared/src");
    let mut files = vec![root.join("config.rs"), root.join("telemetry.rs")];
    for entry in fs::read_dir(root.join("config")).unwrap() {
        files.push(entry.unwrap().path());
    }
    files.retain(|file| !file.ends_with("tests.rs") && !file.ends_with("variables.rs"));
    let code: String = files
        .iter()
        .map(|file| fs::read_to_string(file).unwrap())
        .collect();
    let read: BTreeSet<&str> = pattern
        .captures_iter(&code)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    let described: BTreeSet<&str> = Variable::all().map(|variable| variable.name).collect();
    assert_eq!(read, described);
}

#[test]
fn every_route_of_the_api_is_described() {
    let docs = repository().join("docs");
    let openapi = fs::read_to_string(docs.join("openapi.json")).unwrap();
    let openapi: serde_json::Value = serde_json::from_str(&openapi).unwrap();
    let page = fs::read_to_string(docs.join("api.md")).unwrap();
    let routes = openapi["paths"].as_object().unwrap().keys();
    let missing: Vec<_> = routes
        .filter(|route| !page.contains(&format!("{route}`")))
        .collect();
    assert!(missing.is_empty(), "docs/api.md lacks {missing:?}");
}

/// The paths of all files below `folder` that are not made by a build, relative to `root`.
fn all_files(root: &Path, folder: &Path) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let is_made = name == "target" || name == "node_modules" || name == ".git";
        if path.is_dir() && !is_made {
            files.extend(all_files(root, &path));
        } else if path.is_file() {
            files.push(format!("/{}", path.strip_prefix(root).unwrap().display()));
        }
    }
    files
}

#[test]
fn every_source_file_that_a_document_names_exists() {
    let root = repository();
    let files = all_files(&root, &root);
    let (mut missing, mut checked) = (BTreeSet::new(), 0);
    for page in markdown_files(&root) {
        // It tells of files as they were.
        if page.ends_with("CHANGELOG.md") {
            continue;
        }
        let code = Document::parse(&fs::read_to_string(&page).unwrap()).code;
        for name in code.iter().filter(|code| SOURCE_FILE.is_match(code)) {
            checked += 1;
            let path = format!("/{name}");
            if !files.iter().any(|file| file.ends_with(&path)) {
                missing.insert(format!("{}: {name}", page.display()));
            }
        }
    }
    assert!(checked > 50, "only {checked} names were found");
    assert!(missing.is_empty(), "{missing:#?}");
}
