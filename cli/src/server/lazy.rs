//! A book's server, which is opened when it is first needed.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use bookrag::books::OpenBook;
use bookrag::catalog::{IndexStats, Indexing};
use futures::future::BoxFuture;
use tokio::sync::Mutex;

use super::library::contents;
use super::{Server, router};
use crate::local::LocalError;

/// How long a book stays open after a reader asked it.
const IDLE: Duration = Duration::from_hours(1);

/// Opens the stores of a book.
pub(crate) type Opening =
    Box<dyn Fn() -> BoxFuture<'static, Result<Server, LocalError>> + Send + Sync>;

/// A book's server, opened when it is first needed.
pub(crate) struct LazyServer {
    opening: Opening,
    listening: SocketAddr,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Opened>,
    /// When a reader last asked the book.
    asked: Option<Instant>,
    /// What the book had when it was closed.
    contents: IndexStats,
}

/// A server whose stores are open.
#[derive(Clone)]
struct Opened {
    server: Arc<Server>,
    routes: Router,
}

impl fmt::Debug for LazyServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LazyServer").finish_non_exhaustive()
    }
}

impl LazyServer {
    pub(crate) fn new(listening: SocketAddr, opening: Opening) -> Self {
        Self {
            opening,
            listening,
            state: Mutex::default(),
        }
    }

    /// Returns the server, for work that no reader waits for.
    pub(crate) async fn server(&self) -> Result<Arc<Server>, LocalError> {
        let mut state = self.state.lock().await;
        Ok(self.opened(&mut state).await?.server)
    }

    /// Returns the server and the routes of the book for a reader.
    pub(crate) async fn asked(&self) -> Result<(Arc<Server>, Router), LocalError> {
        let mut state = self.state.lock().await;
        state.asked = Some(Instant::now());
        let Opened { server, routes } = self.opened(&mut state).await?;
        Ok((server, routes))
    }

    async fn opened(&self, state: &mut State) -> Result<Opened, LocalError> {
        if let Some(opened) = &state.current {
            return Ok(opened.clone());
        }
        let server = Arc::new((self.opening)().await?);
        let opened = Opened {
            routes: router(Arc::clone(&server), self.listening),
            server,
        };
        Ok(state.current.insert(opened).clone())
    }

    /// Returns the book if it is open.
    pub(crate) fn current(&self) -> Option<OpenBook> {
        let state = self.state.try_lock().ok()?;
        let Opened { server, routes } = state.current.clone()?;
        Some(OpenBook {
            context: Arc::clone(&server.context),
            routes,
        })
    }

    /// Returns the server if it is open.
    pub(super) fn open_server(&self) -> Option<Arc<Server>> {
        let state = self.state.try_lock().ok()?;
        let opened = state.current.as_ref()?;
        Some(Arc::clone(&opened.server))
    }

    /// Returns what can be found in the book, and the progress of its first indexing.
    pub(super) async fn contents(&self) -> (IndexStats, Option<Indexing>) {
        let state = self.state.lock().await;
        match state.current.clone() {
            Some(Opened { server, .. }) => {
                drop(state);
                contents(&server).await
            }
            None => (state.contents.clone(), None),
        }
    }

    /// True while a run is indexing the book or waits for its turn.
    pub(crate) fn is_indexing(&self) -> bool {
        let server = self.open_server();
        server.is_some_and(|server| server.is_indexing())
    }

    /// Closes the stores unless a reader asked the book within the last hour, or a run needs them.
    pub(crate) async fn close_unless_asked(&self) {
        let mut state = self.state.lock().await;
        if state.asked.is_some_and(|asked| asked.elapsed() < IDLE) {
            return;
        }
        if let Some(Opened { server, .. }) = state.current.clone()
            && !server.is_indexing()
        {
            state.contents = contents(&server).await.0;
            state.current = None;
        }
    }
}
