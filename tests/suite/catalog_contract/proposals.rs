//! The sections whose questions are proposed to readers.

use bookrag::catalog::Commit;
use uuid::Uuid;

use super::Store;
use super::rows::{COMMITTED, chunk, commit, document_id, live_index, write};

/// A page with these questions of its chunks.
fn page(index_id: i64, source: &str, questions: &[&[&str]]) -> Commit {
    let positions = 0..i32::try_from(questions.len()).unwrap();
    let rows: Vec<_> = positions
        .map(|position| chunk(source, position, &format!("text {position} of {source}")))
        .collect();
    let mut page = commit(index_id, source, 0, &rows);
    for (chunk, questions) in page.chunks.iter_mut().flatten().zip(questions) {
        chunk.payload.questions = questions.iter().map(|&it| it.to_owned()).collect();
    }
    page
}

pub(super) async fn the_first_pages_with_questions_of_a_language_and_version_are_found(
    store: Store,
) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    for (source, locale, version, questions, is_deleted) in [
        ("docs/c.md", "en", "current", "Three?", false),
        ("docs/a.md", "en", "current", "One?", false),
        ("docs/b.md", "en", "current", "Two?", false),
        ("docs/ur.md", "ur", "current", "Four?", false),
        ("docs/old.md", "en", "1.0", "Five?", false),
        ("docs/gone.md", "en", "current", "Six?", true),
    ] {
        let mut page = page(index_id, source, &[&[], &[questions]]);
        page.document.locale = locale.to_owned();
        page.document.version = version.to_owned();
        page.document.deleted = is_deleted;
        assert_eq!(write(catalog, &page).await, COMMITTED);
    }
    let without = page(index_id, "docs/0.md", &[&[], &[]]);
    assert_eq!(write(catalog, &without).await, COMMITTED);
    for (locale, version, limit, expected) in [
        (
            "en",
            "current",
            9,
            &["docs/a.md", "docs/b.md", "docs/c.md"][..],
        ),
        ("en", "current", 2, &["docs/a.md", "docs/b.md"]),
        ("ur", "current", 9, &["docs/ur.md"]),
        ("en", "1.0", 9, &["docs/old.md"]),
        ("de", "current", 9, &[]),
    ] {
        let pages = catalog.pages_with_questions(index_id, locale, version, limit);
        let expected: Vec<Uuid> = expected.iter().map(|source| document_id(source)).collect();
        assert_eq!(pages.await.unwrap(), expected, "{locale} {version} {limit}");
    }
    let other = catalog.pages_with_questions(index_id + 1, "en", "current", 9);
    assert!(other.await.unwrap().is_empty());
}

pub(super) async fn a_section_with_questions_is_read_by_its_first_chunk(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let mut long = page(
        index_id,
        "docs/a.md",
        &[&["A?"], &[], &["B?", "C?"], &["B?", "C?"]],
    );
    if let Some(chunks) = &mut long.chunks {
        chunks[3].payload.chunk_index = 1;
    }
    assert_eq!(write(catalog, &long).await, COMMITTED);
    let short = page(index_id, "docs/b.md", &[&["D?"]]);
    assert_eq!(write(catalog, &short).await, COMMITTED);
    let pages = ["docs/b.md", "docs/none.md", "docs/a.md"].map(document_id);
    for (limit, expected) in [
        (9, [&["D?"][..], &[], &["A?", "B? C?"]]),
        (1, [&["D?"], &[], &["A?"]]),
    ] {
        let sections = catalog.sections_with_questions(index_id, &pages, limit);
        let sections = sections.await.unwrap().into_iter().map(|page| {
            let page = page.iter();
            page.map(|it| it.payload.questions.join(" "))
                .collect::<Vec<_>>()
        });
        assert_eq!(sections.collect::<Vec<_>>(), expected, "{limit}");
    }
    let none = catalog.sections_with_questions(index_id, &[], 9).await;
    assert!(none.unwrap().is_empty());
}

/// A book may have thousands of pages, and a panel asks for its questions whenever it opens.
pub(super) async fn questions_are_found_by_an_index_of_their_own(store: Store) {
    live_index(&store.catalog).await;
    let indexes = match &store.behind {
        super::Behind::Sqlite { .. } => "sqlite_master WHERE type = 'index' AND name",
        super::Behind::Postgres { .. } => "pg_indexes WHERE indexname",
    };
    let names = "('document_chunks_questions', 'documents_edition', 'documents_url')";
    let query = format!("SELECT count(*) FROM {indexes} IN {names}");
    assert_eq!(store.value(&query).await, "3");
}
