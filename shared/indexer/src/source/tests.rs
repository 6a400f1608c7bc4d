//! Settings, and what a change of a file changes.

use super::*;
use book::{fingerprint, page_file, read_document};

pub(super) fn site(files: &[(&str, &str)]) -> (MemorySource, Source) {
    let memory = MemorySource::default();
    for (path, text) in files {
        memory
            .files()
            .insert((*path).to_owned(), text.as_bytes().to_vec());
    }
    (memory.clone(), Source::Memory(memory))
}

#[tokio::test]
async fn a_settings_file_that_cannot_be_read_is_an_error_that_names_it() {
    for (name, bytes, expected) in [
        (
            "bookrag.toml",
            &b"exclude = ["[..],
            "bookrag.toml, line 1: ",
        ),
        ("versions.json", b"[\n1]", "versions.json, line 2: "),
        (
            "docusaurus.config.js",
            b"export default {\n\xff}",
            "docusaurus.config.js, line 2: it is not UTF-8",
        ),
    ] {
        let (files, source) = site(&[]);
        files.files().insert(name.to_owned(), bytes.to_vec());
        let error = source.settings().await.unwrap_err();
        assert!(matches!(error, SourceError::Settings(_)), "{error:?}");
        assert!(error.to_string().starts_with(expected), "{error}");
    }
    let (_, marked) = site(&[("versions.json", "\u{feff}[\"1.0\"]")]);
    assert_eq!(
        marked.settings().await.unwrap().instances[0].versions,
        ["1.0"]
    );
}

#[tokio::test]
async fn the_versions_of_each_docs_instance_are_read() {
    let (files, source) = site(&[
        ("bookrag.toml", "docs.api.docs_path = 'api'"),
        ("versions.json", "[\"1.0\"]"),
        ("api_versions.json", "[\"3.0\"]"),
    ]);
    let settings = source.settings().await.unwrap();
    let versions = settings.instances.iter().map(|docs| docs.versions.concat());
    assert_eq!(versions.collect::<Vec<_>>(), ["1.0", "3.0"]);
    let broken = b"[\n".to_vec();
    files.files().insert("api_versions.json".to_owned(), broken);
    let error = source.settings().await.unwrap_err().to_string();
    assert!(error.starts_with("api_versions.json, line "), "{error}");
}

#[tokio::test]
async fn an_edit_of_a_module_that_passes_a_partial_on_changes_the_page() {
    let (files, source) = site(&[
        ("docs/page.mdx", "import {A} from './parts'\n\n<A/>\n"),
        (
            "docs/parts/index.ts",
            "export {default as A} from './_one.mdx'",
        ),
        ("docs/parts/_one.mdx", "First words.\n"),
        ("docs/parts/_two.mdx", "Second words.\n"),
    ]);
    let settings = source.settings().await.unwrap();
    let page = page_file(&settings, "docs/page.mdx").unwrap();
    let read = async || {
        let bytes = source.read("docs/page.mdx").await.unwrap().unwrap();
        let files = FileCache::default();
        let inputs = source
            .inputs(&settings, &page, &bytes, &files)
            .await
            .unwrap();
        let document = read_document(&settings, "", &page, &bytes, &inputs).unwrap();
        let texts: Vec<String> = document
            .blocks
            .into_iter()
            .map(|block| block.text)
            .collect();
        (texts.join("\n"), fingerprint("", &bytes, &inputs))
    };
    let (first, before) = read().await;
    assert!(first.contains("First words."), "{first}");
    let text = b"import B from './_two.mdx';\nexport {B as A};";
    files
        .files()
        .insert("docs/parts/index.ts".to_owned(), text.to_vec());
    let (second, after) = read().await;
    assert!(
        second.contains("Second words.") && !second.contains("First"),
        "{second}"
    );
    assert_ne!(before, after);
    // A file that precedes the former one in the search for a module.
    files
        .files()
        .insert("docs/parts.js".to_owned(), b"export const A = 1".to_vec());
    let (third, last) = read().await;
    assert!(!third.contains("words"), "{third}");
    assert_ne!(after, last);
}
