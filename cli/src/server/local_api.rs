//! Routes for the page and the commands besides the API: the book's name, the state of its index, and sync.

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use bookrag::book::{CURRENT_VERSION, ContentKind, DEFAULT_INSTANCE, Instance, SiteSettings};
use bookrag::ingest::{MassDeletion, SyncOptions};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::library::contents;
use super::pictures::static_picture;
use super::{Server, Shared};

/// A file of the site with example questions, one per line.
const EXAMPLE_QUESTIONS: &str = "bookrag.questions.txt";
const MAX_EXAMPLES: usize = 4;

/// True if this server shows the page of what readers asked.
#[derive(Debug, Clone, Copy)]
pub(super) struct HasInsights(pub(super) bool);

pub(super) async fn book(
    State(server): Shared,
    Extension(HasInsights(has_insights)): Extension<HasInsights>,
) -> Response {
    let (stats, indexing) = contents(&server).await;
    let (source, settings) = {
        let reading = server.reading.read().await;
        (reading.source.clone(), reading.settings.clone())
    };
    let examples = source.read(EXAMPLE_QUESTIONS).await;
    let examples = examples.ok().flatten().unwrap_or_default();
    let examples = String::from_utf8_lossy(&examples);
    let examples: Vec<&str> = examples
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .take(MAX_EXAMPLES)
        .collect();
    Json(json!({
        "title": server.title,
        "navbar_title": settings.appearance.navbar_title,
        "has_logo": has_logo(&server).await,
        "is_mode_fixed": settings.appearance.is_mode_fixed,
        "has_insights": has_insights,
        "pages": stats.documents,
        "chunks": stats.chunks,
        "indexing": indexing,
        "example_questions": examples,
        "math": settings.math,
        "locales": locales(&settings),
        "versions": versions(&settings),
    }))
    .into_response()
}

async fn has_logo(server: &Server) -> bool {
    let ingest = server.reading.read().await;
    match &ingest.settings.appearance.logo {
        Some(path) => static_picture(&ingest, path).await.is_some(),
        None => false,
    }
}

/// A language or a version of the book that a reader can choose.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Edition {
    name: String,
    /// The beginning of a locale's URLs; for a version, the part of its URLs after that.
    path: String,
}

/// Returns the locales, the default one first.
fn locales(settings: &SiteSettings) -> Vec<Edition> {
    let default = &settings.default_locale;
    let others = settings.locales.iter().filter(|locale| *locale != default);
    let locales = std::iter::once(default).chain(others);
    let locales = locales.map(|locale| Edition {
        name: locale.clone(),
        path: settings.locale_base_url(locale),
    });
    locales.collect()
}

/// Returns the default versions of all docs under the name of the first one, then all other versions.
fn versions(settings: &SiteSettings) -> Vec<Edition> {
    let docs: Vec<&Instance> = settings
        .instances
        .iter()
        .filter(|instance| instance.kind == ContentKind::Docs)
        .collect();
    let first = docs.first().map(|docs| Edition {
        name: docs.default_version().to_owned(),
        path: String::new(),
    });
    let others = docs.iter().flat_map(|instance| {
        let current = instance.current_version.then_some(CURRENT_VERSION);
        let versions = instance.versions.iter().map(String::as_str).chain(current);
        let versions = versions.filter(|version| *version != instance.default_version());
        versions.map(|version| Edition {
            name: if instance.id == DEFAULT_INSTANCE {
                version.to_owned()
            } else {
                format!("{version} ({})", instance.id)
            },
            path: joined(&instance.route_base_path, instance.version_path(version)),
        })
    });
    first.into_iter().chain(others).collect()
}

/// Joins parts of a URL, each followed by a slash.
fn joined(route: &str, version: &str) -> String {
    let parts = route.split('/').chain(version.split('/'));
    let parts = parts.filter(|part| !part.is_empty());
    parts.flat_map(|part| [part, "/"]).collect()
}

fn failed(message: &str) -> Response {
    let body = json!({"success": false, "error": {"message": message}});
    (StatusCode::INTERNAL_SERVER_ERROR, Json(body)).into_response()
}

#[derive(Debug, Deserialize)]
pub(super) struct SyncQuery {
    #[serde(default)]
    allow_mass_deletion: bool,
}

pub(super) async fn sync(State(server): Shared, Query(query): Query<SyncQuery>) -> Response {
    let mass_deletion = if query.allow_mass_deletion {
        MassDeletion::Allow
    } else {
        MassDeletion::Stop
    };
    match server.sync(SyncOptions { mass_deletion }, |_| {}).await {
        Ok(report) => Json(report).into_response(),
        Err(error) => failed(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn settings(toml: &str) -> SiteSettings {
        let files = BTreeMap::from([("bookrag.toml".to_owned(), toml.to_owned())]);
        SiteSettings::read(&files, true).unwrap()
    }

    fn listed(editions: Vec<Edition>) -> Vec<String> {
        let lines = editions.into_iter();
        lines
            .map(|edition| format!("{} {}", edition.name, edition.path))
            .collect()
    }

    #[test]
    fn a_book_of_one_edition_has_nothing_to_choose() {
        let settings = settings("");
        assert_eq!(listed(locales(&settings)), ["en /"]);
        assert_eq!(listed(versions(&settings)), ["current "]);
    }

    #[test]
    fn the_default_editions_stand_first() {
        let settings = settings(
            "base_url = '/book/'\nlocales = ['ur', 'en']\nversions = ['2.0', '1.0']\n[docs.api]\ndocs_path = 'api'\nroute_base_path = 'api'\nversions = ['v2', 'v1']\ncurrent_version = false",
        );
        assert_eq!(listed(locales(&settings)), ["en /book/", "ur /book/ur/"]);
        let expected = [
            "2.0 ",
            "1.0 docs/1.0/",
            "current docs/next/",
            "v1 (api) api/v1/",
        ];
        assert_eq!(listed(versions(&settings)), expected);
    }
}
