//! A small book that changes at random: two docs instances and a blog, with shared texts, partials, a category, questions, drafts and broken pages.

use std::collections::BTreeMap;

use crate::source::MemorySource;
use ::book::questions::question_file;
use ::book::{SiteSettings, is_settings_file};
use fakes::faults::Random;

const PAGES: [&str; 9] = [
    "docs/a.md",
    "docs/b.md",
    "docs/c/d.mdx",
    "docs/c/e.mdx",
    "docs/f.md",
    "api/g.md",
    "api_versioned_docs/version-1.0/g.md",
    "news/2024-05-03-h.md",
    "news/2024/05/04/i/index.md",
];
const PARTIAL: &str = "docs/c/_p.mdx";
const CATEGORY: &str = "docs/c/_category_.json";
/// Few texts, so that several pages share one and former texts return.
const TEXTS: [&str; 6] = [
    "The pump starts at dawn.",
    "Valves close when the tank is empty.",
    "A relay clicks twice.",
    "Soil is dry below thirty percent.",
    "Charge the battery before frost.",
    "The robot waits for the sun.",
];

/// A page that never changes, because a book without pages is rejected.
pub(super) const FIRST_PAGE: &str = "docs/first.md";
const SETTINGS: &str = "bookrag.toml";
const API: &str = "docs.api.docs_path = 'api'\n";
const BLOG: &str = "blog.news.path = 'news'\n";
const API_VERSIONS: &str = "api_versions.json";

pub(super) fn begin(source: &MemorySource) {
    let text = format!("# First\n\n{}\n", TEXTS[0]);
    let settings = format!("{API}{BLOG}");
    let mut files = source.files();
    for (path, text) in [
        (FIRST_PAGE, text.as_str()),
        (SETTINGS, settings.as_str()),
        (API_VERSIONS, "[\"1.0\"]"),
        // Docs whose folder has no file are rejected.
        ("api/files.txt", ""),
        ("api_versioned_docs/version-1.0/files.txt", ""),
    ] {
        files.insert(path.to_owned(), text.as_bytes().to_vec());
    }
}

/// Changes the settings, and with them URLs or which files are pages. Returns the path whose event follows.
pub(super) fn change_settings(source: &MemorySource, random: &mut Random) -> String {
    let (path, text) = match random.below(8) {
        0 => (SETTINGS, format!("{API}{BLOG}")),
        1 => (SETTINGS, format!("base_url = '/book/'\n{API}{BLOG}")),
        2 => (SETTINGS, format!("docs.api = false\n{BLOG}")),
        5 => (SETTINGS, format!("blog = false\n{API}")),
        3 => (API_VERSIONS, "[]".to_owned()),
        4 => (API_VERSIONS, "[\"1.0\"]".to_owned()),
        _ => {
            let page = PAGES[random.below(PAGES.len())];
            let page = page.strip_prefix("docs/").unwrap_or(page);
            (SETTINGS, format!("exclude = ['{page}']\n{API}{BLOG}"))
        }
    };
    let mut files = source.files();
    files.insert(path.to_owned(), text.into_bytes());
    path.to_owned()
}

pub(super) fn settings(files: &BTreeMap<String, Vec<u8>>) -> SiteSettings {
    let files = files.iter().filter(|(path, _)| is_settings_file(path));
    let texts = files.map(|(path, bytes)| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        (path.clone(), text)
    });
    let files = texts.collect();
    SiteSettings::read(&files, true).expect("the simulated settings can be read")
}

/// Changes one or more files. Returns the paths whose events follow.
pub(super) fn change(source: &MemorySource, random: &mut Random) -> Vec<String> {
    let mut files = source.files();
    let page = PAGES[random.below(PAGES.len())].to_owned();
    match random.below(11) {
        0 | 1 => {
            files.remove(&page);
            vec![page]
        }
        2 => {
            // A rename: the text moves to another path.
            let to = PAGES[random.below(PAGES.len())].to_owned();
            if let Some(text) = files.remove(&page) {
                files.insert(to.clone(), text);
            }
            vec![page, to]
        }
        3 => {
            let partial = PARTIAL.to_owned();
            if random.below(3) == 0 {
                files.remove(&partial);
            } else {
                files.insert(partial.clone(), text(random).into_bytes());
            }
            vec![partial]
        }
        4 => {
            let category = CATEGORY.to_owned();
            let number = random.below(3);
            // A folder with a description has a page of its own.
            let link = match number {
                2 => format!(
                    "{{\"type\": \"generated-index\", \"description\": \"{}\"}}",
                    TEXTS[0]
                ),
                _ => "null".to_owned(),
            };
            let label = format!("{{\"label\": \"Part {number}\", \"link\": {link}}}");
            files.insert(category.clone(), label.into_bytes());
            vec![category]
        }
        // The hardware tier is in the payload but not in the text.
        5 => {
            let tier = format!("---\nhardware_tier: {}\n---\n", 1 + random.below(3));
            if let Some(bytes) = files.get_mut(&page) {
                let body = String::from_utf8_lossy(bytes);
                let body = body.rsplit("---\n").next().unwrap_or_default();
                *bytes = format!("{tier}{body}").into_bytes();
            }
            vec![page]
        }
        6 => {
            let file = question_file(&page);
            if random.below(4) == 0 {
                files.remove(&file);
            } else {
                files.insert(file.clone(), questions(random).into_bytes());
            }
            vec![file]
        }
        _ => {
            let content = content(&page, random);
            files.insert(page.clone(), content.into_bytes());
            vec![page]
        }
    }
}

fn content(page: &str, random: &mut Random) -> String {
    match random.below(14) {
        0 => return "---\ntitle: [\n---\n".to_owned(),
        1 => return "---\ndraft: true\n---\n\nNot yet.\n".to_owned(),
        _ => {}
    }
    let mut content = String::new();
    let partial = page.starts_with("docs/c/") && random.below(2) == 0;
    if partial {
        content.push_str("import P from './_p.mdx';\n\n");
    }
    content.push_str("# Page\n\n");
    for section in 0..random.below(4) {
        content.push_str(&format!("## Section {section}\n\n{}\n\n", text(random)));
    }
    if partial {
        content.push_str("<P />\n");
    }
    content
}

/// Questions of some sections, which the page may not have.
fn questions(random: &mut Random) -> String {
    let mut file = String::new();
    for section in 0..random.below(4) {
        file.push_str(&format!("#section-{section}\n"));
        for _ in 0..random.below(3) {
            file.push_str(&format!("Why is it so: {}\n", text(random)));
        }
    }
    file
}

fn text(random: &mut Random) -> String {
    TEXTS[random.below(TEXTS.len())].to_owned()
}
