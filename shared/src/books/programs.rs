//! The Model Context Protocol for all books together.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::Response;
use futures::FutureExt as _;
use futures::future::join_all;

use super::choice::{Asked, nearest};
use super::{Book, Books};
use crate::api::{Observed, Route, client_address, failure};
use crate::mcp::{self, Library, ListedBook};
use answer::error::Error;

pub(super) async fn mcp(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let (head, body) = request.into_parts();
    match library(&books, &head).await {
        Ok(library) => mcp::respond_of_library(library, Request::from_parts(head, body)).await,
        Err(error) => failure(&error, &observed.request_id),
    }
}

/// Returns the books as the sender of a request may read them. Its message is counted.
async fn library(books: &Books, head: &Parts) -> Result<Library, Error> {
    let headers = &head.headers;
    let asked = Asked::read(&head.uri, b"");
    let concerned = books.concerned(headers, &asked).await?;
    let counting = books.counting().await?;
    let client = client_address(
        &Request::from_parts(head.clone(), Body::empty()),
        counting.trusted_proxies,
    );
    let key = counting.client_key(&client);
    counting.limiter.acquire(Route::Mcp, &key).await?;

    let readable = books.readable(headers).await;
    let listed = join_all(readable.iter().map(|book| listed(book, &concerned))).await;
    let readable: Arc<[Book]> = readable.into_iter().cloned().collect();
    let (opened, compared) = (Arc::clone(&readable), readable);
    let (caller, asker) = (client.clone(), client);
    Ok(Library {
        books: listed,
        open: Arc::new(move |id: &str| {
            let (books, client) = (Arc::clone(&opened), caller.clone());
            let id = id.to_owned();
            async move { open(&books, &id, &client).await }.boxed()
        }),
        nearest: Arc::new(move |ids, question| {
            let (books, client) = (Arc::clone(&compared), asker.clone());
            async move {
                let books: Vec<&Book> = books
                    .iter()
                    .filter(|book| ids.iter().any(|id| *id == book.id.as_str()))
                    .collect();
                let asked = Asked::question(question);
                nearest(&books, &asked, &client).await.id.to_string()
            }
            .boxed()
        }),
    })
}

async fn listed(book: &Book, concerned: &[&Book]) -> ListedBook {
    ListedBook {
        view: book.view().await,
        is_asked: concerned.iter().any(|asked| asked.id == book.id),
        is_public: !book.is_private(),
    }
}

/// Opens one of the books for programs.
async fn open(books: &[Book], id: &str, client: &str) -> Result<(mcp::Book, mcp::Caller), Error> {
    let mut books = books.iter();
    let book = books
        .find(|book| book.id.as_str() == id)
        .ok_or_else(|| super::no_such_book(id))?;
    let context = book.context().await?;
    let served = mcp::Book {
        id: Some(id.to_owned()),
        origin: book.url.clone(),
        ..context.mcp_book()
    };
    Ok((served, context.mcp_caller(client)))
}
