//! The books of a server: their sites, their stores, and what keeps them up to date.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bookrag::api::Authorizer;
use bookrag::books::BookId;
use bookrag::config::Config;
use bookrag::context::{StartError, question_writer};
use bookrag::ingest::OpenMode;
use futures::FutureExt as _;
use tokio::sync::{Mutex, MutexGuard, OnceCell};

use super::super::watch::{Watch, watched_folders};
use super::super::written::write_questions;
use super::super::{CommandError, Exit, Output, output};
use super::follower::Follower;
use super::{FORGET_EVERY, ServeArguments, current_folder, forget, forget_hourly};
use crate::local::{BookFolder, LocalBook, LocalError, Models, config_for, open_catalog};
use crate::running::Hold;
use crate::server::{LazyServer, Server, ShownBook, turn};
use crate::site::Site;

/// The id of the book of a site without a usable title.
const UNTITLED: &str = "docs";

/// A site to serve.
pub(super) struct NamedSite {
    site: Site,
    /// Its book, if the server has several.
    book: Option<NamedBook>,
}

/// A book of several, as its settings describe it.
struct NamedBook {
    id: BookId,
    title: String,
    math: bool,
}

/// Returns the sites to serve.
pub(super) async fn sites(arguments: &ServeArguments) -> Result<Vec<NamedSite>, CommandError> {
    let is_alone = arguments.sites.len() < 2;
    let mut sites: Vec<NamedSite> = Vec::new();
    if arguments.sites.is_empty() {
        let site = site(current_folder()?, arguments)?;
        sites.push(NamedSite { site, book: None });
    }
    for typed in &arguments.sites {
        let (id, path) = typed_book(typed);
        let site = site(&path, arguments)?;
        if is_alone {
            sites.push(NamedSite { site, book: None });
            continue;
        }
        let book = NamedBook::read(id, &site).await?;
        if sites.iter().any(|other| other.id() == Some(&book.id)) {
            return Err(CommandError::Usage(format!(
                "two books would be called `{}`; name one: serve NAME={}",
                book.id,
                path.display()
            )));
        }
        sites.push(NamedSite {
            site,
            book: Some(book),
        });
    }
    if !is_alone && arguments.site_url.is_some() {
        let message = "--site-url is for a single site";
        return Err(CommandError::Usage(message.to_owned()));
    }
    Ok(sites)
}

/// Splits `ID=SITE`. A folder may have such a name, too.
fn typed_book(typed: &Path) -> (Option<BookId>, PathBuf) {
    let named = typed.to_str().and_then(|text| text.split_once('='));
    match named.map(|(id, path)| (id.parse::<BookId>(), path)) {
        Some((Ok(id), path)) if !typed.exists() => (Some(id), PathBuf::from(path)),
        _ => (None, typed.to_owned()),
    }
}

fn site(path: &Path, arguments: &ServeArguments) -> Result<Site, CommandError> {
    let site = arguments.build.site(path)?;
    if arguments.watch && site.folder().is_none() {
        return Err(CommandError::Usage(
            "only a folder can be watched; a bucket tells the ingest function of its changes"
                .to_owned(),
        ));
    }
    Ok(site)
}

impl NamedSite {
    fn id(&self) -> Option<&BookId> {
        self.book.as_ref().map(|book| &book.id)
    }
}

impl NamedBook {
    /// Reads the settings of a site. Without an id, the title suggests one, else the name of the folder.
    async fn read(id: Option<BookId>, site: &Site) -> Result<Self, CommandError> {
        let (_, settings) = site.opened().await?;
        let of_title = settings.title.as_deref().and_then(BookId::suggested_by);
        let suggested = of_title.or_else(|| BookId::suggested_by(&site.name()));
        let id = id.or(suggested);
        Ok(Self {
            id: id.unwrap_or_else(|| UNTITLED.parse().expect("a word is an id")),
            title: settings.title.unwrap_or_else(|| site.name()),
            math: settings.math,
        })
    }
}

/// The books beyond this number are closed after each work on their index, unless a reader has asked them.
const OPEN_BOOKS: usize = 50;

/// The delay before one of several books that could not be opened is opened again: that of failed runs.
const REOPEN_AFTER: Duration = Duration::from_secs(15);

/// A book that is served.
pub(super) struct ServedBook {
    book: Option<NamedBook>,
    stores: Arc<Stores>,
    pub(super) server: Arc<LazyServer>,
    /// Where the book is asked.
    address: String,
    authorizer: Option<Authorizer>,
    /// True if the book may be closed while nobody asks it.
    may_rest: bool,
    /// Keeps other servers from using the stores.
    _hold: Hold,
}

/// What the stores of a book are opened from.
struct Stores {
    site: Site,
    folder: BookFolder,
    /// The configuration of the process.
    config: Config,
    /// That of the book, read when its stores are first opened.
    own: OnceCell<Config>,
    models: Arc<Mutex<Models>>,
    site_url: Option<String>,
    secret: String,
    place: String,
}

impl Stores {
    async fn open(&self) -> Result<Server, LocalError> {
        let config = self.own.get_or_try_init(|| self.own_config()).await?;
        let book = LocalBook::open_with(config, &self.folder, &self.models, output::status).await?;
        let ingest = book.ingest(config, &self.site, OpenMode::TakeOver).await?;
        Ok(Server::new(
            book.context,
            ingest,
            self.site_url.clone(),
            self.secret.clone(),
            self.place.clone(),
        ))
    }

