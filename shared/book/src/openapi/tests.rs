//! Tests of generated pages. The fixtures were generated from one small API: by docusaurus-plugin-openapi-docs 5.2.0, with the components'
//! properties in the page and in separate files, and by version 2.0.4.

use std::collections::BTreeMap;

use super::super::{
    BlockKind, Document, Inputs, MAX_PAGE_BYTES, SiteSettings, page_file, read_document,
};
use super::*;
use crate::omission::OmissionReason;

const ELSEWHERE: &str = include_str!("../../fixtures/openapi/elsewhere.api.mdx");
const INLINE: &str = include_str!("../../fixtures/openapi/inline.api.mdx");
const OLDER: &str = include_str!("../../fixtures/openapi/older.api.mdx");
const SCHEMA_ELSEWHERE: &str = include_str!("../../fixtures/openapi/elsewhere.schema.mdx");
const SCHEMA_INLINE: &str = include_str!("../../fixtures/openapi/inline.schema.mdx");

const PET: [&str; 9] = [
    "- name string, required. Possible values: <= 40 characters. What it answers to.",
    "- kind string. Possible values: cat, dog. Its kind.",
    "- owner object. Who takes care of it.",
    "  - email string<email>. Where to write to.",
    "- friends circular(Pet)[]",
    "- food object",
    "  - oneOf: Name of food",
    "  - oneOf: Recipe",
    "    - grams integer",
];

fn read(text: &str) -> Document {
    let settings = SiteSettings::read(&BTreeMap::new(), true).expect("defaults are valid");
    let page = page_file(&settings, "docs/page.mdx").expect("the path is a page's");
    let read = read_document(&settings, "site", &page, text.as_bytes(), &Inputs::new());
    read.expect("the page can be read")
}

/// The blocks as lines; a heading has its marks and id.
fn shown(document: &Document) -> Vec<String> {
    let line = |block: &super::super::Block| match &block.kind {
        BlockKind::Heading { level, anchor, .. } => {
            let id = anchor
                .as_deref()
                .map_or(String::new(), |id| format!(" {{#{id}}}"));
            format!("{} {}{id}", "#".repeat(usize::from(*level)), block.text)
        }
        _ => block.text.clone(),
    };
    document.blocks.iter().map(line).collect()
}

fn unread(document: &Document) -> Vec<&str> {
    let omissions = document.omissions.iter();
    let components = omissions.filter(|omission| omission.reason == OmissionReason::Component);
    components.map(|omission| omission.text.as_str()).collect()
}

#[test]
fn a_page_shows_its_operation_under_its_own_headings() {
    let document = read(ELSEWHERE);
    let before = [
        "# Update a pet",
        "PUT /pets/{petId}",
        "Caution: deprecated",
        "This endpoint has been deprecated and may be replaced or removed in future versions of the API.",
        "Replaces the data of one pet, for curl see the guide.",
        "Fields {like this} that are left out are cleared   at once.",
        "## Request {#request}",
        "### Path Parameters",
        "- petId integer<int64>, required. Possible values: >= 1. Number of the pet.",
        "  - as on its collar",
        "  - from 1",
        "### Query Parameters",
        "- notify string[]. Possible values: owner, vet. Whom to tell about the change.",
        "- dry boolean. Default value: false",
        "### Header Parameters",
        "- X-Request-Id string. An id for the logs. Example: a-1",
        "### Body",
        "The pet as it is from now on.",
        "application/json object, required",
    ];
    let between = [
        "## Responses {#responses}",
        "200: The pet was updated.",
        "- X-Rate-Limit integer. Requests left this hour.",
        "application/json object",
    ];
    let after = [
        "404: No pet has this number.",
        "## Callbacks {#callbacks}",
        "POST changed",
        "POST {$request.body#/callback}",
        "Tells about the change.",
        "### Body",
        "application/json object",
        "- petId integer. Which pet changed.",
        "## Callbacks Responses {#callbacks-responses}",
        "204: It was heard.",
    ];
    let expected = [&before[..], &PET, &between, &PET, &after].concat();
    assert_eq!(shown(&document), expected);
    assert_eq!(unread(&document), Vec::<&str>::new());
    assert_eq!(document.title, "Update a pet");
}

#[test]
fn properties_in_the_page_and_beside_it_show_the_same() {
    assert_eq!(shown(&read(INLINE)), shown(&read(ELSEWHERE)));
}

