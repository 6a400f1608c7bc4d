//! Insights from readers' questions.

use std::time::Duration;

use bookrag::catalog::{
    AgentReport, AskedQuestion, Catalog, CommentInsight, DayInsight, Feedback, GapQuestion,
    HelpfulAnswer, Insights, LessonInsight, OpenQuestion, QueryLog, QueryStatus, Rating,
};
use uuid::Uuid;

use super::Store;
use super::logs::log;
use super::rows::{chunk, commit, live_index, new_index, write};

const DAY: Duration = Duration::from_hours(24);

async fn write_log(catalog: &Catalog, log: &QueryLog) {
    catalog.log_query(log).await.unwrap();
}

fn not_covered(question_hash: &str, question: Option<&str>) -> QueryLog {
    QueryLog {
        question_hash: question_hash.to_owned(),
        question: question.map(str::to_owned),
        answered: false,
        ..log(QueryStatus::Success)
    }
}

fn uncertain(question_hash: &str) -> QueryLog {
    QueryLog {
        uncertain: true,
        ..not_covered(question_hash, None)
    }
}

fn given_again() -> QueryLog {
    QueryLog {
        tokens: 0,
        cost_micro_usd: 0,
        saved_micro_usd: Some(345),
        ..log(QueryStatus::Success)
    }
}

fn citing(chunks: &[Uuid]) -> QueryLog {
    QueryLog {
        cited_chunk_ids: chunks.to_vec(),
        ..log(QueryStatus::Success)
    }
}

pub(super) async fn days_count_how_questions_ended(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    assert_eq!(catalog.insights(DAY).await.unwrap(), Insights::default());
    write_log(catalog, &log(QueryStatus::Timeout)).await;
    // More than a day ago at any time of day.
    store.elapse(DAY + DAY / 8).await;
    for status in [
        QueryStatus::Success,
        QueryStatus::Error,
        QueryStatus::RateLimited,
        QueryStatus::Incomplete,
    ] {
        write_log(catalog, &log(status)).await;
    }
    write_log(catalog, &given_again()).await;
    write_log(catalog, &not_covered("1e", None)).await;
    write_log(catalog, &uncertain("1e")).await;
    let unanswered = QueryLog {
        answered: false,
        degraded: true,
        ..log(QueryStatus::Error)
    };
    write_log(catalog, &unanswered).await;

    let all = catalog.insights(DAY * 30).await.unwrap();
    let [first, second] = &all.days[..] else {
        panic!("{all:?}");
    };
    assert!(first.day < second.day && second.day.len() == "2026-01-31".len());
    let expected = DayInsight {
        day: second.day.clone(),
        questions: 8,
        not_covered: 1,
        uncertain: 1,
        degraded: 1,
        incomplete: 1,
        tokens: 7 * 1_200,
        cost_micro_usd: 7 * 345,
        cached: 1,
        saved_micro_usd: 345,
    };
    assert_eq!(*second, expected);
    assert_eq!((first.questions, first.not_covered), (1, 0));
    let today = catalog.insights(DAY).await.unwrap();
    assert_eq!(today.days, [expected]);
    catalog.insights(Duration::MAX).await.unwrap();
}

pub(super) async fn open_questions_are_counted_by_their_hash(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    for log in [
        not_covered("b", None),
        not_covered("c", Some("What's a quasar?")),
        not_covered("c", None),
        not_covered("a", None),
        uncertain("b"),
        uncertain("d"),
        log(QueryStatus::Success),
        QueryLog {
            answered: false,
            ..log(QueryStatus::Incomplete)
        },
    ] {
        write_log(catalog, &log).await;
    }
    let open = |question_hash: &str, question: Option<&str>, count: u64| OpenQuestion {
        question_hash: question_hash.to_owned(),
        question: question.map(str::to_owned),
        count,
    };
    let insights = catalog.insights(DAY).await.unwrap();
    assert_eq!(
        insights.not_covered,
        [
            open("c", Some("What's a quasar?"), 2),
            open("a", None, 1),
            open("b", None, 1)
        ]
    );
    let expected = [open("b", None, 1), open("d", None, 1)];
    assert_eq!(insights.uncertain, expected);
    store.elapse(DAY * 2).await;
    assert_eq!(catalog.insights(DAY).await.unwrap(), Insights::default());
}

pub(super) async fn answered_questions_that_a_reader_did_not_find_helpful_are_counted(
    store: Store,
) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    let answered = |question_hash: &str| QueryLog {
        answered: true,
        ..not_covered(question_hash, Some("What is a node?"))
    };
    let logs = [
        answered("a"),
        answered("a"),
        answered("b"),
        uncertain("c"),
        not_covered("d", None),
    ];
    for log in &logs {
        write_log(catalog, log).await;
    }
    for (log, rating) in [
        (0, Rating::Down),
        (1, Rating::Down),
        (2, Rating::Up),
        (3, Rating::Down),
        (4, Rating::Down),
    ] {
        let feedback = Feedback {
            message_id: logs[log].query_id,
            rating,
            comment: None,
        };
        assert!(catalog.add_feedback(&feedback).await.unwrap());
    }
    let expected = OpenQuestion {
        question_hash: "a".to_owned(),
        question: Some("What is a node?".to_owned()),
        count: 2,
    };
    assert_eq!(catalog.insights(DAY).await.unwrap().unhelpful, [expected]);
}

