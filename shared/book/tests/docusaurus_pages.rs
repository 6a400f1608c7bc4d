//! Compares what is read of small pages with what Docusaurus shows of them: the words in order, and the levels and ids of the headings.
//!
//! `tests/docusaurus/combinations/update.sh` writes the pages and what Docusaurus made of them. They combine the constructs of Docusaurus's own
//! documentation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use book::{
    Block, BlockKind, Inputs, SiteSettings, list_pages, marker_length, missing_inputs,
    read_document,
};
use regex::Regex;
use serde::Deserialize;

/// Constructs that are read otherwise than Docusaurus shows them: a pattern of the source, in which `_` stands for the name of an
/// admonition, and what is different. Pages that match one may differ.
const DIFFERENCES: [(&str, &str); 21] = [
    (
        r":::_[ \[].*([{<]|:[a-z]+[\[:])",
        "tags, directives and the names of emojis in an admonition's title are shown as they are written, and expressions are removed as attributes",
    ),
    (
        r"(?m)^\d\. [a-z]+\n\n?:::+\n",
        "a list continues below an admonition whose end directly follows its items",
    ),
    (
        r"\{\[1, 2\]|\{1 \+ 1\}|\{<b>",
        "values that only running the page's code would show are left out",
    ),
    (
        r"\[!NOTE\]",
        "alerts are read as admonitions, which plugins of many sites make of them",
    ),
    (
        r"(?m)^[ >]*\d+[.)] +(>|<|-|#|`|  )",
        "an item that begins with a block may have no number",
    ),
    (
        r"<img",
        "the alternative text of a picture that is a tag is separated from the words around it",
    ),
    (
        r"(?m)^    [a-z].*\n( +[a-z]+\n)?[a-z]+\n[a-z]+\n---",
        "the heading that an underline makes begins below lines that are indented like code",
    ),
    (
        r"<[a-z]+>[a-z\s]*<https",
        "an address in angle brackets is shown within a block of HTML, where it is a tag without text",
    ),
    (
        r"(</[a-z]+>|<br/>)\n *([-+*]|\d+[.)]) ",
        "an item directly below a block of HTML is text in it",
    ),
    (
        r"(?m)^ *</details>\n\n +(\d+\.|###) ",
        "numbers and headings that are indented below details in an item",
    ),
    (
        r"<p>.*\[\^n\d\]|(?m)^\[\^n\d\]: .*\[\^n\d\]$",
        "a footnote that only another footnote or a block of HTML refers to is not shown, or elsewhere",
    ),
    (
        r"\[[^\]\n]*\[\^n\d\].*\]\(/",
        "a link around the mark of a footnote is text",
    ),
    (
        r#"~~[a-z]+ <Mark color="red" />~~"#,
        "a space before a component without text and the end of emphasis leaves the emphasis open",
    ),
    (
        r"<h2[^>]*>(!\[\]|\{frontMatter\.description\})",
        "a heading's tag without text is no heading",
    ),
    (
        r"\n[ >]*:::\n[ >]*[a-z]+\n[ >]*```",
        "an end of an admonition in code ends the admonition for Docusaurus",
    ),
    (
        r"(?m)^[ >]*> .*<(pre|CodeBlock|Tabs)",
        "quote marks within a tag or an expression are not removed",
    ),
    (
        r"(?m)^ *<div>\n[ >]*\d",
        "items that are indented like code in MDX are text",
    ),
    (
        r":[a-z]+\[",
        "the label of a directive in text is a block of its own, so that spaces are around it",
    ),
    (
        r"!\[[a-z]+\]\[|\n {8}[a-z]+\[\^",
        "definitions and footnotes are not found from text that is indented like code",
    ),
    (
        r"`[a-z]+\n[a-z]+`",
        "a line break in the code of a heading becomes a space in its id",
    ),
    (
        r"```js\n[ >]*[a-z]+\n\n?[^`]",
        "a fence that is open at the end of its item or admonition is read on",
    ),
];

const CONFIG: &str =
    include_str!("../../../tests/docusaurus/combinations/site/docusaurus.config.js");

/// A file of the built site.
#[derive(Deserialize)]
struct File {
    #[serde(rename = "file")]
    name: String,
    source: String,
    /// `None` for files that are not pages.
    text: Option<String>,
    #[serde(default)]
    headings: Vec<String>,
}

fn words(blocks: &[Block]) -> Vec<String> {
    blocks.iter().flat_map(block_words).collect()
}

/// Returns the words of a block, without the marks of bullets and columns.
fn block_words(block: &Block) -> Vec<String> {
    let text = block.shown_text();
    let has_marker = matches!(block.kind, BlockKind::ListItem | BlockKind::Contents);
    let lines = text.lines().map(|line| {
        if has_marker && line.trim_start().starts_with("- ") {
            &line[marker_length(line)..]
        } else {
            line
        }
    });
    shown_words(&lines.collect::<Vec<_>>().join("\n"))
}

