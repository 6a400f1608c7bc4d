use std::{collections::HashSet, path::PathBuf};

use futures::future::try_join_all;
use tokio_postgres::NoTls;

use super::{Pgbouncer, SERVER_CONNECTIONS, first_that_runs};
use crate::postgres::Postgres;

const CLIENTS: usize = 20;

#[tokio::test]
async fn clients_that_stay_connected_share_two_connections_to_the_server() {
    let database = "pgbouncer_shared";
    Postgres::shared().await.create_database(database).await;
    let url = Pgbouncer::shared().await.url_of(database);
    let (mut clients, mut connections) = (Vec::new(), Vec::new());
    for _ in 0..CLIENTS {
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        clients.push(client);
        connections.push(tokio::spawn(connection));
    }
    let mut server_processes = HashSet::new();
    for _ in 0..CLIENTS {
        let asked = clients.iter().map(|client| async move {
            client.query_typed_one("SELECT pg_backend_pid()", &[]).await
        });
        let rows = try_join_all(asked).await.unwrap();
        server_processes.extend(rows.iter().map(|row| row.get::<_, i32>(0)));
    }
    assert!(
        server_processes.len() <= SERVER_CONNECTIONS,
        "{server_processes:?}"
    );
    drop(clients);
    for connection in connections {
        connection.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_dropped_pgbouncer_leaves_its_server_and_no_folder() {
    let postgres = Postgres::shared().await;
    let pgbouncer = Pgbouncer::start(postgres).await;
    let folder = pgbouncer.folder.path().to_owned();
    let url = pgbouncer.url_of("postgres");

    drop(pgbouncer);

    assert!(!folder.exists(), "{} is still there", folder.display());
    assert!(tokio_postgres::connect(&url, NoTls).await.is_err());
    postgres.create_database("pgbouncer_dropped").await;
}

#[test]
fn a_program_that_does_not_run_is_named_with_the_reason() {
    let nowhere = PathBuf::from("/nowhere/pgbouncer");
    let failure = first_that_runs(&[nowhere], None).unwrap_err();
    assert!(
        failure.contains("/nowhere/pgbouncer")
            && failure.contains("No such file")
            && failure.contains("apt-get install pgbouncer"),
        "{failure}"
    );
}
