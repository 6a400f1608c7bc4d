//! The free space that the engine needs. It writes through memory maps: on a full disk such a write is no error, it ends the
//! process (SIGBUS). So the space is looked at before.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// What must be free to open the folder or to change it. Most is taken at once when a collection is created: 36 MiB on
/// tmpfs, measured. The rest is for other processes, which write meanwhile.
const RESERVE: u64 = 64 << 20;

/// In a debug build, names a file that holds the free bytes in decimal, instead of what the system says: tests fill a disk by it.
const SCRIPTED: &str = "BOOKRAG_TEST_FREE_BYTES";

/// The folder's disk is too full for a change.
#[derive(Debug, Error)]
#[error(
    "the disk of {} has less than {} MiB of free space, which the vector store needs; free some and try again: nothing is \
     lost",
    folder.display(),
    RESERVE >> 20
)]
pub struct StorageFull {
    folder: PathBuf,
}

/// Checks that a folder, which must exist, has room for a change.
pub(super) fn check(folder: &Path) -> io::Result<Result<(), StorageFull>> {
    let scripted = cfg!(debug_assertions).then(|| std::env::var_os(SCRIPTED));
    let free = match scripted.flatten() {
        None => fs4::available_space(folder)?,
        Some(file) => {
            let free = fs::read_to_string(file)?;
            free.trim().parse().map_err(io::Error::other)?
        }
    };
    Ok(if free < RESERVE {
        let folder = folder.to_path_buf();
        Err(StorageFull { folder })
    } else {
        Ok(())
    })
}