#[test]
fn nothing_is_shown_twice() {
    for page in [ELSEWHERE, INLINE, OLDER] {
        let text = shown(&read(page)).join("\n");
        let once = [
            "Replaces the data",
            "Number of the pet",
            "Whom to tell about the change",
            "An id for the logs",
            "The pet as it is from now on",
            "The pet was updated",
            "Requests left this hour",
            "No pet has this number",
            "Tells about the change",
            "Which pet changed",
            "It was heard",
        ];
        for part in once {
            assert_eq!(text.matches(part).count(), 1, "{part}: {text}");
        }
        // In the request, and in the response.
        for part in [
            "What it answers to",
            "Who takes care of it",
            "Where to write to",
        ] {
            assert_eq!(text.matches(part).count(), 2, "{part}: {text}");
        }
    }
}

#[test]
fn older_pages_show_the_same_parameters_and_headings() {
    let (older, newer) = (shown(&read(OLDER)), shown(&read(ELSEWHERE)));
    let headings = |shown: &[String]| -> Vec<String> {
        let is_heading = |line: &&String| line.starts_with('#');
        shown.iter().filter(is_heading).cloned().collect()
    };
    let responses = "## Responses {#responses}".to_owned();
    assert!(headings(&older).contains(&responses), "{older:#?}");
    for heading in headings(&newer) {
        assert!(older.contains(&heading), "{heading}: {older:#?}");
    }
    for line in newer.iter().filter(|line| line.starts_with("- ")) {
        let name = line.split(' ').nth(1).expect("an item has a name");
        assert!(
            older.iter().any(|other| other.contains(name)),
            "{name}: {older:#?}"
        );
    }
}

#[test]
fn a_schema_in_another_file_is_reported() {
    let document = read(SCHEMA_INLINE);
    assert_eq!(shown(&document)[1..], PET);
    assert_eq!(unread(&document), Vec::<&str>::new());
    let document = read(SCHEMA_ELSEWHERE);
    assert_eq!(shown(&document), ["# Pet"]);
    assert_eq!(unread(&document).len(), 1, "{:?}", document.omissions);
}

#[test]
fn what_is_computed_is_reported() {
    for tag in [
        "<ParamsDetails parameters={all}/>",
        "<StatusCodes {...props}/>",
        "<RequestSchema body={require('./x.json')}/>",
        "<ParamsItem param={{name: 'x'}}/>",
        "<SchemaItem name=\"x\" schema={y}/>",
    ] {
        let document = read(&format!("---\napi: eJy\n---\n\nText.\n\n{tag}\n"));
        assert_eq!(unread(&document), [tag]);
    }
}

#[test]
fn other_pages_are_read_as_before() {
    let tag = "<ParamsItem param={{\"name\": \"x\", \"description\": \"Two words.\"}}/>";
    assert_eq!(shown(&read(tag)), ["# page", "Two words."]);
}

#[test]
fn a_page_shows_only_so_much_of_its_operation() {
    let (_, api) = ELSEWHERE
        .split_once("\napi: ")
        .expect("the page has an operation");
    let api = api.lines().next().expect("it stands on a line");
    let tag = "<StatusCodes {...require(\"./x.json\")}/>\n\n";
    let text = format!(
        "---\napi: {api}\n---\n\n{}",
        tag.repeat(MAX_PAGE_BYTES / 100)
    );
    let document = read(&text);
    let bytes: usize = document.blocks.iter().map(|block| block.text.len()).sum();
    assert!(bytes <= MAX_SHOWN_BYTES, "{bytes}");
    assert!(!unread(&document).is_empty());
}

#[test]
fn markup_in_an_operation_cannot_break_the_page() {
    for hostile in [
        "## a",
        "a\n=",
        "```\na",
        "<b>",
        "{x}",
        "- a\n\n    b",
        "`",
        "|a|\n|-|",
        "\u{e0b6}2a\u{e0b6}",
    ] {
        let text = Json::Text(hostile.to_owned());
        let Json::Text(text) = &text else { continue };
        let parameter = serde_json::json!([
            {"name": hostile, "in": "path", "description": text, "schema": {"type": hostile}},
            {"name": "last", "in": "path", "description": "The last one."},
        ]);
        let page = format!(
            "---\napi: x\n---\n\n## A\n\n<ParamsDetails parameters={{{parameter}}}/>\n\n## B\n\nEnd.\n"
        );
        let lines = shown(&read(&page));
        let headings: Vec<_> = lines
            .iter()
            .filter(|line| line.starts_with("## "))
            .collect();
        assert_eq!(headings, ["## A {#a}", "## B {#b}"], "{hostile:?}");
        let last = lines
            .iter()
            .any(|line| line.contains("last any. The last one."));
        assert!(last, "{hostile:?}: {lines:#?}");
    }
}
