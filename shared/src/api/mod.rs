//! The wire: requests, the envelope, stream events, limits, and errors to status codes.

mod chat;
mod envelope;
mod extract;
mod search;

pub use chat::{ChatData, ChatRequest, FeedbackRequest, event_stream};
pub use envelope::{Envelope, ErrorBody, Meta, failure, success};
pub use extract::{
    ClientAddress, MAX_BODY_BYTES, client_address, cors, json_body, method_not_allowed, not_found,
};
pub use search::{SearchData, SearchRequest, SearchResult};
