use super::*;

fn parse(text: &str) -> Option<Tag<'_>> {
    parse_tag(text, tag_start(text)?)
}

fn prose(text: &str) -> Vec<String> {
    parse(text).expect("a tag").prose
}

#[test]
fn tags_end_where_jsx_ends_them() {
    for text in [
        "<br/>",
        "<Tabs>",
        "</Tabs>",
        "<>",
        "</>",
        "<a.b x={1 > 2} y='>' {...rest}>",
        "<Foo\n  bar={`a > ${b}`}\n/>",
        "<td colspan=2>",
    ] {
        assert_eq!(
            parse(text).map(|tag| tag.length),
            Some(text.len()),
            "{text}"
        );
    }
    for text in [
        "<5",
        "< a",
        "<https://x.org>",
        "<me@x.org>",
        "<Foo",
        "<Foo bar={",
        "a",
    ] {
        assert_eq!(parse(text), None, "{text}");
    }
}

#[test]
fn attributes_that_hold_prose_are_kept() {
    assert_eq!(
        prose("<TabItem value=\"x\" label=\"On Linux\">"),
        ["On Linux"]
    );
    assert_eq!(
        prose("<img src='a.png' alt='A robot' title='t'/>"),
        ["A robot"]
    );
    assert_eq!(
        prose("<Quiz questions={[{question: \"Why so?\", options: ['a', 'b']}]} className='x y'/>"),
        ["Why so?", "a", "b"]
    );
    assert!(prose("<div className=\"two words\">").is_empty());
    assert_eq!(
        prose("<Card note={'It\\'s fine'} href='a b'/>"),
        ["It's fine"]
    );
}

#[test]
fn attributes_that_readers_do_not_see_are_no_prose() {
    for tag in [
        "<div title=\"A tooltip\" aria-label=\"A label\" alt='No picture'>",
        "<abbr title='As soon as possible'>",
        "<Button aria-label=\"Close the box\" data-text='For a script'/>",
        "<Link to='/a' title='Where it leads'>",
        "<Translate id='a b' description='For the translator'>",
    ] {
        assert_eq!(prose(tag), Vec::<String>::new(), "{tag}");
    }
}

#[test]
fn an_id_is_kept_if_it_is_a_string() {
    let id = |text: &str| parse(text).expect("a tag").id;
    for text in [
        "<h2 id=\"a b\">",
        "<h2 class='c' id={'a b'}>",
        "<h2\n  id = {\n`a b`}>",
        "<H2 ID='a b'>",
    ] {
        assert_eq!(id(text).as_deref(), Some("a b"), "{text}");
    }
    assert_eq!(id("<h2 id=a>").as_deref(), Some("a"));
    for text in ["<h2>", "<h2 id>", "<h2 id={a}>", "<h2 id={'a' + 'b'}>"] {
        assert_eq!(id(text), None, "{text}");
    }
    let heading = parse("<Heading as=\"h3\" id='x' children={\"A b\"}>").expect("a tag");
    assert_eq!(heading.children.as_deref(), Some("A b"));
    assert_eq!(heading.made_as.as_deref(), Some("h3"));
}

#[test]
fn attributes_are_read_as_written() {
    use AttributeValue::{Absent, Bare, Expression, Quoted};
    let read = attributes("<A b c='d' e=f g={{\"h\": \"}\"}}\n{...i} j/>");
    let expected = [
        ("b", Absent),
        ("c", Quoted("d")),
        ("e", Bare("f")),
        ("g", Expression("{\"h\": \"}\"}")),
        ("", Expression("...i")),
        ("j", Absent),
    ];
    assert_eq!(
        read,
        expected.map(|(name, value)| Attribute { name, value })
    );
    assert_eq!(attributes("<A>"), []);
}

#[test]
fn expressions_balance_past_strings_and_comments() {
    for text in [
        "{a}",
        "{'}'}",
        "{/* } */}",
        "{`}`}",
        "{{a: '}'}}",
        "{don't}",
        "{<p>don't say \"}\"</p>}",
        "{`a ${b ? `}` : '`'} \\${`}",
    ] {
        assert_eq!(expression_length(text), Some(text.len()), "{text}");
    }
    assert_eq!(expression_length("{a"), None);
    assert_eq!(expression_length("{`${a`}"), None);
}

#[test]
fn strings_and_templates_are_split_into_their_parts() {
    let text = |text: &str| Part::Text(text.to_owned());
    for (expression, parts) in [
        (
            " `a ${ b } c` ",
            Some(vec![text("a "), Part::Expression(" b "), text(" c")]),
        ),
        ("`${`${a}`}`", Some(vec![Part::Expression("`${a}`")])),
        ("`\\${a} $b`", Some(vec![text("${a} $b")])),
        ("String.raw`\\d`", Some(vec![text("\\d")])),
        (
            "'\\n\\u00e9\\x41\\u{1F600}\\q\\u12'",
            Some(vec![text("\néA😀qu12")]),
        ),
        ("''", Some(vec![text("")])),
        ("``", Some(vec![])),
        ("'a' + 'b'", None),
        ("é", None),
        ("`a", None),
        ("", None),
    ] {
        assert_eq!(string_parts(expression), parts, "{expression}");
    }
}
