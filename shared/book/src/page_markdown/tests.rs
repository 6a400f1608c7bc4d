use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proptest::prelude::*;

use super::*;
use crate::rendering::rendered;
use crate::{Document, Inputs, SiteSettings, list_pages, missing_inputs, page_file, read_document};

const MDX: &str = "math = true\n";
const MARKDOWN: &str = "math = true\nmarkdown_format = 'md'\n";

fn settings(toml: &str) -> SiteSettings {
    let files = [("bookrag.toml".to_owned(), toml.to_owned())];
    SiteSettings::read(&files.into(), true).unwrap()
}

fn document(toml: &str, text: &str) -> Document {
    let settings = settings(toml);
    let file = page_file(&settings, "docs/page.md").unwrap();
    read_document(&settings, "site", &file, text.as_bytes(), &Inputs::new()).unwrap()
}

fn exported(text: &str) -> String {
    page_markdown(&document(MDX, text).blocks)
}

fn words(text: &str) -> Vec<&str> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    parts.filter(|word| !word.is_empty()).collect()
}

fn kept(block: &Block) -> Vec<String> {
    let Block { kind, text, .. } = block;
    let at = |name: &str, text: &str| {
        let Nesting {
            quotes,
            admonitions,
            items,
        } = block.nesting;
        let nesting = (quotes + admonitions, items);
        format!("{name} {nesting:?} {}", words(text).join(" "))
    };
    match kind {
        BlockKind::Heading { level, anchor, .. } => {
            let anchor = anchor.as_deref().unwrap_or_default();
            vec![at(&format!("h{level} #{anchor}"), text)]
        }
        BlockKind::Code { language, title } => vec![at(
            &format!("code {language} {}", title.as_deref().unwrap_or_default()),
            text,
        )],
        BlockKind::Table => vec![at("table", text)],
        BlockKind::ListItem => vec![at("item", text)],
        BlockKind::Paragraph => vec![at("p", text)],
        BlockKind::Contents => text.lines().map(|_| String::new()).collect(),
    }
}

/// Reads an export as a plain Markdown page. Returns how its blocks differ from the original ones.
fn differences(document: &Document) -> Vec<String> {
    let markdown = page_markdown(&document.blocks);
    let again = self::document(
        MARKDOWN,
        &format!("---\nhide_title: true\n---\n\n{markdown}"),
    );
    let ours: Vec<String> = document.blocks.iter().flat_map(kept).collect();
    let theirs: Vec<String> = again.blocks.iter().flat_map(kept).collect();
    let longest = ours.len().max(theirs.len());
    let none = String::new();
    let pairs = (0..longest).map(|at| {
        let of = |list: &[String]| list.get(at).cloned().unwrap_or_else(|| "none".to_owned());
        (of(&ours), of(&theirs))
    });
    let differ = pairs.filter(|(ours, theirs)| ours != theirs && *ours != none);
    differ
        .map(|(ours, theirs)| format!("{}: {ours}\n  came back as {theirs}", document.url))
        .collect()
}

fn files(root: &Path, folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(root, &path, found);
        } else {
            let relative = path.strip_prefix(root).unwrap();
            found.insert(relative.to_str().unwrap().replace('\\', "/"));
        }
    }
}

#[test]
fn the_export_of_a_page_holds_the_blocks_of_the_page() {
    let site = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/book");
    let mut paths = BTreeSet::new();
    files(&site, &site, &mut paths);
    let read = |path: &str| std::fs::read(site.join(path)).ok();
    let config = "docusaurus.config.js";
    let text = String::from_utf8(read(config).unwrap()).unwrap();
    let settings = SiteSettings::read(&BTreeMap::from([(config.to_owned(), text)]), true).unwrap();
    let mut pages = 0;
    for page in list_pages(&settings, &paths) {
        let bytes = read(&page.source).unwrap();
        let mut inputs = Inputs::new();
        loop {
            let missing = missing_inputs(&settings, &page, &bytes, &inputs);
            if missing.is_empty() {
                break;
            }
            inputs.extend(
                missing
                    .into_keys()
                    .map(|path| (path.clone(), read(&path).into())),
            );
        }
        let Ok(document) = read_document(&settings, "site", &page, &bytes, &inputs) else {
            continue;
        };
        assert_eq!(differences(&document), Vec::<String>::new());
        pages += 1;
    }
    assert!(pages > 10, "{pages}");
}

#[test]
fn a_page_is_written_as_a_reader_would_write_it() {
    let page = r#"---
title: A page
---

Text with `code`, **bold** and 2 * 3 < 7.

## Fine title

## Own {#other}

:::tip Look here

First.

- one
  - nested

    ```js title="a.js"
    let a;

    let b;
    ```

:::

> Quoted.

1. first
2. second

   More of it.

| Name | Value |
|------|-------|
| a | `x \| y` |

```
plain
```

- [x] done

<Fancy /> and <b>bold</b>
"#;
    let expected = r#"# A page

Text with `code`, **bold** and 2 * 3 < 7.

## Fine title

## Own {#other}

> **Tip: Look here**
>
> First.
>
> - one
>   - nested
>
>     ```js title="a.js"
>     let a;
>
>     let b;
>     ```

> Quoted.

1. first
2. second

   More of it.

| Name | Value |
| --- | --- |
| a | `x \| y` |

```
plain
```

- [x] done

and bold
"#;
    assert_eq!(exported(page), expected);
}

