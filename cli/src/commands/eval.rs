//! `bookrag eval`: measures retrieval, answers and refusals on labelled questions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bookrag::answer::{self, Answer, Answerer, Prepared};
use bookrag::catalog::{CatalogError, ChunkRow};
use bookrag::config::Config;
use bookrag::generate::Generator;
use bookrag::index::Filters;
use bookrag::ingest::{OpenMode, SyncOptions};
use bookrag::retrieve::{ScoredChunk, is_unasked_exercise};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::progress::with_progress;
use super::{BuildArgument, CommandError, Exit, first_questions, output};
use crate::evaluation::{
    Baseline, Comparison, Evaluation, Found, Outcome, Question, Quoted, Reply, Saved, Span,
    TOTAL_STAGE, compare, diff, evaluate, quoted, table,
};
use crate::local::{BookFolder, LocalBook};
use crate::site::Site;

/// Chunks per answer: the default of a request without `top_k`.
const TOP_K: usize = 10;
/// Sections listed in the details of a question.
const DETAILED: usize = 10;
/// The constant k of reciprocal rank fusion. Source: Cormack et al., SIGIR 2009.
const RRF_K: f64 = 60.0;

#[derive(Debug, Args)]
pub(super) struct EvalArguments {
    /// The questions: JSON, one per line, with the pages and headings that answer them.
    #[arg(required_unless_present = "compare")]
    questions: Option<PathBuf>,
    /// Write a first file of questions from the site's headings, with TODOs for a person. Asks nothing.
    #[arg(long, requires = "questions", requires = "site",
        conflicts_with_all = ["compare", "books", "baseline", "details"])]
    init: bool,
    /// Compare two results that earlier runs on the same questions printed with `--json`. Asks nothing.
    #[arg(long, num_args = 2, value_names = ["A", "B"],
        conflicts_with_all = ["questions", "books", "site", "baseline", "details"])]
    compare: Option<Vec<PathBuf>>,
    /// The folder that holds a site for each `corpus` that the questions name.
    #[arg(long)]
    books: Option<PathBuf>,
    /// The site of questions that name no corpus.
    #[arg(long)]
    site: Option<PathBuf>,
    #[command(flatten)]
    build: BuildArgument,
    /// The output of an earlier run with `--json`. Exits with 1 if this run is worse.
    #[arg(long)]
    baseline: Option<PathBuf>,
    /// How many questions of a book may do worse than in the baseline. Rounding differs between processors and may swap
    /// near ties.
    #[arg(long, default_value_t = 0)]
    slack: u32,
    /// Write details to this file, one line of JSON per question: the sections found, and why it was answered or refused.
    #[arg(long)]
    details: Option<PathBuf>,
    /// The ranking to measure. Answers are always written from the full order.
    #[arg(long, value_enum, default_value_t = Ranker::Full)]
    rank_by: Ranker,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Ranker {
    /// The order that readers get.
    Full,
    /// Without the reranker.
    Fused,
    /// Reciprocal rank fusion of both rankers.
    Rrf,
    /// The embedder alone.
    Dense,
    /// BM25 alone.
    Lexical,
}

pub(super) async fn run(
    config: &Config,
    arguments: &EvalArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    if arguments.init
        && let (Some(file), Some(site)) = (&arguments.questions, &arguments.site)
    {
        return first_questions::write(file, site, json).await;
    }
    match (&arguments.questions, arguments.compare.as_deref()) {
        (Some(questions), _) => measure(config, questions, arguments, json).await,
        (None, Some([a, b])) => compare_saved(a, b, json),
        // The argument parser requires one of them.
        (None, _) => Ok(Exit::Usage),
    }
}

