//! The HTTP interface: authorization, rate limits, requests, the response envelope, stream events, and status codes of errors.

mod book_view;
mod observe;
mod auth;
mod limits;
mod number;
mod facets;
mod chat;
mod envelope;
mod extract;
mod origins;
mod search;
mod stream;
mod completions;
mod page;
mod questions;

pub use auth::{AuthOptions, Authorizer, RESOURCE_METADATA, Stage, authorize, resource_metadata};
pub use book_view::{BookView, BooksData, Counted};
pub(crate) use chat::optional_text;
pub use chat::{AnswerView, ChatData, ChatRequest, FeedbackRequest, HistoryMessage};
pub use completions::{
    Completion, CompletionChunks, CompletionRequest, ModelList, completion_stream, in_openai_shape,
    suggested, with_footnotes,
};
pub use envelope::{Envelope, ErrorBody, Meta, Receipt, failure, success};
pub(crate) use extract::whole_body;
pub use extract::{
    ClientAddress, MAX_BODY_BYTES, SESSION_HEADER, client_address, json_body, method_not_allowed,
    not_found, url_query,
};
pub use facets::facet_filters;
pub use limits::{LimitedRoute, Limiter, Limits, Route, client_network, limit};
pub(crate) use number::whole_number;
pub use observe::{Measured, Measuring, Observed, PlatformRequestId, measure};
pub use origins::{Origins, cors, known_origin, known_page};
pub use page::{
    MARKDOWN, NO_INDEX, PageData, PageRequest, encoded_path, encoded_url, markdown_page,
    prefers_markdown, with_link,
};
pub use questions::{QuestionsData, QuestionsRequest, WantedQuestions};
pub use search::{Search, SearchData, SearchRequest, SearchResult, nothing_found};
pub use stream::event_stream;
