//! A real Postgres server for the duration of the tests.

mod binaries;
#[cfg(test)]
mod tests;

use std::{
    fmt::Write as _,
    fs,
    os::unix::{
        fs::{MetadataExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_postgres::NoTls;

use binaries::Binaries;

/// The parent of the servers' folders: a socket's path is limited to 107 bytes, and `TMPDIR` may be longer.
pub(crate) const ROOT: &str = "/tmp";
/// The role that owns everything.
pub(crate) const USER: &str = "rag";
/// The database that `initdb` creates, from which tests create their own.
pub(crate) const DEFAULT_DATABASE: &str = "postgres";
/// A first start takes a second on an idle machine, and longer while it is compiling.
const START_DEADLINE: Duration = Duration::from_mins(1);
/// The pause between attempts to connect to a starting server.
const CONNECT_PAUSE: Duration = Duration::from_millis(10);

/// Creates a data folder in the folder `$1` for the role `$2` with the `initdb` `$3`, runs the `postgres` `$4` on it
/// until standard input closes, then stops it and removes the folder.
///
/// Only the test process holds the other end of standard input, so the server ends with that process
/// however it ends: statics are never dropped, and a killed process drops nothing. The signal is repeated because a
/// server that has just been forked ignores it. The locale is that of Neon's databases, so that sorting and full-text
/// search agree with production. On failure the folder is kept, with the log.
const WATCHDOG: &str = r#"
folder=$1 role=$2 initdb=$3 postgres=$4
exec 3<&0 </dev/null
"$initdb" -D "$folder/data" -U "$role" --auth=trust -E UTF8 --locale=C.UTF-8 --no-sync --no-instructions 3<&- || exit 1
"$postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c shared_buffers=32MB -c fsync=off 3<&- &
server=$!
(cat <&3 >&2; while kill -INT "$server"; do sleep 0.1; done 2>/dev/null) &
wait "$server" && rm -rf "$folder"
"#;

static SHARED: OnceCell<Postgres> = OnceCell::const_new();

/// A Postgres server on a Unix socket in its own folder. Dropping it stops it and removes the folder.
#[derive(Debug)]
pub struct Postgres {
    watchdog: Child,
    folder: TempDir,
    programs: PathBuf,
}

impl Postgres {
    /// Starts a separate server, for tests that stop it. Takes about a second; others use [`Postgres::shared`].
    pub async fn start() -> Self {
        let mut postgres = tokio::task::spawn_blocking(Self::launch)
            .await
            .expect("launching returns its failures")
            .unwrap_or_else(|failure| panic!("{failure}"));
        let url = postgres.url();
        if let Err(failure) = accepts_connections(&url, &mut postgres.watchdog).await {
            panic!("PostgreSQL: {failure}\n{}", postgres.log());
        }
        postgres
    }

    /// Returns the server that all tests of this process share. The first use starts it, and it stops with the process.
    pub async fn shared() -> &'static Self {
        SHARED.get_or_init(Self::start).await
    }

    /// The URL of the database `postgres`, in the format of `tokio-postgres`.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of(DEFAULT_DATABASE)
    }

    /// Creates an empty database for one test, and returns its URL.
    pub async fn create_database(&self, name: &str) -> String {
        let statement = format!(r#"CREATE DATABASE "{}""#, name.replace('"', r#""""#));
        if let Err(failure) = execute(&self.url(), &statement).await {
            panic!("database {name} is not made: {failure}\n{}", self.log());
        }
        self.url_of(name)
    }

    /// Creates the user for the readers of a database, and returns its URL. The migrations give it its rights.
    pub async fn create_reader(&self, database: &str) -> String {
        let reader = format!("bookrag_reader_{database}");
        let statement = format!(r#"CREATE ROLE "{}" LOGIN"#, reader.replace('"', r#""""#));
        if let Err(failure) = execute(&self.url(), &statement).await {
            panic!("the user {reader} is not made: {failure}\n{}", self.log());
        }
        let owner = format!("//{USER}@");
        let reader = format!("//{}@", percent_encoded(&reader));
        self.url_of(database).replacen(&owner, &reader, 1)
    }

    /// The folder with the server's programs, among them the clients of its version.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Returns the log so far.
    #[must_use]
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Starts the watchdog, which starts the server.
    fn launch() -> Result<Self, String> {
        let folder = tempfile::Builder::new()
            .prefix("bookrag-postgres-")
            .tempdir_in(ROOT)
            .map_err(|cause| format!("no folder for a PostgreSQL server in {ROOT}: {cause}"))?;
        let account = Account::other_than_root(folder.path())?;
        let binaries = Binaries::find(account.as_ref())?;
        let programs = binaries.initdb.with_file_name("");
        let no_log = |cause| {
            format!(
                "no log of a PostgreSQL server in {}: {cause}",
                folder.path().display()
            )
        };
        let log = fs::File::create(folder.path().join("log")).map_err(no_log)?;

        let mut watchdog = command(Path::new("/bin/sh"), account.as_ref(), folder.path());
        watchdog.args(["-c", WATCHDOG, "watchdog"]);
        watchdog
            .arg(folder.path())
            .arg(USER)
            .arg(binaries.initdb)
            .arg(binaries.postgres);
        watchdog
            .stdin(Stdio::piped())
            .stdout(log.try_clone().map_err(no_log)?)
            .stderr(log);
        // In a group of its own, so that an interrupt from the keyboard does not end the watchdog before it has cleaned up.
        watchdog.process_group(0);
        let watchdog = watchdog
            .spawn()
            .map_err(|cause| format!("/bin/sh does not start: {cause}"))?;
        Ok(Self {
            watchdog,
            folder,
            programs,
        })
    }

    /// The folder with the server's socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn url_of(&self, database: &str) -> String {
        socket_url(self.folder(), database)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // `wait` first closes the watchdog's standard input, which stops the server.
        if let Err(cause) = self.watchdog.wait() {
            eprintln!(
                "the PostgreSQL server in {} may still run: {cause}",
                self.folder.path().display()
            );
        }
    }
}

/// The account for servers when the tests run as root, which servers refuse.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account {
    user_id: u32,
    group_id: u32,
}

impl Account {
    /// Returns `None` unless the tests run as root; else `nobody`, after making it the owner of the folder.
    pub(crate) fn other_than_root(folder: &Path) -> Result<Option<Self>, String> {
        let owner = fs::metadata(folder)
            .map_err(|cause| format!("{}: {cause}", folder.display()))?
            .uid();
        if owner != 0 {
            return Ok(None);
        }
        let accounts =
            fs::read_to_string("/etc/passwd").map_err(|cause| format!("/etc/passwd: {cause}"))?;
        let nobody = Self::nobody(&accounts)
            .ok_or("the server refuses root, and /etc/passwd has no `nobody`")?;
        chown(folder, Some(nobody.user_id), Some(nobody.group_id))
            .map_err(|cause| format!("{} does not become nobody's: {cause}", folder.display()))?;
        Ok(Some(nobody))
    }

    fn nobody(accounts: &str) -> Option<Self> {
        let line = accounts
            .lines()
            .find_map(|line| line.strip_prefix("nobody:"))?;
        let mut fields = line.split(':').skip(1);
        Some(Self {
            user_id: fields.next()?.parse().ok()?,
            group_id: fields.next()?.parse().ok()?,
        })
    }
}

/// Returns a command in `folder`, which runs under `account` if given, without its other groups.
pub(crate) fn command(program: &Path, account: Option<&Account>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder);
    if let Some(account) = account {
        command.uid(account.user_id).gid(account.group_id);
    }
    command
}

