//! Serves `llms.txt` and the lists that it names as `bookrag export` would write them. Pages themselves are read from their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bookrag::api::NO_INDEX;
use tokio::sync::Mutex;

use super::Server;
use crate::export::{Export, INDEX};
use crate::pages::ReadPages;

/// Texts by path.
type Files = BTreeMap<String, String>;

/// The lists of the book's pages. Generated on the first request, because all pages must be read, and cached until the next run.
#[derive(Debug, Default)]
pub(super) struct Lists(Mutex<Option<Arc<Files>>>);

impl Lists {
    /// Clears the cache, because a run may have changed the pages.
    pub(super) async fn forget(&self) {
        *self.0.lock().await = None;
    }
}

/// Serves the list at a path of the site; `None` if there is none.
pub(super) async fn at(server: &Server, path: &str) -> Option<Response> {
    if !is_list(path) {
        return None;
    }
    let files = files(server).await?;
    let text = files.get(path)?.clone();
    let headers = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        NO_INDEX,
    ];
    Some((headers, text).into_response())
}

/// True for the path of a list. Lists end in `.txt`, pages in `.md`.
fn is_list(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == "txt")
}

/// Returns the lists by URL path; `None` if the site cannot be read.
async fn files(server: &Server) -> Option<Arc<Files>> {
    // Held while the lists are generated, so that concurrent requests generate them once.
    let mut kept = server.lists.0.lock().await;
    if let Some(files) = &*kept {
        return Some(Arc::clone(files));
    }
    let (source, settings) = {
        let reading = server.reading.read().await;
        (reading.source.clone(), reading.settings.clone())
    };
    let read = ReadPages::read(&source, &settings).await.ok()?;
    let live = server.catalog().live_index().await.ok().flatten();
    let export = Export {
        settings: &settings,
        // Addresses are paths, because readers may reach this server under any name.
        site_url: String::new(),
        api: Some(String::new()),
        freshness: live.and_then(|index| index.freshness()),
        locale: None,
    };
    let documents: Vec<_> = read.documents().map(|(_, document)| document).collect();
    let root = settings.locale_base_url(&settings.default_locale);
    let files = export.files(&documents).files.into_iter();
    let lists = files.filter(|(path, _)| is_list(path));
    let lists = lists.map(|(path, text)| (format!("{root}{path}"), text));
    let mut files: Files = lists.collect();
    // Programs look for it at the root of the host.
    if let Some(list) = files.get(&format!("{root}{INDEX}")).cloned() {
        files.insert(format!("/{INDEX}"), list);
    }
    let files = Arc::new(files);
    *kept = Some(Arc::clone(&files));
    Some(files)
}
