//! Which blocks stay together in a quote, and where long code and lists are cut.

use super::*;

#[test]
fn long_code_is_shown_in_part_with_a_mark() {
    let part = |name: &str| format!("{name} = one two three four\n").repeat(20);
    let code = ["a", "b", "c", "d", "e"].map(part).join("\n");
    let page = format!("# Page\n\nIt is this:\n\n```py title=\"a.py\"\n{code}```\n");
    let mut section = sections("docs/page.md", &page).remove(0);
    let text = format!("It is this:\n\na.py\n```py\n{code}```");
    let fence = text.find("```").unwrap();
    let chunk = Arc::make_mut(&mut section.chunk);
    chunk.marks = vec![
        (MarkKind::Paragraph, 0, 11).into(),
        (MarkKind::Paragraph, 13, 17).into(),
        (MarkKind::Fence, fence, text.len()).into(),
    ];
    chunk.text = text;
    let markdown = answered("What is c?", &[section]);
    assert!(markdown.contains("```py title=\"a.py\"\n"), "{markdown}");
    assert!(
        markdown.contains("c = one") && markdown.contains("\n…\n```\n\n[1]"),
        "{markdown}"
    );
    assert_eq!(markdown.matches("```").count(), 2, "{markdown}");
}

/// Returns a section of these blocks.
fn of_blocks(blocks: &[(MarkKind, String)]) -> ScoredChunk {
    let mut section = sections("docs/page.md", "# Page\n\nText.\n").remove(0);
    let chunk = Arc::make_mut(&mut section.chunk);
    (chunk.text, chunk.marks) = (String::new(), Vec::new());
    for (kind, text) in blocks {
        let start = chunk.text.len();
        chunk.text.push_str(text);
        let end = chunk.text.len();
        chunk.marks.push((kind.clone(), start, end).into());
        chunk.text.push_str("\n\n");
    }
    section
}

#[test]
fn a_label_stays_with_its_list_and_a_title_is_bold() {
    let page = "# Page\n\nOutcomes\n\n- a\n- b\n\nMoving to two\n\nGo on.\n\nwill be changed to this\n\n```js\nx\n```\n";
    let markdown = answered("a", &sections("docs/page.md", page));
    let expected = "#### Page\n\n**Outcomes**\n\n- a\n- b\n\n**Moving to two**\n\nGo on.\n\nwill be changed to this\n\n```js";
    assert!(markdown.starts_with(expected), "{markdown}");
}

#[test]
fn a_very_long_list_is_cut_between_items() {
    let items = (0..90).map(|n| format!("- item {n} of the long list"));
    let flat: Vec<_> = items.map(|item| (MarkKind::ListItem, item)).collect();
    let nested = flat
        .iter()
        .map(|(kind, item)| (kind.clone(), format!("  {item}")));
    let things = (MarkKind::ListItem, "- Things".to_owned());
    let nested: Vec<_> = [things].into_iter().chain(nested).collect();
    for list in [flat, nested] {
        let markdown = answered("item 77", &[of_blocks(&list)]);
        assert!(
            markdown.contains("item 77 of") && markdown.contains('…'),
            "{markdown}"
        );
        assert!(
            text::split(&markdown).count() <= MAX_WORDS + TARGET_WORDS,
            "{markdown}"
        );
    }
}

#[test]
fn a_later_part_of_code_keeps_the_paragraph_that_leads_to_the_code() {
    let part = |name: &str| format!("{name} = one two three four\n").repeat(50);
    let code = ["a", "b", "c"].map(part).join("\n");
    let section = of_blocks(&[
        (MarkKind::Paragraph, "The file has this content:".to_owned()),
        (MarkKind::Fence, format!("```py\n{code}```")),
    ]);
    let markdown = answered("What is c?", &[section]);
    let expected = "The file has this content:\n\n```py\n…\n\nc = one";
    assert!(markdown.contains(expected), "{markdown}");
}

#[test]
fn a_part_of_code_keeps_the_lines_that_enclose_it() {
    let calls = |name: &str| format!("    {name}(one, two, three, four);\n").repeat(50);
    let code = format!(
        "export default class Mopple {{\n  run() {{\n{}\n{}\n{}  }}\n}}\n",
        calls("a"),
        calls("b"),
        calls("c")
    );
    let section = of_blocks(&[(MarkKind::Fence, format!("```js\n{code}```"))]);
    let markdown = answered("What is b?", &[section]);
    let start = "```js\nexport default class Mopple {\n  run() {\n\n…\n\n    b(one";
    assert!(markdown.contains(start), "{markdown}");
    assert!(markdown.contains(";\n\n…\n\n  }\n}\n```"), "{markdown}");
}

#[test]
fn long_code_is_cut_between_its_functions() {
    let function = |name: &str| {
        let calls = format!("  {name}(one, two, three);\n").repeat(20);
        format!("function {name}(\n  one: One,\n): void {{\n{calls}\n{calls}}}\n\n")
    };
    let code = ["a", "b", "c", "d", "e"].map(function).concat();
    let section = of_blocks(&[(MarkKind::Fence, format!("```ts\n{}\n```", code.trim_end()))]);
    let markdown = answered("What is d?", &[section]);
    let shown = ["c", "d"].map(function).concat();
    let expected = format!("```ts\n…\n\n{}\n\n…\n```", shown.trim_end());
    assert!(markdown.contains(&expected), "{markdown}");
}

