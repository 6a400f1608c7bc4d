//! Finds or installs a Python with moto.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use tokio::sync::OnceCell;

/// The Python to use; moto must be installed in it.
const VARIABLE: &str = "BOOKRAG_TEST_PYTHON";
const REQUIREMENT: &str = "moto[server]==5.2.*";
/// The folder's name; it must change with the requirement.
const FOLDER: &str = "moto-5.2";

static PYTHON: OnceCell<PathBuf> = OnceCell::const_new();

/// Returns `BOOKRAG_TEST_PYTHON`, else the Python of a virtual environment in the user's cache folder, created on first use.
pub(super) async fn with_moto() -> PathBuf {
    if let Some(python) = env::var_os(VARIABLE) {
        return python.into();
    }
    let install = || async {
        tokio::task::spawn_blocking(install)
            .await
            .expect("installing returns its failures")
            .unwrap_or_else(|failure| {
                panic!(
                    "there is no moto: {failure}\nset {VARIABLE} to a Python that has {REQUIREMENT}"
                )
            })
    };
    PYTHON.get_or_init(install).await.clone()
}

fn install() -> Result<PathBuf, String> {
    let cache = cache_folder().join("bookrag-tests");
    let folder = cache.join(FOLDER);
    let python = folder.join("bin/python");
    if python.is_file() {
        return Ok(python);
    }
    fs::create_dir_all(&cache).map_err(|cause| format!("{}: {cause}", cache.display()))?;
    // Created in a temporary folder and then moved, since other processes may be doing the same and this one may be killed.
    let unfinished = tempfile::tempdir_in(&cache)
        .map_err(|cause| format!("no folder in {}: {cause}", cache.display()))?;
    run(Command::new("python3")
        .args(["-m", "venv"])
        .arg(unfinished.path()))?;
    let mut pip = Command::new(unfinished.path().join("bin/python"));
    run(pip.args(["-m", "pip", "install", "--quiet", REQUIREMENT]))?;
    let unfinished = unfinished.keep();
    match fs::rename(&unfinished, &folder) {
        Ok(()) => Ok(python),
        Err(_) if python.is_file() => {
            // Another process was first. Leftovers are harmless.
            let _ = fs::remove_dir_all(&unfinished);
            Ok(python)
        }
        Err(cause) => Err(format!("{}: {cause}", folder.display())),
    }
}

fn cache_folder() -> PathBuf {
    let named = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = || env::var_os("HOME").map(|home| Path::new(&home).join(".cache"));
    named.or_else(usual).unwrap_or_else(env::temp_dir)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|cause| format!("{command:?}: {cause}"))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{errors}", output.status))
}