pub(super) async fn questions_with_a_stored_text_are_listed_most_often_asked_first(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    let answered = |question_hash: &str, question: Option<&str>| QueryLog {
        answered: true,
        ..not_covered(question_hash, question)
    };
    for log in [
        answered("a", None),
        answered("b", Some("What is a node?")),
        not_covered("c", Some("What's a quasar?")),
        not_covered("c", Some("what's a quasar")),
        QueryLog {
            status: QueryStatus::Incomplete,
            ..answered("d", Some("What is a topic?"))
        },
    ] {
        write_log(catalog, &log).await;
    }
    let asked = |question: &str, count: u64| AskedQuestion {
        question: question.to_owned(),
        count,
    };
    let all = [asked("what's a quasar", 2), asked("What is a node?", 1)];
    assert_eq!(catalog.asked_questions(DAY, 9).await.unwrap(), all);
    assert_eq!(catalog.asked_questions(DAY, 1).await.unwrap(), all[..1]);
    store.elapse(DAY * 2).await;
    assert_eq!(catalog.asked_questions(DAY, 9).await.unwrap(), []);
}

async fn rate(catalog: &Catalog, log: &QueryLog, rating: Rating) {
    let feedback = Feedback {
        message_id: log.query_id,
        rating,
        comment: None,
    };
    assert!(catalog.add_feedback(&feedback).await.unwrap());
}

pub(super) async fn gaps_have_their_outcomes_and_days_and_helpful_answers_their_section(
    store: Store,
) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let nodes = write_lesson(catalog, index_id, "nodes.md", "Nodes").await;
    let answered = |hash: &str, question: Option<&str>| QueryLog {
        answered: true,
        ..not_covered(hash, question)
    };
    write_log(catalog, &not_covered("q", Some("What's a quasar?"))).await;
    // More than a day ago at any time of day.
    store.elapse(DAY + DAY / 8).await;
    let doubted = QueryLog {
        uncertain: true,
        ..not_covered("q", None)
    };
    let (disliked, liked) = (
        answered("n", Some("What is a node?")),
        QueryLog {
            cited_chunk_ids: vec![nodes[1], nodes[0]],
            ..answered("h", Some("nodes?"))
        },
    );
    for log in [
        &doubted,
        &disliked,
        &liked,
        &answered("a", Some("What is a topic?")),
        &not_covered("x", None),
    ] {
        write_log(catalog, log).await;
    }
    rate(catalog, &disliked, Rating::Down).await;
    rate(catalog, &disliked, Rating::Down).await;
    rate(catalog, &liked, Rating::Up).await;

    let gaps = catalog.gap_questions(DAY * 9, 9).await.unwrap();
    let [quasar, node] = &gaps[..] else {
        panic!("{gaps:?}");
    };
    assert!(quasar.first_day < quasar.last_day, "{quasar:?}");
    let expected = GapQuestion {
        question_hash: "q".to_owned(),
        question: "What's a quasar?".to_owned(),
        count: 2,
        not_covered: 1,
        uncertain: 1,
        unhelpful: 0,
        first_day: quasar.first_day.clone(),
        last_day: node.first_day.clone(),
    };
    assert_eq!(*quasar, expected);
    assert_eq!((node.count, node.not_covered, node.unhelpful), (1, 0, 1));
    let one = catalog.gap_questions(DAY * 9, 1).await.unwrap();
    assert_eq!(one, gaps[..1]);
    let helpful = HelpfulAnswer {
        question: "nodes?".to_owned(),
        source: "nodes.md".to_owned(),
        section_id: Some("nodes".to_owned()),
    };
    assert_eq!(
        catalog.helpful_answers(DAY * 9, 9).await.unwrap(),
        [helpful]
    );
    store.elapse(DAY * 9).await;
    assert_eq!(catalog.helpful_answers(DAY, 9).await.unwrap(), []);
    assert_eq!(catalog.gap_questions(DAY, 9).await.unwrap(), []);
}

/// Commits a lesson of two chunks, and returns their ids.
async fn write_lesson(catalog: &Catalog, index_id: i64, source: &str, title: &str) -> [Uuid; 2] {
    let chunks = [chunk(source, 0, "one"), chunk(source, 1, "two")];
    let mut commit = commit(index_id, source, 0, &chunks);
    commit.document.title = title.to_owned();
    commit.document.url = format!("/{source}");
    write(catalog, &commit).await;
    chunks.map(|chunk| chunk.chunk_id)
}