#[test]
fn a_part_of_a_function_stands_below_its_whole_signature() {
    let calls = |name: &str| format!("  {name}(one, two, three, four);\n").repeat(68);
    let code = format!(
        "const z = 1;\n\nfunction run(\n  one: One,\n): void {{\n{}\n{}}}\n",
        calls("a"),
        calls("b")
    );
    let section = of_blocks(&[(MarkKind::Fence, format!("```ts\n{code}```"))]);
    let markdown = answered("What is b?", &[section]);
    let expected = "```ts\nfunction run(\n  one: One,\n): void {\n\n…\n\n  b(one";
    assert!(markdown.contains(expected), "{markdown}");
}

#[test]
fn headings_inside_of_a_quote_are_bold() {
    let section = of_blocks(&[
        (MarkKind::Paragraph, "A mopple is a robot.".to_owned()),
        (MarkKind::Heading, "The brush*".to_owned()),
        (MarkKind::Paragraph, "Wash it.".to_owned()),
    ]);
    assert_eq!(
        answered("What is a mopple?", &[section]),
        "#### Page\n\nA mopple is a robot.\n\n**The brush\\***\n\nWash it. [1]"
    );
}

#[test]
fn of_questions_and_answers_the_one_that_was_asked_is_quoted() {
    let entries = ["cat", "dog", "horse"].map(|animal| {
        let tail = format!("Some other words about the {animal}. ").repeat(4);
        (animal, format!("The {animal} eats at noon. {tail}"))
    });
    let bold = |(animal, answer): &(&str, String)| {
        format!("**Q: When does the {animal} eat?**\n\n{answer}\n\n")
    };
    let details = |(animal, answer): &(&str, String)| {
        format!(
            "<details>\n<summary>When does the {animal} eat?</summary>\n\n{answer}\n\n</details>\n\n"
        )
    };
    let in_one_paragraph = |(animal, answer): &(&str, String)| {
        format!("**When does the {animal} eat?**\n{answer}\n\n")
    };
    for page in [
        entries.each_ref().map(bold).concat(),
        entries.each_ref().map(details).concat(),
        entries.each_ref().map(in_one_paragraph).concat(),
    ] {
        let page = format!("# Questions\n\nAsk us anything.\n\n{page}");
        let markdown = answered(
            "when will my dog eat",
            &sections("docs/questions.md", &page),
        );
        assert!(markdown.contains("The dog eats at noon."), "{markdown}");
        for other in ["cat", "horse", "anything"] {
            assert!(!markdown.contains(other), "{markdown}");
        }
    }
}

#[test]
fn a_later_part_follows_the_first_paragraph_of_its_section() {
    let filler = "Something else stands here, which nobody has asked about. ".repeat(34);
    let paragraphs = [
        "A mopple is a robot.",
        filler.trim_end(),
        filler.trim_end(),
        "Wash its brush weekly.",
    ];
    let section = of_blocks(&paragraphs.map(|text| (MarkKind::Paragraph, text.to_owned())));
    let markdown = answered("How often do I wash the brush?", &[section]);
    let (lead, part) = (
        "#### Page\n\nA mopple is a robot.\n\n…\n\nSomething",
        "Wash its brush weekly. [1]",
    );
    assert!(
        markdown.starts_with(lead) && markdown.ends_with(part),
        "{markdown}"
    );
}

#[test]
fn a_part_of_a_section_that_could_not_be_read_whole_says_so() {
    let mut part = of_blocks(&[(MarkKind::Paragraph, "The brush turns.".to_owned())]);
    let chunk = Arc::make_mut(&mut part.chunk);
    (chunk.chunk_index, chunk.chunk_count) = (70, 200);
    let passages = [Passage {
        n: 1,
        candidate: &part,
    }];
    let markdown = markdown_of(answer("brush", &passages, None, "It goes on."));
    assert_eq!(
        markdown,
        "#### Page\n\n…\n\nThe brush turns.\n\n*It goes on.* [1]"
    );
}

#[test]
fn a_quote_that_ends_before_its_section_says_so() {
    let text = (0..90).map(|n| format!("Station {n} counts the birds at night.\n\n"));
    let page = format!("# Page\n\n{}", text.collect::<String>());
    let short = "# Page\n\nThe station counts.\n";
    for (page, is_cut) in [(&*page, true), (short, false)] {
        let sections = sections("docs/page.md", page);
        let passages = [Passage {
            n: 1,
            candidate: &sections[0],
        }];
        let markdown = markdown_of(answer("Station 3", &passages, None, "It goes on."));
        assert_eq!(
            markdown.ends_with("\n\n*It goes on.* [1]"),
            is_cut,
            "{markdown}"
        );
    }
}
