//! The query function: answers questions with citations, as JSON or as a stream, and serves the book to programs over the Model Context Protocol.

mod ask;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::header;
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete, get, post};
use axum::{Json, http::HeaderMap};
use bookrag::answer::{Prepared, Question};
use bookrag::api::{
    ChatData, ChatRequest, Completion, CompletionChunks, CompletionRequest, FeedbackRequest, Meta,
    ModelList, Observed, Receipt, Route, SESSION_HEADER, authorize, client_address,
    completion_stream, cors, event_stream, failure, in_openai_shape, json_body, known_origin,
    known_page, limit, method_not_allowed, not_found, success,
};
use bookrag::catalog::Feedback;
use bookrag::context::Context;
use bookrag::error::{Error, ErrorKind};

/// Returns the function's routes, with errors for all other requests.
pub fn router(context: Arc<Context>) -> Router {
    routes(context).fallback(not_found)
}

/// Returns the routes alone, to be mounted with others.
pub fn routes(context: Arc<Context>) -> Router {
    let cors = cors(context.pages());
    let authorize = from_fn_with_state(context.authorizer.clone(), authorize);
    let chat_route = limited(&context, Route::Chat, post(chat));
    // Requests of pages that may not call do not count against their readers' limits.
    let known_origin = from_fn_with_state(context.pages(), known_origin);
    let known_page = from_fn_with_state(context.pages(), known_page);
    // For clients of OpenAI's API. Outside `authorize` and `limit`, so that their errors use its format too.
    let completions = Router::new()
        .route(
            "/v1/chat/completions",
            limited(&context, Route::Chat, post(complete)),
        )
        .route("/v1/models", get(models))
        .method_not_allowed_fallback(method_not_allowed)
        .layer(authorize.clone())
        .layer(known_page.clone())
        .layer(map_response(in_openai_shape));
    Router::new()
        .route("/api/v1/chat", chat_route.clone())
        .route("/api/query", chat_route.clone())
        .route("/api/chat", chat_route)
        .route(
            "/api/v1/ask",
            // Otherwise axum would run the handler of GET for HEAD, too.
            limited(&context, Route::Chat, get(ask::ask)).head(method_not_allowed),
        )
        .route(
            "/api/v1/feedback",
            limited(&context, Route::Feedback, post(feedback)),
        )
        .route(
            "/api/v1/conversations/{id}",
            limited(&context, Route::Feedback, delete(forget)),
        )
        .route(
            "/mcp",
            limited(&context, Route::Mcp, post(mcp)).route_layer(known_origin),
        )
        .method_not_allowed_fallback(method_not_allowed)
        .layer(authorize)
        .layer(known_page)
        .merge(completions)
        // Outermost, so that errors have the headers too.
        .layer(cors)
        .with_state(context)
}

/// Adds the rate limit of `route` to a handler.
fn limited(
    context: &Arc<Context>,
    route: Route,
    method: MethodRouter<Arc<Context>>,
) -> MethodRouter<Arc<Context>> {
    method.route_layer(from_fn_with_state(context.limited(route), limit))
}

async fn chat(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let client = client_address(&request, context.trusted_proxies);
    let wants_stream = wants_stream(&request);
    let prepared = match prepare_chat(&context, request, &client).await {
        Ok(prepared) => prepared,
        Err(error) => return failure(&error, &observed.request_id),
    };
    if wants_stream {
        let conversation_id = prepared.conversation_id;
        return event_stream(prepared.events(), conversation_id, observed).await;
    }
    match prepared.whole().await {
        Err(error) => failure(&error, &observed.request_id),
        Ok(answer) => {
            observed.measured.answered(&answer);
            let data = ChatData::new(&answer, observed.book.as_ref());
            success(data, Meta::of_answer(&answer, observed.request_id))
        }
    }
}

fn wants_stream(request: &Request) -> bool {
    let accept = request.headers().get(header::ACCEPT);
    accept
        .and_then(|value| value.to_str().ok())
        .is_some_and(|value| value.contains("text/event-stream"))
}

async fn prepare_chat(
    context: &Context,
    request: Request,
    client: &str,
) -> Result<Prepared, Error> {
    let request: ChatRequest = json_body(request).await?;
    let session = request.session()?;
    let question = Question::try_from(request)?;
    prepare(context, question, session.as_deref(), client).await
}

