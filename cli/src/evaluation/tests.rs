use serde_json::{Value, json};

use super::*;

/// Two books, also read by `score_retrieval.py`: labels by URL, nested ones, ones without an anchor, and copies in versions.
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

/// Search results for these questions: duplicates, results by URL only, encoded URLs, and hits at too low a rank. `a6` is missing.
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

fn reply(is_refused: bool) -> Reply {
    if is_refused {
        Reply::Refused
    } else {
        Reply::Answered
    }
}

fn evaluated() -> Evaluation {
    let lines = RUN.lines().filter(|line| !line.is_empty());
    let runs: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcome = |question: &Question| {
        let Some(run) = runs.iter().find(|run| run["id"] == *question.id) else {
            return Outcome::default();
        };
        let results = run["results"].as_array().unwrap().iter();
        Outcome {
            results: results.map(found).collect(),
            reply: reply(run["refused"].as_bool().unwrap()),
            ..Outcome::default()
        }
    };
    let questions = questions();
    let asked: Vec<_> = questions
        .iter()
        .map(|question| (question, outcome(question)))
        .collect();
    evaluate(&asked)
}

fn assert_metrics(metrics: &Metrics, expected: &[(Metric, f64)]) {
    for (metric, value) in expected {
        let name = metric.name();
        let is = metrics.get(*metric).unwrap();
        assert!((is - value).abs() < 1e-9, "{name} is {is}, not {value}");
    }
}

/// The output of `score_retrieval.py QUESTIONS RUN`, with 10 digits instead of 3. The script does not limit the depth of
/// reciprocal ranks; no list here exceeds our depth.
#[test]
fn hits_are_those_of_the_script_the_labels_came_with() {
    let evaluation = evaluated();
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
    let evaluation = evaluated();
    // a1: two sections, at ranks 2 and 3. a2: four, at rank 4 and at rank 6, which is too low. a6: one, not found.
    let a1 = (1.0 / 3_f64.log2() + 0.5) / (1.0 + 1.0 / 3_f64.log2());
    let best_of_four = 1.0 + 1.0 / 3_f64.log2() + 0.5 + 1.0 / 5_f64.log2();
    let a2 = (1.0 / 5_f64.log2()) / best_of_four;
    let ary = [
        (Metric::NdcgAt5, (a1 + a2) / 3.0),
        (Metric::PrecisionAt5, (0.4 + 0.2 + 0.0) / 3.0),
        (Metric::PrecisionAt5Ceiling, (0.4 + 0.8 + 0.2) / 3.0),
    ];
    assert_metrics(&evaluation.corpora["ary"].metrics, &ary);
    // j1: one section, at rank 1 and again in another version. j2: one, at rank 6.
    let jest = [
        (Metric::NdcgAt5, 0.5),
        (Metric::PrecisionAt5, 0.1),
        (Metric::PrecisionAt5Ceiling, 0.2),
    ];
    assert_metrics(&evaluation.corpora["jest"].metrics, &jest);
}

