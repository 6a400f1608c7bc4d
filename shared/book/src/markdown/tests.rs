mod headings;
mod panels;

use std::collections::BTreeMap;

use super::super::mdx::tests::{MARKDOWN, MDX};
use super::*;
use crate::mdx::{PageValues, prepare};

fn blocks(text: &str) -> Vec<Block> {
    let prepared = prepare(text, 1, MDX, &BTreeMap::new(), PageValues::default());
    let raw: Vec<_> = text.lines().collect();
    parse_blocks(&prepared, &raw, MDX, &mut Slugger::default()).blocks
}

fn markdown_blocks(text: &str) -> Vec<Block> {
    let prepared = prepare(text, 1, MARKDOWN, &BTreeMap::new(), PageValues::default());
    let raw: Vec<_> = text.lines().collect();
    parse_blocks(&prepared, &raw, MARKDOWN, &mut Slugger::default()).blocks
}

fn is_heading(block: &Block) -> bool {
    matches!(block.kind, BlockKind::Heading { .. })
}

fn anchors(text: &str) -> Vec<String> {
    blocks(text)
        .into_iter()
        .filter_map(|block| match block.kind {
            BlockKind::Heading { anchor, .. } => Some(anchor.unwrap_or_default()),
            _ => None,
        })
        .collect()
}

#[test]
fn blocks_know_their_lines_and_source() {
    let text = "# T\n\nA *b*\nc.\n\n- one\n- two\n\n  more\n\n```sh\nx\n\n```\n\n| a | b |\n|---|---|\n| `c|d` | e |\n";
    let seen: Vec<_> = blocks(text)
        .into_iter()
        .map(|block| (block.text, block.start_line, block.end_line))
        .collect();
    let expected = [
        ("T", 1, 1),
        ("A b c.", 3, 4),
        ("- one", 6, 6),
        ("- two", 7, 7),
        ("more", 9, 9),
        ("x", 11, 14),
    ];
    for (block, expected) in seen.iter().zip(expected) {
        assert_eq!((block.0.as_str(), block.1, block.2), expected);
    }
    assert_eq!((seen[6].1, seen[6].2), (16, 18));
    assert_eq!(blocks(text)[1].markdown, "A *b*\nc.");
}

#[test]
fn heading_ids_are_those_of_docusaurus() {
    assert_eq!(
        anchors("# Same words\n\n## Same words"),
        ["", "same-words-1"]
    );
    assert_eq!(
        anchors("## A {#Id}\n\n## B{/* #other */}\n\n## `c` {1 + 1} d"),
        ["Id", "other", "c-1--1-d"]
    );
    assert_eq!(
        anchors("> ## In a quote\n\n- ## In a list"),
        ["in-a-quote", "in-a-list"]
    );
    assert_eq!(anchors("<div>\n    ## Indented\n</div>"), ["indented"]);
    assert_eq!(
        anchors("## ![alt](x.png) and [link](y)\n\nSetext\n---"),
        ["alt-and-link", "setext"]
    );
    assert_eq!(anchors("## 🤖\n\n## Note[^1]\n\n[^1]: x"), ["", "note"]);
}

#[test]
fn indented_text_is_code_in_markdown_only() {
    let text = "a\n\n    b *c*\n";
    assert_eq!(blocks(text)[1].kind, BlockKind::Paragraph);
    let plain = markdown_blocks(text);
    assert_eq!(plain[1].text, "b *c*");
    assert!(matches!(plain[1].kind, BlockKind::Code { .. }));
}

#[test]
fn nested_lists_keep_their_marks() {
    let text = "1. a\n   - b\n     - c\n2. d\n- [x] e";
    let seen: Vec<_> = blocks(text).into_iter().map(|block| block.text).collect();
    assert_eq!(seen, ["1. a", "  - b", "    - c", "2. d", "- [x] e"]);
    let seen: Vec<_> = blocks("1. ## A\n\n   b\n2. ```\n   c\n   ```")
        .into_iter()
        .map(|block| block.text)
        .collect();
    assert_eq!(seen, ["A", "b", "c"]);
}

