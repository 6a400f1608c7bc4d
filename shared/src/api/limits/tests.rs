use std::task::Poll;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::RETRY_AFTER;
use axum::http::{Request, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use proptest::prelude::*;
use secrecy::SecretString;
use serde_json::Value;
use tokio::net::TcpListener;
use tower::ServiceExt;

use super::*;
use crate::api::{Origins, cors};
use store::catalog::{PostgresCatalog, PostgresOptions, TlsOptions};

/// Returns a catalog that never responds.
fn away(port: u16) -> Catalog {
    let options = PostgresOptions {
        url: SecretString::from(format!(
            "postgres://nobody@127.0.0.1:{port}/none?sslmode=disable"
        )),
        direct_url: None,
        tls: TlsOptions::default(),
        statement_timeout: PERIOD,
        connect_timeout: PERIOD,
        pool_size: 1,
    };
    Catalog::Postgres(PostgresCatalog::new(options).unwrap())
}

/// Returns a catalog whose address refuses connections, because its port was just freed.
async fn refusing() -> Catalog {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    away(listener.local_addr().unwrap().port())
}

fn limits(permits: u32) -> Limits {
    Limits {
        chat: Some(permits),
        search: Some(60),
        feedback: None,
        mcp: None,
        concurrent: None,
    }
}

/// Returns the routes as a function mounts them; a header identifies the client.
fn routes(limiter: &Limiter) -> Router {
    let limited = |route| {
        let client_key = |request: &Request<Body>| {
            let client = request.headers().get("client");
            client.map_or_else(String::new, |client| client.to_str().unwrap().to_owned())
        };
        let state = LimitedRoute::new(limiter.clone(), route, client_key);
        from_fn_with_state(state, limit)
    };
    Router::new()
        .route(
            "/chat",
            post(async || "an answer").route_layer(limited(Route::Chat)),
        )
        .route(
            "/query",
            post(async || "an answer").route_layer(limited(Route::Chat)),
        )
        .route(
            "/search",
            get(async || "results").route_layer(limited(Route::Search)),
        )
        .route(
            "/feedback",
            post(async || "thanks").route_layer(limited(Route::Feedback)),
        )
        .method_not_allowed_fallback(method_not_allowed)
        .layer(cors(Origins::new(&["https://book.example".to_owned()])))
}

async fn send(limiter: &Limiter, client: &str, method: Method, path: &str) -> Response {
    send_body(limiter, client, method, path, Body::empty()).await
}

async fn send_body(
    limiter: &Limiter,
    client: &str,
    method: Method,
    path: &str,
    body: Body,
) -> Response {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("client", client)
        .header("origin", "https://book.example");
    let request = request.body(body).unwrap();
    routes(limiter).oneshot(request).await.unwrap()
}

async fn ask(limiter: &Limiter, client: &str) -> Response {
    send(limiter, client, Method::POST, "/chat").await
}

fn field<'a>(response: &'a Response, name: &HeaderName) -> &'a str {
    let value = response.headers().get(name);
    value.map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn answers_say_what_is_left_and_refusals_when_to_come_again() {
    let limiter = Limiter::new(refusing().await, limits(2));
    for left in ["\"chat\";r=1;t=30", "\"chat\";r=0;t=30"] {
        let response = ask(&limiter, "a").await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(field(&response, &RATE_LIMIT_POLICY), "\"chat\";q=2;w=60");
        assert_eq!(field(&response, &RATE_LIMIT), left);
        let exposed = field(
            &response,
            &axum::http::header::ACCESS_CONTROL_EXPOSE_HEADERS,
        );
        assert_eq!(
            exposed,
            "retry-after,ratelimit,ratelimit-policy,x-conversation-id"
        );
    }
    let response = ask(&limiter, "a").await;
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(field(&response, &RATE_LIMIT_POLICY), "\"chat\";q=2;w=60");
    assert_eq!(field(&response, &RATE_LIMIT), "\"chat\";r=0;t=30");
    assert_eq!(field(&response, &RETRY_AFTER), "30");
    let body = to_bytes(response.into_body(), 10_000).await.unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let error = &body["error"];
    assert_eq!(error["code"], "rate_limited");
    assert_eq!(error["retry_after"], 30);
    let message = "too many questions, please wait 30 seconds before the next one";
    assert_eq!(error["message"], message);
}

