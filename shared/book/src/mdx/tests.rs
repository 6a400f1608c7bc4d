use super::*;
use crate::placeholder::Placeholder;
use text::marks::PANEL;

pub(crate) const MDX: Dialect<'static> = Dialect {
    flavor: Flavor::Mdx,
    math: true,
    comment_ids: false,
    emoji: true,
    admonitions: None,
    magic_comments: None,
};
pub(crate) const MARKDOWN: Dialect<'static> = Dialect {
    flavor: Flavor::Markdown,
    ..MDX
};

fn plain(text: &str) -> String {
    let prepared = prepare(text, 1, MDX, &BTreeMap::new(), PageValues::default());
    assert_eq!(prepared.text.lines().count(), prepared.line_of.len());
    assert!(prepared.line_of.is_sorted(), "{:?}", prepared.line_of);
    let lines: Vec<_> = prepared
        .text
        .lines()
        .map(|line| line.trim_matches(PANEL))
        .filter(|line| !matches!(line.trim(), "" | REMOVED_BLOCK))
        .collect();
    lines.join("\n")
}

#[test]
fn imports_tags_and_expressions_go_and_their_prose_stays() {
    let text = "import Tabs from '@theme/Tabs';\nexport const x = {\n\n  a: 1,\n};\n\nA <b>bold</b> H<sub>2</sub>O {/* gone */}end{' '}.\n\n<Tabs>\n<TabItem value=\"a\" label=\"On Linux\">\n\ninside\n\n</TabItem>\n</Tabs>\n";
    assert_eq!(plain(text), "A bold H2O end .\nOn Linux\ninside");
}

#[test]
fn code_is_left_alone() {
    let text = "```jsx\nimport x from 'y'\n<Foo bar={1}/>\n:::tip\n```\n\n`<b>` and ``a ` {b}`` and $\\frac{a}{b}$";
    assert_eq!(plain(text), text.replace("\n\n", "\n"));
}

#[test]
fn admonitions_keep_kind_and_title() {
    assert_eq!(
        plain(":::tip[My *tip*]{.x}\nText\n:::"),
        "Tip: My *tip*\nText"
    );
    assert_eq!(
        plain(
            ":::note{title=\"Torque of the lid\" .wide}\n\nFour.\n\n:::\n\n:::tip[Label]{title='Own'}\nWords.\n:::"
        ),
        "Note: Torque of the lid\nFour.\nTip: Own\nWords."
    );
    assert_eq!(
        plain("::::note\n\n:::warning Hot\n\na\n\n:::\n\n::::"),
        "Note\nWarning: Hot\na"
    );
}

#[test]
fn of_other_directives_only_the_label_and_the_content_are_shown() {
    for (page, expected) in [
        (":::flex\nFirst.\n::br\nSecond.\n:::", "First.\nSecond."),
        (
            "::::box[Two *words* <b>x</b>]{title=\"No\"}\n:::tip\na\n:::\n::::\nb",
            "Two *words* x\nTip\na\nb",
        ),
        ("> ::hero[Big]{.wide}\n> a", "> Big\n>\n> a"),
        (
            "- :::note\n  a\n  :::\n- ::br\n  b",
            "- Note\n  a\n- <!---->\n  b",
        ),
        (
            "Press :kbd[Ctrl]+:kbd[C]{.y}, :icon{name=\"x\"} a:b std::c[d] :e[f [g](h:i[j])].",
            "Press Ctrl+C,  a:b std::c[d] f [g](h:i[j]).",
        ),
        ("re:term[as\nsign]{.x}ment", "reas\nsignment"),
        ("## A :kbd[b] `:kbd[c]`", "## A b `:kbd[c]`"),
        (":::flex Title\na\n:::", ":::flex Title\na\n:::"),
        (":::Note\na\n:::", "a"),
    ] {
        assert_eq!(plain(page), expected, "{page}");
    }
}

