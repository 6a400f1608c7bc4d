use super::*;
use crate::ingest::simulation::stores::{Stores, options};
use crate::ingest::{SyncOptions, sync};
use crate::source::MemorySource;
use fakes::faults::block_on;

/// An indexed book: a page with a partial, one without, and a translation.
fn book() -> (MemorySource, Ingest) {
    let source = MemorySource::default();
    for (path, text) in [
        ("bookrag.toml", "locales = ['en', 'ur']"),
        ("docs/a.mdx", "import P from './_p.mdx'\n\n# A\n\n<P/>\n"),
        ("docs/_p.mdx", "Of the partial.\n"),
        ("docs/b.md", "# B\n\nText of b.\n"),
        (
            "i18n/ur/docusaurus-plugin-content-docs/current/b.md",
            "# B\n\nOf b in Urdu.\n",
        ),
    ] {
        put(&source, path, text);
    }
    let ingest = block_on(Stores::new().open(&source, options())).unwrap();
    let report = block_on(sync(&ingest, SyncOptions::default(), |_| {})).unwrap();
    assert_eq!(report.files_changed, 3, "{report:?}");
    (source, ingest)
}

fn put(source: &MemorySource, path: &str, text: &str) {
    source
        .files()
        .insert(path.to_owned(), text.as_bytes().to_vec());
}

/// Returns the pending sources, and the files that were read to find them.
fn looked(source: &MemorySource, ingest: &Ingest) -> (Vec<String>, BTreeSet<String>) {
    source.take_read();
    let status = block_on(ingest.status("")).unwrap();
    let pending = status.pending.into_iter().map(|pending| pending.source);
    (pending.collect(), source.take_read().into_iter().collect())
}

#[test]
fn files_whose_etags_the_catalog_knows_are_not_read_again() {
    let (source, ingest) = book();
    assert_eq!(looked(&source, &ingest), (vec![], BTreeSet::new()));
}

#[test]
fn a_change_of_anything_that_a_page_used_has_it_read_again() {
    let ur = "i18n/ur/docusaurus-plugin-content-docs/current/b.md";
    for (path, text, pending) in [
        ("docs/b.md", "# B\n\nChanged.\n", "docs/b.md"),
        ("docs/_p.mdx", "Changed.\n", "docs/a.mdx"),
        (ur, "# B\n\nChanged.\n", ur),
        // Reading the page looked for this file, which did not exist.
        ("docs/_category_.json", "{\"label\": \"New\"}", "docs/a.mdx"),
    ] {
        let (source, ingest) = book();
        put(&source, path, text);
        let (found, read) = looked(&source, &ingest);
        assert!(found.contains(&pending.to_owned()), "{path}: {found:?}");
        assert!(read.contains(pending), "{path}: {read:?}");
    }
    let (source, ingest) = book();
    source.files().remove("docs/_p.mdx");
    assert_eq!(looked(&source, &ingest).0, ["docs/a.mdx"]);
    // A translation without its page is not a page.
    let (source, ingest) = book();
    source.files().remove("docs/b.md");
    let mut found = looked(&source, &ingest).0;
    found.sort();
    assert_eq!(found, ["docs/b.md", ur]);
}

#[test]
fn the_page_of_a_folder_comes_and_goes_with_its_description() {
    let (source, ingest) = book();
    let category = "docs/maps/_category_.json";
    let described = "{\"link\": {\"type\": \"generated-index\", \"description\": \"All maps.\"}}";
    for (text, pages, changed, deleted) in [
        ("{\"label\": \"Maps\"}", 3, 0, 0),
        (described, 4, 1, 0),
        ("{\"label\": \"Maps\"}", 3, 0, 1),
    ] {
        put(&source, category, text);
        let report = block_on(sync(&ingest, SyncOptions::default(), |_| {})).unwrap();
        let found = (report.files_changed, report.files_deleted);
        assert_eq!(found, (changed, deleted), "{text}: {report:?}");
        let status = block_on(ingest.status("")).unwrap();
        assert_eq!((status.pages, status.pending), (pages, vec![]), "{text}");
    }
}

#[test]
fn a_file_that_a_page_imports_and_that_is_missing_is_named() {
    let (source, ingest) = book();
    let missing = |ingest: &Ingest| block_on(ingest.status("")).unwrap().missing_files;
    assert_eq!(missing(&ingest), []);
    source.files().remove("docs/_p.mdx");
    let named = MissingFile {
        source: "docs/a.mdx".to_owned(),
        path: "docs/_p.mdx".to_owned(),
    };
    assert_eq!(missing(&ingest), std::slice::from_ref(&named));
    block_on(sync(&ingest, SyncOptions::default(), |_| {})).unwrap();
    assert_eq!(missing(&ingest), [named]);
}
