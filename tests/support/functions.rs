//! Binaries of the functions.

use std::{
    collections::BTreeMap,
    env,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde_json::Value;
use tokio::sync::Mutex;

/// A folder with `NAME/bootstrap` for each function, in the layout of `cargo lambda build`.
const FOLDER_VARIABLE: &str = "BOOKRAG_TEST_FUNCTIONS";

/// Prefixes of the variables that Cargo sets for the package it runs.
const PACKAGE_VARIABLES: [&str; 6] = [
    "CARGO_BIN_",
    "CARGO_CRATE_NAME",
    "CARGO_MANIFEST_",
    "CARGO_PKG_",
    "CARGO_PRIMARY_PACKAGE",
    "CARGO_TARGET_TMPDIR",
];

static BUILT: Mutex<BTreeMap<String, PathBuf>> = Mutex::const_new(BTreeMap::new());

/// Returns the binary of a function: from `BOOKRAG_TEST_FUNCTIONS`, else built now, once per process.
///
/// `tests/run.sh` builds them with the features of the whole workspace; built now, one has only its own.
pub async fn function_binary(name: &str) -> PathBuf {
    if let Some(folder) = env::var_os(FOLDER_VARIABLE) {
        let binary = Path::new(&folder).join(name).join("bootstrap");
        assert!(
            binary.is_file(),
            "{FOLDER_VARIABLE} is set, and there is no {}",
            binary.display()
        );
        return binary;
    }
    let mut built = BUILT.lock().await;
    if let Some(binary) = built.get(name) {
        return binary.clone();
    }
    let package = name.to_owned();
    let binary = tokio::task::spawn_blocking(move || build(&package))
        .await
        .unwrap_or_else(|failure| std::panic::resume_unwind(failure.into_panic()));
    built.insert(name.to_owned(), binary.clone());
    binary
}

/// Returns the folder of the command `bookrag`, which Cargo builds before the tests of the whole workspace.
#[must_use]
pub fn command_folder() -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    let folder = test.ancestors().nth(2).expect("a test is in `deps`");
    assert!(
        folder.join("bookrag").is_file(),
        "there is no command in {}; run tests/build.sh",
        folder.display()
    );
    folder.to_owned()
}

/// Returns a Cargo command in the workspace, as if run from a shell.
///
/// The variables that `cargo test` sets for its package are removed: build scripts of dependencies (ring's) run again
/// when they change, and then half of the workspace is compiled again, here and in the shell.
#[must_use]
pub fn cargo() -> Command {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for (name, _) in env::vars_os() {
        let told = name.to_str().is_some_and(|name| {
            PACKAGE_VARIABLES
                .iter()
                .any(|prefix| name.starts_with(prefix))
        });
        if told {
            command.env_remove(name);
        }
    }
    command
}

fn build(name: &str) -> PathBuf {
    let output = cargo()
        .args(["build", "--locked", "-p", name, "--bin", name])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::piped())
        .output()
        .unwrap_or_else(|cause| panic!("cargo does not start: {cause}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name} does not build:\n{errors}");
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .unwrap_or_else(|| panic!("cargo named no binary for {name}:\n{errors}"))
}