#[test]
fn highlight_marks_are_not_shown_with_the_code() {
    let seen = blocks(
        "```jsx\n// highlight-next-line\na();\n{/* highlight-start */}\nb(); // highlight-end\n```",
    );
    assert_eq!(seen[0].text, "a();\nb(); // highlight-end");
}

#[test]
fn shortcodes_are_emojis_except_in_code_and_in_ids() {
    let text = "## Setup :gear: now\n\n**:rocket:** *a* :white_check_mark: `:x:` $:x:$ \\:x: :30:gear: :none: 10:30:45 [:+1: b](c) ![:x:](d.png)\n\n| :x: |\n|---|\n| *d* |";
    let seen = blocks(text);
    let texts: Vec<&str> = seen.iter().map(|block| block.text.as_str()).collect();
    let paragraph = "🚀 a ✅ :x: $:x:$ ❌ :30⚙️ :none: 10:30:45 👍 b :x:";
    assert_eq!(texts, ["Setup ⚙️ now", paragraph, "❌\nd"]);
    let marked: Vec<&str> = seen[1]
        .marks
        .iter()
        .map(|mark| &paragraph[mark.range()])
        .collect();
    assert_eq!(marked, ["🚀", "a", ":x:", "$:x:$", "👍 b", ":x:"]);
    assert_eq!(anchors(text), ["setup-gear-now"]);
    let plain = Dialect {
        emoji: false,
        ..MDX
    };
    let prepared = prepare(text, 1, plain, &BTreeMap::new(), PageValues::default());
    let lines: Vec<&str> = text.lines().collect();
    let parsed = parse_blocks(&prepared, &lines, plain, &mut Slugger::default());
    assert_eq!(parsed.blocks[0].text, "Setup :gear: now");
}

#[test]
fn headings_in_indented_text_keep_their_lines() {
    let seen: Vec<_> = blocks("    a\n    ## Heading\n    b\n\n    c\n    ### Other\n    d")
        .into_iter()
        .map(|block| (block.text, block.start_line))
        .collect();
    let expected = [
        ("a", 1),
        ("Heading", 2),
        ("b", 3),
        ("c", 5),
        ("Other", 6),
        ("d", 7),
    ];
    assert_eq!(seen, expected.map(|(text, line)| (text.to_owned(), line)));
}

#[test]
fn the_same_bytes_leave_out_the_same_in_the_same_order() {
    let text: String = (0..40).map(|n| format!("[a{n}]: x{n}\n\n")).collect();
    let read = || {
        let prepared = prepare(&text, 1, MDX, &BTreeMap::new(), PageValues::default());
        parse_blocks(&prepared, &[], MDX, &mut Slugger::default()).omissions
    };
    let first = read();
    assert_eq!(first.len(), 40);
    assert!((0..5).all(|_| read() == first));
}

/// Syntax that is removed still ends a paragraph, as in Docusaurus, so an underline below it makes no heading.
#[test]
fn an_underline_below_a_block_of_tags_makes_no_heading() {
    let mdx = [
        "<div></div>",
        "<br />",
        "<hr\n  className=\"x\"\n/>",
        "<X/> {y} <Z/>",
        "{/* comment */}",
        "{\n  x\n}",
        "{x}",
        "{'text'}",
        "<!-- comment -->",
        "<img alt=\"a picture\"/>",
        "text\n<br />",
        "text\n{/* comment */}",
        "text\n      <br />",
        "text\n\t<br />",
        "- item\n<br />",
        "> quote\n<br />",
        "import x from 'y'\n",
    ];
    for block in mdx {
        for underline in ["---", "===", "--"] {
            for text in [
                format!("{block}\n{underline}\n\nafter"),
                format!("<div className=\"full\">\n\n{block}\n{underline}\n\nafter\n\n</div>"),
            ] {
                let blocks = blocks(&text);
                assert!(!blocks.iter().any(is_heading), "{text:?}: {blocks:?}");
            }
        }
    }
    let markdown = [
        "<div></div>",
        "<!-- comment -->",
        "<!-- over\nlines -->",
        "<pre>text</pre>",
        "<style>\n.x{}\n</style>",
        "text\n<div></div>",
        "text\n<!-- comment -->",
    ];
    for block in markdown {
        let text = format!("{block}\n---\n\nafter");
        let blocks = markdown_blocks(&text);
        assert!(!blocks.iter().any(is_heading), "{text:?}: {blocks:?}");
    }
}

