//! Runs the `bookrag` command in a temporary folder with a copy of the fixture book.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::client;

/// The pause between two looks at something that is waited for.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// Without a name, a site is known by its folder, and the index of another folder is another site's.
const SITE_OF_INDEX: &str = "book";

/// The files of the book's index, made once: most tests start with an indexed book, and embedding its pages takes longer than their steps.
static INDEX: LazyLock<Vec<(PathBuf, Vec<u8>)>> = LazyLock::new(|| {
    let workshop = Workshop {
        is_named: true,
        ..Workshop::new()
    };
    let report = workshop.sync();
    assert_eq!(report["status"], "success", "{report}");
    let files = std::fs::read_dir(workshop.stores()).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    paths
        .map(|path| {
            (
                path.file_name().unwrap().into(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect()
});

/// A copy of the book with its own stores.
pub(crate) struct Workshop {
    folder: tempfile::TempDir,
    /// Whether the site's name is [`SITE_OF_INDEX`].
    is_named: bool,
}

impl Workshop {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&fixture("book"), &folder.path().join("book"));
        Self {
            folder,
            is_named: false,
        }
    }

    /// Like [`Workshop::new`], but indexed already.
    pub(crate) fn indexed() -> Self {
        let workshop = Self {
            is_named: true,
            ..Self::new()
        };
        std::fs::create_dir(workshop.stores()).unwrap();
        for (name, content) in INDEX.iter() {
            std::fs::write(workshop.stores().join(name), content).unwrap();
        }
        workshop
    }

    /// Adds a page whose front matter is not YAML.
    pub(crate) fn with_broken_page() -> Self {
        let workshop = Self::new();
        copy(&fixture("broken-pages"), &workshop.site());
        workshop
    }

    /// Like [`Workshop::new`], with a site of a few small pages instead of the book.
    pub(crate) fn small() -> Self {
        let workshop = Self {
            folder: tempfile::tempdir().unwrap(),
            is_named: false,
        };
        std::fs::create_dir_all(workshop.site().join("docs")).unwrap();
        let config = "module.exports = {title: 'Garden', baseUrl: '/'};";
        std::fs::write(workshop.site().join("docusaurus.config.js"), config).unwrap();
        for (name, text) in [
            (
                "docs/probe.md",
                "# Probe\n\nThe soil moisture probe needs calibration.\n",
            ),
            (
                "docs/wheels.md",
                "# Wheels\n\nTighten the wheels with the blue wrench.\n",
            ),
        ] {
            workshop.write(name, text);
        }
        workshop
    }

    /// Writes a file of the site, and the folders above it.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let file = self.site().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    /// The temporary folder.
    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The user's data folder.
    pub(crate) fn data(&self) -> PathBuf {
        self.path().join("user-data")
    }

    pub(crate) fn stores(&self) -> PathBuf {
        self.site().join(".bookrag")
    }

    /// The SQLite file of the site.
    pub(crate) fn store(&self) -> PathBuf {
        self.stores().join("book.sqlite")
    }

    /// Returns the sources that a search finds, and the bypassed dependencies.
    pub(crate) fn found(&self, query: &str) -> (Vec<Value>, Value) {
        let found = self.json(&["search", query]);
        let results = found["data"]["results"].as_array().unwrap();
        let sources = results.iter().map(|result| result["source"].clone());
        (sources.collect(), found["meta"]["degraded"].clone())
    }

    pub(crate) fn site(&self) -> PathBuf {
        self.folder.path().join("book")
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bookrag"));
        command.args(arguments).current_dir(self.folder.path());
        for (name, _) in std::env::vars() {
            let ours = name.starts_with("BOOKRAG_") || name.starts_with("QDRANT_");
            if ours || name.starts_with("DATABASE_URL") || name.starts_with("OPENAI_") {
                command.env_remove(name);
            }
        }
        command.env("XDG_DATA_HOME", self.data());
        if self.is_named {
            command.env("BOOKRAG_SITE", SITE_OF_INDEX);
        }
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command with `--json` and parses its output.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        let output = self.run(&all);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
    }

    pub(crate) fn sync(&self) -> Value {
        self.json(&["sync", "book"])
    }

    /// Starts `serve` and waits until the book is indexed.
    pub(crate) fn serve(&self, more: &[&str]) -> Server {
        self.serve_with(&[], more)
    }

    /// Like [`Workshop::serve`], with environment variables.
    pub(crate) fn serve_with(&self, variables: &[(&str, &str)], more: &[&str]) -> Server {
        self.serve_site("book", variables, more)
    }

    /// Like [`Workshop::serve_with`], for another site.
    pub(crate) fn serve_site(
        &self,
        site: &str,
        variables: &[(&str, &str)],
        more: &[&str],
    ) -> Server {
        let mut arguments = vec!["serve", site, "--port", "0"];
        arguments.extend(more);
        let mut command = self.command(&arguments);
        command.envs(variables.iter().copied());
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let url = url_in(child.stdout.take().unwrap());
        Server { child, url }
    }

    /// Starts `serve` and waits until it listens; its first sync may still be running.
    pub(crate) fn serve_at_once(&self) -> Server {
        let mut command = self.command(&["serve", "book", "--listen", "127.0.0.1:0"]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let url = url_in(child.stderr.take().unwrap());
        Server { child, url }
    }
}

/// Reads a server's output up to the line with its URL, then drains it in a thread: a full pipe would block the server.
fn url_in(output: impl Read + Send + 'static) -> String {
    let mut lines = BufReader::new(output).lines();
    let mut seen = Vec::new();
    for line in &mut lines {
        let line = line.unwrap();
        if let Some((_, url)) = line.split_once("http://") {
            let host: String = url.chars().take_while(|c| !"/ ".contains(*c)).collect();
            std::thread::spawn(move || lines.for_each(drop));
            return format!("http://{host}");
        }
        seen.push(line);
    }
    panic!("serve ended before it listened: {seen:?}");
}

/// A running `serve`; killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) url: String,
}

impl Server {
    /// Kills it without a signal it could handle, like a crash.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Waits until it ends, and returns its exit code.
    pub(crate) fn wait(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }

    /// Polls a path until its response satisfies the condition.
    pub(crate) fn wait_for(&self, path: &str, is_there: impl Fn(&Value) -> bool) {
        let deadline = Instant::now() + Duration::from_mins(1);
        while !is_there(&serde_json::from_str(&self.get(path).1).unwrap_or_default()) {
            assert!(Instant::now() < deadline, "{path}");
            std::thread::sleep(POLL);
        }
    }

    /// Returns its process id.
    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let request = client().post(format!("{}{path}", self.url)).json(body);
        let response = request.send().unwrap();
        (response.status().as_u16(), response.json().unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        let response = client().get(format!("{}{path}", self.url)).send().unwrap();
        (response.status().as_u16(), response.text().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../tests/fixtures")
        .join(name)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        // Running the command from the README creates stores there.
        if entry.file_name() == ".bookrag" {
            continue;
        }
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
