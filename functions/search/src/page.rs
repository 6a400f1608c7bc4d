//! A page of the book, or a section of it, as JSON or as Markdown.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, Uri, header};
use axum::response::Response;
use bookrag::api::{
    Meta, Observed, PageData, PageRequest, failure, markdown_page, prefers_markdown, success,
    url_query,
};
use bookrag::catalog::Freshness;
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::mcp::page_at_address;
use bookrag::retrieve::milliseconds;

/// Answers with the page that the URL's query names.
pub(super) async fn by_url(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let started = Instant::now();
    let (page, index) = match read(&context, request.uri()).await {
        Ok(read) => read,
        Err(error) => return failure(&error, &observed.request_id),
    };
    if prefers_markdown(request.headers(), "application/json") {
        let site = context.origins.first().map_or("", String::as_str);
        return markdown_page(page.text, site, &page.url);
    }
    let meta = Meta {
        request_id: observed.request_id,
        latency_ms: milliseconds(started),
        source_count: 1,
        index,
        ..Meta::default()
    };
    let mut response = success(page, meta);
    let varies = HeaderValue::from_static("accept");
    response.headers_mut().insert(header::VARY, varies);
    response
}

async fn read(context: &Context, uri: &Uri) -> Result<(PageData, Option<Freshness>), Error> {
    let url = url_query::<PageRequest>(uri)?.check()?;
    let retriever = context.retriever_of(&context.live_index().await?)?;
    let page = page_at_address(&retriever, &url).await?;
    Ok((page, retriever.index.freshness()))
}
