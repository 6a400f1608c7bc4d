//! How often a client may ask, route by route, and how many requests are worked on at once: turns are counted in the catalog,
//! and here while that is away.

mod places;
mod stand_in;
#[cfg(test)]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use tokio::sync::SemaphorePermit;

use super::envelope::failure;
use super::extract::method_not_allowed;
use super::observe::Observed;
use crate::catalog::{Catalog, CatalogError, Turn, TurnLimit};
use crate::error::{Error, ErrorKind};
use places::Places;
use stand_in::StandIn;

/// What limits are counted in.
const PERIOD: Duration = Duration::from_mins(1);
/// How long the catalog may take to count a turn: a reader waits for it before every answer.
const STORE_DEADLINE: Duration = Duration::from_secs(1);
/// A client with an IPv6 address has all of its network's, which share 64 bits (RFC 7421).
const IPV6_NETWORK: u128 = u128::MAX << 64;

/// What a client may do now, and by which rule. Source: draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4.
pub(super) const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(super) const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The routes that are limited, each by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Questions.
    Chat,
    /// Searches.
    Search,
    /// Judgements of answers.
    Feedback,
    /// Messages of the Model Context Protocol.
    Mcp,
}

impl Route {
    /// The name of its policy, and of its keys in the catalog.
    const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Search => "search",
            Self::Feedback => "feedback",
            Self::Mcp => "mcp",
        }
    }

    /// What came too often.
    const fn requests(self) -> &'static str {
        match self {
            Self::Chat => "questions",
            Self::Search => "searches",
            Self::Feedback => "judgements",
            Self::Mcp => "requests",
        }
    }
}

/// How many requests a client may make in a minute, by route, and how many all may make at once; `None` for as many as they
/// like, 0 for none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Questions.
    pub chat: Option<u32>,
    /// Searches.
    pub search: Option<u32>,
    /// Judgements of answers.
    pub feedback: Option<u32>,
    /// Messages of the Model Context Protocol. Its questions count as questions, too.
    pub mcp: Option<u32>,
    /// Requests of all clients that are worked on at once.
    pub concurrent: Option<usize>,
}

/// Ten questions a minute. A search costs less, and the panel searches while a reader types. Coding agents work in parallel, and open
/// a connection with several messages.
impl Default for Limits {
    fn default() -> Self {
        Self {
            chat: Some(10),
            search: Some(60),
            feedback: Some(10),
            mcp: Some(120),
            // An instance of a function is given one request at a time.
            concurrent: None,
        }
    }
}

impl Limits {
    /// No limit on any route.
    pub const NONE: Self = Self {
        chat: None,
        search: None,
        feedback: None,
        mcp: None,
        concurrent: None,
    };

    fn of(self, route: Route) -> Option<TurnLimit> {
        let turns = match route {
            Route::Chat => self.chat,
            Route::Search => self.search,
            Route::Feedback => self.feedback,
            Route::Mcp => self.mcp,
        };
        turns.map(|turns| TurnLimit {
            turns,
            period: PERIOD,
        })
    }
}

/// Counts the turns of clients; clones count together.
#[derive(Debug, Clone)]
pub struct Limiter {
    counts: Arc<Counts>,
}

#[derive(Debug)]
struct Counts {
    catalog: Catalog,
    limits: Limits,
    places: Option<Places>,
    stand_in: Mutex<StandIn>,
    /// The stand-in's clock begins here.
    started: Instant,
}

impl Limiter {
    /// A limiter that counts in this catalog.
    #[must_use]
    pub fn new(catalog: Catalog, limits: Limits) -> Self {
        Self {
            counts: Arc::new(Counts {
                catalog,
                limits,
                places: limits.concurrent.map(Places::new),
                stand_in: Mutex::default(),
                started: Instant::now(),
            }),
        }
    }

    /// Takes a turn of a client, who is told by a hash: keys are stored. `None` when the route has no limit.
    ///
    /// When the catalog is out of reach, or has not answered within a second, this process counts by itself. Readers get
    /// their answers then, and a client gets as many turns as there are instances: the throttle of the stage, in front of
    /// all of them, stands in the way of more.
    ///
    /// # Errors
    ///
    /// `RateLimited` when it has no turn, with the time until it has; `Unavailable` when the catalog cannot count.
    pub async fn take(&self, route: Route, client_key: &str) -> Result<Option<Turn>, Error> {
        let Some(limit) = self.counts.limits.of(route) else {
            return Ok(None);
        };
        let key = format!("{}:{client_key}", route.name());
        let turn = self.turn(key, limit).await?;
        if turn.allowed {
            return Ok(Some(turn));
        }
        let wait = whole_seconds(turn.reset).max(1);
        let unit = if wait == 1 { "second" } else { "seconds" };
        let message = format!(
            "too many {}, please wait {wait} {unit} before the next one",
            route.requests()
        );
        Err(Error::rate_limited(Duration::from_secs(wait), message))
    }

