//! The query function: a question in, a cited answer out, as JSON or as a stream.

use std::sync::Arc;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::Response;
use axum::routing::post;
use bookrag::answer::{Answer, Question, Written, prepare};
use bookrag::api::{
    ChatData, ChatRequest, FeedbackRequest, Meta, client_address, cors, event_stream, failure,
    json_body, method_not_allowed, not_found, success,
};
use bookrag::catalog::{Feedback, QueryLog, QueryStatus};
use bookrag::context::Context;
use bookrag::error::{Error, ErrorKind};
use futures::stream;
use uuid::Uuid;

/// The function: its routes, and clear errors for all other requests.
pub fn router(context: Arc<Context>) -> Router {
    routes(context).fallback(not_found)
}

/// The routes alone, to be mounted beside others; chat has the names that older clients use, too.
pub fn routes(context: Arc<Context>) -> Router {
    let cors = cors(&context.origins, context.local_origins);
    Router::new()
        .route("/api/v1/chat", post(chat))
        .route("/api/v1/query", post(chat))
        .route("/api/query", post(chat))
        .route("/api/chat", post(chat))
        .route("/api/v1/feedback", post(feedback))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(cors)
        .with_state(context)
}

async fn chat(State(context): State<Arc<Context>>, request: Request) -> Response {
    let request_id = Uuid::new_v4().to_string();
    let client = client_address(&request);
    let wants_stream = wants_stream(&request);
    match answer(&context, request, &client).await {
        Err(error) => failure(&error, &request_id),
        Ok(written) if wants_stream => event_stream(stream::iter(written.into_events().map(Ok))),
        Ok(Written { answer, .. }) => success(
            ChatData::from(&answer),
            Meta::of_answer(&answer, request_id),
        ),
    }
}

fn wants_stream(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT);
    accept
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/event-stream"))
}

/// Answers and logs the question: all writes end before the response's body does.
async fn answer(context: &Context, request: Request<Body>, client: &str) -> Result<Written, Error> {
    let started = Instant::now();
    let request: ChatRequest = json_body(request).await?;
    let question = Question::try_from(request)?;
    let index = context.live_index().await?;
    let question_hash = context.hash(&question.query.to_lowercase());
    let retriever = context.retriever_of(&index)?;
    let prepared = prepare(&retriever, &index, question)
        .await
        .map_err(Error::unavailable)?;
    let written = prepared.write(&context.generator);
    log(context, &written.answer, client, question_hash, started).await;
    Ok(written)
}

async fn log(
    context: &Context,
    answer: &Answer,
    client: &str,
    question_hash: String,
    started: Instant,
) {
    let log = QueryLog {
        query_id: answer.message_id,
        user_ip_hash: context.hash(client),
        question_hash,
        retrieved_chunk_ids: answer.retrieved_chunk_ids.clone(),
        response_time_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        status: QueryStatus::Success,
        answered: answer.answered,
    };
    // A reader gets the answer even when it cannot be logged (S0).
    if let Err(error) = context.catalog().log_query(&log).await {
        tracing::warn!(stage = "log", error = %error, "the question is not logged");
    }
}

async fn feedback(State(context): State<Arc<Context>>, request: Request) -> Response {
    let request_id = Uuid::new_v4().to_string();
    match store_feedback(&context, request).await {
        Ok(()) => success(
            serde_json::json!({ "received": true }),
            Meta {
                request_id,
                ..Meta::default()
            },
        ),
        Err(error) => failure(&error, &request_id),
    }
}

async fn store_feedback(context: &Context, request: Request<Body>) -> Result<(), Error> {
    let request: FeedbackRequest = json_body(request).await?;
    let feedback = Feedback::try_from(request)?;
    match context.catalog().add_feedback(&feedback).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::new(
            ErrorKind::NotFound,
            "there is no answer with this message_id",
        )),
        Err(error) => Err(Error::unavailable(error)),
    }
}
