//! The contract of all catalogs. Each test runs on a SQLite file, on a real Postgres database, and on one behind
//! pgbouncer in transaction mode, which serves everything but migrations.

mod answers;
mod clients;
mod commits;
mod filtering;
mod frequencies;
mod indexes;
mod insights;
mod logs;
mod pages;
mod pending;
mod proposals;
mod readers;
pub(crate) mod rows;
mod searching;
mod values;
mod written;

use std::path::PathBuf;
use std::time::Duration;

use bookrag::catalog::{Catalog, PostgresCatalog, PostgresOptions, SqliteCatalog, TlsOptions};
use bookrag_tests::pgbouncer::Pgbouncer;
use bookrag_tests::postgres::Postgres;
use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

/// A catalog, and direct access to its database.
pub(crate) struct Store {
    pub(crate) catalog: Catalog,
    behind: Behind,
}

enum Behind {
    Sqlite {
        file: PathBuf,
        _folder: TempDir,
    },
    Postgres {
        options: PostgresOptions,
        direct_url: String,
    },
}

impl Store {
    /// Opens a SQLite file without tables.
    async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("made/on/demand/catalog.sqlite");
        Self {
            catalog: Catalog::Sqlite(SqliteCatalog::open(&file).await.unwrap()),
            behind: Behind::Sqlite {
                file,
                _folder: folder,
            },
        }
    }

    /// Opens a new database without tables.
    pub(crate) async fn postgres() -> Self {
        let (_, url) = create_database().await;
        Self::on_postgres(postgres_options(&url), url)
    }

    /// Opens a new database behind pgbouncer, without tables.
    async fn pgbouncer() -> Self {
        let (name, direct_url) = create_database().await;
        let options = PostgresOptions {
            direct_url: Some(direct_url.clone().into()),
            ..postgres_options(&Pgbouncer::shared().await.url_of(&name))
        };
        Self::on_postgres(options, direct_url)
    }

    fn on_postgres(options: PostgresOptions, direct_url: String) -> Self {
        Self {
            catalog: postgres_catalog(options.clone()),
            behind: Behind::Postgres {
                options,
                direct_url,
            },
        }
    }

    /// Opens another catalog on the same data, like another process.
    async fn reopened(&self) -> Catalog {
        match &self.behind {
            Behind::Sqlite { file, .. } => {
                Catalog::Sqlite(SqliteCatalog::open(file).await.unwrap())
            }
            Behind::Postgres { options, .. } => postgres_catalog(options.clone()),
        }
    }

    /// Like [`Store::reopened`], with a limit of connections, which applies to Postgres only.
    fn reopened_with(&self, pool_size: usize) -> Catalog {
        let Behind::Postgres { options, .. } = &self.behind else {
            panic!("a file has no connections");
        };
        postgres_catalog(PostgresOptions {
            pool_size,
            ..options.clone()
        })
    }

    /// The URL of the Postgres database, bypassing the pooler.
    pub(crate) fn url(&self) -> &str {
        let Behind::Postgres { direct_url, .. } = &self.behind else {
            panic!("a file has no URL");
        };
        direct_url
    }

    /// Runs statements that are valid in both databases.
    pub(crate) async fn execute(&self, statements: &str) {
        match &self.behind {
            Behind::Sqlite { file, .. } => {
                let connection = rusqlite::Connection::open(file).unwrap();
                connection.execute_batch(statements).unwrap();
            }
            Behind::Postgres { direct_url, .. } => {
                let connected = tokio_postgres::connect(direct_url, NoTls).await;
                let (client, connection) = connected.unwrap();
                let connection = tokio::spawn(connection);
                client.batch_execute(statements).await.unwrap();
                drop(client);
                connection.await.unwrap().unwrap();
            }
        }
    }

    /// Simulates the passing of time, by moving the dates of readers' data back.
    async fn elapse(&self, time: Duration) {
        self.move_dates('-', time).await;
    }

    /// Simulates a clock that is set back, by moving the dates of readers' data ahead.
    async fn set_clock_back(&self, time: Duration) {
        self.move_dates('+', time).await;
    }

    async fn move_dates(&self, sign: char, time: Duration) {
        let microseconds = time.as_micros();
        let time = match &self.behind {
            Behind::Sqlite { .. } => microseconds.to_string(),
            Behind::Postgres { .. } => format!("interval '{microseconds} microseconds'"),
        };
        let statements = format!(
            "UPDATE rate_limits SET tat = tat {sign} {time};
             UPDATE conversations SET expires_at = expires_at {sign} {time};
             UPDATE messages SET created_at = created_at {sign} {time};
             UPDATE agent_reports SET created_at = created_at {sign} {time};
             UPDATE chat_queries SET created_at = created_at {sign} {time};
             UPDATE cached_answers SET created_at = created_at {sign} {time}"
        );
        self.execute(&statements).await;
    }

    /// Returns the first column of the only row, as text.
    async fn value(&self, query: &str) -> String {
        match &self.behind {
            Behind::Sqlite { file, .. } => {
                let connection = rusqlite::Connection::open(file).unwrap();
                let query = format!("SELECT CAST(({query}) AS TEXT)");
                connection.query_row(&query, (), |row| row.get(0)).unwrap()
            }
            Behind::Postgres { direct_url, .. } => {
                let connected = tokio_postgres::connect(direct_url, NoTls).await;
                let (client, connection) = connected.unwrap();
                let connection = tokio::spawn(connection);
                let query = format!("SELECT CAST(({query}) AS TEXT)");
                let value = client.query_one(&query, &[]).await.unwrap().get(0);
                drop(client);
                connection.await.unwrap().unwrap();
                value
            }
        }
    }
}