#[test]
fn the_options_of_a_plugin_name_its_admonitions() {
    let names = ["spec".to_owned()];
    let admonitions = Some(names.as_slice());
    let dialect = Dialect { admonitions, ..MDX };
    let page = ":::spec Torque\na\n:::\n\n:::note\nb\n:::";
    let prepared = prepare(page, 1, dialect, &BTreeMap::new(), PageValues::default());
    let text = prepared.text.replace(REMOVED_BLOCK, "");
    let words: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(words, ["Spec:", "Torque", "a", "b"]);
    assert_eq!(
        (prepared.admonitions_at(2), prepared.admonitions_at(6)),
        (1, 0)
    );
}

#[test]
fn an_admonition_that_begins_an_item_is_in_one_item() {
    assert_eq!(
        plain("2. :::tip\n   Text\n   :::\n3. b"),
        "2. Tip\n   Text\n3. b"
    );
    assert_eq!(plain("- :::note[Own]\n\n  a\n\n  :::"), "- Note: Own\n  a");
}

#[test]
fn colons_that_begin_or_end_no_admonition_are_text() {
    assert_eq!(plain("::: tip\n\na\n\n:::"), "::: tip\na\n:::");
    assert_eq!(plain("- :::tip Own\n\n  a"), "- :::tip Own\n  a");
    assert_eq!(
        plain("::::tip\n\na\n\n:::\n\n::::\n\n:::"),
        "Tip\na\n:::\n:::"
    );
    assert_eq!(
        plain(":::tip\n\n:::note\n\na\n\n:::\n\n:::"),
        "Tip\nNote\na\n:::"
    );
}

#[test]
fn a_links_destination_is_no_tag_and_no_expression() {
    for line in [
        "[a](<b c.md>) and ![d](<e {f}.png> \"<g> {h}\")",
        "[a](b{c}.md#d:e[f])",
        "[a]: <b c.md> \"{d}\"",
    ] {
        assert_eq!(plain(line), line);
    }
    assert_eq!(plain("[a] (<b>c</b>) [d](<b>e</b>)"), "[a] (c) [d](e)");
    assert_eq!(plain("text\n[a]: <b>c</b>"), "text\n[a]: c");
}

#[test]
fn a_constant_of_the_page_is_shown() {
    let page = "export const version = '1.2.3', port = 8080;\nexport const f = () => 1; export let old = '1';\n\nVersion {version} on {port}: {f}{old}{ version }.\n\nexport const late = `a*b`;\n\n{late}";
    assert_eq!(plain(page), "Version 1\\.2\\.3 on 8080: 1\\.2\\.3.\na\\*b");
}

#[test]
fn the_content_of_an_element_that_is_not_shown_is_no_text() {
    for page in [
        "<head>\n<title>Other</title>\n<meta name=\"a\" content=\"b c\"/>\n</head>\n\nText",
        "import Head from '@docusaurus/Head'\n\n<Head>\n\n<title>Other</title>\n\n</Head>\n\nText",
        "<video controls><source src='a.mp4'/>No video.</video>\n\nText",
        "<iframe src='a'></iframe>\n\nText",
    ] {
        assert_eq!(plain(page), "Text", "{page}");
    }
    let page = "Put <head> here.\n\nText\n\n```html\n</head>\n```";
    let prepared = prepare(page, 1, MARKDOWN, &BTreeMap::new(), PageValues::default());
    assert!(prepared.text.contains("\n\nText\n\n"), "{}", prepared.text);
    let details =
        "<details open>\n<summary title=\"No\">More *of* it</summary>\n\nText\n</details>";
    assert_eq!(plain(details), "More *of* it\nText");
    assert_eq!(
        plain("<details><summary>More</summary>Text</details>"),
        "More\nText"
    );
}

#[test]
fn an_admonition_component_has_its_name() {
    let text = "<Admonition type=\"tip\" title=\"My *own*\">\n\na\n\n</Admonition>\n\n<Admonition type=\"note\">\n\nb\n\n</Admonition>";
    assert_eq!(plain(text), "Tip: My *own*\na\nNote\nb");
}

#[test]
fn fragments_leave_no_space() {
    assert_eq!(plain("a (<>b</>), _c <>d</> e_"), "a (b), _c d e_");
}

