use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::chunk::{ChunkPolicy, chunk_document};
use crate::{Document, missing_inputs, page_file, read_document};

const PAGE: &str =
    "# Robot\n\nIt waters plants.\n\n## Charging\n\nUse 12 V.\n\n## Wheels\n\nTighten them.\n";

fn settings() -> SiteSettings {
    let files = [
        ("docusaurus.config.js", "module.exports={baseUrl:'/'}"),
        ("versions.json", "[\"1.0\"]"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.to_owned()));
    SiteSettings::read(&BTreeMap::from(files), true).unwrap()
}

fn read(source: &str, page: &str, files: &[(&str, &str)]) -> Document {
    let settings = settings();
    let file = page_file(&settings, source).unwrap();
    let mut inputs = Inputs::new();
    loop {
        let missing = missing_inputs(&settings, &file, page.as_bytes(), &inputs);
        if missing.is_empty() {
            break;
        }
        for path in missing.into_keys() {
            let text = files.iter().find(|(name, _)| *name == path);
            let bytes = text.map(|(_, text)| text.as_bytes().to_vec());
            inputs.insert(path, bytes.into());
        }
    }
    read_document(&settings, "", &file, page.as_bytes(), &inputs).unwrap()
}

fn charging_hash() -> String {
    let sections = asked_sections(&read("docs/robot.md", PAGE, &[]));
    let charging = sections.iter().find(|it| it.anchor == "charging");
    charging.unwrap().text_hash.clone()
}

#[test]
fn chunks_have_the_questions_of_their_section() {
    let text = "// by hand\n#\nWhat is it for?\n#charging\nrobot does not charge\n- # volts?\n";
    let document = read(
        "docs/robot.md",
        PAGE,
        &[("bookrag.questions/docs/robot.md.txt", text)],
    );
    assert_eq!(document.warnings, [""; 0]);
    let chunks = chunk_document(&document, &ChunkPolicy::ADAPTIVE);
    let questions: Vec<&[String]> = chunks.iter().map(|it| it.questions.as_slice()).collect();
    let expected: [&[&str]; 3] = [
        &["What is it for?"],
        &["robot does not charge", "# volts?"],
        &[],
    ];
    assert_eq!(questions, expected);
}

#[test]
fn each_mistake_is_named_with_file_and_line_and_the_rest_is_used() {
    let long = "x".repeat(2_000);
    let text = format!(
        "before any section\n#charging\n{long}\nWhich charger?\n?!\n\n#sails 0123\nHow do I hoist them?\n#wheels 0123\nHow tight?\n"
    );
    let document = read(
        "docs/robot.md",
        PAGE,
        &[("bookrag.questions/docs/robot.md.txt", &text)],
    );
    let file = "bookrag.questions/docs/robot.md.txt, line";
    for (warning, expected) in document.warnings.iter().zip([
        "1: this question stands before the first line `#anchor`, so it belongs to no section",
        "3: this question has 2000 characters, and at most 300 are used; it is left out",
        "5: a question needs a letter or a digit",
        "7: the page has no section `#sails`; its questions are left out",
        "9: the text of `#wheels` has changed since its questions were written; they are still used",
    ]) {
        assert_eq!(*warning, format!("{file} {expected}"));
    }
    assert_eq!(document.warnings.len(), 5);
    assert_eq!(document.questions["charging"].questions, ["Which charger?"]);
    assert!(!document.questions["charging"].is_stale && document.questions["wheels"].is_stale);
}

#[test]
fn a_section_has_at_most_twenty_questions() {
    let questions: Vec<String> = (0..25).map(|number| format!("question {number}")).collect();
    let file = QuestionFile::parse(&format!("#a\n{}", questions.join("\n")));
    assert_eq!(
        file.sections[0].questions,
        questions[..MAX_SECTION_QUESTIONS]
    );
    assert_eq!(file.problems.len(), 5);
    assert_eq!(file.problems[0].line, 22);
}

