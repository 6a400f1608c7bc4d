//! The server of one request that is for several books: the tools of one, with an argument that names books, and a tool that lists them.

use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, DiscoverResult, ErrorData,
    InitializeRequestParams, InitializeResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;

use super::call::{Call, succeeded};
use super::calls::{DEFAULT_LIMIT, Sections, given, required, within_budget};
use super::id::{Id, RESOURCE_SCHEME};
use super::server::{Server, TITLE_CHARACTERS, TTL_MS, information, instructions, templates};
use super::tools::{
    Answered, AskArguments, BOOKS, BookList, FetchArguments, Fetched, Found, NAMES, OneOfBooks,
    Outline, OutlineArguments, ReportArguments, Reported, SearchArguments, tools_of_library,
};
use super::{Book, Caller};
use crate::api::BookView;
use answer::error::{Error, ErrorKind};
use text::invisible::visible;

/// The most characters of the books' titles in descriptions.
const TITLES_CHARACTERS: usize = 5 * TITLE_CHARACTERS;
/// Separates the id of a book from a place in its list of resources.
const OF_BOOK: char = ':';

/// Several books that are served together.
#[derive(Clone)]
pub struct Library {
    /// The books that the caller may read.
    pub books: Vec<ListedBook>,
    /// Opens the book with an id of [`Self::books`].
    pub open: Arc<dyn Fn(&str) -> Opened + Send + Sync>,
    /// Returns the id of the book that is nearest to a question, of those with the given ids.
    pub nearest: Arc<dyn Fn(Vec<String>, String) -> BoxFuture<'static, String> + Send + Sync>,
}

/// A book that is being opened, and its caller.
pub type Opened = BoxFuture<'static, Result<(Book, Caller), Error>>;

/// A book of several, as its caller sees it.
#[derive(Debug, Clone)]
pub struct ListedBook {
    /// What clients are told about the book.
    pub view: BookView,
    /// True if it is asked when the caller names no book.
    pub is_asked: bool,
    /// True if everybody may read it.
    pub is_public: bool,
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library")
            .field("books", &self.books)
            .finish_non_exhaustive()
    }
}

/// Serves several books.
#[derive(Debug, Clone)]
pub(super) struct LibraryServer {
    library: Arc<Library>,
    call: Call,
}

impl LibraryServer {
    pub(super) fn new(library: Library, call: Call) -> Self {
        Self {
            library: Arc::new(library),
            call,
        }
    }

    /// Returns the server of one of the books.
    async fn server(&self, book: &ListedBook) -> Result<Server, Error> {
        let (book, caller) = (self.library.open)(&book.view.id).await?;
        Ok(Server::of_request(book, caller, self.call.clone()))
    }

    /// Returns the book with an id.
    fn named(&self, id: &str) -> Result<&ListedBook, Error> {
        let mut books = self.library.books.iter();
        books.find(|book| book.view.id == id).ok_or_else(|| {
            let shown: String = id.chars().take(TITLE_CHARACTERS).collect();
            let message = format!(
                "there is no book `{shown}`, or it needs a sign-in; the tool `{BOOKS}` lists the books"
            );
            Error::field(BOOKS, message)
        })
    }

    /// Returns the books that a call names; without names, those that are asked.
    fn chosen(&self, names: &[String]) -> Result<Vec<&ListedBook>, Error> {
        if names.is_empty() {
            let books = self.library.books.iter();
            return Ok(books.filter(|book| book.is_asked).collect());
        }
        names.iter().map(|name| self.named(name)).collect()
    }

    /// Returns the books that may have the page, section or chunk of an id, and its id there. `book://ID/path` and absolute addresses name their book.
    fn places(&self, names: &[String], id: &str) -> Result<(Vec<&ListedBook>, String), Error> {
        let id = id.trim();
        if let Some(place) = id.strip_prefix(RESOURCE_SCHEME)
            && !place.starts_with('/')
        {
            let (book, place) = place.split_once('/').unwrap_or((place, ""));
            return Ok((vec![self.named(book)?], place.to_owned()));
        }
        let readable = if names.is_empty() {
            self.library.books.iter().collect()
        } else {
            self.chosen(names)?
        };
        let of_address: Vec<&ListedBook> = readable
            .into_iter()
            .filter(|book| path_at(book, id).is_some())
            .collect();
        match of_address.first().and_then(|book| path_at(book, id)) {
            Some(path) => Ok((of_address, path.to_owned())),
            None => Ok((self.chosen(names)?, id.to_owned())),
        }
    }

