use serde_json::{Value, json};

use super::*;

/// Two books. Read by `score_retrieval.py` as well: labels by URL, nested and without an anchor, copies in versions.
const QUESTIONS: &str = r#"
{"id": "a1", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/a.md", "url": "/docs/a%20b/", "headings": [{"id": "x", "under": ["y"], "above": ["top"]}]}
{"id": "a2", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/c.md", "url": "/docs/c", "headings": [{"id": "über", "under": [], "above": []}, {"id": "z", "under": ["z1", "z2"], "above": []}]}
{"id": "a3", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/d.md", "url": "/docs/d", "headings": [{"id": null, "under": ["n"], "above": []}]}
{"id": "a4", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": false}
{"id": "a5", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": false}
{"id": "a6", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/e.md", "url": "/docs/e", "headings": [{"id": "e", "under": [], "above": []}]}
{"id": "j1", "corpus": "jest", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/m.md", "url": "/docs/next/m", "headings": [{"id": "p", "under": [], "above": []}], "also_relevant": [{"source": "v1/m.md", "url": "/docs/v1/m", "headings": [{"id": "p"}]}, {"source": "v2/m.md", "url": "/docs/m", "headings": [{"id": "p"}]}]}
{"id": "j2", "corpus": "jest", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/n.md", "url": "/docs/next/n", "headings": [{"id": "r", "under": [], "above": []}]}
{"id": "j3", "corpus": "jest", "query": "q", "style": "s", "provenance": "own", "answerable": false}
"#;

/// What a search found for them: results twice, by URL only, decoded and not, too late; `a6` is missing.
const RUN: &str = r#"
{"id": "a1", "refused": false, "results": [{"source": "docs/a.md", "url": "/docs/a%20b#top"}, {"source": "docs/a.md", "url": "/docs/a%20b#top"}, {"url": "/docs/a b#y"}, {"source": "docs/a.md", "url": "/elsewhere#x"}]}
{"id": "a2", "refused": true, "results": [{"source": "docs/a.md", "url": "/docs/a#z"}, {"source": "docs/b.md", "url": "/docs/b"}, {"source": "docs/a.md", "url": "/docs/a#z"}, {"source": "docs/c.md", "url": "/docs/c#other"}, {"source": "docs/c.md", "url": "/docs/c#%C3%BCber"}, {"source": "docs/f.md", "url": "/docs/f"}, {"source": "docs/c.md", "url": "/docs/c#z2"}]}
{"id": "a3", "refused": false, "results": [{"source": "docs/f.md", "url": "/docs/f"}, {"url": "/docs/d/#n"}]}
{"id": "a4", "refused": true, "results": []}
{"id": "a5", "refused": false, "results": [{"source": "docs/a.md", "url": "/docs/a"}]}
{"id": "j1", "refused": false, "results": [{"source": "v2/m.md", "url": "/docs/m#p"}, {"source": "v1/m.md", "url": "/docs/v1/m#p"}]}
{"id": "j2", "refused": false, "results": [{"source": "docs/1.md", "url": "/1"}, {"source": "docs/2.md", "url": "/2"}, {"source": "docs/3.md", "url": "/3"}, {"source": "docs/4.md", "url": "/4"}, {"source": "docs/5.md", "url": "/5"}, {"source": "docs/n.md", "url": "/docs/next/n#r"}]}
{"id": "j3", "refused": true, "results": []}
"#;

fn questions() -> Vec<Question> {
    Question::parse_all(QUESTIONS).unwrap()
}

fn found(place: &Value) -> Found {
    let text = |name: &str| place[name].as_str().unwrap_or_default().to_owned();
    Found {
        source: text("source"),
        url: text("url"),
    }
}

fn outcomes() -> Vec<Outcome> {
    let lines = RUN.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let run: Value = serde_json::from_str(line).unwrap();
            Outcome {
                id: run["id"].as_str().unwrap().to_owned(),
                results: run["results"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(found)
                    .collect(),
                refused: run["refused"].as_bool().unwrap(),
                ..Outcome::default()
            }
        })
        .collect()
}

fn assert_metrics(metrics: &Metrics, expected: &[(Metric, f64)]) {
    for (metric, value) in expected {
        let name = metric.name();
        let is = metrics.get(*metric).unwrap();
        assert!((is - value).abs() < 1e-9, "{name} is {is}, not {value}");
    }
}

/// The numbers that `score_retrieval.py QUESTIONS RUN` gives, printed with 10 digits in place of 3. It has no depth for
/// reciprocal ranks; no list here is as long as ours.
#[test]
fn hits_are_those_of_the_script_the_labels_came_with() {
    let evaluation = evaluate(&questions(), &outcomes());
    let ary = [
        (Metric::PageAt1, 0.25),
        (Metric::PageAt5, 0.75),
        (Metric::MrrAt10, 0.458_333_333_3),
        (Metric::SectionAt1, 0.0),
        (Metric::SectionAt5, 0.666_666_666_7),
        (Metric::FalseRefusals, 0.25),
        (Metric::RefusalRecall, 0.5),
    ];
    assert_metrics(&evaluation.corpora["ary"].metrics, &ary);
    let jest = [
        (Metric::PageAt1, 0.5),
        (Metric::PageAt5, 0.5),
        (Metric::MrrAt10, 0.583_333_333_3),
        (Metric::SectionAt1, 0.5),
        (Metric::SectionAt5, 0.5),
        (Metric::FalseRefusals, 0.0),
        (Metric::RefusalRecall, 1.0),
    ];
    assert_metrics(&evaluation.corpora["jest"].metrics, &jest);
    let all = [
        (Metric::PageAt1, 0.333_333_333_3),
        (Metric::PageAt5, 0.666_666_666_7),
        (Metric::MrrAt10, 0.5),
        (Metric::SectionAt1, 0.2),
        (Metric::SectionAt5, 0.6),
        (Metric::FalseRefusals, 0.166_666_666_7),
        (Metric::RefusalRecall, 0.666_666_666_7),
    ];
    assert_metrics(&evaluation.all.metrics, &all);
}

#[test]
fn sections_gain_once_and_by_their_rank() {
    let evaluation = evaluate(&questions(), &outcomes());
    // a1: two sections, found second and third; a2: four, found fourth and, too late, sixth; a6: one, not found.
    let a1 = (1.0 / 3_f64.log2() + 0.5) / (1.0 + 1.0 / 3_f64.log2());
    let best_of_four = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
    let a2 = (1.0 / 5_f64.log2()) / best_of_four;
    let ary = [
        (Metric::NdcgAt5, (a1 + a2) / 3.0),
        (Metric::PrecisionAt5, (0.4 + 0.2 + 0.0) / 3.0),
        (Metric::PrecisionAt5Ceiling, (0.4 + 0.8 + 0.2) / 3.0),
    ];
    assert_metrics(&evaluation.corpora["ary"].metrics, &ary);
    // j1: one section, found first, then in another version; j2: one, found sixth.
    let jest = [
        (Metric::NdcgAt5, 0.5),
        (Metric::PrecisionAt5, 0.1),
        (Metric::PrecisionAt5Ceiling, 0.2),
    ];
    assert_metrics(&evaluation.corpora["jest"].metrics, &jest);
}

#[test]
fn the_mean_is_of_corpora_and_not_of_questions() {
    let evaluation = evaluate(&questions(), &outcomes());
    let mean = [
        (Metric::PageAt1, 0.375),
        (Metric::PageAt5, 0.625),
        (Metric::RefusalRecall, 0.75),
        (Metric::FalseRefusals, 0.125),
        (Metric::PrecisionAt5, 0.15),
    ];
    assert_metrics(&evaluation.mean, &mean);
    assert_eq!(evaluation.mean.get(Metric::AnswerContains), None);
}

#[test]
fn what_is_counted_adds_up() {
    let evaluation = evaluate(&questions(), &outcomes());
    let counts = Counts {
        questions: 9,
        answerable: 6,
        with_section: 5,
        answerable_refused: 1,
        unanswerable: 3,
        unanswerable_refused: 2,
        citations: 0,
        without_outcome: 1,
    };
    assert_eq!(evaluation.all.counts, counts);
    let interval = evaluation.all.refusal_recall_interval;
    assert_eq!(interval, Interval::wilson(2, 3));
}

#[test]
fn without_outcomes_everything_is_a_miss_and_nothing_a_refusal() {
    let evaluation = evaluate(&questions(), &[]);
    let misses = [
        (Metric::PageAt5, 0.0),
        (Metric::MrrAt10, 0.0),
        (Metric::NdcgAt5, 0.0),
        (Metric::RefusalRecall, 0.0),
        (Metric::FalseRefusals, 0.0),
    ];
    assert_metrics(&evaluation.all.metrics, &misses);
    assert_eq!(evaluation.all.metrics.get(Metric::CitationAccuracy), None);
    assert!(evaluation.stages.is_empty());
}

#[test]
fn without_questions_there_are_no_numbers() {
    let nothing = evaluate(&[], &[]);
    assert_eq!(nothing, Evaluation::default());
    assert!(table(&nothing).contains("mean"));
}

/// A question that `docs/a.md#x` answers with "Two  screws", and what came of it.
fn answered(id: &str, answer: &str, citations: &[(&str, &str)]) -> (Question, Outcome) {
    let question = json!({
        "id": id,
        "query": "q",
        "answerable": true,
        "source": "docs/a.md",
        "url": "/a",
        "headings": [{"id": "x"}],
        "answer_contains": "Two  screws",
    });
    let citations = citations.iter();
    let outcome = Outcome {
        id: id.to_owned(),
        citations: citations
            .map(|(source, url)| Found {
                source: (*source).to_owned(),
                url: (*url).to_owned(),
            })
            .collect(),
        answer: answer.to_owned(),
        ..Outcome::default()
    };
    (serde_json::from_value(question).unwrap(), outcome)
}

#[test]
fn citations_and_words_are_those_of_answers_that_were_given() {
    let in_section = ("docs/a.md", "/a#x");
    let on_page = ("docs/a.md", "/a#y");
    let elsewhere = ("docs/b.md", "/b#x");
    let (mut questions, mut outcomes): (Vec<_>, Vec<_>) = [
        answered(
            "1",
            "Take `two`\nSCR**EWS.**",
            &[in_section, on_page, elsewhere],
        ),
        answered("2", "Take a screw.", &[in_section]),
        answered("3", "two screws", &[elsewhere]),
        answered("4", "", &[]),
    ]
    .into_iter()
    .unzip();
    // The third was refused; of the fourth nothing is known.
    outcomes[2].refused = true;
    outcomes.truncate(3);
    let evaluation = evaluate(&questions, &outcomes);
    let expected = [
        (Metric::CitationAccuracy, 0.75),
        (Metric::CitationSectionAccuracy, 0.5),
        (Metric::AnswerContains, 1.0 / 3.0),
        (Metric::FalseRefusals, 0.25),
    ];
    let scores = &evaluation.corpora[UNNAMED_CORPUS];
    assert_metrics(&scores.metrics, &expected);
    assert_eq!(scores.counts.citations, 4);
    // Where no section is labelled, none can be cited wrongly.
    for question in &mut questions {
        question.headings.clear();
    }
    let metrics = evaluate(&questions, &outcomes).all.metrics;
    assert_eq!(metrics.get(Metric::CitationSectionAccuracy), None);
    assert_metrics(&metrics, &[(Metric::CitationAccuracy, 0.75)]);
}

/// Two questions, timed.
fn timed() -> Evaluation {
    let (questions, mut outcomes): (Vec<_>, Vec<_>) = [
        answered("1", "two screws", &[("docs/a.md", "/a#x")]),
        answered("2", "", &[]),
    ]
    .into_iter()
    .unzip();
    outcomes[0].results = outcomes[0].citations.clone();
    outcomes[0].stages = BTreeMap::from([("total", 30.0), ("write", 20.5)]);
    outcomes[1].stages = BTreeMap::from([("total", 10.0)]);
    evaluate(&questions, &outcomes)
}

#[test]
fn json_has_the_numbers_with_four_digits() {
    let value = serde_json::to_value(timed()).unwrap();
    let book = &value["corpora"][UNNAMED_CORPUS];
    assert_eq!(book["metrics"]["section@1"], json!(0.5));
    assert_eq!(book["metrics"]["P@5_ceiling"], json!(0.2));
    assert_eq!(book["counts"]["answerable"], json!(2));
    assert_eq!(book["refusal_recall_interval"], Value::Null);
    assert_eq!(book["false_refusals_interval"], json!([0.0, 0.6576]));
    assert_eq!(value["mean"]["MRR@10"], json!(0.5));
    let total = json!({"count": 2, "p50": 10.0, "p95": 30.0, "p99": 30.0});
    assert_eq!(value["stages"]["total"], total);
}

#[test]
fn a_table_has_a_row_for_each_corpus_and_their_mean() {
    let expected = "
                                                                                                          citation
                                                                        P@5  refusal     false  citation   section    answer
      page@1  page@5  section@1  section@5  MRR@10  nDCG@5     P@5  ceiling   recall  refusals  accuracy  accuracy  contains
book  0.5000  0.5000     0.5000     0.5000  0.5000  0.5000  0.1000   0.2000        –    0.0000    1.0000    1.0000    0.5000
mean  0.5000  0.5000     0.5000     0.5000  0.5000  0.5000  0.1000   0.2000        –    0.0000    1.0000    1.0000    0.5000

      questions  with a section  citations  no outcome  unanswerable refused (95 %)  answerable refused (95 %)
book          2               2          1           0                            –     0 of 2 (0.0000–0.6576)
all           2               2          1           0                            –     0 of 2 (0.0000–0.6576)

stage, in ms  runs   p50   p95   p99
write            1  20.5  20.5  20.5
total            2  10.0  30.0  30.0
";
    assert_eq!(format!("\n{}", table(&timed())), expected);
}
