//! How fast a book is read and cut: MB/s of Markdown on one core, beside other splitters on the same files in one run.
//!
//! `cargo bench -p book --bench chunking` measures ours; `tests/bench.sh` adds the crate `text-splitter` and LangChain, and counts
//! instructions. `BOOKRAG_BENCH_BOOK` names another site. Rounds are interleaved, so a machine that slows down slows all;
//! medians are printed, and the median of the ratios round by round.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use book::chunk::{ChunkPolicy, chunk_document};
use book::{
    Inputs, PageFile, SETTINGS_FILES, SiteSettings, list_pages, missing_inputs, read_document,
};

/// Rounds that count, after one that does not.
const ROUNDS: usize = 9;

struct Page {
    file: PageFile,
    bytes: Vec<u8>,
    inputs: Inputs,
}

struct Book {
    root: PathBuf,
    settings: SiteSettings,
    pages: Vec<Page>,
}

impl Book {
    fn read(root: PathBuf) -> Self {
        let mut paths = BTreeSet::new();
        walk(&root, &root, &mut paths);
        let read = |path: &str| std::fs::read(root.join(path)).ok();
        // Of other docs instances than the default one the versions are not read.
        let settings_files: BTreeMap<String, String> = SETTINGS_FILES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), String::from_utf8(read(name)?).ok()?)))
            .collect();
        let settings = SiteSettings::read(&settings_files, root.join("docs").is_dir())
            .expect("the settings can be read");
        let mut pages = Vec::new();
        for file in list_pages(&settings, &paths) {
            let bytes = read(&file.source).expect("a listed page is there");
            let mut inputs = Inputs::new();
            loop {
                let missing = missing_inputs(&settings, &file, &bytes, &inputs);
                if missing.is_empty() {
                    break;
                }
                inputs.extend(
                    missing
                        .into_keys()
                        .map(|path| (path.clone(), read(&path).into())),
                );
            }
            pages.push(Page {
                file,
                bytes,
                inputs,
            });
        }
        assert!(!pages.is_empty(), "no page in {}", root.display());
        Self {
            root,
            settings,
            pages,
        }
    }

    fn bytes(&self) -> usize {
        self.pages.iter().map(|page| page.bytes.len()).sum()
    }

    /// Reads and cuts every page; returns how many chunks there are.
    fn ours(&self) -> usize {
        let pages = self.pages.iter();
        let documents = pages.filter_map(|page| {
            read_document(&self.settings, "", &page.file, &page.bytes, &page.inputs).ok()
        });
        documents
            .map(|document| black_box(chunk_document(&document, &ChunkPolicy::ADAPTIVE)).len())
            .sum()
    }

    /// Cuts every page with the Markdown splitter of the crate `text-splitter`, sizes and overlap as ours.
    #[cfg(feature = "comparison")]
    fn text_splitter(&self) -> usize {
        use text_splitter::{ChunkConfig, ChunkSizer, MarkdownSplitter};

        struct Cl100k;
        impl ChunkSizer for Cl100k {
            fn size(&self, chunk: &str) -> usize {
                tiktoken_rs::cl100k_base_singleton()
                    .encode_ordinary(chunk)
                    .len()
            }
        }
        let policy = ChunkPolicy::ADAPTIVE;
        let config = ChunkConfig::new(policy.target_tokens..policy.split_above_tokens)
            .with_sizer(Cl100k)
            .with_overlap(policy.overlap_tokens)
            .expect("the overlap is smaller than a chunk");
        let splitter = MarkdownSplitter::new(config);
        let pages = self.pages.iter();
        pages
            .map(|page| {
                let text = String::from_utf8_lossy(&page.bytes);
                black_box(splitter.chunks(&text).collect::<Vec<_>>()).len()
            })
            .sum()
    }
}

fn walk(root: &Path, folder: &Path, paths: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).expect("the book's folder can be listed") {
        let path = entry.expect("an entry of the book's folder").path();
        if path.is_dir() {
            walk(root, &path, paths);
        } else if let Some(path) = path.strip_prefix(root).ok().and_then(Path::to_str) {
            paths.insert(path.to_owned());
        }
    }
}

/// LangChain in a process of its own: a line asks for a round, the answer is its chunks and seconds.
struct LangChain {
    child: Child,
    ask: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl LangChain {
    fn start(book: &Book) -> Option<Self> {
        let python = std::env::var_os("BOOKRAG_BENCH_PYTHON")?;
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/langchain.py");
        let policy = ChunkPolicy::ADAPTIVE;
        #[expect(clippy::zombie_processes, reason = "its drop waits for it")]
        let mut child = Command::new(python)
            .arg(script)
            .arg(policy.target_tokens.to_string())
            .arg(policy.overlap_tokens.to_string())
            .args(
                book.pages
                    .iter()
                    .map(|page| book.root.join(&page.file.source)),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("BOOKRAG_BENCH_PYTHON names a Python");
        let ask = child.stdin.take()?;
        let answers = BufReader::new(child.stdout.take()?);
        Some(Self {
            child,
            ask,
            answers,
        })
    }

    fn round(&mut self) -> (usize, Duration) {
        let mut answer = String::new();
        writeln!(self.ask).expect("LangChain takes a line");
        self.answers
            .read_line(&mut answer)
            .expect("LangChain answers");
        let (chunks, seconds) = answer.trim().split_once(' ').expect("chunks and seconds");
        let seconds = seconds.parse().expect("seconds");
        (
            chunks.parse().expect("chunks"),
            Duration::from_secs_f64(seconds),
        )
    }
}

impl Drop for LangChain {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn timed(run: impl FnOnce() -> usize) -> (usize, Duration) {
    let started = Instant::now();
    let chunks = run();
    (chunks, started.elapsed())
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let root = std::env::var_os("BOOKRAG_BENCH_BOOK").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/book"),
        PathBuf::from,
    );
    let book = Book::read(root);
    // One round of one splitter, for a tool that counts instructions.
    match std::env::var("BOOKRAG_BENCH_ONCE").as_deref() {
        Ok("ours") => {
            black_box(book.ours());
            return;
        }
        #[cfg(feature = "comparison")]
        Ok("text-splitter") => {
            black_box(book.text_splitter());
            return;
        }
        Ok(_) => return,
        Err(_) => {}
    }
    let mut langchain = LangChain::start(&book);
    let mut seconds: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut chunks: BTreeMap<&str, usize> = BTreeMap::new();
    for round in 0..=ROUNDS {
        let mut note = |name, (count, took): (usize, Duration)| {
            chunks.insert(name, count);
            if round > 0 {
                seconds.entry(name).or_default().push(took.as_secs_f64());
            }
        };
        note("bookrag", timed(|| book.ours()));
        #[cfg(feature = "comparison")]
        note("text-splitter", timed(|| book.text_splitter()));
        if let Some(langchain) = &mut langchain {
            note("langchain", langchain.round());
        }
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "a book has fewer than 2^52 bytes"
    )]
    let megabytes = book.bytes() as f64 / 1e6;
    eprintln!("{} pages, {megabytes:.2} MB", book.pages.len());
    for (name, times) in &seconds {
        let ratios = times
            .iter()
            .zip(&seconds["bookrag"])
            .map(|(other, ours)| other / ours);
        eprintln!(
            "{name:<14} {:>8.2} MB/s  {:>6} chunks  {:>7.2} times bookrag's time",
            megabytes / median(times.clone()),
            chunks[name],
            median(ratios.collect()),
        );
    }
}
