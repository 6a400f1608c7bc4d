//! What readers see of code in elements, of hidden elements, and of expressions.

use super::*;

fn text(body: &str) -> String {
    prepare(body, 1, MDX, &BTreeMap::new(), PageValues::default()).text
}

fn omitted(body: &str, reason: OmissionReason) -> Vec<String> {
    let prepared = prepare(body, 1, MDX, &BTreeMap::new(), PageValues::default());
    let omissions = prepared.omissions.into_iter();
    omissions
        .filter(|omission| omission.reason == reason)
        .map(|omission| omission.text)
        .collect()
}

#[test]
fn preformatted_code_is_a_fence() {
    for (body, fence) in [
        (
            "<pre><code>{`a <b>\n  {c}`}</code></pre>",
            "```\na <b>\n  {c}\n```",
        ),
        ("<pre>{`a`}</pre>", "```\na\n```"),
        (
            "<pre>\n  <code className=\"language-js wide\">\n    {'a\\nb'}\n  </code>\n</pre>",
            "```js\na\nb\n```",
        ),
        (
            "export const code = `x\ny`;\n\n<CodeBlock language=\"sh\">{code}</CodeBlock>",
            "```sh\nx\ny\n```",
        ),
        (
            "export const v = '1.2';\n\n<CodeBlock language=\"sh\">{`get a@${v} ${tool}`}</CodeBlock>",
            "```sh\nget a@1.2 ${tool}\n```",
        ),
        ("<pre>{String.raw`\\d+`}</pre>", "```\n\\d+\n```"),
        ("Text: <CodeBlock>{`a`}</CodeBlock> more", "```\na\n```"),
        ("> <pre>{`a`}</pre>", "> ```\n> a\n> ```"),
    ] {
        assert!(text(body).contains(fence), "{body}: {}", text(body));
    }
}

#[test]
fn plain_text_in_an_element_for_code_is_code() {
    for (body, fence) in [
        (
            "<CodeBlock language=\"sh\" title=\"run.sh\">get a &lt;b&gt; *c*</CodeBlock>",
            "```sh title=\"run.sh\"\nget a <b> *c*\n```",
        ),
        (
            "<CodeBlock>\n  a\n\n    b\n</CodeBlock>",
            "```\na\n\n  b\n```",
        ),
        (
            "<pre><code class=\"language-js\">a &amp;&amp; b</code></pre>",
            "```js\na && b\n```",
        ),
    ] {
        assert!(text(body).contains(fence), "{body}: {}", text(body));
    }
    let html = "Before\n<pre>\n  a {b}\n\n  # c\n</pre>\n\nAfter";
    let none = BTreeMap::new();
    let prepared = prepare(html, 1, MARKDOWN, &none, PageValues::default());
    let fence = "```\na {b}\n\n# c\n```";
    assert!(prepared.text.contains(fence), "{}", prepared.text);
    assert!(prepared.text.ends_with("After\n"), "{}", prepared.text);
}

#[test]
fn texts_of_several_lines_in_attributes_are_code() {
    for (body, shown) in [
        (
            "<div>\n<Run code={`a\n  b ${c}`} language=\"ts\" title=\"Try it\" />\n</div>",
            "Try it\n```ts\na\n  b ${c}\n```",
        ),
        (
            "export const a = `b\n  c`;\n\n<Run code={ a } note=\"Two words\"/>",
            "Two words\n```\nb\n  c\n```",
        ),
        (
            "<Run\n  code={`a\nb`}\n  output={'c\\nd'}\n>Text</Run>",
            "```\na\nb\n```\n```\nc\nd\n```\nText",
        ),
        // Text.
        ("<Card text={`Two\n  words`}/>", "Two words"),
        ("<Card body={`Two words`}/>", "Two words"),
        ("<Card style={`a\nb`}/>", ""),
        ("<p title={`a\nb`}>c</p>", "c"),
    ] {
        let text = text(body);
        let lines = text.lines();
        let lines: Vec<&str> = lines
            .filter(|line| !matches!(line.trim(), "" | REMOVED_BLOCK))
            .collect();
        assert_eq!(lines.join("\n"), shown, "{body}");
    }
    let file = ("{Source}".to_owned(), "docs/a.js".to_owned());
    let body = "<Run code={Source} />";
    let prepared = prepare(body, 1, MDX, &[file].into(), PageValues::default());
    let placeholder = Placeholder::Partial("{Source}".to_owned()).line();
    assert!(prepared.text.contains(&placeholder), "{}", prepared.text);
}

