//! What every vector store does. Each law runs on Qdrant's engine in the test's process, and on the Qdrant server that `QDRANT_TEST_URL`
//! names, when it names one.

mod aliases;
mod collections;
mod deleting;
mod filtering;
mod outages;
mod points;
mod searching;
mod storing;

use std::env;
use std::fmt::Debug;
use std::panic;
use std::time::Duration;

use bookrag::index::{IndexError, VectorIndex};
use bookrag_test_qdrant::Engine;
use uuid::Uuid;

/// Where the other server's gRPC is.
const URL_VARIABLE: &str = "QDRANT_TEST_URL";
/// Its API key, if it has one.
const API_KEY_VARIABLE: &str = "QDRANT_TEST_API_KEY";
/// A machine that compiles as well is slow.
const TIMEOUT: Duration = Duration::from_mins(1);

/// A vector store, and names in it that are the test's own. Collections of these names are dropped after it, and their
/// aliases with them.
#[derive(Clone)]
struct Store {
    index: VectorIndex,
    collection: String,
    other: String,
    alias: String,
}

impl Store {
    fn new(index: VectorIndex) -> Self {
        let name = format!("contract_{}", Uuid::new_v4().simple());
        Self {
            index,
            other: format!("{name}_other"),
            alias: format!("{name}_alias"),
            collection: name,
        }
    }

    /// Makes the collection.
    async fn ensure(&self, dimensions: usize) {
        let ensuring = self.index.ensure_collection(&self.collection, dimensions);
        ensuring.await.unwrap();
    }
}

#[track_caller]
fn assert_rejected<T: Debug>(answer: Result<T, IndexError>) {
    let failure = answer.unwrap_err();
    assert!(matches!(failure, IndexError::Rejected(_)), "{failure}");
}

/// Runs a law on each server.
async fn hold<Run>(law: impl Fn(Store) -> Run)
where
    Run: Future<Output = ()> + Send + 'static,
{
    let engine = Engine::start().await.unwrap();
    let in_process = VectorIndex::qdrant(engine.url(), None, TIMEOUT).unwrap();
    hold_on("the engine in process", in_process, &law).await;

    if let Ok(url) = env::var(URL_VARIABLE) {
        let api_key = env::var(API_KEY_VARIABLE).ok().map(Into::into);
        let named = VectorIndex::qdrant(&url, api_key.as_ref(), TIMEOUT).unwrap();
        hold_on(&url, named, &law).await;
    }
}

/// Runs a law on one server, and leaves nothing there even when the law is broken.
async fn hold_on<Run>(server: &str, index: VectorIndex, law: &impl Fn(Store) -> Run)
where
    Run: Future<Output = ()> + Send + 'static,
{
    let store = Store::new(index);
    let outcome = tokio::spawn(law(store.clone())).await;
    for collection in [&store.collection, &store.other] {
        store.index.drop_collection(collection).await.unwrap();
    }
    if let Err(broken) = outcome {
        eprintln!("{server} breaks the law");
        panic::resume_unwind(broken.into_panic());
    }
}

/// Makes a test of each law.
macro_rules! laws {
    ($($module:ident: $($law:ident)*;)*) => {
        $($(
            #[tokio::test(flavor = "multi_thread")]
            async fn $law() {
                hold($module::$law).await;
            }
        )*)*
    };
}

laws! {
    collections:
        an_empty_collection_answers_with_nothing
        ensuring_twice_keeps_the_points
        of_those_that_ensure_at_once_all_succeed
        a_creation_that_was_cut_off_is_completed
        calls_to_an_unknown_collection_are_rejected
        a_dropped_collection_is_gone_and_can_be_made_anew;
    storing:
        what_was_upserted_is_found_at_once_as_it_was
        upserting_the_same_points_again_changes_nothing
        upserts_at_once_all_land
        a_batch_of_many_megabytes_is_stored
        points_of_other_dimensions_are_rejected_and_not_stored
        no_half_of_a_point_of_a_refused_batch_is_stored;
    deleting:
        deleted_points_are_found_no_more_and_the_others_still_are
        points_that_are_not_there_can_be_looked_up_and_deleted
        all_points_are_listed_and_deleted_beyond_one_page;
    searching:
        a_point_scores_as_its_best_row_best_first
        the_nearest_of_many_are_those_that_comparing_all_finds
        rare_words_weigh_more_and_endings_do_not_matter
        words_that_are_nowhere_find_nothing;
    filtering:
        every_filter_narrows_both_searches
        all_conditions_of_a_filter_must_hold
        a_filter_is_applied_before_the_limit;
    aliases:
        an_alias_finds_the_collection_it_was_last_pointed_at
        a_search_while_an_alias_moves_finds_one_of_its_collections
        an_alias_names_only_what_is_there_and_no_collection
        an_alias_goes_with_its_collection;
}
