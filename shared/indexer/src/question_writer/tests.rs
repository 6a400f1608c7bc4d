use std::time::Duration;

use axum::http::StatusCode;
use axum::http::header::RETRY_AFTER;
use axum::response::{IntoResponse, Response};
use book::questions::question_file;
use serde_json::{Value, json};

use super::*;
use crate::ingest::simulation::stores::{Stores, options};
use crate::ingest::{SyncOptions, sync};
use crate::source::MemorySource;
use fakes::server::{Answer, Server};
use models::chat::{ChatOptions, OpenAiChat};
use models::prices::Price;

const DEW: &str = "# Dew\n\nWater on grass.\n\n## Frost\n\nIt is frozen dew.\n\n## Empty\n";

/// An indexed book with a model.
struct World {
    source: MemorySource,
    stores: Stores,
    ingest: Mutex<Ingest>,
    server: Server,
    writer: QuestionWriter,
}

impl World {
    async fn start(pages: &[(&str, &str)], answer: Answer) -> Self {
        let source = MemorySource::default();
        let stores = Stores::new();
        for (path, text) in pages {
            put(&source, path, text);
        }
        let ingest = stores.open(&source, options()).await.unwrap();
        sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
        let server = Server::start("/v1/chat/completions", answer).await;
        Self {
            writer: writer(&server, None, None),
            source,
            stores,
            ingest: Mutex::new(ingest),
            server,
        }
    }

    async fn sync(&self) {
        let ingest = self.ingest.lock().await;
        sync(&ingest, SyncOptions::default(), |_| {}).await.unwrap();
    }

    async fn plan(&mut self) -> Plan {
        let ingest = self.ingest.lock().await;
        self.writer.plan(&ingest, None).await.unwrap()
    }

    async fn run(&mut self) -> Done {
        let plan = self.plan().await;
        self.writer.write(&self.ingest, plan).await.unwrap()
    }

    /// The questions of a page's sections that the index has.
    async fn indexed(&self, source: &str) -> Vec<String> {
        let ingest = self.ingest.lock().await;
        let status = ingest.status("").await.unwrap();
        assert!(status.pending.is_empty(), "{:?}", status.pending);
        let document = ingest.page_with_questions(source).await.unwrap().unwrap();
        let sections = document.questions.values();
        sections.flat_map(|it| it.questions.clone()).collect()
    }

    async fn written(&self) -> std::collections::BTreeMap<String, String> {
        let catalog = self.stores.tables();
        catalog.written_questions("site", None).await.unwrap()
    }

    fn requests(&self) -> usize {
        self.server.seen().len()
    }
}

fn writer(server: &Server, price: Option<Price>, budget: Option<u64>) -> QuestionWriter {
    let options = ChatOptions {
        base_url: format!("{}/v1", server.origin),
        api_key: None,
        model: "m".to_owned(),
        timeout: Duration::from_secs(10),
        price,
    };
    let model = ChatModel::OpenAi(OpenAiChat::new(options).unwrap());
    QuestionWriter::new(model, "m".to_owned(), budget)
}

fn put(source: &MemorySource, path: &str, text: &str) {
    let bytes = text.as_bytes().to_vec();
    source.files().insert(path.to_owned(), bytes);
}

fn says(text: &str) -> Response {
    let choice = json!({"index": 0, "delta": {"content": text}, "finish_reason": "stop"});
    let usage = json!({"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110});
    let body = json!({"choices": [choice], "usage": usage});
    let body = format!("data: {body}\n\ndata: [DONE]\n\n");
    ([("content-type", "text/event-stream")], body).into_response()
}

fn prompt(request: &Value) -> &str {
    request["messages"][1]["content"].as_str().unwrap()
}

/// Asks about the section that the prompt has.
fn by_section(request: &Value) -> Response {
    let place = prompt(request).lines().nth(1).unwrap();
    let hostile = "<img src=x onerror=alert(1)>\n#anchor 0123\n// a comment\nhttps://evil.example";
    says(&format!("{hostile}\n{place} is wet"))
}

fn refuses(_: &Value) -> Response {
    StatusCode::UNAUTHORIZED.into_response()
}

fn nonsense(_: &Value) -> Response {
    says("I'm sorry, but I can't help with that.")
}

fn limited_once(request: &Value) -> Response {
    static LIMITED: StdMutex<bool> = StdMutex::new(false);
    let was_limited = std::mem::replace(&mut *LIMITED.lock().unwrap(), true);
    if was_limited {
        return by_section(request);
    }
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, "0")]).into_response()
}

#[tokio::test]
async fn each_text_is_sent_once_and_its_questions_are_indexed() {
    let copy = "# Dew\n\nWater on grass.\n";
    let pages = [("docs/dew.md", DEW), ("docs/copy.md", copy)];
    let mut world = World::start(&pages, by_section).await;
    assert_eq!(world.plan().await.sections, 3, "an empty section has none");
    let done = world.run().await;
    assert_eq!((done.sections, done.failed, done.end), (3, 0, None));
    assert_eq!(world.requests(), 2);
    let questions = ["anchor 0123", "// a comment", "Dew is wet"];
    assert_eq!(world.indexed("docs/copy.md").await, questions);
    let dew = world.indexed("docs/dew.md").await;
    assert_eq!(dew.last().unwrap(), "Dew › Frost is wet");
    let written = world.written().await;
    assert!(
        written["docs/dew.md"].contains("// written by m ["),
        "{written:?}"
    );

    // Neither this process nor the next one sends anything again, not even of a renamed page.
    world.writer = writer(&world.server, None, None);
    assert!(world.plan().await.is_empty());
    world.source.files().remove("docs/dew.md");
    put(&world.source, "docs/new.md", DEW);
    world.sync().await;
    assert_eq!(world.run().await.sections, 2);
    assert_eq!(world.requests(), 2);
    assert_eq!(world.indexed("docs/new.md").await, dew);

    // A changed text has no questions, until new ones are written.
    put(&world.source, "docs/new.md", &DEW.replace("frozen", "cold"));
    world.sync().await;
    assert_eq!(world.indexed("docs/new.md").await, questions);
    assert_eq!(world.run().await.sections, 1);
    assert_eq!(world.requests(), 3);
}