#[test]
fn code_has_the_language_and_the_title_of_its_attributes() {
    for (body, fence) in [
        (
            "<CodeBlock language={'js'} title={`a.js`}>{`b`}</CodeBlock>",
            "```js title=\"a.js\"\nb\n```",
        ),
        (
            "<CodeBlock className=\"wide language-sh\">{'a'}</CodeBlock>",
            "```sh\na\n```",
        ),
        (
            "<CodeBlock className=\"language-sh\" language=\"js\">{'a'}</CodeBlock>",
            "```js\na\n```",
        ),
        (
            "<CodeBlock language={lang}>{'a'}</CodeBlock>",
            "```\na\n```",
        ),
        (
            "<CodeBlock language=\"js\" title=\"a b\" children={`c\n  d`} />",
            "```js\nc\n  d\n```",
        ),
        (
            "<div className=\"language-sh\">{`a`}</div>",
            "```sh\na\n```",
        ),
        (
            "<CodeBlock>{`a\n\\`\\`\\`\nb`}</CodeBlock>",
            "````\na\n```\nb\n````",
        ),
        (
            "- <CodeBlock>{`a\n    b`}</CodeBlock>",
            "  ```\n  a\n    b\n  ```",
        ),
    ] {
        assert!(text(body).contains(fence), "{body}: {}", text(body));
    }
    for body in [
        "<CodeBlock></CodeBlock>",
        "<CodeBlock>{}</CodeBlock>",
        "<CodeBlock>{` `}</CodeBlock>",
        "<CodeBlock>{code}</CodeBlock>",
        "<CodeBlock language=\"js\">{`a`}",
        "<CodeBlock language=\"js\">{`a`}<b>c</b></CodeBlock>",
        "## <CodeBlock>{`a`}</CodeBlock>",
        "| <CodeBlock>{`a`}</CodeBlock> |",
        "> <CodeBlock>{`a\n> b`}</CodeBlock>",
    ] {
        assert!(!text(body).contains("```"), "{body}: {}", text(body));
    }
}

#[test]
fn an_imported_file_is_shown_in_its_code_block() {
    let files = [("{Source}".to_owned(), "docs/a.js".to_owned())].into();
    let placeholder = Placeholder::Partial("{Source}".to_owned()).line();
    for body in [
        "<CodeBlock language=\"js\">{Source}</CodeBlock>",
        "<CodeBlock>\n  { Source }\n</CodeBlock>",
        "<CodeBlock children={Source} />",
        "- <CodeBlock>{Source}</CodeBlock>",
    ] {
        let prepared = prepare(body, 1, MDX, &files, PageValues::default());
        let places = prepared
            .text
            .lines()
            .filter(|line| line.trim() == placeholder);
        assert_eq!(places.count(), 1, "{body}: {}", prepared.text);
    }
}

#[test]
fn a_partial_with_code_in_an_attribute_is_shown() {
    let partials = [("Part".to_owned(), "docs/_part.mdx".to_owned())].into();
    let placeholder = Placeholder::Partial("Part".to_owned()).line();
    for body in [
        "<Part code={`a\nb`} />",
        "<details>\n<summary>A</summary>\n<iframe src=\"b\"></iframe>\n<Part />\n</details>",
    ] {
        let prepared = prepare(body, 1, MDX, &partials, PageValues::default());
        assert!(
            prepared.text.contains(&placeholder),
            "{body}: {}",
            prepared.text
        );
        assert!(!prepared.text.contains("```"), "{body}: {}", prepared.text);
    }
}

#[test]
fn code_in_an_attribute_is_text_where_no_block_can_be() {
    for (body, shown) in [
        (
            "| a | <Run code={'b c\\nd'} title=\"e\" /> |\n|-|-|",
            "| a |  e b c d  |",
        ),
        ("## A <Run code={'b c\\nd'} />", "b c d"),
    ] {
        assert!(text(body).contains(shown), "{body}: {}", text(body));
    }
    let details = "<details>\n<summary>A</summary>\n<iframe src=\"b\"></iframe>\n<Run code={`c d\ne`} />\n</details>";
    assert!(
        text(details).contains("```\nc d\ne\n```"),
        "{}",
        text(details)
    );
}