    /// Returns the sections of all books that fit best.
    async fn search(&self, names: &[String], arguments: SearchArguments) -> Result<Found, Error> {
        let most = arguments.limit.unwrap_or(DEFAULT_LIMIT);
        let books = self.chosen(names)?;
        let searches = books.iter().map(|book| self.sections(book, &arguments));
        let mut valued = Vec::new();
        let (mut message, mut failure, mut is_searched) = (None, None, false);
        for searched in join_all(searches).await {
            match searched {
                Ok(sections) => {
                    is_searched = true;
                    valued.extend(sections.valued);
                    message = message.or(sections.message);
                }
                // A book that fails is left out, unless all do.
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        if let (Some(failure), false) = (failure, is_searched) {
            return Err(failure);
        }
        valued.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        valued.truncate(most);
        let message = message.filter(|_| valued.is_empty());
        let results = valued.into_iter().map(|(_, section)| section);
        let found = Found {
            results: results.collect(),
            message,
            index: None,
        };
        Ok(within_budget(self.call.budget, found))
    }

    async fn sections(
        &self,
        book: &ListedBook,
        arguments: &SearchArguments,
    ) -> Result<Sections, Error> {
        self.server(book).await?.sections(arguments.clone()).await
    }

    async fn fetch(&self, names: &[String], arguments: FetchArguments) -> Result<Fetched, Error> {
        let id = required("id", arguments.id)?;
        let (books, id) = self.places(names, &id)?;
        let id = Id::parse(&id);
        let mut missing = None;
        for book in books {
            let found = match self.server(book).await {
                Ok(server) => server.fetch_at(&id).await,
                Err(error) => Err(error),
            };
            match found {
                Err(error) => missing = Some(graver(missing, error)),
                found => return found,
            }
        }
        Err(missing.unwrap_or_else(nothing))
    }

    /// Has the nearest book answer.
    async fn ask(&self, names: &[String], arguments: AskArguments) -> Result<Answered, Error> {
        let question = required("question", arguments.question.clone())?;
        let book = self.nearest(names, question).await?;
        self.server(book).await?.ask(arguments).await
    }

    /// Reports an answer to the book that gave it, or a missing one to the nearest book.
    async fn report(
        &self,
        names: &[String],
        arguments: ReportArguments,
    ) -> Result<Reported, Error> {
        let question = required("question", arguments.question.clone())?;
        let nearest = self.nearest(names, question).await?;
        let reported = self.server(nearest).await?.report(arguments.clone()).await;
        if arguments.message_id.is_none() || !is_unknown_answer(&reported) {
            return reported;
        }
        // Another book gave the answer, if it was asked by name.
        for book in &self.library.books {
            let reported = self.server(book).await?.report(arguments.clone()).await;
            if !is_unknown_answer(&reported) {
                return reported;
            }
        }
        reported
    }

    /// Returns the book that is nearest to a question.
    async fn nearest(&self, names: &[String], question: String) -> Result<&ListedBook, Error> {
        match self.chosen(names)?.as_slice() {
            [only] => Ok(*only),
            several => {
                let ids = several.iter().map(|book| book.view.id.clone()).collect();
                self.named(&(self.library.nearest)(ids, question).await)
            }
        }
    }

    async fn outline(
        &self,
        names: &[String],
        arguments: OutlineArguments,
    ) -> Result<Outline, Error> {
        let Some(under) = given(arguments.under.clone()) else {
            let books = self.chosen(names)?;
            let [only] = books.as_slice() else {
                let message = format!(
                    "{BOOKS} must name one book to list all pages of; the tool `{BOOKS}` lists the books"
                );
                return Err(Error::field(BOOKS, message));
            };
            return self.server(only).await?.outline(arguments).await;
        };
        let (books, under) = self.places(names, &under)?;
        let mut missing = None;
        for book in books {
            let arguments = OutlineArguments {
                under: Some(under.clone()),
                ..arguments.clone()
            };
            let found = match self.server(book).await {
                Ok(server) => server.outline(arguments).await,
                Err(error) => Err(error),
            };
            match found {
                Err(error) => missing = Some(graver(missing, error)),
                found => return found,
            }
        }
        Err(missing.unwrap_or_else(nothing))
    }

    /// Lists as many of the books as fit.
    fn list(&self) -> BookList {
        let books = self
            .library
            .books
            .iter()
            .map(|ListedBook { view, .. }| OneOfBooks {
                id: view.id.clone(),
                title: visible(&view.title),
                url: view.url.clone(),
            });
        let mut books: Vec<OneOfBooks> = books.collect();
        let count = self.call.budget.fill(&books, |count| BookList {
            books: books[..count].to_vec(),
        });
        books.truncate(count);
        BookList { books }
    }

    async fn resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        let (books, path) = self.places(&[], uri)?;
        let uri = match path.strip_prefix(RESOURCE_SCHEME) {
            None if uri.starts_with(RESOURCE_SCHEME) => format!("{RESOURCE_SCHEME}/{path}"),
            _ => path,
        };
        let mut missing = None;
        for book in books {
            let found = match self.server(book).await {
                Ok(server) => server.resource(&uri).await,
                Err(error) => Err(error),
            };
            match found {
                Err(error) => missing = Some(graver(missing, error)),
                found => return found,
            }
        }
        Err(missing.unwrap_or_else(nothing))
    }

    /// Lists a part of the pages of one book; the cursor of its last part leads to the next book.
    async fn resources(&self, cursor: Option<&str>) -> Result<ListResourcesResult, Error> {
        let books = self.chosen(&[])?;
        let (id, from) = match cursor {
            Some(cursor) => cursor.split_once(OF_BOOK).unwrap_or(("", cursor)),
            None => (books.first().map_or("", |book| book.view.id.as_str()), "0"),
        };
        let mut rest = books.iter().skip_while(|book| book.view.id != id);
        let book = rest.next().ok_or_else(|| {
            Error::field("cursor", "cursor must be the nextCursor of a former list")
        })?;
        let mut list = self.server(book).await?.resources(Some(from)).await?;
        let more = list.next_cursor.take();
        let more = more.map(|from| format!("{id}{OF_BOOK}{from}"));
        list.next_cursor = more.or_else(|| Some(format!("{}{OF_BOOK}0", rest.next()?.view.id)));
        Ok(list)
    }

    /// Returns the titles of the public books for descriptions, which clients may keep for others.
    fn titles(&self) -> String {
        let public = self.library.books.iter().filter(|book| book.is_public);
        let titles: Vec<String> = public.map(|book| visible(book.view.title.trim())).collect();
        let titles = titles.join(", ");
        match titles.char_indices().nth(TITLES_CHARACTERS) {
            None if titles.is_empty() => "the documentation of several books".to_owned(),
            None => format!("the documentation of several books ({titles})"),
            Some((end, _)) => format!("the documentation of several books ({}…)", &titles[..end]),
        }
    }

    fn described(&self) -> ServerConfig {
        information().with_instructions(instructions(&self.titles()))
    }
}

/// Returns the path in a book of an address in full.
fn path_at<'a>(book: &ListedBook, address: &'a str) -> Option<&'a str> {
    let path = address.strip_prefix(book.view.url.as_deref()?)?;
    (path.is_empty() || path.starts_with(['/', '#', '?', '~'])).then_some(path)
}

