//! Complete retrievals with an in-memory catalog, while the vector store is down.

mod limits;
mod synonyms;
pub(crate) mod tokens;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::join_all;
use uuid::Uuid;

use super::fusion::tests::section;
use super::question::EmbeddedQuestion;
use super::{Backends, Language, Query, Retrieved, Retriever, searched_languages};
use crate::degradation::Degradation;
use book::Placement;
use models::embed::{Dimensions, Embedder, FakeEmbedder, OpenAiEmbedder, OpenAiOptions};
use models::rerank::Reranker;
use store::catalog::{
    Catalog, ChunkRow, Commit, CommitOutcome, DocumentRow, IndexSpec, InstanceInfo, NewChunk,
    NewIndex, Retired, SiteInfo, SqliteCatalog,
};
use store::index::{ChunkPayload, Filters, VectorIndex};

/// A page of one section: its name, its chapter's number, and its text.
pub(crate) type Page<'a> = (&'a str, i64, &'a str);

/// A reserved port on which nothing listens (RFC 6335, section 6).
const NO_STORE: &str = "http://127.0.0.1:0";

/// Returns a completely indexed book without a vector store.
pub(crate) async fn book(pages: &[Page<'_>]) -> Retriever {
    let mut retriever = unfinished_book(pages).await;
    let index_id = retriever.index.index_id;
    let catalog = retriever.catalog();
    catalog.expect_pages(index_id, None).await.unwrap();
    retriever.index = catalog.live_index().await.unwrap().unwrap();
    retriever
}

/// Returns a book during its first indexing, without a vector store.
pub(super) async fn unfinished_book(pages: &[Page<'_>]) -> Retriever {
    let catalog = Catalog::Sqlite(SqliteCatalog::in_memory().unwrap());
    let index = catalog.ensure_index(&new_index()).await.unwrap();
    for page in pages {
        commit(&catalog, index.index_id, page, payload(page)).await;
    }
    let backends = Backends {
        embedder: Embedder::Fake(FakeEmbedder::new()),
        reranker: Reranker::None,
        vectors: VectorIndex::qdrant(NO_STORE, None, Duration::from_secs(1)).unwrap(),
        catalog,
        off_topic: crate::retrieve::OffTopicCache::default(),
        questions: crate::retrieve::QuestionCache::default(),
    };
    Retriever { backends, index }
}

#[test]
fn a_search_looks_for_words_in_every_language_of_the_site_once() {
    let site = SiteInfo {
        default_locale: "en".to_owned(),
        locales: ["en", "de", "de-AT"].map(str::to_owned).into(),
        ..SiteInfo::default()
    };
    let german = Filters {
        locale: Some("de".to_owned()),
        ..Filters::default()
    };
    let [english, german_first] =
        [Filters::default(), german].map(|filters| searched_languages(&site, &filters));
    let [en, de] = ["en", "de"].map(Language::of_locale);
    assert_eq!((english, german_first), (vec![en, de], vec![de, en]));
}

#[tokio::test]
async fn a_question_that_is_not_embedded_keeps_the_frequencies_of_its_words() {
    let mut retriever = unfinished_book(&[("dew", 1, "The dew sensor drifts.")]).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let options = OpenAiOptions {
        base_url: NO_STORE.to_owned(),
        api_key: None,
        model: "absent".to_owned(),
        dimensions: Dimensions::of_model("absent", Some(64)),
        timeout: Duration::from_secs(1),
    };
    retriever.backends.embedder = Embedder::OpenAi(OpenAiEmbedder::new(options).unwrap());
    let (question, degraded) = embedded(&retriever).await;
    assert_eq!(degraded, [Degradation::Embedder]);
    assert!(question.vector.is_empty());
    let frequencies = question.frequencies.unwrap();
    assert!(frequencies.idf("sensor").is_some(), "{frequencies:?}");
}

#[tokio::test]
async fn frequencies_that_cannot_be_read_are_a_degradation() {
    let mut retriever = unfinished_book(&[("dew", 1, "The dew sensor drifts.")]).await;
    let folder = tempfile::tempdir().unwrap();
    let empty = SqliteCatalog::open(&folder.path().join("empty.sqlite")).await;
    retriever.backends.catalog = Catalog::Sqlite(empty.unwrap());
    let (question, degraded) = embedded(&retriever).await;
    assert_eq!(degraded, [Degradation::Catalog]);
    assert!(!question.vector.is_empty() && question.frequencies.is_none());
}

async fn embedded(retriever: &Retriever) -> (EmbeddedQuestion, Vec<Degradation>) {
    let synonyms = super::synonyms::Synonyms::default();
    retriever
        .embed("Does the sensor drift?", &synonyms, Language::ENGLISH)
        .await
}

fn new_index() -> NewIndex {
    NewIndex {
        spec: IndexSpec {
            site: "site".to_owned(),
            embedder: "fake".to_owned(),
            embedder_fingerprint: "fake".to_owned(),
            dimensions: 64,
            chunk_policy: "adaptive".to_owned(),
            embedded_text_version: 1,
            bm25: "k1=1.2 b=0.75".to_owned(),
            token_vectors: None,
            question_vectors: None,
        },
        collection: "tests".to_owned(),
        site: SiteInfo {
            default_locale: "en".to_owned(),
            locales: vec!["ur".to_owned()],
            docs: InstanceInfo {
                default_version: "current".to_owned(),
                version_paths: [("next".to_owned(), "2.0".to_owned())].into(),
                ..InstanceInfo::default()
            },
            ..SiteInfo::default()
        },
        retired: Retired::Stays,
    }
}

/// Adds an unlisted page to a book.
pub(crate) async fn add_unlisted(retriever: &Retriever, page: &Page<'_>) {
    let payload = ChunkPayload {
        unlisted: true,
        ..payload(page)
    };
    let index_id = retriever.index.index_id;
    commit(retriever.catalog(), index_id, page, payload).await;
}

fn payload((name, chapter, text): &Page<'_>) -> ChunkPayload {
    ChunkPayload {
        chunk_id: Uuid::new_v4(),
        document_id: Uuid::new_v5(&Uuid::NAMESPACE_URL, name.as_bytes()),
        module: "Basics".to_owned(),
        module_number: Some(1),
        chapter: format!("The chapter {chapter}"),
        chapter_number: Some(*chapter),
        ..Arc::unwrap_or_clone(section(name, "x", &text.replace('\n', "\\n"), 0.0, "2026").chunk)
    }
}

async fn commit(
    catalog: &Catalog,
    index_id: i64,
    (name, chapter, text): &Page<'_>,
    payload: ChunkPayload,
) {
    let source = format!("{name}.md");
    let row = ChunkRow {
        chunk_id: payload.chunk_id,
        position: 0,
        chapter: payload.chapter.clone(),
        chapter_id: Some(*chapter),
        section: None,
        section_id: None,
        source_file: source.clone(),
        start_line: 1,
        end_line: 2,
        token_count: 9,
        point_id: Uuid::new_v4(),
        text: (*text).to_owned(),
        text_hash: String::new(),
        payload_hash: String::new(),
    };
    let document = DocumentRow {
        document_id: Uuid::new_v5(&Uuid::NAMESPACE_URL, source.as_bytes()),
        source,
        title: (*name).to_owned(),
        url: format!("/{name}"),
        locale: "en".to_owned(),
        version: "current".to_owned(),
        lesson_id: None,
        placement: Placement::default(),
        fingerprint: String::new(),
        skip_reason: None,
        deleted: false,
    };
    let points = [row.point_id];
    let intents = catalog.add_intents(index_id, document.document_id, &points);
    intents.await.unwrap();
    let commit = Commit {
        index_id,
        document,
        expected_revision: 0,
        chunks: Some(vec![NewChunk { row, payload }]),
        intents: points.to_vec(),
        inputs: Vec::new(),
    };
    let outcome = catalog.commit(&commit).await.unwrap();
    assert!(
        matches!(outcome, CommitOutcome::Committed { .. }),
        "{outcome:?}"
    );
}

async fn found(retriever: &Retriever, query: Query<'_>) -> Retrieved {
    let filters = Filters::default();
    let found = retriever.retrieve(query, &filters, usize::MAX).await;
    found.unwrap()
}

/// Returns the names of the pages found, best first.
fn names(found: &Retrieved) -> Vec<&str> {
    let titles = found.candidates.iter().map(|found| &found.chunk.title);
    titles.map(String::as_str).collect()
}

#[tokio::test]
async fn words_are_found_in_their_other_forms_without_the_vector_store() {
    let pages: [Page; 24] = [
        ("battery", 1, "Charge the battery."),
        ("batteries", 1, "Two batteries."),
        ("memory", 1, "It runs out of memory."),
        ("policies", 1, "Quality of service policies."),
        ("police", 1, "Call the police."),
        ("library", 1, "Link the library."),
        ("queries", 1, "Send queries."),
        ("history", 1, "The bus keeps a history."),
        ("trajectories", 1, "Plan trajectories."),
        ("directory", 1, "Change the directory."),
        ("gravity", 1, "Gravity points down."),
        ("copies", 1, "It copies files."),
        ("entry", 1, "The entry point."),
        ("property", 1, "A property of joints."),
        ("study", 1, "A study of gaits."),
        ("rclpy", 1, "Import rclpy first."),
        ("scaling", 1, "Scaling of meshes."),
        ("scalar", 1, "A scalar field."),
        ("capability", 1, "Each capability is listed."),
        ("calibrated", 1, "Calibrated once."),
        ("fly", 1, "Drones fly."),
        ("flip", 1, "Flip the switch."),
        ("node", 1, "Call create_node once."),
        ("environment", 1, "Set testEnvironment."),
    ];
    let table: [(&str, &[&str]); 41] = [
        ("battery", &["batteries", "battery"]),
        ("batteries", &["batteries", "battery"]),
        ("Battery!", &["batteries", "battery"]),
        ("memory", &["memory"]),
        ("memories", &["memory"]),
        ("policy", &["policies"]),
        ("policies", &["policies"]),
        ("police", &["police"]),
        ("library", &["library"]),
        ("libraries", &["library"]),
        ("query", &["queries"]),
        ("querying", &["queries"]),
        ("history", &["history"]),
        ("histories", &["history"]),
        ("trajectory", &["trajectories"]),
        ("directories", &["directory"]),
        ("gravity", &["gravity"]),
        ("copy", &["copies"]),
        ("copying", &["copies"]),
        ("copied", &["copies"]),
        ("entries", &["entry"]),
        ("properties", &["property"]),
        ("studying", &["study"]),
        ("rclpy", &["rclpy"]),
        ("scale", &["scaling"]),
        ("scaled", &["scaling"]),
        ("scaling", &["scaling"]),
        ("scalars", &["scalar"]),
        ("capabilities", &["capability"]),
        ("capable", &["capability"]),
        ("calibrating", &["calibrated"]),
        ("calibrate", &["calibrated"]),
        ("flies", &["fly"]),
        ("flipping", &["flip"]),
        ("create_node", &["node"]),
        ("nodes", &["node"]),
        ("testEnvironments", &["environment"]),
        // No page has these words, but `bat` begins one.
        ("bat", &[]),
        ("quasar", &[]),
        ("the of it", &[]),
        ("polish", &[]),
    ];
    let retriever = book(&pages).await;
    let searches = table
        .iter()
        .map(|(word, _)| found(&retriever, Query::new(word)).boxed());
    for (found, (word, expected)) in join_all(searches).await.iter().zip(table) {
        assert_eq!(found.degraded, [Degradation::VectorStore]);
        let relevant = found
            .candidates
            .iter()
            .filter(|found| found.scores.lexical > 0.0);
        let mut relevant: Vec<&str> = relevant.map(|found| found.chunk.title.as_str()).collect();
        relevant.sort_unstable();
        assert_eq!(relevant, expected, "{word}");
    }
}
