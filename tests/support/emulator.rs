//! Lambda as emulated by cargo-lambda: one server for several functions, called over HTTP at a function's URL (with
//! streaming) or with Lambda's `Invoke`.

use std::{
    env,
    fs::File,
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use serde_json::Value;
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStderr, ChildStdout, Command},
    task::JoinHandle,
    time::timeout,
};

use crate::{functions::function_binary, moto::no_proxy_client};

/// The Python of a virtual environment that also contains cargo-lambda.
const PYTHON_VARIABLE: &str = "BOOKRAG_TEST_PYTHON";
/// Logged when the server listens.
const RUNNING: &str = "starting Runtime server";
const START_DEADLINE: Duration = Duration::from_mins(1);

/// The emulator and its functions, stopped on drop.
#[derive(Debug)]
pub struct Emulator {
    port: u16,
    client: reqwest::Client,
    functions: Vec<Child>,
    /// One file per function with its output.
    logs: TempDir,
    _process: Child,
    drained: JoinHandle<()>,
}

impl Emulator {
    /// Starts the emulator on a free loopback port.
    pub async fn start() -> Self {
        let port = free_port();
        let mut process = Command::new(cargo_lambda())
            .args([
                "lambda",
                "watch",
                "--only-lambda-apis",
                "-A",
                "127.0.0.1",
                "-P",
            ])
            .arg(port.to_string())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|cause| panic!("cargo-lambda does not start: {cause}"));
        let (stdout, stderr) = (process.stdout.take(), process.stderr.take());
        let (stdout, stderr) = (stdout.expect("it is piped"), stderr.expect("it is piped"));
        let running = timeout(START_DEADLINE, running(stdout, stderr)).await;
        let drained = running.unwrap_or_else(|_| panic!("no server in {START_DEADLINE:?}"));
        Self {
            port,
            client: no_proxy_client(),
            functions: Vec::new(),
            logs: tempfile::tempdir().expect("a temporary folder"),
            _process: process,
            drained,
        }
    }

    /// Starts a function with these variables and no others.
    pub async fn add(&mut self, function: &str, environment: &[(&str, String)]) {
        let binary = function_binary(function).await;
        let log = File::create(self.log(function)).expect("a file in a folder of our own");
        let again = log.try_clone().expect("a file's handle");
        let child = Command::new(&binary)
            .env_clear()
            .env(
                "AWS_LAMBDA_RUNTIME_API",
                format!("{}/.rt/{function}", self.url()),
            )
            .env("AWS_LAMBDA_FUNCTION_NAME", function)
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512")
            .env("AWS_LAMBDA_LOG_GROUP_NAME", function)
            .env("AWS_LAMBDA_LOG_STREAM_NAME", function)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1")
            .envs(environment.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(again)
            .kill_on_drop(true)
            .spawn();
        let child = child.unwrap_or_else(|cause| panic!("{}: {cause}", binary.display()));
        self.functions.push(child);
    }

    /// The emulator's address, an endpoint for Lambda clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Returns a function's URL for HTTP clients.
    #[must_use]
    pub fn function_url(&self, function: &str) -> String {
        format!("{}/lambda-url/{function}", self.url())
    }

    /// Invokes a function and waits for its answer.
    pub async fn invoke(&self, function: &str, event: &Value) -> Value {
        let url = format!("{}/2015-03-31/functions/{function}/invocations", self.url());
        let answer = self.client.post(url).body(event.to_string()).send().await;
        let answer = answer.unwrap_or_else(|cause| panic!("{function}: {cause}"));
        let text = answer.text().await;
        let text = text.unwrap_or_else(|cause| panic!("{function}: {cause}"));
        serde_json::from_str(&text).unwrap_or_else(|cause| panic!("{function}: {cause}: {text}"))
    }

    /// Returns a function's output so far.
    #[must_use]
    pub fn output(&self, function: &str) -> String {
        let read = std::fs::read(self.log(function)).expect("a function that was added");
        String::from_utf8_lossy(&read).into_owned()
    }

    fn log(&self, function: &str) -> PathBuf {
        self.logs.path().join(function)
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.drained.abort();
    }
}

/// Waits until the server listens, then drains its output: a full pipe would block it.
async fn running(stdout: ChildStdout, stderr: ChildStderr) -> JoinHandle<()> {
    let (mut stdout, mut stderr) = (
        BufReader::new(stdout).lines(),
        BufReader::new(stderr).lines(),
    );
    let mut read = String::new();
    while !read.contains(RUNNING) {
        let line = tokio::select! {
            line = stdout.next_line() => line,
            line = stderr.next_line() => line,
        };
        match line {
            Ok(Some(line)) => read = read + &line + "\n",
            _ => panic!("the emulator does not start:\n{read}"),
        }
    }
    tokio::spawn(async move {
        loop {
            tokio::select! {
                Ok(Some(_)) = stdout.next_line() => {}
                Ok(Some(_)) = stderr.next_line() => {}
                else => return,
            }
        }
    })
}

/// Returns a program in the same folder of a virtual environment.
#[must_use]
pub fn beside_python(program: &str) -> PathBuf {
    let python = env::var_os(PYTHON_VARIABLE);
    let python =
        python.unwrap_or_else(|| panic!("{PYTHON_VARIABLE} is not set; tests/run.sh sets it"));
    let program = Path::new(&python).with_file_name(program);
    assert!(program.is_file(), "there is no {}", program.display());
    program
}

fn cargo_lambda() -> PathBuf {
    beside_python("cargo-lambda")
}

/// Returns a port that was free a moment ago.
fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    let address = listener
        .local_addr()
        .expect("a bound listener has an address");
    address.port()
}
