//! Pages whose text is nearly markup: an answer shows it as the text that it is in the book.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::*;
use crate::book::rendering::{rendered, words};
use crate::book::{Inputs, SiteSettings, page_file, read_document};
use crate::chunk::{ChunkPolicy, chunk_document};
use crate::index::ChunkPayload;
use crate::retrieve::Scores;

/// The sections of a page, as they come back from the store.
fn sections(file: &str, page: &str) -> Vec<ScoredChunk> {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let file = page_file(&settings, file).unwrap();
    let document = read_document(&settings, "site", &file, page.as_bytes(), &Inputs::new());
    let document = document.unwrap();
    let mut sections = Vec::new();
    for chunk in chunk_document(&document, &ChunkPolicy::ADAPTIVE) {
        let payload = ChunkPayload::new(&document, &chunk, String::new());
        let stored = serde_json::to_string(&payload).unwrap();
        sections.push(ScoredChunk {
            point_id: chunk.chunk_id,
            position: Some(0),
            chunk: Arc::new(serde_json::from_str(&stored).unwrap()),
            scores: Scores::default(),
        });
    }
    sections
}

/// The answer's Markdown.
fn answered(query: &str, sections: &[ScoredChunk]) -> String {
    let passages: Vec<Passage<'_>> = sections
        .iter()
        .zip(1..)
        .map(|(candidate, n)| Passage { n, candidate })
        .collect();
    let pieces = answer(query, &passages).into_iter();
    let pieces = pieces.map(|piece| match piece {
        Quote::Text(markdown) => markdown,
        Quote::Citation(n) => format!("[{n}]"),
    });
    pieces.collect()
}

/// Source of a page below its title, and what a reader must see of it in the answer.
const PAGES: &[(&str, &str)] = &[
    // Escapes, entities and inline code, as an attacker would write them.
    (
        r"- mopple \[click me\](javascript:alert(document.domain))",
        "mopple [click me](javascript:alert(document.domain)) [1]",
    ),
    (
        r"- mopple \!\[img\](https://evil15.example/p.png)",
        "mopple ![img](https://evil15.example/p.png) [1]",
    ),
    (
        "- mopple `[x](javascript:alert(2))`",
        "mopple [x](javascript:alert(2)) [1]",
    ),
    (
        "- mopple &#60;script&#62;alert(5)&#60;/script&#62;",
        "mopple <script>alert(5)</script> [1]",
    ),
    (
        "The mopple is `<img src=x onerror=alert(1)>` here.",
        "The mopple is <img src=x onerror=alert(1)> here. [1]",
    ),
    (
        "The mopple is &lt;svg onload=alert(1)&gt; here.",
        "The mopple is <svg onload=alert(1)> here. [1]",
    ),
    (
        r"The mopple is \<b onclick=alert(1)>bold\</b> here.",
        "The mopple is <b onclick=alert(1)>bold</b> here. [1]",
    ),
    (
        r"The mopple lives at \<https://evil.example/a>.",
        "The mopple lives at <https://evil.example/a>. [1]",
    ),
    (
        "| mopple | what |\n|---|---|\n| `<script>` | ![img](x.png) `![i](https://evil.example/p)` |",
        "mopple: <script>; what: img ![i](https://evil.example/p) [1]",
    ),
    (
        r"The mopple is proven \[2\] and [1] and \[1, 2\].",
        "The mopple is proven [2] and [1] and [1, 2]. [1]",
    ),
    (
        r"The mopple is \*not bold\*, \_not slanted\_, \~\~not struck\~\~.",
        "The mopple is *not bold*, _not slanted_, ~~not struck~~. [1]",
    ),
    (r"The mopple \[a\]\[b\]", "The mopple [a][b] [1]"),
    (
        r"\[mopple\]: https://evil.example",
        "[mopple]: https://evil.example [1]",
    ),
    (
        "The mopple has ``a`b`` and `` `tick` `` in it.",
        "The mopple has a`b and `tick` in it. [1]",
    ),
    (
        r"The mopple \`is not code\`.",
        "The mopple `is not code`. [1]",
    ),
    (
        "The mopple &amp;lt;b&amp;gt; and &amp;#60; stay.",
        "The mopple &lt;b&gt; and &#60; stay. [1]",
    ),
    // Nobody attacks: books about markup, shells and prices.
    (
        "Use the mopple `<Tabs>` component.",
        "Use the mopple <Tabs> component. [1]",
    ),
    (
        r"A mopple costs \$5 or \$6 a month.",
        "A mopple costs $5 or $6 a month. [1]",
    ),
    (r"\# mopple is no heading", "# mopple is no heading [1]"),
    (r"\- mopple is no item", "- mopple is no item [1]"),
    (
        r"1986\. A great mopple year",
        "1986. A great mopple year [1]",
    ),
    (r"\> mopple is no quotation", "> mopple is no quotation [1]"),
    (r"mopple\\", r"mopple\ [1]"),
    (
        "The mopple file is `C:\\new\\*.txt` or `~/x`.",
        r"The mopple file is C:\new\*.txt or ~/x. [1]",
    ),
    (
        "The mopple site is https://ros.example/a_b_c and www.ros.example.",
        "The mopple site is https://ros.example/a_b_c and www.ros.example. [1]",
    ),
    (
        "Write to mopple@ros.example, please.",
        "Write to mopple@ros.example, please. [1]",
    ),
    (
        "The mopple `x = a[2]` and `[1]` index.",
        "The mopple x = a[2] and [1] index. [1]",
    ),
    (r"The mopple is a \| b", "The mopple is a | b [1]"),
    (
        "The mopple rule\\\n\\---\\\nstays.",
        "The mopple rule --- stays. [1]",
    ),
    (
        r"The mopple \[ \] is open and \[x\] done.",
        "The mopple [ ] is open and [x] done. [1]",
    ),
    (
        "Run mopple `foo. Bar()` first. Then stop.",
        "Run mopple foo. Bar() first. Then stop. [1]",
    ),
    (
        "[The mopple](https://evil.example/a \"t\") is [here](./b.md).",
        "The mopple is here. [1]",
    ),
    (
        "![A mopple \\<b\\>](https://evil.example/a.png) picture.",
        "A mopple <b> picture. [1]",
    ),
    (
        "1. one\n   - two\n     - mopple three\n       continues",
        "mopple three continues [1]",
    ),
    (
        r"The mopple __init__ and \_\_main\_\_ and snake_case_name.",
        "The mopple init and __main__ and snake_case_name. [1]",
    ),
    (
        "```js title=\"mopple\"\nlet a = '`<script>`[1]';\n```",
        "let a = '`<script>`[1]';",
    ),
    ("~~~ m`<b>\nmopple ``` <i>[2]\n~~~", "mopple ``` <i>[2]"),
];