#[tokio::test]
async fn the_sites_files_win_and_other_versions_share_what_is_written() {
    let old = "versioned_docs/version-1.0/dew.md";
    let settings = "versions = ['1.0']\nlast_version = 'current'";
    let pages = [("docs/dew.md", DEW), (old, DEW), ("bookrag.toml", settings)];
    let mut world = World::start(&pages, by_section).await;
    let file = question_file("docs/dew.md");
    put(&world.source, &file, "#frost\nslippery\n");
    world.sync().await;
    assert_eq!(world.run().await.sections, 1);
    assert_eq!(
        world.requests(),
        1,
        "only the default version is written for"
    );
    let questions = ["anchor 0123", "// a comment", "Dew is wet", "slippery"];
    assert_eq!(world.indexed("docs/dew.md").await, questions);
    assert_eq!(world.indexed(old).await, &questions[..3]);
    put(&world.source, &file, "#\nmine\n#frost\nslippery\n");
    world.sync().await;
    assert_eq!(world.indexed("docs/dew.md").await, ["mine", "slippery"]);
}

#[tokio::test]
async fn what_is_stored_and_not_indexed_is_indexed_by_the_next_run() {
    let mut world = World::start(&[("docs/dew.md", DEW)], by_section).await;
    for by_sync in [true, false] {
        let document = {
            let ingest = world.ingest.lock().await;
            let page = ingest.page_with_questions("docs/dew.md").await.unwrap();
            page.unwrap()
        };
        let mut file = QuestionFile::default();
        for section in asked_sections(&document) {
            let written = file.section_mut(&section.anchor);
            written.text_hash = Some(section.text_hash);
            written.add(&format!("asked, {by_sync}")).unwrap();
        }
        let former = world.written().await.remove("docs/dew.md");
        let (tables, text) = (world.stores.tables(), file.text());
        let saved = tables.save_written_questions("site", "docs/dew.md", former.as_deref(), &text);
        assert!(saved.await.unwrap());
        if by_sync {
            world.sync().await;
        } else {
            let done = world.run().await;
            assert_eq!(done.sections, 0);
        }
        let indexed = world.indexed("docs/dew.md").await;
        assert_eq!(indexed[0], format!("asked, {by_sync}"));
    }
    // Nothing is read whose content is known.
    world.source.take_read();
    world.ingest.lock().await.status("").await.unwrap();
    assert_eq!(world.source.take_read(), [""; 0]);
    assert_eq!(world.requests(), 0);
}

#[tokio::test]
async fn a_limit_is_waited_for() {
    let mut world = World::start(&[("docs/dew.md", DEW)], limited_once).await;
    assert_eq!(world.run().await.sections, 2);
    assert_eq!(world.requests(), 3);
}

#[tokio::test]
async fn failures_end_the_run_and_nonsense_is_not_asked_for_again() {
    let sections: String = (0..9)
        .map(|n| format!("## S{n}\n\nText {n}.\n\n"))
        .collect();
    let pages = [("docs/dew.md", sections.as_str())];
    let mut world = World::start(&pages, refuses).await;
    let done = world.run().await;
    assert_eq!(
        (done.sections, done.end),
        (0, Some("the last sections all failed"))
    );
    assert!((3..=4).contains(&world.requests()), "{}", world.requests());
    assert_eq!(world.plan().await.sections, 9);

    let mut world = World::start(&[("docs/dew.md", DEW)], nonsense).await;
    assert_eq!(world.run().await.failed, 2);
    assert_eq!((world.plan().await.sections, world.requests()), (0, 2));
    assert!(world.written().await.is_empty());
}

#[tokio::test]
async fn a_budget_of_its_own_bounds_what_is_spent() {
    let mut world = World::start(&[("docs/dew.md", DEW)], by_section).await;
    let price = Some(Price {
        input: 0.0,
        output: 1.0,
    });
    // A call costs 10, and 2,000 are reserved before it.
    world.writer = writer(&world.server, price, Some(1_999));
    let done = world.run().await;
    assert_eq!(
        (done.sections, done.end),
        (0, Some("the day's budget is spent"))
    );
    assert_eq!(world.requests(), 0);
    world.writer = writer(&world.server, price, Some(4_000));
    assert_eq!(world.run().await.sections, 2);
    let catalog = world.stores.tables();
    for (account, left) in [(Account::Questions, 80), (Account::Answers, 100)] {
        assert!(!catalog.reserve_spend(account, left + 1, 100).await.unwrap());
        assert!(catalog.reserve_spend(account, left, 100).await.unwrap());
    }
}
