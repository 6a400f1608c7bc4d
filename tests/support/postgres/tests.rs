use std::{fs, path::PathBuf};

use super::{Account, Postgres, binaries, execute, run};

#[tokio::test]
async fn databases_of_one_server_do_not_see_each_other() {
    let postgres = Postgres::start().await;
    let one = postgres.create_database("one").await;
    let two = postgres.create_database("Zwei \"2\"").await;

    execute(&one, "CREATE TABLE pages (url text)")
        .await
        .unwrap();
    execute(&two, "CREATE TABLE pages (url text)")
        .await
        .unwrap();
    execute(&one, "INSERT INTO pages VALUES ('/intro')")
        .await
        .unwrap();

    execute(
        &two,
        "DO $$ BEGIN ASSERT NOT EXISTS (SELECT FROM pages); END $$",
    )
    .await
    .unwrap();
    execute(
        &one,
        "DO $$ BEGIN ASSERT EXISTS (SELECT FROM pages); END $$",
    )
    .await
    .unwrap();
}

#[tokio::test]
async fn a_dropped_server_leaves_neither_process_nor_folder() {
    let postgres = Postgres::start().await;
    let folder = postgres.folder.path().to_owned();
    let pid_file = fs::read_to_string(folder.join("data/postmaster.pid")).unwrap();
    let server = PathBuf::from("/proc").join(pid_file.lines().next().unwrap());
    let seen = server.exists();

    drop(postgres);

    assert!(
        seen || !cfg!(target_os = "linux"),
        "the server ran as {}",
        server.display()
    );
    assert!(!server.exists(), "{} still runs", server.display());
    assert!(!folder.exists(), "{} is still there", folder.display());
}

#[tokio::test]
async fn full_text_lower_cases_letters_beyond_ascii() {
    let url = Postgres::shared().await.create_database("full_text").await;
    let law = "ASSERT to_tsvector('simple', 'ÜBUNG') = to_tsvector('simple', 'übung')";
    execute(&url, &format!("DO $$ BEGIN {law}; END $$"))
        .await
        .unwrap();
}

#[tokio::test]
async fn tests_share_one_server() {
    let (one, other) = tokio::join!(Postgres::shared(), Postgres::shared());
    assert_eq!(one.url(), other.url());
}

#[tokio::test]
#[should_panic(expected = "database twice is not made")]
async fn a_database_is_created_once() {
    let postgres = Postgres::shared().await;
    postgres.create_database("twice").await;
    postgres.create_database("twice").await;
}

#[test]
fn the_path_comes_before_the_systems_newest_version() {
    let machine = tempfile::tempdir().unwrap();
    let folder = |name: &str| {
        let folder = machine.path().canonicalize().unwrap().join(name);
        fs::create_dir_all(&folder).unwrap();
        folder
    };
    for bin in ["own", "system/9/bin", "system/17/bin"] {
        fs::write(folder(bin).join("initdb"), "").unwrap();
    }
    std::os::unix::fs::symlink(
        folder("system/9/bin").join("initdb"),
        folder("links").join("initdb"),
    )
    .unwrap();

    let path = vec![folder("empty"), folder("own"), folder("links")];
    let found = binaries::installed(path, &folder("system"));

    assert_eq!(
        found,
        [
            folder("own"),
            folder("system/9/bin"),
            folder("system/17/bin")
        ]
    );
}

#[test]
fn a_server_that_does_not_run_is_named_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    let failure = binaries::Binaries::in_folder(folder.path(), None).unwrap_err();
    assert!(
        failure.contains("initdb") && failure.contains("No such file"),
        "{failure}"
    );
}

#[test]
fn a_failed_command_is_reported_with_its_output() {
    let failure =
        run(std::process::Command::new("sh").args(["-c", "echo why >&2; exit 3"])).unwrap_err();
    assert!(
        failure.contains("why") && failure.contains("exit status: 3"),
        "{failure}"
    );
}

#[test]
fn the_account_nobody_is_parsed() {
    let accounts = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin\n";
    let nobody = Account::nobody(accounts).unwrap();
    assert_eq!((nobody.user_id, nobody.group_id), (65534, 65533));
    assert!(Account::nobody("root:x:0:0:root:/root:/bin/sh\n").is_none());
}
