//! `GET /api/v1/ask`: a question in an address, answered as Markdown, for agents that can only fetch pages.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bookrag::answer::{Answer, LabelsInText, Question};
use bookrag::api::{
    ChatRequest, Observed, client_address, failure, suggested, url_query, with_footnotes,
};
use bookrag::context::Context;
use bookrag::error::{Error, ErrorKind};
use bookrag::index::Filters;
use serde::Deserialize;

use super::{prepare, site_origin};

/// What a browser sends with a picture, script or style of another page. Such a page could otherwise spend its visitors' questions.
const FETCH_MODE: &str = "sec-fetch-mode";
const EMBEDDED: &str = "no-cors";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    q: Option<String>,
    page_url: Option<String>,
    locale: Option<String>,
    version: Option<String>,
}

impl TryFrom<Parameters> for Question {
    type Error = Error;

    fn try_from(parameters: Parameters) -> Result<Self, Error> {
        let question = Question::try_from(ChatRequest {
            query: parameters.q,
            page_url: parameters.page_url,
            filters: Filters {
                locale: parameters.locale,
                version: parameters.version,
                ..Filters::default()
            },
            ..ChatRequest::default()
        })?;
        Ok(Self {
            labels_in_text: LabelsInText::Footnotes,
            ..question
        })
    }
}

pub(super) async fn ask(State(context): State<Arc<Context>>, request: Request) -> Response {
    let observed = Observed::of(&request);
    let client = client_address(&request, context.trusted_proxies);
    let origin = site_origin(&context, request.headers());
    let question = question_of(&request);
    match answer(&context, question, &client).await {
        Err(error) => failure(&error, &observed.request_id),
        Ok(answer) => {
            observed.measured.answered(&answer);
            markdown(&answer, origin.as_deref())
        }
    }
}

async fn answer(
    context: &Context,
    question: Result<Question, Error>,
    client: &str,
) -> Result<Answer, Error> {
    let prepared = prepare(context, question?, None, client).await?;
    prepared.whole().await
}

fn question_of(request: &Request) -> Result<Question, Error> {
    if is_embedded(request.headers()) {
        let message = "a question cannot be a part of another page, such as a picture";
        return Err(Error::new(ErrorKind::Forbidden, message));
    }
    url_query::<Parameters>(request.uri())?.try_into()
}

fn is_embedded(headers: &HeaderMap) -> bool {
    headers.get(FETCH_MODE).is_some_and(|mode| mode == EMBEDDED)
}

/// The answer, its sources as footnotes, and further sections.
fn markdown(answer: &Answer, origin: Option<&str>) -> Response {
    let mut text = with_footnotes(answer, origin);
    let suggested = suggested(answer, origin);
    if !suggested.is_empty() {
        text = format!("{text}\n\nSee also:\n\n{}", suggested.trim_end());
    }
    text.push('\n');
    let headers = [
        (header::CONTENT_TYPE, "text/markdown; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    let mut response = (headers, text).into_response();
    let robots = HeaderValue::from_static("noindex");
    response.headers_mut().insert("x-robots-tag", robots);
    response
}
