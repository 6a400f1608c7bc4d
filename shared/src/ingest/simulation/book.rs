//! A small book that changes at random: pages that share texts, partials, a category, drafts, broken pages.

use crate::faults::Random;
use crate::source::MemorySource;

const PAGES: [&str; 5] = [
    "docs/a.md",
    "docs/b.md",
    "docs/c/d.mdx",
    "docs/c/e.mdx",
    "docs/f.md",
];
const PARTIAL: &str = "docs/c/_p.mdx";
const CATEGORY: &str = "docs/c/_category_.json";
/// Few, so that pages hold the same text, and texts come back.
const TEXTS: [&str; 6] = [
    "The pump starts at dawn.",
    "Valves close when the tank is empty.",
    "A relay clicks twice.",
    "Soil is dry below thirty percent.",
    "Charge the battery before frost.",
    "The robot waits for the sun.",
];

/// Changes a file, or several; returns the paths whose events follow.
pub(super) fn change(source: &MemorySource, random: &mut Random) -> Vec<String> {
    let mut files = source.files();
    let page = PAGES[random.below(PAGES.len())].to_owned();
    match random.below(10) {
        0 | 1 => {
            files.remove(&page);
            vec![page]
        }
        2 => {
            // A rename: the text goes to another path.
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
            let label = format!("{{\"label\": \"Part {}\"}}", random.below(3));
            files.insert(category.clone(), label.into_bytes());
            vec![category]
        }
        // Another tier is another payload of the same text.
        5 => {
            let tier = format!("---\nhardware_tier: {}\n---\n", 1 + random.below(3));
            if let Some(bytes) = files.get_mut(&page) {
                let body = String::from_utf8_lossy(bytes);
                let body = body.rsplit("---\n").next().unwrap_or_default();
                *bytes = format!("{tier}{body}").into_bytes();
            }
            vec![page]
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

fn text(random: &mut Random) -> String {
    TEXTS[random.below(TEXTS.len())].to_owned()
}