#[test]
fn questions_of_the_current_docs_serve_other_versions_with_the_same_text() {
    let text = format!(
        "#charging {}\nno power\n#wheels 0123\nloose wheels\n",
        charging_hash()
    );
    let files = [("bookrag.questions/docs/robot.md.txt", text.as_str())];
    let old = read("versioned_docs/version-1.0/robot.md", PAGE, &files);
    assert_eq!(old.questions["charging"].questions, ["no power"]);
    assert!(!old.questions.contains_key("wheels"));
    assert_eq!(old.warnings, [""; 0]);
    let other = PAGE.replace("12 V", "24 V");
    let changed = read("versioned_docs/version-1.0/robot.md", &other, &files);
    assert!(changed.questions.is_empty());
}

#[test]
fn questions_in_the_catalog_serve_the_text_that_they_were_written_for() {
    let written = format!(
        "#charging {}\nno power\n#wheels 0123\nloose\n",
        charging_hash()
    );
    let file = "#\nby hand\n#wheels\nwobbles\n";
    let mut files = vec![
        ("bookrag.written/docs/robot.md.txt", written.as_str()),
        ("bookrag.questions/docs/robot.md.txt", file),
    ];
    let read_with = |files: &[(&str, &str)]| read("docs/robot.md", PAGE, files).questions;
    let questions = read_with(&files);
    let of = |anchor: &str| {
        (
            &*questions[anchor].questions[0],
            questions[anchor].is_from_catalog,
        )
    };
    assert_eq!(of("charging"), ("no power", true));
    assert_eq!(of("wheels"), ("wobbles", false));
    files[1].1 = "#charging\nmine\n";
    let questions = read_with(&files);
    assert_eq!(questions["charging"].questions, ["mine"]);
    assert_eq!(questions.len(), 1);
    let old = read("versioned_docs/version-1.0/robot.md", PAGE, &files[..1]);
    assert!(old.questions["charging"].is_from_catalog && old.questions.len() == 1);
    assert_eq!(old.warnings, [""; 0]);
}

#[test]
fn a_page_and_its_file_of_questions_name_each_other() {
    for (source, path) in [
        ("docs/a.md", "bookrag.questions/docs/a.md.txt"),
        ("../docs/a.md", "bookrag.questions/_parent/docs/a.md.txt"),
        ("a/index.html", "bookrag.questions/a/index.html.txt"),
    ] {
        assert_eq!(question_file(source), path);
        assert_eq!(source_of_question_file(path).as_deref(), Some(source));
        let written = path.replace("bookrag.questions", "bookrag.written");
        assert_eq!(written_file(source), written);
        assert!(is_written_file(&written) && !is_written_file(path));
    }
    for other in [
        "docs/a.md",
        "bookrag.questions.txt",
        "bookrag.questions/README.md",
    ] {
        assert_eq!(source_of_question_file(other), None, "{other}");
    }
}

fn written() -> impl Strategy<Value = Written> {
    let anchor = "[a-z0-9-]{0,8}";
    let hash = proptest::option::of("[0-9a-f]{12}");
    let questions =
        proptest::collection::btree_set("(# |- |// )?[a-zü]{1,9}( [a-z?#/]{1,5}){0,3}", 0..4);
    let comments = proptest::collection::vec("[a-z]{1,9}", 0..3);
    (anchor, hash, questions, comments).prop_map(|(anchor, text_hash, questions, comments)| {
        Written {
            anchor,
            text_hash,
            comments,
            questions: questions.into_iter().collect(),
            line: 0,
        }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(sections in proptest::collection::vec(written(), 1..4)) {
        let mut file = QuestionFile::default();
        for section in sections {
            if !file.sections.iter().any(|other| other.anchor == section.anchor) {
                file.sections.push(section);
            }
        }
        // Of several comments above the first section, all but the last belong to the whole file.
        let mut read = QuestionFile::parse(&file.text());
        prop_assert_eq!(read.text(), QuestionFile::parse(&read.text()).text());
        let mut of_first = std::mem::take(&mut read.comments);
        of_first.append(&mut read.sections[0].comments);
        read.sections[0].comments = of_first;
        for section in &mut read.sections {
            section.line = 0;
        }
        prop_assert_eq!(read, file);
    }

    #[test]
    fn any_text_can_be_read(text in "(#?[a-z \\-/#\\n\\t\u{1b}]{0,9}\\n?){0,9}") {
        let file = QuestionFile::parse(&text);
        let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
        let kept: usize = file.sections.iter().map(|section| section.questions.len()).sum();
        prop_assert!(kept + file.problems.len() <= lines);
    }
}
