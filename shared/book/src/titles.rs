//! Titles of pages and of their folders.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::block::{Block, BlockKind, Nesting};
use crate::body::Body;
use crate::decoding::decode;
use crate::front_matter::{FrontMatter, split_front_matter};
use crate::inputs::Inputs;
use crate::omission::{Omission, OmissionReason};
use crate::pages::CATEGORY_FILES;
use crate::placement::FolderTitles;
use crate::settings::ContentKind;

/// Imports at the top, in blocks that end with a blank line.
static LEADING_IMPORTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:import\s(?:[^\n]|\n[^\n])*\n{2,})*").expect("the pattern is a constant")
});
static CONTENT_TITLE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(?:#[ \t]+[^ \t\n][^\n]*|[^\n]*\n=+)(?:\n|$)").expect("the pattern is a constant")
});

/// True if Docusaurus uses the page's first heading as its title: level 1, preceded only by imports.
pub(super) fn has_content_title(body: &str) -> bool {
    let body = body.trim();
    let imports = LEADING_IMPORTS.find(body).map_or(0, |found| found.end());
    CONTENT_TITLE.is_match(body[imports..].trim_start())
}

pub(super) fn first_title(blocks: &[Block]) -> Option<String> {
    let title = blocks.iter().find(|block| is_title(block));
    title.map(|block| block.text.clone())
}

fn is_title(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading { level: 1, .. })
}

/// Removes the level 1 heading of a blog post if it differs from the title shown above the post. Returns true if it was
/// removed.
fn drop_replaced_title(
    blocks: &mut Vec<Block>,
    omissions: &mut Vec<Omission>,
    title: &str,
) -> bool {
    let Some(at) = blocks.iter().position(is_title) else {
        return false;
    };
    if blocks[at].text == title {
        return false;
    }
    let heading = blocks.remove(at);
    omissions.push(Omission {
        start_line: heading.start_line,
        end_line: heading.end_line,
        reason: OmissionReason::ReplacedTitle,
        text: heading.text,
    });
    true
}

/// Adds the title before the blocks where the site shows one that is no heading of the page.
pub(super) fn show_title(
    body: &mut Body,
    kind: ContentKind,
    title: &str,
    line: u32,
    front_matter: &FrontMatter,
) {
    let is_kept = body.shows_own_title
        && (kind != ContentKind::Blog
            || !drop_replaced_title(&mut body.blocks, &mut body.omissions, title));
    let is_shown = match kind {
        ContentKind::Docs => front_matter.other.get("hide_title") != Some(&Value::Bool(true)),
        ContentKind::Pages => false,
        ContentKind::Blog => true,
    };
    if !is_kept && !title.is_empty() && is_shown {
        body.blocks.insert(0, title_block(title, line));
    }
}

/// Returns the heading that Docusaurus shows for a title that is only in the front matter.
pub(super) fn title_block(title: &str, line: u32) -> Block {
    Block {
        kind: BlockKind::Heading {
            level: 1,
            anchor: None,
            listed: true,
        },
        text: title.to_owned(),
        marks: Vec::new(),
        markdown: format!("# {title}"),
        start_line: line,
        end_line: line,
        nesting: Nesting::default(),
        panels: Vec::new(),
    }
}

/// The longest title in characters; longer ones end in an ellipsis. Every chunk below a title contains it.
const MAX_TITLE_CHARS: usize = 300;

/// Shortens a title to 300 characters.
#[must_use]
pub fn shortened_title(title: &str) -> String {
    match title.char_indices().nth(MAX_TITLE_CHARS) {
        Some((at, _)) => format!("{}…", &title[..at]),
        None => title.to_owned(),
    }
}

/// Returns the files that may contain the label of a page's folder, most likely first.
pub(super) fn category_files(source: &str) -> Vec<String> {
    let folder = source.rsplit_once('/').map_or("", |(folder, _)| folder);
    CATEGORY_FILES.map(|name| join(folder, name)).to_vec()
}

/// Returns the possible index pages of the page's folder. Their title replaces a missing chapter title.
pub(super) fn index_files(source: &str) -> Vec<String> {
    let (folder, name) = source.rsplit_once('/').unwrap_or(("", source));
    ["index.md", "index.mdx", "README.md", "README.mdx"]
        .into_iter()
        .filter(|index| *index != name)
        .map(|index| join(folder, index))
        .collect()
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() {
        name.to_owned()
    } else {
        format!("{folder}/{name}")
    }
}

pub(super) fn folder_titles(source: &str, inputs: &Inputs) -> FolderTitles {
    FolderTitles {
        category_label: category_label(source, inputs),
        index_title: index_files(source)
            .iter()
            .find_map(|path| index_title(inputs.get(path)?.content()?)),
    }
}

pub(super) fn category_label(source: &str, inputs: &Inputs) -> Option<String> {
    category_files(source).iter().find_map(|path| {
        let bytes = inputs.get(path)?.content()?;
        let fields: Value = serde_saphyr::from_str(std::str::from_utf8(bytes).ok()?).ok()?;
        fields["label"].as_str().map(str::to_owned)
    })
}

/// Returns an index page's title, from its front matter or else its first heading.
fn index_title(bytes: &[u8]) -> Option<String> {
    let text = decode(bytes).ok()?;
    let page = split_front_matter(&text).ok()?;
    page.front_matter.title.clone().or_else(|| {
        let first = page.body.lines().find(|line| !line.trim().is_empty())?;
        Some(first.strip_prefix("# ")?.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_folders_settings_is_read() {
        for name in CATEGORY_FILES {
            let file = format!("docs/a/{name}");
            let label = "{\"label\": \"Guides\"}".as_bytes().to_vec();
            let inputs = Inputs::from([(file, Some(label).into())]);
            let label = category_label("docs/a/b.md", &inputs);
            assert_eq!(label.as_deref(), Some("Guides"), "{name}");
        }
    }
}