#[test]
fn the_mean_is_of_corpora_and_not_of_questions() {
    let evaluation = evaluated();
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
fn counts_add_up() {
    let evaluation = evaluated();
    let counts = Counts {
        questions: 9,
        answerable: 6,
        with_section: 5,
        answerable_refused: 1,
        answerable_uncertain: 0,
        unanswerable: 3,
        unanswerable_refused: 2,
        unanswerable_uncertain: 0,
        citations: 0,
    };
    assert_eq!(evaluation.all.counts, counts);
    let interval = evaluation.all.refusal_recall_interval;
    assert_eq!(interval, Interval::wilson(2, 3));
}

#[test]
fn without_questions_there_are_no_numbers() {
    let nothing = evaluate(&[]);
    assert_eq!(nothing, Evaluation::default());
    assert!(table(&nothing).contains("mean"));
}

/// A question that `docs/a.md#x` answers with "Two  screws", and its result.
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
fn only_given_answers_count_for_citations_and_words() {
    let in_section = ("docs/a.md", "/a#x");
    let on_page = ("docs/a.md", "/a#y");
    let elsewhere = ("docs/b.md", "/b#x");
    let mut asked = [
        answered(
            "1",
            "Take `two`\nSCR**EWS.**",
            &[in_section, on_page, elsewhere],
        ),
        answered("2", "Take a screw.", &[in_section]),
        answered("3", "two screws", &[elsewhere]),
        answered("4", "", &[]),
    ];
    // One question is refused, and one is answered as uncertain.
    asked[2].1.reply = Reply::Refused;
    asked[3].1.reply = Reply::Uncertain;
    let evaluation = of_pairs(&asked);
    let expected = [
        (Metric::CitationAccuracy, 0.75),
        (Metric::CitationSectionAccuracy, 0.5),
        (Metric::AnswerContains, 0.5),
        (Metric::FalseRefusals, 0.25),
        (Metric::FalseUncertain, 0.25),
    ];
    let scores = &evaluation.corpora[UNNAMED_CORPUS];
    assert_metrics(&scores.metrics, &expected);
    assert_eq!(scores.counts.citations, 4);
    // If no section is labelled, no citation can be wrong.
    for (question, _) in &mut asked {
        question.headings.clear();
    }
    let metrics = of_pairs(&asked).all.metrics;
    assert_eq!(metrics.get(Metric::CitationSectionAccuracy), None);
    assert_metrics(&metrics, &[(Metric::CitationAccuracy, 0.75)]);
}

fn of_pairs(asked: &[(Question, Outcome)]) -> Evaluation {
    let asked = asked
        .iter()
        .map(|(question, outcome)| (question, outcome.clone()));
    evaluate(&asked.collect::<Vec<_>>())
}

/// An unanswerable question of this kind, and its reply.
fn unanswerable(
    id: &str,
    kind: Option<&str>,
    near_kind: Option<&str>,
    reply: Reply,
) -> (Question, Outcome) {
    let question = json!({
        "id": id, "query": "q", "answerable": false, "kind": kind, "near_kind": near_kind,
    });
    let outcome = Outcome {
        reply,
        ..Outcome::default()
    };
    (serde_json::from_value(question).unwrap(), outcome)
}

#[test]
fn refusals_are_counted_by_kind_and_apart_from_uncertain_answers() {
    let asked = [
        unanswerable("1", Some("general"), None, Reply::Refused),
        unanswerable("2", Some("near-miss"), Some("version"), Reply::Uncertain),
        unanswerable("3", Some("near-miss"), Some("detail"), Reply::Answered),
        unanswerable("4", None, None, Reply::Refused),
    ];
    let evaluation = of_pairs(&asked);
    let kinds = evaluation.unanswerable_kinds.iter();
    let kinds: Vec<(&str, [usize; 3])> = kinds
        .map(|(kind, of)| (kind.as_str(), [of.questions, of.refused, of.uncertain]))
        .collect();
    let expected = [
        ("general", [1, 1, 0]),
        ("near-miss", [2, 0, 1]),
        ("near-miss/detail", [1, 0, 0]),
        ("near-miss/version", [1, 0, 1]),
    ];
    assert_eq!(kinds, expected);
    let interval = evaluation.unanswerable_kinds["near-miss"].refused_or_uncertain_interval;
    assert_eq!(interval, Interval::wilson(1, 2));
    let counts = &evaluation.all.counts;
    assert_eq!(
        (counts.unanswerable_refused, counts.unanswerable_uncertain),
        (2, 1)
    );
    let metrics = [
        (Metric::RefusalRecall, 0.5),
        (Metric::RefusedOrUncertain, 0.75),
    ];
    assert_metrics(&evaluation.all.metrics, &metrics);
}

#[test]
fn a_first_exercise_is_counted_over_answerable_questions() {
    let mut asked = [answered("1", "", &[]), answered("2", "", &[])];
    asked[1].1.exercise_first = true;
    assert_metrics(&of_pairs(&asked).mean, &[(Metric::ExerciseFirst, 0.5)]);
}

#[test]
fn an_alternative_is_useful_beside_the_strict_label() {
    let (mut question, mut outcome) = answered("1", "", &[]);
    let alternatives = json!([{"source": "docs/b.md", "headings": [{"id": "y"}]}]);
    question.alternatives = serde_json::from_value(alternatives).unwrap();
    let place = |source: &str, url: &str| found(&json!({"source": source, "url": url}));
    outcome.results = vec![place("docs/b.md", "/b#y"), place("docs/a.md", "/a#x")];
    let expected = [
        (Metric::PageAt1, 0.0),
        (Metric::SectionAt1, 0.0),
        (Metric::UsefulAt1, 1.0),
        (Metric::UsefulAt5, 1.0),
    ];
    assert_metrics(&of_pairs(&[(question, outcome)]).mean, &expected);
}

#[test]
fn a_saved_result_is_compared_with_itself_without_a_difference() {
    let saved: Saved = serde_json::from_value(json!(evaluated())).unwrap();
    let comparison = Comparison::of(("a", &saved), ("b", &saved)).unwrap();
    assert_eq!(comparison.changed, []);
    // Apart from rounding, a comparison has the same means as the table.
    let mean = evaluated().mean;
    for compared in comparison.metrics {
        let is = mean.get(compared.metric).unwrap();
        assert!((compared.a - is).abs() < 1e-3, "{}", compared.metric.name());
    }
}

fn timed() -> Evaluation {
    let mut asked = [
        answered("1", "two screws", &[("docs/a.md", "/a#x")]),
        answered("2", "", &[]),
    ];
    asked[0].1.results = asked[0].1.citations.clone();
    asked[0].1.stages = BTreeMap::from([("total", 30.0), ("write", 20.5)]);
    asked[1].1.stages = BTreeMap::from([("total", 10.0)]);
    of_pairs(&asked)
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
    assert_eq!(value["mean_intervals"]["page@1"], json!([0.0, 1.0]));
    let question = &value["questions"][0];
    assert_eq!(question["id"], json!("1"));
    assert_eq!(question["metrics"]["page@1"], json!(1.0));
    assert_eq!(question["citations"], json!(1));
}

#[test]
fn a_table_has_a_row_for_each_metric_and_a_column_for_each_corpus() {
    let expected = "
                             book    mean              95 %
page@1                     0.5000  0.5000  0.0000 to 1.0000
page@5                     0.5000  0.5000  0.0000 to 1.0000
section@1                  0.5000  0.5000  0.0000 to 1.0000
section@5                  0.5000  0.5000  0.0000 to 1.0000
useful@1                   0.5000  0.5000  0.0000 to 1.0000
useful@5                   0.5000  0.5000  0.0000 to 1.0000
exercise_first             0.0000  0.0000  0.0000 to 0.0000
MRR@10                     0.5000  0.5000  0.0000 to 1.0000
nDCG@5                     0.5000  0.5000  0.0000 to 1.0000
P@5                        0.1000  0.1000  0.0000 to 0.2000
P@5_ceiling                0.2000  0.2000  0.2000 to 0.2000
refusal_recall                  –       –                 –
refused_or_uncertain            –       –                 –
false_refusals             0.0000  0.0000  0.0000 to 0.0000
false_uncertain            0.0000  0.0000  0.0000 to 0.0000
citation_accuracy          1.0000  1.0000  1.0000 to 1.0000
citation_section_accuracy  1.0000  1.0000  1.0000 to 1.0000
answer_contains            0.5000  0.5000  0.0000 to 1.0000
span_F1                         –       –                 –
span_needs                      –       –                 –
span_whole                      –       –                 –
given_span_F1                   –       –                 –
given_span_needs                –       –                 –
given_span_whole                –       –                 –

      questions  with a section  citations  unanswerable refused (95 %)  uncertain  answerable refused (95 %)  uncertain
book          2               2          1                            –          0  0 of 2 (0.0000 to 0.6576)          0
all           2               2          1                            –          0  0 of 2 (0.0000 to 0.6576)          0

stage, in ms  runs   p50   p95   p99
write            1  20.5  20.5  20.5
total            2  10.0  30.0  30.0
";
    assert_eq!(format!("\n{}", table(&timed())), expected);
}
