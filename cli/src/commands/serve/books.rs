//! The books of a server: their sites, their stores, and what keeps them up to date.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bookrag::books::BookId;
use bookrag::config::Config;
use bookrag::context::{StartError, question_writer};
use bookrag::ingest::OpenMode;
use bookrag::question_writer::QuestionWriter;

use super::super::watch::{Watch, watched_folders};
use super::super::written::write_questions;
use super::super::{CommandError, Exit, Output, output};
use super::follower::Follower;
use super::{ServeArguments, current_folder, forget_hourly};
use crate::local::{BookFolder, LocalBook, LocalError, Models, config_for};
use crate::running::Hold;
use crate::server::{Server, ShownBook};
use crate::site::Site;

/// The id of the book of a site without a usable title.
const UNTITLED: &str = "docs";

/// A site to serve.
pub(super) struct NamedSite {
    site: Site,
    /// The id of its book, if the server has several.
    id: Option<BookId>,
}

/// Returns the sites to serve.
pub(super) async fn sites(arguments: &ServeArguments) -> Result<Vec<NamedSite>, CommandError> {
    let is_alone = arguments.sites.len() < 2;
    let mut sites: Vec<NamedSite> = Vec::new();
    if arguments.sites.is_empty() {
        let site = site(current_folder()?, arguments)?;
        sites.push(NamedSite { site, id: None });
    }
    for typed in &arguments.sites {
        let (id, path) = typed_book(typed);
        let site = site(&path, arguments)?;
        let id = match id {
            _ if is_alone => None,
            Some(id) => Some(id),
            None => Some(suggested_id(&site).await?),
        };
        if let Some(id) = &id
            && sites.iter().any(|other| other.id.as_ref() == Some(id))
        {
            return Err(CommandError::Usage(format!(
                "two books would be called `{id}`; name one: serve NAME={}",
                path.display()
            )));
        }
        sites.push(NamedSite { site, id });
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

/// Returns the id that the title of a site suggests, else the name of its folder.
async fn suggested_id(site: &Site) -> Result<BookId, CommandError> {
    let settings = site.source().await?.settings().await?;
    let of_title = settings.title.as_deref().and_then(BookId::suggested_by);
    let suggested = of_title.or_else(|| BookId::suggested_by(&site.name()));
    Ok(suggested.unwrap_or_else(|| UNTITLED.parse().expect("a word is an id")))
}

/// A book that is served.
pub(super) struct ServedBook {
    id: Option<BookId>,
    site: Site,
    config: Config,
    pub(super) folder: BookFolder,
    pub(super) server: Arc<Server>,
    /// Where the book is asked.
    address: String,
    writer: Option<QuestionWriter>,
    watch: Option<Watch>,
    /// Keeps other servers from using the stores.
    _hold: Hold,
}

impl ServedBook {
    /// Opens the stores of a site, and announces that its book is served at an address.
    pub(super) async fn open(
        config: &Config,
        NamedSite { site, id }: NamedSite,
        address: SocketAddr,
        arguments: &ServeArguments,
        models: &mut Models,
    ) -> Result<Self, CommandError> {
        if let Some(note) = site.note().await? {
            output::status(&note);
        }
        if id.is_some() && config.database_url.is_some() {
            let message = "several books have local stores; remove DATABASE_URL and QDRANT_URL";
            return Err(CommandError::Usage(message.to_owned()));
        }
        let config = config_for(config, &site).await?;
        let folder = BookFolder::create(&config, &site, output::status)?;
        let hold = Hold::take(&folder)?;
        let book = LocalBook::open_with(&config, &folder, models, output::status).await?;
        let ingest = book.ingest(&config, &site, OpenMode::TakeOver).await?;
        let folders = watched_folders(&ingest, site.named_build()).await;
        let folders = folders.map_err(LocalError::from)?;
        let place = id.as_ref().map(|id| format!("/books/{id}"));
        let place = place.unwrap_or_default();
        let secret = hold.announce(format!("http://{address}{place}"))?;
        let writer = question_writer(&config).map_err(StartError::Generate);
        let writer = writer.map_err(LocalError::from)?;
        let site_url = arguments.site_url.clone();
        let server = Server::new(book.context, ingest, site_url, secret, place);
        // Before the first sync, so that changes during it are noticed.
        let watch = if arguments.watch {
            Some(Watch::start(folders, &folder.path)?)
        } else {
            None
        };
        let asked_at = match &id {
            Some(id) => format!("http://{address}/?books={id}"),
            None => format!("http://{address}/"),
        };
        Ok(Self {
            id,
            site,
            config,
            folder,
            server: Arc::new(server),
            address: asked_at,
            writer,
            watch,
            _hold: hold,
        })
    }

    /// Returns the book as one of several.
    pub(super) fn shown(&self) -> ShownBook {
        ShownBook {
            id: self.id.clone().expect("each of several books has an id"),
            server: Arc::clone(&self.server),
        }
    }

    /// Keeps the book's index, its questions and its conversations up to date. Returns only if its first run fails permanently.
    pub(super) async fn follow(
        &mut self,
        arguments: &ServeArguments,
        output: Output,
    ) -> Result<Exit, CommandError> {
        let build = self.site.named_build();
        let options = arguments.options;
        let mut follower = Follower::new(&self.server, build, options, output);
        follower.watch = self.watch.take();
        tokio::select! {
            outcome = follower.run(&self.address) => outcome,
            never = Box::pin(write_questions(&self.server, self.writer.take())) => match never {},
            never = forget_hourly(self.server.catalog(), self.config.retention) => match never {},
        }
    }
}
