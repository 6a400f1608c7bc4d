//! `GET /api/v1/ask`: a question in an address, answered as Markdown, for agents that can only fetch pages.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use bookrag::answer::{Answer, LabelsInText, Question};
use bookrag::api::{
    ChatRequest, Observed, client_address, facet_filters, failure, suggested, url_query,
    with_footnotes,
};
use bookrag::context::Context;
use bookrag::error::Error;
use bookrag::index::Filters;
use serde::Deserialize;

use super::{prepare, site_origin};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Parameters {
    q: Option<String>,
    page_url: Option<String>,
    locale: Option<String>,
    version: Option<String>,
    facets: Option<String>,
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
                facets: facet_filters(parameters.facets.as_deref())?,
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
    let observed = Observed::from_request(&request);
    let client = client_address(&request, context.trusted_proxies);
    let origin = site_origin(&context, &observed, request.headers());
    let question = url_query::<Parameters>(request.uri()).and_then(Question::try_from);
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

/// Returns the answer, its sources as footnotes, and further sections.
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