/// Creates an empty database. Returns its name, and its URL that bypasses pgbouncer.
async fn create_database() -> (String, String) {
    let name = format!("catalog_{}", Uuid::new_v4().simple());
    let url = Postgres::shared().await.create_database(&name).await;
    (name, url)
}

fn postgres_catalog(options: PostgresOptions) -> Catalog {
    Catalog::Postgres(PostgresCatalog::new(options).unwrap())
}

pub(crate) fn postgres_options(url: &str) -> PostgresOptions {
    PostgresOptions {
        url: url.to_owned().into(),
        direct_url: None,
        tls: TlsOptions::default(),
        statement_timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(20),
        pool_size: 3,
    }
}

/// Defines a test of each function for each store.
macro_rules! laws {
    ($($module:ident: $($law:ident)*;)*) => {
        mod sqlite {
            $($(
                #[tokio::test(flavor = "multi_thread")]
                async fn $law() {
                    super::$module::$law(super::Store::sqlite().await).await;
                }
            )*)*
        }

        mod postgres {
            $($(
                #[tokio::test(flavor = "multi_thread")]
                async fn $law() {
                    super::$module::$law(super::Store::postgres().await).await;
                }
            )*)*
        }

        mod pgbouncer {
            $($(
                #[tokio::test(flavor = "multi_thread")]
                async fn $law() {
                    super::$module::$law(super::Store::pgbouncer().await).await;
                }
            )*)*
        }
    };
}

