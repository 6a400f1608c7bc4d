use tempfile::TempDir;

use super::*;
use crate::catalog::Catalog;

async fn catalog(folder: &TempDir) -> (SqliteCatalog, PathBuf) {
    let path = folder.path().join("book").join("catalog.sqlite");
    let catalog = SqliteCatalog::open(&path).await.expect("opened");
    catalog.migrate().await.expect("migrated");
    (catalog, path)
}

fn assert_damaged(error: &CatalogError, path: &Path) {
    assert!(matches!(error, CatalogError::Damaged { .. }), "{error:?}");
    let message = error.to_string();
    for part in [path.to_str().unwrap(), "bookrag doctor SITE --repair"] {
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_with_what_helps() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("catalog.sqlite");
    fs::write(&path, "not a database".repeat(1_000)).unwrap();
    let error = SqliteCatalog::open(&path).await.expect_err("garbage");
    assert_damaged(&error, &path);
}

#[tokio::test]
async fn a_check_finds_damage_that_no_statement_has_met_yet() {
    let folder = TempDir::new().unwrap();
    let (catalog, path) = catalog(&folder).await;
    drop(catalog);
    let mut bytes = fs::read(&path).unwrap();
    // The schema's page and those of the first tables stay readable, so opening and counting see nothing.
    let half = bytes.len() / 2;
    bytes[half..].fill(0xa5);
    fs::write(&path, bytes).unwrap();

    let catalog = Catalog::Sqlite(SqliteCatalog::open(&path).await.expect("opened"));
    catalog.ping().await.expect("the version is still there");
    assert_damaged(&catalog.check().await.expect_err("damaged"), &path);
}

#[tokio::test]
async fn a_whole_file_passes_its_check() {
    let folder = TempDir::new().unwrap();
    let (catalog, _) = catalog(&folder).await;
    Catalog::Sqlite(catalog).check().await.expect("whole");
}

#[tokio::test]
async fn a_full_disk_is_named_with_the_file_and_passes_with_space() {
    let folder = TempDir::new().unwrap();
    let (catalog, path) = catalog(&folder).await;
    let limit = |pages: u32| {
        let connection = catalog.database.connection.lock().unwrap();
        connection
            .query_row(&format!("PRAGMA max_page_count = {pages}"), (), |_| Ok(()))
            .unwrap();
    };
    let write = || {
        catalog.run(|connection| {
            connection.execute(
                "INSERT INTO spend (day, micro_usd) VALUES (hex(randomblob(10000)), 1)",
                (),
            )?;
            Ok(())
        })
    };
    limit(1);
    let error = write().await.expect_err("full");
    assert!(
        matches!(error, CatalogError::StorageFull { .. }),
        "{error:?}"
    );
    assert!(
        error.to_string().contains(path.to_str().unwrap()),
        "{error}"
    );
    limit(1_000_000);
    write().await.expect("there is space again");
}
