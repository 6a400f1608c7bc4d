//! Hostile pages: reading each must take time and memory roughly linear in its size. A quadratic algorithm would take hours or all memory, so these
//! tests do not measure time.

use std::collections::BTreeMap;

use super::*;
use crate::{Inputs, MAX_PAGE_BYTES, SiteSettings, SkipReason, page_file, read_document};

fn read(text: &[u8]) -> Result<Document, SkipReason> {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let page = page_file(&settings, "docs/page.mdx").expect("the path is a page's");
    read_document(&settings, "site", &page, text, &Inputs::new())
}

fn check(text: &str) {
    let document = match read(text.as_bytes()) {
        // The page was read to its end to count its headings, which is what this test checks.
        Err(SkipReason::TooManyHeadings) => return,
        read => read.unwrap_or_else(|reason| panic!("skipped: {reason}")),
    };
    let chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
    assert!(!chunks.is_empty());
    let bytes: usize = chunks.iter().map(bytes_of).sum();
    assert!(
        bytes <= 64 * text.len() + (1 << 20),
        "{bytes} bytes of chunks from {} of {:?}",
        text.len(),
        &text[..text.len().min(40)]
    );
}

fn bytes_of(chunk: &Chunk) -> usize {
    let texts = [&chunk.text, &chunk.breadcrumb];
    let texts = texts
        .into_iter()
        .chain(&chunk.heading_path)
        .chain(&chunk.links);
    texts.map(String::len).sum()
}

const UNITS: &[&str] = &[
    "a",
    " a",
    "a ",
    "- ",
    "> ",
    "1. ",
    "<",
    "<a ",
    "<b>",
    "<i> ",
    "<X a=\"two words\"/>",
    "<X a='",
    "<CodeBlock>{\n\n",
    "<CodeBlock>{`a`}",
    "<pre> a",
    "a <p>1) ",
    "<p>\ta",
    "<p> ",
    "</",
    "<!--",
    "<https://",
    "{",
    "{`",
    "{\"",
    "{'\\'",
    "{'\\'\\'",
    "{/*",
    "{a}",
    "`",
    "`a ",
    "``a`",
    "$",
    "$a",
    "$$",
    "*",
    "**a",
    "_a ",
    "~~",
    "[",
    "[a](",
    "![a][b]",
    "![",
    "]",
    "[^1]",
    "|",
    "|a",
    "\\",
    "&amp;",
    "&",
    ":",
    ":a",
    ":::",
    "é",
    "漢",
    "\u{301}",
    "\u{E0B1}",
    "a-",
    "#",
    "\t",
    "\0",
    "\"'",
    "\n",
    "a\n",
    "- a\n",
    "- a\n  ",
    "> a\n",
    "# a\n",
    "### a\n\n",
    "## a\n\nb\n\n",
    "a\n-\n",
    ":::tip\n",
    ":::tip a\n\n:::\n",
    "```\n",
    "~~~a\n",
    "```a\nb\n```\n",
    "    a\n",
    "\ta\n\n",
    "|a|b|\n|-|-|\n|c|d|\n\n",
    "|a|b|\n|-|-|\n",
    "[a]: b\n",
    "[^a]: x\n\n",
    "---\n",
    "***\n",
    "\r\n",
    "import A from './a.mdx'\n",
    "import A from './a.mdx'\n\n<A/>\n\n",
    "export const a = {\n",
    "<TOCInline toc={toc}/>\n\n## a\n\n",
    "<details>\n<summary>a</summary>\n\n",
    "<details><summary>",
    "<summary>a</summary></details>",
    "https://a.b/) ",
    "1https://a_b",
    "_www.",
    "?)",
    "<X a={`b\nc`} />",
    "<style>",
    "{`a`}",
    "a {#a}\n",
    "## a {#a}\n\n",
    "<Tabs>\n<TabItem label=\"a\">\n\n",
    "<h2>",
    "<h2>\n",
    "<h2>a\n\n",
    "<h2>a</h2>\n",
    "<h2 id='",
    "<b/>\n---\n",
    "- <b/>\n",
    "<b/>{a}<!-- a -->",
    "> <b\n> c/>\n",
    "> <b c='\n",
    "\u{E0B6}2a\u{E0B6}\n\na\n\n",
];