/// Returns the error that is told: a book that failed may have what the others lack.
fn graver(former: Option<Error>, error: Error) -> Error {
    match former {
        Some(former) if error.kind == ErrorKind::NotFound => former,
        _ => error,
    }
}

fn is_unknown_answer(reported: &Result<Reported, Error>) -> bool {
    let field = reported.as_ref().err().and_then(|error| error.field);
    field == Some("message_id")
}

fn nothing() -> Error {
    Error::new(ErrorKind::NotFound, "no book has this")
}

/// Reads the names of books from an argument: a list, or a text with commas.
fn names(argument: Option<Value>) -> Result<Vec<String>, Error> {
    let names: Vec<String> = match argument {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(text)) => text.split(',').map(str::to_owned).collect(),
        Some(listed) => serde_json::from_value(listed)
            .map_err(|_| Error::field(BOOKS, format!("{BOOKS} must be a list of books' ids")))?,
    };
    let names = names.iter().map(|name| name.trim().to_owned());
    Ok(names.filter(|name| !name.is_empty()).collect())
}

impl ServerHandler for LibraryServer {
    fn get_info(&self) -> ServerConfig {
        information()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let negotiated: ProtocolVersion = self.negotiate_initialize(&request)?.protocol_version;
        Ok(self.described().with_protocol_version(negotiated))
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let result = DiscoverResult::from_server_info(versions, self.described());
        Ok(result
            .with_ttl_ms(TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = tools_of_library(&self.titles());
        let list = ListToolsResult::with_all_items(tools).with_ttl_ms(TTL_MS);
        Ok(list.with_cache_scope(CacheScope::Public))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let mut given = request.arguments.unwrap_or_default();
        let named = names(given.remove(BOOKS));
        let given = Some(given);
        let _permit = self.call.permit().await;
        let (call, name) = (&self.call, request.name.as_ref());
        let result = match (name, named) {
            (_, Err(error)) => call.failed(&error),
            ("search", Ok(books)) => call.called(given, |it| self.search(&books, it)).await,
            ("fetch", Ok(books)) => call.called(given, |it| self.fetch(&books, it)).await,
            ("ask", Ok(books)) => call.called(given, |it| self.ask(&books, it)).await,
            ("outline", Ok(books)) => call.called(given, |it| self.outline(&books, it)).await,
            ("report", Ok(books)) => call.called(given, |it| self.report(&books, it)).await,
            (BOOKS, Ok(_)) => succeeded(&self.list()),
            _ => {
                let names = NAMES.join(", ");
                let message = format!("there is no such tool; the tools are {names}, {BOOKS}");
                return Err(ErrorData::invalid_params(message, None));
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let list = self.resources(cursor.as_deref()).await;
        list.map_err(|error| self.call.refused(&error, ""))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(templates(&format!("{RESOURCE_SCHEME}{{book}}")))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.resource(&request.uri).await;
        let read = read.map_err(|error| self.call.refused(&error, &request.uri))?;
        Ok(read.into())
    }
}
