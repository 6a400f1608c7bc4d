//! Limits how often a client may call each route, and how many requests are processed at once. Requests are counted in the catalog, or in this
//! process while it is unavailable.

mod places;
mod stand_in;
#[cfg(all(test, feature = "cloud"))]
#[expect(clippy::unwrap_used, reason = "a failed step fails its test")]
mod tests;

use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::book_view::Counted;
use super::envelope::failure;
use super::extract::{method_not_allowed, whole_body};
use super::observe::Observed;
use answer::error::{Error, ErrorKind};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use places::{Permits, Places};
use stand_in::StandIn;
use store::catalog::{Catalog, CatalogError, RateLimit, RatePermit};

/// The period of rate limits.
const PERIOD: Duration = Duration::from_mins(1);
/// Time limit for counting in the catalog, because every answer waits for it.
const STORE_DEADLINE: Duration = Duration::from_secs(1);
/// All addresses of an IPv6 network, which share 64 bits (RFC 7421), count as one client.
const IPV6_NETWORK: u128 = u128::MAX << 64;

/// The remaining requests and the policy that limits them (draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4).
pub(super) const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
pub(super) const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// The routes with a rate limit of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Questions.
    Chat,
    /// Searches.
    Search,
    /// Feedback on answers.
    Feedback,
    /// Messages of the Model Context Protocol.
    Mcp,
}

impl Route {
    /// Returns the route's name in its policy and in the catalog's keys.
    const fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Search => "search",
            Self::Feedback => "feedback",
            Self::Mcp => "mcp",
        }
    }

    /// Returns the word for the route's requests.
    const fn requests(self) -> &'static str {
        match self {
            Self::Chat => "questions",
            Self::Search => "searches",
            Self::Feedback => "judgements",
            Self::Mcp => "requests",
        }
    }
}

/// The most requests of a client in a minute, for each route, and the most requests processed at once. `None` means unlimited, 0 allows none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Questions.
    pub chat: Option<u32>,
    /// Searches.
    pub search: Option<u32>,
    /// Feedback on answers.
    pub feedback: Option<u32>,
    /// Messages of the Model Context Protocol. Questions among them also count as chat requests.
    pub mcp: Option<u32>,
    /// Requests of all clients processed at once.
    pub concurrent: Option<usize>,
}

/// Ten questions a minute. A search costs less, and the panel searches while a reader types. Coding agents work in parallel, and send several
/// messages to open a connection.
impl Default for Limits {
    fn default() -> Self {
        Self {
            chat: Some(10),
            search: Some(60),
            feedback: Some(10),
            mcp: Some(120),
            // Lambda sends an instance one request at a time.
            concurrent: None,
        }
    }
}

impl Limits {
    /// No limits.
    pub const NONE: Self = Self {
        chat: None,
        search: None,
        feedback: None,
        mcp: None,
        concurrent: None,
    };

    fn of(self, route: Route) -> Option<RateLimit> {
        let permits = match route {
            Route::Chat => self.chat,
            Route::Search => self.search,
            Route::Feedback => self.feedback,
            Route::Mcp => self.mcp,
        };
        permits.map(|permits| RateLimit {
            permits,
            period: PERIOD,
        })
    }
}

/// Counts the requests of clients; clones share the counts.
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
    /// The start of the fallback's clock.
    started: Instant,
}

impl Limiter {
    /// Creates a limiter that counts in this catalog.
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

    /// Counts a request of a client, identified by a hash because keys are stored. `None` if the route has no limit.
    ///
    /// If the catalog is unavailable or does not answer within a second, this process counts on its own, so that readers still get answers. A client
    /// then has the limit once for each instance; the API stage's throttle bounds the total.
    ///
    /// # Errors
    ///
    /// `RateLimited` with the time until the next request is allowed; `Unavailable` if the catalog cannot count.
    pub async fn acquire(
        &self,
        route: Route,
        client_key: &str,
    ) -> Result<Option<RatePermit>, Error> {
        let Some(limit) = self.counts.limits.of(route) else {
            return Ok(None);
        };
        let key = format!("{}:{client_key}", route.name());
        let permit = self.permit(key, limit).await?;
        if permit.allowed {
            return Ok(Some(permit));
        }
        let wait = whole_seconds(permit.reset).max(1);
        let unit = if wait == 1 { "second" } else { "seconds" };
        let message = format!(
            "too many {}, please wait {wait} {unit} before the next one",
            route.requests()
        );
        Err(Error::rate_limited(Duration::from_secs(wait), message))
    }

