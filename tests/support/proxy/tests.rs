use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::*;

/// How long to wait before concluding that nothing will arrive.
const SILENCE: Duration = Duration::from_millis(100);

/// Starts a server that echoes its input, and reports the input to the test.
async fn echo() -> (Target, UnboundedReceiver<Vec<u8>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let target = Target::http(&format!("http://{}", listener.local_addr().unwrap()));
    let (got, receiver) = unbounded_channel();
    // Ends with the test's runtime.
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let got = got.clone();
            tokio::spawn(async move {
                let mut buffer = [0; 64];
                while let Ok(read @ 1..) = stream.read(&mut buffer).await {
                    let _ = got.send(buffer[..read].to_vec());
                    let _ = stream.write_all(&buffer[..read]).await;
                }
            });
        }
    });
    (target, receiver)
}

/// Sends bytes and returns the response; empty if the connection is cut.
async fn answer(stream: &mut TcpStream, bytes: &[u8]) -> Vec<u8> {
    let mut buffer = [0; 64];
    if stream.write_all(bytes).await.is_err() {
        return Vec::new();
    }
    let read = stream.read(&mut buffer).await.unwrap_or(0);
    buffer[..read].to_vec()
}

#[tokio::test]
async fn a_refusal_cuts_old_and_new_connections_until_it_is_lifted() {
    let (target, mut got) = echo().await;
    let proxy = Proxy::start(target).await;
    let mut old = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(answer(&mut old, b"one").await, b"one");
    proxy.set(Fault::Refuse);
    assert!(answer(&mut old, b"two").await.is_empty());
    let mut new = TcpStream::connect(proxy.address()).await.unwrap();
    assert!(answer(&mut new, b"three").await.is_empty());
    proxy.set(Fault::None);
    let mut next = TcpStream::connect(proxy.address()).await.unwrap();
    assert_eq!(answer(&mut next, b"four").await, b"four");
    assert_eq!(proxy.connections(), 3);
    assert_eq!(got.recv().await.unwrap(), b"one");
    assert_eq!(got.recv().await.unwrap(), b"four");
}

#[tokio::test]
async fn a_silent_proxy_forwards_requests_and_drops_responses() {
    let (target, mut got) = echo().await;
    let proxy = Proxy::start(target).await;
    proxy.set(Fault::Silent);
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let nothing = timeout(SILENCE, answer(&mut stream, b"one")).await;
    assert!(nothing.is_err(), "{nothing:?}");
    assert_eq!(got.recv().await.unwrap(), b"one");
    proxy.set(Fault::None);
    // No bytes may follow a gap, so the connection is cut. A slow machine may lose none and see no gap.
    assert_ne!(answer(&mut stream, b"two").await, b"two");
}

#[tokio::test]
async fn a_slow_proxy_delivers_once_the_fault_ends() {
    let (target, _got) = echo().await;
    let proxy = Proxy::start(target).await;
    proxy.set(Fault::Slow(Duration::MAX));
    let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
    let nothing = timeout(SILENCE, answer(&mut stream, b"one")).await;
    assert!(nothing.is_err(), "{nothing:?}");
    proxy.set(Fault::None);
    let mut delivered = [0; 3];
    stream.read_exact(&mut delivered).await.unwrap();
    assert_eq!(&delivered, b"one");
}

#[tokio::test]
async fn a_connection_is_cut_before_or_after_the_bytes_arrive_and_no_other_is() {
    for (when, arrived) in [
        (When::BeforeForward, b"one ".as_slice()),
        (When::AfterForward, b"one COMMIT two".as_slice()),
    ] {
        let (target, mut got) = echo().await;
        let proxy = Proxy::start(target).await;
        let mut other = TcpStream::connect(proxy.address()).await.unwrap();
        let mut stream = TcpStream::connect(proxy.address()).await.unwrap();
        let bytes = b"COMMIT".to_vec();
        proxy.set(Fault::CutOn { bytes, when });
        assert!(answer(&mut stream, b"one COMMIT two").await.is_empty());
        assert_eq!(proxy.fault(), Fault::None);
        assert_eq!(got.recv().await.unwrap(), arrived);
        assert_eq!(answer(&mut other, b"COMMIT").await, b"COMMIT");
    }
}

#[test]
fn bytes_are_found_across_chunks_and_once() {
    assert_eq!(completed(b"", b"a COMMIT", b"COMMIT"), Some(2));
    assert_eq!(completed(b"a COM", b"MIT b", b"COMMIT"), Some(0));
    assert_eq!(completed(b"a COMMIT", b" b", b"COMMIT"), None);
    assert_eq!(completed(b"a COMMIT", b" COMMIT", b"COMMIT"), Some(1));
    assert_eq!(completed(b"a", b"b", b"b"), Some(0));
}
