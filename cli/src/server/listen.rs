//! Accepts connections, with a deadline for the head of each request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::serve::Listener;
use futures::{StreamExt, stream};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tower::ServiceExt;

/// How long a client may take to send a request's head, and how long a connection may stay idle. Otherwise idle connections would
/// use up the process's file descriptors.
pub(crate) const HEAD_DEADLINE: Duration = Duration::from_secs(20);

/// Serves connections until `stopped` is true, then lets running requests complete; those that have not arrived as a whole are not waited for. A
/// connection that takes longer than `head_deadline` to send a request's head is closed.
pub(crate) async fn listen(
    mut listener: TcpListener,
    app: Router,
    head_deadline: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            (stream, peer) = Listener::accept(&mut listener) => {
                let app = app.clone();
                connections.spawn(answer(stream, peer, app, head_deadline, stopped.clone()));
            }
            Some(_) = connections.join_next() => {}
            () = until(&mut stopped) => break,
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

async fn until(stopped: &mut watch::Receiver<bool>) {
    // On an error the sender is gone, which also means stop.
    let _ = stopped.wait_for(|stop| *stop).await;
}

async fn answer(
    stream: TcpStream,
    peer: SocketAddr,
    app: Router,
    head_deadline: Duration,
    mut stopped: watch::Receiver<bool>,
) {
    let has_asked = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&has_asked);
    let stopped_later = stopped.clone();
    let service = service_fn(move |request: Request<Incoming>| {
        asked.store(true, Ordering::Relaxed);
        let mut request = request.map(|body| arriving(body, stopped_later.clone()));
        request.extensions_mut().insert(ConnectInfo(peer));
        let answered = app.clone().oneshot(request);
        async move { answered.await as Result<Response, Infallible> }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(head_deadline)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    // Connection errors are ignored: the client may disconnect at any time.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = until(&mut stopped) => {
            connection.as_mut().graceful_shutdown();
            if has_asked.load(Ordering::Relaxed) {
                let _ = connection.await;
            }
        }
    }
}

/// Returns a body that ends where it has arrived when the server stops. Otherwise a client that sends slowly would keep the process from ending.
fn arriving(body: Incoming, stopped: watch::Receiver<bool>) -> Body {
    if body.is_end_stream() {
        return Body::empty();
    }
    let pieces = Body::new(body).into_data_stream();
    Body::from_stream(stream::unfold(
        (pieces, stopped),
        async |(mut pieces, mut stopped)| {
            let piece = tokio::select! {
                biased;
                piece = pieces.next() => piece?,
                () = until(&mut stopped) => return None,
            };
            Some((piece, (pieces, stopped)))
        },
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn peer(ConnectInfo(peer): ConnectInfo<SocketAddr>) -> String {
        peer.ip().to_string()
    }

    async fn listening(head_deadline: Duration) -> (SocketAddr, watch::Sender<bool>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = watch::channel(false);
        let app = Router::new().route("/", get(peer));
        tokio::spawn(listen(listener, app, head_deadline, stopped));
        (address, stop)
    }

    #[tokio::test]
    async fn a_connection_with_an_incomplete_head_is_closed() {
        let (address, _stop) = listening(Duration::from_millis(50)).await;
        let mut idle = TcpStream::connect(address).await.expect("connected");
        let mut slow = TcpStream::connect(address).await.expect("connected");
        let half = b"GET / HTTP/1.1\r\nHost: loc";
        slow.write_all(half).await.expect("sent");
        for stream in [&mut idle, &mut slow] {
            let mut left = Vec::new();
            let closed = stream.read_to_end(&mut left);
            let closed = tokio::time::timeout(HEAD_DEADLINE, closed).await;
            assert!(closed.is_ok(), "the connection is still open");
        }
    }

    #[tokio::test]
    async fn requests_are_answered_until_the_server_stops() {
        let (address, stop) = listening(HEAD_DEADLINE).await;
        let url = format!("http://{address}/");
        let client = crate::running::client();
        let answer = client.get(&url).send().await.expect("answered");
        assert_eq!(answer.text().await.expect("a text"), "127.0.0.1");
        stop.send(true).expect("it listens");
        // The port is free once the server has stopped.
        while client.get(&url).send().await.is_ok() {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn a_request_that_has_not_arrived_does_not_delay_the_end() {
        let (began, mut begun) = tokio::sync::mpsc::channel(1);
        let read = async move |body: Body| {
            began.send(()).await.expect("it is awaited");
            let body = axum::body::to_bytes(body, 100).await.expect("it ends");
            String::from_utf8(body.to_vec()).expect("a text")
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (stop, stopped) = watch::channel(false);
        let app = Router::new().route("/", post(read));
        let listening = tokio::spawn(listen(listener, app, Duration::from_hours(1), stopped));
        let mut idle = TcpStream::connect(address).await.expect("connected");
        idle.write_all(b"GET / HTTP/1.1\r\nHo").await.expect("sent");
        let mut slow = TcpStream::connect(address).await.expect("connected");
        let half = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\nhalf";
        slow.write_all(half).await.expect("sent");
        begun.recv().await.expect("its head has arrived");
        stop.send(true).expect("it listens");
        listening.await.expect("it ends by itself");
        let mut answer = String::new();
        slow.read_to_string(&mut answer).await.expect("answered");
        assert!(answer.ends_with("\r\n\r\nhalf"), "{answer}");
    }

    #[tokio::test]
    async fn a_stream_that_has_begun_is_sent_to_its_end() {
        let (pieces, sent) = futures::channel::mpsc::unbounded::<Result<&str, Infallible>>();
        let sent = Arc::new(Mutex::new(Some(sent)));
        let stream = move || {
            let sent = sent.lock().expect("not poisoned").take();
            std::future::ready(Body::from_stream(sent.expect("asked once")))
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/", listener.local_addr().expect("an address"));
        let (stop, stopped) = watch::channel(false);
        let app = Router::new().route("/", get(stream));
        let listening = tokio::spawn(listen(listener, app, HEAD_DEADLINE, stopped));
        pieces.unbounded_send(Ok("first, ")).expect("it is awaited");
        let answer = crate::running::client().get(url).send().await;
        let answer = answer.expect("it has begun");
        stop.send(true).expect("it listens");
        pieces.unbounded_send(Ok("last")).expect("it is awaited");
        drop(pieces);
        assert_eq!(answer.text().await.expect("whole"), "first, last");
        listening.await.expect("it ends by itself");
    }
}
