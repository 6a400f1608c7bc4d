//! Backups of the catalog's database: `infra/backup.sh` with the programs of the tests' server.

use std::path::Path;
use std::process::{Command, Output};

use bookrag_tests::backends::Backends;
use bookrag_tests::events::RestRequest;
use bookrag_tests::postgres::Postgres;

use crate::lambda_functions::{Lambda, filled};

async fn backup(command: &str, file: &Path, url: &str) -> Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../infra/backup.sh");
    let programs = Postgres::shared().await.programs().display();
    Command::new("bash")
        .arg(script)
        .args([command, &file.display().to_string()])
        .env("PATH", format!("{programs}:/usr/local/bin:/usr/bin:/bin"))
        .env("DATABASE_URL_DIRECT", url)
        .output()
        .unwrap()
}

#[track_caller]
fn assert_done(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn a_lost_catalog_is_restored_and_readers_search_it() {
    let backends = filled("backup_lost").await;
    let conversation = "INSERT INTO conversations (conversation_id, session_hash, expires_at)
        VALUES ('00000000-0000-0000-0000-000000000001', '5e', now() + interval '1 day')";
    backends.execute(conversation).await;
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("catalog.dump");
    assert_done(&backup("dump", &dump, backends.database_url()).await);

    let postgres = Postgres::shared().await;
    let empty = postgres.create_database("backup_rehearsal").await;
    let rehearsed = backup("rehearse", &dump, &empty).await;
    assert_done(&rehearsed);
    let counts = String::from_utf8(rehearsed.stdout).unwrap();
    assert!(counts.contains("conversations: 1"), "{counts}");
    let again = backup("rehearse", &dump, &empty).await;
    let told = String::from_utf8(again.stderr).unwrap();
    assert!(told.contains("needs an empty one"), "{told}");
    assert!(!again.status.success());

    let lost = "DROP TABLE messages; DELETE FROM conversations; TRUNCATE documents CASCADE";
    backends.execute(lost).await;
    assert_done(&backup("restore", &dump, backends.database_url()).await);
    // `prepare` does this, and gives readers their rights back.
    backends.catalog.migrate().await.unwrap();
    let lambda = Lambda::start("search", &backends.environment()).await;
    let search = RestRequest::new("GET", "/api/v1/search").query("q", "soil moisture probe");
    let body = lambda.send(search).await.json();
    let results = body["data"]["results"].as_array().unwrap();
    assert!(!results.is_empty(), "{body}");
    assert_eq!(body["meta"]["degraded"], serde_json::json!([]), "{body}");
}

#[tokio::test]
async fn a_backup_without_a_book_fails_its_rehearsal() {
    let backends = Backends::start("backup_empty").await;
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("catalog.dump");
    assert_done(&backup("dump", &dump, backends.database_url()).await);
    let postgres = Postgres::shared().await;
    let empty = postgres.create_database("backup_empty_rehearsal").await;
    let rehearsed = backup("rehearse", &dump, &empty).await;
    assert!(!rehearsed.status.success());
    let told = String::from_utf8(rehearsed.stderr).unwrap();
    assert!(told.contains("no chunk of a live index"), "{told}");
}
