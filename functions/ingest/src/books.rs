//! The books of a deployment: each has a function of its own, which gets what concerns it.

use bookrag::config::{BookId, Config};
use serde_json::{Map, Value, json};

use crate::events::{Event, Message, Request};
use crate::{ConnectError, Deadline, Function, HandlerError};

/// The field of a command that names the book it is about.
pub(crate) const BOOK: &str = "book";

/// The functions of a deployment's books; one if it has a single book.
#[derive(Debug)]
pub struct Books(Vec<Function>);

impl Books {
    /// Creates the backends of all books from the configuration, without sending requests.
    ///
    /// # Errors
    /// If something configured is missing or cannot be created.
    pub async fn connect(config: &Config) -> Result<Self, ConnectError> {
        if config.books.is_empty() {
            return Ok(Self(vec![Function::connect(config).await?]));
        }
        let mut books = Vec::new();
        for book in &config.books {
            books.push(Function::connect(&config.of_book(book)).await?);
        }
        Ok(Self(books))
    }

    /// Handles an event before the deadline: see [`Function::handle`]. With several books, a command without a `book` is for all of them.
    ///
    /// # Errors
    /// If the event cannot be read or handled. What concerns other books is handled nevertheless.
    pub async fn handle(&self, event: Value, deadline: Deadline) -> Result<Value, HandlerError> {
        let Self(books) = self;
        if let [only] = books.as_slice() {
            return only.handle(event, deadline).await;
        }
        let named = event[BOOK].as_str().map(str::to_owned);
        match Event::try_from(event.clone())? {
            Event::Queue(messages) => self.serve_queue(&event, &messages, deadline).await,
            Event::Command(_) => self.command(&event, named.as_deref(), deadline).await,
            // Each book passes over the objects of others.
            Event::Objects(_) => self.all(&event, deadline).await,
            Event::Resource(request) => {
                let prepared = async {
                    let mut versions = Map::new();
                    for book in books {
                        versions.insert(book.name(), book.prepare().await?);
                    }
                    Ok(Value::Object(versions))
                };
                Box::pin(request.settle(deadline.bound(prepared))).await
            }
        }
    }

    /// Has a book run a command, or all of them.
    async fn command(
        &self,
        event: &Value,
        named: Option<&str>,
        deadline: Deadline,
    ) -> Result<Value, HandlerError> {
        let Some(named) = named else {
            return self.all(event, deadline).await;
        };
        let mut books = self.0.iter();
        match books.find(|book| book.name() == named) {
            Some(book) => book.handle(event.clone(), deadline).await,
            None => Err(HandlerError::UnknownBook(named.to_owned())),
        }
    }

    /// Has all books handle an event. Returns their answers by id.
    async fn all(&self, event: &Value, deadline: Deadline) -> Result<Value, HandlerError> {
        let mut answers = Map::new();
        let mut failed = None;
        for book in &self.0 {
            match book.handle(event.clone(), deadline).await {
                Ok(answer) => {
                    answers.insert(book.name(), answer);
                }
                Err(error) => {
                    tracing::error!(stage = "ingest", book = book.name(), error.kind = error.kind(), error = %error, "a book failed");
                    failed = failed.or(Some(error));
                }
            }
        }
        failed.map_or(Ok(Value::Object(answers)), Err)
    }

    /// Gives each book the messages that concern it, and returns all that failed. What concerns no book is done.
    async fn serve_queue(
        &self,
        event: &Value,
        messages: &[Message],
        deadline: Deadline,
    ) -> Result<Value, HandlerError> {
        let records = event["Records"]
            .as_array()
            .map_or(&[] as &[Value], Vec::as_slice);
        let mut failed = Vec::new();
        for (at, book) in self.0.iter().enumerate() {
            let is_first = at == 0;
            let own = records.iter().zip(messages);
            let own = own.filter(|(_, message)| book.is_concerned(message, is_first));
            let own: Vec<&Value> = own.map(|(record, _)| record).collect();
            if own.is_empty() {
                continue;
            }
            let answer = book.handle(json!({ "Records": own }), deadline).await?;
            let failures = answer["batchItemFailures"].as_array();
            failed.extend(failures.into_iter().flatten().cloned());
        }
        Ok(json!({ "batchItemFailures": failed }))
    }
}

impl Function {
    /// Returns the id of the book; empty if the deployment has only one.
    fn name(&self) -> String {
        self.book
            .as_ref()
            .map(BookId::to_string)
            .unwrap_or_default()
    }

    /// True if a message is about the book. The first book reports a message that cannot be read.
    fn is_concerned(&self, message: &Message, is_first: bool) -> bool {
        match message.request() {
            Ok(Request::Objects(objects)) => !self.ours(objects).is_empty(),
            Ok(Request::Command(_)) => message.book().is_none_or(|book| book == self.name()),
            Err(_) => is_first,
        }
    }
}
