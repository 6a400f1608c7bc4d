//! Questions that a reader may ask.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::Uri;
use axum::response::Response;
use bookrag::answer::{Proposal, proposals};
use bookrag::api::{Meta, Observed, QuestionsData, QuestionsRequest, failure, success, url_query};
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::retrieve::milliseconds;

/// Answers with questions of the page that the URL's query names, and of the book's first pages. Nothing is embedded.
pub(super) async fn by_url(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let started = Instant::now();
    let questions = match read(&context, request.uri()).await {
        Ok(questions) => questions,
        Err(error) => return failure(&error, &observed.request_id),
    };
    let meta = Meta {
        request_id: observed.request_id,
        latency_ms: milliseconds(started),
        source_count: questions.len(),
        ..Meta::default()
    };
    success(QuestionsData { questions }, meta)
}

async fn read(context: &Context, uri: &Uri) -> Result<Vec<Proposal>, Error> {
    let wanted = url_query::<QuestionsRequest>(uri)?.check()?;
    let retriever = context.retriever_of(&context.live_index().await?)?;
    let page_url = wanted.page_url.as_deref();
    let questions = proposals(&retriever, &wanted.filters, page_url, wanted.limit);
    questions.await.map_err(Error::unavailable)
}
