//! Accepts connections, with a deadline for the head of each request.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
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

/// Serves connections until `stopped` is true, then lets running requests complete. A connection that takes longer
/// than `head_deadline` to send a request's head is closed.
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
    let service = service_fn(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
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
            let _ = connection.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use axum::routing::get;
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
