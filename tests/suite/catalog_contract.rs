//! What every catalog does. Each law runs on a SQLite file, on a database of a real Postgres, and on one behind a
//! pgbouncer in transaction mode, over which everything but migrations goes.

mod clients;
mod commits;
mod indexes;
mod logs;
mod pending;
pub(crate) mod rows;

use std::path::PathBuf;
use std::time::Duration;

use bookrag::catalog::{Catalog, PostgresCatalog, PostgresOptions, SqliteCatalog};
use bookrag_tests::pgbouncer::Pgbouncer;
use bookrag_tests::postgres::Postgres;
use tempfile::TempDir;
use tokio_postgres::NoTls;
use uuid::Uuid;

/// A catalog, and a way past it for what its operations cannot do.
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
    /// A SQLite file, without tables.
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

    /// A database of its own, without tables.
    pub(crate) async fn postgres() -> Self {
        let (_, url) = create_database().await;
        Self::on_postgres(postgres_options(&url), url)
    }

    /// A database of its own behind pgbouncer, without tables.
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

    /// Another catalog on the same data, as another process has it.
    async fn reopened(&self) -> Catalog {
        match &self.behind {
            Behind::Sqlite { file, .. } => {
                Catalog::Sqlite(SqliteCatalog::open(file).await.unwrap())
            }
            Behind::Postgres { options, .. } => postgres_catalog(options.clone()),
        }
    }

    /// As [`Store::reopened`], with at most so many connections: only Postgres has them.
    fn reopened_with(&self, pool_size: usize) -> Catalog {
        let Behind::Postgres { options, .. } = &self.behind else {
            panic!("a file has no connections");
        };
        postgres_catalog(PostgresOptions {
            pool_size,
            ..options.clone()
        })
    }

    /// Runs statements that both databases understand.
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

    /// The first column of the only row, as text.
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

/// An empty database: its name, and its URL past pgbouncer.
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
        statement_timeout: Duration::from_secs(20),
        connect_timeout: Duration::from_secs(20),
        pool_size: 3,
    }
}

/// Makes a test of each law for each store.
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
        tables_of_another_version_are_refused
        migrating_twice_changes_nothing
        two_that_migrate_at_once_both_succeed
        the_first_index_is_live_and_the_next_is_building
        an_index_is_found_by_its_spec_and_its_site_is_updated
        of_indexes_made_at_once_one_is_live
        a_switch_needs_exactly_the_documents
        a_retired_index_revives_only_when_that_is_wanted
        a_dropped_index_leaves_its_row_and_another_collections_name
        a_failure_is_kept_until_the_document_is_committed
        stats_count_what_there_is;
    commits:
        a_commit_is_read_back_whole_by_another_process
        a_revision_that_was_overtaken_conflicts_and_writes_nothing
        of_first_commits_at_once_one_wins_and_the_others_conflict
        of_later_commits_at_once_one_wins_and_the_others_conflict
        a_commit_without_all_its_intents_conflicts_and_writes_nothing
        replaced_points_become_garbage_and_leave_the_join
        kept_chunks_keep_when_they_were_created
        a_commit_without_chunks_keeps_those_there_are
        a_deleted_document_is_a_tombstone
        dependents_are_the_documents_that_used_a_file
        a_text_is_found_once_however_many_chunks_have_it
        a_retired_index_takes_no_commits
        an_unknown_index_is_refused
        documents_of_two_indexes_do_not_meet
        a_document_of_a_thousand_chunks_is_committed;
    pending:
        intents_wait_until_they_are_old
        a_claimed_intent_cannot_be_committed
        claimed_points_are_due_once_more_and_for_the_last_time
        garbage_is_due_at_once_until_it_is_forgotten
        forgetting_spares_intents
        all_points_are_known_with_the_source_of_those_in_use
        an_intent_is_either_claimed_or_committed;
    logs:
        a_question_is_logged_once
        feedback_needs_a_message;
}