#[test]
fn comments_and_multi_line_tags_leave_nothing() {
    assert_eq!(
        plain("a <!-- x\n y --> b\n<Foo\n  bar={1}\n/>\nc"),
        "a  b\nc"
    );
    assert_eq!(plain("<style>{`.x{}`}</style>\nc"), "c");
}

#[test]
fn stray_brackets_stay_as_text() {
    assert_eq!(plain("1 <5 and {open"), "1 \\<5 and \\{open");
    assert_eq!(plain("see <https://x.org/a>"), "see <https://x.org/a>");
}

#[test]
fn mdx_code_block_fences_are_unwrapped() {
    assert_eq!(
        plain("```mdx-code-block\n<b>\n```\n\ntext\n\n````mdx-code-block\n</b>\n````"),
        "text"
    );
}

#[test]
fn what_mdx_code_blocks_hold_is_a_page_with_its_own_lines() {
    let text = "```mdx-code-block\nimport A from '@theme/A'\n```\n\n## One\n\n```mdx-code-block\n<A>\n```\n\nText.\n\n```mdx-code-block\n</A>\n```\n";
    let prepared = prepare(text, 3, MDX, &BTreeMap::new(), PageValues::default());
    let lines = prepared.text.lines().zip(&prepared.line_of);
    let texts: Vec<(&str, u32)> = lines
        .filter(|(text, _)| !text.is_empty() && *text != REMOVED_BLOCK)
        .map(|(text, line)| (text, *line))
        .collect();
    assert_eq!(texts, [("## One", 7), ("Text.", 13)]);
    let imports = prepared.omissions.iter();
    let imports: Vec<u32> = imports
        .filter(|omission| omission.reason == OmissionReason::Import)
        .map(|omission| omission.start_line)
        .collect();
    assert_eq!(imports, [4]);
    assert_eq!(prepared.removed_lines, [3, 5, 9, 11, 15, 17]);
}

#[test]
fn in_plain_markdown_tags_within_a_text_make_no_block() {
    let plain = |text: &str| {
        let prepared = prepare(text, 1, MARKDOWN, &BTreeMap::new(), PageValues::default());
        prepared.text.trim().to_owned()
    };
    assert_eq!(plain("- <b>x</b>\n- <b>y</b>"), "- x\n- y");
    assert_eq!(plain("<kbd>Ctrl</kbd> + **C**"), "Ctrl + **C**");
    assert_eq!(plain("<div>\n    a *b*\n</div>"), "a \\*b\\*");
    assert_eq!(plain("<br/> <br/> <br/> <br/> text"), "text");
    assert_eq!(plain("<!-- a --> <!-- b --> <!-- c --> text"), "text");
}

#[test]
fn in_plain_markdown_blocks_of_html_end_where_they_are_closed() {
    let plain = |text: &str| {
        let prepared = prepare(text, 1, MARKDOWN, &BTreeMap::new(), PageValues::default());
        prepared.text.trim().to_owned()
    };
    for (text, last) in [
        ("<style>\n.x {}\n</style>\n**a**", "**a**"),
        ("<!-- a\n\nb -->\n**c**", "**c**"),
        ("<pre>\na\n\n*b*\n</pre>\n**c**", "**c**"),
        ("a\n<div>\n*b*\n</div>\n\n**c**", "**c**"),
        ("a\n<div>\n*b*", "\\*b\\*"),
        ("a\n<b>\n*b*", "*b*"),
    ] {
        assert_eq!(plain(text).lines().last(), Some(last), "{text}");
    }
}

#[test]
fn what_follows_a_tag_on_its_line_begins_no_item() {
    assert_eq!(plain("1. a<div>b</div>c\n2. d"), "1. a\n   b\n   c\n2. d");
    assert_eq!(plain("x <div>1. a</div>"), "x\n1\\. a");
    assert_eq!(plain("<div>## x</div>"), "\\## x");
}