/// Splits a text into words, without signs that stand for the page's appearance: columns, the dollars of formulas, the colon after the name of an
/// admonition.
fn shown_words(text: &str) -> Vec<String> {
    const KINDS: [&str; 9] = [
        "Note:",
        "Tip:",
        "Info:",
        "Warning:",
        "Danger:",
        "Caution:",
        "Important:",
        "Secondary:",
        "Success:",
    ];
    text.replace('$', " ")
        .split_whitespace()
        .filter(|word| *word != "|")
        .map(|word| {
            if KINDS.contains(&word) {
                word.trim_end_matches(':').to_owned()
            } else {
                word.to_owned()
            }
        })
        .collect()
}

fn headings(blocks: &[Block]) -> Vec<String> {
    let headings = blocks.iter().filter_map(|block| match &block.kind {
        BlockKind::Heading { level, anchor, .. } => {
            Some(format!("{level}#{}", anchor.as_deref().unwrap_or_default()))
        }
        _ => None,
    });
    headings.collect()
}

/// Describes the first words that differ.
fn difference(ours: &[String], theirs: &[String]) -> Option<String> {
    const AROUND: usize = 4;
    let same = ours.iter().zip(theirs).take_while(|(a, b)| a == b).count();
    let [ours_rest, theirs_rest] = [ours, theirs].map(|words| {
        let end = words.len().min(same + AROUND);
        words[same.saturating_sub(2)..end].join(" ")
    });
    (ours != theirs).then(|| format!("read `{ours_rest}`, shown `{theirs_rest}`"))
}

#[test]
fn pages_are_read_as_docusaurus_shows_them() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/docusaurus_pages.jsonl");
    let fixture = std::fs::read_to_string(fixture).expect("the fixture is there");
    let files: BTreeMap<String, File> = fixture
        .lines()
        .map(|line| serde_json::from_str::<File>(line).expect("a line is a file"))
        .map(|file| (format!("docs/{}", file.name), file))
        .collect();
    let config = ("docusaurus.config.js".to_owned(), CONFIG.to_owned());
    let settings =
        SiteSettings::read(&BTreeMap::from([config]), true).expect("the settings can be read");
    let paths: BTreeSet<String> = files.keys().cloned().collect();
    let patterns = DIFFERENCES.map(|(pattern, _)| Regex::new(pattern).expect("a pattern is valid"));
    let names = "note|tip|info|warning|danger|caution|important|secondary|success";
    let admonitions = Regex::new(&format!(":::({names})")).expect("the pattern is valid");
    let mut used = BTreeSet::new();
    let (mut equal, mut wrong) = (0, Vec::new());
    for page in list_pages(&settings, &paths) {
        let file = &files[&page.source];
        let bytes = file.source.as_bytes();
        let mut inputs = Inputs::new();
        loop {
            let missing = missing_inputs(&settings, &page, bytes, &inputs);
            if missing.is_empty() {
                break;
            }
            inputs.extend(missing.into_keys().map(|path| {
                let bytes = files
                    .get(&path)
                    .map(|file| file.source.clone().into_bytes());
                (path, bytes.into())
            }));
        }
        let document =
            read_document(&settings, "", &page, bytes, &inputs).expect("the page is read");
        let theirs = shown_words(file.text.as_deref().expect("the page was built"));
        let of_words = difference(&words(&document.blocks), &theirs);
        let of_headings = difference(&headings(&document.blocks), &file.headings);
        let differences: Vec<String> = of_words.into_iter().chain(of_headings).collect();
        let source = file.source.replace('\r', "");
        let source = admonitions.replace_all(&source, ":::_");
        let known: Vec<usize> = (0..patterns.len())
            .filter(|&at| patterns[at].is_match(&source))
            .collect();
        if differences.is_empty() {
            equal += 1;
        } else if known.is_empty() {
            wrong.push(format!(
                "{}: {}\n{}",
                page.source,
                differences.join("; "),
                file.source
            ));
        } else if let [only] = known[..] {
            used.insert(only);
        }
    }
    assert!(
        wrong.is_empty(),
        "{equal} of {} pages are equal, {} differ:\n{}",
        paths.len(),
        wrong.len(),
        wrong.join("\n")
    );
    // A page with several of them may differ for any one.
    let unused: Vec<&str> = (0..DIFFERENCES.len())
        .filter(|at| !used.contains(at))
        .map(|at| DIFFERENCES[at].0)
        .collect();
    assert!(
        unused.is_empty(),
        "no page that differs needs {unused:?}: remove them"
    );
}