#[test]
fn code_in_attributes_has_its_source_lines() {
    let body = "First\n\n<Run\n  a=\"b c\"\n  code={`d\ne`}\n  more={`f\n  g`}\n/>\n\nLast";
    let prepared = prepare(body, 1, MDX, &BTreeMap::new(), PageValues::default());
    let lines = prepared.text.lines().zip(&prepared.line_of);
    let lines: Vec<(&str, u32)> = lines
        .map(|(line, number)| (line.trim(), *number))
        .filter(|(line, _)| line.len() == 1)
        .collect();
    assert_eq!(lines, [("d", 5), ("e", 6), ("f", 7), ("g", 8)]);
}

#[test]
fn hidden_elements_are_no_text() {
    for page in [
        "<div hidden>\n\nNo <div>no</div> `</div>`\n\n```html\n</div>\n\n```\n\nNo.\n\n</div>\n\nText",
        "<div style={{color: 'red', display: 'none'}}>\n  No <b>no</b>\n</div>\n\nText",
        "<p hidden={true}>No</p>\n\nText",
        "<img hidden alt=\"No picture\"/>Text",
        "<span style=\"color: red; display:none\">no</span>Text",
        "<details hidden>\n<summary>No</summary>\n\nNo\n\n</details>\n\nText",
        "<div hidden=\"\">\n<Tabs>\n<TabItem value=\"no\">\n\nNo\n\n</TabItem>\n</Tabs>\n</div>\n\nText",
    ] {
        assert_eq!(plain(page), "Text", "{page}");
        assert_eq!(omitted(page, OmissionReason::UnseenElement).len(), 1);
    }
    for page in [
        "<div hidden>\nNo <b>no</b>\n</div>\n\nText",
        "<div hidden>\n\n**No**\n\n</div>\n\nText",
        "Te<span hidden>no</span>xt",
        "<p style='display : none'>No</p>\n\nText",
    ] {
        let none = BTreeMap::new();
        let prepared = prepare(page, 1, MARKDOWN, &none, PageValues::default());
        assert_eq!(prepared.text.trim(), "Text", "{page}");
    }
    for page in [
        "<div hidden={false}>Text</div>",
        "<div hidden={isOld}>Text</div>",
        "<Card hidden>Text</Card>",
        "<div role=\"tabpanel\" hidden>Text</div>",
        "<div style={{display: 'block'}} title=\"hidden\">Text</div>",
        "<span aria-hidden=\"true\">Text</span>",
        "<div hidden>Text",
    ] {
        assert_eq!(plain(page), "Text", "{page}");
    }
}

#[test]
fn known_parts_of_a_template_are_shown() {
    let page = "export const v = '1.2';\n\nA {`b ${v} c${ 3 } ${'d'}`} {`e ${f(`x`)}g`} {'h\\u00e9\\x41\\u{42}'} {`\\${i}`}";
    assert_eq!(plain(page), "A b 1\\.2 c3 d e g héAB \\$\\{i\\}");
    let unknown = omitted(page, OmissionReason::Expression);
    assert!(
        unknown.iter().any(|text| text.contains("f(`x`)")),
        "{unknown:?}"
    );
    assert_eq!(plain("<Card title={`a b ${c} d`}/>"), "a b d");
}

#[test]
fn spaces_after_an_expression_at_the_start_of_a_line_are_kept() {
    assert_eq!(plain("{'a'} b\n{1} c\n\n> {'d'} e"), "a b\n1 c\n> d e");
    assert_eq!(plain("{a} b"), "b");
}

#[test]
fn a_block_of_html_has_its_characters_and_ends_with_its_container() {
    let plain = |text: &str| {
        let prepared = prepare(text, 1, MARKDOWN, &BTreeMap::new(), PageValues::default());
        let lines = prepared.text.lines().filter(|line| !line.is_empty());
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        plain("<p>a &amp; &#35;&#x2F; &b *c*</p>"),
        "a &amp; &#35;&#x2F; \\&b \\*c\\*"
    );
    assert_eq!(plain(":::tip\n<div>a</div>\n:::\n**b**"), "Tip\na\n**b**");
}