#[test]
fn repeated_marks_are_read() {
    const BYTES: usize = 128 << 10;
    for unit in UNITS {
        check(&format!("x\n\n{}", unit.repeat(BYTES / unit.len())));
        check(&format!("# x {}", unit.repeat(BYTES / unit.len())));
    }
}

#[test]
fn repeated_tags_are_read_in_plain_markdown() {
    const BYTES: usize = 256 << 10;
    for unit in [
        "<h2>",
        "<h2>a</h2>\n\n",
        "<h2>a\n\n",
        "<!-- a\n",
        "<!-- #a -->",
        "<pre>a\n",
        "a\n<div>\n",
        "> <b\n> c>\n",
    ] {
        let text = unit.repeat(BYTES / unit.len());
        check(&format!("---\nmdx:\n  format: md\n---\nx\n\n{text}"));
    }
    let nested = "<CodeBlock>{\n\n".repeat(BYTES / 32) + &"}\n\n".repeat(BYTES / 32);
    check(&format!("---\nmdx:\n  format: md\n---\nx\n\n{nested}"));
}

#[test]
fn code_in_attributes_and_constants_are_read() {
    const COUNT: usize = 20_000;
    let attributes: String = (0..COUNT).map(|n| format!(" a{n}={{`b{n}\nc`}}")).collect();
    check(&format!("<Run{attributes} />"));
    let (names, uses): (Vec<String>, Vec<String>) = (0..COUNT)
        .map(|n| (format!("a{n}"), format!("{{a{n}}} <a{n}/>\n")))
        .unzip();
    let uses = uses.concat();
    check(&format!(
        "import {{{}}} from './a'\n\n{uses}Text",
        names.join(", ")
    ));
    let constant = "b ".repeat(100_000);
    let shown = "{a}\n\n".repeat(COUNT);
    let page = format!("export const a = '{constant}'\n\n{shown}Text");
    let document = read(page.as_bytes()).expect("the page can be read");
    let bytes: usize = document.blocks.iter().map(|block| block.text.len()).sum();
    assert!(bytes <= 5 << 20, "{bytes} bytes");
}

#[test]
fn a_line_as_long_as_a_page_may_be_is_read() {
    check(&"a b. ".repeat((MAX_PAGE_BYTES - 8) / 5));
    for unit in ["a", "<X a=\"two words\"/>", "`a` ", "- ", "[a](b) "] {
        check(&unit.repeat(MAX_PAGE_BYTES / 4 / unit.len()));
    }
}

#[test]
fn ten_thousand_headings_are_read_and_each_has_an_id_of_its_own() {
    let text: String = (0..10_000)
        .map(|n| format!("{} Setup\n\nText {n}.\n\n", "#".repeat(2 + n % 4)))
        .collect();
    check(&text);
    let chunks = chunk_document(
        &read(text.as_bytes()).expect("the page can be read"),
        &ChunkPolicy::ADAPTIVE,
    );
    let ids: std::collections::HashSet<_> = chunks
        .iter()
        .map(|chunk| chunk.section_id.clone())
        .collect();
    assert_eq!(ids.len(), 10_000 + 1, "and the page's top has none");
}

