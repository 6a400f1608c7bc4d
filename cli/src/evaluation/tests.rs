use serde_json::{Value, json};

use super::*;

/// Two books, also read by `score_retrieval.py`: labels by URL, nested ones, ones without an anchor, and copies in versions.
const QUESTIONS: &str = r#"
{"id": "a1", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/a.md", "url": "/docs/a%20b/", "headings": [{"id": "x", "under": ["y"]}]}
{"id": "a2", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/c.md", "url": "/docs/c", "headings": [{"id": "über", "under": []}, {"id": "z", "under": ["z1", "z2"]}]}
{"id": "a3", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/d.md", "url": "/docs/d", "headings": [{"id": null, "under": ["n"]}]}
{"id": "a4", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": false}
{"id": "a5", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": false}
{"id": "a6", "corpus": "ary", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/e.md", "url": "/docs/e", "headings": [{"id": "e", "under": []}]}
{"id": "j1", "corpus": "jest", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/m.md", "url": "/docs/next/m", "headings": [{"id": "p", "under": []}], "also_relevant": [{"source": "v1/m.md", "url": "/docs/v1/m", "headings": [{"id": "p"}]}, {"source": "v2/m.md", "url": "/docs/m", "headings": [{"id": "p"}]}]}
{"id": "j2", "corpus": "jest", "query": "q", "style": "s", "provenance": "own", "answerable": true, "source": "docs/n.md", "url": "/docs/next/n", "headings": [{"id": "r", "under": []}]}
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
            reply: match run["refused"].as_bool() {
                Some(true) => Reply::Refused,
                _ => Reply::Answered,
            },
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
        let is = metrics[metric];
        assert!((is - value).abs() < 1e-9, "{metric} is {is}, not {value}");
    }
}

/// The figures of `score_retrieval.py QUESTIONS RUN`, with 4 digits.
#[test]
fn hits_are_those_of_the_script_the_labels_came_with() {
    let evaluation = evaluated();
    let ary = [
        (Metric::PageAt1, 0.25),
        (Metric::PageAt5, 0.75),
        (Metric::SectionAt1, 0.0),
        (Metric::SectionAt5, 0.6667),
        (Metric::Withheld, 0.25),
        (Metric::Refused, 0.5),
    ];
    assert_metrics(&evaluation.corpora["ary"].metrics, &ary);
    let jest = [
        (Metric::PageAt1, 0.5),
        (Metric::PageAt5, 0.5),
        (Metric::SectionAt1, 0.5),
        (Metric::SectionAt5, 0.5),
        (Metric::Withheld, 0.0),
        (Metric::Refused, 1.0),
    ];
    assert_metrics(&evaluation.corpora["jest"].metrics, &jest);
}

#[test]
fn the_mean_is_of_corpora_and_not_of_questions() {
    let evaluation = evaluated();
    let mean = [
        (Metric::PageAt1, 0.375),
        (Metric::PageAt5, 0.625),
        (Metric::Refused, 0.75),
        (Metric::Withheld, 0.125),
    ];
    assert_metrics(&evaluation.mean, &mean);
    assert_eq!(evaluation.mean.get(&Metric::Needs), None);
    let counts = &evaluation.corpora["ary"].counts;
    let counts =
        [Metric::PageAt1, Metric::SectionAt1, Metric::Refused].map(|metric| counts[&metric]);
    assert_eq!(counts, [4, 3, 2]);
}

#[test]
fn without_questions_there_are_no_numbers() {
    let nothing = evaluate(&[]);
    assert_eq!(nothing, Evaluation::default());
    assert!(nothing.table().contains("mean"));
}

/// A question that needs two texts, and its answer.
fn answered(id: &str, reply: Reply, answer: &str) -> (Question, Outcome) {
    let question = json!({
        "id": id,
        "query": "q",
        "answerable": true,
        "source": "docs/a.md",
        "url": "/a",
        "headings": [{"id": "x"}],
        "needs": ["Two  screws", "M4||`m 4`"],
    });
    let outcome = Outcome {
        reply,
        answer: answer.to_owned(),
        ..Outcome::default()
    };
    (serde_json::from_value(question).unwrap(), outcome)
}

/// An unanswerable question, and its reply.
fn unanswerable(id: &str, reply: Reply) -> (Question, Outcome) {
    let question = json!({"id": id, "query": "q", "answerable": false});
    let outcome = Outcome {
        reply,
        ..Outcome::default()
    };
    (serde_json::from_value(question).unwrap(), outcome)
}

fn of_pairs(asked: &[(Question, Outcome)]) -> Evaluation {
    let asked = asked
        .iter()
        .map(|(question, outcome)| (question, outcome.clone()));
    evaluate(&asked.collect::<Vec<_>>())
}

#[test]
fn needed_texts_count_in_all_replies_that_show_text() {
    let asked = [
        answered(
            "1",
            Reply::Answered,
            "Take `two`\nSCR**EWS** of [size M4](/a).",
        ),
        answered("2", Reply::Uncertain, "Perhaps m 4."),
        answered("3", Reply::Answered, "Take a screw."),
        answered("4", Reply::Refused, "two screws"),
    ];
    let of_questions = of_pairs(&asked).questions.into_iter();
    let needs: Vec<f64> = of_questions
        .map(|question| question.metrics[&Metric::Needs])
        .collect();
    assert_eq!(needs, [1.0, 0.5, 0.0, 0.0]);
}

#[test]
fn replies_are_counted_apart_for_answerable_and_unanswerable_questions() {
    let asked = [
        answered("1", Reply::Answered, ""),
        answered("2", Reply::Answered, ""),
        answered("3", Reply::Uncertain, ""),
        answered("4", Reply::Refused, ""),
        unanswerable("5", Reply::Refused),
        unanswerable("6", Reply::Uncertain),
        unanswerable("7", Reply::Answered),
        unanswerable("8", Reply::Refused),
    ];
    let expected = [
        (Metric::Withheld, 0.25),
        (Metric::Uncertain, 0.25),
        (Metric::Refused, 0.5),
        (Metric::RefusedOrUncertain, 0.75),
    ];
    assert_metrics(&of_pairs(&asked).mean, &expected);
}

fn two_questions() -> Evaluation {
    let mut asked = [
        answered("1", Reply::Answered, "two screws"),
        answered("2", Reply::Answered, ""),
    ];
    asked[0].1.results = vec![found(&json!({"source": "docs/a.md", "url": "/a#x"}))];
    of_pairs(&asked)
}

#[test]
fn json_has_the_means_their_counts_and_each_question() {
    let value = json!(two_questions());
    let book = &value["corpora"][UNNAMED_CORPUS];
    assert_eq!(book["metrics"]["section@1"], json!(0.5));
    assert_eq!(book["counts"]["section@1"], json!(2));
    assert_eq!(value["mean"]["needs"], json!(0.25));
    let question = &value["questions"][0];
    assert_eq!(question["id"], json!("1"));
    assert_eq!(question["metrics"]["page@1"], json!(1.0));
}

#[test]
fn a_table_has_a_row_for_each_metric_and_a_column_for_each_corpus() {
    let expected = "
                             book    mean
page@1                0.5000 of 2  0.5000
page@5                0.5000 of 2  0.5000
section@1             0.5000 of 2  0.5000
section@5             0.5000 of 2  0.5000
needs                 0.2500 of 2  0.2500
withheld              0.0000 of 2  0.0000
uncertain             0.0000 of 2  0.0000
refused                         –       –
refused_or_uncertain            –       –
";
    assert_eq!(format!("\n{}", two_questions().table()), expected);
}