laws! {
    indexes:
        without_tables_every_operation_names_the_schema_version
        tables_of_a_later_version_are_used
        migrating_twice_changes_nothing
        a_source_never_gets_a_second_document
        two_concurrent_migrations_both_succeed
        the_first_index_is_live_and_the_next_is_building
        an_index_is_found_by_its_spec_and_its_site_is_updated
        one_of_several_concurrently_created_indexes_is_live
        a_switch_needs_exactly_the_documents
        a_retired_index_revives_only_when_that_is_wanted
        a_dropped_index_leaves_its_row_and_another_collections_name
        a_new_index_expects_pages_until_it_is_filled
        a_failure_is_kept_until_the_document_is_committed
        a_calibration_is_kept_until_the_index_is_dropped
        stats_count_documents_and_chunks
        an_index_has_a_commit_while_it_equals_its_files;
    commits:
        a_commit_is_read_back_whole_by_another_process
        chunks_around_a_position_are_read_in_order
        a_stored_payload_has_no_text
        an_outdated_revision_conflicts_and_writes_nothing
        one_of_several_concurrent_first_commits_wins
        one_of_several_concurrent_later_commits_wins
        a_commit_without_all_its_intents_conflicts_and_writes_nothing
        replaced_points_become_garbage_and_leave_the_join
        kept_chunks_keep_when_they_were_created
        a_commit_without_chunks_keeps_the_existing_ones
        a_deleted_document_is_a_tombstone
        dependents_are_the_documents_that_used_a_file
        pages_have_their_urls_until_they_are_deleted
        a_text_is_found_once_however_many_chunks_have_it
        a_retired_index_takes_no_commits
        an_unknown_index_is_refused
        documents_of_two_indexes_are_independent
        a_document_of_a_thousand_chunks_is_committed;
    pending:
        intents_wait_until_they_are_old
        a_claimed_intent_cannot_be_committed
        claimed_points_are_due_once_more_and_for_the_last_time
        garbage_is_due_at_once_until_it_is_forgotten
        forgetting_spares_intents
        all_points_are_known_and_those_in_use_have_a_source
        an_intent_is_either_claimed_or_committed;
    logs:
        a_question_is_logged_once
        an_answer_is_logged_as_it_begins_and_as_it_ends
        feedback_needs_a_message;
    pages:
        pages_are_listed_with_their_tokens_and_found_by_their_urls
        a_chunk_has_a_place_while_the_book_holds_it
        states_and_shared_urls_are_those_of_the_documents;
    proposals:
        the_first_pages_with_questions_of_a_language_and_version_are_found
        a_section_with_questions_is_read_by_its_first_chunk
        questions_are_found_by_an_index_of_their_own;
    readers:
        the_whole_limit_may_be_used_at_once
        a_refused_request_costs_nothing_and_may_retry_at_the_stated_time
        a_clock_that_is_set_back_locks_nobody_out
        concurrent_requests_never_exceed_the_limit
        keys_are_counted_apart
        expired_limits_are_forgotten
        concurrent_reservations_stay_within_the_budget
        actual_spending_replaces_the_reservation
        the_last_exchanges_are_read_oldest_first
        an_exchange_waits_for_its_answer_and_keeps_it
        another_sessions_conversation_is_neither_read_nor_written_nor_deleted
        a_conversation_expires_unless_it_goes_on
        an_expired_conversation_begins_anew
        a_late_answer_does_not_bring_a_deleted_conversation_back
        a_deletion_concurrent_with_a_late_answer_leaves_nothing
        a_message_stays_in_its_conversation
        forgetting_deletes_expired_conversations
        only_data_older_than_the_retention_is_deleted;
    answers:
        an_answer_is_kept_while_the_book_has_its_chunks
        an_answer_of_a_revision_ends_with_any_commit
        an_answer_is_of_its_index_and_goes_with_it
        an_answer_is_kept_for_a_week_at_most;
    frequencies:
        the_chunks_that_have_a_word_are_counted
        the_counts_follow_the_chunks_of_a_page
        concurrent_commits_are_all_counted;
    searching:
        chunks_are_found_by_their_words
        a_word_is_found_in_its_other_forms
        a_page_is_found_by_its_search_words
        more_and_rarer_words_come_first
        only_letters_and_digits_of_a_term_are_searched
        a_chunk_whose_payload_cannot_be_read_is_left_out
        a_kept_point_keeps_its_payload
        only_chunks_that_the_index_has_are_found;
    filtering:
        filters_are_applied_before_the_limit
        all_conditions_of_a_filter_must_hold
        a_facet_whose_kind_changed_is_compared_until_pages_are_read_again;
    values:
        the_values_of_a_field_are_listed_once;
    written:
        questions_of_a_page_are_replaced_only_if_they_are_the_expected_ones
        questions_outlive_their_page_for_a_while
        questions_are_paid_from_an_account_of_their_own;
    insights:
        days_count_how_questions_ended
        open_questions_are_counted_by_their_hash
        answered_questions_that_a_reader_did_not_find_helpful_are_counted
        questions_with_a_stored_text_are_listed_most_often_asked_first
        gaps_have_their_outcomes_and_days_and_helpful_answers_their_section
        lessons_are_counted_once_an_answer
        what_readers_thought_is_counted_and_quoted
        what_agents_report_is_listed_newest_first
        lists_hold_twenty;
}