#[test]
fn an_underline_below_text_with_tags_makes_a_heading() {
    for (text, anchor) in [
        ("<b>Text</b>\n---", "text"),
        ("{x} text\n---", "x-text"),
        ("text {/* comment */}\n---", "text--comment-"),
        ("<h2>Text</h2>\n---", "text"),
        ("> <b>Text</b>\n> ---", "text"),
    ] {
        assert_eq!(anchors(text), [anchor], "{text}");
    }
}

#[test]
fn a_block_of_tags_joins_no_list_table_or_quotation() {
    let texts = |text: &str| -> Vec<String> {
        let blocks = blocks(text).into_iter();
        blocks.map(|block| block.text).collect()
    };
    assert_eq!(texts("1. a\n<X/>\n1. b"), ["1. a", "1. b"]);
    assert_eq!(texts("1. a\n   <X/>\n   b\n2. c"), ["1. a", "b", "2. c"]);
    assert_eq!(texts("2. <X/>\n\n   b"), ["2. b"]);
    assert_eq!(
        texts("- <TabItem label=\"On Linux\">\n\n  b\n  </TabItem>"),
        ["- On Linux", "b"]
    );
    assert_eq!(
        texts("<X/>\n| a |\n|---|\n| b |\n<X/>\n| c |"),
        ["a\nb", "| c |"]
    );
    assert_eq!(texts("a\n<X/>\n    b\n<X/>\nc"), ["a", "b", "c"]);
    assert_eq!(
        texts("> a\n> <X\n>   b=\"c\"\n> />\n> ---\n> d"),
        ["a", "d"]
    );
    assert_eq!(
        texts("> <X\n>   title=\"two\n> words\"\n> /> d"),
        ["two words", "d"]
    );
}

#[test]
fn marks_of_a_line_that_is_no_heading_after_all_are_not_shown() {
    assert_eq!(blocks("- a <b>c</b>\n---")[0].text, "- a c");
}

fn seen_headings(blocks: Vec<Block>) -> Vec<(String, Option<String>)> {
    let headings = blocks.into_iter().filter_map(|block| match block.kind {
        BlockKind::Heading { level, anchor, .. } => {
            Some((format!("{level} {}", block.text), anchor))
        }
        _ => None,
    });
    headings.collect()
}

#[test]
fn headings_written_as_tags_are_headings() {
    let cases: [(&str, &[(&str, &str)]); 16] = [
        ("<h2>Plain</h2>", &[("2 Plain", "")]),
        ("<h2 id=\"x\">With</h2>", &[("2 With", "x")]),
        (
            "<h3 id={'x'}>With **bold** and `a`</h3>",
            &[("3 With bold and a", "x")],
        ),
        (
            "<h2\n  id=\"x\"\n>\n  Over <b>several</b>\n  lines\n</h2>",
            &[("2 Over several lines", "x")],
        ),
        ("<h2 id='x'>\n\nOne\n\ntwo\n\n</h2>", &[("2 One two", "x")]),
        (
            "<Heading as=\"h2\" id=\"x\">Component</Heading>",
            &[("2 Component", "x")],
        ),
        (
            "<h2 id='a'>A</h2>\n<h3 id='b'>B</h3>\ntext",
            &[("2 A", "a"), ("3 B", "b")],
        ),
        ("- <h3 id='x'>In an item</h3>", &[("3 In an item", "x")]),
        ("> <h3 id='x'>Quoted</h3>", &[("3 Quoted", "x")]),
        (
            "<summary><h3>In a summary</h3></summary>",
            &[("3 In a summary", "")],
        ),
        ("<h2 id='a_b*c*'>1. Marks</h2>", &[("2 1. Marks", "a_b*c*")]),
        ("<h2>{'Text'}</h2>", &[("2 Text", "")]),
        ("## <h2 id='x'>Both</h2>", &[("2 Both", "both")]),
        ("# <span id='x'>Title</span>", &[("1 Title", "")]),
        (
            "<h2>\n\n## Inside\n\n</h2>\n\ntext </h2>",
            &[("2 Inside", "inside")],
        ),
        (
            "<h2>Never closed\n\ntext\n\n<h3>Closed</h3>",
            &[("3 Closed", "")],
        ),
    ];
    let expected = |headings: &[(&str, &str)]| -> Vec<(String, Option<String>)> {
        let headings = headings.iter().map(|(text, anchor)| {
            let anchor = Some((*anchor).to_owned()).filter(|anchor| !anchor.is_empty());
            ((*text).to_owned(), anchor)
        });
        headings.collect()
    };
    for (text, headings) in cases {
        assert_eq!(seen_headings(blocks(text)), expected(headings), "{text}");
    }
    let in_markdown: [(&str, &[(&str, &str)]); 4] = [
        ("<H2 ID=x>As *it* stands</H2>", &[("2 As *it* stands", "x")]),
        ("<h2 id='x'>\nOver\nlines\n</h2>", &[("2 Over lines", "x")]),
        ("<h2>\n\nWith **bold**\n\n</h2>", &[("2 With bold", "")]),
        ("text\n<h3>a</h3>\ntext", &[("3 a", "")]),
    ];
    for (text, headings) in in_markdown {
        let seen = seen_headings(markdown_blocks(text));
        assert_eq!(seen, expected(headings), "{text}");
    }
}

