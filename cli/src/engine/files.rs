//! Small files that are replaced whole or not at all.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;

/// Writes `value` as JSON beside `file`, then renames it into place; durable when it returns.
pub(super) fn save_json(file: &Path, value: &impl Serialize) -> io::Result<()> {
    let written = file.with_extension("json.new");
    let json = serde_json::to_vec_pretty(value)?;
    let mut new = File::create(&written)?;
    new.write_all(&json)?;
    new.sync_all()?;
    fs::rename(&written, file)?;
    match file.parent() {
        Some(folder) => sync_folder(folder),
        None => Ok(()),
    }
}

/// Makes renamed and removed entries of a folder durable.
#[cfg(unix)]
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Windows cannot open a folder as a file, and needs no such call.
#[cfg(not(unix))]
pub(super) fn sync_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