    /// Waits for a permit to process a client's request; `None` if the number is unlimited.
    ///
    /// # Errors
    ///
    /// `Unavailable` if too many requests wait, or the wait is too long.
    async fn enter(&self, client_key: &str) -> Result<Option<Permits<'_>>, Error> {
        match &self.counts.places {
            Some(places) => places.enter(client_key).await.map(Some),
            None => Ok(None),
        }
    }

    async fn permit(&self, key: String, limit: RateLimit) -> Result<RatePermit, Error> {
        let counted = self.counts.catalog.acquire(&key, limit);
        let reason = match tokio::time::timeout(STORE_DEADLINE, counted).await {
            Ok(Ok(permit)) => return Ok(permit),
            Ok(Err(error @ (CatalogError::Unavailable(_) | CatalogError::StorageFull { .. }))) => {
                error.to_string()
            }
            Ok(Err(error)) => return Err(Error::unavailable(error)),
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(
            stage = "limit",
            reason,
            "this instance counts requests alone"
        );
        let now = i64::try_from(self.counts.started.elapsed().as_micros()).unwrap_or(i64::MAX);
        let stand_in = self.counts.stand_in.lock();
        let mut stand_in = stand_in.unwrap_or_else(PoisonError::into_inner);
        Ok(stand_in.acquire(key, limit, now))
    }

    /// Returns the rate limit header fields; `None` without a limit, or if nothing was counted.
    fn fields(
        &self,
        route: Route,
        taken: &Result<Option<RatePermit>, Error>,
    ) -> Option<[(HeaderName, String); 2]> {
        let limit = self.counts.limits.of(route)?;
        let (remaining, next) = match taken {
            Ok(permit) => permit.map(|permit| (permit.remaining, until_one_more(limit, permit)))?,
            Err(error) if error.kind == ErrorKind::RateLimited => (0, error.retry_after?),
            Err(_) => return None,
        };
        let (name, permits, period) = (route.name(), limit.permits, limit.period.as_secs());
        let next = whole_seconds(next);
        Some([
            (
                RATE_LIMIT_POLICY,
                format!("\"{name}\";q={permits};w={period}"),
            ),
            (RATE_LIMIT, format!("\"{name}\";r={remaining};t={next}")),
        ])
    }
}

/// Returns the time until a client's remaining requests increase by one. `reset` is the time until all are restored.
fn until_one_more(limit: RateLimit, given: RatePermit) -> Duration {
    let permits = limit.permits.max(1);
    let others = permits.saturating_sub(given.remaining.saturating_add(1));
    let interval = (limit.period.as_micros() / u128::from(permits)).max(1) * u128::from(others);
    let interval = Duration::from_micros(u64::try_from(interval).unwrap_or(u64::MAX));
    given.reset.saturating_sub(interval)
}

/// Returns seconds, rounded up so that no client retries too early.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs() + u64::from(time.subsec_nanos() > 0)
}

/// The state that [`limit`] needs for a route.
#[derive(Clone)]
pub struct LimitedRoute {
    limiter: Limiter,
    route: Route,
    client_key: Arc<dyn Fn(&Request) -> String + Send + Sync>,
}

impl LimitedRoute {
    /// Creates the state of a route. `client_key` identifies a client by a hash (see [`Limiter::acquire`]) of the [`client_network`] of its
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

/// Middleware for one route: counts the request, reads its body, waits for a permit, and adds the rate limit headers. `OPTIONS` is exempt.
///
/// The body is read whole before a permit is taken, so that a client which sends slowly keeps nobody waiting. The permit is held until the answer
/// begins: the search is done by then, and streaming costs microseconds for each token.
///
/// `HEAD` is refused, because it would cost as much as `GET` without being counted.
pub async fn limit(State(limited): State<LimitedRoute>, request: Request, next: Next) -> Response {
    match *request.method() {
        Method::OPTIONS => return next.run(request).await,
        Method::HEAD => return method_not_allowed(request).await,
        _ => {}
    }
    let LimitedRoute { limiter, route, .. } = &limited;
    let client_key = (limited.client_key)(&request);
    let observed = Observed::from_request(&request);
    let taken = match request.extensions().get() {
        Some(Counted) => Ok(None),
        None => limiter.acquire(*route, &client_key).await,
    };
    let mut response = match &taken {
        Ok(_) => admitted(limiter, &client_key, request, next)
            .await
            .unwrap_or_else(|error| failure(&error, &observed.request_id)),
        Err(error) => failure(error, &observed.request_id),
    };
    for (name, value) in limiter.fields(*route, &taken).into_iter().flatten() {
        let value = HeaderValue::try_from(value).expect("names and digits are visible ASCII");
        response.headers_mut().insert(name, value);
    }
    response
}

/// Reads a request's body, waits for a permit, and processes the request.
async fn admitted(
    limiter: &Limiter,
    client_key: &str,
    request: Request,
    next: Next,
) -> Result<Response, Error> {
    let (head, body) = request.into_parts();
    let body = whole_body(body).await?;
    let _permits = limiter.enter(client_key).await?;
    Ok(next.run(Request::from_parts(head, Body::from(body))).await)
}

/// Returns the key for counting a client: its IPv4 address, or the network of its IPv6 address. Other text stays unchanged.
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