async fn measure(
    config: &Config,
    path: &Path,
    arguments: &EvalArguments,
    json: bool,
) -> Result<Exit, CommandError> {
    let questions = Question::parse_all(&read(path)?).map_err(|problem| told(path, &problem))?;
    let baseline: Option<Baseline> = match &arguments.baseline {
        Some(path) => {
            let parsed = serde_json::from_str(&read(path)?);
            Some(parsed.map_err(|error| told(path, &error))?)
        }
        None => None,
    };
    let mut by_corpus: BTreeMap<Option<&str>, Vec<&Question>> = BTreeMap::new();
    for question in &questions {
        let corpus = question.corpus.as_deref();
        by_corpus.entry(corpus).or_default().push(question);
    }
    let mut asked = Vec::new();
    for (corpus, questions) in by_corpus {
        let site = site_of(corpus, arguments)?;
        asked.extend(ask_all(config, &site, &questions, arguments.rank_by).await?);
    }
    if let Some(path) = &arguments.details {
        let lines: String = asked
            .iter()
            .map(|asked| format!("{}\n", asked.details))
            .collect();
        std::fs::write(path, lines).map_err(|error| told(path, &error))?;
    }
    let asked: Vec<_> = asked
        .into_iter()
        .map(|asked| (asked.question, asked.outcome))
        .collect();
    let evaluation = evaluate(&asked);
    Ok(report(
        &evaluation,
        baseline.as_ref(),
        f64::from(arguments.slack),
        json,
    ))
}

fn site_of(corpus: Option<&str>, arguments: &EvalArguments) -> Result<Site, CommandError> {
    let missing = |message: String| CommandError::Told(message);
    match corpus {
        Some(corpus) => {
            let books = arguments.books.as_ref().ok_or_else(|| {
                missing(format!("the questions are about `{corpus}`; name the folder with that site: --books DIR"))
            })?;
            Ok(Site::read(&books.join(corpus))?)
        }
        None => {
            let site = arguments.site.as_ref().ok_or_else(|| {
                missing("some questions name no corpus; name their site: --site SITE".to_owned())
            })?;
            arguments.build.site(site)
        }
    }
}

fn compare_saved(a: &Path, b: &Path, json: bool) -> Result<Exit, CommandError> {
    let saved = |path: &Path| -> Result<Saved, CommandError> {
        serde_json::from_str(&read(path)?).map_err(|error| {
            let problem = format!(
                "{error}; `--compare` takes what this version's `bookrag eval --json` prints"
            );
            told(path, &problem)
        })
    };
    let (first, second) = (saved(a)?, saved(b)?);
    let (a, b) = (a.display().to_string(), b.display().to_string());
    let comparison = Comparison::of((&a, &first), (&b, &second)).map_err(CommandError::Told)?;
    if json {
        output::json(&json!(comparison));
    } else {
        output::line(&comparison.text());
    }
    Ok(Exit::Done)
}

struct Asked<'q> {
    question: &'q Question,
    outcome: Outcome,
    details: Value,
}

/// Syncs a book and asks the questions, like a reader who has no page of the book open.
async fn ask_all<'q>(
    config: &Config,
    site: &Site,
    questions: &[&'q Question],
    ranker: Ranker,
) -> Result<Vec<Asked<'q>>, CommandError> {
    let folder = BookFolder::create(config, site, output::status)?;
    let book = LocalBook::open(config, &folder, output::status).await?;
    ask_book(&book, config, site, questions, ranker).await
}

