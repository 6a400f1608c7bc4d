//! The index follows the catalog's commits.

use models::embed::{Embedding, TOKEN_DIMENSIONS, TokenVectors};
use store::index::Filters;
use uuid::Uuid;

use super::book::{ALL, Book, Chunk, DIMENSIONS, chunk, file, ids, vector};

const PAGE: &str = "docs/a.md";

#[tokio::test]
async fn only_what_is_committed_is_found() {
    let (book, _folder) = Book::create().await;
    let chunks = [chunk(0, "A node."), chunk(1, "A topic.")];
    book.upsert(&chunks).await;
    assert!(book.nearest(&vector(0), ALL).await.is_empty());
    assert_eq!(book.index.count(&book.row.collection).await.unwrap(), 2);
    book.publish(PAGE, &chunks).await;
    assert_eq!(book.nearest(&vector(0), ALL).await, ids(&chunks));
    assert_eq!(book.by_words("node").await, ids(&chunks[..1]));
}

#[tokio::test]
async fn a_replaced_chunk_is_found_by_its_new_words_and_vector_only() {
    let (book, _folder) = Book::create().await;
    let old = chunk(0, "A node.");
    let mut new = chunk(1, "A topic.");
    new.payload.chunk_id = old.payload.chunk_id;
    book.publish(PAGE, std::slice::from_ref(&old)).await;
    assert_eq!(book.by_words("node").await, [old.point_id]);
    book.publish(PAGE, std::slice::from_ref(&new)).await;
    assert!(book.by_words("node").await.is_empty());
    assert_eq!(book.by_words("topic").await, [new.point_id]);
    assert_eq!(book.nearest(&vector(0), ALL).await, [new.point_id]);
    let points = [old.point_id, new.point_id];
    let stored = book.index.vectors(&book.row.collection, &points);
    assert_eq!(stored.await.unwrap().len(), 1);
    book.publish(PAGE, &[]).await;
    assert!(book.by_words("topic").await.is_empty());
    assert!(book.nearest(&vector(1), ALL).await.is_empty());
}

/// Pages are added, changed and deleted, and some chunks keep their points. An image updated after each commit finds the same as one that is read
/// anew.
#[tokio::test]
async fn an_image_that_followed_all_commits_equals_one_read_anew() {
    let (book, folder) = Book::create().await;
    let mut pages: Vec<Vec<Chunk>> = vec![Vec::new(); 4];
    for step in 0..40_usize {
        let place = step * 7 % pages.len();
        let page = &mut pages[place];
        match step % 5 {
            0..3 => page.push(chunk(step, &format!("A node called part{step}."))),
            3 => page.truncate(1),
            _ => page.clear(),
        }
        for chunk in page.iter_mut() {
            chunk.payload.version = format!("{}", step % 3);
        }
        // A chunk with a changed payload gets a new point.
        for chunk in page.iter_mut().skip(1) {
            chunk.point_id = Uuid::new_v4();
        }
        let source = format!("docs/{place}.md");
        republish(&book, &source, page).await;
        if step % 3 == 0 {
            let reopened = Book::open(&file(&folder)).await;
            for (text, vector) in [("node part3", vector(step)), ("", vector(1))] {
                let filters = Filters::default();
                let followed = book.search(text, &vector, &filters, ALL).await;
                let anew = reopened.search(text, &vector, &filters, ALL).await;
                assert_eq!(followed, anew);
                let held: usize = pages.iter().map(Vec::len).sum();
                assert_eq!(followed.len(), held);
                let by_words = book.search(text, &[], &filters, ALL).await;
                assert_eq!(by_words, reopened.search(text, &[], &filters, ALL).await);
            }
        }
    }
}

/// Publishes a page with some existing points.
async fn republish(book: &Book, source: &str, page: &[Chunk]) {
    let stored = book
        .index
        .point_ids_after(&book.row.collection, None, usize::MAX)
        .await
        .unwrap();
    let index_id = book.row.index_id;
    let document = book.catalog.document(index_id, source).await.unwrap();
    let revision = document.map_or(0, |document| document.revision);
    let mut commit = super::book::commit(index_id, source, revision, page);
    commit.intents.retain(|point| !stored.contains(point));
    let document_id = commit.document.document_id;
    let intents = book
        .catalog
        .add_intents(index_id, document_id, &commit.intents);
    intents.await.unwrap();
    book.upsert(page).await;
    let outcome = book.catalog.commit(&commit).await.unwrap();
    let store::catalog::CommitOutcome::Committed { garbage } = outcome else {
        panic!("{source}: {outcome:?}");
    };
    book.index
        .delete(&book.row.collection, &garbage)
        .await
        .unwrap();
    book.catalog.forget(index_id, &garbage).await.unwrap();
}