#[tokio::test]
async fn clients_and_routes_are_counted_apart_and_names_of_one_route_together() {
    let limiter = Limiter::new(refusing().await, limits(1));
    assert_eq!(ask(&limiter, "a").await.status(), StatusCode::OK);
    let again = send(&limiter, "a", Method::POST, "/query").await;
    assert_eq!(again.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask(&limiter, "b").await.status(), StatusCode::OK);
    let search = send(&limiter, "a", Method::GET, "/search").await;
    assert_eq!(field(&search, &RATE_LIMIT), "\"search\";r=59;t=1");
    let feedback = send(&limiter, "a", Method::POST, "/feedback").await;
    assert_eq!(feedback.status(), StatusCode::OK);
    assert_eq!(field(&feedback, &RATE_LIMIT), "", "it has no limit");
}

#[tokio::test]
async fn what_does_no_work_takes_no_permit() {
    let limiter = Limiter::new(refusing().await, limits(1));
    for (method, path, status) in [
        (Method::OPTIONS, "/chat", StatusCode::OK),
        (Method::HEAD, "/chat", StatusCode::METHOD_NOT_ALLOWED),
        (Method::GET, "/chat", StatusCode::METHOD_NOT_ALLOWED),
        (Method::HEAD, "/search", StatusCode::METHOD_NOT_ALLOWED),
    ] {
        let response = send(&limiter, "a", method.clone(), path).await;
        assert_eq!(response.status(), status, "{method} {path}");
    }
    assert_eq!(ask(&limiter, "a").await.status(), StatusCode::OK);
    let search = send(&limiter, "a", Method::GET, "/search").await;
    assert_eq!(field(&search, &RATE_LIMIT), "\"search\";r=59;t=1");
}

#[tokio::test]
async fn a_catalog_that_does_not_answer_holds_nobody_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limiter = Limiter::new(away(silent.local_addr().unwrap().port()), limits(1));
    let started = Instant::now();
    let permit = limiter.acquire(Route::Chat, "a").await.unwrap().unwrap();
    assert!(permit.allowed && started.elapsed() >= STORE_DEADLINE);
}

#[tokio::test]
async fn without_limits_the_catalog_is_not_asked() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limiter = Limiter::new(away(silent.local_addr().unwrap().port()), Limits::NONE);
    for route in [Route::Chat, Route::Search, Route::Feedback] {
        assert_eq!(limiter.acquire(route, "a").await.unwrap(), None);
    }
}

#[tokio::test]
async fn a_limit_of_none_at_all_refuses() {
    let limiter = Limiter::new(refusing().await, limits(0));
    let error = limiter.acquire(Route::Chat, "a").await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimited);
    assert_eq!(error.retry_after, Some(PERIOD));
}

#[cfg(feature = "embedded")]
mod in_the_catalog {
    use super::*;
    use store::catalog::SqliteCatalog;

    async fn catalog(folder: &tempfile::TempDir) -> Catalog {
        let file = folder.path().join("catalog.sqlite");
        Catalog::Sqlite(SqliteCatalog::open(&file).await.unwrap())
    }

    #[tokio::test]
    async fn instances_count_together() {
        let folder = tempfile::tempdir().unwrap();
        let first = catalog(&folder).await;
        first.migrate().await.unwrap();
        let limiters = [
            Limiter::new(first, limits(2)),
            Limiter::new(catalog(&folder).await, limits(2)),
        ];
        for limiter in &limiters {
            assert_eq!(ask(limiter, "a").await.status(), StatusCode::OK);
        }
        for limiter in &limiters {
            let refused = ask(limiter, "a").await;
            assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        }
    }

    #[tokio::test]
    async fn a_catalog_without_tables_is_no_reason_to_count_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let limiter = Limiter::new(catalog(&folder).await, limits(2));
        let refused = ask(&limiter, "a").await;
        assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(field(&refused, &RATE_LIMIT), "");
    }
}

#[test]
fn seconds_are_never_too_few() {
    assert_eq!(whole_seconds(Duration::ZERO), 0);
    assert_eq!(whole_seconds(Duration::from_nanos(1)), 1);
    assert_eq!(whole_seconds(Duration::from_secs(12)), 12);
    assert_eq!(whole_seconds(Duration::from_millis(12_001)), 13);
}

