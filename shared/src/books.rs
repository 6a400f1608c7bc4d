//! Several books in one process.
//!
//! Each book has its own stores, limits and conversations. Below `/books/ID` are the routes of a process that has this book alone, so that what is asked
//! there cannot reach another book. A question that names no book goes to the book that is nearest to it; a search covers all of them.

mod across;
mod choice;
mod programs;

use std::fmt;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Uri, header};
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::{get, options};
use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use tower::ServiceExt as _;

use crate::api::{
    Authorizer, BookView, BooksData, Meta, Observed, Origins, RESOURCE_METADATA, cors, failure,
    known_page, not_found, resource_metadata, success,
};
use crate::config::{BookSettings, Config};
use crate::context::{Context, StartError};
use answer::error::{Error, ErrorKind};
use choice::Asked;

pub use crate::config::{BookId, InvalidBookId};

/// A book of several.
#[derive(Clone)]
pub struct Book {
    /// Its id.
    pub id: BookId,
    /// Its title. Without it, that of its live index.
    pub title: Option<String>,
    /// Where its pages are, such as `https://book.example`. Without it, addresses are paths.
    pub url: Option<String>,
    /// The origins of its pages.
    pub origins: Vec<String>,
    /// The origins whose pages may call.
    pub pages: Origins,
    /// Checks tokens; `None` lets everybody read the book.
    pub authorizer: Option<Authorizer>,
    /// Opens its stores, unless they are open.
    pub open: Opening,
    /// Returns its stores if they are open.
    pub current: Arc<dyn Fn() -> Option<OpenBook> + Send + Sync>,
}

/// Opens the stores of a book.
pub type Opening = Arc<dyn Fn() -> BoxFuture<'static, Result<OpenBook, Error>> + Send + Sync>;

/// A book whose stores are open.
#[derive(Debug, Clone)]
pub struct OpenBook {
    /// Its backends and rules.
    pub context: Arc<Context>,
    /// The routes of a process that has this book alone.
    pub routes: Router,
}

impl fmt::Debug for Book {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Book")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

impl Book {
    /// Creates a book whose stores are open.
    #[must_use]
    pub fn of_open(id: BookId, url: Option<String>, open: OpenBook) -> Self {
        let current = open.clone();
        Self {
            id,
            title: None,
            url,
            origins: open.context.origins.clone(),
            pages: open.context.pages(),
            authorizer: open.context.authorizer.clone(),
            open: Arc::new(move || std::future::ready(Ok(open.clone())).boxed()),
            current: Arc::new(move || Some(current.clone())),
        }
    }

    async fn context(&self) -> Result<Arc<Context>, Error> {
        Ok((self.open)().await?.context)
    }

    /// Returns what clients are told about the book.
    async fn view(&self) -> BookView {
        let title = match &self.title {
            Some(title) => title.clone(),
            None => self.stored_title().await.unwrap_or_default(),
        };
        BookView {
            id: self.id.to_string(),
            title: if title.is_empty() {
                self.id.to_string()
            } else {
                title
            },
            url: self.url.clone(),
        }
    }

    async fn stored_title(&self) -> Option<String> {
        let live = self.context().await.ok()?.live_index().await;
        Some(live.ok()?.site.title)
    }

    /// True if readers must sign in for the book.
    fn is_private(&self) -> bool {
        self.authorizer.is_some()
    }

    /// Has the book's own routes answer a request.
    async fn answer(&self, request: Request) -> Response {
        let request_id = Observed::from_request(&request).request_id;
        match (self.open)().await {
            Ok(open) => {
                let answered = open.routes.oneshot(request).await;
                answered.unwrap_or_else(|never| match never {})
            }
            Err(error) => failure(&error, &request_id),
        }
    }
}

/// The books of a process, in the order in which they are listed.
#[derive(Debug, Clone)]
struct Books(Arc<[Book]>);

/// What a function of a deployment serves: one book, or several.
#[derive(Debug)]
pub enum Hosted {
    /// The only book.
    One(Arc<Context>),
    /// The books, with their settings.
    Several(Vec<(BookSettings, Arc<Context>)>),
}

impl Hosted {
    /// Creates the backends from the configuration, without sending requests.
    ///
    /// # Errors
    /// If something configured cannot be created.
    pub async fn connect(config: &Config) -> Result<Self, StartError> {
        if config.books.is_empty() {
            return Ok(Self::One(Arc::new(Context::hosted(config).await?)));
        }
        let books = Context::hosted_books(config).await?.into_iter();
        let books = books.map(|(settings, context)| (settings, Arc::new(context)));
        Ok(Self::Several(books.collect()))
    }

