//! The process of a function, started like Lambda starts it.

use std::{
    path::Path,
    process::Stdio,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, BufReader},
    process::{Child, Command},
    task::JoinHandle,
};

use super::{Outcome, RuntimeApi, Shared};

/// The longest time for a log line to arrive.
const LOG_DEADLINE: Duration = Duration::from_secs(20);

/// Variables that Lambda sets for every function, and the one that this project's template adds.
const ENVIRONMENT: [(&str, &str); 17] = [
    ("AWS_LAMBDA_FUNCTION_NAME", "bookrag-test"),
    ("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST"),
    ("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "512"),
    ("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/bookrag-test"),
    (
        "AWS_LAMBDA_LOG_STREAM_NAME",
        "2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef",
    ),
    ("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand"),
    ("AWS_LAMBDA_HTTP_IGNORE_STAGE_IN_PATH", "true"),
    ("AWS_REGION", "eu-central-1"),
    ("AWS_DEFAULT_REGION", "eu-central-1"),
    ("AWS_ACCESS_KEY_ID", "test"),
    ("AWS_SECRET_ACCESS_KEY", "test"),
    ("AWS_SESSION_TOKEN", "test"),
    ("LAMBDA_TASK_ROOT", "/var/task"),
    ("LAMBDA_RUNTIME_DIR", "/var/runtime"),
    ("LANG", "en_US.UTF-8"),
    ("PATH", "/usr/local/bin:/usr/bin/:/bin:/opt/bin"),
    ("TZ", ":UTC"),
];

/// The process of a function, killed on drop.
#[derive(Debug)]
pub struct Function {
    shared: Arc<Shared>,
    spawned: Instant,
    process: JoinHandle<()>,
}

impl Function {
    /// Starts a function's binary against `api`, with Lambda's variables and the given ones, which override them, and no others.
    ///
    /// Its log is kept for [`Function::logs`] and for the messages of failed expectations.
    #[must_use]
    pub fn spawn(binary: &Path, api: &RuntimeApi, env: &[(&str, &str)]) -> Self {
        let shared = Arc::clone(&api.shared);
        let first = shared
            .process
            .send_if_modified(|process| !std::mem::replace(&mut process.spawned, true));
        assert!(
            first,
            "an API serves one process: an older one could take the events of a newer one"
        );
        let mut command = Command::new(binary);
        command
            .env_clear()
            .envs(ENVIRONMENT)
            .env("AWS_LAMBDA_RUNTIME_API", api.host_and_port());
        command.envs(env.iter().copied());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let spawned = Instant::now();
        let child = command
            .spawn()
            .unwrap_or_else(|cause| panic!("{} does not start: {cause}", binary.display()));
        let process = tokio::spawn(watch(child, Arc::clone(&shared)));
        Self {
            shared,
            spawned,
            process,
        }
    }

    /// Returns the cold start: the time from the start of the process to its first request for an event.
    pub async fn first_next_after(&self) -> Duration {
        let mut process = self.shared.process.subscribe();
        let known = process
            .wait_for(|process| process.first_next.is_some() || process.end.is_some())
            .await;
        let (first_next, end) = known
            .map(|process| (process.first_next, process.end.clone()))
            .unwrap_or_default();
        match first_next {
            Some(first_next) => first_next - self.spawned,
            None => panic!(
                "the function asked for no event: {end:?}\nlog of the function:\n{}",
                self.logs()
            ),
        }
    }

    /// Waits for the process to end. Returns [`Outcome::Exited`], or the error it reported while starting.
    pub async fn end(&self) -> Outcome {
        let mut process = self.shared.process.subscribe();
        let ended = process.wait_for(|process| process.end.is_some()).await;
        ended
            .ok()
            .and_then(|process| process.end.clone())
            .expect("the sender lives as long as this function")
    }

    /// Waits until the process's output satisfies `is_wanted`, and returns the output.
    pub async fn logged(&self, is_wanted: impl Fn(&str) -> bool) -> String {
        let mut logs = self.shared.logs.subscribe();
        let wanted = logs.wait_for(|logs| is_wanted(logs));
        match tokio::time::timeout(LOG_DEADLINE, wanted).await {
            Ok(Ok(logs)) => logs.clone(),
            _ => panic!("not logged in {LOG_DEADLINE:?}:\n{}", self.logs()),
        }
    }

    /// Returns the process's output so far, of both streams.
    #[must_use]
    pub fn logs(&self) -> String {
        self.shared.logs()
    }
}

impl Drop for Function {
    fn drop(&mut self) {
        self.process.abort();
    }
}

/// Collects the process's log and records its end. Dropping this early kills the process.
async fn watch(mut child: Child, shared: Arc<Shared>) {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let ((), (), status) = tokio::join!(keep(stdout, &shared), keep(stderr, &shared), child.wait());
    shared.end(Outcome::Exited(status.map_or_else(
        |cause| cause.to_string(),
        |status| status.to_string(),
    )));
}

async fn keep(stream: Option<impl AsyncRead + Unpin>, shared: &Shared) {
    let Some(stream) = stream else { return };
    let mut lines = BufReader::new(stream).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        shared.append_log(&String::from_utf8_lossy(&line));
    }
}