#[test]
fn what_is_text_in_the_book_is_text_in_every_renderer() {
    let known = ["p", "code", "pre", "list", "item"];
    for (source, expected) in PAGES {
        let sections = sections("docs/page.md", &format!("# Page\n\n{source}\n"));
        let markdown = answered("What is the mopple?", &sections);
        for seen in rendered(&markdown) {
            for element in &seen.elements {
                assert!(
                    known.contains(&&**element),
                    "{source}\n{markdown}\n{element}"
                );
            }
            assert!(
                seen.text.contains(&words(expected)),
                "{source}\n{markdown}\n{seen:?}"
            );
        }
    }
}

#[test]
fn what_jsx_shows_as_text_is_text() {
    for (source, expected) in [
        (
            "The mopple is {`<script>alert(1)</script>`} here.",
            "<script>alert(1)</script>",
        ),
        (
            "<Card label=\"The mopple <img src=x onerror=alert(1)> is here.\" />\n",
            "The mopple <img src=x onerror=alert(1)> is here.",
        ),
        (
            "The mopple is <code>a_b</code> *and* **bold** {'<i>'}.",
            "a_b",
        ),
    ] {
        let sections = sections(
            "docs/page.mdx",
            &format!("# Page\n\nA mopple.\n\n{source}\n"),
        );
        let markdown = answered("What is the mopple?", &sections);
        for seen in rendered(&markdown) {
            assert!(
                seen.elements
                    .iter()
                    .all(|name| name == "p" || name == "code"),
                "{seen:?}"
            );
            assert!(seen.text.contains(expected), "{markdown}\n{seen:?}");
        }
    }
}

#[test]
fn inline_code_keeps_its_backticks() {
    let sections = sections(
        "docs/page.md",
        "# Page\n\nThe mopple calls `foo_bar()` and ``a`b``.\n",
    );
    assert_eq!(
        answered("What is the mopple?", &sections),
        "The mopple calls `foo_bar()` and ``a`b``. [1]"
    );
}

#[test]
fn a_text_that_was_stored_without_marks_is_escaped_all_the_same() {
    let mut sections = sections("docs/page.md", "# Page\n\n- mopple `<b>` \\[2\\]\n- two\n");
    for section in &mut sections {
        Arc::make_mut(&mut section.chunk).marks.clear();
    }
    assert_eq!(
        answered("What is the mopple?", &sections),
        "- mopple \\<b> \\[2\\]\n- two [1]"
    );
}

#[test]
fn an_item_without_the_items_around_it_is_still_an_item() {
    let items: String = (0..30)
        .map(|n| format!("{}- item {n} of many words\n", "  ".repeat(n % 5)))
        .collect();
    let page = format!("# Page\n\n{items}- end\n  - inner\n    - the mopple\n      - below it\n");
    let sections = sections("docs/page.md", &page);
    let markdown = answered("What is the mopple below?", &sections);
    for seen in rendered(&markdown) {
        assert!(!seen.elements.contains("pre"), "{markdown}");
        assert!(seen.text.contains("the mopple below it"), "{markdown}");
    }
}