    /// Returns the contexts of all books.
    #[must_use]
    pub fn contexts(&self) -> Vec<Arc<Context>> {
        match self {
            Self::One(context) => vec![Arc::clone(context)],
            Self::Several(books) => {
                let contexts = books.iter().map(|(_, context)| context);
                contexts.cloned().collect()
            }
        }
    }

    /// Returns the routes of the function. `routes` are those of one book.
    pub fn router(self, routes: fn(Arc<Context>) -> Router) -> Router {
        let books = match self {
            Self::One(context) => return routes(context),
            Self::Several(books) => books.into_iter(),
        };
        let books = books.map(|(settings, context)| {
            let routes = routes(Arc::clone(&context));
            let url = settings.origins.into_iter().next();
            Book::of_open(settings.id, url, OpenBook { context, routes })
        });
        router(books.collect()).fallback(not_found)
    }
}

/// Returns the routes of several books.
///
/// # Panics
/// Without books.
pub fn router(books: Vec<Book>) -> Router {
    assert!(!books.is_empty(), "there is at least one book");
    let origins = Origins::all(books.iter().map(|book| book.pages.clone()));
    let books = Books(books.into());
    let sign_in = books.sign_in().cloned();
    let metadata = get(resource_metadata).with_state(sign_in);
    // A preflight has no token, so that all books answer it alike. Other answers have the headers of their book.
    let below = options(not_found).layer(cors(origins.clone()));
    across::routes(origins.clone())
        .route("/api/v1/books", get(list))
        // As in a single book: requests of pages that may not call do not count against their readers' limits.
        .layer(from_fn_with_state(origins.clone(), known_page))
        .layer(cors(origins))
        // Of any id: whether a book exists is for readers who have signed in.
        .route(&format!("{RESOURCE_METADATA}/books/{{id}}/mcp"), metadata)
        .route("/books/{id}/{*path}", below.fallback(scoped))
        .with_state(books)
}

async fn list(State(books): State<Books>, request: Request) -> Response {
    let observed = Observed::from_request(&request);
    let readable = books.readable(request.headers()).await;
    let views = join_all(readable.into_iter().map(Book::view)).await;
    let meta = Meta {
        request_id: observed.request_id,
        source_count: views.len(),
        ..Meta::default()
    };
    success(BooksData { books: views }, meta)
}

/// Has a book answer what is asked below its id.
async fn scoped(
    State(books): State<Books>,
    Path((id, _)): Path<(String, String)>,
    mut request: Request,
) -> Response {
    let found = books.named(&id, request.headers()).await;
    let below = below_book(request.uri(), &id);
    match (found, below) {
        (Ok(book), Some(below)) => {
            *request.uri_mut() = below;
            book.answer(request).await
        }
        (Err(error), _) => {
            let request_id = Observed::from_request(&request).request_id;
            let refusal = match books.sign_in_of_program(&request, &id) {
                Some((sign_in, metadata)) => {
                    let headers = request.headers();
                    sign_in.refusal(headers, &metadata, &request_id).await
                }
                None => None,
            };
            refusal.unwrap_or_else(|| failure(&error, &request_id))
        }
        (Ok(_), None) => {
            let error = no_such_book(&id);
            failure(&error, &Observed::from_request(&request).request_id)
        }
    }
}

/// Returns the address of a request below `/books/ID`, as its book knows it.
fn below_book(address: &Uri, id: &str) -> Option<Uri> {
    let mut parts = address.clone().into_parts();
    let path = parts.path_and_query.as_ref()?.as_str();
    let below = path.strip_prefix("/books/")?.strip_prefix(id)?;
    parts.path_and_query = Some(below.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Returns the error for a book that does not exist, and for one that the reader may not know of.
fn no_such_book(id: &str) -> Error {
    let shown: String = id.chars().take(64).collect();
    let message =
        format!("there is no book `{shown}`, or it needs a sign-in; /api/v1/books lists the books");
    Error::new(ErrorKind::NotFound, message)
}

impl Books {
    /// Returns the context of the first book that can be opened, which counts requests that are for several.
    async fn counting(&self) -> Result<Arc<Context>, Error> {
        let mut failure = None;
        for book in self.0.iter() {
            match book.context().await {
                Ok(context) => return Ok(context),
                Err(error) => failure = Some(error),
            }
        }
        Err(failure.expect("there is at least one book"))
    }

    /// Returns the sign-in of the process, which all private books have.
    fn sign_in(&self) -> Option<&Authorizer> {
        let mut books = self.0.iter();
        books.find_map(|book| book.authorizer.as_ref())
    }

    /// Returns the sign-in that a program is told of, and the address of the metadata that name it. Unknown books and private ones have the same.
    fn sign_in_of_program(&self, request: &Request, id: &str) -> Option<(&Authorizer, String)> {
        let sign_in = self.sign_in()?;
        let is_program = request.uri().path().ends_with("/mcp");
        // What cannot be an id is not repeated in a header.
        let id: BookId = id.parse().ok()?;
        let metadata = sign_in.metadata_address(request, &format!("/books/{id}"))?;
        is_program.then_some((sign_in, metadata))
    }

    /// Returns the books that a request's reader may read: the public ones, and with a valid token the others.
    async fn readable(&self, headers: &HeaderMap) -> Vec<&Book> {
        let is_signed_in = match self.sign_in() {
            Some(authorizer) => authorizer.admits(headers).await,
            None => false,
        };
        let readable = self.0.iter();
        readable
            .filter(|book| is_signed_in || !book.is_private())
            .collect()
    }

    /// Returns the book with an id, if the request's reader may read it.
    async fn named(&self, id: &str, headers: &HeaderMap) -> Result<&Book, Error> {
        let mut readable = self.readable(headers).await.into_iter();
        let named = readable.find(|book| book.id.as_str() == id);
        named.ok_or_else(|| no_such_book(id))
    }

    /// Returns the books that a request without an id in its path is about: those that it names, else the book of the page that sends it, else the
    /// public ones.
    async fn concerned(&self, headers: &HeaderMap, asked: &Asked) -> Result<Vec<&Book>, Error> {
        let readable = self.readable(headers).await;
        let of_model = readable
            .iter()
            .find(|book| asked.model.as_deref() == Some(book.id.as_str()));
        if let (Some(book), true) = (of_model, asked.books.is_empty()) {
            return Ok(vec![*book]);
        }
        if !asked.books.is_empty() {
            return asked
                .books
                .iter()
                .map(|id| {
                    let mut readable = readable.iter().copied();
                    let named = readable.find(|book| book.id.as_str() == id);
                    named.ok_or_else(|| Error::field("books", no_such_book(id).message))
                })
                .collect();
        }
        let origin = headers
            .get(header::ORIGIN)
            .and_then(|origin| origin.to_str().ok());
        let is_of_page = |book: &&Book| {
            origin.is_some_and(|origin| book.origins.iter().any(|own| own == origin))
        };
        let of_page: Vec<&Book> = readable.iter().copied().filter(is_of_page).collect();
        if !of_page.is_empty() {
            return Ok(of_page);
        }
        let public: Vec<&Book> = readable
            .into_iter()
            .filter(|book| !book.is_private())
            .collect();
        if public.is_empty() {
            let message = "no book is public; name one: /books/ID";
            return Err(Error::new(ErrorKind::NotFound, message));
        }
        Ok(public)
    }
}