#[test]
fn what_is_no_heading_stays_text() {
    for text in [
        "<summary>Text</summary>",
        "<h2>Text",
        "Text</h2>",
        "<h2 id='x'/>\n\nText",
        "<h2>{text}</h2>",
        "| <h2>Text</h2> |\n|---|",
        "<Heading id='x'>Text</Heading>",
        "<h2>\n\n- an item\n\n</h2>",
    ] {
        let blocks = blocks(text);
        assert!(!blocks.iter().any(is_heading), "{text}: {blocks:?}");
    }
}

#[test]
fn a_heading_written_as_tags_knows_its_lines_and_reserves_no_id() {
    let text = "<h2\n  id=\"a\"\n>\n  A\n</h2>\n\n<h2>b</h2>\n\n## b\n";
    let headings = blocks(text);
    assert_eq!((headings[0].start_line, headings[0].end_line), (3, 5));
    assert_eq!(headings[1].markdown, "<h2>b</h2>");
    assert_eq!(anchors(text), ["a", "", "b"]);
}

fn targets(text: &str) -> Vec<(String, String)> {
    let blocks = blocks(text).into_iter();
    let targets = blocks.flat_map(|block| {
        let address = |mark: &Mark| match &mark.kind {
            MarkKind::Link(addresses) => Some(addresses.concat()),
            MarkKind::Picture(address) => Some(format!("!{address}")),
            _ => None,
        };
        let marks = block.marks.iter();
        let found =
            marks.filter_map(|mark| Some((block.text[mark.range()].to_owned(), address(mark)?)));
        found.collect::<Vec<_>>()
    });
    targets.collect()
}

#[test]
fn links_and_pictures_written_as_tags_are_those_of_markdown() {
    for (text, expected) in [
        (
            "See <a href=\"/a_b*c*\">the page</a>.",
            &[("the page", "/a_b*c*")][..],
        ),
        (
            "<Link to='./b.md'>*A* page</Link> and more",
            &[("A page", "./b.md")],
        ),
        (
            "- <a href='/a'>1. One</a>\n- <a href='/b'>`Two`</a>",
            &[("1. One", "/a"), ("Two", "/b")],
        ),
        (
            "| a | b |\n|---|---|\n| <a href='/a'>x</a> | <a href='/b'>y | z |",
            &[("x", "/a"), ("y", "/b")],
        ),
        (
            "a\n\n<Link to='/a'>\n  Get started\n</Link>\n\nb",
            &[("Get started", "/a")],
        ),
        (
            "<Link to='/a'>\n\n## Title\n\nWords\n\n</Link>\n\nb",
            &[("Words", "/a")],
        ),
        ("<a href='/a'>One\n\nTwo</a> three", &[("One", "/a")]),
        (
            "<img src='/a.png' alt='A robot' />",
            &[("A robot", "!/a.png")],
        ),
        (
            "Here <img src={require('./a.png').default} alt=\"a\" /> it is",
            &[("a", "!./a.png")],
        ),
        (
            "<a href='/a'><img src='/a.png' alt='A' /></a>",
            &[("A", "/a"), ("A", "!/a.png")],
        ),
        ("[a <a href='/b'>b</a>](/c)", &[("a b", "/c")]),
        ("<a href='/a'>a [b](/b)</a> c", &[("a b", "/a")]),
        // The picture has no alternative text, or the link is dead.
        (
            "<a href='/a'></a> b <a name='x'>c</a> <img src='/a.png' /> <a href='/d' /> e",
            &[],
        ),
        ("```\n<a href='/a'>b</a>\n```\n\n`<a href='/a'>b</a>`", &[]),
        (
            "## <a href='/a'>Title</a>\n\n<h2><a href='/a'>Title</a></h2>",
            &[],
        ),
    ] {
        let expected: Vec<_> = expected
            .iter()
            .map(|&(text, to)| (text.to_owned(), to.to_owned()))
            .collect();
        assert_eq!(targets(text), expected, "{text}");
    }
}

