//! The contract of all vector stores. Each test runs on Qdrant's engine in the test's process, and on the Qdrant server that
//! `QDRANT_TEST_URL` names, if set. Some also run on a book's file; `shared/store/tests/local_index` has the other tests of the file.

mod aliases;
mod book_file;
mod collections;
mod deleting;
mod filtering;
mod outages;
mod points;
mod searching;
mod storing;
mod tokens;
mod questions;
mod traffic;

use std::env;
use std::fmt::Debug;
use std::panic;
use std::time::Duration;

use bookrag::book::{FacetKind, Facets};
use bookrag::index::{Filters, IndexError, NewPoint, ScoredPoint, VectorIndex, VectorQuery};
use bookrag::words::{Language, terms_in};
use bookrag_test_qdrant::Engine;
use qdrant_client::Qdrant;
use qdrant_client::qdrant::{NamedVectors, PointStruct, UpsertPointsBuilder};
use uuid::Uuid;

use book_file::BookFile;
use points::vector;

/// The gRPC address of the other server.
const URL_VARIABLE: &str = "QDRANT_TEST_URL";
/// The server's API key, if it has one.
const API_KEY_VARIABLE: &str = "QDRANT_TEST_API_KEY";
/// Long enough for a machine that is compiling at the same time.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A vector store, with names reserved for the test. Collections with these names and their aliases are dropped
/// afterwards.
#[derive(Clone)]
struct Store {
    index: VectorIndex,
    collection: String,
    other: String,
    alias: String,
    behind: Behind,
}

/// Access to the store that bypasses the client.
#[derive(Clone)]
enum Behind {
    Server(Qdrant),
    File(BookFile),
}

impl Store {
    fn new(index: VectorIndex, behind: Behind) -> Self {
        let name = format!("contract_{}", Uuid::new_v4().simple());
        Self {
            index,
            other: format!("{name}_other"),
            alias: format!("{name}_alias"),
            collection: name,
            behind,
        }
    }

    fn server(url: &str, api_key: Option<String>) -> Self {
        let client = Qdrant::from_url(url).skip_compatibility_check();
        let client = client.api_key(api_key.clone()).build().unwrap();
        let index = VectorIndex::qdrant(url, api_key.map(Into::into).as_ref(), TIMEOUT);
        Self::new(index.unwrap(), Behind::Server(client))
    }

    async fn ensure(&self, dimensions: usize) {
        let ensuring = self.index.ensure_collection(&self.collection, dimensions);
        ensuring.await.unwrap();
        let facets = Facets::from([
            ("plan".to_owned(), FacetKind::Text),
            ("release".to_owned(), FacetKind::AtMost),
        ]);
        let ensuring = self.index.ensure_facets(&self.collection, &facets);
        ensuring.await.unwrap();
    }

    /// Stores points like ingest; searches of a file only see points that the catalog committed.
    async fn publish(&self, points: Vec<NewPoint>) {
        let upserting = self.index.upsert(&self.collection, points.clone());
        upserting.await.unwrap();
        if let Behind::File(book) = &self.behind {
            book.commit(&self.collection, points).await;
        }
    }

    /// Stores a point with a payload that this release would not write.
    async fn upsert_of_another_release(&self, point_id: Uuid) {
        let Behind::Server(client) = &self.behind else {
            panic!("the payloads of a file are the catalog's");
        };
        let vectors = NamedVectors::default().add_vector("dense", vector(0));
        let point = PointStruct::new(point_id.to_string(), vectors, [("of", "2031".into())]);
        let upsert = UpsertPointsBuilder::new(&self.collection, vec![point]).wait(true);
        client.upsert_points(upsert).await.unwrap();
    }
}

/// Searches with a text and a vector, either of which may be empty.
async fn search(
    index: &VectorIndex,
    collection: &str,
    (text, vector): (&str, &[f32]),
    filters: &Filters,
    limit: usize,
) -> Result<Vec<ScoredPoint>, IndexError> {
    let query = VectorQuery {
        terms: &terms_in(text, &[Language::ENGLISH]),
        vector,
        tokens: &[],
        with_questions: true,
        filters,
        limit,
    };
    index.search(collection, &query).await
}

/// Searches by meaning alone.
async fn nearest(
    index: &VectorIndex,
    collection: &str,
    vector: &[f32],
    limit: usize,
) -> Result<Vec<ScoredPoint>, IndexError> {
    search(index, collection, ("", vector), &Filters::default(), limit).await
}

