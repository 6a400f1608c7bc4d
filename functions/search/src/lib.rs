//! The search function: returns ranked chunks for a query, with their places in the book, pages as Markdown, and questions that
//! a reader may ask.

mod page;
mod questions;

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use bookrag::api::{
    BooksData, Meta, Observed, RESOURCE_METADATA, Route, SearchData, SearchRequest, SearchResult,
    authorize, cors, facet_filters, failure, json_body, known_page, limit, method_not_allowed,
    not_found, nothing_found, resource_metadata, success, url_query,
};
use bookrag::book::ContentKind;
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::index::Filters;
use bookrag::retrieve::{Signals, milliseconds};
use serde::Deserialize;

/// Returns the function's routes, with errors for all other requests. Answers preflights of any path, including the other functions' paths: API
/// Gateway sends them here, because their own function streams and a preflight has no body.
pub fn router(context: Arc<Context>) -> Router {
    let cors = cors(context.pages());
    routes_without_cors(context).fallback(not_found).layer(cors)
}

/// Returns the routes alone, to be mounted with others.
pub fn routes(context: Arc<Context>) -> Router {
    let cors = cors(context.pages());
    // Outermost, so that errors have the headers too.
    routes_without_cors(context).layer(cors)
}

fn routes_without_cors(context: Arc<Context>) -> Router {
    let authorize = from_fn_with_state(context.authorizer.clone(), authorize);
    // Outside of the limits: requests of pages that may not call do not count against their readers' limits.
    let known_page = from_fn_with_state(context.pages(), known_page);
    let limited = from_fn_with_state(context.limited(Route::Search), limit);
    let searched = get(search_by_url).post(search_by_body);
    Router::new()
        .route("/api/v1/search", searched.route_layer(limited.clone()))
        .route(
            "/api/v1/page",
            get(page::by_url).route_layer(limited.clone()),
        )
        .route(
            "/api/v1/questions",
            get(questions::by_url).route_layer(limited),
        )
        .route("/api/v1/books", get(no_books))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(authorize)
        .layer(known_page)
        .merge(metadata_routes(&context))
        .with_state(context)
}

/// Returns the routes that say where readers sign in, which need no token.
fn metadata_routes(context: &Context) -> Router<Arc<Context>> {
    let metadata = get(resource_metadata).with_state(context.authorizer.clone());
    Router::new()
        .route(RESOURCE_METADATA, metadata.clone())
        .route(&format!("{RESOURCE_METADATA}/mcp"), metadata)
        .method_not_allowed_fallback(method_not_allowed)
}

/// The list of the books: a server with several answers it itself.
async fn no_books(request: Request) -> Response {
    let Observed { request_id, .. } = Observed::from_request(&request);
    let meta = Meta {
        request_id,
        ..Meta::default()
    };
    success(BooksData::default(), meta)
}

/// A search in a URL's query.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    q: Option<String>,
    top_k: Option<String>,
    page_url: Option<String>,
    hardware_tier: Option<String>,
    locale: Option<String>,
    version: Option<String>,
    kind: Option<String>,
    facets: Option<String>,
}

impl TryFrom<Parameters> for SearchRequest {
    type Error = Error;

    fn try_from(url: Parameters) -> Result<Self, Error> {
        Ok(Self {
            query: url.q,
            page_url: url.page_url,
            top_k: number("top_k", url.top_k)?,
            filters: Filters {
                hardware_tier: number("hardware_tier", url.hardware_tier)?,
                locale: url.locale,
                version: url.version,
                kind: kinds(url.kind.as_deref())?,
                facets: facet_filters(url.facets.as_deref())?,
                ..Filters::default()
            },
            // Those of a URL are read before the request comes to a book.
            ..Self::default()
        })
    }
}

/// Parses kinds separated by commas.
fn kinds(text: Option<&str>) -> Result<Vec<ContentKind>, Error> {
    let names = text.into_iter().flat_map(|text| text.split(','));
    names
        .map(|name| {
            let mut kinds = ContentKind::ALL.into_iter();
            let kind = kinds.find(|kind| kind.label() == name.trim());
            kind.ok_or_else(|| Error::field("kind", "kind must be docs, blog or page"))
        })
        .collect()
}

fn number<T: std::str::FromStr>(
    field: &'static str,
    text: Option<String>,
) -> Result<Option<T>, Error> {
    text.map(|text| {
        text.parse()
            .map_err(|_| Error::field(field, format!("{field} must be a number")))
    })
    .transpose()
}

async fn search_by_url(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let request = url_query::<Parameters>(request.uri()).and_then(SearchRequest::try_from);
    respond(&context, request, observed).await
}

async fn search_by_body(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let request = json_body(request).await;
    respond(&context, request, observed).await
}

async fn respond(
    context: &Context,
    request: Result<SearchRequest, Error>,
    observed: Observed,
) -> Response {
    let searched = match request {
        Ok(request) => search(context, request, &observed).await,
        Err(error) => Err(error),
    };
    match searched {
        Ok((data, meta, signals)) => {
            let mut response = success(data, meta);
            // For the command, which calls this router in its own process: clients do not see extensions.
            response.extensions_mut().insert(signals);
            response
        }
        Err(error) => failure(&error, &observed.request_id),
    }
}

async fn search(
    context: &Context,
    request: SearchRequest,
    observed: &Observed,
) -> Result<(SearchData, Meta, Signals), Error> {
    let started = Instant::now();
    let search = request.check()?;
    let retriever = context.retriever_of(&context.live_index().await?)?;
    let locale = search.locale(&retriever);
    let found = search.run(&retriever).await?;
    let results: Vec<SearchResult> = found
        .candidates
        .iter()
        .map(|candidate| SearchResult::new(candidate, locale.as_deref()))
        .collect();
    let message = nothing_found(&found);
    observed.measured.searched(&found.times, &found.degraded);
    let meta = Meta {
        request_id: observed.request_id.clone(),
        latency_ms: milliseconds(started),
        source_count: results.len(),
        num_candidates: found.num_candidates,
        score_distribution: results.iter().map(|result| result.score).collect(),
        stages_ms: found.times,
        degraded: found.degraded,
        index: retriever.index.freshness(),
        ..Meta::default()
    };
    Ok((SearchData { results, message }, meta, found.signals))
}