async fn ask_book<'q>(
    book: &LocalBook,
    config: &Config,
    site: &Site,
    questions: &[&'q Question],
    ranker: Ranker,
) -> Result<Vec<Asked<'q>>, CommandError> {
    output::status(&format!("{}: {} questions", site.name(), questions.len()));
    let ingest = book.ingest(config, site, OpenMode::TakeOver).await?;
    with_progress(&ingest, SyncOptions::default()).await?;
    let index = book.context.live_index().await?;
    // Extractive answers: a chat model would cost money, and its answers vary between runs.
    let answerer = Answerer {
        generator: Generator::Extractive,
        ..book.context.answerer(&index)?
    };
    let mut outcomes = Vec::with_capacity(questions.len());
    for question in questions {
        let asked = answer::Question {
            filters: Filters {
                locale: Some(question.locale.clone()),
                ..Filters::default()
            },
            ..answer::Question::new(&question.query, TOP_K)
        };
        let prepared = answerer.prepare(asked, None).await;
        let prepared = prepared.map_err(bookrag::error::Error::from)?;
        let candidates = prepared.retrieved.candidates.clone();
        let signals = prepared.retrieved.signals;
        let locale = Some(question.locale.as_str());
        let given = given(&prepared, question, book, index.index_id).await?;
        let answer = prepared.whole().await?;
        let given = match given {
            Some(given) => Some(given.whole().await?),
            None => None,
        };
        let labelled = Labelled::read(site, question)?;
        let results = ranked(candidates, ranker);
        let details = json!({
            "id": question.id,
            "query": question.query,
            "answerable": question.answerable,
            "answered": answer.answered(),
            "outcome": answer.outcome,
            "signals": signals,
            "results": results.iter().take(DETAILED).map(|candidate| json!({
                "source": candidate.chunk.source,
                "url": candidate.url(locale),
                "scores": candidate.scores,
            })).collect::<Vec<_>>(),
            "answer": answer.text,
        });
        let outcome = Outcome {
            exercise_first: results
                .first()
                .is_some_and(|first| is_unasked_exercise(&question.query, &first.chunk)),
            results: results
                .iter()
                .map(|candidate| Found {
                    source: candidate.chunk.source.clone(),
                    url: candidate.url(locale),
                })
                .collect(),
            reply: reply(&answer),
            citations: cited(&answer),
            stages: stages(&answer),
            quoted: labelled
                .as_ref()
                .map(|labelled| labelled.quoted(Some(&answer))),
            quoted_given: labelled
                .as_ref()
                .map(|labelled| labelled.quoted(given.as_ref())),
            answer: answer.text,
        };
        outcomes.push(Asked {
            question,
            outcome,
            details,
        });
    }
    Ok(outcomes)
}

/// Answers the question from the section with most of its labelled lines; `None` without labelled lines, or if no section holds them.
async fn given(
    prepared: &Prepared,
    question: &Question,
    book: &LocalBook,
    index_id: i64,
) -> Result<Option<Prepared>, CommandError> {
    let Some(first) = question.spans.first() else {
        return Ok(None);
    };
    let catalog = book.context.catalog();
    let failed = |error: CatalogError| CommandError::Told(error.to_string());
    let document = catalog
        .document(index_id, &first.source)
        .await
        .map_err(failed)?;
    let Some(document) = document else {
        return Ok(None);
    };
    let id = document.row.document_id;
    let chunks = catalog.chunks(index_id, id).await.map_err(failed)?;
    let lines = |chunk: &ChunkRow| -> u32 {
        let spans = question
            .spans
            .iter()
            .filter(|span| span.source == first.source);
        let shared = spans.map(|span| {
            let start = span.start_line.max(chunk.start_line);
            (span.end_line.min(chunk.end_line) + 1).saturating_sub(start)
        });
        shared.sum()
    };
    // The first one wins a tie.
    let best = chunks.iter().rev().max_by_key(|chunk| lines(chunk));
    match best.filter(|chunk| lines(chunk) > 0) {
        Some(chunk) => prepared
            .clone()
            .given(id, chunk.position)
            .await
            .map_err(failed),
        None => Ok(None),
    }
}

/// The labelled lines that answer a question, read from the book's files.
struct Labelled<'q> {
    /// The texts of each alternative.
    alternatives: Vec<Vec<String>>,
    needs: &'q [String],
}

impl<'q> Labelled<'q> {
    fn read(site: &Site, question: &'q Question) -> Result<Option<Self>, CommandError> {
        if question.spans.is_empty() {
            return Ok(None);
        }
        let folder = site.folder().ok_or_else(|| {
            CommandError::Told("questions with `spans` need a site in a folder".to_owned())
        })?;
        let text = |span: &Span| {
            let lines = read(&folder.join(&span.source))?;
            let lines = lines
                .split('\n')
                .skip(span.start_line.saturating_sub(1) as usize);
            let count = (span.end_line + 1).saturating_sub(span.start_line) as usize;
            Ok(lines.take(count).collect::<Vec<_>>().join("\n"))
        };
        let texts = |spans: &Vec<Span>| spans.iter().map(text).collect();
        let alternatives = [&question.spans].into_iter().chain(&question.also);
        Ok(Some(Self {
            alternatives: alternatives
                .map(texts)
                .collect::<Result<_, CommandError>>()?,
            needs: &question.needs,
        }))
    }