/// Searches by words alone.
async fn matching(
    index: &VectorIndex,
    collection: &str,
    text: &str,
    limit: usize,
) -> Result<Vec<ScoredPoint>, IndexError> {
    search(index, collection, (text, &[]), &Filters::default(), limit).await
}

#[track_caller]
fn assert_rejected<T: Debug>(answer: Result<T, IndexError>) {
    let failure = answer.unwrap_err();
    assert!(matches!(failure, IndexError::Rejected(_)), "{failure}");
}

/// Runs a test on each server.
async fn hold<Run>(law: impl Fn(Store) -> Run)
where
    Run: Future<Output = ()> + Send + 'static,
{
    let engine = Engine::start().await.unwrap();
    let in_process = Store::server(engine.url(), None);
    hold_on("the engine in process", in_process, &law).await;

    if let Ok(url) = env::var(URL_VARIABLE) {
        let named = Store::server(&url, env::var(API_KEY_VARIABLE).ok());
        hold_on(&url, named, &law).await;
    }
}

/// Runs a test on a book's file and on each server.
async fn hold_everywhere<Run>(law: impl Fn(Store) -> Run)
where
    Run: Future<Output = ()> + Send + 'static,
{
    let folder = tempfile::tempdir().unwrap();
    let (index, book) = BookFile::create(folder.path()).await;
    let store = Store::new(index, Behind::File(book));
    hold_on("a book's file", store, &law).await;
    hold(law).await;
}

/// Runs a test on one store, and cleans up even if it fails.
async fn hold_on<Run>(name: &str, store: Store, law: &impl Fn(Store) -> Run)
where
    Run: Future<Output = ()> + Send + 'static,
{
    let outcome = tokio::spawn(law(store.clone())).await;
    for collection in [&store.collection, &store.other] {
        store.index.drop_collection(collection).await.unwrap();
    }
    if let Err(broken) = outcome {
        eprintln!("{name} breaks the law");
        panic::resume_unwind(broken.into_panic());
    }
}

/// Defines a test for each function.
macro_rules! laws {
    ($hold:ident: $($module:ident: $($law:ident)*;)*) => {
        $($(
            #[tokio::test(flavor = "multi_thread")]
            async fn $law() {
                $hold($module::$law).await;
            }
        )*)*
    };
}

laws! {
    hold_everywhere:
    storing:
        upserted_points_are_found_at_once_and_unchanged;
    tokens:
        a_token_score_is_what_comparing_every_pair_gives
        the_tokens_of_points_can_be_read
        tokens_do_not_change_what_is_found;
    questions:
        a_question_score_is_the_best_cosine
        a_point_is_found_by_one_of_its_questions
        the_questions_of_points_are_stored_with_them;
    searching:
        the_words_of_the_breadcrumb_are_found
        a_page_is_found_by_its_search_words
        each_ranker_contributes_at_most_the_limit;
    filtering:
        every_filter_narrows_both_rankers
        all_conditions_of_a_filter_must_hold;
}

laws! {
    hold:
    collections:
        an_empty_collection_answers_with_nothing
        ensuring_twice_keeps_the_points
        concurrent_ensures_all_succeed
        a_creation_that_was_cut_off_is_completed
        calls_to_an_unknown_collection_are_rejected
        a_dropped_collection_is_gone_and_can_be_made_anew;
    storing:
        a_payload_that_cannot_be_read_is_missing
        upserting_the_same_points_again_changes_nothing
        concurrent_upserts_are_all_stored
        a_batch_of_many_megabytes_is_stored
        points_of_other_dimensions_are_rejected_and_not_stored
        no_point_of_a_refused_batch_is_stored_in_part;
    deleting:
        only_deleted_points_are_no_longer_found
        missing_points_can_be_looked_up_and_deleted
        all_points_are_listed_and_deleted_beyond_one_page;
    searching:
        a_points_score_is_its_cosine_best_first
        the_nearest_of_many_are_those_that_comparing_all_finds
        the_best_of_both_rankers_are_joined_and_scored_by_cosine
        rare_words_weigh_more_and_endings_do_not_matter
        unknown_words_find_nothing;
    filtering:
        a_filter_is_applied_before_the_limit;
    aliases:
        an_alias_finds_the_collection_it_was_last_pointed_at
        a_search_while_an_alias_moves_finds_one_of_its_collections
        an_alias_needs_an_existing_collection_and_an_unused_name
        an_alias_is_dropped_with_its_collection;
}
