//! S3 and SQS as imitated by moto, in a process of its own.

mod python;
mod queue;

use std::{process::Stdio, time::Duration};

use aws_sdk_s3::{
    Client,
    config::{BehaviorVersion, Builder, Credentials, Region},
};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, Command},
    task::JoinHandle,
    time::timeout,
};

pub use queue::{DeadLetters, ReceivedMessage, no_proxy_client};

/// Serves on a free port until standard input closes, which also happens when the test process ends.
const SERVER: &str = r"
import os, sys, threading
def watch():
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
from moto.server import main
main(['-H', '127.0.0.1', '-p', '0'])
";
/// Precedes the address in the server's log.
const RUNNING: &str = "Running on ";
/// moto imports many modules, possibly while the machine is compiling.
const START_DEADLINE: Duration = Duration::from_mins(2);

/// A moto server. Dropping it stops it.
#[derive(Debug)]
pub struct Moto {
    url: String,
    client: Client,
    queues: reqwest::Client,
    _process: Child,
    _stdin: ChildStdin,
    log: JoinHandle<()>,
}

impl Moto {
    /// Starts a server on a free loopback port.
    pub async fn start() -> Self {
        let python = python::with_moto().await;
        let mut process = Command::new(&python)
            .args(["-c", SERVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|cause| panic!("{} does not start: {cause}", python.display()));
        let (stdin, stderr) = (process.stdin.take(), process.stderr.take());
        let mut log = BufReader::new(stderr.expect("it is piped"));
        let url = timeout(START_DEADLINE, address(&mut log))
            .await
            .unwrap_or_else(|_| panic!("moto did not start in {START_DEADLINE:?}"))
            .unwrap_or_else(|log| panic!("moto does not start:\n{log}"));
        // Drained, since a full pipe would block the server.
        let log = tokio::spawn(async move {
            let mut sink = tokio::io::sink();
            let _ = tokio::io::copy(&mut log, &mut sink).await;
        });
        Self {
            client: client(&url),
            queues: queue::no_proxy_client(),
            url,
            _process: process,
            _stdin: stdin.expect("it is piped"),
            log,
        }
    }

    /// Returns the variables for processes that use it.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![("AWS_ENDPOINT_URL", self.url.clone())]
    }

    /// Returns a client of its S3.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// Creates a bucket.
    pub async fn create_bucket(&self, bucket: &str) {
        let request = self.client.create_bucket().bucket(bucket);
        request.send().await.expect("a bucket is made");
    }

    /// Writes an object.
    pub async fn put(&self, bucket: &str, key: &str, content: impl Into<Vec<u8>>) {
        let request = self.client.put_object().bucket(bucket).key(key);
        let request = request.body(content.into().into());
        request.send().await.expect("an object is written");
    }

    /// Deletes an object.
    pub async fn delete(&self, bucket: &str, key: &str) {
        let request = self.client.delete_object().bucket(bucket).key(key);
        request.send().await.expect("an object is removed");
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        self.log.abort();
    }
}

/// Returns a client of an S3 server on loopback.
#[must_use]
pub fn client(url: &str) -> Client {
    let tls = Provider::Rustls(CryptoMode::Ring);
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(tls)
        .build_https();
    let config = Builder::new()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new("us-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "tests"))
        .endpoint_url(url)
        .force_path_style(true)
        .http_client(http)
        .build();
    Client::from_conf(config)
}

/// Reads the log up to the line with the address. If there is none, the error is the log.
async fn address(log: &mut BufReader<ChildStderr>) -> Result<String, String> {
    let mut read = String::new();
    loop {
        let start = read.len();
        if log.read_line(&mut read).await.unwrap_or(0) == 0 {
            return Err(read);
        }
        if let Some((_, url)) = read[start..].split_once(RUNNING) {
            return Ok(url.trim().to_owned());
        }
    }
}
