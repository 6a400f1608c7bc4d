//! Debian's pgbouncer in front of the tests' Postgres: a pooler in transaction mode, like Neon's.

#[cfg(test)]
mod tests;

use std::{
    env, fs,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::Duration,
};

use tempfile::TempDir;
use tokio::sync::OnceCell;

use crate::postgres::{
    Account, DEFAULT_DATABASE, Postgres, ROOT, USER, accepts_connections, command, run, socket_url,
};

/// Names the only program to try.
const VARIABLE: &str = "BOOKRAG_TEST_PGBOUNCER";
/// The program on `PATH`, else the one from Debian, which is only on root's `PATH`.
const PROGRAMS: [&str; 2] = ["pgbouncer", "/usr/sbin/pgbouncer"];

/// Server connections per database: fewer than a test's clients, so that they share them.
const SERVER_CONNECTIONS: usize = 2;
/// The most concurrent clients of all tests.
const CLIENT_CONNECTIONS: usize = 200;
/// When an idle server connection is closed: each test has its own database, and the server allows 100 connections.
const SERVER_IDLE_TIMEOUT: Duration = Duration::from_secs(1);

/// Writes the settings `$2` into the folder `$1` and runs the `pgbouncer` `$3` with them until standard input closes,
/// then kills it and removes the folder.
///
/// It ends with the test process, like the server. It is killed because the meaning of gentler signals depends on
/// its version, and it has nothing to save. On failure the folder is kept, with the log.
const WATCHDOG: &str = r#"
folder=$1 settings=$2 pgbouncer=$3
exec 3<&0 </dev/null
printf '%s' "$settings" >"$folder/pgbouncer.ini" || exit 1
"$pgbouncer" "$folder/pgbouncer.ini" 3<&- &
pooler=$!
(cat <&3 >&2; kill -KILL "$pooler" 2>/dev/null) &
wait "$pooler"
[ $? = 137 ] && rm -rf "$folder"
"#;

static SHARED: OnceCell<Pgbouncer> = OnceCell::const_new();

/// A pgbouncer on a Unix socket in its own folder, for every database of one server. Dropping it stops it and
/// removes the folder.
#[derive(Debug)]
pub struct Pgbouncer {
    watchdog: Child,
    folder: TempDir,
}

impl Pgbouncer {
    /// Starts a pgbouncer in front of a server, which must outlive it.
    pub async fn start(postgres: &Postgres) -> Self {
        let server = postgres.folder().to_owned();
        let mut pgbouncer = tokio::task::spawn_blocking(move || Self::launch(&server))
            .await
            .expect("launching returns its failures")
            .unwrap_or_else(|failure| panic!("{failure}"));
        let url = pgbouncer.url_of(DEFAULT_DATABASE);
        if let Err(failure) = accepts_connections(&url, &mut pgbouncer.watchdog).await {
            panic!("pgbouncer: {failure}\n{}", pgbouncer.log());
        }
        pgbouncer
    }

    /// Returns the pgbouncer of [`Postgres::shared`], which all tests of this process share and the first use starts.
    pub async fn shared() -> &'static Self {
        let start = || async { Self::start(Postgres::shared().await).await };
        SHARED.get_or_init(start).await
    }

    /// Returns the URL of a database, which may be created later.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        socket_url(self.folder.path(), database)
    }

    /// Returns the log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Starts the watchdog, which starts pgbouncer for the server whose socket is in the folder `server`.
    fn launch(server: &Path) -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("bookrag-pgbouncer-")
            .tempdir_in(ROOT)
            .map_err(|cause| format!("no folder for pgbouncer in {ROOT}: {cause}"))?;
        let account = Account::other_than_root(folder.path())?;
        let program = find(account.as_ref())?;
        let no_log = |cause| {
            format!(
                "no log of pgbouncer in {}: {cause}",
                folder.path().display()
            )
        };
        let log = fs::File::create(folder.path().join("log")).map_err(no_log)?;

        let mut watchdog = command(Path::new("/bin/sh"), account.as_ref(), folder.path());
        watchdog.args(["-c", WATCHDOG, "watchdog"]);
        watchdog
            .arg(folder.path())
            .arg(settings(folder.path(), server))
            .arg(program);
        watchdog
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(no_log)?)
            .stderr(log);
        // In a group of its own, so that an interrupt from the keyboard does not end the watchdog before it has cleaned up.
        watchdog.process_group(0);
        let watchdog = watchdog
            .spawn()
            .map_err(|cause| format!("/bin/sh does not start: {cause}"))?;
        Ok(Self { watchdog, folder })
    }
}

impl Drop for Pgbouncer {
    fn drop(&mut self) {
        // `wait` first closes the watchdog's standard input, which stops pgbouncer.
        if let Err(cause) = self.watchdog.wait() {
            eprintln!(
                "the pgbouncer in {} may still run: {cause}",
                self.folder.path().display()
            );
        }
    }
}

/// Returns the first program that runs under `account`; the error lists everything that was tried.
fn find(account: Option<&Account>) -> Result<PathBuf, String> {
    match env::var_os(VARIABLE) {
        Some(named) => first_that_runs(&[named.into()], account),
        None => first_that_runs(&PROGRAMS.map(PathBuf::from), account),
    }
}

/// Existence is not enough: another account may lack access to a program, or a library may be missing.
fn first_that_runs(programs: &[PathBuf], account: Option<&Account>) -> Result<PathBuf, String> {
    let mut failures = Vec::new();
    for program in programs {
        match run(command(program, account, Path::new("/")).arg("--version")) {
            Ok(_) => return Ok(program.clone()),
            Err(failure) => failures.push(failure),
        }
    }
    Err(format!(
        "these tests need pgbouncer (`apt-get install pgbouncer`): in ${VARIABLE} with its whole path, on PATH or as \
         {}. None of these runs:\n- {}",
        PROGRAMS[1],
        failures.join("\n- ")
    ))
}

/// Returns the settings of a pgbouncer in `folder` for the server whose socket is in the folder `server`.
///
/// Clients get no prepared statements (`max_prepared_statements`), and one client's session settings may reach another:
/// the catalog must not depend on either. Without `listen_addr` it only listens on a Unix socket, named after
/// Postgres's default port.
fn settings(folder: &Path, server: &Path) -> String {
    let (folder, server) = (folder.display(), server.display());
    let idle_seconds = SERVER_IDLE_TIMEOUT.as_secs();
    format!(
        "[databases]
* = host={server} user={USER}

[pgbouncer]
unix_socket_dir = {folder}
listen_port = 5432
auth_type = any
pool_mode = transaction
default_pool_size = {SERVER_CONNECTIONS}
max_client_conn = {CLIENT_CONNECTIONS}
server_idle_timeout = {idle_seconds}
"
    )
}
