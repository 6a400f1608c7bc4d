//! A book in a bucket.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use serde_json::json;

use crate::client::client;
use crate::support::Workshop;

/// A moto server on a free port, which ends when its standard input closes.
const SERVER: &str = r"
import os, sys, threading
def watch():
    sys.stdin.read()
    os._exit(0)
threading.Thread(target=watch, daemon=True).start()
from moto.server import main
main(['-H', '127.0.0.1', '-p', '0'])
";
const RUNNING: &str = "Running on ";
/// moto reads the region from this header and checks no signature.
const CREDENTIAL: &str = "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request";

/// A moto server with a bucket.
struct Bucket {
    url: String,
    process: Child,
    _stdin: ChildStdin,
}

impl Bucket {
    fn start() -> Self {
        let python = std::env::var("BOOKRAG_TEST_PYTHON")
            .expect("BOOKRAG_TEST_PYTHON names a Python that has moto; tests/run.sh installs one");
        let mut process = Command::new(python)
            .args(["-c", SERVER])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = process.stdin.take().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap()).lines();
        let url = log.find_map(|line| {
            let line = line.unwrap();
            let (_, url) = line.split_once(RUNNING)?;
            Some(url.trim().to_owned())
        });
        // Drains the log: a full pipe would block the server.
        std::thread::spawn(move || log.for_each(drop));
        let bucket = Self {
            url: url.expect("moto says where it runs"),
            process,
            _stdin: stdin,
        };
        bucket.put("", Vec::new());
        bucket
    }

    fn put(&self, key: &str, content: Vec<u8>) {
        let url = format!("{}/books{key}", self.url);
        let answer = client()
            .put(url)
            .header("authorization", CREDENTIAL)
            .body(content)
            .send()
            .unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    fn delete(&self, key: &str) {
        let url = format!("{}/books{key}", self.url);
        let answer = client()
            .delete(url)
            .header("authorization", CREDENTIAL)
            .send()
            .unwrap();
        assert!(answer.status().is_success(), "{answer:?}");
    }

    /// Uploads all files of a folder, as the CI of a docs repository does.
    fn upload(&self, folder: &Path, prefix: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let key = format!("{prefix}/{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                self.upload(&entry.path(), &key);
            } else {
                self.put(&key, std::fs::read(entry.path()).unwrap());
            }
        }
    }

    fn run(&self, workshop: &Workshop, arguments: &[&str]) -> serde_json::Value {
        let mut command = workshop.command(arguments);
        command
            .arg("--json")
            .env("AWS_ENDPOINT_URL", &self.url)
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_REGION", "us-east-1");
        let output = command.output().unwrap();
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {output:?}"))
    }
}

impl Drop for Bucket {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_bucket_is_synced_as_a_folder_is() {
    let (workshop, bucket) = (Workshop::with_broken_page(), Bucket::start());
    bucket.upload(&workshop.site(), "/garden");
    let of_folder = workshop.sync();
    let of_bucket = bucket.run(&workshop, &["sync", "s3://books/garden/"]);
    for field in [
        "files_seen",
        "files_changed",
        "total_chunks",
        "total_tokens",
        "skipped",
    ] {
        assert_eq!(of_bucket[field], of_folder[field], "{field}");
    }
    let again = bucket.run(&workshop, &["sync", "s3://books/garden"]);
    assert_eq!(
        (&again["files_changed"], &again["embedded"]),
        (&json!(0), &json!(0))
    );
    bucket.delete("/garden/docs/intro.md");
    let doctor = bucket.run(&workshop, &["doctor", "s3://books/garden"]);
    assert_eq!(
        doctor["index"]["status"]["pending"],
        json!([{ "source": "docs/intro.md", "change": "deleted" }])
    );
    let found = workshop.json(&["search", "calibrate the soil moisture probe"]);
    assert!(
        !found["data"]["results"].as_array().unwrap().is_empty(),
        "{found}"
    );
    let missing = bucket.run(&workshop, &["sync", "s3://no-such-bucket/garden"]);
    assert!(missing.to_string().contains("no-such-bucket"), "{missing}");
}
