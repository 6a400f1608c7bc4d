//! A proxy on loopback that breaks connections on demand.

mod target;
#[cfg(test)]
mod tests;

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::{TcpListener, TcpStream, UnixStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
    time::timeout,
};

pub use target::Target;

/// The most bytes forwarded at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// The longest byte sequence to cut on.
const LONGEST_BYTES: usize = 256;

/// A network fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// No fault.
    None,
    /// New connections are accepted and closed at once, and existing ones are cut.
    Refuse,
    /// Each chunk to the client is delayed by this time, or until the fault changes.
    Slow(Duration),
    /// Requests arrive, responses are dropped. A connection that lost bytes is cut when the
    /// fault changes, since a stream cannot continue after a gap.
    Silent,
    /// The first connection whose client sends these bytes is cut; afterwards there is no fault.
    CutOn {
        /// The bytes to cut on, 1 to 256 of them.
        bytes: Vec<u8>,
        /// Whether the bytes are forwarded first.
        when: When,
    },
}

/// When a connection is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before the bytes are forwarded: the server only receives what precedes them.
    BeforeForward,
    /// After the bytes are forwarded, as soon as the server sends something, which is dropped: if the server only sends
    /// responses, the work is done and the response is lost.
    AfterForward,
}

/// A proxy. Dropping it stops it and cuts its connections.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    wire: Arc<Wire>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Wire {
    target: Target,
    fault: watch::Sender<Fault>,
    connections: AtomicUsize,
    answered: AtomicUsize,
}

impl Proxy {
    /// Starts a proxy on a free loopback port, without a fault.
    pub async fn start(target: Target) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("loopback has a free port");
        let address = listener
            .local_addr()
            .expect("a bound listener has an address");
        let wire = Arc::new(Wire {
            target,
            fault: watch::Sender::new(Fault::None),
            connections: AtomicUsize::new(0),
            answered: AtomicUsize::new(0),
        });
        let server = tokio::spawn(accept(listener, Arc::clone(&wire)));
        Self {
            address,
            wire,
            server,
        }
    }

    /// The proxy's address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Changes the fault, also for existing connections.
    pub fn set(&self, fault: Fault) {
        if let Fault::CutOn { bytes, .. } = &fault {
            let count = bytes.len();
            assert!((1..=LONGEST_BYTES).contains(&count), "cut on {count} bytes");
        }
        self.wire.fault.send_replace(fault);
    }

    /// Returns the current fault: after [`Fault::CutOn`] has cut a connection, it is [`Fault::None`].
    #[must_use]
    pub fn fault(&self) -> Fault {
        self.wire.fault.borrow().clone()
    }

    /// Returns the number of accepted connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.wire.connections.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes that the server sent.
    #[must_use]
    pub fn answered_bytes(&self) -> usize {
        self.wire.answered.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn accept(listener: TcpListener, wire: Arc<Wire>) {
    // Dropping it with this task ends the connections' tasks.
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.expect("loopback has connections");
        wire.connections.fetch_add(1, Ordering::Relaxed);
        let wire = Arc::clone(&wire);
        connections.spawn(async move { wire.carry(client).await });
    }
}

impl Wire {
    /// Forwards a connection until one end closes it, or it is cut.
    async fn carry(&self, client: TcpStream) {
        let mut faults = self.fault.subscribe();
        let refused = async {
            let _ = faults.wait_for(|fault| *fault == Fault::Refuse).await;
        };
        tokio::select! {
            biased;
            () = refused => {}
            // An error means that one end closed the connection.
            _ = self.connect(client) => {}
        }
    }

    async fn connect(&self, client: TcpStream) -> io::Result<()> {
        // Otherwise Nagle's algorithm and delayed acknowledgements cost 40 ms per response.
        client.set_nodelay(true)?;
        match &self.target {
            Target::Tcp(address) => {
                let server = TcpStream::connect(address).await?;
                server.set_nodelay(true)?;
                self.pass(client, server).await
            }
            Target::Unix(path) => self.pass(client, UnixStream::connect(path).await?).await,
        }
    }

    async fn pass(&self, client: TcpStream, server: impl AsyncRead + AsyncWrite) -> io::Result<()> {
        let (from_client, to_client) = tokio::io::split(client);
        let (from_server, to_server) = tokio::io::split(server);
        let cut_on_answer = AtomicBool::new(false);
        tokio::select! {
            end = self.pass_requests(from_client, to_server, &cut_on_answer) => end,
            end = self.pass_answers(from_server, to_client, &cut_on_answer) => end,
        }
    }

    async fn pass_requests(
        &self,
        mut client: impl AsyncRead + Unpin,
        mut server: impl AsyncWrite + Unpin,
        cut_on_answer: &AtomicBool,
    ) -> io::Result<()> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut before = Vec::new();
        loop {
            let read = client.read(&mut buffer).await?;
            let chunk = &buffer[..read];
            if chunk.is_empty() {
                return Ok(());
            }
            match self.cut(&before, chunk) {
                Some((When::BeforeForward, at)) => return server.write_all(&chunk[..at]).await,
                Some((When::AfterForward, _)) => cut_on_answer.store(true, Ordering::Relaxed),
                None => {}
            }
            server.write_all(chunk).await?;
            before.extend_from_slice(chunk);
            before.drain(..before.len().saturating_sub(LONGEST_BYTES));
        }
    }

    async fn pass_answers(
        &self,
        mut server: impl AsyncRead + Unpin,
        mut client: impl AsyncWrite + Unpin,
        cut_on_answer: &AtomicBool,
    ) -> io::Result<()> {
        let mut faults = self.fault.subscribe();
        let mut buffer = vec![0; BUFFER_BYTES];
        loop {
            let read = server.read(&mut buffer).await?;
            if read == 0 || cut_on_answer.load(Ordering::Relaxed) {
                return Ok(());
            }
            let fault = faults.borrow().clone();
            match fault {
                Fault::Slow(delay) => {
                    let changed = faults.wait_for(|now| *now != fault);
                    let _ = timeout(delay, changed).await;
                }
                Fault::Silent => {
                    let _ = faults.wait_for(|now| *now != Fault::Silent).await;
                    return Ok(());
                }
                Fault::None | Fault::Refuse | Fault::CutOn { .. } => {}
            }
            self.answered.fetch_add(read, Ordering::Relaxed);
            client.write_all(&buffer[..read]).await?;
        }
    }

    /// Returns when and where in `chunk` to cut the connection, if at all; that resets the fault.
    fn cut(&self, before: &[u8], chunk: &[u8]) -> Option<(When, usize)> {
        let mut cut = None;
        self.fault.send_if_modified(|fault| {
            let Fault::CutOn { bytes, when } = fault else {
                return false;
            };
            cut = completed(before, chunk, bytes).map(|at| (*when, at));
            if cut.is_some() {
                *fault = Fault::None;
            }
            cut.is_some()
        });
        cut
    }
}

/// Returns where the bytes begin that `chunk` completes; 0 if they began before it.
fn completed(before: &[u8], chunk: &[u8], bytes: &[u8]) -> Option<usize> {
    // One byte less than needed, so that an earlier match is not found again.
    let before = &before[before.len().saturating_sub(bytes.len() - 1)..];
    let sent = [before, chunk].concat();
    let at = sent
        .windows(bytes.len())
        .position(|window| window == bytes)?;
    Some(at.saturating_sub(before.len()))
}