#[test]
fn what_follows_a_tag_on_its_line_makes_no_heading_of_the_line_before() {
    let row = "<tr>\n<td>Cost</td>\n<td><b>=</b></td>\n<td>x</td>\n<td>---</td>\n<td>y</td>\n</tr>";
    assert_eq!(plain(row), "Cost\n\\=\nx\n\\---\ny");
}

#[test]
fn lines_keep_their_numbers() {
    let prepared = prepare(
        "a\n<X\n y='1'\n/>\nb\n\n```\nc\n```\n",
        10,
        MDX,
        &BTreeMap::new(),
        PageValues::default(),
    );
    let line = |text: &str| {
        let at = prepared
            .text
            .lines()
            .position(|line| line == text)
            .expect("the line is there");
        prepared.line_of[at]
    };
    assert_eq!((line("a"), line("b"), line("c")), (10, 14, 17));
}

#[test]
fn a_code_component_is_a_fence_on_the_lines_of_its_code() {
    let body = "Text.\n\n<CodeBlock language=\"yaml\" title=\"a.yaml\">\n  {`analyzer:\n  plugins:\n    - ${name}`}\n</CodeBlock>\n\nMore.\n";
    let prepared = prepare(body, 1, MDX, &BTreeMap::new(), PageValues::default());
    let fence = "```yaml title=\"a.yaml\"\nanalyzer:\n  plugins:\n    - ${name}\n```\n";
    assert!(prepared.text.contains(fence), "{}", prepared.text);
    let line = |text: &str| {
        let at = prepared.text.lines().position(|line| line == text);
        prepared.line_of[at.expect("the line is there")]
    };
    assert_eq!(
        (line("analyzer:"), line("    - ${name}"), line("More.")),
        (4, 6, 9)
    );
    let text = |body: &str| prepare(body, 1, MDX, &BTreeMap::new(), PageValues::default()).text;
    let titled = text("<CodeBlock title=\"a.txt\">{`hello`}</CodeBlock>");
    assert!(
        titled.contains("```text title=\"a.txt\"\nhello\n```"),
        "{titled}"
    );
    let item = text("1. One\n\n   <CodeBlock language=\"yaml\">{`a:\n     b: 1`}</CodeBlock>\n");
    assert!(item.contains("   a:\n     b: 1\n   ```"), "{item}");
    for (other, expected) in [
        ("<pre>\n{`a:\n  b`}\n</pre>", "```\na:\n  b\n```"),
        (
            "<td>\n    <pre>\n{`a:\n  b`}\n    </pre>\n</td>",
            "    a:\n      b\n    ```",
        ),
        (
            "<Code className=\"language-toml\">\n{`a\nb`}</Code>",
            "```toml\na\nb\n```",
        ),
        (
            "<pre><code className=\"language-sh\">{\n`a\nb\n`}</code></pre>",
            "```sh\na\nb\n```",
        ),
        (
            "<CodeBlock language=\"sh\">\n  {' '}\n  {`a\nb`}{' '}\n</CodeBlock>",
            "```sh\na\nb\n```",
        ),
    ] {
        assert!(text(other).contains(expected), "{other}: {}", text(other));
    }
    for other in [
        "<Code>{`a`}</Code>",
        "<CodeBlock>{``}</CodeBlock>",
        "> <CodeBlock>{`\n> a\n> `}</CodeBlock>",
        "<CodeBlock>{code}</CodeBlock>",
        "| a |\n|---|\n| <pre>{`b`}</pre> |",
        "<pre><code>{`a`}</code> b</pre>",
        "<CodeBlock>{`a`}{`b`}</CodeBlock>",
        "<CodeBlock>a `b`</CodeBlock>",
        "<CodeBlock>a <b>c</b></CodeBlock>",
        "| a |\n|---|\n| <pre>b</pre> |",
    ] {
        let prepared = prepare(other, 1, MDX, &BTreeMap::new(), PageValues::default());
        assert!(!prepared.text.contains("```"), "{other}: {}", prepared.text);
    }
}

mod shown;

