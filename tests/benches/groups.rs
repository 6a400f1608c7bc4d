//! Measures how well questions that ask for the same are grouped: `cargo bench -p bookrag-tests --bench groups -- QUESTIONS.jsonl FOLDER`.
//!
//! A line of the questions is `{"site": "garden", "group": "blades", "question": "which blades fit?"}`; questions of one site with an equal group ask for
//! the same. `FOLDER/garden` is the site. Each site is indexed under `BOOKRAG_DATA`, and its questions are grouped as `bookrag insights` does, with the
//! threshold that is best for the mean of the other sites. Prints the agreement of the pairs: the share of the pairs in one group that ask for the same
//! (precision), the share of those that are in one group (recall), their harmonic mean (F1), and the adjusted Rand index (Hubert and Arabie, Journal of
//! Classification 2, 1985); then the same for the threshold in use.

#![expect(clippy::unwrap_used, reason = "a failed step ends the benchmark")]
#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::cast_precision_loss, reason = "a few thousand pairs")]

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use bookrag::answer::{Answerer, Question};
use bookrag::config::{Config, Environment};
use bookrag::generate::Generator;
use bookrag::ingest::{OpenMode, SyncOptions, sync};
use bookrag::retrieve::{Meaning, SAME_NEED, groups_of};
use bookrag_cli::local::{BookFolder, LocalBook};
use bookrag_cli::site::Site;
use serde::Deserialize;

/// The thresholds to choose from: 0.2, 0.25 and so on.
const FIRST: f32 = 0.2;
const STEP: f32 = 0.05;
const THRESHOLDS: u8 = 24;

#[derive(Deserialize)]
struct Labelled {
    site: String,
    group: String,
    question: String,
}

/// The questions of a site.
struct Asked {
    labels: Vec<String>,
    meanings: Vec<Meaning>,
    unrelated: f32,
}

/// How many pairs of questions are in one group, are labelled so, and both.
#[derive(Clone, Copy)]
struct Agreement {
    grouped: f64,
    labelled: f64,
    both: f64,
    pairs: f64,
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let [questions, folder] = arguments.as_slice() else {
        println!("usage: cargo bench -p bookrag-tests --bench groups -- QUESTIONS.jsonl FOLDER");
        return;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut sites: BTreeMap<String, Vec<Labelled>> = BTreeMap::new();
    for line in std::fs::read_to_string(questions).unwrap().lines() {
        let labelled: Labelled = serde_json::from_str(line).unwrap();
        let site = sites.entry(labelled.site.clone()).or_default();
        site.push(labelled);
    }
    let mut agreements = BTreeMap::new();
    for (name, questions) in sites {
        let asked = ask(&Path::new(folder).join(&name), questions).await;
        let thresholds = (0..THRESHOLDS).map(|step| FIRST + STEP * f32::from(step));
        let thresholds: Vec<Agreement> = thresholds.map(|least| asked.agreement(least)).collect();
        agreements.insert(name, (thresholds, asked.agreement(SAME_NEED)));
    }
    println!("site  threshold  precision  recall  F1  adjusted Rand | at {SAME_NEED}");
    let mut fitted = Vec::new();
    let mut used = Vec::new();
    for (name, (thresholds, at_same_need)) in &agreements {
        let others = agreements.iter().filter(|(other, _)| *other != name);
        let others: Vec<&Vec<Agreement>> = others.map(|(_, (all, _))| all).collect();
        let best = (0..usize::from(THRESHOLDS)).max_by(|&one, &other| {
            let [one, other] =
                [one, other].map(|at| others.iter().map(|all| all[at].f1()).sum::<f64>());
            one.total_cmp(&other)
        });
        let best = best.unwrap();
        let threshold = FIRST + STEP * best as f32;
        let [one, other] = [thresholds[best].figures(), at_same_need.figures()];
        println!(
            "{name}  {threshold:.2}  {} | {}",
            shown(&one),
            shown(&other)
        );
        fitted.push(one);
        used.push(other);
    }
    println!(
        "mean  -  {} | {}",
        shown(&mean(&fitted)),
        shown(&mean(&used))
    );
}

/// Indexes a site and searches its questions.
async fn ask(site: &Path, questions: Vec<Labelled>) -> Asked {
    let environment: HashMap<String, String> = std::env::vars().collect();
    let config = Config::read(Environment::Local, &environment).unwrap();
    let site = Site::read(site).unwrap();
    let say = |line: &str| println!("{line}");
    let folder = BookFolder::create(&config, &site, say).unwrap();
    let book = LocalBook::open(&config, &folder, say).await.unwrap();
    let ingest = book
        .ingest(&config, &site, OpenMode::TakeOver)
        .await
        .unwrap();
    sync(&ingest, SyncOptions::default(), |_| ()).await.unwrap();
    let index = book.context.live_index().await.unwrap();
    let answerer = Answerer {
        generator: Generator::Extractive,
        ..book.context.answerer(&index).unwrap()
    };
    let (mut labels, mut meanings) = (Vec::new(), Vec::new());
    for labelled in questions {
        let question = Question::new(&labelled.question);
        let prepared = answerer.prepare(question, None).await.unwrap();
        labels.push(labelled.group);
        meanings.push(Meaning::new(&prepared.retrieved));
    }
    Asked {
        labels,
        meanings,
        unrelated: index.calibration.unwrap().scales.off_topic.median,
    }
}

impl Asked {
    fn agreement(&self, least: f32) -> Agreement {
        let mut group_of = vec![0; self.labels.len()];
        for (number, group) in groups_of(&self.meanings, self.unrelated, least)
            .into_iter()
            .enumerate()
        {
            for question in group {
                group_of[question] = number;
            }
        }
        let mut agreement = Agreement {
            grouped: 0.0,
            labelled: 0.0,
            both: 0.0,
            pairs: 0.0,
        };
        let labelled: Vec<(usize, &String)> = group_of.into_iter().zip(&self.labels).collect();
        for (place, (group, label)) in labelled.iter().enumerate() {
            for (other_group, other_label) in &labelled[..place] {
                let (is_grouped, is_labelled) = (group == other_group, label == other_label);
                agreement.pairs += 1.0;
                agreement.grouped += f64::from(u8::from(is_grouped));
                agreement.labelled += f64::from(u8::from(is_labelled));
                agreement.both += f64::from(u8::from(is_grouped && is_labelled));
            }
        }
        agreement
    }
}

impl Agreement {
    fn f1(&self) -> f64 {
        2.0 * self.both / (self.grouped + self.labelled)
    }

    /// Returns precision, recall, F1 and the adjusted Rand index.
    fn figures(&self) -> [f64; 4] {
        let by_chance = self.grouped * self.labelled / self.pairs;
        let most = f64::midpoint(self.grouped, self.labelled);
        [
            self.both / self.grouped,
            self.both / self.labelled,
            self.f1(),
            (self.both - by_chance) / (most - by_chance),
        ]
    }
}

fn mean(figures: &[[f64; 4]]) -> [f64; 4] {
    let count = figures.len() as f64;
    std::array::from_fn(|at| figures.iter().map(|it| it[at]).sum::<f64>() / count)
}

fn shown(figures: &[f64; 4]) -> String {
    figures.map(|figure| format!("{figure:.2}")).join("  ")
}