#[test]
fn deep_nesting_is_read() {
    let deep = |open: &str, close: &str, inner: &str| {
        let depth = 20_000;
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    for (open, close) in [
        ("> ", ""),
        ("- ", ""),
        ("<div>\n", "\n</div>"),
        ("{", "}"),
        ("[", "]"),
        ("**", "**"),
        ("<a b={", "}/>"),
        ("<h2>", "</h2>"),
        ("<h2>\n\n", "\n\n</h2>"),
        ("> <h2>\n", "\n</h2>"),
    ] {
        check(&format!("x\n\n{}", deep(open, close, "word")));
    }
}

#[test]
fn unclosed_constructs_keep_their_text() {
    for open in [
        "```js\n",
        "<Tabs>\n\n",
        "<Foo bar={",
        "{",
        ":::tip\n\n",
        "`",
        "$$\n",
        "<!-- ",
        "<details>\n\n",
        "[a](",
        "<h2>",
        "<h2>\n\n",
        "<h2>\n\n<h2>\n\n",
    ] {
        let document = read(format!("# T\n\n{open}the words after it\n").as_bytes())
            .expect("the page can be read");
        let chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
        assert!(
            chunks
                .iter()
                .any(|chunk| chunk.text.contains("the words after it")),
            "{open:?}: {chunks:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_skipped_with_line_and_reason() {
    let reason = |bytes: &[u8]| read(bytes).expect_err("it cannot be read").to_string();
    assert_eq!(reason(b"a\nb\xff\n"), "line 2: it is not UTF-8 text");
    assert!(reason(&vec![b'a'; MAX_PAGE_BYTES + 1]).contains("bytes"));
    assert!(reason(b"---\ntitle: [\n---\n").starts_with("front matter, line "));
    assert!(
        reason(b"---\ntitle: a\n").contains("line 1: the block that `---` opens is never closed")
    );
    let laughs = (1..40).fold("a0: &a0 [x,x,x,x,x,x,x,x,x]".to_owned(), |yaml, n| {
        let before = format!("*a{}", n - 1);
        format!("{yaml}\na{n}: &a{n} [{}]", [before.as_str(); 9].join(","))
    });
    assert!(
        reason(format!("---\n{laughs}\n---\nx\n").as_bytes()).starts_with("front matter, line ")
    );
    let deep = format!(
        "---\na: {}{}\n---\nx\n",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(reason(deep.as_bytes()).starts_with("front matter, line "));
}

#[test]
fn a_long_title_does_not_go_into_every_chunk() {
    check(&format!(
        "---\ntitle: {}\n---\n{}",
        "t".repeat(1 << 20),
        "## a\n\nb\n\n".repeat(2_000)
    ));
    check(&format!(
        "# {}\n\n{}",
        "t".repeat(1 << 20),
        "## a\n\nb\n\n".repeat(2_000)
    ));
    check(&format!(
        "## {}\n\n{}",
        "t".repeat(1 << 20),
        "### a\n\nb\n\n".repeat(2_000)
    ));
}

#[test]
fn partials_that_use_each_other_end() {
    let settings = SiteSettings::read(&BTreeMap::new(), true).unwrap();
    let page = page_file(&settings, "docs/page.mdx").expect("the path is a page's");
    let uses = "import A from './_a.mdx';\nimport B from './_b.mdx';\n\nText.\n\n<A/>\n\n<B/>\n\n<A/>\n\n<B/>\n";
    let inputs = Inputs::from(
        ["docs/_a.mdx", "docs/_b.mdx"].map(|path| (path.to_owned(), Some(uses.into()).into())),
    );
    let document = read_document(&settings, "site", &page, uses.as_bytes(), &inputs)
        .expect("the page can be read");
    assert!(
        document
            .warnings
            .iter()
            .any(|warning| warning.contains("nested too deeply"))
    );
    assert!(!chunk_document(&document, &ChunkPolicy::ADAPTIVE).is_empty());
}

#[test]
fn a_problem_of_partials_is_told_once_a_page() {
    let settings = SiteSettings::read(&BTreeMap::new(), true).expect("the settings can be read");
    let page = page_file(&settings, "docs/page.mdx").expect("the path is a page's");
    let uses = format!(
        "import A from './_a.mdx';\nimport B from './_b.mdx';\n\n{}",
        "<A/>\n\n<B/> <B/>\n\n".repeat(50)
    );
    let large = format!("Text.\n\n{}", "x".repeat(1 << 20));
    let inputs = Inputs::from([
        ("docs/_a.mdx".to_owned(), Some(large.into_bytes()).into()),
        ("docs/_b.mdx".to_owned(), None.into()),
    ]);
    let document = read_document(&settings, "site", &page, uses.as_bytes(), &inputs)
        .expect("the page can be read");
    let told = |problem: &str| {
        let warnings = document.warnings.iter();
        warnings.filter(|it| it.contains(problem)).count()
    };
    assert_eq!(told("left out"), 1, "{:?}", document.warnings);
    assert_eq!(
        told("line 6: the imported file docs/_b.mdx does not exist"),
        1
    );
    assert_eq!(told("does not exist"), 1);
    let uses = (0..20).map(|n| format!("import A{n} from './_{n:02}.mdx';\n\n<A{n}/>\n\n"));
    let uses: String = uses.collect();
    let document = read_document(&settings, "site", &page, uses.as_bytes(), &Inputs::new())
        .expect("the page can be read");
    assert_eq!(
        document.warnings,
        ["line 3: 20 imported files do not exist, the first is docs/_00.mdx"]
    );
}