/// Runs a command to its end, and returns its output. The error has its exit status and all output.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|cause| format!("{command:?}: {cause}"))?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(printed);
    }
    Err(format!(
        "{command:?}: {}\n{printed}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// Waits until the server at `url` accepts a connection; fails with the reason if it never will.
pub(crate) async fn accepts_connections(url: &str, watchdog: &mut Child) -> Result<(), String> {
    let deadline = Instant::now() + START_DEADLINE;
    loop {
        let Err(refusal) = execute(url, "").await else {
            return Ok(());
        };
        if let Ok(Some(status)) = watchdog.try_wait() {
            return Err(format!("the server ended at its start ({status})"));
        }
        if Instant::now() > deadline {
            return Err(format!("the server accepts no connection: {refusal}"));
        }
        tokio::time::sleep(CONNECT_PAUSE).await;
    }
}

/// Returns the URL of a database of the server whose socket is in `folder`.
pub(crate) fn socket_url(folder: &Path, database: &str) -> String {
    let host = percent_encoded(&folder.to_string_lossy());
    format!("postgresql://{USER}@{host}/{}", percent_encoded(database))
}

async fn execute(url: &str, statement: &str) -> Result<(), tokio_postgres::Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    let executed = async move { client.batch_execute(statement).await };
    let (executed, closed) = tokio::join!(executed, connection);
    executed.and(closed)
}

/// Escapes everything but ASCII letters, digits, hyphens and underscores, for a URL's host or path.
fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("a String takes every write");
        }
    }
    encoded
}