    /// Scores an answer against the labelled lines; all zeros without an answer.
    fn quoted(&self, answer: Option<&Answer>) -> Quoted {
        let answer = answer.filter(|answer| answer.answered());
        answer.map_or_else(Quoted::default, |answer| {
            quoted(&answer.text, &self.alternatives, self.needs)
        })
    }
}

fn ranked(mut candidates: Vec<ScoredChunk>, ranker: Ranker) -> Vec<ScoredChunk> {
    let by = |candidates: &mut Vec<ScoredChunk>, score: fn(&ScoredChunk) -> f32| {
        candidates.sort_by(|a, b| score(b).total_cmp(&score(a)));
    };
    match ranker {
        Ranker::Full => {}
        Ranker::Fused => by(&mut candidates, |candidate| candidate.scores.fused),
        Ranker::Dense => by(&mut candidates, cosine),
        Ranker::Lexical => by(&mut candidates, |candidate| candidate.scores.lexical),
        Ranker::Rrf => {
            let mut scored: Vec<(f64, ScoredChunk)> = candidates
                .into_iter()
                .map(|candidate| (0.0, candidate))
                .collect();
            for score in [cosine as fn(&ScoredChunk) -> f32, |candidate| {
                candidate.scores.lexical
            }] {
                scored.sort_by(|(_, a), (_, b)| score(b).total_cmp(&score(a)));
                let mut rank = RRF_K;
                for (sum, _) in &mut scored {
                    rank += 1.0;
                    *sum += 1.0 / rank;
                }
            }
            scored.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            candidates = scored.into_iter().map(|(_, candidate)| candidate).collect();
        }
    }
    candidates
}

/// The cosine with the question; the farthest value if there is none.
fn cosine(candidate: &ScoredChunk) -> f32 {
    candidate.scores.dense.unwrap_or(-1.0)
}

fn reply(answer: &Answer) -> Reply {
    match answer.outcome {
        answer::Outcome::Answered => Reply::Answered,
        answer::Outcome::Uncertain => Reply::Uncertain,
        answer::Outcome::NotCovered => Reply::Refused,
    }
}

fn cited(answer: &Answer) -> Vec<Found> {
    let citations = answer.citations.iter();
    citations
        .map(|citation| Found {
            source: citation.source.clone(),
            url: citation.url.clone(),
        })
        .collect()
}

fn stages(answer: &Answer) -> BTreeMap<&'static str, f64> {
    let times = &answer.times;
    BTreeMap::from([
        ("embed", times.embed_ms),
        ("search", times.search_ms),
        ("join", times.join_ms),
        ("fuse", times.fuse_ms),
        ("rerank", times.rerank_ms),
        (TOTAL_STAGE, answer.latency_ms),
    ])
}

fn report(evaluation: &Evaluation, baseline: Option<&Baseline>, slack: f64, json: bool) -> Exit {
    let regressions = baseline.map(|baseline| compare(evaluation, baseline, slack));
    if json {
        let mut printed = json!(evaluation);
        if let Some(regressions) = &regressions {
            printed["regressions"] = json!(regressions);
        }
        output::json(&printed);
    } else {
        output::line(&table(evaluation));
    }
    let (Some(baseline), Some(regressions)) = (baseline, regressions) else {
        return Exit::Done;
    };
    output::status(&diff(evaluation, baseline));
    match regressions.len() {
        0 => return Exit::Done,
        1 => output::status("error: 1 figure is worse than the baseline's"),
        count => output::status(&format!(
            "error: {count} figures are worse than the baseline's"
        )),
    }
    Exit::Failed
}

fn read(path: &Path) -> Result<String, CommandError> {
    std::fs::read_to_string(path).map_err(|error| told(path, &error))
}

fn told(path: &Path, problem: &dyn std::fmt::Display) -> CommandError {
    CommandError::Told(format!("{}: {problem}", path.display()))
}