    async fn own_config(&self) -> Result<Config, LocalError> {
        if let Some(note) = self.site.note().await? {
            output::status(&note);
        }
        config_for(&self.config, &self.site).await
    }
}

impl ServedBook {
    /// Prepares the book of a site to be opened, as the book with this number, and announces that it is served at an address.
    pub(super) fn prepare(
        config: &Config,
        NamedSite { site, book }: NamedSite,
        number: usize,
        address: SocketAddr,
        arguments: &ServeArguments,
        models: &Arc<Mutex<Models>>,
    ) -> Result<Self, CommandError> {
        if book.is_some() && config.database_url.is_some() {
            let message = "several books have local stores; remove DATABASE_URL and QDRANT_URL";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let folder = BookFolder::create(config, &site, output::status)?;
        let hold = Hold::take(&folder)?;
        let id = book.as_ref().map(|book| &book.id);
        let place = id.map(|id| format!("/books/{id}")).unwrap_or_default();
        let asked_at = match id {
            Some(id) => format!("http://{address}/?books={id}"),
            None => format!("http://{address}/"),
        };
        let secret = hold.announce(format!("http://{address}{place}"))?;
        let authorizer = config.auth.check().map_err(StartError::Auth);
        let has_writer = question_writer(config)
            .map_err(StartError::Generate)
            .map_err(LocalError::from)?
            .is_some();
        let stores = Arc::new(Stores {
            site,
            folder,
            config: config.clone(),
            own: OnceCell::new(),
            models: Arc::clone(models),
            site_url: arguments.site_url.clone(),
            secret,
            place,
        });
        let opened = Arc::clone(&stores);
        let opening = Box::new(move || {
            let stores = Arc::clone(&opened);
            async move { stores.open().await }.boxed()
        });
        Ok(Self {
            may_rest: number >= OPEN_BOOKS && !arguments.watch && !has_writer,
            book,
            stores,
            server: Arc::new(LazyServer::new(address, opening)),
            address: asked_at,
            authorizer: authorizer.map_err(LocalError::from)?,
            _hold: hold,
        })
    }

    /// Returns the book as one of several.
    pub(super) fn shown(&self) -> ShownBook {
        let book = self.book.as_ref();
        let NamedBook { id, title, math } = book.expect("each of several books has an id");
        ShownBook {
            id: id.clone(),
            title: title.clone(),
            math: *math,
            origins: self.stores.config.origins.clone(),
            authorizer: self.authorizer.clone(),
            server: Arc::clone(&self.server),
        }
    }

    /// Returns the folder of the book's stores.
    pub(super) fn folder(&self) -> &BookFolder {
        &self.stores.folder
    }

    /// Keeps the book's index, its questions and its conversations up to date, when it is its turn. Returns only if its first run fails permanently,
    /// or if the only book cannot be opened.
    pub(super) async fn follow(
        &self,
        arguments: &ServeArguments,
        output: Output,
    ) -> Result<Exit, CommandError> {
        let (server, turn) = self.opened(output).await?;
        let build = self.stores.site.named_build();
        let mut follower = Follower::new(&server, build, arguments.options, output);
        follower.may_rest = self.may_rest;
        if arguments.watch {
            let ingest = server.ingest.lock().await;
            let folders = watched_folders(&ingest, build).await;
            drop(ingest);
            let folders = folders.map_err(LocalError::from)?;
            // Before the first sync, so that changes during it are noticed.
            follower.watch = Some(Watch::start(folders, &self.stores.folder.path)?);
        }
        let config = self.stores.own.get().unwrap_or(&self.stores.config);
        let writer = question_writer(config).map_err(StartError::Generate);
        let writer = writer.map_err(LocalError::from)?;
        let followed = tokio::select! {
            followed = follower.run(&self.address, turn) => followed?,
            never = Box::pin(write_questions(&server, writer)) => match never {},
            never = forget_hourly(server.catalog(), config.retention) => match never {},
        };
        drop(server);
        match followed {
            Some(exit) => Ok(exit),
            None => match self.rest(config.retention).await {},
        }
    }

    /// Opens the book when it is its turn, which is returned, too. One of several books that cannot be opened is reported and tried again later,
    /// because the others go on.
    async fn opened(
        &self,
        output: Output,
    ) -> Result<(Arc<Server>, MutexGuard<'static, ()>), CommandError> {
        let mut told = String::new();
        loop {
            let turn = turn().await;
            let failure = match (self.server.server().await, &self.book) {
                (Ok(server), _) => return Ok((server, turn)),
                (Err(error), None) => return Err(error.into()),
                (Err(error), Some(book)) => {
                    format!("the book `{}` cannot be opened: {error}", book.id)
                }
            };
            drop(turn);
            if told != failure {
                output::failure(&failure, output);
            }
            told = failure;
            tokio::time::sleep(REOPEN_AFTER).await;
        }
    }

    /// Closes the book while nobody asks it, and deletes each hour what expired. This opens the catalog alone, so that it needs no files of the site.
    async fn rest(&self, retention: Option<Duration>) -> Infallible {
        let Stores { folder, config, .. } = &*self.stores;
        loop {
            self.server.close_unless_asked().await;
            tokio::time::sleep(FORGET_EVERY).await;
            // Opening would create a store that somebody deleted.
            if !folder.has_store() {
                continue;
            }
            let _turn = turn().await;
            match open_catalog(config, || Ok(folder.clone())).await {
                Ok(catalog) => forget(&catalog, retention).await,
                Err(error) => output::status(&format!("what expired is not deleted yet: {error}")),
            }
        }
    }
}