pub(super) async fn lessons_are_counted_once_an_answer(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    let building = catalog.ensure_index(&new_index("window-500")).await;
    let building = building.unwrap().index_id;
    let nodes = write_lesson(catalog, index_id, "nodes.md", "Nodes").await;
    let topics = write_lesson(catalog, index_id, "topics.md", "Topics & “types”").await;
    write_lesson(catalog, building, "nodes.md", "Nodes, as they will be").await;

    let (helped, did_not) = (citing(&nodes), citing(&[nodes[1], topics[0], topics[1]]));
    for log in [&helped, &did_not, &citing(&[Uuid::new_v4()]), &citing(&[])] {
        write_log(catalog, log).await;
    }
    for (log, rating) in [
        (&helped, Rating::Up),
        (&helped, Rating::CitationClicked),
        (&did_not, Rating::Down),
        (&did_not, Rating::Down),
    ] {
        let feedback = Feedback {
            message_id: log.query_id,
            rating,
            comment: None,
        };
        assert!(catalog.add_feedback(&feedback).await.unwrap());
    }

    let lesson = |title: &str, source: &str, count: u64| LessonInsight {
        title: title.to_owned(),
        url: format!("/{source}"),
        count,
    };
    let topics = lesson("Topics & “types”", "topics.md", 1);
    let insights = catalog.insights(DAY).await.unwrap();
    assert_eq!(
        insights.most_cited,
        [lesson("Nodes", "nodes.md", 2), topics.clone()]
    );
    assert_eq!(
        insights.most_disliked,
        [lesson("Nodes", "nodes.md", 1), topics]
    );
}

pub(super) async fn what_readers_thought_is_counted_and_quoted(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    let asked = not_covered("a", Some("What's a quasar?"));
    let (stored, not_stored) = (asked, not_covered("b", None));
    for log in [&stored, &not_stored] {
        write_log(catalog, log).await;
    }
    for (log, rating, comment) in [
        (&stored, Rating::Up, Some("It was, after all.")),
        (&stored, Rating::CitationClicked, None),
        (&not_stored, Rating::Down, Some("“Quasar” is missing.")),
    ] {
        let feedback = Feedback {
            message_id: log.query_id,
            rating,
            comment: comment.map(str::to_owned),
        };
        assert!(catalog.add_feedback(&feedback).await.unwrap());
    }
    let insights = catalog.insights(DAY).await.unwrap();
    assert_eq!((insights.helpful, insights.not_helpful), (1, 1));
    let day = &insights.days[0].day;
    let comment = |question: Option<&str>, comment: &str, helpful| CommentInsight {
        day: day.clone(),
        question: question.map(str::to_owned),
        comment: comment.to_owned(),
        helpful,
    };
    let expected = [
        comment(None, "“Quasar” is missing.", false),
        comment(Some("What's a quasar?"), "It was, after all.", true),
    ];
    assert_eq!(insights.comments, expected);
    store.elapse(DAY * 2).await;
    assert_eq!(catalog.insights(DAY).await.unwrap(), Insights::default());
}

pub(super) async fn lists_hold_twenty(store: Store) {
    let catalog = &store.catalog;
    let index_id = live_index(catalog).await;
    for number in 0..22 {
        let title = format!("Lesson {number:02}");
        let chunks = write_lesson(catalog, index_id, &format!("{number}.md"), &title).await;
        write_log(catalog, &citing(&chunks)).await;
        write_log(catalog, &not_covered(&format!("{number:02}"), None)).await;
    }
    let insights = catalog.insights(DAY).await.unwrap();
    assert_eq!(insights.not_covered.len(), 20);
    assert_eq!(insights.not_covered[19].question_hash, "19");
    assert_eq!(insights.most_cited.len(), 20);
    assert_eq!(insights.most_cited[19].title, "Lesson 19");
    assert_eq!(insights.most_disliked, []);
}

pub(super) async fn what_agents_report_is_listed_newest_first(store: Store) {
    let catalog = &store.catalog;
    live_index(catalog).await;
    let report = |problem: &str, message_id| AgentReport {
        message_id,
        question: Some("What's a node?".to_owned()),
        problem: problem.to_owned(),
        page: Some("/docs/node".to_owned()),
    };
    let add = async |report| catalog.add_report(&report).await.unwrap();
    assert!(add(report("It isn't that.", None)).await);
    store.elapse(DAY * 2).await;
    let answered = log(QueryStatus::Success);
    assert!(!add(report("No such answer.", Some(answered.query_id))).await);
    write_log(catalog, &answered).await;
    let bare = AgentReport {
        question: None,
        page: None,
        ..report("It's missing.", Some(answered.query_id))
    };
    assert!(add(bare).await);

    let reports = catalog.insights(DAY * 30).await.unwrap().reports;
    let problems: Vec<&str> = reports.iter().map(|it| it.problem.as_str()).collect();
    assert_eq!(problems, ["It's missing.", "It isn't that."]);
    assert!(reports[0].day > reports[1].day, "{reports:?}");
    assert_eq!((&reports[0].question, &reports[0].page), (&None, &None));
    assert_eq!(reports[1].question.as_deref(), Some("What's a node?"));
    assert_eq!(catalog.insights(DAY).await.unwrap().reports, reports[..1]);
}