    /// Waits for one of the places of requests that are worked on. `None` where their number has no bound.
    ///
    /// # Errors
    ///
    /// `Unavailable` when too many wait, or one would wait too long.
    async fn enter(&self) -> Result<Option<SemaphorePermit<'_>>, Error> {
        match &self.counts.places {
            Some(places) => places.enter().await.map(Some),
            None => Ok(None),
        }
    }

    async fn turn(&self, key: String, limit: TurnLimit) -> Result<Turn, Error> {
        let counted = self.counts.catalog.take_turn(&key, limit);
        let reason = match tokio::time::timeout(STORE_DEADLINE, counted).await {
            Ok(Ok(turn)) => return Ok(turn),
            Ok(Err(error @ (CatalogError::Unavailable(_) | CatalogError::StorageFull { .. }))) => {
                error.to_string()
            }
            Ok(Err(error)) => return Err(Error::unavailable(error)),
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(stage = "limit", reason, "this instance counts by itself");
        let now = i64::try_from(self.counts.started.elapsed().as_micros()).unwrap_or(i64::MAX);
        let stand_in = self.counts.stand_in.lock();
        let mut stand_in = stand_in.unwrap_or_else(PoisonError::into_inner);
        Ok(stand_in.take(key, limit, now))
    }

    /// The header fields that tell a client where it stands; `None` without a limit, or when nothing was counted.
    fn fields(
        &self,
        route: Route,
        taken: &Result<Option<Turn>, Error>,
    ) -> Option<[(HeaderName, String); 2]> {
        let limit = self.counts.limits.of(route)?;
        let (remaining, next) = match taken {
            Ok(turn) => turn.map(|turn| (turn.remaining, until_one_more(limit, turn)))?,
            Err(error) if error.kind == ErrorKind::RateLimited => (0, error.retry_after?),
            Err(_) => return None,
        };
        let (name, turns, period) = (route.name(), limit.turns, limit.period.as_secs());
        let next = whole_seconds(next);
        Some([
            (
                RATE_LIMIT_POLICY,
                format!("\"{name}\";q={turns};w={period}"),
            ),
            (RATE_LIMIT, format!("\"{name}\";r={remaining};t={next}")),
        ])
    }
}

/// The time until a client that was given a turn has one more than now. Its `reset` is when all are back, one by one.
fn until_one_more(limit: TurnLimit, given: Turn) -> Duration {
    let turns = limit.turns.max(1);
    let others = turns.saturating_sub(given.remaining.saturating_add(1));
    let interval = (limit.period.as_micros() / u128::from(turns)).max(1) * u128::from(others);
    let interval = Duration::from_micros(u64::try_from(interval).unwrap_or(u64::MAX));
    given.reset.saturating_sub(interval)
}

/// Seconds, rounded up: nobody is told to come too early.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// What [`limit`] needs to know of a route.
#[derive(Clone)]
pub struct LimitedRoute {
    limiter: Limiter,
    route: Route,
    client_key: Arc<dyn Fn(&Request) -> String + Send + Sync>,
}

impl LimitedRoute {
    /// A route whose clients are told apart by `client_key`: a hash, see [`Limiter::take`], of the [`client_network`] of a
    /// [`client_address`](super::client_address).
    pub fn new(
        limiter: Limiter,
        route: Route,
        client_key: impl Fn(&Request) -> String + Send + Sync + 'static,
    ) -> Self {
        Self {
            limiter,
            route,
            client_key: Arc::new(client_key),
        }
    }
}

impl fmt::Debug for LimitedRoute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LimitedRoute").field(&self.route).finish()
    }
}

/// Middleware of one route: a request waits for a place and takes a turn, and its answer says how many turns are left. `OPTIONS`
/// needs neither.
///
/// A place is held until the answer begins: by then the searching is done, and what is streamed costs microseconds a token.
///
/// `HEAD` takes none either, hence it is refused: it would cost what `GET` costs.
pub async fn limit(State(limited): State<LimitedRoute>, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::OPTIONS => return next.run(request).await,
        Method::HEAD => return method_not_allowed(request).await,
        _ => {}
    }
    let LimitedRoute { limiter, route, .. } = &limited;
    let client_key = (limited.client_key)(&request);
    let observed = Observed::of(&request);
    let _place = match limiter.enter().await {
        Ok(place) => place,
        Err(overloaded) => return failure(&overloaded, &observed.request_id),
    };
    let taken = limiter.take(*route, &client_key).await;
    let mut response = match &taken {
        Ok(_) => next.run(request).await,
        Err(error) => failure(error, &observed.request_id),
    };
    for (name, value) in limiter.fields(*route, &taken).into_iter().flatten() {
        let value = HeaderValue::try_from(value).expect("names and digits are visible ASCII");
        response.headers_mut().insert(name, value);
    }
    response
}

/// What a client's turns are counted by: its IPv4 address, or the network of its IPv6 address, of which it has them all.
/// What is no address stays as it is.
#[must_use]
pub fn client_network(address: &str) -> String {
    match address
        .parse::<IpAddr>()
        .map(|address| address.to_canonical())
    {
        Ok(IpAddr::V4(address)) => address.to_string(),
        Ok(IpAddr::V6(address)) => {
            format!(
                "{}/64",
                Ipv6Addr::from_bits(address.to_bits() & IPV6_NETWORK)
            )
        }
        Err(_) => address.to_owned(),
    }
}