#[test]
fn ids_are_written_where_the_text_of_the_heading_does_not_make_them() {
    let page = "# T\n\n## A b\n\n## A b\n\n## `c`() {#d}\n\n## T\n";
    // By GitHub's rules, the title takes the id `t`.
    let expected = "# T\n\n## A b\n\n## A b\n\n## c() {#d}\n\n## T\n";
    assert_eq!(exported(page), expected);
    let kept = settings("keep_anchor_case = true\n");
    let file = page_file(&kept, "docs/page.md").unwrap();
    let document = read_document(&kept, "site", &file, b"## A b\n", &Inputs::new()).unwrap();
    let markdown = page_markdown(&document.blocks);
    assert!(markdown.contains("## A b {#A-b}"), "{markdown}");
}

#[test]
fn admonitions_nest_by_their_colons() {
    let page = "::::note\n\nOuter.\n\n:::warning Mind\n\nInner.\n\n:::\n\nOuter again.\n\n::::\n\nOutside.\n\n:::info\n\nA.\n\n:::\n\n\
        :::info\n\nB.\n\n:::\n";
    let expected = "# page\n\n> **Note**\n>\n> Outer.\n>\n> > **Warning: Mind**\n> >\n> > Inner.\n>\n> Outer again.\n\nOutside.\n\n\
        > **Info**\n>\n> A.\n\n> **Info**\n>\n> B.\n";
    assert_eq!(exported(page), expected);
}

#[test]
fn items_keep_their_numbers() {
    let page =
        "# T\n\n1. a\n2. b\n\n---\n\n1. c\n   1. d\n2. e\n   1. f\n3. # g\n4. h\n\nText.\n\n1. i\n";
    let expected = "# T\n\n1. a\n2. b\n\n<!-- -->\n\n1. c\n   1. d\n2. e\n   1. f\n\n   # g\n\n<!-- -->\n\n4. h\n\nText.\n\n1. i\n";
    assert_eq!(exported(page), expected);
}

/// Elements of pages. Each must survive the export in any context.
fn piece() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "## A heading",
        "### With `code` {#own-id}",
        "#### 1. Not a list #",
        "Plain text *of* several **words** and `a | b`.",
        "Text\nover lines  \nwith a break.",
        "1\\. no list, \\- nor this \\* nor # that",
        "https://a.example/x_y and a@b.example and [link](/docs/x)",
        "Sum $a_b * c_d$ in a line.",
        "$$\n- a + b\n$$",
        "- one\n- two\n  - three\n    1. four\n    2. five\n- six",
        "3. three\n4. four\n\n   ```sh\n   run\n   ```\n5. five",
        "- item\n\n  second paragraph\n\n  | a | b |\n  |---|---|\n  | 1 | 2 |",
        "- item\n  7. seven",
        "- > quoted in an item",
        "> quoted\n>\n> - list\n>\n> ```js\n> x\n> ```\n>\n> > deeper",
        ":::note\n\nNoted.\n\n- listed\n\n:::",
        ":::tip[A *title*]\n\n```bash title=\"run.sh\"\n> ls\n```\n\n:::",
        "| a | b |\n|---|---|\n| `x | y` | |\n| | *z* |",
        "```\n# no heading\n\n- no list\n```",
        "````md\n```js\ninner\n```\n````",
        "```title=\"only a title\"\ncode\n```",
        "- [ ] open\n- [x] done",
        "<details><summary>More</summary>\n\nHidden.\n\n</details>",
        "&lt;div&gt; &amp;amp; \\<b> \\{x\\} __init__ snake_case ~~gone~~",
        "\\+ plus\n= equals\n\\> greater\n| pipe",
        "---",
    ]);
    pieces.prop_map(str::to_owned)
}

proptest! {
    #[test]
    fn what_pages_are_made_of_comes_back_in_any_order(pieces in prop::collection::vec(piece(), 1..6)) {
        let document = document(MDX, &format!("# Title\n\n{}\n", pieces.join("\n\n")));
        let ours: Vec<String> = document.blocks.iter().map(|block| block.shown_text().into_owned()).collect();
        let markdown = page_markdown(&document.blocks);
        // The reader of plain Markdown does not end a list at a comment, so use a thematic break.
        let again = self::document(MARKDOWN, &markdown.replace(BETWEEN_LISTS, "***"));
        let theirs: Vec<String> = again.blocks.iter().map(|block| block.shown_text().into_owned()).collect();
        let (ours, theirs) = (ours.join("\n"), theirs.join("\n"));
        prop_assert_eq!(words(&ours), words(&theirs), "{}", markdown);
        let kinds = |document: &Document| -> Vec<u8> {
            document.blocks.iter().filter_map(|block| match block.kind {
                BlockKind::Heading { level, .. } => Some(level),
                BlockKind::Code { .. } => Some(10),
                BlockKind::Table => Some(11),
                BlockKind::ListItem => Some(12),
                _ => None,
            }).collect()
        };
        prop_assert_eq!(kinds(&document), kinds(&again), "{}", markdown);
        // The other renderer must agree. It does not read formulas, and puts paragraphs in all items.
        let elements = rendered(&markdown).map(|rendered| {
            let known = ["code", "pre", "heading", "strong", "em", "table", "link", "image"];
            known.map(|name| rendered.elements.contains(name))
        });
        let [one, other] = elements;
        prop_assert_eq!(one, other, "{}", markdown);
    }
}