proptest! {
    #[test]
    fn one_more_turn_is_there_when_it_is_said_to_be(
        permits in 1_u32..100, gaps in proptest::collection::vec(0_i64..2_000_000, 1..30),
    ) {
        let limit = RateLimit { permits, period: PERIOD };
        let (mut tat, mut now) = (None, 0);
        for gap in gaps {
            now += gap;
            let (next, permit) = limit.acquire(tat, now);
            tat = Some(next);
            if permit.allowed {
                let wait = i64::try_from(until_one_more(limit, permit).as_micros()).unwrap();
                let (_, then) = limit.acquire(tat, now + wait);
                prop_assert_eq!(then.remaining, permit.remaining, "one more, and that one taken");
                let (_, before) = limit.acquire(tat, now + wait - 1);
                prop_assert!(!before.allowed || before.remaining < permit.remaining);
            }
        }
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_client(network: u64, one: u64, other: u64) {
        let address = |host: u64| {
            Ipv6Addr::from_bits(u128::from(network) << 64 | u128::from(host)).to_string()
        };
        // Addresses that map IPv4 are distinguished from each other.
        prop_assume!(network != 0);
        prop_assert_eq!(client_network(&address(one)), client_network(&address(other)));
        let beside = Ipv6Addr::from_bits(u128::from(network ^ 1) << 64).to_string();
        prop_assert_ne!(client_network(&address(one)), client_network(&beside));
    }
}

#[test]
fn a_client_is_an_ipv4_address_or_an_ipv6_network() {
    for (address, network) in [
        ("203.0.113.7", "203.0.113.7"),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("::FFFF:CB00:7107", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::", "2001:db8:1:2::/64"),
        ("::1", "::/64"),
        ("unknown", "unknown"),
        ("203.0.113.7:80", "203.0.113.7:80"),
        ("", ""),
    ] {
        assert_eq!(client_network(address), network);
    }
}

#[tokio::test]
async fn beyond_the_queue_requests_are_refused_until_a_place_is_free() {
    let limits = Limits {
        concurrent: Some(1),
        ..Limits::NONE
    };
    let limiter = Limiter::new(refusing().await, limits);
    let ask = || send(&limiter, "a reader", Method::POST, "/chat");
    assert_eq!(ask().await.status(), StatusCode::OK);
    let place = limiter.enter("a reader").await.unwrap();
    let mut waiting: Vec<_> = (0..4).map(|_| Box::pin(ask())).collect();
    for request in &mut waiting {
        assert!(futures::poll!(request).is_pending());
    }
    let refused = ask().await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(refused.headers().contains_key(RETRY_AFTER));
    let preflight = send(&limiter, "a reader", Method::OPTIONS, "/chat").await;
    assert_eq!(preflight.status(), StatusCode::OK);
    drop(place);
    for request in waiting {
        assert_eq!(request.await.status(), StatusCode::OK);
    }
}

#[tokio::test]
async fn bodies_that_do_not_end_take_no_place_and_count_against_the_rate() {
    let limits = Limits {
        concurrent: Some(1),
        ..limits(3)
    };
    let limiter = Limiter::new(refusing().await, limits);
    // Each body says once when it is awaited: its request is then counted.
    let (awaited, mut bodies) = tokio::sync::mpsc::unbounded_channel();
    let endless = || {
        let mut unsaid = Some(awaited.clone());
        Body::from_stream(futures::stream::poll_fn(move |_| {
            if let Some(awaited) = unsaid.take() {
                awaited.send(()).unwrap();
            }
            Poll::<Option<Result<Vec<u8>, std::io::Error>>>::Pending
        }))
    };
    let slow = || send_body(&limiter, "slow", Method::POST, "/chat", endless());
    let mut unfinished: Vec<_> = (0..3).map(|_| Box::pin(slow())).collect();
    for request in &mut unfinished {
        tokio::select! {
            response = request => panic!("{response:?}"),
            body = bodies.recv() => body.unwrap(),
        }
    }
    assert_eq!(slow().await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(ask(&limiter, "a reader").await.status(), StatusCode::OK);
}
