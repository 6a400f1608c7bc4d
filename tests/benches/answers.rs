//! Measures the cost of an answer without its model: `cargo bench -p bookrag-tests --bench answers -- SITE QUESTIONS.jsonl`.
//!
//! Serves the site's index under `BOOKRAG_DATA` in this process, over HTTP on loopback, with a scripted chat model. Prints
//! the time before the model's first word, the time per streamed token, 50 concurrent readers, and extractive answers.

#![expect(clippy::unwrap_used, reason = "a failed step ends the benchmark")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bookrag::config::{Config, Environment};
use bookrag::context::Context;
use bookrag::generate::Generator;
use bookrag::ingest::{OpenMode, SyncOptions, sync};
use bookrag_cli::evaluation::Question;
use bookrag_cli::local::{BookFolder, LocalBook};
use bookrag_cli::site::Site;
use bookrag_tests::chat_model::{ChatModel, Reply};
use futures::StreamExt as _;
use futures::future::join_all;
use serde_json::json;
use tokio::net::TcpListener;

/// Answers per figure.
const ANSWERS: usize = 60;
const TOKENS: usize = 2_000;
/// Concurrent readers, the tokens of each answer, and their pace: 50 per second.
const READERS: usize = 50;
const READERS_TOKENS: usize = 100;
const PACE: Duration = Duration::from_millis(20);

struct Answered {
    first: f64,
    whole: f64,
    complete: bool,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let [site, questions] = arguments.as_slice() else {
        println!("usage: cargo bench -p bookrag-tests --bench answers -- SITE QUESTIONS.jsonl");
        return;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let model = ChatModel::start(Reply::text(["Yes [1]."])).await;
    let mut environment: HashMap<String, String> = std::env::vars().collect();
    let chat = model.environment().into_iter();
    environment.extend(chat.map(|(name, value)| (name.to_owned(), value)));
    let most = (2 * TOKENS).to_string();
    environment.insert("BOOKRAG_ANSWER_TOKENS".to_owned(), most);
    let config = Config::read(Environment::Local, &environment).unwrap();
    let site = Site::read(Path::new(site)).unwrap();
    let name = site.name();
    let questions = Question::parse_all(&std::fs::read_to_string(questions).unwrap()).unwrap();
    let questions: Vec<String> = questions
        .into_iter()
        .filter(|question| question.answerable && question.corpus.as_ref() == Some(&name))
        .map(|question| question.query)
        .collect();
    let say = |line: &str| println!("{line}");
    let folder = BookFolder::create(&config, &site, say).unwrap();
    let book = LocalBook::open(&config, &folder, say).await.unwrap();
    let ingest = book
        .ingest(&config, &site, OpenMode::TakeOver)
        .await
        .unwrap();
    sync(&ingest, SyncOptions::default(), |_| ()).await.unwrap();
    let mut extractive = book.context.clone();
    extractive.generator = Generator::Extractive;
    let with_model = serve(book.context.clone()).await;
    let extractive = serve(extractive).await;
    println!("{} questions of {name}", questions.len());

    let one_by_one = measure(&with_model, &questions, ANSWERS, 1).await;
    print(
        "first token, one reader",
        one_by_one.iter().map(|answer| answer.first),
    );
    let whole = median(one_by_one.iter().map(|answer| answer.whole));
    let tokens = (0..TOKENS).map(|number| format!("word{number} ")).collect();
    model.tell(Reply::Text(tokens, Duration::ZERO));
    let long = measure(&with_model, &questions, ANSWERS / 3, 1).await;
    let long = median(long.iter().map(|answer| answer.whole));
    #[expect(clippy::cast_precision_loss, reason = "a small count")]
    let token = (long - whole) * 1_000.0 / TOKENS as f64;
    println!("a streamed token, model and client included: {token:.1} us");

    let tokens = (0..READERS_TOKENS)
        .map(|number| format!("word{number} "))
        .collect();
    model.tell(Reply::Text(tokens, PACE));
    let crowd = measure(&with_model, &questions, READERS, READERS).await;
    let broken = crowd.iter().filter(|answer| !answer.complete).count();
    println!(
        "{READERS} readers at once, {READERS_TOKENS} tokens at 50 a second: {broken} errors, RSS {} MiB",
        resident_mebibytes()
    );
    print("  first token", crowd.iter().map(|answer| answer.first));
    print("  whole answer", crowd.iter().map(|answer| answer.whole));

    for readers in [1, 10] {
        let started = Instant::now();
        let answers = measure(&extractive, &questions, ANSWERS, readers).await;
        #[expect(clippy::cast_precision_loss, reason = "a small count")]
        let rate = ANSWERS as f64 / started.elapsed().as_secs_f64();
        println!("extractive, {readers} readers: {rate:.1} answers/s");
        print("  whole answer", answers.iter().map(|answer| answer.whole));
    }
}

async fn serve(context: Context) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("http://{}/api/v1/chat", listener.local_addr().unwrap());
    let router = query::router(Arc::new(context));
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    url
}

/// Requests streams from this many concurrent readers.
async fn measure(url: &str, questions: &[String], count: usize, readers: usize) -> Vec<Answered> {
    let client = reqwest::Client::new();
    let ask = async |number: usize| {
        let question = &questions[number % questions.len()];
        let started = Instant::now();
        let request = client
            .post(url)
            .header("accept", "text/event-stream")
            .json(&json!({"query": question}));
        let response = request.send().await.unwrap();
        let mut body = response.bytes_stream();
        let mut first = None;
        let mut text = Vec::new();
        while let Some(Ok(bytes)) = body.next().await {
            first.get_or_insert_with(|| milliseconds(started));
            text.extend_from_slice(&bytes);
        }
        Answered {
            first: first.unwrap_or_default(),
            whole: milliseconds(started),
            complete: String::from_utf8(text).unwrap().contains("event: done"),
        }
    };
    let readers = (0..readers).map(|reader| {
        let ask = &ask;
        async move {
            let mut answered = Vec::new();
            for number in (reader..count).step_by(readers) {
                answered.push(ask(number).await);
            }
            answered
        }
    });
    join_all(readers).await.into_iter().flatten().collect()
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1_000.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn print(what: &str, values: impl Iterator<Item = f64>) {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let (middle, high) = (values[values.len() / 2], values[values.len() * 95 / 100]);
    println!("{what}: p50 {middle:.1} ms, p95 {high:.1} ms");
}

fn resident_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmRSS:"))
        .unwrap();
    let kibibytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kibibytes / 1_024
}