#[test]
fn the_lines_of_a_string_keep_their_numbers() {
    let prepared = prepare(
        "<p>\n{`one\n\n - two`}\n</p>\n",
        1,
        MDX,
        &BTreeMap::new(),
        PageValues::default(),
    );
    let line = |text: &str| {
        let at = prepared.text.lines().position(|line| line == text);
        prepared.line_of[at.expect("the line is there")]
    };
    assert_eq!((line("one"), line("\\- two")), (2, 4), "{}", prepared.text);
}

#[test]
fn partials_leave_their_mark() {
    let body = "import Safety from './_safety.mdx';\n\n<Safety />\n";
    let partials = BTreeMap::from([("Safety".to_owned(), "docs/_safety.mdx".to_owned())]);
    let prepared = prepare(body, 1, MDX, &partials, PageValues::default());
    assert!(
        prepared
            .text
            .lines()
            .any(|line| Placeholder::of_line(line)
                == Some(Placeholder::Partial("Safety".to_owned())))
    );
}

#[test]
fn a_tab_begins_with_its_label() {
    // Docusaurus 3.10 renders these labels.
    for (page, expected) in [
        (
            "<Tabs groupId=\"os\">\n<TabItem value=\"npm\">\n\nRun.\n\n</TabItem>\n<TabItem value=\"❌ Incorrect\">\n\nOpen.\n\n</TabItem>\n</Tabs>",
            "npm\nRun.\n❌ Incorrect\nOpen.",
        ),
        (
            "<Tabs values={[{label: 'Apple computer', value: 'apple'}, {label: 'Orange', value: \"orange\",}]}>\n<TabItem value=\"apple\">Apple text.</TabItem>\n<TabItem value=\"orange\" label=\"No\">Orange text.</TabItem>\n</Tabs>",
            "Apple computer\nApple text.\nOrange\nOrange text.",
        ),
        (
            "<Tabs values={computed}>\n<TabItem value=\"a\" label=\"On Linux\">\n\nOne\n\n</TabItem>\n<TabItem value={'b'}>\n\nTwo\n\n</TabItem>\n</Tabs>",
            "On Linux\nOne\nb\nTwo",
        ),
        (
            "<Tabs values={[{value: 'a', label: 'Outer'}]}>\n<TabItem value=\"a\">\n<Tabs>\n<TabItem value=\"a\">\n\nText\n\n</TabItem>\n</Tabs>\n</TabItem>\n</Tabs>\n<TabItem value=\"a\" />",
            "Outer\na\nText\na",
        ),
    ] {
        assert_eq!(plain(page), expected, "{page}");
    }
}

#[test]
fn components_within_a_line_leave_no_space() {
    for (line, expected) in [
        (
            "再<Term type=\"assign\">代入</Term>が可能です。",
            "再代入が可能です。",
        ),
        ("re<Term>assign</Term>ment", "reassignment"),
        (
            "Press <Key>Ctrl</Key>, then (<Key>C</Key>).",
            "Press Ctrl, then (C).",
        ),
        ("<Step>One</Step><Step>Two</Step>", "One  Two"),
        ("a<br/>b <Badge text=\"New\"/>c", "a b  New c"),
    ] {
        assert_eq!(plain(line), expected, "{line}");
    }
}

#[test]
fn a_component_without_text_is_named() {
    for (page, named) in [
        ("Prepare:\n\n<Envs></Envs>\n", vec!["<Envs></Envs>"]),
        (
            "Prepare:\n\n<Envs a={1}>\n</Envs>\n",
            vec!["<Envs a={1}>\n</Envs>"],
        ),
        ("<Envs />", vec!["<Envs />"]),
        ("<Envs>Text</Envs> <b></b>", vec![]),
    ] {
        let prepared = prepare(page, 1, MDX, &BTreeMap::new(), PageValues::default());
        let components: Vec<&str> = prepared
            .omissions
            .iter()
            .filter(|omission| omission.reason == OmissionReason::Component)
            .map(|omission| omission.text.as_str())
            .collect();
        assert_eq!(components, named, "{page}");
    }
}