#[test]
fn where_a_tag_leads_changes_no_text() {
    let texts = [
        "a TAGb</a> c",
        "TAG\n\n- b\n\n</a>",
        "TAG\n# b\n</a>",
        "TAG\n---\n\nb\n</a>",
        "TAG\n\n---\n\nb",
        "a\nTAG\n===\n</a>",
        "TAG\n| a | b |\n|---|---|\n| c | TAGd</a> |\n</a>",
        "| a | b |\n|---|---|\n| TAG c | d |</a>\n\ne",
        "TAG\n```sh\nx\n```\n</a>",
        "TAG***\n\n*a*</a>",
        "TAG_a_</a> b_TAGc</a>_d _TAGe_</a> TAG __f__</a>_",
        "*TAGa*</a> **TAG\"b\"</a>** ~~TAGc</a>~~",
        "1. TAG2. b</a>\n2. TAG\n   - c\n   </a>",
        "> TAGa\n> b</a>\n> TAG\n>\n> c</a>",
        "a\n</a>\nb TAG\nc\n</a> d",
        "TAG</a>TAGTAGa</a></a></a>b",
        "TAG[a]: b\n\n[c]: d\n</a>\n\n[c]",
        "    TAGa</a>\n\n\tb",
        "<h2>TAGa</a></h2>\n\nTAG\n\n<h2>b</h2>\n</a>",
        "TAGa</a>\n---\n\n## TAGb</a> {#x}",
        "TAG$a$</a> b `c` TAG`d`</a>",
        "TAG:::note\n\na\n\n:::\n</a>",
        "<div>TAG<p>a</p></a></div>",
    ];
    let seen = |blocks: Vec<Block>| -> Vec<_> {
        let blocks = blocks.into_iter();
        blocks
            .map(|block| (block.kind, block.text, block.start_line, block.end_line))
            .collect()
    };
    for text in texts {
        let leads = text.replace("TAG", "<a href=\"./a_b*c*.md#d\">");
        let stays = text.replace("TAG", "<a>");
        assert_eq!(seen(blocks(&leads)), seen(blocks(&stays)), "{text}");
        assert_eq!(
            seen(markdown_blocks(&leads)),
            seen(markdown_blocks(&stays)),
            "{text}"
        );
    }
}

#[test]
fn alerts_are_read_like_admonitions() {
    let texts = |text: &str| -> Vec<String> {
        let blocks = markdown_blocks(text).into_iter();
        blocks.map(|block| block.text).collect()
    };
    assert_eq!(
        texts("> [!WARNING]\n> It is hot.\n>\n> Wait.\n\nText."),
        ["Warning", "It is hot.", "Wait.", "Text."]
    );
    assert_eq!(texts("> [!OTHER]\n> It is."), ["[!OTHER] It is."]);
}

#[test]
fn a_mark_after_code_is_no_block() {
    let shown = blocks("- Run\n  ```sh\n  a\n  ```\n  .\n- Stop.\n\n...\n\nNo. 1");
    let shown: Vec<_> = shown.iter().map(|block| block.text.as_str()).collect();
    assert_eq!(shown, ["- Run", "a", "- Stop.", "No. 1"]);
}