async fn prepare(
    context: &Context,
    question: Question,
    session: Option<&str>,
    client: &str,
) -> Result<Prepared, Error> {
    let asker = context.asker(client, &question, session);
    let index = context.live_index().await?;
    let answerer = context.answerer(&index)?;
    Ok(answerer.prepare(question, Some(asker)).await?)
}

async fn mcp(State(context): State<Arc<Context>>, request: Request) -> Response {
    let client = client_address(&request, context.trusted_proxies);
    let (book, caller) = (context.mcp_book(), context.mcp_caller(&client));
    bookrag::mcp::respond(book, caller, request).await
}

async fn complete(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let client = client_address(&request, context.trusted_proxies);
    let origin = site_origin(&context, &observed, request.headers());
    let prepared = prepare_completion(&context, request, &client).await;
    let (request, book, prepared) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => return failure(&error, &observed.request_id),
    };
    if request.wants_stream() {
        let chunks = CompletionChunks::new(&request, prepared.message_id, book, origin);
        return completion_stream(prepared.events(), chunks, observed).await;
    }
    match prepared.whole().await {
        Err(error) => failure(&error, &observed.request_id),
        Ok(answer) => {
            observed.measured.answered(&answer);
            Json(Completion::from_answer(&answer, book, origin.as_deref())).into_response()
        }
    }
}

/// Returns the request, the book's title, and the prepared answer.
async fn prepare_completion(
    context: &Context,
    request: Request,
    client: &str,
) -> Result<(CompletionRequest, String, Prepared), Error> {
    let request: CompletionRequest = json_body(request).await?;
    let question = Question::try_from(request.clone())?;
    let asker = context.asker(client, &question, None);
    let index = context.live_index().await?;
    let prepared = context
        .answerer(&index)?
        .prepare(question, Some(asker))
        .await?;
    Ok((request, index.site.title, prepared))
}

/// Returns the origin of the book's pages: its first origin, or this server on a laptop without one.
fn site_origin(context: &Context, observed: &Observed, headers: &HeaderMap) -> Option<String> {
    if let Some(book) = &observed.book {
        return book.url.clone();
    }
    if let Some(origin) = context.origins.first() {
        return Some(origin.clone());
    }
    let host = headers.get(header::HOST).filter(|_| context.local_origins);
    Some(format!("http://{}", host?.to_str().ok()?))
}

async fn models(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    match context.live_index().await {
        Ok(index) => Json(ModelList::new([index.site.title])).into_response(),
        Err(error) => failure(&error, &observed.request_id),
    }
}

async fn feedback(State(context): State<Arc<Context>>, request: Request) -> Response {
    let Observed { request_id, .. } = Observed::from_request(&request);
    match store_feedback(&context, request).await {
        Ok(()) => success(
            Receipt {
                received: Some(true),
                ..Receipt::default()
            },
            Meta {
                request_id,
                ..Meta::default()
            },
        ),
        Err(error) => failure(&error, &request_id),
    }
}

async fn store_feedback(context: &Context, request: Request) -> Result<(), Error> {
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

/// Deletes a conversation. The header `X-Session-Id` names its session, if it has one.
async fn forget(
    State(context): State<Arc<Context>>,
    Path(id): Path<String>,
    request: Request,
) -> Response {
    let Observed { request_id, .. } = Observed::from_request(&request);
    let client = client_address(&request, context.trusted_proxies);
    let session = request.headers().get(SESSION_HEADER);
    // Like in the body, the session is UTF-8, and an empty one counts as none.
    let session = session.and_then(|value| std::str::from_utf8(value.as_bytes()).ok());
    let session = session.map(str::trim).filter(|session| !session.is_empty());
    match delete_conversation(&context, &id, &context.session_hash(&client, session)).await {
        Ok(()) => success(
            Receipt {
                deleted: Some(true),
                ..Receipt::default()
            },
            Meta {
                request_id,
                ..Meta::default()
            },
        ),
        Err(error) => failure(&error, &request_id),
    }
}

async fn delete_conversation(context: &Context, id: &str, session: &str) -> Result<(), Error> {
    let is_deleted = match id.parse() {
        Ok(id) => context.catalog().delete_conversation(id, session).await,
        Err(_) => Ok(false),
    };
    if is_deleted.map_err(Error::unavailable)? {
        return Ok(());
    }
    let message = "there is no such conversation";
    Err(Error::new(ErrorKind::NotFound, message))
}