#[tokio::test]
async fn payloads_are_read_by_point() {
    let (book, _folder) = Book::create().await;
    let chunks = [chunk(0, "A node."), chunk(1, "A topic.")];
    book.publish(PAGE, &chunks).await;
    let unknown = Uuid::new_v4();
    let points = [chunks[1].point_id, unknown];
    let payloads = book
        .index
        .payloads(&book.row.collection, &points)
        .await
        .unwrap();
    assert_eq!(payloads.len(), 1);
    let payload = &payloads[&chunks[1].point_id];
    assert_eq!(
        (payload.text.as_str(), payload.source.as_str()),
        ("A topic.", PAGE)
    );
    assert_eq!(payload.chunk_id, chunks[1].payload.chunk_id);
}

#[tokio::test]
async fn a_lost_vector_leaves_the_chunk_to_its_words() {
    let (book, folder) = Book::create().await;
    let chunks = [chunk(0, "A node."), chunk(1, "A topic.")];
    book.publish(PAGE, &chunks).await;
    book.index
        .delete(&book.row.collection, &ids(&chunks[..1]))
        .await
        .unwrap();
    let book = Book::open(&file(&folder)).await;
    let found = book
        .search("node", &chunks[0].vector, &Filters::default(), ALL)
        .await;
    let lost = found
        .iter()
        .find(|point| point.point_id == chunks[0].point_id);
    assert!(lost.unwrap().score.abs() < f32::EPSILON, "{found:?}");
    assert_eq!(book.by_words("node").await, ids(&chunks[..1]));
}

/// SQLite reuses the row number of a deleted row.
#[tokio::test]
async fn a_new_point_has_no_tokens_of_one_that_is_gone() {
    let (book, _folder) = Book::create().await;
    let name = &book.row.collection;
    let tokens = TokenVectors::new([[1; TOKEN_DIMENSIONS]; 3]);
    let point = |tokens: &TokenVectors| {
        let embedding = Embedding {
            vector: vector(0),
            tokens: tokens.clone(),
            questions: Vec::new(),
        };
        (Uuid::new_v4(), embedding)
    };
    let none = TokenVectors::default();
    for dropped in [false, true] {
        let (gone, new) = (point(&tokens), point(&none));
        book.index.upsert(name, vec![gone.clone()]).await.unwrap();
        let stored = book.index.tokens(name, &[gone.0]).await.unwrap();
        assert_eq!(stored[&gone.0], tokens);
        if dropped {
            book.index.drop_collection(name).await.unwrap();
            let ensuring = book.index.ensure_collection(name, DIMENSIONS);
            ensuring.await.unwrap();
        } else {
            book.index.delete(name, &[gone.0]).await.unwrap();
        }
        book.index.upsert(name, vec![new.clone()]).await.unwrap();
        let stored = book.index.tokens(name, &[gone.0, new.0]).await.unwrap();
        assert!(stored.is_empty(), "{stored:?}");
        let vectors = book.index.vectors(name, &[new.0]).await.unwrap();
        assert_eq!(vectors[&new.0].tokens, none);
        book.index.delete(name, &[new.0]).await.unwrap();
    }
}

#[tokio::test]
async fn a_dropped_collection_is_gone_and_can_be_made_anew() {
    let (book, _folder) = Book::create().await;
    let name = &book.row.collection;
    book.publish(PAGE, &[chunk(0, "A node.")]).await;
    assert_eq!(book.nearest(&vector(0), ALL).await.len(), 1);
    book.index.drop_collection(name).await.unwrap();
    book.index.drop_collection(name).await.unwrap();
    assert!(!book.index.has_collection(name).await.unwrap());
    assert!(book.index.count(name).await.is_err());
    book.index.ensure_collection(name, 2).await.unwrap();
    assert_eq!(book.index.count(name).await.unwrap(), 0);
    // The catalog still has the chunks, but without vectors.
    let found = book
        .search("node", &[0.6, 0.8], &Filters::default(), ALL)
        .await;
    assert_eq!(found.len(), 1);
    assert!(found[0].score.abs() < f32::EPSILON);
}
