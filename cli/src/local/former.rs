//! Takes over stores of the previous release: `catalog.sqlite` beside a folder `vectors`, both in `.bookrag/SITE-ID` below the folder that
//! the command was run in, or below `BOOKRAG_DATA`.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use bookrag::catalog::{Catalog, CatalogError, SqliteCatalog};
use bookrag::config::Config;

use super::LocalError;
use super::folder::{BookFolder, SALT_FILE, STORES_FOLDER, move_database, unique_name, unwritable};
use crate::site::Site;

const CATALOG_FILE: &str = "catalog.sqlite";
const VECTORS_FOLDER: &str = "vectors";

/// Moves the catalog and salt of a site's former stores to their current place, without indexes, because the format of their vectors is
/// no longer supported. Conversations, feedback and the question log are kept.
///
/// The catalog is moved last, so an interrupted run starts over.
pub(super) async fn take_over(
    config: &Config,
    site: &Site,
    folder: &BookFolder,
    say: impl Fn(&str),
) -> Result<(), LocalError> {
    let data = config.data.clone();
    let data = data.unwrap_or_else(|| PathBuf::from(STORES_FOLDER));
    let former = data.join(unique_name(site));
    let catalog = former.join(CATALOG_FILE);
    if folder.has_store() || !catalog.is_file() {
        return Ok(());
    }
    // Former indexes with vectors in Qdrant stay live until the new index is filled.
    if config.qdrant_url.is_none() {
        if let Err(error) = forget_indexes(&catalog).await {
            say(&format!(
                "note: the former release's catalog cannot be taken over and stays where it is: {error}"
            ));
            return Ok(());
        }
        say(&format!(
            "{} is of the former release: its conversations and feedback are moved to {}, and the book is indexed anew",
            former.display(),
            folder.path.display()
        ));
        remove(&former.join(VECTORS_FOLDER))?;
    }
    let salt = former.join(SALT_FILE);
    let is_elsewhere = former.canonicalize().ok() != folder.path.canonicalize().ok();
    if is_elsewhere && salt.is_file() {
        fs::copy(&salt, folder.path.join(SALT_FILE)).map_err(unwritable(&folder.path))?;
    }
    move_database(&catalog, &folder.store()).map_err(unwritable(&former))?;
    if is_elsewhere {
        let _ = fs::remove_file(&salt);
        // Remaining files, such as a damaged catalog that was set aside, belong to the user.
        let _ = fs::remove_dir(&former);
    }
    Ok(())
}

async fn forget_indexes(catalog: &Path) -> Result<(), CatalogError> {
    let sqlite = SqliteCatalog::open(catalog).await?;
    Catalog::Sqlite(sqlite.clone()).migrate().await?;
    sqlite.forget_indexes().await
}

fn remove(folder: &Path) -> Result<(), LocalError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(unwritable(folder)(error)),
        _ => Ok(()),
    }
}
